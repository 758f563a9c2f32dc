// Shapes of tensor operators: what meets what, and the messages that show both sides, their shapes, and where each came from.
#include <cctype>

#include "frontend/checker.h"

namespace mica {

namespace {

const char* nameOfOperation(ast::BinaryOp op) {
  switch (op) {
    case ast::BinaryOp::Add: return "sum";
    case ast::BinaryOp::Sub: return "difference";
    case ast::BinaryOp::Div: case ast::BinaryOp::DivElements: return "quotient";
    default: return "product";
  }
}

const char* rowOf(ast::BinaryOp op) {
  switch (op) {
    case ast::BinaryOp::Add: return "+";
    case ast::BinaryOp::Sub: return "-";
    case ast::BinaryOp::Div: case ast::BinaryOp::DivElements: return "./";
    default: return ".*";
  }
}

}  // namespace

// Two extents that must be equal: the known one of them. An open one is checked at run time.
ExtentId BodyChecker::meet(ExtentId a, ExtentId b, bool* fine) {
  if (a == b) return a;
  if (types.isOpen(a)) return b;
  if (types.isOpen(b)) return a;
  *fine = false;
  return a;
}

// Does `shorter` equal the trailing extents of `longer`: then `result` is the shape of the operation.
bool BodyChecker::trailing(const std::vector<ExtentId>& longer, const std::vector<ExtentId>& shorter, std::vector<ExtentId>* result) {
  if (shorter.size() > longer.size()) return false;
  std::vector<ExtentId> out = longer;
  bool fine = true;
  size_t shift = longer.size() - shorter.size();
  for (size_t i = 0; i < shorter.size(); i++) out[shift + i] = meet(longer[shift + i], shorter[i], &fine);
  if (fine) *result = std::move(out);
  return fine;
}

// Where the shape of a value comes from, for messages: "declared at gpt.mica:14:5", "from LayerNorm at gpt.mica:30:14".
std::string BodyChecker::origin(ExprId id) {
  const Expr& e = get(id);
  auto at = [&](Place p) { return " at " + context.sources.describe(p); };
  switch (e.kind) {
    case ExprKind::Local: {
      LocalId local = e.local;
      for (bool again = true; again;) {   // a capture stands for the variable outside
        again = false;
        for (const Frame& f : frames) {
          if (!f.closure) continue;
          for (const Capture& c : f.closure->captures) {
            if (c.inner == local) {
              local = c.outer;
              again = true;
            }
          }
        }
      }
      const Local& l = get(local);
      auto init = initializers.find(local.index);
      if (!l.marked && init != initializers.end() && get(init->second).kind != ExprKind::Local) {
        std::string from = origin(init->second);
        if (!from.empty()) return from;
      }
      return "declared" + at(l.place);
    }
    case ExprKind::Field: {
      const Type t = typ(typeOf(e.children[0]));
      if (t.kind == Kind::Record && e.index < program.get(t.decl).fields.size()) return "declared" + at(program.get(t.decl).fields[e.index].place);
      return "";
    }
    case ExprKind::Call: return "from " + program.get(e.callee).name + at(e.start);
    case ExprKind::Vocabulary: {
      std::string name = e.row ? e.row->name : "";
      bool isName = !name.empty() && ((name[0] >= 'A' && name[0] <= 'Z'));
      return isName ? "from " + name + at(e.start) : "";
    }
    case ExprKind::Builtin: {
      static const char* const builtins[] = {
#define BUILTIN(name) #name,
#include "frontend/builtins.def"
#undef BUILTIN
      };
      std::string name = e.builtin == Builtin::Fill ? program.get(e.callee).name : builtins[size_t(e.builtin)];
      return "from " + name + at(e.start);
    }
    case ExprKind::Try: case ExprKind::Convert: return origin(e.children[0]);
    default: return "";
  }
}

ExprId BodyChecker::makeRow(const char* name, TypeId type, std::vector<ExprId> children, const ast::Expr* at) {
  const vocabulary::Row* row = vocabulary::find(name);
  if (!row) {
    error(at, std::string("this compiler does not have `") + name + "` on tensors yet");
    return errorExpr(at);
  }
  ExprId r = make(ExprKind::Vocabulary, type, at);
  get(r).row = row;
  get(r).modes.assign(children.size(), Mode::Read);
  get(r).children = std::move(children);
  return r;
}

// A scalar beside a tensor takes the tensor's element type: float64 is rounded once.
ExprId BodyChecker::scalarBeside(ExprId x, TypeId element, const ast::Expr* at) {
  TypeId have = types.unmarked(typeOf(x));
  if (types.same(have, element)) return x;
  Kind h = kindOf(have), e = kindOf(element);
  if ((isFloat(h) && isFloat(e)) || widens(have, element)) return convert(x, element);
  auto& m = error(at, quote(at) + " is " + aType(have) + " and the tensor beside it holds " + show(element));
  bool numbers = (isInteger(h) || isFloat(h)) && (isInteger(e) || isFloat(e));
  if (numbers) m.note("write `" + show(element) + "(" + quoteExact(at) + ")`");
  return errorExpr(at);
}

ExprId BodyChecker::tensorOp(const ast::BinaryExpr* e, ExprId left, ExprId right) {
  bool leftTensor = kindOf(left) == Kind::Tensor, rightTensor = kindOf(right) == Kind::Tensor;
  bool isProduct = e->op == ast::BinaryOp::Mul;
  if (leftTensor && rightTensor) {
    const Type a = typ(typeOf(left)), b = typ(typeOf(right));
    if (!types.same(a.element, b.element)) {
      bool narrow = kindOf(a.element) == Kind::Float32;
      const ast::Expr* which = narrow ? e->left : e->right;
      TypeId to = narrow ? b.element : a.element;
      error(e->opSpan(), "the sides of this " + std::string(nameOfOperation(e->op)) + " hold " + show(types.unmarked(a.element)) + " and " + show(types.unmarked(b.element)))
        .note("write `" + show(types.unmarked(to)) + "(" + quoteExact(which) + ")` to convert each element");
      return errorExpr(e);
    }
    if (kindOf(a.element) == Kind::Bool) {
      error(e->opSpan(), "`" + std::string(ast::spelling(e->op)) + "` does not apply to tensors of bool");
      return errorExpr(e);
    }
    if (e->op == ast::BinaryOp::Div) {
      error(e->opSpan(), "`/` divides numbers, and these are tensors").note("write `./` to divide element by element");
      return errorExpr(e);
    }
    if (e->op == ast::BinaryOp::DivElements && isInteger(kindOf(a.element))) {
      error(e->opSpan(), "`./` divides floats, and these are integers").note("write `float32(" + quoteExact(e->left) + ") ./ float32(" + quoteExact(e->right) + ")`");
      return errorExpr(e);
    }
    if (isProduct) return product(e, left, right);
    return pointwise(rowOf(e->op), nameOfOperation(e->op), left, right, e->left, e->right, e->opSpan(), e);
  }
  TypeId tensorType = types.unmarked(typeOf(leftTensor ? left : right));
  const Type t = typ(tensorType);
  TypeId element = types.unmarked(t.element);
  Kind other = kindOf(leftTensor ? right : left);
  bool number = isInteger(other) || isFloat(other) || other == Kind::Parameter;
  bool floats = isFloat(kindOf(element)) || kindOf(element) == Kind::Parameter;
  bool divides = e->op == ast::BinaryOp::Div || e->op == ast::BinaryOp::DivElements;
  if (!number || kindOf(element) == Kind::Bool || (divides && !floats)) {
    error(e->opSpan(), "`" + std::string(ast::spelling(e->op)) + "` does not apply to " + aType(types.unmarked(typeOf(left))) + " and " + aType(types.unmarked(typeOf(right))));
    return errorExpr(e);
  }
  if (leftTensor) right = scalarBeside(right, element, e->right);
  else left = scalarBeside(left, element, e->left);
  if (isError(left) || isError(right)) return errorExpr(e);
  return makeRow(rowOf(e->op), tensorType, {left, right}, e);
}

// Two operands of equal shape, a scalar, or the trailing extents of the other.
ExprId BodyChecker::pointwise(const char* row, const std::string& what, ExprId left, ExprId right, const ast::Expr* leftAt, const ast::Expr* rightAt, Span op, const ast::Expr* at) {
  const Type a = typ(typeOf(left)), b = typ(typeOf(right));
  std::vector<ExtentId> shape;
  bool leftLonger = a.extents.size() >= b.extents.size();
  const vocabulary::Row* found = vocabulary::find(row);
  bool answersBool = found && std::string_view(found->signature).ends_with("of bool");
  TypeId element = answersBool ? boolType() : types.unmarked(a.element);
  if (trailing(leftLonger ? a.extents : b.extents, leftLonger ? b.extents : a.extents, &shape)) return makeRow(row, types.tensor(element, shape, a.onGpu), {left, right}, at);
  TypeId leftType = types.unmarked(typeOf(left)), rightType = types.unmarked(typeOf(right));
  // Same rank, and the extents that differ are names: perhaps equal, but not known to be.
  std::string names;
  bool sameRank = a.extents.size() == b.extents.size(), byName = sameRank;
  for (size_t i = 0; sameRank && i < a.extents.size(); i++) {
    bool fine = true;
    meet(a.extents[i], b.extents[i], &fine);
    if (fine) continue;
    if (types.isConstant(a.extents[i]) && types.isConstant(b.extents[i])) byName = false;
    if (names.empty()) names = "`" + show(a.extents[i]) + "` and `" + show(b.extents[i]) + "`";
  }
  auto& m = error(op, "the shapes of this " + what + (byName ? " differ: " : " do not fit: ") + show(leftType) + " and " + show(rightType));
  m.label(spanOf(leftAt), show(leftType), origin(left)).label(spanOf(rightAt), show(rightType), origin(right));
  if (byName) {
    m.note(names + " are not known to be equal; give both parameters one name");
    return errorExpr(at);
  }
  const Type& longer = leftLonger ? a : b;
  const Type& shorter = leftLonger ? b : a;
  if (shorter.extents.size() == 1 && longer.extents.size() >= 2) {
    m.note("a vector is added to each row when it has " + show(longer.extents.back()) + " elements; write the repetition out for columns");
  } else if (sameRank && a.extents.size() >= 2) {
    for (auto [one, many, ast] : {std::tuple(&a, &b, leftAt), std::tuple(&b, &a, rightAt)}) {
      int64_t n;
      if (!types.isConstant(one->extents[0], &n) || n != 1 || one->extents.back() != many->extents.back()) continue;
      std::string fixed = quoteExact(ast) + "[0, ..]";
      std::string x = ast == leftAt ? fixed : quoteExact(leftAt), y = ast == rightAt ? fixed : quoteExact(rightAt), name = row;
      m.note("write `" + (std::isalpha(uint8_t(name[0])) ? name + "(" + x + ", " + y + ")" : x + " " + name + " " + y) + "`");
      return errorExpr(at);
    }
    m.note("two " + std::string(a.extents.size() == 2 ? "matrices" : "tensors of one rank") + " must have equal shapes here");
  } else {
    m.note("the shorter shape must equal the last extents of the longer one");
  }
  return errorExpr(at);
}

// `*` of linear algebra: rows of the left meet the rows (or elements) of the right.
ExprId BodyChecker::product(const ast::BinaryExpr* e, ExprId left, ExprId right) {
  const Type a = typ(typeOf(left)), b = typ(typeOf(right));
  TypeId leftType = types.unmarked(typeOf(left)), rightType = types.unmarked(typeOf(right));
  TypeId element = types.unmarked(a.element);
  size_t x = a.extents.size(), y = b.extents.size();
  Kind k = kindOf(element);
  if (!isFloat(k) && k != Kind::Parameter) {
    error(e->opSpan(), "the product `*` is for tensors of floats, and these hold " + show(element)).note("`.*` multiplies element by element");
    return errorExpr(e);
  }
  if (x == 1 && y == 1) {
    error(e->opSpan(), "two vectors have no product `*`").note("write `Dot`, `Outer` or `.*`");
    return errorExpr(e);
  }
  ExtentId inner = a.extents[x - 1];
  ExtentId meets = y == 1 ? b.extents[0] : b.extents[y - 2];
  bool fine = true;
  meet(inner, meets, &fine);
  std::vector<ExtentId> shape;
  bool batches = true;
  if (y <= 2) {   // a matrix or vector applies to every row of the left
    shape.assign(a.extents.begin(), a.extents.end() - 1);
    if (y == 2) shape.push_back(b.extents[1]);
  } else if (x == y) {
    for (size_t i = 0; i + 2 < x; i++) {
      bool same = true;
      shape.push_back(meet(a.extents[i], b.extents[i], &same));
      batches = batches && same;
    }
    shape.push_back(a.extents[x - 2]);
    shape.push_back(b.extents[y - 1]);
  } else {
    batches = false;
  }
  if (fine && batches) {
    if (shape.empty()) return makeRow("*", element, {left, right}, e);
    return makeRow("*", types.tensor(element, shape, a.onGpu), {left, right}, e);
  }
  auto& m = error(e->opSpan(), fine ? "the leading extents of this product differ" : "the dimensions of this product cannot meet");
  m.label(spanOf(e->left), show(leftType), origin(left)).label(spanOf(e->right), show(rightType), origin(right));
  if (!fine) {
    std::string note = "the left has " + show(inner) + (x == 1 ? " elements" : " columns") + ", the right has " + show(meets) + (y == 1 ? " elements" : " rows");
    if (types.same(leftType, rightType)) note += "; `.*` multiplies element by element";
    m.note(note);
  } else {
    m.note("batches of matrices need equal leading extents");
  }
  return errorExpr(e);
}

}  // namespace mica
