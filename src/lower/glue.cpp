// Glue functions, one for each type that needs one: drop, copy, equal, compare, hash and print, and the texts of failures.
// They call the library's generic functions for containers and themselves for parts. Zero memory is a moved or empty value.
#include "lower/function.h"

namespace mica::lower {

namespace {

// Builds one glue function. `p` and `q` are the addresses of its operands (scalars are reached by address as well).
class GlueBuilder {
 public:
  GlueBuilder(Lowering& lowering, Glue kind, TypeId t) : l(lowering), glue(kind), type(t) {}

  void build() {
    static const std::vector<ir::Type> params[] = {{ir::Ptr}, {ir::Ptr, ir::Ptr}, {ir::Ptr, ir::Ptr}, {ir::Ptr, ir::Ptr}, {ir::Ptr}, {ir::Ptr, ir::Ptr}};
    static const ir::Type results[] = {ir::Void, ir::Void, ir::I1, ir::I64, ir::I64, ir::Void};
    std::string name = l.module.nameOf(l.glue(glue, type));
    uint32_t index = ir::startFunction(l.module, name, params[size_t(glue)], results[size_t(glue)]);
    builder = std::make_unique<ir::Builder>(l.module, index);
    b().setPlace(ir::addPlace(l.module, "", 0, 0, name));
    p = b().param(0);
    if (params[size_t(glue)].size() > 1) q = b().param(1);
    switch (glue) {
      case Glue::Drop: dropValue(p, type); b().ret(); break;
      case Glue::Copy: copyValue(p, q, type); b().ret(); break;
      case Glue::Equal: b().ret(equal(p, q, type)); break;
      case Glue::Compare: b().ret(compare(p, q, type)); break;
      case Glue::Hash: b().ret(hash(p, type)); break;
      case Glue::Print: print(p, q, type); b().ret(); break;
    }
  }

 private:
  Lowering& l;
  Glue glue;
  TypeId type;
  std::unique_ptr<ir::Builder> builder;
  ValueId p, q;
  ir::Builder& b() { return *builder; }
  ValueId at(ValueId base, int64_t bytes) { return bytes ? b().padd(base, b().i64(bytes)) : base; }
  ValueId call(std::string_view module, std::string_view name, ir::Type result, std::vector<ValueId> args, std::vector<TypeId> typeArgs = {}) {
    return b().call(l.runtime(module, name, std::move(typeArgs)), result, args);
  }
  ValueId callGlue(Glue g, TypeId t, ir::Type result, std::vector<ValueId> args) { return b().call(l.glue(g, t), result, args); }
  Kind kindOf(TypeId t) { return l.get(t).kind; }

  // Runs `body` for each element of an array at p (and q).
  template <class F> void eachElement(TypeId array, F&& body) {
    const Type type = l.get(array);
    int64_t n = 0;
    l.types.isConstant(type.extents[0], &n);
    uint32_t size = l.sizeOf(type.element);
    BlockId head = b().createBlock({ir::I64}), inside = b().createBlock(), done = b().createBlock();
    b().br(head, {b().i64(0)});
    b().setBlock(head);
    ValueId i = b().param(head, 0);
    b().brIf(b().icmp(Cond::Slt, i, b().i64(n)), inside, done);
    b().setBlock(inside);
    body(b().imul(i, b().i64(size)), type.element);
    b().br(head, {b().iadd(i, b().i64(1))});
    b().setBlock(done);
  }

  // Runs `body(case)` in a block for each case of a choice, by the tag at `address`; all join afterwards.
  template <class F> void eachCase(ValueId address, TypeId choice, F&& body) {
    const Decl& d = l.program.get(l.get(choice).decl);
    BlockId done = b().createBlock(), none = b().createBlock();
    std::vector<ir::Builder::Case> cases;
    for (uint32_t c = 0; c < d.cases.size(); c++) cases.push_back({int64_t(c), b().createBlock()});
    b().switchOn(b().load(ir::I64, address), none, cases);
    for (uint32_t c = 0; c < d.cases.size(); c++) {
      b().setBlock(cases[c].block);
      body(c);
      if (!b().terminated()) b().br(done);
    }
    b().setBlock(none);
    b().br(done);
    b().setBlock(done);
  }

