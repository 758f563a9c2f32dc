// The interpreter's loop. One function and one switch by intention: a case is an operation, and macros make the cases that
// differ only in width. A frame's address is `r`; calls and returns move it, so that deep recursion in the program costs the host nothing.
#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "ir/interp.h"
#include "ir/interp_code.h"
#include "ir/interp_scalar.h"

namespace mica::ir {

using namespace interp;

struct Interpreter::State {
  Program program;
  uint64_t stackBytes;
  uint64_t* stack;
  uint64_t context = 0;
  std::vector<char> reached;   // by place
  State(const Module& m, uint64_t bytes, bool recordLines) : program(m, recordLines), stackBytes(bytes), reached(m.places.size()) {
    void* p = mmap(nullptr, stackBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED) internalError("interpreter: no memory for its stack");
    stack = static_cast<uint64_t*>(p);
  }
  ~State() { munmap(stack, stackBytes); }
  Outcome run(uint32_t function, const std::vector<uint64_t>& args, uint64_t fuel);
};

namespace {

float f32Of(uint64_t cell) { return std::bit_cast<float>(uint32_t(cell)); }
double f64Of(uint64_t cell) { return std::bit_cast<double>(cell); }
uint64_t cellOf(float v) { return std::bit_cast<uint32_t>(v); }
uint64_t cellOf(double v) { return std::bit_cast<uint64_t>(v); }
uint64_t cellOf(bool v) { return v; }

template <class T> T readAt(uint64_t address) {
  T v;
  std::memcpy(&v, reinterpret_cast<void*>(address), sizeof v);
  return v;
}
template <class T> void writeAt(uint64_t address, T v) { std::memcpy(reinterpret_cast<void*>(address), &v, sizeof v); }

int64_t extend(uint64_t v, unsigned bytes) {
  switch (bytes) {
    case 1: return int8_t(v);
    case 4: return int32_t(v);
    default: return int64_t(v);
  }
}

// An atomic read-modify-write of a width; `apply` works on a pointer of that width.
template <class Apply> uint64_t atomic(unsigned bytes, uint64_t address, Apply apply) {
  switch (bytes) {
    case 1: return uint64_t(extend(uint64_t(apply(reinterpret_cast<uint8_t*>(address))), 1));
    case 4: return uint64_t(extend(uint64_t(apply(reinterpret_cast<uint32_t*>(address))), 4));
    default: return uint64_t(apply(reinterpret_cast<uint64_t*>(address)));
  }
}

}  // namespace

Outcome Interpreter::State::run(uint32_t function, const std::vector<uint64_t>& args, uint64_t fuel) {
  constexpr uint64_t Reserve = 1 << 20;   // kept for the trap module when the stack overflows
  const Code* const code = program.code.data();
  const Code* pc = code + program.functions[function].first;
  uint64_t* r = stack;
  // The limit for frames; lifted once a stack overflow is being reported.
  uint64_t* limit = stack + (stackBytes - Reserve) / 8;
  r[0] = 0;
  r[1] = 0;
  for (size_t k = 0; k < program.functions[function].paramCells && k < args.size(); ++k) r[LinkCells + k] = args[k];
  Outcome outcome;
  TrapKind trapKind = TrapKind::Other;
  uint64_t trapDetails[3];
  const Code* at = pc;   // the code being executed

#define TRAP(kind) { trapKind = TrapKind::kind; trapDetails[0] = trapDetails[1] = trapDetails[2] = 0; goto raise; }
#define FUEL if (--fuel == 0) { outcome.kind = Outcome::OutOfFuel; return outcome; }
// A call: the frame of the callee behind the caller's, with its links and the arguments.
#define ENTER(callee) { \
  uint64_t* frame = r + c.c; \
  if (frame + callee.frameCells > limit) TRAP(StackOverflow) \
  frame[0] = uint64_t(r); \
  frame[1] = TextBase + uint64_t(pc - code); \
  frame[2] = c.d; \
  const uint32_t* list = program.cells.data() + c.b; \
  for (unsigned k = 0; k < c.n; ++k) frame[LinkCells + k] = r[list[k]]; \
  r = frame; \
  pc = code + callee.first; }

// Integer operations of every width, the second operand a cell or an immediate. U is the unsigned twin of T.
#define WIDTH(name, bits, body) \
  case X::name##bits: { using T = int##bits##_t; using U = uint##bits##_t; T a = T(r[c.a]), b = T(r[c.b]), v; (void)sizeof(U); body; r[c.d] = uint64_t(int64_t(v)); break; } \
  case X::name##bits##Imm: { using T = int##bits##_t; using U = uint##bits##_t; T a = T(r[c.a]), b = T(c.imm), v; (void)sizeof(U); body; r[c.d] = uint64_t(int64_t(v)); break; }
#define INT(name, body) WIDTH(name, 8, body) WIDTH(name, 16, body) WIDTH(name, 32, body) WIDTH(name, 64, body)
#define ANY(name, expression) \
  case X::name: { int64_t a = int64_t(r[c.a]), b = int64_t(r[c.b]); r[c.d] = uint64_t(expression); break; } \
  case X::name##Imm: { int64_t a = int64_t(r[c.a]), b = c.imm; r[c.d] = uint64_t(expression); break; }
#define JUMP(name, expression) \
  case X::name: { FUEL int64_t a = int64_t(r[c.a]), b = int64_t(r[c.b]); pc = code + ((expression) ? c.d : c.c); break; } \
  case X::name##Imm: { FUEL int64_t a = int64_t(r[c.a]), b = c.imm; pc = code + ((expression) ? c.d : c.c); break; }
#define UNARY_WIDTH(name, bits, expression) \
  case X::name##bits: { using T = int##bits##_t; using U = uint##bits##_t; U a = U(r[c.a]); (void)sizeof(T); r[c.d] = uint64_t(int64_t(expression)); break; }
#define UNARY(name, expression) UNARY_WIDTH(name, 8, expression) UNARY_WIDTH(name, 16, expression) UNARY_WIDTH(name, 32, expression) UNARY_WIDTH(name, 64, expression)
#define FLOAT1(name, expression) \
  case X::name##F32: { float a = f32Of(r[c.a]); r[c.d] = cellOf(expression); break; } \
  case X::name##F64: { double a = f64Of(r[c.a]); r[c.d] = cellOf(expression); break; }
#define FLOAT2(name, expression) \
  case X::name##F32: { float a = f32Of(r[c.a]), b = f32Of(r[c.b]); r[c.d] = cellOf(expression); break; } \
  case X::name##F64: { double a = f64Of(r[c.a]), b = f64Of(r[c.b]); r[c.d] = cellOf(expression); break; }
#define TO_INT(name, body) \
  case X::name##F32: { double a = f32Of(r[c.a]); int64_t v; body; r[c.d] = uint64_t(v); break; } \
  case X::name##F64: { double a = f64Of(r[c.a]); int64_t v; body; r[c.d] = uint64_t(v); break; }

