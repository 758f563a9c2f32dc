// SaveCheckpoint and LoadCheckpoint: the record's fields in order, tensors by name into a safetensors file, everything else as text in its metadata.
// The file itself is the runtime's (src/rt/Checkpoint.mica): it checks every bound before anything is allocated.
#include <algorithm>

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

// The shape that says what the extent `name` is: that of a tensor which has it alone as one of its extents. `path` leads to it.
bool FunctionLowering::findShape(TypeId written, ExtentId name, Path& path, TypeId& tensor, size_t& axis) {
  const Type type = l.get(written);
  auto inside = [&](PathPart step, TypeId part, ExtentId wanted) {
    size_t length = path.size();
    if (!path.empty()) path.push_back({".", {}});
    path.push_back(step);
    if (findShape(part, wanted, path, tensor, axis)) return true;
    path.resize(length);
    return false;
  };
  switch (type.kind) {
    case Kind::Tensor:
      tensor = written;
      axis = size_t(std::find(type.extents.begin(), type.extents.end(), name) - type.extents.begin());
      return axis < type.extents.size();
    case Kind::Record: {
      const Decl& d = program.get(type.decl);
      std::vector<ExtentId> wanted{name};       // under the names of the inner record, too
      for (uint32_t k = 0; k < type.extents.size(); k++)
        if (type.extents[k] == name) wanted.push_back(types.name(type.decl, k, d.extentParams[k]));
      for (const FieldDecl& f : d.fields)
        for (ExtentId w : wanted)
          if (inside({f.name, {}}, types.substitute(f.type, type.decl, type.args, {}), w)) return true;
      return false;
    }
    case Kind::Tuple:
      for (size_t k = 0; k < type.args.size(); k++)
        if (inside({std::to_string(k), {}}, type.args[k], name)) return true;
      return false;
    case Kind::Array: {
      int64_t count;
      return types.isConstant(type.extents[0], &count) && count > 0 && inside({"", b().i64(0)}, type.element, name);
    }
    default: return false;
  }
}

void FunctionLowering::leaveWhenFailed(const Loading& from, ValueId failure) {
  BlockId fine = b().createBlock();
  b().store(failure, from.failureSlot);
  b().brIf(isNull(failure), fine, from.failed);
  b().setBlock(fine);
}

// The hidden extents first, since the shapes of the fields are told by them: one that is `?` is what the file says.
void FunctionLowering::loadRecord(const Loading& from, ValueId address, TypeId t, TypeId written, const Path& path) {
  const Type type = l.get(written);
  const Decl& d = program.get(type.decl);
  for (uint32_t k = 0; k < type.extents.size(); k++) {
    if (!types.isOpen(type.extents[k])) {
      b().store(extentValue(type.extents[k]), address, int64_t(8 * k));
      continue;
    }
    TypeId tensor;
    size_t axis = 0;
    Path shape = path;
    Type own = type;                            // the record in its own names
    for (uint32_t x = 0; x < own.extents.size(); x++) own.extents[x] = types.name(type.decl, x, d.extentParams[x]);
    if (!findShape(types.intern(own), own.extents[k], shape, tensor, axis)) {
      if (!l.diagnostics.hasErrors())
        l.diagnostics.error(Span{from.call.start, from.call.length}, "no tensor in the file says what `" + d.extentParams[k] + "` of `" + d.name + "` is")
            .note("write it: `" + d.name + "[…]`");
      return;
    }
    const Type of = l.get(tensor);
    ValueId failure;
    scoped([&] {
      ValueId name = pathText(shape);
      failure = callRuntime("Checkpoint", "ReadExtent", ir::Ptr, {from.reader, name, offset(address, int64_t(8 * k)), b().i64(int64_t(of.extents.size())), b().i64(int64_t(axis)),
                                                                  b().i64(dtypeCode(l.get(of.element).kind))});
    });
    leaveWhenFailed(from, failure);
  }
  const Layout layout = l.layout(t);
  std::vector<TypeId> fields = l.fieldTypes(t);
  namesIn.push_back({type.decl, address});
  for (size_t k = 0; k < fields.size(); k++) {
    Path inner = path;
    inner.push_back({(path.empty() ? "" : ".") + d.fields[k].name, {}});
    ValueId at = offset(address, layout.offsets[k]);
    loadValue(from, at, fields[k], types.substitute(d.fields[k].type, type.decl, type.args, {}), inner);
  }
  namesIn.pop_back();
}