  template <class F> void when(ValueId condition, F&& body) {
    BlockId yes = b().createBlock(), done = b().createBlock();
    b().brIf(condition, yes, done);
    b().setBlock(yes);
    body();
    if (!b().terminated()) b().br(done);
    b().setBlock(done);
  }

  void dropValue(ValueId x, TypeId t) {
    if (!l.owns(t)) return;
    const Type type = l.get(t);
    switch (type.kind) {
      case Kind::Tensor: {
        ValueId owner = b().load(ir::Ptr, x, tensor::Owner);
        when(b().icmp(Cond::Ne, {b().emit(Op::Bitcast, ir::I64, {owner}), b().i64(0)}), [&] { call("Buffers", "Release", ir::Void, {owner}); });
        break;
      }
      case Kind::String: when(b().icmp(Cond::Ne, {b().load(ir::I64, x, sequence::Capacity), b().i64(0)}),
                              [&] { call("Memory", "Release", ir::Void, {b().load(ir::Ptr, x)}); }); break;
      case Kind::List: when(b().icmp(Cond::Ne, {b().load(ir::I64, x, sequence::Capacity), b().i64(0)}),
                            [&] { call("Lists", "Release", ir::Void, {x}, {type.element}); }); break;
      case Kind::Map: call("Maps", "Release", ir::Void, {x}, {type.key, type.element}); break;
      case Kind::Set: call("Sets", "Release", ir::Void, {x}, {type.element}); break;
      case Kind::Box: {
        ValueId block = b().load(ir::Ptr, x);
        when(b().icmp(Cond::Ne, {b().emit(Op::Bitcast, ir::I64, {block}), b().i64(0)}), [&] {
          dropValue2(block, type.element);
          call("Memory", "Release", ir::Void, {block});
        });
        break;
      }
      case Kind::Function: call("Failures", "ReleaseEnvironment", ir::Void, {b().load(ir::Ptr, x, 8)}); break;
      case Kind::AnyFailure: call("Failures", "Release", ir::Void, {b().load(ir::Ptr, x)}); break;
      case Kind::Optional: when(present(x), [&] { dropValue2(at(x, l.layout(t).offsets[1]), type.element); }); break;
      case Kind::Array: eachElement(t, [&](ValueId o, TypeId e) { dropValue2(b().padd(x, o), e); }); break;
      case Kind::Record: case Kind::Tuple: case Kind::Failure: {
        std::vector<TypeId> fields = l.fieldTypes(t);
        const Layout layout = l.layout(t);
        for (size_t k = 0; k < fields.size(); k++) dropValue2(at(x, layout.offsets[k]), fields[k]);
        break;
      }
      case Kind::Choice:
        eachCase(x, t, [&](uint32_t c) {
          std::vector<TypeId> fields = l.caseFields(t, c);
          for (uint32_t k = 0; k < fields.size(); k++) dropValue2(at(x, l.caseOffset(t, c, k)), fields[k]);
        });
        break;
      default: internalError("cannot release " + l.mangle(t));
    }
  }

  // Parts go through glue of their own, so that recursive types end.
  void dropValue2(ValueId x, TypeId t) { if (l.owns(t)) callGlue(Glue::Drop, t, ir::Void, {x}); }
  void copyPart(ir::Builder::Two places, TypeId t) {          // to, from
    auto [to, from] = places;
    if (l.owns(t)) callGlue(Glue::Copy, t, ir::Void, {to, from});
    else b().memCopy(to, from, l.sizeOf(t));
  }

