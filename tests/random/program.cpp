#include "random/program.h"

#include <algorithm>

#include "random/body.h"

namespace mica::random {

const char* name(Group g) {
  static const char* names[] = {"scalars", "flow", "text", "data", "calls", "owners", "tensors", "tape", "everything"};
  return names[int(g)];
}

Features featuresOf(Group g) {
  Features f;
  bool everything = g == Group::Everything;
  f.text = g == Group::Text || g == Group::Data || g == Group::Calls || g == Group::Owners || everything;
  f.data = g == Group::Data || g == Group::Calls || g == Group::Owners || everything;
  f.calls = g != Group::Scalars && g != Group::Flow && g != Group::Text && g != Group::Data;
  f.owners = g == Group::Owners || everything;
  f.tensors = g == Group::Tensors || g == Group::Tape || everything;
  f.tape = g == Group::Tape || everything;
  return f;
}

namespace {

// What the functions call: strings that stay short, and functions that take functions.
constexpr const char* Helpers = R"(func Short(move text: string): string
  if Length(text) > 200 then return "long" end
  return text
end

func Repeated(count: int, f: func(int))
  for i in 0 ..< count do
    f(i)
  end
end

func Applied(f: func(int): int, x: int): int
  return f(x)
end

func Through[A, B](x: A, f: func(A): B): B
  return f(x)
end
)";

class Writer {
 public:
  Writer(Group group, int count, uint64_t seed) : random(seed * 0x9e3779b97f4a7c15 + uint64_t(group)), count(count) {
    program.group = group;
    program.features = featuresOf(group);
  }

  std::string write() {
    source.line("import Args, Text");
    source.blank();
    writeLines(Helpers);
    source.blank();
    if (program.features.data) declareTypes();
    if (program.features.calls) declareFailures();
    if (program.features.tape) declareModels();
    // The risky functions stand last: a run begins again behind each that traps.
    for (int i = 0; i < count; i++) addFunction(i, i >= count - count / 10);
    for (int i = 0; i < count; i++) addCalls(i);
    source.open("func Main");
    source.line("let from := Args.Int(\"from\", otherwise: 0)");
    for (int i = 0; i < count; i++) {
      std::string n = std::to_string(i);
      source.line("if from <= " + n + " then Call" + n + "() end");
    }
    source.close();
    return source.text();
  }

 private:
  Program program;
  Random random;
  int count;
  Source source;

  void declareTypes() {
    Function none;
    for (int i = 0; i < 4; i++) {
      Body body(program, none, random);
      Type t;
      t.kind = Kind::Record;
      t.name = "Record" + std::to_string(i);
      source.open("type " + t.name + " = record");
      for (int k = random.between(1, 4); k > 0; k--) {
        Field f{"f" + std::to_string(k), body.randomType(2), false};
        source.line(f.name + ": " + f.type->name);
        t.fields.push_back(f);
      }
      source.close();
      source.blank();
      program.records.push_back(program.types.add(t));
      const Field& first = t.fields[0];
      if (program.features.owners) {
        source.line("func Look" + t.name + "(r: " + t.name + "): read " + first.type->name);
        source.line("  return r." + first.name);
        source.line("end");
        source.line("func Edit" + t.name + "(inout r: " + t.name + "): inout " + first.type->name);
        source.line("  return r." + first.name);
        source.line("end");
        source.blank();
      }
    }
    for (int i = 0; i < 3; i++) {
      Body body(program, none, random);
      Type t;
      t.kind = Kind::Choice;
      t.name = "Choice" + std::to_string(i);
      source.open("type " + t.name + " = choice");
      for (int k = random.between(1, 4); k > 0; k--) {
        Case c;
        c.name = "C" + std::to_string(i) + std::to_string(k);
        std::string fields;
        for (int n = random.below(3); n > 0; n--) {
          Field f{"g" + std::to_string(n), body.randomType(2), false};
          fields += (fields.empty() ? "" : ", ") + f.name + ": " + f.type->name;
          c.fields.push_back(f);
        }
        source.line(c.name + (fields.empty() ? "" : "(" + fields + ")"));
        t.cases.push_back(c);
      }
      source.close();
      source.blank();
      program.choices.push_back(program.types.add(t));
    }
  }

  void declareModels() {
    Function none;
    Body body(program, none, random);
    for (int i = 0; i < 2; i++) {
      Type t;
      t.kind = Kind::Record;
      t.name = "Model" + std::to_string(i);
      source.open("type " + t.name + " = record");
      for (int k = random.between(1, 3); k > 0; k--) {
        const Type* type = random.chance(20) ? program.types.float32 : program.types.tensor(program.types.float32, body.tensorType()->extents);
        Field f{"f" + std::to_string(k), type, true};
        source.line(f.name + ": tracked " + f.type->name);
        t.fields.push_back(f);
      }
      source.close();
      source.blank();
      program.models.push_back(program.types.add(t));
    }
  }

  void declareFailures() {
    program.failures = 3;
    for (int i = 0; i < program.failures; i++) source.line("failure Broken" + std::to_string(i) + "(n: int) = \"broken" + std::to_string(i) + " {n}\"");
    source.blank();
  }