  for (;;) {
    const Code& c = *pc++;
    at = &c;
    switch (c.op) {
      INT(Add, v = T(U(a) + U(b)))
      INT(Sub, v = T(U(a) - U(b)))
      INT(Mul, v = T(uint64_t(a) * uint64_t(b)))
      INT(Shl, v = T(U(a) << (b & T(sizeof(T) * 8 - 1))))
      INT(ShrS, v = T(a >> (b & T(sizeof(T) * 8 - 1))))
      INT(ShrU, v = T(U(a) >> (b & T(sizeof(T) * 8 - 1))))
      INT(RotL, v = T(std::rotl(U(a), int(b & T(sizeof(T) * 8 - 1)))))
      INT(MulHiS, v = mulHigh<T>(a, b))
      INT(MulHiU, v = T(mulHigh<U>(U(a), U(b))))
      INT(SAddT, if (__builtin_add_overflow(a, b, &v)) TRAP(Overflow))
      INT(SSubT, if (__builtin_sub_overflow(a, b, &v)) TRAP(Overflow))
      INT(SMulT, if (__builtin_mul_overflow(a, b, &v)) TRAP(Overflow))
      INT(UAddT, U u; if (__builtin_add_overflow(U(a), U(b), &u)) TRAP(Overflow) v = T(u))
      INT(USubT, U u; if (__builtin_sub_overflow(U(a), U(b), &u)) TRAP(Overflow) v = T(u))
      INT(UMulT, U u; if (__builtin_mul_overflow(U(a), U(b), &u)) TRAP(Overflow) v = T(u))
      INT(SDivT, if (b == 0) TRAP(DivideByZero) if (b == -1 && a == std::numeric_limits<T>::min()) TRAP(Overflow) v = T(a / b))
      INT(UDivT, if (b == 0) TRAP(DivideByZero) v = T(U(a) / U(b)))
      INT(SRemT, if (b == 0) TRAP(DivideByZero) v = b == -1 ? T(0) : T(a % b))
      INT(URemT, if (b == 0) TRAP(DivideByZero) v = T(U(a) % U(b)))
      ANY(And, a & b)
      ANY(Or, a | b)
      ANY(Xor, a ^ b)
      ANY(MinS, a < b ? a : b)
      ANY(MaxS, a < b ? b : a)
      ANY(CmpEq, a == b)
      ANY(CmpNe, a != b)
      ANY(CmpSlt, a < b)
      ANY(CmpSle, a <= b)
      ANY(CmpSgt, a > b)
      ANY(CmpSge, a >= b)
      ANY(CmpUlt, uint64_t(a) < uint64_t(b))
      ANY(CmpUle, uint64_t(a) <= uint64_t(b))
      ANY(CmpUgt, uint64_t(a) > uint64_t(b))
      ANY(CmpUge, uint64_t(a) >= uint64_t(b))
      JUMP(JmpEq, a == b)
      JUMP(JmpNe, a != b)
      JUMP(JmpSlt, a < b)
      JUMP(JmpSle, a <= b)
      JUMP(JmpSgt, a > b)
      JUMP(JmpSge, a >= b)
      JUMP(JmpUlt, uint64_t(a) < uint64_t(b))
      JUMP(JmpUle, uint64_t(a) <= uint64_t(b))
      JUMP(JmpUgt, uint64_t(a) > uint64_t(b))
      JUMP(JmpUge, uint64_t(a) >= uint64_t(b))
      UNARY(Clz, std::countl_zero(a))
      UNARY(Ctz, std::countr_zero(a))
      UNARY(Popcount, std::popcount(a))
      UNARY(SExtTo, T(a))
      UNARY(ZExtFrom, uint64_t(a))

      FLOAT2(FAdd, a + b)
      FLOAT2(FSub, a - b)
      FLOAT2(FMul, a * b)
      FLOAT2(FDiv, a / b)
      FLOAT2(FMin, floatMin(a, b))
      FLOAT2(FMax, floatMax(a, b))
      FLOAT1(FSqrt, std::sqrt(a))
      FLOAT1(FNeg, floatNeg(a))
      FLOAT1(FAbs, floatAbs(a))
      FLOAT1(FFloor, std::floor(a))
      FLOAT1(FCeil, std::ceil(a))
      FLOAT1(FTrunc, std::trunc(a))
      FLOAT1(FRound, std::nearbyint(a))
      case X::FmaF32: r[c.d] = cellOf(std::fma(f32Of(r[c.a]), f32Of(r[c.b]), f32Of(r[c.c]))); break;
      case X::FmaF64: r[c.d] = cellOf(std::fma(f64Of(r[c.a]), f64Of(r[c.b]), f64Of(r[c.c]))); break;
      FLOAT2(FEq, a == b)
      FLOAT2(FNe, a != b)
      FLOAT2(FLt, a < b)
      FLOAT2(FLe, a <= b)
      FLOAT2(FGt, a > b)
      FLOAT2(FGe, a >= b)
      FLOAT2(FNlt, !(a < b))
      FLOAT2(FNle, !(a <= b))
      FLOAT2(FNgt, !(a > b))
      FLOAT2(FNge, !(a >= b))
      case X::SToFF32: r[c.d] = cellOf(float(int64_t(r[c.a]))); break;
      case X::SToFF64: r[c.d] = cellOf(double(int64_t(r[c.a]))); break;
      case X::UToFF32: r[c.d] = cellOf(float(c.n == 32 ? uint32_t(r[c.a]) : r[c.a])); break;
      case X::UToFF64: r[c.d] = cellOf(double(c.n == 32 ? uint32_t(r[c.a]) : r[c.a])); break;
      TO_INT(FToST, if (!fitsSigned(a, c.n)) TRAP(Conversion) v = int64_t(a))
      TO_INT(FToUT, if (!fitsUnsigned(a, c.n)) TRAP(Conversion) v = int64_t(uint64_t(a) << (64 - c.n)) >> (64 - c.n))
      TO_INT(FToSSat, v = saturateSigned(a, c.n))
      TO_INT(FToUSat, v = int64_t(saturateUnsigned(a, c.n) << (64 - c.n)) >> (64 - c.n))
      case X::FExt: r[c.d] = cellOf(double(f32Of(r[c.a]))); break;
      case X::FCut: r[c.d] = cellOf(float(f64Of(r[c.a]))); break;

      case X::Const: r[c.d] = uint64_t(c.imm); break;
      case X::Mov: r[c.d] = r[c.a]; break;
      case X::MovN:
        if (c.n == 2) r[c.d] = r[c.a], r[c.d + 1] = r[c.a + 1];
        else std::memmove(r + c.d, r + c.a, c.n * 8u);
        break;
      case X::SlotAddr: {
        uint64_t address = uint64_t(r + c.imm);
        r[c.d] = c.b > 64 ? (address + c.b - 1) / c.b * c.b : address;
        break;
      }
      case X::Context: r[c.d] = context; break;
      case X::SetContext: context = r[c.a]; break;
      case X::FramePtr: r[c.d] = uint64_t(r); break;
      case X::SExt1: r[c.d] = 0 - r[c.a]; break;
      case X::Trunc1: r[c.d] = r[c.a] & 1; break;
      case X::Not: r[c.d] = r[c.a] ^ 1; break;
      case X::Select: r[c.d] = r[c.a] ? r[c.b] : r[c.c]; break;
      case X::Vector: reinterpret_cast<VectorFn>(intptr_t(c.imm))(r, c); break;

      case X::Load1: r[c.d] = readAt<uint8_t>(r[c.a] + c.imm) & 1; break;
      case X::Load8: r[c.d] = uint64_t(int64_t(readAt<int8_t>(r[c.a] + c.imm))); break;
      case X::Load16: r[c.d] = uint64_t(int64_t(readAt<int16_t>(r[c.a] + c.imm))); break;
      case X::Load32: r[c.d] = uint64_t(int64_t(readAt<int32_t>(r[c.a] + c.imm))); break;
      case X::LoadF32: r[c.d] = readAt<uint32_t>(r[c.a] + c.imm); break;
      case X::Load64: r[c.d] = readAt<uint64_t>(r[c.a] + c.imm); break;
      case X::LoadN:
        if (c.n == 16) std::memcpy(r + c.d, reinterpret_cast<void*>(r[c.a] + c.imm), 16);
        else std::memcpy(r + c.d, reinterpret_cast<void*>(r[c.a] + c.imm), c.n);
        break;
      case X::Store8: writeAt(r[c.b] + c.imm, uint8_t(r[c.a])); break;
      case X::Store16: writeAt(r[c.b] + c.imm, uint16_t(r[c.a])); break;
      case X::Store32: writeAt(r[c.b] + c.imm, uint32_t(r[c.a])); break;
      case X::Store64: writeAt(r[c.b] + c.imm, r[c.a]); break;
      case X::StoreN:
        if (c.n == 16) std::memcpy(reinterpret_cast<void*>(r[c.b] + c.imm), r + c.a, 16);
        else std::memcpy(reinterpret_cast<void*>(r[c.b] + c.imm), r + c.a, c.n);
        break;
      case X::MemCopy: std::memmove(reinterpret_cast<void*>(r[c.a]), reinterpret_cast<void*>(r[c.b]), size_t(c.imm)); break;
      case X::MemZero: std::memset(reinterpret_cast<void*>(r[c.a]), 0, size_t(c.imm)); break;
      case X::ALoad: r[c.d] = atomic(c.n, r[c.a] + c.imm, [](auto* p) { return __atomic_load_n(p, __ATOMIC_SEQ_CST); }); break;
      case X::AStore:
        atomic(c.n, r[c.b] + c.imm, [&](auto* p) {
          __atomic_store_n(p, std::remove_reference_t<decltype(*p)>(r[c.a]), __ATOMIC_SEQ_CST);
          return 0;
        });
        break;
      case X::AAdd:
        r[c.d] = atomic(c.n, r[c.b] + c.imm, [&](auto* p) { return __atomic_fetch_add(p, std::remove_reference_t<decltype(*p)>(r[c.a]), __ATOMIC_SEQ_CST); });
        break;
      case X::ASwap:
        r[c.d] = atomic(c.n, r[c.b] + c.imm, [&](auto* p) { return __atomic_exchange_n(p, std::remove_reference_t<decltype(*p)>(r[c.a]), __ATOMIC_SEQ_CST); });
        break;
      case X::ACas:
        r[c.d] = atomic(c.n, r[c.c] + c.imm, [&](auto* p) {
          using T = std::remove_reference_t<decltype(*p)>;
          T expected = T(r[c.a]);
          __atomic_compare_exchange_n(p, &expected, T(r[c.b]), false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
          return expected;
        });
        break;
      case X::Fence: __atomic_thread_fence(__ATOMIC_SEQ_CST); break;

      case X::Call: {
        FUEL
        const Decoded& callee = program.functions[c.a];
        ENTER(callee)
        break;
      }
      case X::CallInd: {
        FUEL
        uint64_t index = r[c.a] - TextBase;
        uint32_t target = index < program.functionAt.size() ? program.functionAt[index] : Program::None;
        if (target == Program::None || program.functions[target].paramCells != c.n) {
          outcome.kind = Outcome::Stuck;
          outcome.message = "an indirect call of what is no such function";
          return outcome;
        }
        const Decoded& callee = program.functions[target];
        ENTER(callee)
        break;
      }
      case X::Ret: {
        uint64_t* caller = reinterpret_cast<uint64_t*>(r[0]);
        if (!caller) {
          outcome.kind = Outcome::Returned;
          outcome.result.assign(r + c.a, r + c.a + c.n);
          return outcome;
        }
        uint64_t* to = caller + r[2];
        for (unsigned k = 0; k < c.n; ++k) to[k] = r[c.a + k];
        pc = code + (r[1] - TextBase);
        r = caller;
        break;
      }
      case X::Syscall: {
        int64_t words[7];
        for (unsigned k = 0; k < 7; ++k) words[k] = int64_t(r[program.cells[c.b + k]]);
        bool exited = false;
        int64_t answer = systemCall(words, exited);
        if (exited) {
          outcome.kind = Outcome::Exited;
          outcome.status = int(answer);
          return outcome;
        }
        r[c.d] = uint64_t(answer);
        break;
      }
      case X::TrapIf:
        if (!r[c.a]) break;
        [[fallthrough]];
      case X::Trap:
        trapKind = TrapKind(c.imm);
        for (unsigned k = 0; k < 3; ++k) trapDetails[k] = k < c.n ? r[program.cells[c.b + k]] : 0;
        goto raise;
      case X::Jump:
        FUEL
        pc = code + c.d;
        break;
      case X::JumpIf:
        FUEL
        pc = code + (r[c.a] ? c.d : c.c);
        break;
      case X::Switch: {
        FUEL
        const Program::Table& table = program.tables[c.b];
        int64_t v = int64_t(r[c.a]);
        auto it = std::lower_bound(table.cases.begin(), table.cases.end(), std::pair<int64_t, uint32_t>(v, 0));
        pc = code + (it != table.cases.end() && it->first == v ? it->second : table.otherwise);
        break;
      }
      case X::Unreachable:
        outcome.kind = Outcome::Stuck;
        outcome.message = "an `unreachable` was reached";
        return outcome;
      case X::Undefined:
        outcome.kind = Outcome::Stuck;
        outcome.message = program.undefined[c.a];
        return outcome;
      case X::Line: reached[c.a] = 1; break;
    }
    continue;

  raise:
    // The runtime reports the trap as a function called from here; otherwise the caller of the interpreter gets it.
    if (program.trapRaise != Program::None) {
      if (trapKind == TrapKind::StackOverflow) limit = stack + stackBytes / 8;
      const Decoded& raiser = program.functions[program.trapRaise];
      uint32_t function = uint32_t(std::upper_bound(program.functions.begin(), program.functions.end(), uint32_t(at - code),
                                                    [](uint32_t k, const Decoded& d) { return k < d.first; }) -
                                   program.functions.begin() - 1);
      uint64_t* frame = r + program.functions[function].frameCells;
      if (raiser.paramCells != 4 || frame + raiser.frameCells > limit) {
        outcome.kind = Outcome::Stuck;
        outcome.message = "a trap that cannot be reported";
        return outcome;
      }
      frame[0] = uint64_t(r);
      frame[1] = TextBase + uint64_t(pc - code);
      frame[2] = 0;
      frame[LinkCells] = uint64_t(trapKind);
      for (unsigned k = 0; k < 3; ++k) frame[LinkCells + 1 + k] = trapDetails[k];
      r = frame;
      pc = code + raiser.first;
      continue;
    }
    outcome.kind = Outcome::Trapped;
    outcome.trap = trapKind;
    for (unsigned k = 0; k < 3; ++k) outcome.details[k] = int64_t(trapDetails[k]);
    outcome.chain.push_back(program.places[at - code]);
    for (; r[0]; r = reinterpret_cast<uint64_t*>(r[0])) outcome.chain.push_back(program.places[r[1] - TextBase - 1]);
    return outcome;
  }
}

Interpreter::Interpreter(const Module& m, uint64_t stackBytes, bool recordLines)
    : state(std::make_unique<State>(m, stackBytes, recordLines)) {}
Interpreter::~Interpreter() = default;

Outcome Interpreter::call(uint32_t function, const std::vector<uint64_t>& args, uint64_t fuel) { return state->run(function, args, fuel); }

Outcome Interpreter::call(std::string_view function, const std::vector<uint64_t>& args, uint64_t fuel) {
  const Module& m = state->program.module;
  auto it = m.byName.find(function);
  if (it == m.byName.end() || m.symbols[it->second.index].kind != SymbolKind::Function) {
    Outcome o;
    o.kind = Outcome::Stuck;
    o.message = "no function @" + std::string(function);
    return o;
  }
  return call(m.symbols[it->second.index].index, args, fuel);
}

Lines Interpreter::lines() const {
  Lines lines;
  for (const Code& c : state->program.code)
    if (c.op == X::Line) {
      const PlaceInfo& p = state->program.module.places[c.a];
      if (p.line) lines[{p.file, p.line}] |= state->reached[c.a] != 0;
    }
  return lines;
}

void* Interpreter::addressOf(std::string_view data) {
  const Module& m = state->program.module;
  auto it = m.byName.find(data);
  if (it == m.byName.end()) return nullptr;
  return reinterpret_cast<void*>(state->program.symbolAddress[it->second.index]);
}

}  // namespace mica::ir
