// Written types and extents to their meaning. A name in brackets of a declaration stands for a type or for an extent: which one
// is decided by how the declaration uses it.
#include <algorithm>

#include "frontend/checker.h"
#include "frontend/parser.h"

namespace mica {

// ---- what a generic name is ----

namespace {

// Looks through a declaration's syntax for uses of one name: as a type, or as an extent.
class UseFinder {
 public:
  UseFinder(Checker& c, uint32_t m, NameId n) : checker(c), module(m), name(n) {}
  bool asType = false, asExtent = false;
  bool decided() const { return asType || asExtent; }

  void type(const ast::TypeExpr* t) {
    if (!t || decided()) return;
    switch (t->kind) {
      case ast::TypeKind::Named: named(ast::as<ast::NamedType>(t)); break;
      case ast::TypeKind::Tensor: {
        auto* x = ast::as<ast::TensorType>(t);
        for (ast::Expr* e : x->extents) extent(e);
        type(x->element);
        break;
      }
      case ast::TypeKind::Array: {
        auto* x = ast::as<ast::ArrayType>(t);
        extent(x->extent);
        type(x->element);
        break;
      }
      case ast::TypeKind::List: type(ast::as<ast::ListType>(t)->element); break;
      case ast::TypeKind::Set: type(ast::as<ast::SetType>(t)->element); break;
      case ast::TypeKind::Stream: type(ast::as<ast::StreamType>(t)->element); break;
      case ast::TypeKind::Box: type(ast::as<ast::BoxType>(t)->element); break;
      case ast::TypeKind::Shared: type(ast::as<ast::SharedType>(t)->element); break;
      case ast::TypeKind::Optional: type(ast::as<ast::OptionalType>(t)->element); break;
      case ast::TypeKind::Marked: type(ast::as<ast::MarkedType>(t)->element); break;
      case ast::TypeKind::Map: type(ast::as<ast::MapType>(t)->key); type(ast::as<ast::MapType>(t)->value); break;
      case ast::TypeKind::Tuple:
        for (ast::TypeExpr* e : ast::as<ast::TupleType>(t)->elements) type(e);
        break;
      case ast::TypeKind::Func: {
        auto* f = ast::as<ast::FuncType>(t);
        for (const auto& p : f->params) type(p.type);
        type(f->result.type);
        break;
      }
      default: break;
    }
  }

  void extent(const ast::Expr* e) {
    if (!e || decided()) return;
    if (auto* n = ast::tryAs<ast::NameExpr>(e)) {
      if (n->name == name) asExtent = true;
    } else if (auto* b = ast::tryAs<ast::BinaryExpr>(e)) {
      for (; b; b = ast::tryAs<ast::BinaryExpr>(b->left)) {
        extent(b->right);
        if (b->left->kind != ast::ExprKind::Binary) extent(b->left);
      }
    } else if (auto* c = ast::tryAs<ast::CallExpr>(e)) {
      for (const ast::Arg& a : c->args) extent(a.value);
    } else if (auto* u = ast::tryAs<ast::UnaryExpr>(e)) {
      extent(u->operand);
    }
  }

  // An argument in the brackets of a type: a type or an extent, as that type wants it.
  void argument(const ast::Expr* e, bool wantsExtent) {
    if (wantsExtent) extent(e);
    else if (ast::TypeExpr* t = checker.asType(const_cast<ast::Expr*>(e))) type(t);
  }

 private:
  Checker& checker;
  uint32_t module;
  NameId name;

  void named(const ast::NamedType* t) {
    if (t->path.size() == 1 && t->path[0].id == name) {
      asType = true;
      return;
    }
    if (!t->hasArgs || t->path.empty()) return;
    const Symbol* symbol = checker.find(module, t->path[0].id);
    if (symbol && symbol->kind == Symbol::Kind::Module && t->path.size() > 1) symbol = checker.find(symbol->index, t->path[1].id);
    if (!symbol) return;
    std::vector<GenericName>* generics = nullptr;
    if (symbol->kind == Symbol::Kind::Declaration) {
      checker.ensureGenerics(symbol->decl);
      generics = &checker.info(symbol->decl).generics;
    } else if (symbol->kind == Symbol::Kind::Alias) {
      checker.ensureGenerics(checker.aliases[symbol->index]);
      generics = &checker.aliases[symbol->index].generics;
    }
    for (size_t i = 0; generics && i < t->args.size() && i < generics->size(); i++) argument(t->args[i], (*generics)[i].isExtent);
  }
};

// Looks through a body for uses of one name, for functions whose signature does not show what it is.
class BodyUses {
 public:
  BodyUses(Checker& c, NameId n, UseFinder& f) : checker(c), name(n), finder(f) {}

