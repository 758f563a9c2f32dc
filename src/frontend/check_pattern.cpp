// Patterns: what they test, what they bind, and whether the arms of a `match` leave something out. The type that a pattern is checked against is
// the held one (check_places.cpp) where its subject changes in place.
#include <algorithm>

#include "frontend/checker.h"

namespace mica {

PatternId BodyChecker::makePattern(PatternKind kind, TypeId type, const ast::Pattern* at) {
  Pattern p;
  p.kind = kind;
  p.type = opened(type);
  p.place = at ? at->place : Place{};
  body.patterns.push_back(std::move(p));
  return PatternId{uint32_t(body.patterns.size() - 1)};
}

PatternId BodyChecker::bindName(NameId name, const ast::Pattern* at, TypeId type, Mode mode, Local::Form form) {
  PatternId id = makePattern(PatternKind::Bind, type, at);
  bool twice = std::find(boundNames.begin(), boundNames.end(), name) != boundNames.end();
  if (twice) error(Span{at->place, at->length}, "this pattern binds `" + text(name) + "` twice");
  boundNames.push_back(name);
  LocalId local = declareLocal(twice ? word::Discard : name, at->place, opened(type), form, mode);
  if (mentionsHeld(type)) heldLocals[local.index] = type;
  body.patterns[id.index].local = local;
  return id;
}

PatternId BodyChecker::pattern(const ast::Pattern* p, TypeId type, Mode mode, bool inCase, Local::Form form) {
  Span at{p->place, p->length};
  Kind k = kindOf(type);
  bool simple = p->kind == ast::PatternKind::Error || p->kind == ast::PatternKind::Discard || p->kind == ast::PatternKind::Name;
  auto* literal = ast::tryAs<ast::LiteralPattern>(p);
  bool isNone = literal && literal->value->kind == ast::ExprKind::None;
  // Inside an optional: everything but `none` and a whole name tests the value that is there.
  if (k == Kind::Optional && !simple && !isNone) {
    PatternId inner = pattern(p, typ(type).element, mode, inCase, form);
    PatternId some = makePattern(PatternKind::Some, type, p);
    body.patterns[some.index].parts = {inner};
    return some;
  }
  switch (p->kind) {
    case ast::PatternKind::Error: case ast::PatternKind::Discard: return makePattern(PatternKind::Any, type, p);
    case ast::PatternKind::Name: {
      NameId name = ast::as<ast::NamePattern>(p)->name;
      if (!name) return makePattern(PatternKind::Any, type, p);
      if (inCase && k == Kind::Choice) {
        const Decl& d = program.get(typ(type).decl);
        uint32_t i = checker.caseNamed(typ(type).decl, text(name));
        if (i < d.cases.size()) {
          PatternId id = makePattern(PatternKind::Case, type, p);
          body.patterns[id.index].index = i;
          for (const FieldDecl& f : d.cases[i].fields) {
            PatternId any = makePattern(PatternKind::Any, types.substitute(f.type, typ(type).decl, typ(type).args, typ(type).extents), p);
            body.patterns[id.index].parts.push_back(any);
          }
          return id;
        }
        std::string n = text(name);
        if (!n.empty() && n[0] >= 'A' && n[0] <= 'Z') {
          std::vector<std::string> all;
          for (const CaseDecl& c : d.cases) all.push_back(c.name);
          auto& m = error(at, "`" + d.name + "` has no case `" + n + "`");
          std::string guess = nearest(n, all);
          if (!guess.empty()) m.note("perhaps `" + guess + "`");
          return makePattern(PatternKind::Any, type, p);
        }
      }
      if (inCase) {
        const Symbol* s = findLocal(name) ? nullptr : checker.find(module, name);
        bool constant = (s && s->kind == Symbol::Kind::Declaration && program.get(s->decl).kind == DeclKind::Constant) || localConstant(name);
        if (constant) {
          PatternId id = makePattern(PatternKind::Literal, type, p);
          auto* e = context.arena.make<ast::NameExpr>();
          e->kind = ast::ExprKind::Name;
          e->place = p->place;
          e->length = p->length;
          e->name = name;
          ExprId value = patternLiteral(e, type);
          body.patterns[id.index].low = value;
          return id;
        }
      }
      return bindName(name, p, type, mode, form);
    }
    case ast::PatternKind::Literal: {
      if (isNone) {
        if (k != Kind::Optional && k != Kind::Error) error(at, "`none` belongs to an optional, and this is " + aType(type));
        return makePattern(k == Kind::Optional ? PatternKind::None : PatternKind::Any, type, p);
      }
      ExprId value = patternLiteral(literal->value, type);
      PatternId id = makePattern(isError(value) ? PatternKind::Any : PatternKind::Literal, type, p);
      body.patterns[id.index].low = value;
      return id;
    }
    case ast::PatternKind::Range: {
      auto* r = ast::as<ast::RangePattern>(p);
      ExprId low = patternLiteral(r->low, type), high = patternLiteral(r->high, type);
      bool fine = !isError(low) && !isError(high) && k != Kind::Error;
      if (fine && !isInteger(k) && !isFloat(k) && k != Kind::Char) {
        error(at, "a range matches numbers and chars, and this is " + aType(type));
        fine = false;
      }
      if (fine && (isInteger(k) || k == Kind::Char) && get(low).intValue > get(high).intValue) error(at, "this range holds nothing");
      PatternId id = makePattern(fine ? PatternKind::Range : PatternKind::Any, type, p);
      Pattern& out = body.patterns[id.index];
      out.low = low;
      out.high = high;
      out.exclusive = r->halfOpen;
      return id;
    }
    case ast::PatternKind::Tuple: {
      auto* t = ast::as<ast::TuplePattern>(p);
      PatternId id = makePattern(PatternKind::Tuple, type, p);
      std::vector<PatternId> parts;
      const Type whole = typ(type);
      bool fits = whole.kind == Kind::Tuple && whole.args.size() == t->elements.size();
      if (!fits && k != Kind::Error) error(at, "this takes a tuple of " + std::to_string(t->elements.size()) + " parts, and the value is " + aType(type));
      for (size_t i = 0; i < t->elements.size(); i++) parts.push_back(pattern(t->elements[i], fits ? whole.args[i] : errorType(), mode, inCase, form));
      body.patterns[id.index].parts = std::move(parts);
      if (!fits) body.patterns[id.index].kind = PatternKind::Any;
      return id;
    }
    case ast::PatternKind::Case: return casePattern(ast::as<ast::CasePattern>(p), type, mode, form);
  }
  return makePattern(PatternKind::Any, type, p);
}

ExprId BodyChecker::patternLiteral(const ast::Expr* e, TypeId type) {
  if (isError(type)) return errorExpr(e);
  ConstValue v = checker.evaluate(e, typeScope(), true, type);
  if (!v.known()) return errorExpr(e);
  ExprId value = constantLiteral(v, type, e);
  if (isError(value)) return value;
  return fit(value, {type, "the matched value"}, e);
}

PatternId BodyChecker::casePattern(const ast::CasePattern* p, TypeId type, Mode mode, Local::Form form) {
  Span at{p->place, p->length};
  auto bindAll = [&]() -> PatternId {   // after an error: the names exist, so that the arm can be checked
    for (const auto& part : p->parts) pattern(part.pattern, errorType(), mode, true, form);
    return makePattern(PatternKind::Any, type, p);
  };
  if (isError(type) || p->path.empty()) return bindAll();
  const ast::Name& last = p->path.back();
  // `Limits.Max`: a constant of another module.
  if (!p->hasParts && p->path.size() == 2 && kindOf(type) != Kind::Choice) {
    const Symbol* s = checker.find(module, p->path[0].id);
    if (s && s->kind == Symbol::Kind::Module) {
      const Symbol* member = checker.findExported(s->index, last, module);
      if (member && member->kind == Symbol::Kind::Declaration && program.get(member->decl).kind == DeclKind::Constant) {
        auto* name = context.arena.make<ast::NameExpr>();
        name->kind = ast::ExprKind::Name;
        name->place = p->place;
        name->length = p->length;
        ExprId value = constantLiteral(checker.constant(member->decl), type, name);
        if (!isError(value)) value = fit(value, {type, "the matched value"}, name);
        PatternId id = makePattern(PatternKind::Literal, type, p);
        body.patterns[id.index].low = value;
        return id;
      }
    }
  }
  if (kindOf(type) != Kind::Choice) {
    error(at, "`" + std::string(context.text(last)) + "` is a case of a choice, and the value is " + aType(type));
    return bindAll();
  }
  const Type choice = typ(type);
  checker.ensureSignature(choice.decl);
  const Decl& d = program.get(choice.decl);
  if (p->path.size() > 1 && context.text(p->path[p->path.size() - 2]) != d.name) {
    error(at, "the value is " + aType(type) + ", and this is a case of `" + std::string(context.text(p->path[p->path.size() - 2])) + "`");
    return bindAll();
  }
  std::string name(context.text(last));
  uint32_t index = checker.caseNamed(choice.decl, name);
  if (index == d.cases.size()) {
    std::vector<std::string> all;
    for (const CaseDecl& c : d.cases) all.push_back(c.name);
    auto& m = error(last.span(), "`" + d.name + "` has no case `" + name + "`");
    std::string guess = nearest(name, all);
    if (!guess.empty()) m.note("perhaps `" + guess + "`");
    return bindAll();
  }
  const std::vector<FieldDecl>& fields = d.cases[index].fields;
  std::vector<PatternId> parts(fields.size());
  bool named = false;
  if (p->hasParts && p->parts.size() > fields.size()) {
    error(at, "`" + name + "` holds " + std::to_string(fields.size()) + (fields.size() == 1 ? " value" : " values") + ", and " + std::to_string(p->parts.size()) + " are named");
    return bindAll();
  }
  for (size_t i = 0; i < p->parts.size(); i++) {
    const auto& part = p->parts[i];
    size_t to = i;
    if (part.field) {
      named = true;
      to = fields.size();
      for (size_t k = 0; k < fields.size(); k++) {
        if (fields[k].name == context.text(part.field)) to = k;
      }
      if (to == fields.size()) {
        error(part.field.span(), "`" + name + "` has no `" + std::string(context.text(part.field)) + "`");
        pattern(part.pattern, errorType(), mode, true, form);
        continue;
      }
    }
    if (parts[to]) error(at, "`" + fields[to].name + "` is taken twice");
    TypeId fieldType = types.substitute(fields[to].type, choice.decl, choice.args, choice.extents);
    PatternId made = pattern(part.pattern, fieldType, mode, true, form);
    parts[to] = made;
  }
  if (p->hasParts && !named && p->parts.size() < fields.size()) error(at, "`" + name + "` holds " + std::to_string(fields.size()) + " values: write `_` for those that are not needed");
  for (size_t i = 0; i < fields.size(); i++) {
    if (parts[i]) continue;
    PatternId any = makePattern(PatternKind::Any, types.substitute(fields[i].type, choice.decl, choice.args, choice.extents), p);
    parts[i] = any;
  }
  PatternId id = makePattern(PatternKind::Case, type, p);
  body.patterns[id.index].index = index;
  body.patterns[id.index].parts = std::move(parts);
  return id;
}

bool BodyChecker::irrefutable(PatternId id) {
  const Pattern& p = body.patterns[id.index];
  if (p.kind == PatternKind::Any || p.kind == PatternKind::Bind) return true;
  if (p.kind == PatternKind::Tuple) return std::all_of(p.parts.begin(), p.parts.end(), [&](PatternId x) { return irrefutable(x); });
  return false;
}

// ---- arms ----

void BodyChecker::arms(const ast::Seq<ast::MatchArm>& list, TypeId subject, Mode mode, std::vector<Arm>& out, TypeId* value, TypeId hint, bool isExpr) {
  TypeId common = hint;
  std::vector<const ast::Expr*> sources;
  for (const ast::MatchArm& a : list) {
    Scope scope(*this);
    Arm arm;
    arm.place = a.place;
    boundNames.clear();
    if (!a.isElse) {
      std::vector<PatternId> alternatives;
      size_t locals = body.locals.size();
      for (const ast::Pattern* p : a.patterns) {
        boundNames.clear();   // each has its own; that there are any is refused below
        alternatives.push_back(pattern(p, subject, mode, true));
        scopeMark = declared.size();
      }
      if (alternatives.size() > 1 && body.locals.size() > locals) error(Span{a.place, 4}, "the alternatives of one `case` cannot bind names").note("write an arm for each");
      if (alternatives.size() == 1) {
        arm.pattern = alternatives[0];
      } else if (!alternatives.empty()) {
        arm.pattern = makePattern(PatternKind::Either, subject, a.patterns[0]);
        body.patterns[arm.pattern.index].parts = alternatives;
      }
    }
    if (a.guard) arm.guard = condition(a.guard);
    if (!isExpr) {
      block(a.body, arm.body);
    } else if (a.value) {
      if (a.value->kind == ast::ExprKind::Jump) {
        error(a.value, "`" + quoteExact(a.value) + "` leaves; write this `match` as a statement").note("or give the value by `try … else`");
        arm.value = errorExpr(a.value);
      } else {
        arm.value = expr(a.value, common);
        TypeId t = typeOf(arm.value);
        if (!isError(t) && kindOf(t) != Kind::Never) {
          TypeId joined = common ? join(common, t) : types.unmarked(t);
          if (hint && compatible(t, hint) != Compat::No) joined = hint;
          if (!joined) {
            error(a.value, "the arms of this `match` are " + aType(common) + " and " + aType(t));
            arm.value = errorExpr(a.value);
          } else {
            common = joined;
          }
        }
      }
    }
    sources.push_back(a.value);
    out.push_back(std::move(arm));
  }
  if (!isExpr) return;
  if (common) {
    for (size_t i = 0; i < out.size(); i++) {
      if (out[i].value && !isError(out[i].value)) out[i].value = fit(out[i].value, {common, "the arm"}, sources[i]);
    }
  }
  *value = common ? types.unmarked(common) : TypeId{};
}

// ---- exhaustiveness: is there a value that no row matches? (the usual matrix of patterns, column by column) ----

void BodyChecker::checkExhaustive(const std::vector<Arm>& list, TypeId subject, Span at) {
  if (isError(subject)) return;
  std::vector<std::vector<PatternId>> rows;
  for (const Arm& a : list) {
    if (a.guard) continue;
    if (!a.pattern) return;   // else
    const Pattern& p = body.patterns[a.pattern.index];
    if (p.kind == PatternKind::Either) {
      for (PatternId x : p.parts) rows.push_back({x});
    } else {
      rows.push_back({a.pattern});
    }
  }
  std::vector<std::string> missing;
  // Name every case of a choice that is left out, not only the first.
  if (kindOf(subject) == Kind::Choice) {
    const Decl& d = program.get(typ(subject).decl);
    std::string names, note;
    std::vector<bool> seen(d.cases.size());
    bool all = false;
    for (const auto& row : rows) {
      const Pattern& p = body.patterns[row[0].index];
      all = all || p.kind == PatternKind::Any || p.kind == PatternKind::Bind;
      if (p.kind == PatternKind::Case) seen[p.index] = true;
    }
    for (uint32_t i = 0; i < d.cases.size(); i++) {
      if (all || seen[i]) continue;
      names += (names.empty() ? "`" : ", `") + d.cases[i].name + "`";
      if (note.empty()) {
        note = "add `case " + d.cases[i].name;
        for (size_t k = 0; k < d.cases[i].fields.size(); k++) note += (k ? ", " : "(") + d.cases[i].fields[k].name;
        note += (d.cases[i].fields.empty() ? "" : ")") + std::string(" then` or `else`");
      }
    }
    if (!names.empty()) {
      error(at, "this `match` leaves out " + names).note(note);
      return;
    }
  }
  int64_t budget = 50000 + 10 * int64_t(rows.size());
  if (!useful(rows, {subject}, missing, budget)) return;
  if (budget < 0) {
    error(at, "it would take too long to find out whether this `match` leaves something out").note("add `else`");
    return;
  }
  std::string what = missing.empty() ? "some values" : "`" + missing[0] + "`";
  error(at, "this `match` leaves out " + what).note("add `else`");
}

// The budget counts rows that are looked at; when it is used up the answer is yes, without a witness.
bool BodyChecker::useful(std::vector<std::vector<PatternId>> rows, std::vector<TypeId> columns, std::vector<std::string>& witness, int64_t& budget) {
  budget -= 1 + int64_t(rows.size());
  if (budget < 0) return true;
  if (columns.empty()) return rows.empty();
  TypeId type = columns[0];
  const Type t = typ(type);
  struct Constructor { std::string name; std::vector<TypeId> parts; };
  std::vector<Constructor> all;
  switch (t.kind) {
    case Kind::Bool: all = {{"true", {}}, {"false", {}}}; break;
    case Kind::Optional: all = {{"none", {}}, {"", {t.element}}}; break;
    case Kind::Tuple: all = {{"()", t.args}}; break;
    case Kind::Choice: {
      const Decl& d = program.get(t.decl);
      for (const CaseDecl& c : d.cases) {
        Constructor made{c.name, {}};
        for (const FieldDecl& f : c.fields) made.parts.push_back(types.substitute(f.type, t.decl, t.args, t.extents));
        all.push_back(std::move(made));
      }
      break;
    }
    default: break;
  }
  auto isWild = [&](PatternId id) {
    PatternKind k = body.patterns[id.index].kind;
    return k == PatternKind::Any || k == PatternKind::Bind;
  };
  std::vector<TypeId> rest(columns.begin() + 1, columns.end());
  bool someConstructor = false;
  for (const auto& row : rows) someConstructor = someConstructor || !isWild(row[0]);
  if (all.empty() || !someConstructor) {   // numbers, strings …: only a wildcard covers them; bytes are looked at in full
    if (all.empty() && (t.kind == Kind::UInt8 || t.kind == Kind::Int8) && someConstructor) {
      std::vector<bool> covered(256);
      for (const auto& row : rows) {
        const Pattern& p = body.patterns[row[0].index];
        if (p.kind == PatternKind::Literal && rest.empty()) covered[uint8_t(get(p.low).intValue)] = true;
        if (p.kind != PatternKind::Range || !rest.empty()) continue;
        for (int64_t v = get(p.low).intValue; v <= get(p.high).intValue - (p.exclusive ? 1 : 0); v++) covered[uint8_t(v)] = true;
      }
      if (std::all_of(covered.begin(), covered.end(), [](bool c) { return c; })) return false;
    }
    std::vector<std::vector<PatternId>> wild;
    for (const auto& row : rows) {
      if (isWild(row[0])) wild.push_back(std::vector<PatternId>(row.begin() + 1, row.end()));
    }
    if (!useful(wild, rest, witness, budget)) return false;
    witness.insert(witness.begin(), all.empty() && !someConstructor ? "_" : all.empty() ? "every other value" : "_");
    return true;
  }
  // The rows of each constructor, in order; wildcards belong to all.
  std::vector<std::vector<size_t>> rowsOf(all.size());
  for (size_t r = 0; r < rows.size(); r++) {
    const Pattern& p = body.patterns[rows[r][0].index];
    switch (p.kind) {
      case PatternKind::Case: rowsOf[p.index].push_back(r); break;
      case PatternKind::None: case PatternKind::Tuple: rowsOf[0].push_back(r); break;
      case PatternKind::Some: rowsOf[1].push_back(r); break;
      case PatternKind::Literal:   // of another type after an error: it covers nothing
        if (t.kind == Kind::Bool) rowsOf[get(p.low).intValue != 0 ? 0 : 1].push_back(r);
        break;
      default:
        for (auto& of : rowsOf) of.push_back(r);
    }
  }
  for (uint32_t c = 0; c < all.size(); c++) {
    std::vector<std::vector<PatternId>> inner;
    for (size_t r : rowsOf[c]) {
      const auto& row = rows[r];
      std::vector<PatternId> next;
      if (isWild(row[0])) {
        for (TypeId part : all[c].parts) {
          PatternId any = makePattern(PatternKind::Any, part, nullptr);
          next.push_back(any);
        }
      } else {
        next = body.patterns[row[0].index].parts;
      }
      next.insert(next.end(), row.begin() + 1, row.end());
      inner.push_back(std::move(next));
    }
    std::vector<TypeId> innerColumns = all[c].parts;
    innerColumns.insert(innerColumns.end(), rest.begin(), rest.end());
    std::vector<std::string> found;
    if (!useful(inner, innerColumns, found, budget)) continue;
    std::string text = all[c].name;
    size_t n = all[c].parts.size();
    std::string parts;
    for (size_t i = 0; i < n && i < found.size(); i++) parts += (i ? ", " : "") + found[i];
    if (t.kind == Kind::Tuple) text = "(" + parts + ")";
    else if (t.kind == Kind::Optional && c == 1) text = parts == "_" ? "a value" : parts;
    else if (n) text += "(" + parts + ")";
    witness.assign(1, text);
    for (size_t i = n; i < found.size(); i++) witness.push_back(found[i]);
    return true;
  }
  return false;
}

}  // namespace mica
