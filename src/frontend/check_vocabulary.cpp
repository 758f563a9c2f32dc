// Calls of the vocabulary: each row's signature (signature.h) is matched against the arguments. F is the float type of the operands, a pack
// `S...` any number of leading extents. Where a row's rule is Pointwise, code decides the shape.
#include <algorithm>
#include <map>
#include <memory>

#include "frontend/checker.h"
#include "frontend/signature.h"

namespace mica {

// ---- matching ----

namespace {

struct Bound {
  TypeId element;                                          // F or T
  std::map<std::string, std::vector<ExtentId>> extents;    // names (one) and packs
  std::map<std::string, std::string> from;                 // the parameter that bound a name
};

}  // namespace

struct VocabularyCall {
  BodyChecker& c;
  const std::string name;
  Bound bound;

  TypeId scalarOf(const std::string& n) {
    TypeTable& t = c.types;
    if (n == "F" || n == "T" || n == "float") return bound.element;
    if (n == "float32") return t.scalar(Kind::Float32);
    if (n == "float64") return t.scalar(Kind::Float64);
    if (n == "int" || n == "int64") return t.scalar(Kind::Int64);
    if (n == "int32") return t.scalar(Kind::Int32);
    if (n == "int8") return t.scalar(Kind::Int8);
    if (n == "uint8" || n == "byte") return t.scalar(Kind::UInt8);
    if (n == "uint64") return t.scalar(Kind::UInt64);
    if (n == "uint32") return t.scalar(Kind::UInt32);
    if (n == "bool") return t.scalar(Kind::Bool);
    return t.scalar(Kind::Error);
  }

  // Binds the extents of a parameter's shape to those of an argument.
  bool bindShape(const Signature::Param& p, const std::vector<ExtentId>& actual, Span at, const std::string& shown) {
    size_t fixed = 0;
    bool pack = false;
    for (const auto& d : p.type.dims) {
      if (d.pack) pack = true;
      else fixed++;
    }
    if (actual.size() < fixed || (!pack && actual.size() != fixed)) {
      std::string wants = !pack && fixed == 1 ? "a vector" : !pack && fixed == 2 ? "a matrix" : "a tensor of rank " + std::to_string(fixed) + (pack ? " or more" : "");
      c.error(at, "`" + name + "` takes " + wants + " for `" + p.name + "`, and " + shown);
      return false;
    }
    size_t next = 0, spare = actual.size() - fixed;
    for (const auto& d : p.type.dims) {
      std::vector<ExtentId> part;
      size_t count = d.pack ? spare : 1;
      for (size_t i = 0; i < count; i++) part.push_back(actual[next++]);
      if (!d.pack && !d.name.empty() && isdigit(static_cast<unsigned char>(d.name[0]))) {
        bool fine = true;
        c.meet(c.types.constant(std::stoll(d.name)), part[0], &fine);
        if (!fine) c.error(at, "`" + name + "` needs the extent " + d.name + " for `" + p.name + "`, and " + shown);
        if (!fine) return false;
        continue;
      }
      auto [known, isNew] = bound.extents.try_emplace(d.name, part);
      if (isNew) {
        bound.from[d.name] = p.name;
        continue;
      }
      bool fine = known->second.size() == part.size();
      for (size_t i = 0; fine && i < part.size(); i++) known->second[i] = c.meet(known->second[i], part[i], &fine);
      if (fine) continue;
      auto list = [&](const std::vector<ExtentId>& x) {
        std::string out;
        for (ExtentId e : x) out += (out.empty() ? "" : ", ") + c.show(e);
        return d.pack ? "[" + out + "]" : out;
      };
      auto& m = c.error(at, "the shapes of this `" + name + "` do not fit: " + (d.pack ? "the leading extents of `" : "an extent of `") + bound.from[d.name] + "` " + (d.pack ? "are " : "is ") + list(known->second) + " and of `" + p.name + "` " + list(part));
      m.mainLabel(shown);
      return false;
    }
    return true;
  }

