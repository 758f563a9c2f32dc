// SaveCheckpoint and LoadCheckpoint: the record's fields in order, tensors by name into a safetensors file, everything else as text in its metadata.
// The file itself is the runtime's (src/rt/Checkpoint.mica): it checks every bound before anything is allocated.
#include "lower/function.h"

namespace mica::lower {

namespace {

// How the file names an element type; the numbers are those of src/rt/Checkpoint.mica.
int dtypeCode(Kind k) {
  switch (k) {
    case Kind::Float32: return 0;
    case Kind::Float64: return 1;
    case Kind::Int8: return 2;
    case Kind::UInt8: return 3;
    case Kind::Int32: return 4;
    case Kind::Int64: return 5;
    case Kind::Bool: return 6;
    case Kind::Int16: return 7;                 // these only as text
    case Kind::UInt16: return 8;
    case Kind::UInt32: return 9;
    case Kind::UInt64: return 10;
    case Kind::Char: return 11;
    default: return -1;
  }
}

}  // namespace

void FunctionLowering::saveField(ValueId writer, ValueId address, TypeId t, const Path& path) {
  const Type type = l.get(t);
  scoped([&] {
    ValueId name = pathText(path);
    if (type.kind == Kind::Tensor) {
      ValueId at = contiguous(address, t);
      callRuntime("Checkpoint", "AddTensor", ir::Void, {writer, name, b().load(ir::Ptr, at), offset(at, tensor::Extents), b().i64(int64_t(type.extents.size())),
                                                        b().i64(dtypeCode(l.get(type.element).kind))});
    } else if (type.tracked) {
      callRuntime("Checkpoint", "AddTensor", ir::Void, {writer, name, address, address, b().i64(0), b().i64(dtypeCode(type.kind))});
    } else {
      ValueId text = slotBytes(sequence::Bytes);
      b().memZero(text, sequence::Bytes);
      pushDrop(text, types.scalar(Kind::String));
      ValueId args[] = {text, address};
      if (type.kind == Kind::String) callRuntime("Format", "AppendText", ir::Void, {text, address, b().i64(0)});
      else b().call(l.glue(Glue::Print, t), ir::Void, args);
      callRuntime("Checkpoint", "AddText", ir::Void, {writer, name, text});
    }
  });
}

void FunctionLowering::saveCheckpoint(const Expr& e) {
  ValueId path = borrow(e.children[0]), record = borrow(e.children[1]);
  at(e.place);
  ValueId writer = callRuntime("Checkpoint", "BeginSave", ir::Ptr, {});
  Visit save = [&](const std::vector<ValueId>& a, TypeId t, const Path& p) { saveField(writer, a[0], t, p); };
  walk({record}, typeOf(e.children[1]), save, save, {});
  lastFailure = callRuntime("Checkpoint", "FinishSave", ir::Ptr, {writer, path});
}

// Reads the value of type t at the address, which is zero before. A record's hidden extents start as -1 and get the file's extents; the
// extents of inner records are those that the outer record's names say.
void FunctionLowering::loadValueInto(ValueId reader, ValueId address, TypeId t, const Path& path, BlockId failed, ValueId failureSlot) {
  const Type type = l.get(t);
  auto check = [&](ValueId failure) {
    BlockId fine = b().createBlock();
    b().store(failure, failureSlot);
    b().brIf(isNull(failure), fine, failed);
    b().setBlock(fine);
  };
  switch (type.kind) {
    case Kind::Record: case Kind::Tuple: {
      const Layout layout = l.layout(t);
      if (type.kind == Kind::Tuple) {
        for (size_t k = 0; k < type.args.size(); k++) {
          Path inner = path;
          inner.push_back({(path.empty() ? "" : ".") + std::to_string(k), {}});
          loadValueInto(reader, offset(address, layout.offsets[k]), type.args[k], inner, failed, failureSlot);
        }
        return;
      }
      const Decl& d = program.get(type.decl);
      // Field types stay in the record's own names, whose values lie in its hidden words.
      for (size_t k = 0; k < d.fields.size(); k++) {
        TypeId field = types.substitute(d.fields[k].type, type.decl, type.args, {});
        const Type ft = l.get(field);
        ValueId at = offset(address, layout.offsets[k]);
        Path inner = path;
        inner.push_back({(path.empty() ? "" : ".") + d.fields[k].name, {}});
        auto hidden = [&](ExtentId e) -> int {   // which name of the record the extent is, or -1
          for (uint32_t x = 0; x < d.extentParams.size(); x++) if (e == types.name(type.decl, x, d.extentParams[x])) return int(x);
          return -1;
        };
        if (ft.kind == Kind::Tensor) {
          ValueId want = slotBytes(uint32_t(8 * ft.extents.size()));
          for (size_t x = 0; x < ft.extents.size(); x++) {
            int64_t n;
            int name = hidden(ft.extents[x]);
            ValueId w = types.isConstant(ft.extents[x], &n) ? b().i64(n) : name >= 0 ? b().load(ir::I64, address, 8 * name) : b().i64(-1);
            b().store(w, want, int64_t(8 * x));
          }
          scoped([&] {
            check(callRuntime("Checkpoint", "ReadTensor", ir::Ptr, {reader, pathText(inner), at, want, b().i64(int64_t(ft.extents.size())),
                                                                   b().i64(dtypeCode(l.get(ft.element).kind)), b().i64(l.sizeOf(types.unmarked(ft.element)))}));
          });
          for (size_t x = 0; x < ft.extents.size(); x++)
            if (int name = hidden(ft.extents[x]); name >= 0) b().store(b().load(ir::I64, at, tensor::Extents + 8 * int(x)), address, 8 * name);
          continue;
        }
        if (ft.kind == Kind::Record)
          for (size_t x = 0; x < ft.extents.size(); x++) {
            int64_t n;
            int name = hidden(ft.extents[x]);
            ValueId w = types.isConstant(ft.extents[x], &n) ? b().i64(n) : name >= 0 ? b().load(ir::I64, address, 8 * name) : b().i64(-1);
            b().store(w, at, int64_t(8 * x));
          }
        loadValueInto(reader, at, field, inner, failed, failureSlot);
        if (ft.kind == Kind::Record)
          for (size_t x = 0; x < ft.extents.size(); x++)
            if (int name = hidden(ft.extents[x]); name >= 0) b().store(b().load(ir::I64, at, int64_t(8 * x)), address, 8 * name);
      }
      return;
    }
    case Kind::Array: {
      ValueId count = extentValue(type.extents[0]);
      countedLoop(count, [&](ValueId i) {
        Path inner = path;
        inner.push_back({path.empty() ? "" : ".", {}});
        inner.push_back({"", i});
        loadValueInto(reader, b().padd(address, b().imul(i, b().i64(l.sizeOf(type.element)))), type.element, inner, failed, failureSlot);
      });
      return;
    }
    default: break;
  }
  scoped([&] {
    ValueId name = pathText(path);
    if (type.tracked) {
      check(callRuntime("Checkpoint", "ReadNumber", ir::Ptr, {reader, name, address, b().i64(dtypeCode(type.kind))}));
      return;
    }
    if (type.kind == Kind::String) { check(callRuntime("Checkpoint", "ReadString", ir::Ptr, {reader, name, address})); return; }
    if (isScalar(t)) { check(callRuntime("Checkpoint", "ReadScalar", ir::Ptr, {reader, name, address, b().i64(dtypeCode(type.kind))})); return; }
    if (type.kind == Kind::List && isScalar(type.element)) {
      check(callRuntime("Checkpoint", "ReadList", ir::Ptr, {reader, name, address, b().i64(dtypeCode(l.get(type.element).kind))}));
      return;
    }
    internalError("a checkpoint cannot hold " + l.mangle(t));
  });
}

void FunctionLowering::loadCheckpoint(ExprId id, const Expr& e, ValueId dest) {
  TypeId t = typeOf(id);
  ValueId path = borrow(e.children[0]);
  at(e.place);
  b().memZero(dest, l.sizeOf(t));
  const Type type = l.get(t);
  for (size_t k = 0; k < type.extents.size(); k++)
    b().store(types.isOpen(type.extents[k]) ? b().i64(-1) : extentValue(type.extents[k]), dest, int64_t(8 * k));
  ValueId readerSlot = slotBytes(8), failureSlot = slotBytes(8);
  b().store(null(), readerSlot);
  BlockId failed = b().createBlock(), done = b().createBlock(), reading = b().createBlock();
  ValueId opened = callRuntime("Checkpoint", "Open", ir::Ptr, {path, readerSlot});
  b().store(opened, failureSlot);
  b().brIf(isNull(opened), reading, failed);
  b().setBlock(reading);
  loadValueInto(b().load(ir::Ptr, readerSlot), dest, t, {}, failed, failureSlot);
  b().store(callRuntime("Checkpoint", "CheckAllRead", ir::Ptr, {b().load(ir::Ptr, readerSlot)}), failureSlot);
  b().br(failed);
  b().setBlock(failed);                         // also the way out when nothing failed
  callRuntime("Checkpoint", "Close", ir::Void, {b().load(ir::Ptr, readerSlot)});
  ValueId failure = b().load(ir::Ptr, failureSlot);
  BlockId release = b().createBlock();
  b().brIf(isNull(failure), done, release);
  b().setBlock(release);
  drop(dest, t);
  b().memZero(dest, l.sizeOf(t));
  b().br(done);
  b().setBlock(done);
  lastFailure = b().load(ir::Ptr, failureSlot);
}

}  // namespace mica::lower
