// The checked tree as text: for `mica explain --stage tree` and for tests. One line a statement, expressions in a functional notation with
// their types where they are not obvious.
#include <cstdio>

#include "frontend/check.h"
#include "frontend/vocabulary.h"

namespace mica {

namespace {

const char* const builtinNames[] = {
#define BUILTIN(name) #name,
#include "frontend/builtins.def"
#undef BUILTIN
};

class Dumper {
 public:
  Dumper(const Program& program, const Body& b) : p(program), body(b) {}
  std::string out;

  std::string nameOf(LocalId l) const { return l ? body.locals[l.index].name + "#" + std::to_string(l.index) : "_"; }

  void statements(const std::vector<StmtId>& list, int depth) {
    for (StmtId s : list) statement(s, depth);
  }

  std::string expr(ExprId id) const {
    if (!id) return "-";
    const Expr& e = body.exprs[id.index];
    switch (e.kind) {
      case ExprKind::Error: return "error";
      case ExprKind::Int: case ExprKind::Bool: return std::to_string(e.intValue) + ":" + show(p, e.type);
      case ExprKind::Char: return "char(" + std::to_string(e.intValue) + ")";
      case ExprKind::Float: return number(e.floatValue) + ":" + show(p, e.type);
      case ExprKind::String: return quoted(e.text);
      case ExprKind::None: return "none:" + show(p, e.type);
      case ExprKind::Zero: return "zero:" + show(p, e.type);
      case ExprKind::Local: return nameOf(e.local);
      case ExprKind::ExtentValue: return "extent(" + show(p, e.extent) + ")";
      case ExprKind::Function: return "function " + callee(e);
      case ExprKind::Unary: return e.unary == UnaryOp::Negate ? "neg" + list(e) : "bnot" + list(e);
      case ExprKind::Binary: return std::string(binaryName(e.binary)) + list(e) + ":" + show(p, e.type);
      case ExprKind::And: return "and" + list(e);
      case ExprKind::Or: return "or" + list(e);
      case ExprKind::Not: return "not" + list(e);
      case ExprKind::Convert: return std::string(e.explicitConversion ? "convert" : "widen") + list(e) + ":" + show(p, e.type);
      case ExprKind::Some: return "some" + list(e);
      case ExprKind::Call: return callee(e) + list(e) + ":" + show(p, e.type);
      case ExprKind::CallValue: return "call" + list(e) + ":" + show(p, e.type);
      case ExprKind::Builtin: return std::string(builtinNames[size_t(e.builtin)]) + extents(e) + list(e) + ":" + show(p, e.type);
      case ExprKind::Intrinsic: return e.text + list(e) + ":" + show(p, e.type);
      case ExprKind::Vocabulary: return "`" + std::string(e.row ? e.row->name : "?") + "`" + list(e) + ":" + show(p, e.type);
      case ExprKind::Field: return expr(e.children[0]) + "." + fieldName(e);
      case ExprKind::Element: return "element" + list(e);
      case ExprKind::MapElement: return "entry" + list(e);
      case ExprKind::Slice: return "slice(" + expr(e.children[0]) + subscripts(e) + "):" + show(p, e.type);
      case ExprKind::MakeRecord: case ExprKind::MakeFailure: return show(p, e.type) + list(e);
      case ExprKind::MakeChoice: return show(p, e.type) + "." + p.get(e.callee).cases[e.index].name + list(e);
      case ExprKind::MakeTuple: return "tuple" + list(e);
      case ExprKind::MakeList: return "list" + list(e) + ":" + show(p, e.type);
      case ExprKind::MakeArray: return "array" + list(e) + ":" + show(p, e.type);
      case ExprKind::MakeTensor: return "tensor" + list(e) + ":" + show(p, e.type);
      case ExprKind::MakeMap: return "map" + list(e) + ":" + show(p, e.type);
      case ExprKind::MakeSet: return "set" + list(e) + ":" + show(p, e.type);
      case ExprKind::Comprehension: return "[" + expr(e.children[0]) + " " + head(*e.loop) + "]:" + show(p, e.type);
      case ExprKind::Interpolation: {
        std::string text = "text(";
        for (size_t i = 0; i < e.parts.size(); i++) {
          const TextPart& part = e.parts[i];
          text += i ? ", " : "";
          text += part.value ? expr(part.value) + (part.format.empty() ? "" : " as " + part.format) : quoted(part.text);
        }
        return text + ")";
      }
      case ExprKind::If: return "if" + list(e) + ":" + show(p, e.type);
      case ExprKind::Match: {
        std::string text = "match(" + expr(e.children[0]);
        for (const Arm& a : e.arms) text += ", " + (a.pattern ? pattern(a.pattern) : "else") + (a.guard ? " if " + expr(a.guard) : "") + " => " + expr(a.value);
        return text + "):" + show(p, e.type);
      }
      case ExprKind::Try: return "try(" + expr(e.children[0]) + handler(e) + ")";
      case ExprKind::OrElse: return "orElse(" + expr(e.children[0]) + handler(e) + ")";
      case ExprKind::InRange: return std::string(e.index ? "inRange" : "inHalfOpen") + list(e);
      case ExprKind::InSet: return "in" + list(e);
      case ExprKind::Closure: {
        std::string text = e.closure->moves ? "move closure(" : "closure(";
        for (size_t i = 0; i < e.closure->params.size(); i++) text += (i ? ", " : "") + nameOf(e.closure->params[i]);
        for (const Capture& c : e.closure->captures) text += std::string("; ") + (c.mode == Mode::Move ? "move " : c.mode == Mode::Inout ? "inout " : "") + nameOf(c.outer) + " as " + nameOf(c.inner);
        text += ")";
        if (e.closure->value) return text + " => " + expr(e.closure->value);
        Dumper inner(p, body);
        inner.statements(e.closure->body, 3);
        return text + "\n" + inner.out + "    end";
      }
      case ExprKind::Spawn: return "spawn" + list(e);
      case ExprKind::Wait: return "wait" + list(e);
      case ExprKind::Gradient: return "gradient" + list(e) + ":" + show(p, e.type);
      case ExprKind::Detach: return "detach" + list(e);
    }
    return "?";
  }