  void block(const ast::Block& b) {
    for (const ast::Stmt* s : b.statements) statement(s);
  }

 private:
  Checker& checker;
  NameId name;
  UseFinder& finder;

  void arms(const ast::Seq<ast::MatchArm>& list) {
    for (const ast::MatchArm& a : list) {
      expr(a.guard);
      block(a.body);
      expr(a.value);
    }
  }

  void statement(const ast::Stmt* s) {
    if (finder.decided()) return;
    switch (s->kind) {
      case ast::StmtKind::Expr: expr(ast::as<ast::ExprStmt>(s)->value); break;
      case ast::StmtKind::Local: finder.type(ast::as<ast::LocalStmt>(s)->type); expr(ast::as<ast::LocalStmt>(s)->value); break;
      case ast::StmtKind::Assign: expr(ast::as<ast::AssignStmt>(s)->target); expr(ast::as<ast::AssignStmt>(s)->value); break;
      case ast::StmtKind::If: {
        auto* i = ast::as<ast::IfStmt>(s);
        for (const auto& b : i->branches) { expr(b.condition.value); block(b.body); }
        block(i->otherwise);
        break;
      }
      case ast::StmtKind::While: expr(ast::as<ast::WhileStmt>(s)->condition.value); block(ast::as<ast::WhileStmt>(s)->body); break;
      case ast::StmtKind::For: {
        auto* f = ast::as<ast::ForStmt>(s);
        expr(f->head.source); expr(f->head.step); block(f->body);
        break;
      }
      case ast::StmtKind::Loop: block(ast::as<ast::LoopStmt>(s)->body); break;
      case ast::StmtKind::Return: expr(ast::as<ast::ReturnStmt>(s)->value); break;
      case ast::StmtKind::Fail: expr(ast::as<ast::FailStmt>(s)->value); break;
      case ast::StmtKind::Match: expr(ast::as<ast::MatchStmt>(s)->subject); arms(ast::as<ast::MatchStmt>(s)->arms); break;
      case ast::StmtKind::Assert: expr(ast::as<ast::AssertStmt>(s)->condition); break;
      case ast::StmtKind::Tape: block(ast::as<ast::TapeStmt>(s)->body); break;
      case ast::StmtKind::Each: block(ast::as<ast::EachStmt>(s)->body); break;
      case ast::StmtKind::Tasks: block(ast::as<ast::TasksStmt>(s)->body); break;
      case ast::StmtKind::Attempt: {
        auto* a = ast::as<ast::AttemptStmt>(s);
        block(a->body);
        for (const auto& arm : a->arms) block(arm.body);
        break;
      }
      default: break;
    }
  }

  void expr(const ast::Expr* e) {
    if (!e || finder.decided()) return;
    switch (e->kind) {
      case ast::ExprKind::Name:
        if (ast::as<ast::NameExpr>(e)->name == name) finder.asExtent = true;
        break;
      case ast::ExprKind::Field: expr(ast::as<ast::FieldExpr>(e)->base); break;
      case ast::ExprKind::TupleField: expr(ast::as<ast::TupleFieldExpr>(e)->base); break;
      case ast::ExprKind::Index: index(ast::as<ast::IndexExpr>(e)); break;
      case ast::ExprKind::Call:
        expr(ast::as<ast::CallExpr>(e)->callee);
        for (const ast::Arg& a : ast::as<ast::CallExpr>(e)->args) expr(a.value);
        break;
      case ast::ExprKind::Unary: expr(ast::as<ast::UnaryExpr>(e)->operand); break;
      case ast::ExprKind::Binary:
        for (auto* b = ast::as<ast::BinaryExpr>(e); b; b = ast::tryAs<ast::BinaryExpr>(b->left)) {
          expr(b->right);
          if (b->left->kind != ast::ExprKind::Binary) expr(b->left);
        }
        break;
      case ast::ExprKind::Range: expr(ast::as<ast::RangeExpr>(e)->low); expr(ast::as<ast::RangeExpr>(e)->high); break;
      case ast::ExprKind::If:
        for (const auto& b : ast::as<ast::IfExpr>(e)->branches) { expr(b.condition.value); expr(b.value); }
        expr(ast::as<ast::IfExpr>(e)->otherwise);
        break;
      case ast::ExprKind::Match: expr(ast::as<ast::MatchExpr>(e)->subject); arms(ast::as<ast::MatchExpr>(e)->arms); break;
      case ast::ExprKind::Try: expr(ast::as<ast::TryExpr>(e)->operand); expr(ast::as<ast::TryExpr>(e)->otherwise); break;
      case ast::ExprKind::Tuple:
        for (const ast::Expr* x : ast::as<ast::TupleExpr>(e)->elements) expr(x);
        break;
      case ast::ExprKind::List:
        for (const ast::Expr* x : ast::as<ast::ListExpr>(e)->elements) expr(x);
        break;
      case ast::ExprKind::Comprehension:
        expr(ast::as<ast::ComprehensionExpr>(e)->head.source);
        expr(ast::as<ast::ComprehensionExpr>(e)->element);
        break;
      case ast::ExprKind::Interpolation:
        for (const auto& p : ast::as<ast::InterpolationExpr>(e)->parts) expr(p.value);
        break;
      case ast::ExprKind::Closure:
        expr(ast::as<ast::ClosureExpr>(e)->value);
        block(ast::as<ast::ClosureExpr>(e)->body);
        break;
      default: break;
    }
  }

