// Strings: literals, interpolation with formats, Print. The library's Format module appends to a string; a format becomes one integer:
//   bits 0-7 the kind (0 plain, or 'f' 'e' 'g' 'x' 'X' 'b' 'o' '%'), 8-23 the width, 24-39 the precision + 1 (0: none), 40 zeros fill, 41 left, 42 centred,
//   43 a sign always, 44 right
#include "lower/function.h"

namespace mica::lower {

namespace {

int64_t encodeFormat(const std::string& f) {
  int64_t spec = 0;
  size_t i = 0;
  if (i < f.size() && f[i] == '<') { spec |= int64_t(1) << 41; i++; }
  else if (i < f.size() && f[i] == '^') { spec |= int64_t(1) << 42; i++; }
  else if (i < f.size() && f[i] == '>') { spec |= int64_t(1) << 44; i++; }
  if (i < f.size() && f[i] == '+') { spec |= int64_t(1) << 43; i++; }
  if (i < f.size() && f[i] == '0') { spec |= int64_t(1) << 40; i++; }
  int64_t width = 0, precision = -1;
  while (i < f.size() && isdigit(static_cast<unsigned char>(f[i]))) width = std::min<int64_t>(width * 10 + (f[i++] - '0'), 65535);
  if (i < f.size() && f[i] == '.') {
    precision = 0;
    for (i++; i < f.size() && isdigit(static_cast<unsigned char>(f[i])); i++) precision = std::min<int64_t>(precision * 10 + (f[i] - '0'), 65534);
  }
  if (i < f.size()) spec |= static_cast<unsigned char>(f[i]);
  return spec | width << 8 | (precision + 1) << 24;
}

}  // namespace

void FunctionLowering::stringLiteral(const std::string& text, ValueId dest) {
  b().store(b().symAddr(l.stringData(text)), dest, sequence::Data);
  b().store(b().i64(int64_t(text.size())), dest, sequence::Length);
  b().store(b().i64(0), dest, sequence::Capacity);
}

void FunctionLowering::interpolate(const Expr& e, ValueId dest) {
  b().memZero(dest, sequence::Bytes);
  size_t depth = cleanups.size();
  pushDrop(dest, types.scalar(Kind::String));
  for (const TextPart& part : e.parts) {
    if (!part.text.empty())
      callRuntime("Format", "AppendBytes", ir::Void, {dest, b().symAddr(l.stringData(part.text)), b().i64(int64_t(part.text.size()))});
    if (part.value) scoped([&] { appendValue(dest, part.value, part.format); });
  }
  cleanups.resize(depth);
}

void FunctionLowering::appendValue(ValueId text, ExprId id, const std::string& format) {
  TypeId marked = typeOf(id), t = types.unmarked(marked);
  const Type type = l.get(t);
  ValueId spec = b().i64(encodeFormat(format));
  auto number = [&] { return l.isTrackedFloat(marked) ? b().load(l.irType(t), borrow(id)) : scalar(id); };
  switch (type.kind) {
    case Kind::Bool: callRuntime("Format", "AppendBool", ir::Void, {text, scalar(id), spec}); return;
    case Kind::Char: callRuntime("Format", "AppendChar", ir::Void, {text, scalar(id), spec}); return;
    case Kind::Float32: callRuntime("Format", "AppendFloat32", ir::Void, {text, number(), spec}); return;
    case Kind::Float64: callRuntime("Format", "AppendFloat64", ir::Void, {text, number(), spec}); return;
    case Kind::String: callRuntime("Format", "AppendText", ir::Void, {text, borrow(id), spec}); return;
    default: break;
  }
  if (type.kind >= Kind::Int8 && type.kind <= Kind::UInt64) {
    bool isSigned = type.kind <= Kind::Int64;
    ValueId v = scalar(id);
    if (b().typeOf(v) != ir::I64) v = b().convert(isSigned ? Op::SExt : Op::ZExt, ir::I64, v);
    callRuntime("Format", isSigned ? "AppendInt" : "AppendUnsigned", ir::Void, {text, v, spec});
    return;
  }
  ValueId value = borrow(id);
  if (format.empty()) {
    ValueId args[] = {text, value};
    b().call(l.glue(Glue::Print, l.laidOut(marked)), ir::Void, args);
    return;
  }
  ValueId part = slotBytes(sequence::Bytes);    // made apart, then padded
  b().memZero(part, sequence::Bytes);
  ValueId args[] = {part, value};
  b().call(l.glue(Glue::Print, l.laidOut(marked)), ir::Void, args);
  callRuntime("Format", "AppendText", ir::Void, {text, part, spec});
  drop(part, types.scalar(Kind::String));
}

void FunctionLowering::printStatement(const Expr& e) {
  ExprId value = e.children[0];
  ValueId line;
  if (l.get(typeOf(value)).kind == Kind::String) {
    line = borrow(value);
  } else {
    line = slotBytes(sequence::Bytes);
    b().memZero(line, sequence::Bytes);
    appendValue(line, value, "");
    pushDrop(line, types.scalar(Kind::String));
  }
  at(e.place);
  callRuntime("Console", "PrintLine", ir::Void, {line});
}

}  // namespace mica::lower