  TypeId resultOf(const Signature::Shape& r) {
    if (r.base != "tensor") return scalarOf(r.base);
    std::vector<ExtentId> shape;
    for (const auto& d : r.dims) {
      if (!d.pack && !d.name.empty() && isdigit(static_cast<unsigned char>(d.name[0]))) {
        shape.push_back(c.types.constant(std::stoll(d.name)));
        continue;
      }
      auto known = bound.extents.find(d.name);
      if (known == bound.extents.end()) shape.push_back(c.types.open());
      else shape.insert(shape.end(), known->second.begin(), known->second.end());
    }
    TypeId element = scalarOf(r.element);
    return shape.empty() ? element : c.types.tensor(element, shape);
  }
};

namespace {

// Rows that have integer kernels beside those for floats.
bool worksOnIntegers(const std::string& name) {
  for (const char* n : {"Sum", "MaxAll", "MinAll", "ArgMax", "ArgMin", "Abs", "Square", "Negate", "Min", "Max"}) {
    if (name == n) return true;
  }
  return false;
}

}  // namespace

ExprId BodyChecker::vocabularyCall(const vocabulary::Row* row, const ast::CallExpr* e, const ast::Seq<ast::Arg>* brackets, TypeId hint) {
  const Signature& s = signatureOf(row);
  std::string name = row->name;
  if (brackets) error(e->callee, "`" + name + "` takes nothing in brackets");
  std::vector<Slot> slots;
  for (const auto& p : s.params) slots.push_back({p.name, {}, p.isInout ? Mode::Inout : Mode::Read, !p.defaultText.empty(), nullptr, true, Change::Elements});
  std::vector<const ast::Arg*> given;
  if (!assignSlots(slots, e, name, given)) {
    for (const ast::Arg& a : e->args) expr(a.value);
    return errorExpr(e);
  }
  VocabularyCall v{*this, name, {}};
  std::vector<ExprId> children(slots.size());
  bool fine = true;
  auto isFloatSlot = [&](size_t i) { return s.params[i].type.base == "float" || (s.params[i].type.base == "tensor" && (s.params[i].type.element == "F" || s.params[i].type.element == "T")); };
  // Operands first: they say what F is. Then literals beside them, then the settings.
  for (int phase = 0; phase < 2; phase++) {
    for (size_t i = 0; i < slots.size(); i++) {
      if (!given[i]) continue;
      const ast::Arg& a = *given[i];
      const auto& p = s.params[i].type;
      bool waits = adaptable(a.value) || a.value->kind == ast::ExprKind::List || p.base != "tensor";
      if (waits != (phase == 1)) continue;
      TypeId want;
      if (p.base != "tensor" && p.base != "float") want = v.scalarOf(p.base);
      else if (isFloatSlot(i)) want = v.bound.element ? v.bound.element : isFloat(kindOf(withoutOptional(hint))) ? withoutOptional(hint) : kindOf(hint) == Kind::Tensor ? types.unmarked(typ(hint).element) : TypeId{};
      if (a.value->kind == ast::ExprKind::List && p.base == "tensor") {
        TypeId element = isFloatSlot(i) ? (want ? want : scalar(Kind::Float32)) : v.scalarOf(p.element);
        auto* list = ast::as<ast::ListExpr>(a.value);
        bool rows = !list->elements.empty() && list->elements[0]->kind == ast::ExprKind::List;
        want = types.tensor(element, std::vector<ExtentId>(rows ? 2 : 1, types.open()));
      }
      ExprId x = adaptable(a.value) ? buildAdaptable(a.value, adaptTo({}, want && isInteger(kindOf(want)) && hasFloatLiteral(a.value) ? TypeId{} : want)) : argument(slots[i], want, a, name);
      bool besideIntegers = v.bound.element && isInteger(kindOf(v.bound.element));
      if (isFloatSlot(i) && adaptable(a.value) && isInteger(kindOf(x)) && !besideIntegers) x = buildAdaptable(a.value, scalar(Kind::Float64));   // a whole literal where floats go
      children[i] = x;
      if (isError(x)) {
        fine = false;
        continue;
      }
      if (!isFloatSlot(i)) continue;
      Kind k = kindOf(x);
      TypeId element = k == Kind::Tensor ? types.unmarked(typ(typeOf(x)).element) : types.unmarked(typeOf(x));
      if (k == Kind::Tensor || !v.bound.element) {
        bool allowed = isFloat(kindOf(element)) || kindOf(element) == Kind::Parameter || p.element == "T" || (isInteger(kindOf(element)) && k == Kind::Tensor && worksOnIntegers(name));
        if (!allowed) {
          auto& m = error(a.value, "`" + name + "` takes floats, and " + quote(a.value) + " is " + aType(types.unmarked(typeOf(x))));
          if (isInteger(kindOf(element))) m.note("write `float64(" + quoteExact(a.value) + ")`");
          fine = false;
          continue;
        }
        bool tensorBefore = v.bound.element && k == Kind::Tensor && !types.same(v.bound.element, element);
        if (tensorBefore) {
          error(a.value, "the operands of `" + name + "` hold " + show(v.bound.element) + " and " + show(element)).note("write `" + show(v.bound.element) + "(" + quoteExact(a.value) + ")` to convert each element");
          fine = false;
          continue;
        }
        if (!v.bound.element) v.bound.element = element;
      }
    }
  }
  if (!fine) return errorExpr(e);
  if (!v.bound.element) v.bound.element = scalar(Kind::Float32);
  if (row->rule == vocabulary::Rule::Pointwise && children.size() == 2) {
    ExprId left = children[0], right = children[1];
    bool lt = kindOf(left) == Kind::Tensor, rt = kindOf(right) == Kind::Tensor;
    if (!lt && !rt) {
      error(e, "`" + name + "` works element by element on tensors, and these are numbers");
      return errorExpr(e);
    }
    if (lt && rt) return pointwise(row->name, "`" + name + "`", left, right, given[0]->value, given[1]->value, spanOf(e), e);
    TypeId tensorType = types.unmarked(typeOf(lt ? left : right));
    (lt ? right : left) = scalarBeside(lt ? right : left, types.unmarked(typ(tensorType).element), given[lt ? 1 : 0]->value);
    if (isError(left) || isError(right)) return errorExpr(e);
    bool answersBool = !s.results.empty() && s.results[0].element == "bool";
    return makeRow(row->name, answersBool ? types.tensor(boolType(), typ(tensorType).extents) : tensorType, {left, right}, e);
  }
  bool onlyScalars = row->scalar != nullptr;
  for (size_t i = 0; i < slots.size(); i++) {
    if (given[i] && s.params[i].type.base == "tensor" && kindOf(children[i]) == Kind::Tensor) onlyScalars = false;
  }
  for (size_t i = 0; i < slots.size(); i++) {
    const auto& p = s.params[i];
    if (!given[i]) {
      if (p.defaultText == "none") continue;
      children[i] = settingDefault(p.defaultText, v.scalarOf(p.type.base), e);
      continue;
    }
    const ast::Expr* at = given[i]->value;
    ExprId x = children[i];
    Kind k = kindOf(x);
    std::string shown = quote(at) + " is " + aType(types.unmarked(typeOf(x)));
    if (p.type.base != "tensor") {
      TypeId want = v.scalarOf(p.type.base);
      bool rounds = p.type.base == "float" && isFloat(k) && isFloat(kindOf(want)) && !types.same(typeOf(x), want);
      if (rounds) children[i] = convert(x, want);
      else children[i] = fit(x, {want, "the parameter `" + p.name + "`"}, at);
      fine = fine && !isError(children[i]);
      continue;
    }
    if (onlyScalars && k != Kind::Tensor) continue;
    bool zeroRank = isFloatSlot(i) && std::all_of(p.type.dims.begin(), p.type.dims.end(), [](const auto& d) { return d.pack; });   // a number will do
    if (p.isInout && zeroRank && isFloat(k)) {   // a step on a tracked scalar
      fine = v.bindShape(p, {}, spanOf(at), shown) && fine;
      continue;
    }
    if (k != Kind::Tensor && !(zeroRank && isFloat(k))) {
      error(at, "`" + name + "` takes a tensor for `" + p.name + "`, and " + shown);
      fine = false;
      continue;
    }
    const Type t = typ(typeOf(x));
    if (k == Kind::Tensor) {
      TypeId element = v.scalarOf(p.type.element);
      if (!types.same(t.element, element)) {
        error(at, "`" + name + "` takes a tensor of " + show(element) + " for `" + p.name + "`, and " + shown).note("write `" + show(element) + "(" + quoteExact(at) + ")` to convert each element");
        fine = false;
        continue;
      }
    }
    fine = v.bindShape(p, k == Kind::Tensor ? t.extents : std::vector<ExtentId>{}, spanOf(at), shown) && fine;
  }
  if (!fine) return errorExpr(e);
  for (const char* n : {"Mean", "MaxAll", "MinAll", "ArgMax", "ArgMin", "Softmax", "LogSoftmax"}) {
    if (name != n || kindOf(children[0]) != Kind::Tensor) continue;
    const Type t = typ(typeOf(children[0]));
    bool rows = name == "Softmax" || name == "LogSoftmax";
    for (ExtentId x : rows ? std::vector<ExtentId>{t.extents.back()} : t.extents) {
      int64_t size;
      if (!types.isConstant(x, &size) || size != 0) continue;
      error(e, "`" + quoteExact(e->callee) + "` of nothing").note("the operand is " + aType(types.unmarked(typeOf(children[0]))));
      return errorExpr(e);
    }
  }
  TypeId result = unit();
  if (name == "Sum" && isInteger(kindOf(v.bound.element))) {   // of any integer family: exact in 64 bits
    result = intType();
  } else if (s.results.size() == 1) {
    result = onlyScalars && s.results[0].base == "tensor" ? v.scalarOf(s.results[0].element) : v.resultOf(s.results[0]);
  } else if (s.results.size() > 1) {
    std::vector<TypeId> parts;
    for (const auto& r : s.results) parts.push_back(v.resultOf(r));
    result = types.tuple(parts);
  }
  ExprId r = make(ExprKind::Vocabulary, result, e);
  get(r).row = row;
  get(r).children = std::move(children);
  for (const Slot& slot : slots) get(r).modes.push_back(slot.mode);
  return r;
}

ExprId BodyChecker::settingDefault(const std::string& t, TypeId type, const ast::Expr* at) {
  Kind k = kindOf(type);
  ExprId e = make(isFloat(k) ? ExprKind::Float : k == Kind::Bool ? ExprKind::Bool : ExprKind::Int, type, at);
  if (k == Kind::Bool) get(e).intValue = t == "true";
  else if (isFloat(k)) get(e).floatValue = k == Kind::Float32 ? double(std::strtof(t.c_str(), nullptr)) : std::strtod(t.c_str(), nullptr);
  else get(e).intValue = std::strtoll(t.c_str(), nullptr, 0);
  return e;
}

}  // namespace mica