  // `Raw.SizeOf[T]()` names a type, `Simd.Splat[N](x)` and `x[N - 1]` an extent; `F[T](x)` is as F wants it.
  void index(const ast::IndexExpr* e) {
    auto* member = ast::tryAs<ast::FieldExpr>(e->base);
    auto* base = member ? ast::tryAs<ast::NameExpr>(member->base) : nullptr;
    bool raw = base && checker.context.names.text(base->name) == "Raw";
    auto* plain = ast::tryAs<ast::NameExpr>(e->base);
    const std::vector<GenericName>* generics = nullptr;
    const Symbol* imported = base ? checker.find(moduleOf, base->name) : nullptr;
    bool ofModule = imported && imported->kind == Symbol::Kind::Module;
    if (plain || ofModule) {
      const Symbol* s = plain ? checker.find(moduleOf, plain->name) : checker.find(imported->index, member->name.id);
      if (s && s->kind == Symbol::Kind::Declaration) {
        checker.ensureGenerics(s->decl);
        generics = &checker.info(s->decl).generics;
      }
    }
    if (member && base && !raw) {
      const Symbol* m = checker.find(moduleOf, base->name);
      const Symbol* s = m && m->kind == Symbol::Kind::Module ? checker.findExported(m->index, member->name, moduleOf) : nullptr;
      if (s && s->kind == Symbol::Kind::Declaration) {
        checker.ensureGenerics(s->decl);
        generics = &checker.info(s->decl).generics;
      }
    }
    expr(e->base);
    for (size_t i = 0; i < e->args.size(); i++) {
      const ast::Arg& a = e->args[i];
      if (raw) finder.argument(a.value, false);
      else if (generics && i < generics->size()) finder.argument(a.value, (*generics)[i].isExtent);
      else if (a.value->kind == ast::ExprKind::TypeLiteral) finder.type(ast::as<ast::TypeLiteralExpr>(a.value)->type);
      else if (!generics) expr(a.value);
    }
  }