  ValueId present(ValueId x) { return b().icmp(Cond::Ne, {b().load(ir::I8, x), b().iconst(ir::I8, 0)}); }

  void copyValue(ValueId to, ValueId from, TypeId t) {
    if (!l.owns(t)) { if (l.sizeOf(t)) b().memCopy(to, from, l.sizeOf(t)); return; }
    const Type type = l.get(t);
    switch (type.kind) {
      case Kind::Tensor: call("Buffers", "CopyTensor", ir::Void, {to, from, b().i64(int64_t(type.extents.size())), b().i64(l.sizeOf(type.element))}); break;
      case Kind::String: call("Text", "CopyInto", ir::Void, {to, from}); break;
      case Kind::List: call("Lists", "CopyInto", ir::Void, {to, from}, {type.element}); break;
      case Kind::Map: call("Maps", "CopyInto", ir::Void, {to, from}, {type.key, type.element}); break;
      case Kind::Set: call("Sets", "CopyInto", ir::Void, {to, from}, {type.element}); break;
      case Kind::Box: {
        ValueId block = call("Memory", "Allocate", ir::Ptr, {b().i64(l.sizeOf(type.element))});
        copyPart({block, b().load(ir::Ptr, from)}, type.element);
        b().store(block, to);
        break;
      }
      case Kind::Function: call("Failures", "CopyFunction", ir::Void, {to, from}); break;
      case Kind::Optional:
        b().memZero(to, l.sizeOf(t));
        when(present(from), [&] {
          b().store(b().iconst(ir::I8, 1), to);
          copyPart({at(to, l.layout(t).offsets[1]), at(from, l.layout(t).offsets[1])}, type.element);
        });
        break;
      case Kind::Array: eachElement(t, [&](ValueId o, TypeId e) { copyPart({b().padd(to, o), b().padd(from, o)}, e); }); break;
      case Kind::Record: case Kind::Tuple: case Kind::Failure: {
        std::vector<TypeId> fields = l.fieldTypes(t);
        const Layout layout = l.layout(t);
        for (size_t k = 0; k < type.extents.size(); k++) b().store(b().load(ir::I64, from, int64_t(8 * k)), to, int64_t(8 * k));
        for (size_t k = 0; k < fields.size(); k++) copyPart({at(to, layout.offsets[k]), at(from, layout.offsets[k])}, fields[k]);
        break;
      }
      case Kind::Choice:
        b().memZero(to, l.sizeOf(t));
        b().store(b().load(ir::I64, from), to);
        eachCase(from, t, [&](uint32_t c) {
          std::vector<TypeId> fields = l.caseFields(t, c);
          for (uint32_t k = 0; k < fields.size(); k++) copyPart({at(to, l.caseOffset(t, c, k)), at(from, l.caseOffset(t, c, k))}, fields[k]);
        });
        break;
      default: internalError("cannot copy " + l.mangle(t));
    }
  }

  // ---- equal, compare, hash: parts in order ----

  // A tracked float lies where its value does; its entry comes behind.
  bool isNumber(TypeId t) { return l.isScalar(t) || l.isTrackedFloat(t); }

  ValueId equal(ValueId x, ValueId y, TypeId t) {
    const Type type = l.get(t);
    if (isNumber(t)) {
      ir::Type s = l.irType(t);
      ValueId u = b().load(s, x), v = b().load(s, y);
      return s.isFloat() ? b().fcmp(Cond::Eq, u, v) : b().icmp(Cond::Eq, u, v);
    }
    switch (type.kind) {
      case Kind::String: return call("Text", "Equal", ir::I1, {x, y});
      case Kind::Tensor: return call("Buffers", "EqualTensors", ir::I1, {x, y, b().i64(int64_t(type.extents.size()))}, {l.types.unmarked(type.element)});
      case Kind::List: return call("Lists", "Equal", ir::I1, {x, y}, {type.element});
      case Kind::Map: return call("Maps", "Equal", ir::I1, {x, y}, {type.key, type.element});
      case Kind::Set: return call("Sets", "Equal", ir::I1, {x, y}, {type.element});
      case Kind::Box: return equalPart({b().load(ir::Ptr, x), b().load(ir::Ptr, y)}, type.element);
      default: return allEqual(x, y, t);
    }
  }
  ValueId equalPart(ir::Builder::Two places, TypeId t) {
    auto [x, y] = places;
    return l.isScalar(t) ? equal(x, y, t) : callGlue(Glue::Equal, t, ir::I1, {x, y});
  }