  void addFunction(int index, bool risky) {
    Function f;
    f.name = "F" + std::to_string(index);
    f.risky = risky;
    Body shape(program, f, random);
    bool calls = program.features.calls;
    f.recursive = random.chance(10);
    if (f.recursive) f.parameters.push_back({Parameter::Read, "level", program.types.int64});
    const Type* generic = nullptr;
    if (program.features.tensors && random.chance(25)) f.extents = random.chance(50) ? std::vector<std::string>{"R"} : std::vector<std::string>{"R", "C"};
    if (program.features.tape && !risky) (random.chance(40) ? f.recordable : f.tape) = !f.recursive && random.chance(75);
    if (calls && f.extents.empty() && !f.recordable && random.chance(15)) {
      int k = random.below(3);
      generic = program.types.parameter(k == 0 ? "N" : k == 1 ? "O" : "T", k == 0, k == 1);
      f.generics.push_back(generic);
    }
    auto type = [&]() -> const Type* {
      if (generic && random.chance(60)) return random.chance(25) ? program.types.list(generic) : generic;
      if (f.recordable) return random.chance(30) ? program.types.float32 : shape.tensorType();
      return shape.randomType(2);
    };
    if (!f.extents.empty()) {             // each name is met in the first tensor
      std::vector<Extent> extents;
      for (const std::string& e : f.extents) extents.push_back({e, 0});
      f.parameters.push_back({Parameter::Read, "q", program.types.tensor(program.types.float32, extents)});
    }
    for (int i = random.between(1, 4); i > 0; i--) {
      Parameter p{Parameter::Read, "p" + std::to_string(i), type()};
      if (calls && !f.recordable && random.chance(25)) p.mode = random.chance(60) ? Parameter::Inout : Parameter::Move;
      if (generic && f.parameters.size() == (f.recursive ? 1 : 0)) p = {Parameter::Read, p.name, generic};   // one is always at hand
      f.parameters.push_back(p);
    }
    bool changes = std::any_of(f.parameters.begin(), f.parameters.end(), [](const Parameter& p) { return p.mode == Parameter::Inout; });
    if (!changes || random.chance(70)) f.result = type();
    if (calls && random.chance(20) && f.result) {
      for (int i = 0; i < program.failures; i++) {
        if (random.chance(50)) f.fails.push_back(i);
      }
    }
    Body body(program, f, random);
    body.write();
    f.cost = body.cost() * (f.recursive ? 16 : 1);
    source.line("func " + head(f));
    writeLines(body.text());
    source.line("end");
    source.blank();
    program.functions.push_back(f);
  }

  void writeLines(const std::string& text) {
    for (size_t at = 0; at < text.size();) {
      size_t end = text.find('\n', at);
      source.line(text.substr(at, end - at));
      at = end + 1;
    }
  }

  static std::string head(const Function& f) {
    std::string text = f.name, generics, parameters, fails;
    for (const Type* g : f.generics)
      generics += g->name + (g->number ? ": Number and Printable" : g->ordered ? ": Ordered and Copyable and Equatable and Printable" : ": Copyable and Equatable and Printable");
    for (const std::string& e : f.extents) generics += (generics.empty() ? "" : ", ") + e;
    static const char* modes[] = {"", "inout ", "move "};
    for (const Parameter& p : f.parameters) parameters += (parameters.empty() ? "" : ", ") + std::string(modes[p.mode]) + p.name + ": " + p.type->name;
    for (int x : f.fails) fails += (fails.empty() ? " fails " : ", ") + std::string("Broken") + std::to_string(x);
    if (!generics.empty()) text += "[" + generics + "]";
    return text + "(" + parameters + ")" + (f.result ? ": " + f.result->name : "") + fails;
  }

  // Each function is called a few times; what it answers and what it changed is printed.
  void addCalls(int index) {
    const Function& f = program.functions[size_t(index)];
    Body body(program, f, random);
    source.open("func Call" + std::to_string(index));
    for (int k = 0; k < 2; k++) {
      std::string arguments, shown;
      Binding binding;
      for (const std::string& e : f.extents) {
        int n = random.between(1, 5);
        binding.extents.emplace(e, Extent{std::to_string(n), n});
      }
      for (const Type* g : f.generics) {
        const Type* choices[] = {program.types.int64, program.types.float32, program.types.integer(8, true), g->number ? program.types.float64 : program.types.text};
        binding.types.emplace(g->name, choices[random.below(4)]);
      }
      for (size_t i = 0; i < f.parameters.size(); i++) {
        const Parameter& p = f.parameters[i];
        std::string a = "a" + std::to_string(k) + std::to_string(i);
        const Type* t = substitute(program.types, p.type, binding);
        std::string given = i == 0 && f.recursive ? std::to_string(random.below(4)) : body.literal(t);
        if (p.mode != Parameter::Inout && (f.generics.empty() || t->parts.empty())) a = given;
        else source.line(std::string(p.mode == Parameter::Inout ? "var " : "let ") + a + ": " + t->name + " := " + given);
        arguments += (arguments.empty() ? "" : ", ") + std::string(p.mode == Parameter::Inout ? "inout " : "") + a;
        if (p.mode == Parameter::Inout) shown += " {" + a + "}";
      }
      std::string call = f.name + "(" + arguments + ")", label = f.name + "." + std::to_string(k);
      if (!f.fails.empty()) {
        source.open("attempt");
        source.line("let r := try " + call);
        source.line("Print(\"" + label + " {r}" + shown + "\")");
        source.middle("recover e: any");
        source.line("Print(\"" + label + " fails {e}" + shown + "\")");
        source.close();
      } else if (f.result) {
        source.line("let r" + std::to_string(k) + " := " + call);
        source.line("Print(\"" + label + " {r" + std::to_string(k) + "}" + shown + "\")");
      } else {
        source.line(call);
        source.line("Print(\"" + label + shown + "\")");
      }
    }
    source.close();
    source.blank();
  }
};

}  // namespace

std::string generate(Group group, int functions, uint64_t seed) { return Writer(group, functions, seed).write(); }

}  // namespace mica::random
