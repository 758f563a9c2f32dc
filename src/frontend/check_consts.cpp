// Constants: exact values of constant expressions, with the arithmetic that the target has. Overflow is an error. `--set NAME=VALUE`
// replaces the value of a constant of the program's file.
#include <cmath>
#include <cstdlib>

#include "frontend/checker.h"

namespace mica {

namespace {

constexpr size_t MostText = size_t(1) << 20;    // bytes of a text that constants make
constexpr __int128 Lowest = -(__int128(1) << 63), Highest = (__int128(1) << 64) - 1;

std::string showInteger(__int128 v) {
  bool negative = v < 0;
  unsigned __int128 u = negative ? -static_cast<unsigned __int128>(v) : static_cast<unsigned __int128>(v);
  std::string digits;
  do {
    digits.insert(digits.begin(), char('0' + int(u % 10)));
    u /= 10;
  } while (u != 0);
  return (negative ? "-" : "") + digits;
}

ConstValue makeInt(__int128 v) {
  ConstValue c;
  c.kind = ConstValue::Kind::Int;
  c.integer = v;
  c.value64 = double(v);
  c.value32 = float(v);
  return c;
}

ConstValue makeBool(bool v) {
  ConstValue c;
  c.kind = ConstValue::Kind::Bool;
  c.integer = v;
  return c;
}

ConstValue makeError() {
  ConstValue c;
  c.kind = ConstValue::Kind::Error;
  return c;
}

struct IntRange { __int128 low, high; };
IntRange rangeOf(Kind k) {
  uint32_t bits = bitWidth(k);
  if (isSigned(k)) return {-(__int128(1) << (bits - 1)), (__int128(1) << (bits - 1)) - 1};
  return {0, (__int128(1) << bits) - 1};
}

}  // namespace

std::string Checker::showConstant(const ConstValue& v) const {
  switch (v.kind) {
    case ConstValue::Kind::Int: return showInteger(v.integer);
    case ConstValue::Kind::Float: {
      char text[40];
      std::snprintf(text, sizeof text, "%.17g", v.value64);
      return text;
    }
    case ConstValue::Kind::Bool: return v.integer ? "true" : "false";
    case ConstValue::Kind::Char: return "a char";
    case ConstValue::Kind::String: return "a string";
    default: return "unknown";
  }
}

bool Checker::convertConstant(ConstValue& v, TypeId to) {
  mica::Kind k = types.get(to).kind;
  using K = ConstValue::Kind;
  if (!v.known() || k == mica::Kind::Error) return true;
  bool adapts = !v.type;
  mica::Kind from = adapts ? mica::Kind::Error : types.get(v.type).kind;
  if (isInteger(k)) {
    bool fromChar = v.kind == K::Char && k == mica::Kind::UInt8 && adapts;
    if (v.kind != K::Int && !fromChar) return false;
    IntRange range = rangeOf(k);
    if (v.integer < range.low || v.integer > range.high) return false;
    if (!adapts && (rangeOf(from).low < range.low || rangeOf(from).high > range.high)) return false;
    v.kind = K::Int;
  } else if (isFloat(k)) {
    if (v.kind == K::Int) {
      if (!adapts) return false;
      v.value64 = double(v.integer);
      v.value32 = float(v.integer);
      v.kind = K::Float;
    } else if (v.kind != K::Float || (!adapts && from == mica::Kind::Float64 && k == mica::Kind::Float32)) {
      return false;
    }
    if (!adapts && from == mica::Kind::Float32) v.value64 = double(v.value32);
    if (k == mica::Kind::Float32 && std::isinf(v.value32) && !std::isinf(v.value64)) return false;
  } else if (k == mica::Kind::Bool) {
    if (v.kind != K::Bool) return false;
  } else if (k == mica::Kind::Char) {
    if (v.kind != K::Char) return false;
  } else if (k == mica::Kind::String) {
    if (v.kind != K::String) return false;
  } else {
    return false;
  }
  v.type = types.unmarked(to);
  return true;
}

const ConstValue& Checker::constant(DeclId id) {
  DeclInfo& i = info(id);
  auto* syntax = ast::as<ast::ConstDecl>(i.syntax);
  if (i.constState == DeclInfo::State::Done) return i.value;
  if (i.constState == DeclInfo::State::Working) {
    context.diagnostics.error(syntax->name.span(), "the constant `" + std::string(context.text(syntax->name)) + "` is defined by itself");
    i.value = makeError();
    return i.value;
  }
  i.constState = DeclInfo::State::Working;
  if (signatureDepth > 400) {
    context.diagnostics.error(syntax->name.span(), "constants refer to each other too deeply");
    i.constState = DeclInfo::State::Done;
    i.value = makeError();
    return i.value;
  }
  signatureDepth++;
  TypeScope scope{i.module, {}, nullptr, nullptr};
  TypeId type = syntax->type ? resolveType(syntax->type, scope) : TypeId{};
  ConstValue v = evaluate(syntax->value, scope, true, type);
  bool cyclic = info(id).value.kind == ConstValue::Kind::Error;
  if (cyclic) v = makeError();
  if (type && v.known() && !convertConstant(v, type)) {
    context.diagnostics.error(syntax->value->span(), "the constant is " + showWithArticle(program, type) + ", and " + showConstant(v) + " does not fit");
    v = makeError();
  }
  signatureDepth--;
  info(id).value = v;
  info(id).constState = DeclInfo::State::Done;
  program.get(id).constantType = v.type;
  return info(id).value;
}

namespace {

// The parts of a left-leaning chain, leftmost first.
const ast::Expr* spineOf(const ast::BinaryExpr* e, std::vector<const ast::BinaryExpr*>& spine) {
  const ast::Expr* at = e;
  while (auto* b = ast::tryAs<ast::BinaryExpr>(at)) {
    spine.push_back(b);
    at = b->left;
  }
  return at;
}

}  // namespace

ConstValue Checker::evaluate(const ast::Expr* e, const TypeScope& scope, bool report, TypeId hint) {
  auto refuse = [&](Span at, const std::string& text) {
    if (report) context.diagnostics.error(at, text);
    return makeError();
  };
  switch (e->kind) {
    case ast::ExprKind::Error: return makeError();
    case ast::ExprKind::Integer: return makeInt(ast::as<ast::IntegerExpr>(e)->value);
    case ast::ExprKind::Float: {
      ConstValue v;
      v.kind = ConstValue::Kind::Float;
      v.value64 = ast::as<ast::FloatExpr>(e)->value64;
      v.value32 = ast::as<ast::FloatExpr>(e)->value32;
      return v;
    }
    case ast::ExprKind::Char: {
      ConstValue v;
      v.kind = ConstValue::Kind::Char;
      v.integer = ast::as<ast::CharExpr>(e)->codePoint;
      return v;
    }
    case ast::ExprKind::Bool: return makeBool(ast::as<ast::BoolExpr>(e)->value);
    case ast::ExprKind::String: {
      ConstValue v;
      v.kind = ConstValue::Kind::String;
      v.text = std::string(ast::as<ast::StringExpr>(e)->text);
      return v;
    }
    case ast::ExprKind::Name: {
      auto* n = ast::as<ast::NameExpr>(e);
      std::string name(context.names.text(n->name));
      if (scope.body) {
        if (auto local = scope.body->localConstant(n->name)) return *local;
        if (scope.body->isLocal(n->name)) return refuse(e->span(), "`" + name + "` is no constant");
      }
      if (scope.generics) {
        for (const GenericName& g : *scope.generics) {
          if (g.name == n->name) return refuse(e->span(), "`" + name + "` is not known when this is compiled");
        }
      }
      const Symbol* s = find(scope.module, n->name);
      if (s && s->kind == Symbol::Kind::Declaration && program.get(s->decl).kind == DeclKind::Constant) return constant(s->decl);
      if (name == "Pi") {
        ConstValue v;
        v.kind = ConstValue::Kind::Float;
        v.value64 = 3.14159265358979323846;
        v.value32 = 3.14159265358979323846f;
        return v;
      }
      if (!s && report) {
        reportUnknown(e->span(), name, moduleNames(scope.module), "constant");
        return makeError();
      }
      return refuse(e->span(), "`" + name + "` is no constant");
    }
    case ast::ExprKind::Field: {
      auto* f = ast::as<ast::FieldExpr>(e);
      auto* base = ast::tryAs<ast::NameExpr>(f->base);
      const Symbol* s = base ? find(scope.module, base->name) : nullptr;
      if (base && !s && modules.get(scope.module).system && context.names.text(base->name) == "Target" && context.text(f->name) == "Lanes") {
        return refuse(e->span(), "`Target.Lanes` differs from target to target and is no constant here");
      }
      if (!s || s->kind != Symbol::Kind::Module) return refuse(e->span(), "this is no constant");
      const Symbol* member = findExported(s->index, f->name, scope.module);
      if (!member) return makeError();
      if (member->kind != Symbol::Kind::Declaration || program.get(member->decl).kind != DeclKind::Constant) return refuse(e->span(), "this is no constant");
      return constant(member->decl);
    }
    case ast::ExprKind::Unary: {
      auto* u = ast::as<ast::UnaryExpr>(e);
      ConstValue v = evaluate(u->operand, scope, report, hint);
      if (!v.known()) return v;
      if (u->op == ast::UnaryOp::Not && v.kind == ConstValue::Kind::Bool) {
        v.integer = !v.integer;
        return v;
      }
      if (u->op == ast::UnaryOp::Neg && v.kind == ConstValue::Kind::Int) {
        v.integer = -v.integer;
        v.value64 = -v.value64;
        v.value32 = -v.value32;
        IntRange range = v.type ? rangeOf(types.get(v.type).kind) : IntRange{Lowest, Highest};
        if (v.integer < range.low || v.integer > range.high) return refuse(e->span(), "the value of this constant does not fit");
        return v;
      }
      if (u->op == ast::UnaryOp::Neg && v.kind == ConstValue::Kind::Float) {
        v.value64 = -v.value64;
        v.value32 = -v.value32;
        return v;
      }
      if (u->op == ast::UnaryOp::Bnot && v.kind == ConstValue::Kind::Int) {
        mica::Kind k = v.type ? types.get(v.type).kind : mica::Kind::Int64;
        v.integer = isSigned(k) ? ~v.integer : rangeOf(k).high - v.integer;
        return v;
      }
      return refuse(e->span(), "`" + std::string(ast::spelling(u->op)) + "` does not apply to this constant");
    }
    case ast::ExprKind::Binary: {
      std::vector<const ast::BinaryExpr*> spine;
      ConstValue v = evaluate(spineOf(ast::as<ast::BinaryExpr>(e), spine), scope, report, hint);
      for (size_t i = spine.size(); i-- > 0 && v.kind != ConstValue::Kind::Error;) {
        const ast::BinaryExpr* b = spine[i];
        // What `and`, `or` skip need not have a value.
        bool logical = b->op == ast::BinaryOp::And || b->op == ast::BinaryOp::Or;
        if (logical && v.kind == ConstValue::Kind::Bool && (v.integer != 0) == (b->op == ast::BinaryOp::Or)) continue;
        ConstValue right = evaluate(b->right, scope, report, hint);
        if (!right.known()) return right;
        v = evaluateBinary(b, v, right, report);
      }
      return v;
    }
    case ast::ExprKind::If: {
      auto* x = ast::as<ast::IfExpr>(e);
      for (const auto& b : x->branches) {
        if (b.condition.isLet) return refuse(e->span(), "this is no constant");
        ConstValue c = evaluate(b.condition.value, scope, report);
        if (!c.known()) return c;
        if (c.kind != ConstValue::Kind::Bool) return refuse(b.condition.value->span(), "a condition is a bool");
        if (c.integer) return evaluate(b.value, scope, report, hint);
      }
      return x->otherwise ? evaluate(x->otherwise, scope, report, hint) : refuse(e->span(), "this is no constant");
    }
    case ast::ExprKind::Call: {
      auto* c = ast::as<ast::CallExpr>(e);
      auto* callee = ast::tryAs<ast::NameExpr>(c->callee);
      if (!callee) return refuse(e->span(), "a call is no constant");
      std::string name(context.names.text(callee->name));
      if (auto type = builtinType(callee->name, scope.module); type && c->args.size() == 1) {
        ConstValue v = evaluate(c->args[0].value, scope, report, *type);
        if (!v.known()) return v;
        mica::Kind k = types.get(*type).kind;
        if (isInteger(k) && v.kind == ConstValue::Kind::Float) {
          double whole = std::trunc(v.value64);
          if (!(whole >= -9.3e18 && whole <= 1.9e19)) return refuse(e->span(), "the value of this conversion does not fit");
          v = makeInt(__int128(whole));
        } else if (isFloat(k) && v.kind == ConstValue::Kind::Float) {
          if (v.type && types.get(v.type).kind == mica::Kind::Float64) v.value32 = float(v.value64);
        } else if (isInteger(k) && v.kind == ConstValue::Kind::Char) {
          v = makeInt(v.integer);
        } else if (k == mica::Kind::Char && v.kind == ConstValue::Kind::Int && v.integer >= 0 && v.integer < 0x110000) {
          v.kind = ConstValue::Kind::Char;
        }
        v.type = {};
        if (!convertConstant(v, *type)) return refuse(e->span(), "the value of this conversion does not fit");
        return v;
      }
      if ((name == "Min" || name == "Max") && c->args.size() == 2) {
        ConstValue a = evaluate(c->args[0].value, scope, report, hint), b = evaluate(c->args[1].value, scope, report, hint);
        if (!a.known()) return a;
        if (!b.known()) return b;
        if (a.kind == ConstValue::Kind::Int && b.kind == ConstValue::Kind::Int) return (a.integer < b.integer) == (name == "Min") ? a : b;
        if (a.kind == ConstValue::Kind::Float && b.kind == ConstValue::Kind::Float) return (a.value64 < b.value64) == (name == "Min") ? a : b;
      }
      return refuse(e->span(), "a call is no constant");
    }
    default: return refuse(e->span(), "this is no constant");
  }
}

ConstValue Checker::evaluateBinary(const ast::BinaryExpr* e, ConstValue a, ConstValue b, bool report) {
  using Op = ast::BinaryOp;
  using K = ConstValue::Kind;
  auto refuse = [&](const std::string& text) {
    if (report) context.diagnostics.error(e->opSpan(), text);
    return makeError();
  };
  std::string op(ast::spelling(e->op));
  // Typed with untyped: the untyped one adapts. Typed with typed: equal, or the narrower one widens.
  if (a.type && !b.type && !convertConstant(b, a.type)) return refuse("the sides of `" + op + "` have different types");
  if (b.type && !a.type && !convertConstant(a, b.type)) return refuse("the sides of `" + op + "` have different types");
  if (a.type && b.type && a.type != b.type) {
    if (!convertConstant(a, b.type) && !convertConstant(b, a.type)) return refuse("the sides of `" + op + "` have different types");
  }
  if (a.kind == K::Int && b.kind == K::Float) { a.kind = K::Float; }
  if (b.kind == K::Int && a.kind == K::Float) { b.kind = K::Float; }
  if (a.kind != b.kind) return refuse("`" + op + "` does not apply to these constants");
  TypeId type = a.type ? a.type : b.type;
  auto compare = [&](int order, bool unordered) {
    switch (e->op) {
      case Op::Equal: return makeBool(!unordered && order == 0);
      case Op::NotEqual: return makeBool(unordered || order != 0);
      case Op::Less: return makeBool(!unordered && order < 0);
      case Op::LessEqual: return makeBool(!unordered && order <= 0);
      case Op::Greater: return makeBool(!unordered && order > 0);
      default: return makeBool(!unordered && order >= 0);
    }
  };
  bool compares = e->op == Op::Equal || e->op == Op::NotEqual || e->op == Op::Less || e->op == Op::LessEqual || e->op == Op::Greater || e->op == Op::GreaterEqual;
  switch (a.kind) {
    case K::Bool:
      if (e->op == Op::And) return makeBool(a.integer && b.integer);
      if (e->op == Op::Or) return makeBool(a.integer || b.integer);
      if (compares) return compare(a.integer < b.integer ? -1 : a.integer > b.integer, false);
      return refuse("`" + op + "` does not apply to bool");
    case K::Char:
      if (compares) return compare(a.integer < b.integer ? -1 : a.integer > b.integer, false);
      return refuse("`" + op + "` does not apply to char");
    case K::String:
      if (compares) return compare(a.text.compare(b.text), false);
      if (e->op == Op::Add) {
        if (a.text.size() + b.text.size() > MostText) return refuse("this constant text is longer than 1 MiB");
        a.text += b.text;
        return a;
      }
      return refuse("`" + op + "` does not apply to string");
    case K::Float: {
      bool narrow = type && types.get(type).kind == mica::Kind::Float32;
      double x = narrow ? double(a.value32) : a.value64, y = narrow ? double(b.value32) : b.value64;
      if (compares) return compare(x < y ? -1 : x > y, std::isnan(x) || std::isnan(y));
      ConstValue r = a;
      r.type = type;
      switch (e->op) {
        case Op::Add: r.value64 = a.value64 + b.value64; r.value32 = a.value32 + b.value32; return r;
        case Op::Sub: r.value64 = a.value64 - b.value64; r.value32 = a.value32 - b.value32; return r;
        case Op::Mul: case Op::MulElements: r.value64 = a.value64 * b.value64; r.value32 = a.value32 * b.value32; return r;
        case Op::Div: case Op::DivElements: r.value64 = a.value64 / b.value64; r.value32 = a.value32 / b.value32; return r;
        default: return refuse("`" + op + "` does not apply to floats");
      }
    }
    default: break;
  }
  __int128 x = a.integer, y = b.integer, r = 0;
  if (compares) return compare(x < y ? -1 : x > y, false);
  mica::Kind k = type ? types.get(type).kind : mica::Kind::Int64;
  uint32_t bits = bitWidth(k);
  bool divides = e->op == Op::IntDiv || e->op == Op::Mod || e->op == Op::Rem;
  if (divides && y == 0) return refuse("this divides by zero");
  bool shifts = e->op == Op::Shl || e->op == Op::Shr;
  if (shifts && (y < 0 || y >= bits)) return refuse("a shift of " + std::to_string(bits) + " bits by " + showInteger(y) + " is not defined");
  switch (e->op) {
    case Op::Add: r = x + y; break;
    case Op::Sub: r = x - y; break;
    case Op::Mul: {
      // Both sides lie within 65 bits, so the product may pass 128.
      if (__builtin_mul_overflow(x, y, &r)) return refuse("the value of this constant does not fit");
      break;
    }
    case Op::IntDiv: r = x / y; break;
    case Op::Rem: r = x % y; break;
    case Op::Mod: r = x % y; if (r != 0 && (r < 0) != (y < 0)) r += y; break;
    case Op::Band: r = x & y; break;
    case Op::Bor: r = x | y; break;
    case Op::Bxor: r = x ^ y; break;
    case Op::Shr: r = x >> int(y); break;
    case Op::Shl: case Op::AddWrap: case Op::SubWrap: case Op::MulWrap: {
      unsigned __int128 u = static_cast<unsigned __int128>(x), v = static_cast<unsigned __int128>(y), w = 0;
      w = e->op == Op::Shl ? u << int(y) : e->op == Op::AddWrap ? u + v : e->op == Op::SubWrap ? u - v : u * v;
      w &= (static_cast<unsigned __int128>(1) << bits) - 1;
      r = __int128(w);
      if (isSigned(k) && r > rangeOf(k).high) r -= __int128(1) << bits;
      break;
    }
    case Op::Div: case Op::DivElements: {
      if (report) context.diagnostics.error(e->opSpan(), "`/` divides floats, and these are integers").note("write `div`");
      return makeError();
    }
    default: return refuse("`" + op + "` does not apply to integers");
  }
  IntRange range = type ? rangeOf(k) : IntRange{Lowest, Highest};
  if (r < range.low || r > range.high) return refuse("the value of this constant does not fit");
  ConstValue out = makeInt(r);
  out.type = type;
  return out;
}

// ---- --set ----

ConstValue Checker::parseSet(const std::string& text, const ast::ConstDecl*) {
  ConstValue v;
  if (text == "true" || text == "false") return makeBool(text == "true");
  if (text.size() >= 2 && text.front() == '"' && text.back() == '"') {
    v.kind = ConstValue::Kind::String;
    v.text = text.substr(1, text.size() - 2);
    return v;
  }
  bool negative = !text.empty() && text[0] == '-';
  std::string digits;
  for (char c : text.substr(negative ? 1 : 0)) {
    if (c != '_') digits += c;
  }
  bool hex = digits.size() > 2 && digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X');
  const char* allowed = hex ? "0123456789abcdefABCDEF" : "0123456789";
  std::string body = hex ? digits.substr(2) : digits;
  if (!body.empty() && body.find_first_not_of(allowed) == std::string::npos && body.size() <= 20) {
    unsigned __int128 n = 0;
    for (char c : body) n = n * (hex ? 16 : 10) + unsigned(c <= '9' ? c - '0' : (c | 32) - 'a' + 10);
    __int128 value = negative ? -__int128(n) : __int128(n);
    if (value >= Lowest && value <= Highest) return makeInt(value);
    return makeError();
  }
  if (!digits.empty() && digits.find_first_not_of("0123456789.eE+-") == std::string::npos && digits.find_first_of("0123456789") != std::string::npos) {
    char* end = nullptr;
    v.value64 = std::strtod(text.c_str(), &end);
    v.value32 = std::strtof(text.c_str(), nullptr);
    if (end && *end == 0) {
      v.kind = ConstValue::Kind::Float;
      return v;
    }
    return makeError();
  }
  // Anything else is the text of a string.
  v.kind = ConstValue::Kind::String;
  v.text = text;
  return v;
}

void Checker::applySets() {
  for (const auto& [name, text] : options.constants) {
    NameId id = context.names.find(name);
    const Symbol* s = id ? find(0, id) : nullptr;
    if (!s || s->kind != Symbol::Kind::Declaration || program.get(s->decl).kind != DeclKind::Constant) {
      std::vector<std::string> names;
      for (DeclId d : modules.get(0).decls) {
        if (program.get(d).kind == DeclKind::Constant) names.push_back(program.get(d).name);
      }
      auto& e = context.diagnostics.error(Span{}, "`--set " + name + "`: the file has no constant `" + name + "`");
      std::string guess = nearest(name, names);
      if (!guess.empty()) e.note("perhaps `" + guess + "`");
      continue;
    }
    auto* syntax = ast::as<ast::ConstDecl>(info(s->decl).syntax);
    TypeScope scope{0, {}, nullptr, nullptr};
    ConstValue written = evaluate(syntax->value, scope, false);
    ConstValue v = parseSet(text, syntax);
    TypeId type = syntax->type ? resolveType(syntax->type, scope) : written.type;
    bool fits = v.known() && (!type || convertConstant(v, type));
    if (fits && !type && written.known()) {
      if (written.kind == ConstValue::Kind::Float && v.kind == ConstValue::Kind::Int) v.kind = ConstValue::Kind::Float;
      fits = v.kind == written.kind;
    }
    if (!fits) {
      std::string wants = type ? showWithArticle(program, type) : written.kind == ConstValue::Kind::Int ? "a whole number" : written.kind == ConstValue::Kind::Float ? "a number" : written.kind == ConstValue::Kind::Bool ? "`true` or `false`" : "a value of its kind";
      context.diagnostics.error(Span{}, "`--set " + name + "=" + text + "`: the constant needs " + wants);
      continue;
    }
    info(s->decl).value = v;
    info(s->decl).constState = DeclInfo::State::Done;
    program.get(s->decl).constantType = v.type;
  }
}

}  // namespace mica
