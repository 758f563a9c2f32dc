// Operations of the vocabulary: shapes from the row's signature, the forward kernel's call, and the tape's record with its backward thunk.
#include <algorithm>
#include <cctype>

#include "frontend/signature.h"
#include "frontend/words.h"
#include "lower/function.h"

namespace mica::lower {

using vocabulary::Row;
using vocabulary::Rule;

namespace {

// One operand or the result during a call: where its struct (or value) lies.
struct Operand {
  enum class Form : uint8_t { Absent, Tensor, Float, Scalar } form = Form::Absent;
  TypeId type;             // plain
  TypeId element;          // of tensors and floats
  int rank = 0;
  bool tracked = false;
  ValueId address;         // Tensor: the struct; Float: the value; Scalar: none
  ValueId value;           // Scalar
  ValueId node;            // tracked: its entry, forward
};

// Evaluates the terms of a call pattern; used for the forward call and inside the backward thunk.
class PatternCall {
 public:
  Lowering& l;
  ir::Builder& b;
  const Signature& signature;
  std::vector<Operand> operands;
  Operand out;
  std::vector<std::pair<std::string, ValueId>> names;    // batch, m, k, n …
  ValueId upstream, saved;
  std::function<ValueId(ValueId)> save;                  // forward: bytes -> pointer
  std::function<ValueId(size_t)> gradient;               // backward: operand -> pointer or null
  TypeId element;                                        // F

  PatternCall(Lowering& lowering, ir::Builder& builder, const Signature& s) : l(lowering), b(builder), signature(s) {}

  ValueId null() { return b.emit(Op::Bitcast, ir::Ptr, {b.i64(0)}); }
  const Operand* find(const std::string& name, size_t* index = nullptr) {
    if (name == "out") return &out;
    for (size_t k = 0; k < signature.params.size(); k++)
      if (signature.params[k].name == name) { if (index) *index = k; return &operands[k]; }
    return nullptr;
  }
  ValueId extent(const Operand& o, int k) { return o.form == Operand::Form::Tensor ? b.load(ir::I64, o.address, tensor::Extents + 8 * k) : b.i64(1); }
  ValueId count(const Operand& o) {
    if (o.form == Operand::Form::Absent) return b.i64(0);
    ValueId n = b.i64(1);
    for (int k = 0; k < o.rank; k++) n = b.imul(n, extent(o, k));
    return n;
  }

  ValueId term(WordReader& r) {
    ValueId v = factor(r);
    while (r.eat("*")) v = b.imul(v, factor(r));
    return v;
  }

  ValueId factor(WordReader& r) {
    std::string name = r.word();
    if (name.empty()) internalError("a broken call pattern in the vocabulary");
    if (isdigit(static_cast<unsigned char>(name[0]))) return b.i64(std::stoll(name));
    if (name == "save") {
      r.eat("(");
      ValueId n = term(r);
      r.eat(")");
      return save(b.imul(n, b.i64(l.sizeOf(element))));
    }
    if (name == "grad") {
      r.eat("(");
      size_t k = 0;
      std::string of = r.word();
      if (!find(of, &k)) internalError("grad of an unknown operand " + of);
      r.eat(")");
      return gradient(k);
    }
    if (name == "saved") return saved;
    if (name == "gout") { r.eat(".data"); return upstream; }
    for (auto& [n, v] : names) if (n == name) return v;
    const Operand* o = find(name);
    if (!o) internalError("the vocabulary's pattern names " + name + ", which its signature lacks");
    if (!r.eat(".")) {
      if (o->form == Operand::Form::Scalar) return o->value;
      if (o->form == Operand::Form::Float) return b.load(l.irType(o->element), o->address);
      internalError("the operand " + name + " is no scalar");
    }
    std::string property = r.word();
    if (property == "data") {
      if (o->form == Operand::Form::Absent) return null();
      return o->form == Operand::Form::Tensor ? b.load(ir::Ptr, o->address) : o->address;
    }
    if (property == "count") return count(*o);
    if (property == "last") return o->rank ? extent(*o, o->rank - 1) : b.i64(1);
    if (property == "rows") {
      ValueId n = b.i64(1);
      for (int k = 0; k + 1 < o->rank; k++) n = b.imul(n, extent(*o, k));
      return n;
    }
    if (property == "inner") return o->rank > 1 ? extent(*o, o->rank - 2) : b.i64(1);
    if (property == "lead") {
      ValueId n = b.i64(1);
      for (int k = 0; k + 2 < o->rank; k++) n = b.imul(n, extent(*o, k));
      return n;
    }
    if (property == "extent") {
      r.eat("(");
      int k = std::stoi(r.word());
      r.eat(")");
      return extent(*o, k);
    }
    internalError("the vocabulary's pattern asks for " + name + "." + property);
  }