  // Compares part after part; a difference returns false at once.
  ValueId allEqual(ValueId x, ValueId y, TypeId t) {
    const Type type = l.get(t);
    auto require = [&](ValueId same) {
      BlockId differs = b().createBlock(), on = b().createBlock();
      b().brIf(same, on, differs);
      b().setBlock(differs);
      b().ret(b().iconst(ir::I1, 0));
      b().setBlock(on);
    };
    auto parts = [&](const std::vector<TypeId>& fields, auto offsetOf) {
      for (uint32_t k = 0; k < fields.size(); k++) require(equalPart({at(x, offsetOf(k)), at(y, offsetOf(k))}, fields[k]));
    };
    switch (type.kind) {
      case Kind::Optional:
        require(b().icmp(Cond::Eq, {b().load(ir::I8, x), b().load(ir::I8, y)}));
        when(present(x), [&] { require(equalPart({at(x, l.layout(t).offsets[1]), at(y, l.layout(t).offsets[1])}, type.element)); });
        break;
      case Kind::Array: eachElement(t, [&](ValueId o, TypeId e) { require(equalPart({b().padd(x, o), b().padd(y, o)}, e)); }); break;
      case Kind::Record: case Kind::Tuple: case Kind::Failure: {
        const Layout layout = l.layout(t);
        parts(l.fieldTypes(t), [&](uint32_t k) { return layout.offsets[k]; });
        break;
      }
      case Kind::Choice:
        require(b().icmp(Cond::Eq, {b().load(ir::I64, x), b().load(ir::I64, y)}));
        eachCase(x, t, [&](uint32_t c) { parts(l.caseFields(t, c), [&](uint32_t k) { return l.caseOffset(t, c, k); }); });
        break;
      default: internalError("no equality for " + l.mangle(t));
    }
    return b().iconst(ir::I1, 1);
  }

  ValueId compare(ValueId x, ValueId y, TypeId t) {
    const Type type = l.get(t);
    if (isNumber(t)) {
      ir::Type s = l.irType(t);
      ValueId u = b().load(s, x), v = b().load(s, y), one = b().i64(1), zero = b().i64(0), minus = b().i64(-1);
      bool isUnsigned = type.kind >= Kind::UInt8 && type.kind <= Kind::UInt64;
      if (type.kind == Kind::Char || type.kind == Kind::Bool) isUnsigned = true;
      ValueId less = s.isFloat() ? b().fcmp(Cond::Lt, u, v) : b().icmp(isUnsigned ? Cond::Ult : Cond::Slt, u, v);
      ValueId more = s.isFloat() ? b().fcmp(Cond::Gt, u, v) : b().icmp(isUnsigned ? Cond::Ugt : Cond::Sgt, u, v);
      ValueId order = b().select(less, minus, b().select(more, one, zero));
      if (!s.isFloat()) return order;
      // NaN comes last and equals itself, so that sorting has a total order.
      ValueId xNan = b().emit(Op::ZExt, ir::I64, {b().fcmp(Cond::Ne, u, u)}), yNan = b().emit(Op::ZExt, ir::I64, {b().fcmp(Cond::Ne, v, v)});
      return b().select({b().icmp(Cond::Ne, xNan, yNan), b().isub(xNan, yNan), order});
    }
    auto comparePart = [&](ir::Builder::Two places, TypeId part) {   // the first parts that differ decide
      ValueId order = callGlue(Glue::Compare, part, ir::I64, {places.a, places.b});
      BlockId differs = b().createBlock(), on = b().createBlock();
      b().brIf(b().icmp(Cond::Ne, order, b().i64(0)), differs, on);
      b().setBlock(differs);
      b().ret(order);
      b().setBlock(on);
    };
    switch (type.kind) {
      case Kind::String: return call("Text", "Compare", ir::I64, {x, y});
      case Kind::List: return call("Lists", "Compare", ir::I64, {x, y}, {type.element});
      case Kind::Array:
        eachElement(t, [&](ValueId o, TypeId e) { comparePart({b().padd(x, o), b().padd(y, o)}, e); });
        return b().i64(0);
      case Kind::Tuple: case Kind::Record: {
        std::vector<TypeId> fields = l.fieldTypes(t);
        const Layout layout = l.layout(t);
        for (size_t k = 0; k < fields.size(); k++) comparePart({at(x, layout.offsets[k]), at(y, layout.offsets[k])}, fields[k]);
        return b().i64(0);
      }
      default: internalError("no order for " + l.mangle(t));
    }
  }

