// The work list of lowering, and the symbols of instances.
#include "lower/lowering.h"

#include <algorithm>

#include "frontend/vocabulary.h"
#include "lower/function.h"

namespace mica::lower {

Lowering::Lowering(Program& p, Marks& m, const SourceFiles& s, Diagnostics& d, const Options& o, ir::Module& out)
    : program(p), types(p.types), marks(m), sources(s), diagnostics(d), options(o), module(out) {}

ir::PlaceId Lowering::place(Place p, const std::string& function) {
  if (p.file == 0) return ir::addPlace(module, "", 0, 0, function);
  // The program names its files without their folders, so that its bytes do not depend on where it was compiled.
  std::string_view file = sources.shown(p.file);
  if (!sources.isSystem(p.file)) file.remove_prefix(file.rfind('/') + 1);
  return ir::addPlace(module, std::string(file), p.line, p.column, function);
}

std::string Lowering::instanceName(const Instance& i) {
  const Decl& d = program.get(i.decl);
  if (!d.exportName.empty()) return d.exportName;
  std::string name = d.module + "." + d.name;
  std::string inner;
  for (TypeId t : i.typeArgs) inner += (inner.empty() ? "" : ",") + mangle(t);
  for (int64_t n : i.extents) if (n >= 0) inner += (inner.empty() ? "" : ",") + std::to_string(n);
  if (!inner.empty()) name += "[" + inner + "]";
  std::string marked;
  for (size_t k = 0; k < i.params.size(); k++)
    if (types.unmarked(i.params[k]) != i.params[k]) marked += (marked.empty() ? "" : ",") + std::to_string(k) + ":" + mangle(i.params[k]);
  if (i.window) marked += "+";
  return marked.empty() ? name : name + "{" + marked + "}";
}

ir::SymbolId Lowering::instanceSymbol(const Instance& i) {
  auto it = instances.find(i);
  if (it != instances.end()) return it->second;
  std::string name = instanceName(i);
  ir::SymbolId s = module.symbol(name);
  instances.emplace(i, s);
  // A small function that is to be inlined is lowered again; the driver drops its copy afterwards.
  if (!isPrecompiled(name) || program.get(i.decl).inlineAttr) queue.push_back(i);
  return s;
}

Instance Lowering::calleeOf(const Instance& caller, ExprId call, const Body& body, const std::vector<ExtentId>& callerExtents) {
  Instance target = marks.calleeOf(caller, call);
  for (TypeId& t : target.typeArgs) t = canonical(types.substitute(t, caller.decl, {}, callerExtents));
  for (TypeId& t : target.params) t = canonical(types.substitute(t, caller.decl, {}, callerExtents));
  const Decl& callee = program.get(target.decl);
  target.extents.assign(callee.extentParams.size(), -1);
  if (target.extents.empty()) return target;
  const std::vector<char>& needed = fixedExtents(target.decl);
  const Expr& e = body.exprs[call.index];
  for (uint32_t k = 0; k < needed.size(); k++) {
    if (!needed[k]) continue;
    ExtentId value = calleeExtent(e, body, k);
    int64_t n = 0;
    if (value) value = types.substitute(value, caller.decl, callerExtents);
    if (!value || !types.isConstant(value, &n)) {
      if (!diagnostics.hasErrors())
        diagnostics.error(Span{e.start, e.length}, "`" + callee.name + "` is compiled for each length of an array, and `" + callee.extentParams[k] + "` is known only at run time here")
          .note("give it a constant, or let `" + callee.name + "` use a list");
      n = 1;                                     // nothing is made of a program with errors
    }
    target.extents[k] = n;
  }
  return target;
}

// What the k-th extent name of the callee stands for, in the caller's names; nothing when only the values know it.
ExtentId Lowering::calleeExtent(const Expr& call, const Body& body, uint32_t k) {
  const Decl& callee = program.get(call.callee);
  ExtentId value;
  if (k < call.extentArgs.size() && call.extentArgs[k].from == ExtentArg::From::Known) value = call.extentArgs[k].known;
  if (k < call.extentArgs.size() && call.extentArgs[k].from == ExtentArg::From::Value) {
    const Expr& v = body.exprs[call.extentArgs[k].value.index];
    if (v.kind == ExprKind::Int) value = types.constant(v.intValue);
    if (v.kind == ExprKind::ExtentValue) value = v.extent;
  }
  // Otherwise the first argument that shows the name in an array, simd or tensor extent.
  for (size_t p = 0; p < callee.params.size() && p < call.children.size() && !value; p++)
    if (call.children[p]) value = findExtent(callee.params[p].type, body.exprs[call.children[p].index].type, call.callee, k);
  return value;
}

TypeId Lowering::fixExtents(TypeId t, const Instance& i) {
  const Decl& d = program.get(i.decl);
  std::vector<ExtentId> known;
  bool any = false;
  for (uint32_t k = 0; k < d.extentParams.size(); k++) {
    bool fixed = k < i.extents.size() && i.extents[k] >= 0;
    known.push_back(fixed ? types.constant(i.extents[k]) : types.name(i.decl, k, d.extentParams[k]));
    any |= fixed;
  }
  return any && t ? types.substitute(t, i.decl, {}, known) : t;
}

// The part of `actual` that stands where `pattern` has the k-th extent name of `decl`.
ExtentId Lowering::findExtent(TypeId pattern, TypeId actual, DeclId decl, uint32_t k) {
  if (!pattern || !actual) return {};
  const Type p = get(pattern), a = get(actual);
  if (p.kind != a.kind) return {};
  ExtentId name = types.name(decl, k, program.get(decl).extentParams[k]);
  for (size_t i = 0; i < p.extents.size() && i < a.extents.size(); i++)
    if (p.extents[i] == name && !types.isOpen(a.extents[i])) return a.extents[i];
  if (ExtentId e = findExtent(p.element, a.element, decl, k)) return e;
  for (size_t i = 0; i < p.args.size() && i < a.args.size(); i++)
    if (ExtentId e = findExtent(p.args[i], a.args[i], decl, k)) return e;
  return findExtent(p.result, a.result, decl, k);
}

Instance Lowering::runtimeInstance(std::string_view moduleName, std::string_view name, std::vector<TypeId> typeArgs, std::vector<int64_t> extents) {
  DeclId d = options.require(moduleName, name);
  if (!d) internalError("the library has no " + std::string(moduleName) + "." + std::string(name));
  const Decl& decl = program.get(d);
  Instance i;
  i.decl = d;
  for (TypeId t : typeArgs) i.typeArgs.push_back(canonical(t));
  i.extents = extents.empty() ? std::vector<int64_t>(decl.extentParams.size(), -1) : std::move(extents);
  for (const ParamDecl& p : decl.params) i.params.push_back(types.substitute(p.type, d, i.typeArgs, {}));
  return i;
}

ir::SymbolId Lowering::runtime(std::string_view moduleName, std::string_view name, std::vector<TypeId> typeArgs) {
  return instanceSymbol(runtimeInstance(moduleName, name, std::move(typeArgs)));
}

ir::SymbolId Lowering::glue(Glue g, TypeId t) {
  auto key = std::pair(uint8_t(g), canonical(t));
  auto it = glues.find(key);
  if (it != glues.end()) return it->second;
  static const char* names[] = {"drop", "copy", "equal", "compare", "hash", "print"};
  std::string name = std::string(names[size_t(g)]) + "[" + mangle(key.second) + "]";
  ir::SymbolId s = module.symbol(name);
  glues.emplace(key, s);
  if (!isPrecompiled(name)) glueQueue.push_back({g, key.second});
  return s;
}

ir::SymbolId Lowering::failureText(TypeId t) {
  auto it = failureTexts.find(t);
  if (it != failureTexts.end()) return it->second;
  std::string name = "text[" + mangle(t) + "]";
  ir::SymbolId s = module.symbol(name);
  failureTexts.emplace(t, s);
  if (!isPrecompiled(name)) failureTextQueue.push_back(t);
  return s;
}

ir::SymbolId Lowering::failureId(DeclId failure) {
  const Decl& d = program.get(failure);
  std::string name = "failure." + d.module + "." + d.name;
  ir::SymbolId s = module.symbol(name);
  if (module.symbols[s.index].kind == ir::SymbolKind::External && !isPrecompiled(name)) module.addData(name).bytes = d.name;
  return s;
}

ir::SymbolId Lowering::stringData(std::string_view text) {
  auto it = strings.find(std::string(text));
  if (it != strings.end()) return it->second;
  // Named by content, so that the same literal in two objects is one symbol wherever it was compiled.
  uint64_t h = 14695981039346656037u;
  for (unsigned char c : text) h = (h ^ c) * 1099511628211u;
  char hex[24];
  snprintf(hex, sizeof hex, "%016llx", static_cast<unsigned long long>(h));
  std::string name = std::string("str.") + hex + "." + std::to_string(text.size());
  while (module.byName.count(name)) name += "'";
  ir::SymbolId s = module.symbol(name);
  strings.emplace(std::string(text), s);
  if (!isPrecompiled(name)) {
    ir::Data& data = module.addData(name);
    data.bytes = std::string(text);
    data.align = 1;
  }
  return s;
}

void Lowering::run() {
  while (true) {
    if (!queue.empty()) {
      Instance i = queue.front();
      queue.pop_front();
      if (!program.get(i.decl).body && !(options.ensureBody && options.ensureBody(i.decl))) continue;
      if (diagnostics.hasErrors()) continue;
      WorkingOn working(instanceName(i));
      FunctionLowering(*this, i, module.symbol(instanceName(i))).lowerFunction();
    } else if (!glueQueue.empty()) {
      GlueJob job = glueQueue.front();
      glueQueue.pop_front();
      lowerGlue(job);
    } else if (!failureTextQueue.empty()) {
      TypeId t = failureTextQueue.front();
      failureTextQueue.pop_front();
      lowerFailureText(t);
    } else {
      return;
    }
  }
}

namespace {

// `mica.main`: answers the failure that left Main, or 0.
void addMain(Lowering& lowering, ir::SymbolId target, bool fails) {
  uint32_t index = ir::startFunction(lowering.module, "mica.main", {}, ir::Ptr);
  ir::Builder b(lowering.module, index);
  b.setPlace(ir::addPlace(lowering.module, "", 0, 0, "Main"));
  if (fails) {
    b.ret(b.call(target, ir::Ptr, {}));
  } else {
    b.call(target, ir::Void, {});
    b.ret(b.emit(Op::Bitcast, ir::Ptr, {b.i64(0)}));
  }
}

Instance plainInstance(Program& program, DeclId d) {
  Instance i;
  i.decl = d;
  const Decl& decl = program.get(d);
  i.extents.assign(decl.extentParams.size(), -1);
  for (const ParamDecl& p : decl.params) i.params.push_back(p.type);
  return i;
}

}  // namespace

bool lowerProgram(Program& program, Marks& marks, const SourceFiles& sources, Diagnostics& diagnostics, const Options& options, ir::Module& module) {
  Lowering lowering(program, marks, sources, diagnostics, options, module);
  lowering.runtime("Start", "Entry");
  lowering.runtime("Trap", "Raise");             // what trapping instructions call
  addMain(lowering, lowering.instanceSymbol(plainInstance(program, program.main)), lowering.canFail(program.get(program.main)));
  lowering.run();
  return !diagnostics.hasErrors();
}

bool lowerTests(Program& program, Marks& marks, const SourceFiles& sources, Diagnostics& diagnostics, const Options& options, ir::Module& module) {
  Lowering lowering(program, marks, sources, diagnostics, options, module);
  lowering.runtime("Start", "Entry");
  lowering.runtime("Trap", "Raise");             // what trapping instructions call
  uint32_t index = ir::startFunction(module, "mica.main", {}, ir::Ptr);
  for (DeclId t : program.tests) {
    const Decl& d = program.get(t);
    ir::SymbolId name = lowering.stringData(d.name), test = lowering.instanceSymbol(plainInstance(program, t));
    ir::SymbolId report = lowering.runtime("Testing", "Report");
    ir::Builder b(module, index);
    b.setPlace(lowering.place(d.place, d.name));
    ValueId failure = lowering.canFail(d) ? b.call(test, ir::Ptr, {}) : (b.call(test, ir::Void, {}), b.emit(Op::Bitcast, ir::Ptr, {b.i64(0)}));
    ValueId args[] = {b.symAddr(name), b.i64(int64_t(d.name.size())), failure};
    b.call(report, ir::Void, args);
  }
  ir::Builder b(module, index);
  b.call(lowering.runtime("Testing", "Finish"), ir::Void, {});
  b.ret(b.emit(Op::Bitcast, ir::Ptr, {b.i64(0)}));
  lowering.run();
  return !diagnostics.hasErrors();
}

bool lowerLibrary(Program& program, Marks& marks, const SourceFiles& sources, Diagnostics& diagnostics, const Options& options, ir::Module& module) {
  Lowering lowering(program, marks, sources, diagnostics, options, module);
  for (uint32_t k = 0; k < program.decls.size(); k++) {
    const Decl& d = program.decls[k];
    if (d.kind != DeclKind::Function || !d.system) continue;
    options.require(d.module, d.name);          // which reads its signature: what it is generic over
    if (!d.typeParams.empty()) continue;
    Instance i = plainInstance(program, DeclId(k));
    const std::vector<char>& fixed = lowering.fixedExtents(DeclId(k));   // an extent that a layout depends on makes it one for each value
    if (std::find(fixed.begin(), fixed.end(), 1) == fixed.end()) lowering.instanceSymbol(i);
  }
  // The vocabulary's kernels for both float types: what nearly every program calls.
  for (const vocabulary::Row& row : vocabulary::rows())
    for (const char* pattern : {row.forward, row.backward}) {
      if (!pattern) continue;
      std::string_view call = pattern;
      std::string_view module = call.substr(0, call.find('.')), name = call.substr(module.size() + 1, call.find('(') - module.size() - 1);
      DeclId d = options.require(module, name);
      if (!d) internalError("the library has no kernel " + std::string(module) + "." + std::string(name));
      for (Kind kind : {Kind::Float32, Kind::Float64})
        lowering.runtime(module, name, std::vector<TypeId>(program.get(d).typeParams.size(), program.types.scalar(kind)));
    }
  lowering.run();
  return !diagnostics.hasErrors();
}

}  // namespace mica::lower
