// The checker's road: modules, declarations, signatures, then the bodies. See check.h and checker.h.
#include "frontend/check.h"

#include <algorithm>
#include <cstdio>

#include "frontend/checker.h"

namespace mica {

bool check(Context& context, Program& program, const CheckOptions& options) {
  program.checker = std::make_shared<Checker>(context, program, options);
  program.checker->run();
  return !context.diagnostics.hasErrors();
}

Body* checkBody(Program& program, DeclId decl) { return program.checker->ensureBody(decl); }

DeclId require(Program& program, std::string_view module, std::string_view name) {
  Checker& c = *program.checker;
  int index = c.modules.loadLibrary(module);
  if (index < 0) {
    for (size_t i = 0; i < c.modules.all().size(); i++) {
      if (c.modules.get(uint32_t(i)).name == module && c.modules.get(uint32_t(i)).system) index = int(i);
    }
  }
  if (index < 0) return {};
  c.collectNewModules();
  NameId id = c.context.names.find(name);
  const Symbol* symbol = id ? c.find(uint32_t(index), id) : nullptr;
  if (!symbol || symbol->kind != Symbol::Kind::Declaration) return {};
  c.ensureSignature(symbol->decl);
  return symbol->decl;
}

DeclId Program::find(std::string_view module, std::string_view name) const { return require(const_cast<Program&>(*this), module, name); }

int checkCommand(const std::string& file, CheckOptions options) {
  Context context;
  Program program;
  FileId id = context.sources.load(file, context.diagnostics);
  if (id != 0 && !context.sources.file(id).broken) {
    options.main = id;
    check(context, program, options);
  }
  std::string messages = context.diagnostics.print(context.sources);
  std::fputs(messages.c_str(), stderr);
  return context.diagnostics.hasErrors() ? 1 : 0;
}

void Checker::run() {
  modules.loadProgram(options.main);
  modules.loadLibrary("Failures");
  collectNewModules();
  applySets();
  // Indices, not iterators: checking may load modules and so add declarations.
  for (uint32_t i = 0; i < program.decls.size(); i++) {
    if (!program.decls[i].system || infos[i].module == 0) ensureSignature(DeclId{i});
  }
  for (AliasInfo& alias : aliases) {
    if (modules.get(alias.module).system && alias.module != 0) continue;
    TypeScope scope{alias.module, alias.id, &alias.generics, nullptr};
    ensureGenerics(alias);
    if (alias.state == DeclInfo::State::None) {
      alias.state = DeclInfo::State::Working;
      alias.type = resolveType(alias.syntax->alias, scope);
      alias.state = DeclInfo::State::Done;
    }
  }
  drainSignatures();
  checkRings();
  checkGrowth();
  NameId mainName = context.names.find("Main");
  const Symbol* main = mainName ? find(0, mainName) : nullptr;
  if (main && main->kind == Symbol::Kind::Declaration) program.main = main->decl;
  if (program.main) {
    Decl& d = program.get(program.main);
    if (d.kind != DeclKind::Function) context.diagnostics.error(d.place, "`Main` must be a function");
    else if (!d.params.empty() || kindOfResult(d)) context.diagnostics.error(d.place, "`Main` takes nothing and answers nothing").note("write `func Main` or `func Main fails any`");
    else if (!d.typeParams.empty() || !d.extentParams.empty()) context.diagnostics.error(d.place, "`Main` cannot be generic");
  } else if (options.needMain && !context.diagnostics.hasErrors()) {
    context.diagnostics.error(Span{Place{options.main, 1, 1}, 1}, "this program has no `func Main`").note("a program begins with `func Main`");
  }
  for (uint32_t i = 0; i < program.decls.size(); i++) {
    if (!program.decls[i].system || infos[i].module == 0) ensureBody(DeclId{i});
  }
  checkHashed();
  checkInstances();
}

bool Checker::kindOfResult(const Decl& d) const { return d.result && types.get(d.result).kind != Kind::Unit && types.get(d.result).kind != Kind::Error && types.get(d.result).kind != Kind::Never; }

// ---- collecting ----

void Checker::collectNewModules() {
  // All imports are resolved before: a module's symbols of kind Module exist already.
  while (collected < modules.all().size()) {
    collect(collected);
    collected++;
  }
}

void Checker::collect(uint32_t module) {
  SourceModule& m = modules.get(module);
  program.modules.push_back(m.name);
  for (const ast::Decl* d : m.syntax->declarations) declare(module, d);
}

void Checker::declare(uint32_t module, const ast::Decl* syntax) {
  SourceModule& m = modules.get(module);
  if (syntax->kind == ast::DeclKind::Import) return;
  Decl d;
  switch (syntax->kind) {
    case ast::DeclKind::Const: d.kind = DeclKind::Constant; break;
    case ast::DeclKind::Func: d.kind = DeclKind::Function; break;
    case ast::DeclKind::Failure: d.kind = DeclKind::Failure; break;
    case ast::DeclKind::Test: d.kind = DeclKind::Test; break;
    default: {
      auto* type = ast::as<ast::TypeDecl>(syntax);
      d.kind = type->body == ast::TypeBody::Choice ? DeclKind::Choice : DeclKind::Record;
    }
  }
  bool isAlias = syntax->kind == ast::DeclKind::Type && ast::as<ast::TypeDecl>(syntax)->body == ast::TypeBody::Alias;
  Symbol symbol;
  symbol.exported = syntax->isPub;
  symbol.place = syntax->name ? syntax->name.place : syntax->place;
  if (isAlias) {
    symbol.kind = Symbol::Kind::Alias;
    symbol.index = uint32_t(aliases.size());
    AliasInfo alias;
    alias.syntax = ast::as<ast::TypeDecl>(syntax);
    alias.module = module;
    alias.id = DeclId{0x80000000u + uint32_t(aliases.size())};
    aliases.push_back(std::move(alias));
  } else {
    d.name = syntax->kind == ast::DeclKind::Test ? std::string(ast::as<ast::TestDecl>(syntax)->title) : std::string(context.text(syntax->name));
    d.module = m.name;
    d.exported = syntax->isPub;
    d.system = m.system;
    d.place = symbol.place;
    d.syntax = syntax;
    d.result = types.scalar(mica::Kind::Unit);
    symbol.kind = Symbol::Kind::Declaration;
    symbol.decl = DeclId{uint32_t(program.decls.size())};
    attributes(d, syntax);
    if (d.kind == DeclKind::Test) program.tests.push_back(symbol.decl);
    m.decls.push_back(symbol.decl);
    program.decls.push_back(std::move(d));
    infos.emplace_back();
    infos.back().syntax = syntax;
    infos.back().module = module;
  }
  if (!syntax->name || syntax->kind == ast::DeclKind::Test) return;
  auto [at, isNew] = m.symbols.try_emplace(syntax->name.id.index, symbol);
  if (!isNew) {
    const char* what = at->second.kind == Symbol::Kind::Module ? "imported" : "declared";
    context.diagnostics.error(syntax->name.span(), "`" + std::string(context.text(syntax->name)) + "` is already " + what + " at " + context.sources.describe(at->second.place));
  }
}

void Checker::attributes(Decl& d, const ast::Decl* syntax) {
  for (const ast::Attribute& a : syntax->attributes) {
    std::string_view name = context.text(a.name);
    auto string = [&]() -> std::string {
      auto* s = a.args.size() == 1 ? ast::tryAs<ast::StringExpr>(a.args[0]) : nullptr;
      if (!s) context.diagnostics.error(a.name.span(), "the attribute `" + std::string(name) + "` takes one string");
      return s ? std::string(s->text) : "";
    };
    if (!d.system) context.diagnostics.error(a.name.span(), "attributes belong to system modules");
    else if (name == "inline") d.inlineAttr = true;
    else if (name == "noinline") d.noInline = true;
    else if (name == "cold") d.cold = true;
    else if (name == "entry") d.entry = true;
    else if (name == "fill") d.fill = true;
    else if (name == "export") d.exportName = string();
    else if (name == "level") {
      auto* n = a.args.size() == 1 ? ast::tryAs<ast::IntegerExpr>(a.args[0]) : nullptr;
      d.level = n ? int(n->value) : 1;
    } else context.diagnostics.error(a.name.span(), "there is no attribute `" + std::string(name) + "`");
  }
}

// ---- names ----

const Symbol* Checker::find(uint32_t module, NameId name) {
  auto& symbols = modules.get(module).symbols;
  auto at = symbols.find(name.index);
  return at == symbols.end() ? nullptr : &at->second;
}

const Symbol* Checker::findExported(uint32_t module, const ast::Name& name, uint32_t from) {
  const Symbol* symbol = find(module, name.id);
  SourceModule& m = modules.get(module);
  std::string text(context.text(name));
  if (!symbol || symbol->kind == Symbol::Kind::Module) {
    // Failures of the library may be written behind any module that uses them.
    if (m.system) {
      if (DeclId failure = libraryFailure(name.id)) {
        failureSymbol = Symbol{Symbol::Kind::Declaration, failure, 0, true, {}};
        return &failureSymbol;
      }
    }
    std::vector<std::string> exported;
    for (const auto& [id, s] : m.symbols) {
      if (s.exported) exported.push_back(std::string(context.names.text(NameId{id})));
    }
    std::string guess = nearest(text, exported);
    auto& e = context.diagnostics.error(name.span(), "`" + m.name + "` has no `" + text + "`");
    if (!guess.empty()) e.note("perhaps `" + m.name + "." + guess + "`");
    return nullptr;
  }
  if (!symbol->exported && module != from) {
    context.diagnostics.error(name.span(), "`" + text + "` of `" + m.name + "` is not exported").note("write `pub` before its declaration at " + context.sources.describe(symbol->place));
    return nullptr;
  }
  return symbol;
}

DeclId Checker::libraryFailure(NameId name) {
  for (uint32_t i = 0; i < modules.all().size(); i++) {
    if (!modules.get(i).system) continue;
    const Symbol* symbol = find(i, name);
    if (symbol && symbol->kind == Symbol::Kind::Declaration && symbol->exported && program.get(symbol->decl).kind == DeclKind::Failure) {
      ensureSignature(symbol->decl);
      return symbol->decl;
    }
  }
  return {};
}

// Operations of the outermost scope that are plain library functions: what the module Prelude exports. Loaded when a name is found nowhere else.
DeclId Checker::preludeFunction(NameId name) {
  int prelude = modules.loadLibrary("Prelude");
  if (prelude < 0) return {};
  collectNewModules();
  const Symbol* symbol = find(uint32_t(prelude), name);
  bool exported = symbol && symbol->kind == Symbol::Kind::Declaration && symbol->exported && program.get(symbol->decl).kind == DeclKind::Function;
  return exported ? symbol->decl : DeclId{};
}

std::vector<std::string> Checker::moduleNames(uint32_t module) const {
  std::vector<std::string> out;
  if (!mayGuess()) return out;
  for (const auto& [id, s] : const_cast<Checker*>(this)->modules.get(module).symbols) out.push_back(std::string(context.names.text(NameId{id})));
  return out;
}

uint32_t Checker::caseNamed(DeclId choice, std::string_view name) {
  ensureSignature(choice);
  const Decl& d = program.get(choice);
  uint32_t count = uint32_t(d.cases.size());
  if (!d.settled) {
    uint32_t k = 0;
    while (k < count && d.cases[k].name != name) k++;
    return k;
  }
  auto& known = casesByName[choice.index];
  if (known.empty())
    for (uint32_t k = 0; k < count; k++) known.try_emplace(d.cases[k].name, k);
  auto at = known.find(name);
  return at == known.end() ? count : at->second;
}

Diagnostic& Checker::reportUnknown(Span at, std::string_view name, std::vector<std::string> candidates, const char* what) {
  auto& e = context.diagnostics.error(at, std::string("there is no ") + what + " `" + std::string(name) + "` here");
  std::string_view kind = what;
  const char* foreign = kind == "type" ? foreignType(name) : kind == "name" || kind == "function" ? foreignName(name) : nullptr;
  std::string guess = nearest(name, candidates);
  if (!guess.empty()) e.note("perhaps `" + guess + "`");
  else if (foreign) e.note(foreign);
  return e;
}

// ---- signatures ----

void Checker::drainSignatures() {
  if (signatureDepth > 0) return;
  signatureDepth++;
  while (!pendingSignatures.empty()) {
    DeclId next = pendingSignatures.back();
    pendingSignatures.pop_back();
    ensureSignature(next);
  }
  signatureDepth--;
}

void Checker::ensureSignature(DeclId id) {
  DeclInfo& i = info(id);
  if (i.signatureState != DeclInfo::State::None) return;
  if (signatureDepth > 100) {   // resolved when the outer ones are done
    pendingSignatures.push_back(id);
    return;
  }
  signatureDepth++;
  i.signatureState = DeclInfo::State::Working;
  ensureGenerics(id);
  switch (program.get(id).kind) {
    case DeclKind::Function: resolveFunction(id); break;
    case DeclKind::Record: resolveRecord(id); break;
    case DeclKind::Choice: resolveChoice(id); break;
    case DeclKind::Failure: resolveFailureDecl(id); break;
    case DeclKind::Constant: constant(id); break;
    case DeclKind::Test: program.get(id).fails = {types.scalar(mica::Kind::AnyFailure)}; break;
  }
  info(id).signatureState = DeclInfo::State::Done;
  program.get(id).settled = true;
  signatureDepth--;
  drainSignatures();
}

void Checker::resolveFunction(DeclId id) {
  auto* f = ast::as<ast::FuncDecl>(info(id).syntax);
  TypeScope scope{info(id).module, id, &info(id).generics, nullptr};
  std::set<uint32_t> seen;
  std::vector<ParamDecl> params;
  for (const ast::Param& p : f->params) {
    ParamDecl out;
    out.name = std::string(context.text(p.name));
    out.mode = Mode(uint8_t(p.mode));
    out.place = p.name.place;
    out.type = p.type ? resolveType(p.type, scope) : types.scalar(mica::Kind::Error);
    out.written = true;
    out.hasDefault = p.defaultValue != nullptr;
    out.defaultSyntax = p.defaultValue;
    if (p.name && p.name.id != word::Discard && !seen.insert(p.name.id.index).second) context.diagnostics.error(p.name.span(), "two parameters are named `" + out.name + "`");
    params.push_back(std::move(out));
  }
  Decl& d = program.get(id);
  d.params = std::move(params);
  if (f->result.type) {
    TypeId result = resolveType(f->result.type, scope);
    program.get(id).result = result;
    d.resultMode = f->result.mode == ast::Mode::Read ? ResultMode::Read : f->result.mode == ast::Mode::Inout ? ResultMode::Inout : ResultMode::Value;
  }
  std::vector<TypeId> fails;
  if (f->fails.any) {
    bool isMain = d.name == "Main" && info(id).module == 0;
    if (!isMain && !d.system) {
      auto& e = context.diagnostics.error(Span{f->fails.place, 9}, "`fails any` belongs to `Main`");
      e.note("list the failures that `" + d.name + "` passes on");
    }
    fails.push_back(types.scalar(mica::Kind::AnyFailure));
  }
  for (const ast::FailureName& name : f->fails.failures) {
    TypeId failure = resolveFailure(name, info(id).module);
    if (std::find(fails.begin(), fails.end(), failure) != fails.end()) {
      if (types.get(failure).kind != mica::Kind::Error) context.diagnostics.error(name.span(), "this failure is listed twice");
    } else {
      fails.push_back(failure);   // an unknown one too: calls then need `try`, and nothing more is said
    }
  }
  std::sort(fails.begin(), fails.end(), [&](TypeId a, TypeId b) { return types.get(a).decl < types.get(b).decl; });
  program.get(id).fails = std::move(fails);
  if (program.get(id).resultMode != ResultMode::Value && program.get(id).params.empty())
    context.diagnostics.error(d.place, "a `read` or `inout` result lies inside the first parameter, and `" + d.name + "` has none");
}

std::vector<FieldDecl> Checker::resolveFields(const ast::Seq<ast::FieldDecl>& fields, const TypeScope& scope) {
  std::vector<FieldDecl> out;
  std::set<uint32_t> seen;
  for (const ast::FieldDecl& f : fields) {
    FieldDecl field;
    field.name = std::string(context.text(f.name));
    field.type = f.type ? resolveType(f.type, scope) : types.scalar(mica::Kind::Error);
    field.place = f.name.place;
    field.hasDefault = f.defaultValue != nullptr;
    field.defaultSyntax = f.defaultValue;
    if (f.name && !seen.insert(f.name.id.index).second) context.diagnostics.error(f.name.span(), "two fields are named `" + field.name + "`");
    out.push_back(std::move(field));
  }
  return out;
}

void Checker::resolveRecord(DeclId id) {
  auto* t = ast::as<ast::TypeDecl>(info(id).syntax);
  TypeScope scope{info(id).module, id, &info(id).generics, nullptr};
  auto fields = resolveFields(t->fields, scope);
  program.get(id).fields = std::move(fields);
}

void Checker::resolveChoice(DeclId id) {
  auto* t = ast::as<ast::TypeDecl>(info(id).syntax);
  TypeScope scope{info(id).module, id, &info(id).generics, nullptr};
  std::vector<CaseDecl> cases;
  std::set<uint32_t> seen;
  for (const ast::CaseDecl& c : t->cases) {
    CaseDecl out;
    out.name = std::string(context.text(c.name));
    out.place = c.name.place;
    out.fields = resolveFields(c.fields, scope);
    if (c.name && !seen.insert(c.name.id.index).second) context.diagnostics.error(c.name.span(), "two cases are named `" + out.name + "`");
    cases.push_back(std::move(out));
  }
  if (cases.empty()) context.diagnostics.error(program.get(id).place, "a choice needs at least one case");
  program.get(id).cases = std::move(cases);
}

void Checker::resolveFailureDecl(DeclId id) {
  auto* f = ast::as<ast::FailureDecl>(info(id).syntax);
  TypeScope scope{info(id).module, id, &info(id).generics, nullptr};
  auto fields = resolveFields(f->fields, scope);
  program.get(id).fields = std::move(fields);
  program.get(id).result = types.scalar(mica::Kind::String);
}

// ---- bodies ----

Body* Checker::ensureBody(DeclId id) {
  ensureSignature(id);
  Decl& d = program.get(id);
  DeclInfo& i = info(id);
  if (i.bodyState != DeclInfo::State::None) return d.body.get();
  i.bodyState = DeclInfo::State::Working;
  bool hasBody = d.kind == DeclKind::Function || d.kind == DeclKind::Test || d.kind == DeclKind::Failure;
  if (hasBody) {
    d.body = std::make_unique<Body>();
    BodyChecker body(*this, *d.body, id, i.module);
    if (d.kind == DeclKind::Function) body.checkFunction();
    else if (d.kind == DeclKind::Test) body.checkTest();
    else body.checkFailureText();
  }
  info(id).bodyState = DeclInfo::State::Done;
  return program.get(id).body.get();
}

}  // namespace mica