  // Joins a part's hash to the hash in the slot.
  void joinPart(ValueId sum, ValueId part, TypeId t) {
    ValueId before = b().load(ir::I64, sum), hash = callGlue(Glue::Hash, t, ir::I64, {part});
    b().store(join(before, hash), sum);
  }

  ValueId hash(ValueId x, TypeId t) {
    const Type type = l.get(t);
    if (isNumber(t)) {
      ir::Type s = l.irType(t);
      ValueId v = b().load(s, x);
      if (s == ir::I1 || s.kind == ir::TypeKind::I8 || s.kind == ir::TypeKind::I16 || s.kind == ir::TypeKind::I32) v = b().emit(Op::ZExt, ir::I64, {v});
      else if (s.isFloat()) return call("Hashing", s == ir::F32 ? "Float32" : "Float64", ir::I64, {v});
      return call("Hashing", "Word", ir::I64, {v});
    }
    switch (type.kind) {
      case Kind::String: return call("Hashing", "Text", ir::I64, {x});
      case Kind::Tuple: case Kind::Record: {
        std::vector<TypeId> fields = l.fieldTypes(t);
        const Layout layout = l.layout(t);
        ValueId h = b().i64(int64_t(fields.size()));
        for (size_t k = 0; k < fields.size(); k++) h = join(h, callGlue(Glue::Hash, fields[k], ir::I64, {at(x, layout.offsets[k])}));
        return h;
      }
      case Kind::Array: {
        ValueId sum = b().slotAddr(b().slot(8, 8));
        b().store(b().i64(0), sum);
        eachElement(t, [&](ValueId o, TypeId e) { joinPart(sum, b().padd(x, o), e); });
        return b().load(ir::I64, sum);
      }
      case Kind::Choice: {
        ValueId sum = b().slotAddr(b().slot(8, 8));
        b().store(b().load(ir::I64, x), sum);
        eachCase(x, t, [&](uint32_t c) {
          std::vector<TypeId> fields = l.caseFields(t, c);
          for (uint32_t k = 0; k < fields.size(); k++) joinPart(sum, at(x, l.caseOffset(t, c, k)), fields[k]);
        });
        return b().load(ir::I64, sum);
      }
      case Kind::Optional: {
        ValueId sum = b().slotAddr(b().slot(8, 8));
        b().store(b().emit(Op::ZExt, ir::I64, {b().load(ir::I8, x)}), sum);
        when(present(x), [&] { joinPart(sum, at(x, l.layout(t).offsets[1]), type.element); });
        return b().load(ir::I64, sum);
      }
      case Kind::Box: return callGlue(Glue::Hash, type.element, ir::I64, {b().load(ir::Ptr, x)});
      case Kind::List: return call("Lists", "Hash", ir::I64, {x}, {type.element});
      default: internalError("no hash for " + l.mangle(t));
    }
  }
  ValueId join(ValueId a, ValueId c) { return call("Hashing", "Join", ir::I64, {a, c}); }