// Reads the value of type t at the address, which is zero before. `written` is the type in the names of the records around it.
void FunctionLowering::loadValue(const Loading& from, ValueId address, TypeId t, TypeId written, const Path& path) {
  const Type type = l.get(t), names = l.get(written);
  ValueId failure;
  switch (type.kind) {
    case Kind::Record: return loadRecord(from, address, t, written, path);
    case Kind::Tuple: {
      const Layout layout = l.layout(t);
      for (size_t k = 0; k < type.args.size(); k++) {
        Path inner = path;
        inner.push_back({(path.empty() ? "" : ".") + std::to_string(k), {}});
        ValueId at = offset(address, layout.offsets[k]);
        loadValue(from, at, type.args[k], names.args[k], inner);
      }
      return;
    }
    case Kind::Array: {
      ValueId size = b().i64(l.sizeOf(type.element));
      countedLoop(extentValue(type.extents[0]), [&](ValueId i) {
        Path inner = path;
        inner.push_back({path.empty() ? "" : ".", {}});
        inner.push_back({"", i});
        loadValue(from, b().padd(address, b().imul(i, size)), type.element, names.element, inner);
      });
      return;
    }
    case Kind::Tensor: {
      ValueId wanted = slotBytes(uint32_t(8 * names.extents.size()));
      for (size_t x = 0; x < names.extents.size(); x++)
        b().store(types.isOpen(names.extents[x]) ? b().i64(-1) : extentValue(names.extents[x]), wanted, int64_t(8 * x));
      scoped([&] {
        ValueId name = pathText(path);
        failure = callRuntime("Checkpoint", "ReadTensor", ir::Ptr, {from.reader, name, address, wanted, b().i64(int64_t(type.extents.size())), b().i64(dtypeCode(l.get(type.element).kind)),
                                                                    b().i64(l.sizeOf(types.unmarked(type.element)))});
      });
      return leaveWhenFailed(from, failure);
    }
    default: break;
  }
  const char* reads = type.tracked ? "ReadNumber" : type.kind == Kind::String ? "ReadString" : type.kind == Kind::List ? "ReadList" : "ReadScalar";
  Kind element = type.kind == Kind::List ? l.get(type.element).kind : type.kind;
  scoped([&] {
    ValueId name = pathText(path);
    failure = type.kind == Kind::String ? callRuntime("Checkpoint", reads, ir::Ptr, {from.reader, name, address})
                                        : callRuntime("Checkpoint", reads, ir::Ptr, {from.reader, name, address, b().i64(dtypeCode(element))});
  });
  leaveWhenFailed(from, failure);
}

void FunctionLowering::loadCheckpoint(ExprId id, const Expr& e, ValueId dest) {
  TypeId t = typeOf(id);
  ValueId path = borrow(e.children[0]);
  at(e.place);
  b().memZero(dest, l.sizeOf(t));
  ValueId readerSlot = slotBytes(8), failureSlot = slotBytes(8);
  b().store(null(), readerSlot);
  BlockId failed = b().createBlock(), done = b().createBlock(), reading = b().createBlock();
  ValueId opened = callRuntime("Checkpoint", "Open", ir::Ptr, {path, readerSlot});
  b().store(opened, failureSlot);
  b().brIf(isNull(opened), reading, failed);
  b().setBlock(reading);
  loadValue({e, b().load(ir::Ptr, readerSlot), failureSlot, failed}, dest, t, t, {});
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