 private:
  const Program& p;
  const Body& body;

  static std::string number(double v) {
    char text[40];
    std::snprintf(text, sizeof text, "%.17g", v);
    return text;
  }

  static std::string quoted(const std::string& s) {
    std::string t = "\"";
    for (char c : s) {
      if (c == '\n') t += "\\n";
      else if (c == '"') t += "\\\"";
      else t += c;
    }
    return t + "\"";
  }

  static const char* binaryName(BinaryOp op) {
    static const char* const names[] = {"add", "sub", "mul", "div", "intdiv", "mod", "rem", "addwrap", "subwrap", "mulwrap", "shl", "shr", "bitand", "bitor", "bitxor", "eq", "ne", "lt", "le", "gt", "ge"};
    return names[size_t(op)];
  }

  std::string list(const Expr& e) const {
    std::string text = "(";
    for (size_t i = 0; i < e.children.size(); i++) {
      text += i ? ", " : "";
      Mode m = i < e.modes.size() ? e.modes[i] : Mode::Read;
      bool call = e.kind == ExprKind::Call || e.kind == ExprKind::CallValue || e.kind == ExprKind::Builtin || e.kind == ExprKind::Vocabulary;
      if (call && m != Mode::Read) text += m == Mode::Inout ? "inout " : "move ";
      text += expr(e.children[i]);
    }
    return text + ")";
  }

  std::string extents(const Expr& e) const {
    if (e.extentArgs.empty()) return "";
    std::string text = "[";
    for (size_t i = 0; i < e.extentArgs.size(); i++) {
      const ExtentArg& x = e.extentArgs[i];
      text += i ? ", " : "";
      if (x.from == ExtentArg::From::Value) text += expr(x.value);
      else if (x.from == ExtentArg::From::Known) text += x.known ? show(p, x.known) : "-";
      else text += "argument " + std::to_string(x.argument) + "." + std::to_string(x.axis);
    }
    return text + "]";
  }

  std::string callee(const Expr& e) const {
    const Decl& d = p.get(e.callee);
    std::string text = d.module + "." + d.name;
    if (!e.typeArgs.empty()) {
      text += "[";
      for (size_t i = 0; i < e.typeArgs.size(); i++) text += (i ? ", " : "") + show(p, e.typeArgs[i]);
      text += "]";
    }
    return text + extents(e);
  }

