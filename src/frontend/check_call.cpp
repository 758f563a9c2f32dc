// Calls: what is called, which argument goes where, what the generic names of the callee stand for, and what happens with failures.
#include <algorithm>

#include "frontend/checker.h"

namespace mica {

namespace {

const char* plural(size_t n) { return n == 1 ? "" : "s"; }

}  // namespace

// ---- what is called ----

ExprId BodyChecker::call(const ast::CallExpr* e, TypeId hint) {
  const ast::Expr* callee = e->callee;
  const ast::Seq<ast::Arg>* brackets = nullptr;
  if (auto* i = ast::tryAs<ast::IndexExpr>(callee)) {
    // `f[T](x)`: brackets of a name that is no variable.
    const ast::Expr* base = i->base;
    bool isValue = true;
    if (auto* n = ast::tryAs<ast::NameExpr>(base)) isValue = n->name && findLocal(n->name);
    else if (auto* f = ast::tryAs<ast::FieldExpr>(base)) {
      auto* m = ast::tryAs<ast::NameExpr>(f->base);
      const Symbol* s = m && m->name && !findLocal(m->name) ? checker.find(module, m->name) : nullptr;
      isValue = !(s && s->kind == Symbol::Kind::Module) && !(m && m->name && !s && !findLocal(m->name) && system);
    }
    if (!isValue) {
      callee = base;
      brackets = &i->args;
    }
  }
  if (auto* n = ast::tryAs<ast::NameExpr>(callee)) {
    if (!n->name) return errorExpr(e);
    std::string name = text(n->name);
    if (const Entry* local = findLocal(n->name); local && local->constant < 0) return callValue(useLocal(*local, callee), e);
    for (const GenericName& g : checker.info(decl).generics) {
      if (g.name != n->name) continue;
      if (g.isExtent) {
        error(callee, "`" + name + "` is an extent and cannot be called");
        return errorExpr(e);
      }
      Type p;
      p.kind = Kind::Parameter;
      p.decl = decl;
      p.index = g.index;
      return conversion(types.intern(p), e);
    }
    if (const Symbol* s = checker.find(module, n->name)) {
      if (s->kind == Symbol::Kind::Declaration) return callDecl(s->decl, e, brackets, hint);
      if (s->kind == Symbol::Kind::Alias) {
        AliasInfo& alias = checker.aliases[s->index];
        TypeId target = alias.type;
        Kind k = kindOf(target);
        if (target && k == Kind::Record) return construct(typ(target).decl, e, brackets, typ(target).args.empty() && typ(target).extents.empty() ? hint : target);
        if (target && (isInteger(k) || isFloat(k) || k == Kind::Char)) return conversion(target, e);
      }
      error(callee, "`" + name + "` is " + (s->kind == Symbol::Kind::Module ? "a module" : "a type") + " and cannot be called");
      return errorExpr(e);
    }
    if (auto type = checker.builtinType(n->name, module)) return conversion(*type, e);
    if (isBuiltin(n->name)) {
      size_t errors = context.diagnostics.errorCount();
      ExprId r = builtinCall(n->name, e, brackets, hint);
      for (const ast::Arg& a : e->args) {
        if (!a.isInout || changedArgs.count(&a) || context.diagnostics.errorCount() > errors) continue;
        error(Span{a.place, 5}, "`" + name + "` does not change this argument").note("write it without `inout`");
      }
      return r;
    }
    if (const vocabulary::Row* row = vocabulary::find(name)) return vocabularyCall(row, e, brackets, hint);
    if (DeclId shared = checker.preludeFunction(n->name)) return callDecl(shared, e, brackets, hint);
    std::vector<std::string> candidates = namesInSight();
    if (checker.mayGuess()) {
      for (const char* b : builtinNames()) candidates.push_back(b);
      for (const vocabulary::Row& row : vocabulary::rows()) candidates.push_back(row.name);
    }
    checker.reportUnknown(spanOf(callee), name, candidates, "function");
    for (const ast::Arg& a : e->args) expr(a.value);
    return errorExpr(e);
  }
  if (auto* f = ast::tryAs<ast::FieldExpr>(callee)) {
    auto* m = ast::tryAs<ast::NameExpr>(f->base);
    if (m && m->name && !findLocal(m->name)) {
      std::string name = text(m->name);
      const Symbol* s = checker.find(module, m->name);
      if (s && s->kind == Symbol::Kind::Module) {
        const Symbol* member = checker.findExported(s->index, f->name, module);
        if (!member) {
          for (const ast::Arg& a : e->args) expr(a.value);
          return errorExpr(e);
        }
        if (member->kind == Symbol::Kind::Declaration) return callDecl(member->decl, e, brackets, hint);
        error(callee, "this is a type and cannot be called");
        return errorExpr(e);
      }
      if (!s && system && (name == "Raw" || name == "Simd" || name == "Target")) return intrinsic(name + "." + std::string(context.text(f->name)), e, e, brackets, hint);
      if (s && s->kind == Symbol::Kind::Declaration && program.get(s->decl).kind == DeclKind::Choice) return constructCase({}, s->decl, e, f, nullptr, hint);
      if (s && s->kind == Symbol::Kind::Alias && kindOf(checker.aliases[s->index].type) == Kind::Choice) {
        TypeId target = checker.aliases[s->index].type;
        return constructCase(target, typ(target).decl, e, f, nullptr, target);
      }
      bool generic = false;
      for (const GenericName& g : checker.info(decl).generics) generic = generic || g.name == m->name;
      if (!s && !generic) {
        std::string guess = nearest(name, checker.moduleNames(module));
        auto& message = error(f->base, "there is no module or variable `" + name + "` here");
        bool moduleLike = !name.empty() && name[0] >= 'A' && name[0] <= 'Z';
        if (!guess.empty()) message.note("perhaps `" + guess + "`");
        else if (moduleLike) message.note("write `import " + name + "` at the head of the file");
        for (const ast::Arg& a : e->args) expr(a.value);
        return errorExpr(e);
      }
    }
    // `Module.Choice.Case(…)`, `Choice[int].Case(…)`
    if (auto* inner = ast::tryAs<ast::FieldExpr>(f->base)) {
      auto* base = ast::tryAs<ast::NameExpr>(inner->base);
      const Symbol* s = base && base->name && !findLocal(base->name) ? checker.find(module, base->name) : nullptr;
      if (s && s->kind == Symbol::Kind::Module) {
        const Symbol* member = checker.findExported(s->index, inner->name, module);
        if (!member) return errorExpr(e);
        if (member->kind == Symbol::Kind::Declaration && program.get(member->decl).kind == DeclKind::Choice) return constructCase({}, member->decl, e, f, nullptr, hint);
      }
    }
    if (auto* inner = ast::tryAs<ast::IndexExpr>(f->base)) {
      auto* base = ast::tryAs<ast::NameExpr>(inner->base);
      const Symbol* s = base && base->name && !findLocal(base->name) ? checker.find(module, base->name) : nullptr;
      if (s && s->kind == Symbol::Kind::Declaration && program.get(s->decl).kind == DeclKind::Choice) return constructCase({}, s->decl, e, f, &inner->args, hint);
    }
  }
  return callValue(expr(callee), e);
}

ExprId BodyChecker::callDecl(DeclId id, const ast::CallExpr* e, const ast::Seq<ast::Arg>* brackets, TypeId hint) {
  checker.ensureSignature(id);
  const Decl& d = program.get(id);
  switch (d.kind) {
    case DeclKind::Record: return construct(id, e, brackets, hint);
    case DeclKind::Failure:
      error(e, "`" + d.name + "` is a failure: it is raised by `fail " + d.name + "(…)`");
      return errorExpr(e);
    case DeclKind::Choice:
      error(e, "`" + d.name + "` is a choice: write one of its cases").note("for example `" + d.name + "." + (d.cases.empty() ? "…" : d.cases[0].name) + "`");
      return errorExpr(e);
    case DeclKind::Constant:
      error(e->callee, "`" + d.name + "` is a constant and cannot be called");
      return errorExpr(e);
    default: break;
  }
  if (d.fill) return fillCall(id, e, brackets, hint);
  if (id == program.main && !d.params.empty()) return errorExpr(e);
  Binding b = bindingOf(id);
  if (brackets && !explicitArgs(id, brackets, b, spanOf(e->callee))) {
    for (const ast::Arg& a : e->args) expr(a.value);
    return errorExpr(e);
  }
  std::vector<Slot> slots;
  for (const ParamDecl& p : d.params) slots.push_back({p.name, p.type, p.mode, p.hasDefault, p.defaultSyntax, true});
  std::vector<ExprId> children;
  std::vector<Mode> modes;
  bool fine = arguments(slots, b, e, d.name, d.result, hint, children, modes);
  TypeId result = types.substitute(d.result, id, b.types, b.extents);
  if (!fine) {
    // The type is still known when nothing in it was to be inferred: fewer messages follow.
    ExprId x = errorExpr(e);
    if (!program.get(id).fails.empty() && tryTarget == e) lastFails = failsOf(id);
    return x;
  }
  if (holdsOpenArray(result)) {
    error(e, "`" + d.name + "` answers an array, whose length is known only at run time here").note("the length of an array is a constant; a list has one that changes");
    return errorExpr(e);
  }
  ExprId c = make(ExprKind::Call, result, e);
  get(c).callee = id;
  get(c).children = std::move(children);
  get(c).modes = std::move(modes);
  get(c).typeArgs = b.types;
  get(c).extentArgs = b.how;
  if (d.resultMode == ResultMode::Inout) heldResults[c.index] = types.substitute(d.result, id, b.types, holding(b.extents));
  return finishCall(c, failsOf(id), e, d.name);
}

std::vector<TypeId> BodyChecker::failsOf(DeclId id) { return program.get(id).fails; }

ExprId BodyChecker::callValue(ExprId callee, const ast::CallExpr* e) {
  if (isError(callee)) {
    for (const ast::Arg& a : e->args) expr(a.value);
    return errorExpr(e);
  }
  Type f = typ(typeOf(callee));
  if (f.kind == Kind::Box) f = typ(f.element);
  if (f.kind != Kind::Function) {
    error(e->callee, quote(e->callee) + " is " + aType(typeOf(callee)) + " and cannot be called");
    for (const ast::Arg& a : e->args) expr(a.value);
    return errorExpr(e);
  }
  std::string name = quoteExact(e->callee);
  if (e->args.size() != f.args.size()) {
    error(e->callee, "`" + name + "` takes " + std::to_string(f.args.size()) + " argument" + plural(f.args.size()) + ", and " + std::to_string(e->args.size()) + (e->args.size() == 1 ? " is" : " are") + " given");
    for (const ast::Arg& a : e->args) expr(a.value);
    return errorExpr(e);
  }
  std::vector<ExprId> children{callee};
  std::vector<Mode> modes{Mode::Read};
  bool fine = true;
  for (size_t i = 0; i < f.args.size(); i++) {
    const ast::Arg& a = e->args[i];
    if (a.name) error(a.name.span(), "the parameters of a function value have no names");
    Slot slot{std::to_string(i + 1), f.args[i], f.modes[i], false, nullptr, true};
    ExprId x = argument(slot, f.args[i], a, name);
    if (slot.mode != Mode::Inout) x = fit(x, {f.args[i], "argument " + slot.name}, a.value, true);
    fine = fine && !isError(x) && (slot.mode != Mode::Inout || placeFits(x, slot, f.args[i], a.value, name));
    children.push_back(x);
    modes.push_back(f.modes[i]);
  }
  ExprId c = make(fine ? ExprKind::CallValue : ExprKind::Error, fine ? f.result : errorType(), e);
  get(c).children = std::move(children);
  get(c).modes = std::move(modes);
  return fine ? finishCall(c, f.fails, e, name) : c;
}

// ---- arguments ----

// Which argument belongs to which parameter; null where the default stands.
bool BodyChecker::assignSlots(const std::vector<Slot>& slots, const ast::CallExpr* e, const std::string& callee, std::vector<const ast::Arg*>& out, const char* what) {
  out.assign(slots.size(), nullptr);
  bool fine = true;
  size_t next = 0;
  bool named = false;
  for (const ast::Arg& a : e->args) {
    size_t at = slots.size();
    if (a.name) {
      named = true;
      std::string n(context.text(a.name));
      for (size_t i = 0; i < slots.size(); i++) {
        if (slots[i].name == n) at = i;
      }
      if (at == slots.size()) {
        std::vector<std::string> all;
        for (const Slot& s : slots) all.push_back(s.name);
        auto& m = error(a.name.span(), "`" + callee + "` has no " + what + " `" + n + "`");
        std::string guess = nearest(n, all);
        if (!guess.empty()) m.note("perhaps `" + guess + "`");
        fine = false;
        continue;
      }
    } else {
      if (named) {
        error(a.value, "arguments without a name stand before those with one");
        fine = false;
        continue;
      }
      if (next >= slots.size()) {
        error(a.value, "`" + callee + "` takes " + std::to_string(slots.size()) + " argument" + plural(slots.size()) + ", and " + std::to_string(e->args.size()) + (e->args.size() == 1 ? " is" : " are") + " given");
        return false;
      }
      at = next++;
    }
    if (out[at]) {
      error(a.value, "the parameter `" + slots[at].name + "` is given twice");
      fine = false;
      continue;
    }
    out[at] = &a;
  }
  std::string missing;
  size_t count = 0;
  for (size_t i = 0; i < slots.size(); i++) {
    if (out[i] || slots[i].hasDefault) continue;
    missing += (missing.empty() ? "`" : ", `") + slots[i].name + "`";
    count++;
  }
  if (count && fine) {
    error(Span{e->place, e->length}, "`" + callee + "` needs " + missing + (count == 1 ? ", which is" : ", which are") + " not given");
    fine = false;
  }
  return fine;
}

// Arrays lie in place, so their lengths are known when the program is compiled.
bool BodyChecker::holdsOpenArray(TypeId t) {
  if (!t) return false;
  const Type type = typ(t);
  if (type.kind == Kind::Array && types.isOpen(type.extents[0])) return true;
  for (TypeId a : type.args) {
    if (holdsOpenArray(a)) return true;
  }
  return holdsOpenArray(type.element) || holdsOpenArray(type.key);
}

ExprId BodyChecker::argument(const Slot& slot, TypeId want, const ast::Arg& a, const std::string& callee) {
  if (slot.mode == Mode::Inout) {
    changedArgs.insert(&a);
    ExprId x = expr(a.value, want);
    if (isError(x)) return x;
    checkPlaceArgument(a, slot);
    if (!isPlace(x)) {
      if (a.isInout) error(a.value, "`inout` needs a variable or a part of one, and this is a computed value");
      return errorExpr(a.value);
    }
    return changing(x, a.value, slot.change, "`" + callee + "`", &slot);
  }
  if (a.isInout) {
    error(Span{a.place, 5}, "the parameter `" + slot.name + "` of `" + callee + "` does not change its argument").note("write it without `inout`");
  }
  return expr(a.value, want);
}

void BodyChecker::checkPlaceArgument(const ast::Arg& a, const Slot& slot) {
  if (a.isInout) return;
  error(a.value, "the parameter `" + slot.name + "` changes its argument, and the call does not say so").note("write `inout " + quoteExact(a.value) + "`");
}

// What is still unknown becomes a wildcard, so that literals take what is known already.
TypeId BodyChecker::closedHint(TypeId t, const Binding& b) {
  std::vector<TypeId> args = b.types;
  for (TypeId& a : args) {
    if (!a) a = errorType();
  }
  std::vector<ExtentId> extents = b.extents;
  for (ExtentId& x : extents) {
    if (!x) x = types.open();
  }
  return types.substitute(t, b.decl, args, extents);
}

bool BodyChecker::arguments(std::vector<Slot>& slots, Binding& b, const ast::CallExpr* e, const std::string& callee, TypeId result, TypeId hint, std::vector<ExprId>& children, std::vector<Mode>& modes) {
  std::vector<const ast::Arg*> given;
  bool ofFields = b.decl && program.get(b.decl).kind != DeclKind::Function;
  if (!assignSlots(slots, e, callee, given, ofFields ? "field" : "parameter")) {
    for (const ast::Arg& a : e->args) {
      if (a.value->kind != ast::ExprKind::Closure) expr(a.value);
    }
    return false;
  }
  children.assign(slots.size(), ExprId{});
  // First what has a type of its own, then literals, then closures, whose parameters get their types from the rest.
  auto phaseOf = [&](const ast::Expr* a) {
    if (a->kind == ast::ExprKind::Closure) return 2;
    bool waits = adaptable(a) || a->kind == ast::ExprKind::None || a->kind == ast::ExprKind::EmptyBraces || a->kind == ast::ExprKind::List || a->kind == ast::ExprKind::Set || a->kind == ast::ExprKind::Map;
    if (auto* c = ast::tryAs<ast::CallExpr>(a)) {
      auto* n = ast::tryAs<ast::NameExpr>(c->callee);
      if (n && n->name && (text(n->name) == "Zeros" || text(n->name) == "Ones")) waits = true;
    }
    return waits ? 1 : 0;
  };
  bool generic = !b.types.empty() || !b.extents.empty();
  bool fine = true;
  for (int phase = 0; phase < 3; phase++) {
    if (phase == 1 && generic && hint && result) {
      TypeId h = kindOf(result) == Kind::Parameter ? withoutOptional(hint) : hint;
      Binding onlyTypes = b;
      match(result, h, onlyTypes, 0, spanOf(e), "", true);
      for (size_t i = 0; i < b.types.size(); i++) {
        if (!b.types[i] && onlyTypes.types[i] && !isError(onlyTypes.types[i])) b.types[i] = onlyTypes.types[i];
      }
    }
    for (size_t i = 0; phase == 1 && generic && i < slots.size(); i++) {   // of several literals for one type, a float decides
      const Type t = typ(slots[i].type);
      bool free = given[i] && t.kind == Kind::Parameter && t.decl == b.decl && !b.types[t.index];
      if (free && adaptable(given[i]->value) && hasFloatLiteral(given[i]->value)) b.types[t.index] = scalar(Kind::Float64);
    }
    for (size_t i = 0; i < slots.size(); i++) {
      if (!given[i] || (generic ? phaseOf(given[i]->value) : given[i]->value->kind == ast::ExprKind::Closure ? 2 : 0) != phase) continue;
      TypeId want = generic ? closedHint(slots[i].type, b) : slots[i].type;
      ExprId x = argument(slots[i], want, *given[i], callee);
      children[i] = x;
      if (isError(x)) {
        fine = false;
        continue;
      }
      if (generic) match(slots[i].type, typeOf(x), b, uint32_t(i), spanOf(given[i]->value), slots[i].name, true);
    }
  }
  if (generic) {
    solve(b, false);
    // What no argument says, the place of the result may say.
    bool openNames = false;
    for (ExtentId x : b.extents) openNames = openNames || !x;
    if (openNames && hint && result && kindOf(hint) != Kind::Error) {
      size_t before = b.equations.size();
      match(result, kindOf(result) != Kind::Optional ? withoutOptional(hint) : hint, b, 0, spanOf(e), "", true);
      for (size_t k = before; k < b.equations.size();) {
        if (!types.isOpen(b.equations[k].actual)) solveOne(b, b.equations[k]);
        b.equations.erase(b.equations.begin() + long(k));
      }
    }
    if (fine) {
      size_t errors = context.diagnostics.errorCount();
      finishBinding(b, spanOf(e), callee);
      fine = context.diagnostics.errorCount() == errors;
    }
  }
  for (size_t i = 0; i < slots.size(); i++) {
    modes.push_back(slots[i].mode);
    TypeId want = generic ? types.substitute(slots[i].type, b.decl, b.types, b.extents) : slots[i].type;
    if (!given[i]) {
      if (fine) children[i] = defaultValue(slots[i], want, b.decl);
      continue;
    }
    if (!fine || isError(children[i])) continue;
    const ast::Expr* at = given[i]->value;
    std::string what = "the parameter `" + slots[i].name + "`";
    if (slots[i].mode != Mode::Inout) {
      children[i] = fit(children[i], {want, what}, at, true);
      fine = fine && !isError(children[i]);
      continue;
    }
    fine = placeFits(children[i], slots[i], want, at, callee) && fine;
  }
  return fine;
}

// The place of an `inout` argument and the parameter are of one type, and the callee puts no other extent where the caller knows one. `want` is
// the parameter's type in this call.
bool BodyChecker::placeFits(ExprId place, const Slot& slot, TypeId want, const ast::Expr* at, const std::string& callee) {
  TypeId have = typeOf(place);
  if (types.same(have, want)) return true;
  if (compatible(have, want) == Compat::No || compatible(want, have) == Compat::No) {
    refuse(place, {want, "the parameter `" + slot.name + "`"}, at);
    return false;
  }
  const Type h = typ(have), w = typ(want), written = typ(slot.type);
  bool mayChange = h.extents.size() != w.extents.size();
  for (size_t k = 0; k < h.extents.size() && k < w.extents.size(); k++) {
    bool forgets = types.isOpen(w.extents[k]) && !types.isOpen(h.extents[k]);
    bool keeps = k < written.extents.size() && !types.isOpen(written.extents[k]);   // `inout v: vector[N]` keeps N
    mayChange = mayChange || (forgets && !keeps);
  }
  if (!mayChange) return true;
  auto& m = error(at, "`" + callee + "` may change the extent, and " + quote(at) + " is " + aType(types.unmarked(have)));
  if (at->kind == ast::ExprKind::Name) m.note("write `var " + quoteExact(at) + ": " + show(types.unmarked(want)) + "`");
  return false;
}

ExprId BodyChecker::defaultValue(const Slot& slot, TypeId type, DeclId owner) {
  auto* syntax = static_cast<const ast::Expr*>(slot.defaultSyntax);
  if (!syntax) return {};
  // The default is read where it was written: in its module, without the caller's names.
  std::unordered_map<uint32_t, std::vector<Entry>> hidden;
  std::vector<NameId> log;
  std::swap(hidden, names);
  std::swap(log, declared);
  uint32_t ownModule = module;
  DeclId ownDecl = decl;
  bool ownSystem = system;
  module = checker.info(owner).module;
  decl = owner;
  system = checker.modules.get(module).system;
  ExprId value = exprAs(syntax, type, "the parameter `" + slot.name + "`");
  module = ownModule;
  decl = ownDecl;
  system = ownSystem;
  std::swap(hidden, names);
  std::swap(log, declared);
  return value;
}

// ---- failures ----

ExprId BodyChecker::finishCall(ExprId c, const std::vector<TypeId>& fails, const ast::CallExpr* e, const std::string& callee) {
  if (fails.empty()) return c;
  if (tryTarget != e) {
    std::string list;
    for (TypeId f : fails) {
      if (isError(f)) return c;
      if (kindOf(f) != Kind::AnyFailure) list += (list.empty() ? "`" : ", `") + show(f) + "`";
    }
    std::string source = quoteExact(e);
    if (source.size() > 50 || source.find('\n') != std::string::npos) source = callee + "(…)";
    bool listed = true;
    for (TypeId f : fails) listed = listed && (frame().anyFailure || std::find(frame().fails.begin(), frame().fails.end(), f) != frame().fails.end());
    listed = listed || !frame().attempts.empty();
    auto& m = error(e, "`" + callee + "` can fail" + (list.empty() ? "" : " with " + list) + ", and this call does not say what happens then");
    m.note(listed ? "write `try " + source + "`, or `try " + source + " else …`" : "write `try " + source + "` and list " + (list.empty() ? "the failures" : list) + ", or `try " + source + " else …`");
    return c;
  }
  lastFails = fails;
  ExprId t = make(ExprKind::Try, typeOf(c), e);
  get(t).children = {c};
  if (!tryHandled) passOn(fails, spanOf(e), false);
  return t;
}

// Failures leave the expression: to an arm of an `attempt` around it, else to the function's signature.
void BodyChecker::passOn(const std::vector<TypeId>& fails, Span at, bool byFail) {
  Frame& f = frame();
  for (TypeId failure : fails) {
    if (isError(failure)) {   // unknown: any arm may be for it
      for (AttemptFrame& a : f.attempts) a.used.assign(a.used.size(), true);
      continue;
    }
    bool caught = false;
    for (size_t i = f.attempts.size(); i-- > 0 && !caught;) {
      auto& list = *f.attempts[i].arms;
      for (size_t k = 0; k < list.size() && !caught; k++) {
        bool any = kindOf(list[k].failure) == Kind::AnyFailure;
        if (!any && list[k].failure != failure && !(kindOf(failure) == Kind::AnyFailure)) continue;
        f.attempts[i].used[k] = true;
        caught = any || list[k].failure == failure;
      }
    }
    if (caught || f.anyFailure || std::find(f.fails.begin(), f.fails.end(), failure) != f.fails.end()) continue;
    if (f.infersFails) {
      f.fails.push_back(failure);
      continue;
    }
    std::string name = kindOf(failure) == Kind::AnyFailure ? "any failure" : "`" + show(failure) + "`";
    std::string list;
    for (TypeId x : f.fails) list += (list.empty() ? "" : ", ") + show(x);
    list += (list.empty() ? "" : ", ") + (kindOf(failure) == Kind::AnyFailure ? "any" : show(failure));
    std::string who = f.name.empty() ? "this function" : "`" + f.name + "`";
    if (byFail) error(at, who + " does not list the failure " + name).note("write `fails " + list + "`");
    else error(at, who + " passes on " + name + " and does not list it").note(f.name.empty() ? "write `fails " + list + "`" : "write `" + signatureText(f) + " fails " + list + "`");
  }
}

// The head of the function that is being checked, as it is written, for notes that add to it.
std::string BodyChecker::signatureText(const Frame& f) const {
  auto* syntax = f.closure ? nullptr : ast::tryAs<ast::FuncDecl>(checker.info(decl).syntax);
  if (!syntax) return "…";
  std::string out = "func " + f.name;
  Place from = syntax->name.place;
  uint32_t begin = context.sources.offset(from) + uint32_t(syntax->name.length);
  uint32_t end = begin;
  if (syntax->fails.present()) end = context.sources.offset(syntax->fails.place);
  else if (syntax->result.type) end = context.sources.offset(syntax->result.type->place) + syntax->result.type->length;
  else {
    std::string_view text = context.sources.text(from.file);
    end = uint32_t(std::min(text.find('\n', begin), text.size()));
    size_t comment = text.substr(begin, end - begin).find("//");
    if (comment != std::string_view::npos) end = begin + uint32_t(comment);
  }
  std::string rest(context.sources.text(from.file).substr(begin, end - begin));
  while (!rest.empty() && rest.back() == ' ') rest.pop_back();
  return rest.find('\n') == std::string::npos ? out + rest : out + "…";
}

// ---- records, choices, conversions ----

ExprId BodyChecker::construct(DeclId id, const ast::CallExpr* e, const ast::Seq<ast::Arg>* brackets, TypeId hint, bool failing) {
  checker.ensureSignature(id);
  const Decl& d = program.get(id);
  Binding b = bindingOf(id);
  if (brackets && !explicitArgs(id, brackets, b, spanOf(e->callee))) return errorExpr(e);
  std::vector<Slot> slots;
  for (const FieldDecl& f : d.fields) slots.push_back({f.name, f.type, Mode::Move, f.hasDefault, f.defaultSyntax, false});
  for (const ast::Arg& a : e->args) {
    if (a.name || (slots.size() == 1 && failing)) continue;
    std::string shown = d.fields.empty() ? "" : d.fields[0].name + ": …";
    error(a.value, std::string("the ") + (failing ? "payload of" : "fields of") + " `" + d.name + "` are named").note("write `" + d.name + "(" + shown + (d.fields.size() > 1 ? ", …" : "") + ")`");
    for (const ast::Arg& x : e->args) expr(x.value);
    return errorExpr(e);
  }
  Type t;
  t.kind = failing ? Kind::Failure : Kind::Record;
  t.decl = id;
  for (uint32_t i = 0; i < d.typeParams.size(); i++) {
    Type p;
    p.kind = Kind::Parameter;
    p.decl = id;
    p.index = i;
    t.args.push_back(types.intern(p));
  }
  for (uint32_t i = 0; i < d.extentParams.size(); i++) t.extents.push_back(types.name(id, i, d.extentParams[i]));
  TypeId whole = types.intern(t);
  // Known arguments of the expected type count before anything else.
  TypeId expected = withoutOptional(hint);
  if (expected && kindOf(expected) == t.kind && typ(expected).decl == id && !brackets) {
    const Type h = typ(expected);
    for (size_t i = 0; i < h.args.size(); i++) {
      if (!b.types[i] && !typeHasError(h.args[i])) b.types[i] = types.unmarked(h.args[i]);
    }
    for (size_t i = 0; i < h.extents.size(); i++) {
      if (!b.extents[i] && !types.isOpen(h.extents[i])) {
        b.extents[i] = h.extents[i];
        b.how[i].from = ExtentArg::From::Known;
        b.how[i].known = h.extents[i];
      }
    }
  }
  std::vector<ExprId> children;
  std::vector<Mode> modes;
  if (!arguments(slots, b, e, d.name, {}, {}, children, modes)) return errorExpr(e);
  TypeId type = types.substitute(whole, id, b.types, b.extents);
  // A `?` field against a known extent of the record's type: checked when it is put there.
  for (size_t i = 0; i < children.size(); i++) {
    TypeId want = types.substitute(program.get(id).fields[i].type, id, b.types, b.extents);
    if (compatible(typeOf(children[i]), want) == Compat::Check) children[i] = convert(children[i], types.unmarked(want));
  }
  ExprId r = make(failing ? ExprKind::MakeFailure : ExprKind::MakeRecord, type, e);
  get(r).children = std::move(children);
  get(r).modes = std::move(modes);
  get(r).callee = id;
  return r;
}

// `Shape.Circle(r: 2.0)`, `Shape.Empty`. `at` is the path, a FieldExpr.
ExprId BodyChecker::constructCase(TypeId choice, DeclId id, const ast::CallExpr* e, const ast::Expr* at, const ast::Seq<ast::Arg>* brackets, TypeId hint) {
  auto* path = ast::as<ast::FieldExpr>(at);
  const ast::Expr* whole = e ? static_cast<const ast::Expr*>(e) : at;
  if (!id && !choice) {
    error(at, "this is a type, and a value is expected here");
    return errorExpr(whole);
  }
  checker.ensureSignature(id);
  const Decl& d = program.get(id);
  std::string name(context.text(path->name));
  uint32_t index = checker.caseNamed(id, name);
  if (index == d.cases.size()) {
    std::vector<std::string> all;
    for (const CaseDecl& c : d.cases) all.push_back(c.name);
    auto& m = error(path->name.span(), "`" + d.name + "` has no case `" + name + "`");
    std::string guess = nearest(name, all);
    if (!guess.empty()) m.note("perhaps `" + d.name + "." + guess + "`");
    if (e) {
      for (const ast::Arg& a : e->args) expr(a.value);
    }
    return errorExpr(whole);
  }
  const CaseDecl& c = d.cases[index];
  std::string full = d.name + "." + c.name;
  if (!e && !c.fields.empty()) {
    error(at, "`" + full + "` needs its payload").note("write `" + full + "(" + c.fields[0].name + ": …" + (c.fields.size() > 1 ? ", …" : "") + ")`");
    return errorExpr(whole);
  }
  if (e && c.fields.empty()) {
    error(e, "`" + full + "` has no payload").note("write `" + full + "`");
    return errorExpr(whole);
  }
  Binding b = bindingOf(id);
  if (brackets && !explicitArgs(id, brackets, b, spanOf(at))) return errorExpr(whole);
  TypeId expected = choice ? choice : withoutOptional(hint);
  if (expected && kindOf(expected) == Kind::Choice && typ(expected).decl == id) {
    const Type h = typ(expected);
    for (size_t i = 0; i < h.args.size(); i++) {
      if (!b.types[i] && !typeHasError(h.args[i])) b.types[i] = types.unmarked(h.args[i]);
    }
    for (size_t i = 0; i < h.extents.size(); i++) {
      if (b.extents[i] || types.isOpen(h.extents[i])) continue;
      b.extents[i] = h.extents[i];
      b.how[i] = ExtentArg{ExtentArg::From::Known, h.extents[i], {}, 0, 0, {}, {}};
    }
  }
  std::vector<ExprId> children;
  std::vector<Mode> modes;
  if (e) {
    std::vector<Slot> slots;
    for (const FieldDecl& f : c.fields) slots.push_back({f.name, f.type, Mode::Move, f.hasDefault, f.defaultSyntax, false});
    for (const ast::Arg& a : e->args) {
      if (a.name || slots.size() == 1) continue;
      error(a.value, "the payload of `" + full + "` is named").note("write `" + full + "(" + c.fields[0].name + ": …, …)`");
      for (const ast::Arg& x : e->args) expr(x.value);
      return errorExpr(whole);
    }
    if (!arguments(slots, b, e, full, {}, {}, children, modes)) return errorExpr(whole);
  } else {
    size_t errors = context.diagnostics.errorCount();
    finishBinding(b, spanOf(at), full);
    if (context.diagnostics.errorCount() != errors) return errorExpr(whole);
  }
  Type t;
  t.kind = Kind::Choice;
  t.decl = id;
  t.args = b.types;
  for (ExtentId x : b.extents) t.extents.push_back(x ? x : types.open());
  ExprId r = make(ExprKind::MakeChoice, types.intern(t), whole);
  get(r).children = std::move(children);
  get(r).modes = std::move(modes);
  get(r).index = index;
  get(r).callee = id;
  return r;
}

ExprId BodyChecker::conversion(TypeId to, const ast::CallExpr* e) {
  std::string name = show(to);
  if (e->args.size() != 1 || e->args[0].name || e->args[0].isInout) {
    error(e, "the conversion `" + name + "(…)` takes one value");
    for (const ast::Arg& a : e->args) expr(a.value);
    return errorExpr(e);
  }
  const ast::Expr* a = e->args[0].value;
  Kind k = kindOf(to);
  bool number = isInteger(k) || isFloat(k) || (k == Kind::Parameter && copies(program, to));
  bool literal = adaptable(a) && number && !(isInteger(k) && hasFloatLiteral(a));
  ExprId x = literal ? buildAdaptable(a, to) : expr(a);
  if (isError(x)) return errorExpr(e);
  TypeId from = types.unmarked(typeOf(x));
  Kind f = kindOf(from);
  if (f == Kind::Tensor) {
    Kind element = kindOf(typ(from).element);
    bool fits = (isInteger(k) || isFloat(k) || k == Kind::Parameter) && (isInteger(element) || isFloat(element) || element == Kind::Bool || element == Kind::Parameter);
    bool holds = k == Kind::Float32 || k == Kind::Float64 || k == Kind::Int8 || k == Kind::UInt8 || k == Kind::Int32 || k == Kind::Int64 || k == Kind::Parameter;
    if (!fits || !holds) {
      error(e, "a tensor of " + show(typ(from).element) + " does not convert to one of " + name);
      return errorExpr(e);
    }
    Type t = typ(from);
    t.element = to;
    ExprId c = convert(x, types.intern(t), true);
    get(c).place = e->place;
    get(c).start = e->place;
    get(c).length = e->length;
    return c;
  }
  bool fromNumber = isInteger(f) || isFloat(f) || (f == Kind::Parameter && copies(program, from));
  bool fine = (number && (fromNumber || ((f == Kind::Char || f == Kind::Bool) && !isFloat(k)))) || (k == Kind::Char && isInteger(f)) || types.same(from, to);
  if (!fine || k == Kind::Unit) {
    auto& m = error(e, aType(from) + " does not convert to " + name);
    if (k == Kind::String && isPrintable(program, from)) m.note("write `\"{" + quoteExact(a) + "}\"`");
    if (f == Kind::String && isInteger(k)) m.note("`Text.ToInt` reads a number from a string");
    if (f == Kind::String && isFloat(k)) m.note("`Text.ToFloat` reads a number from a string");
    return errorExpr(e);
  }
  ExprId c = convert(x, types.unmarked(to), true);
  get(c).place = e->place;
  get(c).start = e->place;
  get(c).length = e->length;
  return c;
}

}  // namespace mica