  void call(const char* pattern) {
    WordReader r(pattern);
    std::string module = r.word();
    r.eat(".");
    std::string function = r.word();
    r.eat("(");
    std::vector<ValueId> args;
    while (!r.eat(")")) { args.push_back(term(r)); r.eat(","); }
    Kind kind = l.get(element).kind;
    if (kind >= Kind::Int8 && kind <= Kind::UInt64 && (module == "Unary" || module == "Binary" || module == "Sums")) module = "Integers";
    DeclId d = l.options.require(module, function);
    if (!d) internalError("the library has no kernel " + module + "." + function);
    std::vector<TypeId> typeArgs(l.program.get(d).typeParams.size(), element);
    b.call(l.runtime(module, function, typeArgs), ir::Void, args);
  }
};

}  // namespace

// The entry of a tracked operand in the current window; a value from outside becomes a leaf.
static ValueId nodeOf(Lowering& l, ir::Builder& b, const Operand& o, ValueId pairAddress) {
  if (o.form == Operand::Form::Tensor) {
    ValueId n = b.i64(1);
    for (int k = 0; k < o.rank; k++) n = b.imul(n, b.load(ir::I64, o.address, tensor::Extents + 8 * k));
    ValueId args[] = {b.load(ir::Ptr, o.address, tensor::Owner), n, b.i64(l.sizeOf(o.element))};
    return b.call(l.runtime("Tape", "NodeOfBuffer"), ir::I64, args);
  }
  ValueId args[] = {pairAddress, b.i64(l.sizeOf(o.element))};
  return b.call(l.runtime("Tape", "NodeOfScalar"), ir::I64, args);
}

void FunctionLowering::vocabularyInto(ExprId id, ValueId dest) {
  const Expr& e = expr(id);
  rowInto(*e.row, e.children, typeOf(id), recordedAt(id), e.place, dest);
}

ValueId FunctionLowering::vocabularyScalar(ExprId id) {
  const Expr& e = expr(id);
  TypeId t = typeOf(id);
  if (e.row->scalar && isScalar(t)) {
    bool allScalars = true;
    for (ExprId c : e.children) allScalars &= !c || isScalar(types.unmarked(typeOf(c)));
    if (allScalars) {
      if (std::string_view(e.row->name) == "Sqrt") { ValueId x = scalar(e.children[0]); at(e.place); return b().unary(Op::FSqrt, x); }
      // "Math.Exp": the single-number function of float32; Math64 has those of float64. Where there is none the tensor kernel serves.
      std::string name = std::string(e.row->scalar).substr(5);
      std::string_view module = l.get(t).kind == Kind::Float64 ? "Math64" : "Math";
      if (l.options.require(module, name)) {
        std::vector<ValueId> args;
        for (ExprId c : e.children) if (c) args.push_back(scalar(c));
        at(e.place);
        return b().call(l.runtime(module, name), l.irType(t), args);
      }
    }
  }
  return viaMemory(t, [&](ValueId dest) { vocabularyInto(id, dest); });
}

void FunctionLowering::rowInto(const Row& row, const std::vector<ExprId>& children, TypeId resultMarked, bool recorded, Place where, ValueId dest) {
  const Signature& signature = signatureOf(&row);
  PatternCall call(l, b(), signature);
  TypeId resultPlain = types.unmarked(resultMarked);
  bool aTransposed = false, bTransposed = false;
  std::vector<ValueId> pairs(signature.params.size());
  for (size_t k = 0; k < signature.params.size(); k++) {
    Operand o;
    ExprId child = k < children.size() ? children[k] : ExprId();
    if (child) {
      const Expr* c = &expr(child);
      // A Transpose directly under a product costs nothing: the kernel reads it the other way.
      if (row.rule == Rule::Product && c->kind == ExprKind::Vocabulary && std::string_view(c->row->name) == "Transpose" && !recordedAt(child) &&
          l.get(typeOf(child)).extents.size() == 2) {
        (k == 0 ? aTransposed : bTransposed) = true;
        child = c->children[0];
      }
      TypeId marked = typeOf(child);
      o.type = types.unmarked(marked);
      o.tracked = recorded && marked != o.type;
      const Type type = l.get(o.type);
      if (type.kind == Kind::Tensor) {
        o.form = Operand::Form::Tensor;
        o.element = type.element;
        o.rank = int(type.extents.size());
        bool changes = row.rule == Rule::Signature && signature.params[k].isInout;
        ValueId place = changes ? this->place(child, true).address : borrow(child);
        if (changes) checkChange(place);
        o.address = contiguous(place, o.type);
        if (o.tracked) { Operand original = o; original.address = place; o.node = nodeOf(l, b(), original, {}); }
      } else if (signature.params[k].isInout) {
        o.form = Operand::Form::Float;             // a number changed in place, tracked or not: the value comes first
        o.element = o.type;
        o.address = this->place(child, true).address;
      } else if (signature.params[k].type.base == "float" ||
                 ((row.rule == Rule::Pointwise || signature.params[k].type.base == "tensor") && (type.kind == Kind::Float32 || type.kind == Kind::Float64))) {
        o.form = Operand::Form::Float;
        o.element = o.type;
        pairs[k] = borrow(child);
        o.address = slotFor(o.type);
        b().store(b().load(l.irType(o.type), pairs[k]), o.address);
        if (o.tracked) o.node = nodeOf(l, b(), o, pairs[k]);
      } else if (row.rule == Rule::Pointwise && isScalar(o.type)) {
        o.form = Operand::Form::Float;             // an integer scalar beside an integer tensor
        o.element = o.type;
        o.address = borrow(child);
      } else {
        o.form = Operand::Form::Scalar;
        o.value = scalar(child);
      }
    }
    call.operands.push_back(o);
  }
  at(where);
  // F: the element type of the first operand of type F, or of the result
  for (size_t k = 0; k < call.operands.size() && !call.element; k++) {
    const Operand& o = call.operands[k];
    bool isF = signature.params[k].type.base == "float" || signature.params[k].type.element == "F" || signature.params[k].type.element == "T" || row.rule != Rule::Signature;
    if (isF && o.element) call.element = o.element;
  }
  if (!call.element) call.element = l.get(resultPlain).kind == Kind::Tensor ? l.get(resultPlain).element : resultPlain;

  // ---- the result's shape ----
  const Type resultType = l.get(resultPlain);
  std::vector<ValueId> shape;
  auto shapeAt = [&](size_t k) {
    std::vector<ValueId> whole;
    for (int d = 0; d < call.operands[k].rank; d++) whole.push_back(call.extent(call.operands[k], d));
    if (k == 0 ? aTransposed : bTransposed) std::swap(whole[0], whole[1]);
    return whole;
  };
  std::vector<Meeting> meeting;
  auto checkOperands = [&](const std::string& words, size_t j, size_t k) {
    std::vector<ValueId> first = shapeAt(j), second = shapeAt(k);
    checkMeeting(words, first, second, meeting);
  };
  auto openAt = [&](size_t k, int d) { return types.isOpen(l.get(call.operands[k].type).extents[size_t(d)]); };
  if (row.rule == Rule::Pointwise && call.operands.size() > 1) {
    const Operand &x = call.operands[0], &y = call.operands[1];
    size_t wide = x.rank >= y.rank ? 0 : 1;
    const Operand &big = call.operands[wide], &small = call.operands[1 - wide];
    for (int d = 0; d < big.rank; d++) shape.push_back(call.extent(big, d));
    for (int d = 0; d < small.rank; d++) {
      int at = big.rank - small.rank + d;
      if (openAt(wide, at) || openAt(1 - wide, d)) meeting.push_back({shape[size_t(at)], call.extent(small, d)});
    }
    checkOperands("the shapes of this `" + std::string(row.name) + "` do not fit: % and %", 0, 1);
  } else if (row.rule == Rule::Product) {
    const Operand &x = call.operands[0], &y = call.operands[1];
    ValueId one = b().i64(1), batch = one, m = one, n = one, inner;
    int batchRank = x.rank > 2 && y.rank > 2 ? x.rank - 2 : 0;
    for (int d = 0; d < batchRank; d++) {
      ValueId xe = call.extent(x, d);
      if (openAt(0, d) || openAt(1, d)) meeting.push_back({xe, call.extent(y, d)});
      batch = b().imul(batch, xe);
      shape.push_back(xe);
    }
    int xInner = x.rank == 1 ? 0 : aTransposed ? x.rank - 2 : x.rank - 1;
    int yInner = y.rank == 1 ? 0 : bTransposed ? y.rank - 1 : y.rank - 2;
    inner = call.extent(x, xInner);
    if (openAt(0, xInner) || openAt(1, yInner)) meeting.push_back({inner, call.extent(y, yInner)});
    checkOperands("the dimensions of this product cannot meet: % and %", 0, 1);
    for (int d = batchRank; d < x.rank; d++) {
      if (d == xInner) continue;
      m = b().imul(m, call.extent(x, d));
      shape.push_back(call.extent(x, d));
    }
    if (y.rank > 1) { n = call.extent(y, bTransposed ? y.rank - 2 : y.rank - 1); shape.push_back(n); }
    call.names = {{"batch", batch}, {"m", m}, {"k", inner}, {"n", n},
                  {"aTransposed", b().i64(aTransposed)}, {"bTransposed", b().i64(bTransposed)}};
  } else if (row.rule == Rule::Signature) {
    // Names are bound by the first operand that shows them; later ones must agree where something is open.
    struct Bound { std::string name; size_t operand; std::vector<ValueId> values; bool open; };
    std::vector<Bound> bound;
    for (size_t k = 0; k < call.operands.size(); k++) {
      const Operand& o = call.operands[k];
      if (o.form != Operand::Form::Tensor) continue;
      int packed = o.rank;
      for (const Signature::Dim& d : signature.params[k].type.dims) packed -= d.pack ? 0 : 1;
      int at = 0;
      for (const Signature::Dim& d : signature.params[k].type.dims) {
        std::vector<ValueId> values;
        bool open = false;
        for (int n = d.pack ? packed : 1; n > 0; n--) { open |= openAt(k, at); values.push_back(call.extent(o, at++)); }
        auto first = std::find_if(bound.begin(), bound.end(), [&](const Bound& x) { return x.name == d.name; });
        if (first == bound.end()) { bound.push_back({d.name, k, values, open}); continue; }
        if (!open && !first->open) continue;
        meeting.clear();
        for (size_t j = 0; j < values.size() && j < first->values.size(); j++) meeting.push_back({first->values[j], values[j]});
        checkOperands("the shapes of this `" + std::string(row.name) + "` do not fit: % and %", first->operand, k);
      }
    }
    if (!signature.results.empty()) for (const Signature::Dim& d : signature.results[0].dims) {
      bool found = false;
      for (const Bound& x : bound) if (x.name == d.name && !found) { found = true; shape.insert(shape.end(), x.values.begin(), x.values.end()); }
      if (!found && shape.size() < resultType.extents.size() && !types.isOpen(resultType.extents[shape.size()])) shape.push_back(extentValue(resultType.extents[shape.size()]));
    }
  }

  // ---- the forward call ----
  call.out.type = resultPlain;
  if (resultType.kind == Kind::Tensor) {
    call.out.form = Operand::Form::Tensor;
    call.out.element = types.unmarked(resultType.element);
    call.out.rank = int(resultType.extents.size());
    call.out.address = dest;
    if (shape.size() != resultType.extents.size()) internalError(std::string("the shape of ") + row.name + " is not known");
    makeTensor(dest, call.out.element, shape, false);
  } else if (!l.isUnit(resultPlain)) {
    call.out.form = Operand::Form::Float;
    call.out.element = resultPlain;
    call.out.address = dest;                       // the value comes first in a tracked pair
    if (resultMarked != resultPlain) b().memZero(dest, 16);
  }
  bool record = recorded && row.backward;
  ValueId savedAt;
  call.save = [&](ValueId bytes) {
    savedAt = callRuntime("Buffers", "MakeBytes", ir::Ptr, {bytes});   // a buffer's header address
    return b().padd(savedAt, b().i64(tensor::HeaderBytes));
  };
  call.call(row.forward);
  if (!record) {
    if (savedAt) callRuntime("Buffers", "Release", ir::Void, {savedAt});
    return;
  }

  // ---- the record: operands, result and what was saved, as the thunk reads them ----
  std::vector<int64_t> at, nodeAt;
  int64_t bytes = 0;
  auto room = [&](const Operand& o) {
    at.push_back(bytes);
    bytes += o.form == Operand::Form::Tensor ? tensor::bytes(o.rank) : 8;
    nodeAt.push_back(bytes);
    bytes += 8;
  };
  for (const Operand& o : call.operands) room(o);
  room(call.out);
  int64_t savedOffset = bytes, namesOffset = bytes + 8;
  bytes = namesOffset + 8 * int64_t(call.names.size());

  std::string thunkName = std::string("back[") + row.name + "," + l.mangle(call.element);
  for (const Operand& o : call.operands)
    thunkName += "," + std::string(o.form == Operand::Form::Absent ? "-" : o.form == Operand::Form::Tensor ? "t" + std::to_string(o.rank) : o.form == Operand::Form::Float ? "f" : "s" + l.mangle(o.type)) + (o.tracked ? "~" : "");
  thunkName += ":" + std::to_string(call.out.rank) + "]";
  ir::SymbolId thunk = l.module.symbol(thunkName);
  if (l.module.symbols[thunk.index].kind == ir::SymbolKind::External && !l.isPrecompiled(thunkName)) {
    uint32_t index = ir::startFunction(l.module, thunkName, {ir::Ptr, ir::Ptr}, ir::Void);
    ir::Builder tb(l.module, index);
    tb.setPlace(l.place(where, row.name));
    PatternCall back(l, tb, signature);
    ValueId payload = tb.param(0);
    back.element = call.element;
    auto restore = [&](const Operand& o, size_t k) {
      Operand r = o;
      r.address = tb.padd(payload, tb.i64(at[k]));
      if (o.form == Operand::Form::Scalar) r.value = tb.load(l.irType(o.type), payload, at[k]);
      return r;
    };
    for (size_t k = 0; k < call.operands.size(); k++) back.operands.push_back(restore(call.operands[k], k));
    back.out = restore(call.out, call.operands.size());
    back.upstream = tb.param(1);
    back.saved = tb.load(ir::Ptr, payload, savedOffset);
    for (size_t k = 0; k < call.names.size(); k++) back.names.push_back({call.names[k].first, tb.load(ir::I64, payload, namesOffset + 8 * int64_t(k))});
    std::vector<ValueId> gradients(call.operands.size());
    back.gradient = [&](size_t k) {
      if (!call.operands[k].tracked) return back.null();
      ValueId n[] = {tb.imul({back.count(back.operands[k]), tb.i64(l.sizeOf(call.operands[k].element))})};
      gradients[k] = tb.call(l.runtime("Tape", "NewGradient"), ir::Ptr, n);
      return tb.padd(gradients[k], tb.i64(tensor::HeaderBytes));
    };
    back.call(row.backward);
    for (size_t k = 0; k < gradients.size(); k++) {
      if (!gradients[k]) continue;
      ValueId args[] = {tb.load(ir::I64, payload, nodeAt[k]), gradients[k]};
      tb.call(l.runtime("Tape", "Deliver"), ir::Void, args);
    }
    tb.ret();
  }
  ValueId payload = callRuntime("Tape", "Record", ir::Ptr, {b().symAddr(thunk), b().i64(bytes)});
  for (size_t k = 0; k < call.operands.size(); k++) {
    const Operand& o = call.operands[k];
    ValueId p = offset(payload, at[k]);
    if (o.form == Operand::Form::Tensor) {
      b().memCopy(p, o.address, tensor::bytes(o.rank));
      callRuntime("Tape", "Pin", ir::Void, {b().load(ir::Ptr, o.address, tensor::Owner)});
    } else if (o.form == Operand::Form::Float) {
      b().memCopy(p, o.address, l.sizeOf(o.element));
    } else if (o.form == Operand::Form::Scalar) {
      b().store(o.value, p);
    }
    ValueId node = o.node ? o.node : b().i64(0);
    b().store(node, offset(payload, nodeAt[k]));
  }
  size_t outIndex = call.operands.size();
  ValueId outAt = offset(payload, at[outIndex]);
  ValueId node;
  if (call.out.form == Operand::Form::Tensor) {
    b().memCopy(outAt, dest, tensor::bytes(call.out.rank));
    node = callRuntime("Tape", "ResultBuffer", ir::I64, {b().load(ir::Ptr, dest, tensor::Owner), call.count(call.out), b().i64(l.sizeOf(call.out.element)), payload});
  } else {
    b().memCopy(outAt, dest, l.sizeOf(call.out.element));
    node = callRuntime("Tape", "ResultScalar", ir::I64, {dest, b().i64(l.sizeOf(call.out.element)), payload});
  }
  b().store(node, offset(payload, nodeAt[outIndex]));
  if (savedAt) callRuntime("Tape", "Own", ir::Void, {savedAt});
  b().store(savedAt ? b().padd(savedAt, b().i64(tensor::HeaderBytes)) : null(), payload, savedOffset);
  for (size_t k = 0; k < call.names.size(); k++) b().store(call.names[k].second, payload, namesOffset + 8 * int64_t(k));
}

}  // namespace mica::lower