  std::string fieldName(const Expr& e) const {
    const Type& t = p.types.get(body.exprs[e.children[0].index].type);
    const Type& owner = t.kind == Kind::Box ? p.types.get(t.element) : t;
    if ((owner.kind == Kind::Record || owner.kind == Kind::Failure) && e.index < p.get(owner.decl).fields.size()) return p.get(owner.decl).fields[e.index].name;
    return std::to_string(e.index);
  }

  std::string subscripts(const Expr& e) const {
    std::string text;
    for (const Subscript& s : e.subscripts) {
      text += ", ";
      switch (s.form) {
        case Subscript::Form::Index: text += expr(s.low); break;
        case Subscript::Form::Range: text += expr(s.low) + (s.inclusive ? " .. " : " ..< ") + expr(s.high); break;
        case Subscript::Form::From: text += expr(s.low) + " .."; break;
        case Subscript::Form::Whole: text += ".."; break;
      }
    }
    return text;
  }

  std::string handler(const Expr& e) const {
    if (e.handler.leaves) {
      Dumper inner(p, body);
      inner.statement(e.handler.leaves, 0);
      while (!inner.out.empty() && inner.out.back() == '\n') inner.out.pop_back();
      return " else " + inner.out;
    }
    return e.handler.value ? " else " + expr(e.handler.value) : "";
  }

  std::string head(const Loop& l) const {
    std::string text = l.parallel ? "parallel for " : "for ";
    text += l.walk == Mode::Inout ? "inout " : l.walk == Mode::Move ? "move " : "";
    if (l.index) text += nameOf(l.index) + ", ";
    text += l.pattern ? pattern(l.pattern) : nameOf(l.variable);
    if (l.form == Loop::Form::Range) text += " in " + expr(l.low) + (l.inclusive ? " .. " : " ..< ") + expr(l.high) + (l.step ? " by " + expr(l.step) : "");
    else text += " in " + expr(l.source);
    return text;
  }

  std::string pattern(PatternId id) const {
    if (!id) return "_";
    const Pattern& x = body.patterns[id.index];
    auto parts = [&](const char* between) {
      std::string text = "(";
      for (size_t i = 0; i < x.parts.size(); i++) text += (i ? between : "") + pattern(x.parts[i]);
      return text + ")";
    };
    switch (x.kind) {
      case PatternKind::Any: return "_";
      case PatternKind::Bind: return nameOf(x.local);
      case PatternKind::Literal: return expr(x.low);
      case PatternKind::Range: return expr(x.low) + (x.exclusive ? " ..< " : " .. ") + expr(x.high);
      case PatternKind::Tuple: return parts(", ");
      case PatternKind::Case: return p.get(p.types.get(x.type).decl).cases[x.index].name + (x.parts.empty() ? "" : parts(", "));
      case PatternKind::Some: return "some" + parts(", ");
      case PatternKind::None: return "none";
      case PatternKind::Either: return parts(" | ");
    }
    return "_";
  }

  void line(int depth, const std::string& text) { out += std::string(size_t(depth) * 2, ' ') + text + "\n"; }

  void arms(const std::vector<Arm>& list, int depth) {
    for (const Arm& a : list) {
      line(depth, (a.pattern ? "case " + pattern(a.pattern) : "else") + (a.guard ? " if " + expr(a.guard) : ""));
      statements(a.body, depth + 1);
    }
  }