 public:
  uint32_t moduleOf = 0;
};

uint8_t constraintOf(std::string_view name) {
  if (name == "Ordered") return uint8_t(Constraint::Ordered);
  if (name == "Equatable") return uint8_t(Constraint::Equatable);
  if (name == "Hashable") return uint8_t(Constraint::Hashable);
  if (name == "Printable") return uint8_t(Constraint::Printable);
  if (name == "Number") return uint8_t(Constraint::Number);
  if (name == "Copyable") return uint8_t(Constraint::Copyable);
  if (name == "Float") return uint8_t(Constraint::Float);
  return 0;
}

}  // namespace

ast::TypeExpr* Checker::asType(ast::Expr* e) {
  auto [at, isNew] = typeSyntax.try_emplace(e, nullptr);
  if (isNew) {
    ast::TypeExpr* made = typeFromExpr(context, e);
    typeSyntax[e] = made;
    return made;
  }
  return at->second;
}

void Checker::findGenerics(const ast::Seq<ast::GenericParam>& params, std::vector<GenericName>& out, uint32_t module, const ast::Decl* syntax) {
  for (const ast::GenericParam& p : params) {
    GenericName g;
    g.name = p.name.id;
    g.place = p.name.place;
    for (const ast::Name& c : p.constraints) {
      uint8_t bit = constraintOf(context.text(c));
      if (!bit) reportUnknown(c.span(), context.text(c), {"Ordered", "Equatable", "Hashable", "Printable", "Number", "Copyable", "Float"}, "constraint");
      g.constraints |= bit;
    }
    for (const GenericName& other : out) {
      if (p.name && other.name == p.name.id) context.diagnostics.error(p.name.span(), "two names in these brackets are `" + std::string(context.text(p.name)) + "`");
    }
    if (p.constraints.empty() && p.name) {
      UseFinder finder(*this, module, p.name.id);
      if (auto* f = ast::tryAs<ast::FuncDecl>(syntax)) {
        for (const ast::Param& x : f->params) finder.type(x.type);
        finder.type(f->result.type);
        if (!finder.decided()) {
          BodyUses uses(*this, p.name.id, finder);
          uses.moduleOf = module;
          uses.block(f->body);
        }
      } else if (auto* t = ast::tryAs<ast::TypeDecl>(syntax)) {
        finder.type(t->alias);
        for (const ast::FieldDecl& x : t->fields) finder.type(x.type);
        for (const ast::CaseDecl& c : t->cases) {
          for (const ast::FieldDecl& x : c.fields) finder.type(x.type);
        }
      }
      g.isExtent = finder.asExtent;
    }
    out.push_back(g);
  }
  uint32_t typeCount = 0, extentCount = 0;
  for (GenericName& g : out) g.index = g.isExtent ? extentCount++ : typeCount++;
}

void Checker::ensureGenerics(DeclId id) {
  DeclInfo& i = info(id);
  if (i.genericsState != DeclInfo::State::None) return;   // while working: a type that mentions itself, nothing new to learn there
  i.genericsState = DeclInfo::State::Working;
  std::vector<GenericName> generics;
  if (auto* f = ast::tryAs<ast::FuncDecl>(i.syntax)) findGenerics(f->generics, generics, i.module, i.syntax);
  else if (auto* t = ast::tryAs<ast::TypeDecl>(i.syntax)) findGenerics(t->generics, generics, i.module, i.syntax);
  Decl& d = program.get(id);
  for (const GenericName& g : generics) {
    std::string name(g.name ? context.names.text(g.name) : "?");
    if (g.isExtent) d.extentParams.push_back(name);
    else d.typeParams.push_back({name, g.constraints});
  }
  info(id).generics = std::move(generics);
  info(id).genericsState = DeclInfo::State::Done;
}

void Checker::ensureGenerics(AliasInfo& alias) {
  if (alias.genericsState != DeclInfo::State::None) return;
  alias.genericsState = DeclInfo::State::Working;
  std::vector<GenericName> generics;
  findGenerics(alias.syntax->generics, generics, alias.module, alias.syntax);
  alias.generics = std::move(generics);
  alias.genericsState = DeclInfo::State::Done;
}

// ---- types ----

std::optional<TypeId> Checker::builtinType(NameId name, uint32_t module) {
  std::string_view t = context.names.text(name);
  auto is = [&](mica::Kind k) { return std::optional<TypeId>(types.scalar(k)); };
  if (t == "int" || t == "int64") return is(mica::Kind::Int64);
  if (t == "bool") return is(mica::Kind::Bool);
  if (t == "string") return is(mica::Kind::String);
  if (t == "float32") return is(mica::Kind::Float32);
  if (t == "float64") return is(mica::Kind::Float64);
  if (t == "byte" || t == "uint8") return is(mica::Kind::UInt8);
  if (t == "char") return is(mica::Kind::Char);
  if (t == "int8") return is(mica::Kind::Int8);
  if (t == "int16") return is(mica::Kind::Int16);
  if (t == "int32") return is(mica::Kind::Int32);
  if (t == "uint16") return is(mica::Kind::UInt16);
  if (t == "uint32") return is(mica::Kind::UInt32);
  if (t == "uint64") return is(mica::Kind::UInt64);
  if (t == "never") return is(mica::Kind::Never);
  if (t == "pointer" && modules.get(module).system) return is(mica::Kind::Pointer);
  return std::nullopt;
}

namespace {

const GenericName* genericOf(const TypeScope& scope, NameId name) {
  if (!scope.generics) return nullptr;
  for (const GenericName& g : *scope.generics) {
    if (g.name == name) return &g;
  }
  return nullptr;
}

bool isTensorElement(Kind k) {
  return k == Kind::Float32 || k == Kind::Float64 || k == Kind::Int8 || k == Kind::UInt8 || k == Kind::Int32 || k == Kind::Int64 || k == Kind::Bool || k == Kind::Error || k == Kind::Parameter;
}

}  // namespace

// What maps and sets hash, wherever their types are written; asked when all types are known.
void Checker::checkHashed() {
  for (const Hashed& h : hashed) {
    if (modules.get(h.module).system || types.hasError(h.type) || isHashable(program, h.type)) continue;
    auto& m = context.diagnostics.error(h.at, std::string(h.what) + " are hashed, and " + showWithArticle(program, h.type) + " cannot be");
    if (types.get(h.type).kind == mica::Kind::Parameter) m.note("write `" + show(program, h.type) + ": Hashable` in the brackets of the declaration");
  }
}

TypeId Checker::resolveType(const ast::TypeExpr* t, const TypeScope& scope) {
  TypeId type = resolveWritten(t, scope);
  if (!type || types.parts(type) <= TypeTable::MostParts) return type;
  context.diagnostics.error(t->span(), "this type has too many parts");
  return types.scalar(mica::Kind::Error);
}

TypeId Checker::resolveWritten(const ast::TypeExpr* t, const TypeScope& scope) {
  TypeId errorType = types.scalar(mica::Kind::Error);
  if (!t) return errorType;
  switch (t->kind) {
    case ast::TypeKind::Error: return errorType;
    case ast::TypeKind::Open:
      context.diagnostics.error(t->span(), "`?` stands for an extent, and a type is expected here");
      return errorType;
    case ast::TypeKind::List: return types.list(resolveType(ast::as<ast::ListType>(t)->element, scope));
    case ast::TypeKind::Optional: return types.optional(resolveType(ast::as<ast::OptionalType>(t)->element, scope));
    case ast::TypeKind::Box: return types.box(resolveType(ast::as<ast::BoxType>(t)->element, scope));
    case ast::TypeKind::Set: {
      auto* s = ast::as<ast::SetType>(t);
      TypeId element = resolveType(s->element, scope);
      hashed.push_back({element, s->element->span(), scope.module, "the elements of a set"});
      return types.set(element);
    }
    case ast::TypeKind::Map: {
      auto* m = ast::as<ast::MapType>(t);
      TypeId key = resolveType(m->key, scope);
      hashed.push_back({key, m->key->span(), scope.module, "the keys of a map"});
      TypeId value = resolveType(m->value, scope);
      return types.map(key, value);
    }
    case ast::TypeKind::Stream: {
      context.diagnostics.error(t->span(), "this compiler does not have streams yet");
      return errorType;
    }
    case ast::TypeKind::Shared: {
      context.diagnostics.error(t->span(), "this compiler does not have `shared` values yet");
      return errorType;
    }
    case ast::TypeKind::Tuple: {
      std::vector<TypeId> parts;
      for (const ast::TypeExpr* e : ast::as<ast::TupleType>(t)->elements) parts.push_back(resolveType(e, scope));
      return types.tuple(std::move(parts));
    }
    case ast::TypeKind::Array: {
      auto* a = ast::as<ast::ArrayType>(t);
      uint32_t before = context.diagnostics.errorCount();
      ExtentId n = resolveExtent(a->extent, scope);
      if (context.diagnostics.errorCount() > before) return errorType;
      TypeId element = resolveType(a->element, scope);
      if (types.isOpen(n) && a->extent->kind != ast::ExprKind::Error) {
        context.diagnostics.error(a->extent->span(), "the length of an array is a constant or a name of the signature").note("write `list of " + show(program, element) + "` for a length that changes");
        return errorType;
      }
      return types.array(element, n);
    }
    case ast::TypeKind::Tensor: {
      auto* x = ast::as<ast::TensorType>(t);
      std::vector<ExtentId> shape;
      for (const ast::Expr* e : x->extents) shape.push_back(resolveExtent(e, scope));
      TypeId element = x->element ? resolveType(x->element, scope) : types.scalar(mica::Kind::Float32);
      mica::Kind kind = types.get(element).kind;
      if (x->family == ast::TensorFamily::Simd) {
        if (!modules.get(scope.module).system) context.diagnostics.error(t->span(), "`simd` values belong to system modules");
        Type simd;
        simd.kind = mica::Kind::Simd;
        simd.element = element;
        simd.extents = shape;
        return types.intern(simd);
      }
      size_t wants = x->family == ast::TensorFamily::Vector ? 1 : x->family == ast::TensorFamily::Matrix ? 2 : 0;
      const char* name = wants == 1 ? "vector" : "matrix";
      if (wants && shape.empty()) return errorType;   // the parser has said so
      if (wants && shape.size() != wants) {
        context.diagnostics.error(t->span(), std::string("a ") + name + " has " + std::to_string(wants) + (wants == 1 ? " extent" : " extents") + ", and " + std::to_string(shape.size()) + " are written")
          .note("write `tensor[…]` for other ranks");
        return errorType;
      }
      if (shape.empty() || shape.size() > 8) {
        context.diagnostics.error(t->span(), "a tensor has 1 to 8 extents");
        return errorType;
      }
      if (!isTensorElement(kind)) {
        context.diagnostics.error(x->element->span(), "a tensor holds float32, float64, int8, uint8, int32, int64 or bool, and this is " + showWithArticle(program, element))
          .note("write `list of " + show(program, element) + "` or `array[…] of " + show(program, element) + "`");
        return errorType;
      }
      return types.tensor(types.unmarked(element), std::move(shape));
    }
    case ast::TypeKind::Marked: {
      auto* m = ast::as<ast::MarkedType>(t);
      TypeId inner = resolveType(m->element, scope);
      if (m->onGpu) {
        context.diagnostics.error(t->span(), "this compiler does not have `on gpu` yet");
        return errorType;
      }
      mica::Kind kind = types.get(inner).kind;
      if (kind == mica::Kind::Error || !m->tracked) return inner;
      bool floats = isFloat(kind) || kind == mica::Kind::Parameter || (kind == mica::Kind::Tensor && (isFloat(types.get(types.get(inner).element).kind) || types.get(types.get(inner).element).kind == mica::Kind::Parameter));
      if (!floats) {
        context.diagnostics.error(t->span(), "only floats and tensors of floats are tracked, and this is " + showWithArticle(program, inner));
        return inner;
      }
      return types.withMark(inner, true);
    }
    case ast::TypeKind::Func: {
      auto* f = ast::as<ast::FuncType>(t);
      Type out;
      out.kind = mica::Kind::Function;
      for (const auto& p : f->params) {
        out.args.push_back(resolveType(p.type, scope));
        out.modes.push_back(Mode(uint8_t(p.mode)));
      }
      out.result = f->result.type ? resolveType(f->result.type, scope) : types.scalar(mica::Kind::Unit);
      for (const ast::FailureName& n : f->fails.failures) {
        TypeId failure = resolveFailure(n, scope.module);
        if (types.get(failure).kind == mica::Kind::Failure) out.fails.push_back(failure);
      }
      if (f->fails.any) out.fails.push_back(types.scalar(mica::Kind::AnyFailure));
      std::sort(out.fails.begin(), out.fails.end(), [&](TypeId a, TypeId b) { return types.get(a).decl < types.get(b).decl; });
      return types.intern(out);
    }
    case ast::TypeKind::Named: {
      auto* n = ast::as<ast::NamedType>(t);
      if (n->path.empty() || !n->path[0]) return errorType;
      std::string first(context.text(n->path[0]));
      if (n->path.size() == 1) {
        if (const GenericName* g = genericOf(scope, n->path[0].id)) {
          if (g->isExtent) {
            context.diagnostics.error(t->span(), "`" + first + "` is an extent, and a type is expected here");
            return errorType;
          }
          Type p;
          p.kind = mica::Kind::Parameter;
          p.decl = scope.owner;
          p.index = g->index;
          return types.intern(p);
        }
        if (const Symbol* s = find(scope.module, n->path[0].id)) {
          if (s->kind == Symbol::Kind::Module) {
            context.diagnostics.error(t->span(), "`" + first + "` is a module, and a type is expected here");
            return errorType;
          }
          return applyType(*s, n->args, n->hasArgs, t->span(), scope);
        }
        if (auto known = builtinType(n->path[0].id, scope.module)) {
          if (n->hasArgs) context.diagnostics.error(t->span(), "`" + first + "` takes nothing in brackets");
          return *known;
        }
        if (first == "pointer") {
          context.diagnostics.error(t->span(), "`pointer` belongs to system modules");
          return errorType;
        }
        std::vector<std::string> candidates = moduleNames(scope.module);
        candidates.insert(candidates.end(), std::begin(TypeWords), std::end(TypeWords));
        if (scope.generics) {
          for (const GenericName& g : *scope.generics) {
            if (!g.isExtent && g.name) candidates.push_back(std::string(context.names.text(g.name)));
          }
        }
        reportUnknown(t->span(), first, candidates, "type");
        return errorType;
      }
      const Symbol* s = find(scope.module, n->path[0].id);
      if (!s || s->kind != Symbol::Kind::Module) {
        auto& e = context.diagnostics.error(n->path[0].span(), "there is no module `" + first + "` here");
        if (!s) e.note("write `import " + first + "` at the head of the file");
        return errorType;
      }
      const Symbol* member = findExported(s->index, n->path[1], scope.module);
      return member ? applyType(*member, n->args, n->hasArgs, t->span(), scope) : errorType;
    }
  }
  return errorType;
}

TypeId Checker::applyType(const Symbol& symbol, const ast::Seq<ast::Expr*>& args, bool hasArgs, Span at, const TypeScope& scope) {
  TypeId errorType = types.scalar(mica::Kind::Error);
  std::vector<GenericName> generics;
  std::string name;
  if (symbol.kind == Symbol::Kind::Alias) {
    AliasInfo& alias = aliases[symbol.index];
    name = std::string(context.text(alias.syntax->name));
    ensureGenerics(alias);
    if (alias.state == DeclInfo::State::Working) {
      context.diagnostics.error(at, "the type `" + name + "` is defined by itself");
      return errorType;
    }
    if (alias.state == DeclInfo::State::None) {
      alias.state = DeclInfo::State::Working;
      TypeScope own{alias.module, alias.id, &alias.generics, nullptr};
      TypeId type = resolveType(alias.syntax->alias, own);
      aliases[symbol.index].type = type;
      aliases[symbol.index].state = DeclInfo::State::Done;
    }
    generics = aliases[symbol.index].generics;
  } else {
    const Decl& d = program.get(symbol.decl);
    name = d.name;
    if (d.kind != DeclKind::Record && d.kind != DeclKind::Choice) {
      if (d.kind == DeclKind::Failure) {
        Type f;
        f.kind = mica::Kind::Failure;
        f.decl = symbol.decl;
        ensureSignature(symbol.decl);
        return types.intern(f);
      }
      context.diagnostics.error(at, "`" + name + "` is no type");
      return errorType;
    }
    ensureGenerics(symbol.decl);
    generics = info(symbol.decl).generics;
    if (info(symbol.decl).signatureState == DeclInfo::State::None) {
      pendingSignatures.push_back(symbol.decl);
      drainSignatures();
    }
  }
  if (hasArgs && args.size() != generics.size()) {
    auto& e = context.diagnostics.error(at, "`" + name + "` has " + std::to_string(generics.size()) + (generics.size() == 1 ? " name" : " names") + " in its brackets, and " + std::to_string(args.size()) + (args.size() == 1 ? " is" : " are") + " written");
    if (generics.empty()) e.note("write `" + name + "`");
    return errorType;
  }
  if (!hasArgs && !generics.empty()) {
    std::string wanted;
    for (const GenericName& g : generics) wanted += (wanted.empty() ? "" : ", ") + std::string(g.name ? context.names.text(g.name) : "?");
    context.diagnostics.error(at, "`" + name + "` needs its arguments: `" + name + "[" + wanted + "]`");
    return errorType;
  }
  std::vector<TypeId> typeArgs;
  std::vector<ExtentId> extentArgs;
  for (size_t i = 0; i < generics.size(); i++) {
    if (generics[i].isExtent) extentArgs.push_back(resolveExtent(args[i], scope));
    else typeArgs.push_back(resolveTypeArg(args[i], scope));
  }
  if (symbol.kind == Symbol::Kind::Alias) return types.substitute(aliases[symbol.index].type, aliases[symbol.index].id, typeArgs, extentArgs);
  Type t;
  t.kind = program.get(symbol.decl).kind == DeclKind::Choice ? mica::Kind::Choice : mica::Kind::Record;
  t.decl = symbol.decl;
  t.args = std::move(typeArgs);
  t.extents = std::move(extentArgs);
  return types.intern(t);
}

TypeId Checker::resolveTypeArg(ast::Expr* e, const TypeScope& scope) {
  ast::TypeExpr* t = asType(e);
  if (!t) {
    context.diagnostics.error(e->span(), "a type is expected here");
    return types.scalar(mica::Kind::Error);
  }
  return resolveType(t, scope);
}

TypeId Checker::resolveFailure(const ast::FailureName& name, uint32_t module) {
  TypeId errorType = types.scalar(mica::Kind::Error);
  if (name.path.empty() || !name.path[0]) return errorType;
  const Symbol* s = find(module, name.path[0].id);
  DeclId decl;
  if (name.path.size() > 1) {
    if (!s || s->kind != Symbol::Kind::Module) {
      context.diagnostics.error(name.path[0].span(), "there is no module `" + std::string(context.text(name.path[0])) + "` here");
      return errorType;
    }
    s = findExported(s->index, name.path[1], module);
    if (!s) return errorType;
  }
  if (s && s->kind == Symbol::Kind::Declaration) decl = s->decl;
  if (!s) decl = libraryFailure(name.path.back().id);
  if (!decl || program.get(decl).kind != DeclKind::Failure) {
    std::vector<std::string> failures;
    for (const Decl& d : program.decls) {
      if (!mayGuess()) break;
      if (d.kind == DeclKind::Failure && (!d.system || d.exported)) failures.push_back(d.name);
    }
    reportUnknown(name.span(), context.text(name.path.back()), failures, "failure");
    return errorType;
  }
  ensureSignature(decl);
  Type f;
  f.kind = mica::Kind::Failure;
  f.decl = decl;
  return types.intern(f);
}

// ---- extents ----

ExtentId Checker::resolveExtent(const ast::Expr* e, const TypeScope& scope) {
  auto fail = [&](Span at, const std::string& text) -> Diagnostic& { return context.diagnostics.error(at, text); };
  switch (e->kind) {
    case ast::ExprKind::Error: return types.open();
    case ast::ExprKind::TypeLiteral:
      if (ast::as<ast::TypeLiteralExpr>(e)->type->kind == ast::TypeKind::Open) return types.open();
      fail(e->span(), "an extent is expected here, and this is a type");
      return types.open();
    case ast::ExprKind::Name: {
      auto* n = ast::as<ast::NameExpr>(e);
      bool local = scope.body && scope.body->isLocal(n->name);
      const GenericName* g = local ? nullptr : genericOf(scope, n->name);
      std::string name(context.names.text(n->name));
      if (g && g->isExtent) return types.name(scope.owner, g->index, name);
      if (g || (!local && !find(scope.module, n->name) && builtinType(n->name, scope.module))) {
        fail(e->span(), "`" + name + "` is a type, and an extent is expected here");
        return types.open();
      }
      if (local && !scope.body->localConstant(n->name)) {
        fail(e->span(), "`" + name + "` is not a constant and not bound by the signature").note("write `?` for an extent that lives in the value");
        return types.open();
      }
      break;
    }
    case ast::ExprKind::Binary: {
      auto* b = ast::as<ast::BinaryExpr>(e);
      bool known = b->op == ast::BinaryOp::Add || b->op == ast::BinaryOp::Sub || b->op == ast::BinaryOp::Mul || b->op == ast::BinaryOp::IntDiv || b->op == ast::BinaryOp::Mod;
      if (!known) break;
      std::vector<const ast::BinaryExpr*> spine;
      const ast::Expr* leftmost = e;
      while (auto* x = ast::tryAs<ast::BinaryExpr>(leftmost)) {
        bool fine = x->op == ast::BinaryOp::Add || x->op == ast::BinaryOp::Sub || x->op == ast::BinaryOp::Mul || x->op == ast::BinaryOp::IntDiv || x->op == ast::BinaryOp::Mod;
        if (!fine) break;
        spine.push_back(x);
        leftmost = x->left;
      }
      ExtentId value = resolveExtent(leftmost, scope);
      for (size_t i = spine.size(); i-- > 0;) {
        ExtentId right = resolveExtent(spine[i]->right, scope);
        bool wasOpen = types.isOpen(value) || types.isOpen(right);
        int64_t divisor = 1;
        bool divides = spine[i]->op == ast::BinaryOp::IntDiv || spine[i]->op == ast::BinaryOp::Mod;
        if (divides && types.isConstant(right, &divisor) && divisor == 0) {
          fail(spine[i]->opSpan(), "this divides by zero");
          return types.open();
        }
        switch (spine[i]->op) {
          case ast::BinaryOp::Add: value = types.add(value, right); break;
          case ast::BinaryOp::Sub: value = types.subtract(value, right); break;
          case ast::BinaryOp::Mul: value = types.multiply(value, right); break;
          case ast::BinaryOp::IntDiv: value = types.opaque(Atom::Form::Div, value, right); break;
          default: value = types.opaque(Atom::Form::Mod, value, right); break;
        }
        if (!wasOpen && types.isOpen(value)) {
          fail(spine[i]->opSpan(), "this extent is too large");
          return types.open();
        }
      }
      int64_t constant;
      if (types.isConstant(value, &constant) && constant < 0) fail(e->span(), "an extent cannot be negative, and this is " + std::to_string(constant));
      return value;
    }
    case ast::ExprKind::Call: {
      auto* c = ast::as<ast::CallExpr>(e);
      auto* callee = ast::tryAs<ast::NameExpr>(c->callee);
      std::string_view name = callee ? context.names.text(callee->name) : std::string_view();
      if ((name == "Min" || name == "Max") && c->args.size() == 2) {
        ExtentId a = resolveExtent(c->args[0].value, scope);
        ExtentId b = resolveExtent(c->args[1].value, scope);
        return types.opaque(name == "Min" ? Atom::Form::Min : Atom::Form::Max, a, b);
      }
      break;
    }
    default: break;
  }
  ConstValue value = evaluate(e, scope, true, types.scalar(mica::Kind::Int64));
  if (!value.known()) return types.open();
  if (value.kind != ConstValue::Kind::Int) {
    fail(e->span(), "an extent is a whole number, and this is " + showConstant(value));
    return types.open();
  }
  if (value.integer < 0) {
    fail(e->span(), "an extent cannot be negative, and this is " + showConstant(value));
    return types.open();
  }
  if (value.integer > (__int128(1) << 48)) {
    fail(e->span(), "this extent is too large");
    return types.open();
  }
  return types.constant(int64_t(value.integer));
}

}  // namespace mica