  // ---- print: appends the text of a value to the string at `to` ----

  void literal(ValueId to, const std::string& s) {
    call("Format", "AppendBytes", ir::Void, {to, b().symAddr(l.stringData(s)), b().i64(int64_t(s.size()))});
  }

  void print(ValueId to, ValueId x, TypeId t) {
    const Type type = l.get(t);
    if (l.isScalar(t) || type.kind == Kind::Float32 || type.kind == Kind::Float64) return printScalar(to, x, type);
    auto parts = [&](const std::vector<TypeId>& fields, auto offsetOf, auto nameOf) {
      for (uint32_t k = 0; k < fields.size(); k++) {
        literal(to, (k ? ", " : "") + nameOf(k));
        printPart(to, at(x, offsetOf(k)), fields[k]);
      }
    };
    switch (type.kind) {
      case Kind::String: call("Format", "AppendText", ir::Void, {to, x, b().i64(0)}); break;
      case Kind::List: call("Lists", "Print", ir::Void, {to, x}, {type.element}); break;
      case Kind::Map: call("Maps", "Print", ir::Void, {to, x}, {type.key, type.element}); break;
      case Kind::Set: call("Sets", "Print", ir::Void, {to, x}, {type.element}); break;
      case Kind::Tensor: call("Buffers", "Print", ir::Void, {to, x, b().i64(int64_t(type.extents.size()))}, {l.types.unmarked(type.element)}); break;
      case Kind::Box: printPart(to, b().load(ir::Ptr, x), type.element); break;
      case Kind::AnyFailure: call("Failures", "AppendText", ir::Void, {to, b().load(ir::Ptr, x)}); break;
      case Kind::Failure: {
        ValueId text = b().slotAddr(b().slot(sequence::Bytes, 8));
        ValueId args[] = {text, x};
        b().call(l.failureText(t), ir::Void, args);
        call("Format", "AppendText", ir::Void, {to, text, b().i64(0)});
        callGlue(Glue::Drop, l.types.scalar(Kind::String), ir::Void, {text});
        break;
      }
      case Kind::Optional: {
        BlockId some = b().createBlock(), none = b().createBlock(), done = b().createBlock();
        b().brIf(present(x), some, none);
        b().setBlock(none);
        literal(to, "none");
        b().br(done);
        b().setBlock(some);
        printPart(to, at(x, l.layout(t).offsets[1]), type.element);
        b().br(done);
        b().setBlock(done);
        break;
      }
      case Kind::Array: {
        literal(to, "[");
        eachElement(t, [&](ValueId o, TypeId e) {
          when(b().icmp(Cond::Ne, o, b().i64(0)), [&] { literal(to, ", "); });
          printPart(to, b().padd(x, o), e);
        });
        literal(to, "]");
        break;
      }
      case Kind::Tuple: {
        const Layout layout = l.layout(t);
        literal(to, "(");
        parts(l.fieldTypes(t), [&](uint32_t k) { return layout.offsets[k]; }, [](uint32_t) { return std::string(); });
        literal(to, ")");
        break;
      }
      case Kind::Record: {
        const Layout layout = l.layout(t);
        const Decl& d = l.program.get(type.decl);
        // A library module may say itself how its type prints: `AppendDuration(inout text, d)`.
        if (d.system && type.args.empty() && l.program.find(d.module, "Append" + d.name)) { call(d.module, "Append" + d.name, ir::Void, {to, x}); break; }
        literal(to, d.name + "(");
        parts(l.fieldTypes(t), [&](uint32_t k) { return layout.offsets[k]; }, [&](uint32_t k) { return d.fields[k].name + ": "; });
        literal(to, ")");
        break;
      }
      case Kind::Choice: {
        const Decl& d = l.program.get(type.decl);
        eachCase(x, t, [&](uint32_t c) {
          std::vector<TypeId> fields = l.caseFields(t, c);
          literal(to, d.cases[c].name + (fields.empty() ? "" : "("));
          parts(fields, [&](uint32_t k) { return l.caseOffset(t, c, k); }, [&](uint32_t k) { return d.cases[c].fields[k].name + ": "; });
          if (!fields.empty()) literal(to, ")");
        });
        break;
      }
      default: internalError("cannot print " + l.mangle(t));
    }
  }
  void printPart(ValueId to, ValueId x, TypeId t) {
    if (l.get(t).kind == Kind::String) { call("Format", "AppendQuoted", ir::Void, {to, x}); return; }
    callGlue(Glue::Print, t, ir::Void, {to, x});
  }