  void statement(StmtId id, int depth) {
    const Stmt& s = body.stmts[id.index];
    switch (s.kind) {
      case StmtKind::Error: return line(depth, "error");
      case StmtKind::Expression: return line(depth, expr(s.value));
      case StmtKind::Declare: {
        if (!s.local) return line(depth, "let " + (s.pattern ? pattern(s.pattern) : "_") + " := " + expr(s.value));
        const Local& l = body.locals[s.local.index];
        const char* word = l.form == Local::Form::Var ? "var " : l.form == Local::Form::NamedRead ? "name " : l.form == Local::Form::NamedInout ? "name inout " : "let ";
        return line(depth, word + nameOf(s.local) + ": " + show(p, l.type) + " := " + expr(s.value));
      }
      case StmtKind::Assign: return line(depth, expr(s.target) + " := " + expr(s.value));
      case StmtKind::AssignTuple: {
        std::string text = "(";
        for (size_t i = 0; i < s.targets.size(); i++) text += (i ? ", " : "") + expr(s.targets[i]);
        text += ") := (";
        for (size_t i = 0; i < s.values.size(); i++) text += (i ? ", " : "") + expr(s.values[i]);
        return line(depth, text + ")");
      }
      case StmtKind::Update: return line(depth, expr(s.target) + " " + binaryName(s.binary) + "= " + expr(s.value));
      case StmtKind::If: case StmtKind::IfLet: {
        std::string bound = s.kind == StmtKind::IfLet ? "let " + (s.pattern ? pattern(s.pattern) : nameOf(s.local)) + " := " : "";
        line(depth, "if " + bound + expr(s.value));
        statements(s.body, depth + 1);
        if (!s.otherwise.empty()) line(depth, "else");
        statements(s.otherwise, depth + 1);
        return line(depth, "end");
      }
      case StmtKind::While: case StmtKind::WhileLet: {
        std::string bound = s.kind == StmtKind::WhileLet ? "let " + (s.pattern ? pattern(s.pattern) : nameOf(s.local)) + " := " : "";
        line(depth, "while " + bound + expr(s.value));
        statements(s.body, depth + 1);
        return line(depth, "end");
      }
      case StmtKind::For:
        line(depth, head(*s.loop));
        statements(s.body, depth + 1);
        return line(depth, "end");
      case StmtKind::LoopForever:
        line(depth, "loop");
        statements(s.body, depth + 1);
        return line(depth, "end");
      case StmtKind::Match: {
        const char* mode = s.mode == Mode::Inout ? "inout " : s.mode == Mode::Move ? "move " : "";
        line(depth, std::string("match ") + mode + expr(s.value));
        arms(s.arms, depth + 1);
        return line(depth, "end");
      }
      case StmtKind::Break: return line(depth, "break");
      case StmtKind::Continue: return line(depth, "continue");
      case StmtKind::Return: return line(depth, s.value ? "return " + expr(s.value) : "return");
      case StmtKind::Fail: return line(depth, "fail " + expr(s.value));
      case StmtKind::Assert: return line(depth, "assert " + expr(s.value) + (s.second ? ", " + expr(s.second) : ""));
      case StmtKind::Tape:
        line(depth, "tape");
        statements(s.body, depth + 1);
        return line(depth, "end");
      case StmtKind::Backward: return line(depth, "backward " + expr(s.value));
      case StmtKind::Each: {
        std::string records;
        for (ExprId r : s.values) records += (records.empty() ? "" : ", ") + expr(r);
        line(depth, "each in " + records);
        for (const EachLeaf& l : s.leaves) {
          std::string names;
          for (LocalId x : l.locals) names += (names.empty() ? "" : ", ") + nameOf(x);
          line(depth + 1, "leaf " + names + ": " + show(p, l.type));
          statements(l.body, depth + 2);
        }
        return line(depth, "end");
      }
      case StmtKind::Attempt:
        line(depth, "attempt");
        statements(s.body, depth + 1);
        for (const Recover& r : s.recovers) {
          line(depth, "recover " + nameOf(r.local) + ": " + show(p, r.failure));
          statements(r.body, depth + 1);
        }
        return line(depth, "end");
      case StmtKind::Tasks: return line(depth, "tasks");
      case StmtKind::Block:
        line(depth, "block");
        statements(s.body, depth + 1);
        return line(depth, "end");
    }
  }
};

}  // namespace

std::string dumpTree(const Program& p, DeclId id) {
  const Decl& d = p.get(id);
  if (!d.body) return "";
  Dumper dumper(p, *d.body);
  std::string head = d.kind == DeclKind::Test ? "test \"" + d.name + "\"" : (d.kind == DeclKind::Failure ? "failure " : "func ") + d.name + "(";
  if (d.kind != DeclKind::Test) {
    for (size_t i = 0; i < d.body->params.size(); i++) {
      LocalId l = d.body->params[i];
      const Local& x = d.body->locals[l.index];
      head += std::string(i ? ", " : "") + (x.mode == Mode::Inout ? "inout " : x.mode == Mode::Move ? "move " : "") + dumper.nameOf(l) + ": " + show(p, x.type);
    }
    head += "): " + show(p, d.result);
  }
  dumper.out = head + "\n";
  dumper.statements(d.body->statements, 1);
  return dumper.out + "end\n";
}

}  // namespace mica