  void printScalar(ValueId to, ValueId x, const Type& type) {
    ValueId plain = b().i64(0);
    switch (type.kind) {
      case Kind::Bool: call("Format", "AppendBool", ir::Void, {to, b().load(ir::I1, x), plain}); break;
      case Kind::Char: call("Format", "AppendChar", ir::Void, {to, b().load(ir::I32, x), plain}); break;
      case Kind::Float32: call("Format", "AppendFloat32", ir::Void, {to, b().load(ir::F32, x), plain}); break;
      case Kind::Float64: call("Format", "AppendFloat64", ir::Void, {to, b().load(ir::F64, x), plain}); break;
      case Kind::Pointer: call("Format", "AppendUnsigned", ir::Void, {to, b().load(ir::I64, x), plain}); break;
      default: {
        ir::Type s = type.kind == Kind::Int8 || type.kind == Kind::UInt8 ? ir::I8 : type.kind == Kind::Int16 || type.kind == Kind::UInt16 ? ir::I16
                   : type.kind == Kind::Int32 || type.kind == Kind::UInt32 ? ir::I32 : ir::I64;
        bool isSigned = type.kind >= Kind::Int8 && type.kind <= Kind::Int64;
        ValueId v = b().load(s, x);
        if (s != ir::I64) v = b().emit(isSigned ? Op::SExt : Op::ZExt, ir::I64, {v});
        call("Format", isSigned ? "AppendInt" : "AppendUnsigned", ir::Void, {to, v, plain});
      }
    }
  }
};

}  // namespace

void Lowering::lowerGlue(const GlueJob& job) { GlueBuilder(*this, job.glue, job.type).build(); }

// The text of a failure: its declaration's body is a function from the payload's fields to a string.
void Lowering::lowerFailureText(TypeId t) {
  const Type type = get(t);
  Instance i;
  i.decl = type.decl;
  i.typeArgs = type.args;
  const Decl& d = program.get(type.decl);
  i.extents.assign(d.extentParams.size(), -1);
  i.params = fieldTypes(t);
  if (!d.body && !(options.ensureBody && options.ensureBody(type.decl))) return;
  ir::SymbolId text = module.symbol("text." + d.module + "." + d.name);
  FunctionLowering(*this, i, text).lowerFunction();

  uint32_t index = ir::startFunction(module, module.nameOf(failureTexts[t]), {ir::Ptr, ir::Ptr}, ir::Void);
  ir::Builder b(module, index);
  b.setPlace(place(d.place, d.name));
  std::vector<ValueId> args{b.param(0)};
  const Layout l = layout(t);
  std::vector<TypeId> fields = fieldTypes(t);
  for (size_t k = 0; k < fields.size(); k++)
    args.push_back(isScalar(fields[k]) ? b.load(irType(fields[k]), b.param(1), l.offsets[k]) : b.padd({b.param(1), b.i64(l.offsets[k])}));
  b.call(text, ir::Void, args);
  b.ret();
}

}  // namespace mica::lower
