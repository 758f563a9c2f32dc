// See emit.h.
#include "backend_x64/emit.h"

#include <algorithm>
#include <bit>

#include "backend_x64/abi.h"
#include "backend_x64/disasm_names.h"
#include "backend_x64/encoder.h"
#include "backend_x64/target.h"
#include "ir/parallel_move.h"

namespace mica::x64 {

namespace {

using mir::Inst;
using mir::Loc;
using mir::MemRef;
using mir::PReg;

constexpr uint32_t PageSize = 4096;
constexpr uint64_t LargestFrame = 0x7fff0000;
constexpr uint32_t NoPlace = 0xffffffffu;

bool readsFlags(uint16_t op) {
  return op == PBranch || op == PTrapIf || op == PMoveIf || op == opOf(Mnemonic::Setcc) ||
         op == opOf(Mnemonic::Cmovcc) || op == opOf(Mnemonic::Adc) || op == opOf(Mnemonic::Sbb);
}

// Instructions that set all flags, or after which nobody reads earlier ones.
bool writesFlags(uint16_t op) {
  if (op == PCall || op == PCallInd || op == PSyscall || op == PSpawn || op == PCpuLevel) return true;
  if (op < mir::FirstTarget || op >= PFirst) return false;
  switch (Mnemonic(op - mir::FirstTarget)) {
    case Mnemonic::Add:
    case Mnemonic::Or:
    case Mnemonic::And:
    case Mnemonic::Sub:
    case Mnemonic::Xor:
    case Mnemonic::Cmp:
    case Mnemonic::Test:
    case Mnemonic::Neg:
    case Mnemonic::Imul:
    case Mnemonic::Mul:
    case Mnemonic::Div:
    case Mnemonic::Idiv:
    case Mnemonic::Shl:
    case Mnemonic::Shr:
    case Mnemonic::Sar:
    case Mnemonic::Lzcnt:
    case Mnemonic::Tzcnt:
    case Mnemonic::Popcnt:
    case Mnemonic::Vucomiss:
    case Mnemonic::Vucomisd:
    case Mnemonic::Vptest: case Mnemonic::Kortestw: case Mnemonic::Cmpxchg: case Mnemonic::Xadd:
      return true;
    default: return false;
  }
}

class Emitter {
 public:
  Emitter(const mir::Function& function, const ir::Function& source, uint32_t trap, Listing* l)
      : f(function), irFunction(source), trapSymbol(trap), listing(l) {}

  bool run(elf::ObjectFunction& out, std::string& error) {
    if (!layFrame()) {
      error = "the stack frame is larger than 2 GiB";
      return false;
    }
    threadJumps();
    for (size_t k = 0; k < f.blocks.size(); ++k) labels.push_back(code.newLabel());
    for (size_t k = 0; k < f.constants.size(); ++k) constantLabels.push_back(code.newLabel());
    prologue();
    for (size_t k = 0; k < order.size(); ++k) block(k);
    for (const Stub& s : stubs) trapStub(s);
    jumpTables();
    constants();
    if (!code.finish()) {
      error = code.refusal();
      return false;
    }
    out.code = code.bytes();
    out.relocs = code.relocs();
    for (const elf::LineEntry& l : lines) out.lines.push_back({code.finalOffset(l.offset), l.place});
    out.align = 16;
    return true;
  }

 private:
  const mir::Function& f;
  const ir::Function& irFunction;
  const uint32_t trapSymbol;
  Listing* const listing;
  CodeBuffer code;
  std::vector<Label> labels, constantLabels;
  std::vector<mir::BlockId> order;             // the blocks that are emitted
  std::vector<uint32_t> threaded;              // by block: where a jump to it really goes
  std::vector<uint32_t> positionOf;            // by block: in order
  struct Stub { Label label; const Inst* inst; };
  std::vector<Stub> stubs;
  struct Table { Label label; uint32_t table; uint32_t block; };
  std::vector<Table> tables;
  std::vector<elf::LineEntry> lines;
  uint32_t placeNow = NoPlace - 1;

  // Everything goes out by these, so that a listing sees it.
  void put(Mnemonic m, const Operands& operands) {
    emit(code, m, operands);
    if (listing) listing->line("  " + instructionText(m, operands), placeNow);
  }
  void jump(Label to) {
    code.jump(to);
    if (listing) listing->line("  jmp L" + std::to_string(to.index), placeNow);
  }
  void jumpIf(Cond c, Label to) {
    code.jumpIf(c, to);
    if (listing) listing->line(std::string("  j") + conditionName(c) + " L" + std::to_string(to.index), placeNow);
  }
  void bind(Label l) {
    code.bind(l);
    if (listing) listing->line("L" + std::to_string(l.index) + ":", NoPlace);
  }

  // the frame
  std::vector<PReg> saved;
  std::vector<uint32_t> slotOffsets, spillOffsets;   // from the bottom
  uint32_t frameSize = 0, alignment = 16;
  bool fromRsp() const { return alignment > 16; }

  bool layFrame() {
    for (PReg r : {Rbx, R12, R13, R14})
      if (f.usedRegs & mir::bit(r) && !irFunction.entry) saved.push_back(r);
    uint64_t at = f.outgoingBytes;
    auto take = [&](uint64_t size, uint64_t align) {
      alignment = std::max(alignment, uint32_t(align));
      at = (at + align - 1) / align * align;
      uint64_t offset = at;
      at += size;
      return uint32_t(std::min<uint64_t>(offset, LargestFrame));
    };
    for (const ir::Slot& s : f.slots) slotOffsets.push_back(take(s.size, std::max<uint32_t>(1, s.align)));
    spillOffsets.resize(f.spillSlots.size());
    for (unsigned size : {64u, 32u, 16u, 8u})
      for (size_t k = 0; k < f.spillSlots.size(); ++k)
        if (f.spillSlots[k].size == size) spillOffsets[k] = take(size, size);
    uint64_t savedBytes = saved.size() * 8;
    at = (at + savedBytes + alignment - 1) / alignment * alignment - savedBytes;
    if (fromRsp()) at = (at + alignment - 1) / alignment * alignment;
    frameSize = uint32_t(at);
    return at < LargestFrame;
  }

  Mem frameMem(uint32_t offset, int64_t disp) const {
    if (fromRsp()) return Mem::at(rsp, int64_t(offset) + disp);
    return Mem::at(rbp, int64_t(offset) + disp - int64_t(frameSize) - int64_t(saved.size()) * 8);
  }

  void prologue() {
    note(irFunction.place);
    if (irFunction.entry) {  // nobody called: the parameter is the stack pointer, and the chain of frames ends here
      put(Mnemonic::Mov, {rdi, rsp});
      put(Mnemonic::Xor, {gpr(Rbp, 32), gpr(Rbp, 32)});
      put(Mnemonic::And, {rsp, -16});
      put(Mnemonic::Push, {rbp});
    }
    put(Mnemonic::Push, {rbp});
    put(Mnemonic::Mov, {rbp, rsp});
    for (PReg r : saved) put(Mnemonic::Push, {gpr(r)});
    if (frameSize >= PageSize) {  // touch each page in order, so that the guard page is met and not stepped over
      Label loop;
      put(Mnemonic::Mov, {gpr(R11, 32), int64_t(frameSize / PageSize)});
      loop = code.newLabel();
      bind(loop);
      put(Mnemonic::Sub, {rsp, int64_t(PageSize)});
      put(Mnemonic::Test, {Mem::at(rsp).sized(64), rsp});
      put(Mnemonic::Sub, {gpr(R11, 32), 1});
      jumpIf(Cond::Ne, loop);
    }
    if (frameSize % PageSize) put(Mnemonic::Sub, {rsp, int64_t(frameSize % PageSize)});
    if (fromRsp()) put(Mnemonic::And, {rsp, -int64_t(alignment)});
  }

  void epilogue() {
    if (!saved.empty() && (frameSize || fromRsp())) put(Mnemonic::Lea, {rsp, Mem::at(rbp, -int64_t(saved.size()) * 8)});
    else if (frameSize || fromRsp()) put(Mnemonic::Mov, {rsp, rbp});
    for (size_t k = saved.size(); k-- > 0;) put(Mnemonic::Pop, {gpr(saved[k])});
    put(Mnemonic::Pop, {rbp});
    put(Mnemonic::Ret, {});
  }

  // Blocks that only jump are left out; jumps to them go where they go.
  void threadJumps() {
    threaded.resize(f.blocks.size());
    positionOf.assign(f.blocks.size(), NoPlace);
    auto empty = [&](uint32_t b) {
      const mir::Block& block = f.blocks[b];
      if (b == 0 || block.insts.back().op != PJump || block.succs[0].to.index == b) return false;
      for (const Inst& i : block.insts)
        if (i.op != PJump && i.op != mir::Copy) return false;
      return true;
    };
    for (mir::BlockId b : f.order) {
      uint32_t to = b.index;
      for (size_t steps = 0; steps < f.blocks.size() && empty(to); ++steps) to = f.blocks[to].succs[0].to.index;
      threaded[b.index] = to;
    }
    for (mir::BlockId b : f.order)
      if (!empty(b.index) || threaded[b.index] == b.index || empty(threaded[b.index])) {
        positionOf[b.index] = uint32_t(order.size());
        order.push_back(b);
      }
  }

  uint32_t target(const mir::Block& b, uint32_t succ) const { return threaded[b.succs[succ].to.index]; }

  void note(ir::PlaceId place) {
    if (place.index == placeNow) return;
    placeNow = place.index;
    if (!lines.empty() && lines.back().offset == code.size()) lines.pop_back();
    lines.push_back({code.size(), place.index});
  }

  void block(size_t position) {
    mir::BlockId id = order[position];
    const mir::Block& b = f.blocks[id.index];
    // Whatever is jumped back to starts a loop's code.
    bool loopStart = false;
    if (b.loopDepth)
      for (mir::BlockId p : b.preds) loopStart |= positionOf[p.index] != NoPlace && positionOf[p.index] >= position;
    if (loopStart && position > 0) code.align(16);
    bind(labels[id.index]);
    uint32_t next = position + 1 < order.size() ? order[position + 1].index : NoPlace;
    for (size_t k = 0; k < b.insts.size(); ++k) instruction(b, k, next);
  }

  const mir::Operand& operand(const Inst& i, unsigned k) const { return f.operandsOf(i)[k]; }
  static bool isVector(PReg r) { return r >= FirstVector && r < 48; }
  static Reg regOf(PReg r, unsigned bits) {
    if (r >= 64) return kreg(r - 64u);
    return isVector(r) ? vec(r - FirstVector, bits) : gpr(r, bits);
  }
  Reg regAt(const Inst& i, unsigned k, unsigned bits) const {
    const Loc& l = operand(i, k).loc;
    if (!l.isReg()) internalError("x86-64: an operand is in no register");
    return regOf(PReg(l.index), bits);
  }
  Mem spillMem(uint32_t slot, unsigned bits) const { return frameMem(spillOffsets[slot], 0).sized(bits); }

  Mem memOf(const Inst& i) const {
    const MemRef& m = i.mem;
    Mem r;
    switch (m.kind) {
      case MemRef::None: internalError("x86-64: an instruction lacks its memory operand");
      case MemRef::Address:
        r = m.base >= 0 ? Mem::at(regAt(i, unsigned(m.base), 64), m.disp) : Mem::absolute(m.disp);
        break;
      case MemRef::Symbol: r = Mem::ripSymbol(m.id, m.disp); break;
      case MemRef::Slot: r = frameMem(slotOffsets[m.id], m.disp); break;
      case MemRef::Incoming: r = Mem::at(rbp, 16 + m.disp); break;
      case MemRef::Outgoing: r = Mem::at(rsp, m.disp); break;
      case MemRef::Constant: r = Mem::ripLabel(constantLabels[m.id]); break;
    }
    if (m.index >= 0) {
      Reg index = regAt(i, unsigned(m.index), 64);
      r = r.scaled(index, m.scale);
    }
    if (m.copies) return r.broadcast(m.bits, m.copies);
    return r.sized(m.bits);
  }

  void plain(const Inst& i) {
    Operands ops;
    for (const mir::Arg& a : i.args) {
      switch (a.kind) {
        case mir::Arg::None: break;
        case mir::Arg::Reg: {
          const Loc& l = operand(i, a.operand).loc;
          if (l.isSlot()) ops.add(spillMem(l.index, a.memBits));
          else ops.add(regAt(i, a.operand, a.bits));
          break;
        }
        case mir::Arg::Mem: ops.add(memOf(i)); break;
        case mir::Arg::Imm: ops.add(i.imm); break;
        case mir::Arg::Cond: ops.add(Cond(i.cond)); break;
        case mir::Arg::Fixed: ops.add(regOf(a.operand, a.bits)); break;
      }
    }
    ops.mask = i.mask;
    ops.zeroing = i.zeroing;
    ops.lock = i.locked;
    put(Mnemonic(i.op - mir::FirstTarget), ops);
  }

  void moveLoc(Loc to, Loc from, const mir::VRegInfo& info) {
    if (info.cls == mir::RegClass::Int) {
      Operand t = to.isReg() ? Operand(gpr(to.index)) : Operand(spillMem(to.index, 64));
      Operand s = from.isReg() ? Operand(gpr(from.index)) : Operand(spillMem(from.index, 64));
      put(Mnemonic::Mov, {t, s});
      return;
    }
    unsigned bits = std::max<unsigned>(128, info.size * 8u);
    if (to.isReg() && from.isReg()) {
      put(Mnemonic::Vmovaps, {regOf(PReg(to.index), bits), regOf(PReg(from.index), bits)});
      return;
    }
    Mnemonic m = info.size == 8 ? Mnemonic::Vmovsd : Mnemonic::Vmovups;
    unsigned memBits = info.size * 8u;
    if (to.isReg()) put(m, {regOf(PReg(to.index), bits), spillMem(from.index, memBits)});
    else put(m, {spillMem(to.index, memBits), regOf(PReg(from.index), bits)});
  }

  bool flagsDead(const mir::Block& b, size_t at) const {
    for (size_t k = at + 1; k < b.insts.size() && k < at + 24; ++k) {
      uint16_t op = b.insts[k].op;
      if (readsFlags(op)) return false;
      if (writesFlags(op)) return true;
    }
    return at + 24 >= b.insts.size();
  }

  void instruction(const mir::Block& b, size_t at, uint32_t next) {
    const Inst& i = b.insts[at];
    if (i.op == mir::Copy || i.op == PArgs) return;
    note(i.place);
    switch (i.op) {
      case mir::Move: return moveLoc(operand(i, 0).loc, operand(i, 1).loc, f.vregs[operand(i, 0).reg.index]);
      case mir::Swap: return put(Mnemonic::Xchg, {regAt(i, 0, 64), regAt(i, 1, 64)});
      case PJump:
        if (target(b, 0) != next) jump(labels[target(b, 0)]);
        return;
      case PBranch: return branch(i, b, next);
      case PSwitch: return switchOn(i, b);
      case PRet:
        if (irFunction.entry) put(Mnemonic::Ud2, {});
        else epilogue();
        return;
      case PTrapIf: {
        Label stub = code.newLabel();
        stubs.push_back({stub, &i});
        jumpOn({Cond(i.cond), Parity(i.extra & 3)}, stub);
        return;
      }
      case PTrap: return trapCall(i);
      case PMoveIf: {
        Label skip = code.newLabel();
        jumpOn(negate(FlagCond{Cond(i.cond), Parity(i.extra & 3)}), skip);
        moveLoc(operand(i, 0).loc, operand(i, 2).loc, f.vregs[operand(i, 0).reg.index]);
        bind(skip);
        return;
      }
      case PCall: return put(Mnemonic::Call, {SymbolTarget{i.extra}});
      case PCallInd: return put(Mnemonic::Call, {rax});
      case PSyscall: return put(Mnemonic::Syscall, {});
      case PSpawn: return spawn();
      case PCpuLevel: return cpuLevel();
      case PZeroReg: {
        Reg r = regAt(i, 0, 32);
        if (flagsDead(b, at)) put(Mnemonic::Xor, {r, r});
        else put(Mnemonic::Mov, {r, 0});
        return;
      }
      default: return plain(i);
    }
  }

  // Jumps to `to` on the condition and goes on otherwise.
  void jumpOn(FlagCond c, Label to) {
    switch (c.parity) {
      case Parity::Ignored: jumpIf(c.cond, to); break;
      case Parity::OrSet:
        jumpIf(Cond::P, to);
        jumpIf(c.cond, to);
        break;
      case Parity::AndClear: {
        Label skip = code.newLabel();
        jumpIf(Cond::P, skip);
        jumpIf(c.cond, to);
        bind(skip);
      }
    }
  }

  void branch(const Inst& i, const mir::Block& b, uint32_t next) {
    FlagCond c{Cond(i.cond), Parity(i.extra & 3)};
    uint32_t yes = target(b, 0), no = target(b, 1);
    if (yes == no) {
      if (yes != next) jump(labels[yes]);
    } else if (yes == next) {
      jumpOn(negate(c), labels[no]);
    } else {
      jumpOn(c, labels[yes]);
      if (no != next) jump(labels[no]);
    }
  }

  void switchOn(const Inst& i, const mir::Block& b) {
    Label table = code.newLabel();
    tables.push_back({table, i.extra, uint32_t(&b - f.blocks.data())});
    Reg index = regAt(i, 0, 64), base = regAt(i, 1, 64), to = regAt(i, 2, 64);
    put(Mnemonic::Lea, {base, Mem::ripLabel(table)});
    put(Mnemonic::Movsxd, {to, Mem::at(base).scaled(index, 4).sized(32)});
    put(Mnemonic::Add, {to, base});
    put(Mnemonic::Jmp, {to});
  }

  void jumpTables() {
    for (const Table& t : tables) {
      code.zerosTo(4);
      bind(t.label);
      if (listing) listing->line("  (jump table)", NoPlace);
      for (uint32_t s : f.tables[t.table].succs) code.labelDelta(labels[target(f.blocks[t.block], s)], t.label);
    }
  }

  void constants() {
    std::vector<uint32_t> bySize(f.constants.size());
    for (uint32_t k = 0; k < bySize.size(); ++k) bySize[k] = k;
    std::stable_sort(bySize.begin(), bySize.end(),
                     [&](uint32_t a, uint32_t b) { return f.constants[a].bytes.size() > f.constants[b].bytes.size(); });
    for (uint32_t k : bySize) {
      const std::string& bytes = f.constants[k].bytes;
      code.zerosTo(std::min<uint32_t>(16, uint32_t(bytes.size())));
      bind(constantLabels[k]);
      code.raw(bytes.data(), bytes.size());
      if (listing) listing->line("  (constant of " + std::to_string(bytes.size()) + " bytes)", NoPlace);
    }
  }

  void trapStub(const Stub& s) {
    bind(s.label);
    placeNow = NoPlace - 1;
    note(s.inst->place);
    trapCall(*s.inst);
  }

  // Kind and details into the argument registers, and the call that does not come back.
  void trapCall(const Inst& i) {
    const mir::TrapCall& t = f.traps[i.extra >> 2];
    static constexpr PReg places[] = {Rsi, Rdx, Rcx};
    std::vector<mir::PendingMove> moves;
    mir::RegSet busy = 0;
    for (unsigned k = 0; k < t.count; ++k) {
      if (t.details[k].isImm) continue;
      const mir::Operand& o = operand(i, t.details[k].operand);
      moves.push_back({o.loc, Loc::reg(places[k]), o.reg, nullptr});
      if (o.loc.isReg()) busy |= mir::bit(PReg(o.loc.index));
      busy |= mir::bit(places[k]);
    }
    const mir::Target& machine = x64::target(irFunction.cpuLevel);
    mir::MoveContext context{f, machine.allocatable[0] & ~busy, machine, [](unsigned, unsigned) -> uint32_t {
      internalError("x86-64: a trap's arguments need a spare slot");
    }};
    for (const mir::MoveStep& s : mir::orderMoves(moves, context)) {
      if (s.kind == mir::MoveStep::Swap) put(Mnemonic::Xchg, {gpr(s.to.index), gpr(s.from.index)});
      else moveLoc(s.to, s.from, f.vregs[s.value.index]);
    }
    for (unsigned k = 0; k < 3; ++k) {
      if (k < t.count && !t.details[k].isImm) continue;
      int64_t value = k < t.count ? t.details[k].imm : 0;
      if (value == 0) put(Mnemonic::Xor, {gpr(places[k], 32), gpr(places[k], 32)});
      else put(Mnemonic::Mov, {gpr(places[k]), value});
    }
    put(Mnemonic::Mov, {gpr(Rdi, 32), t.kind});
    put(Mnemonic::Call, {SymbolTarget{trapSymbol}});
  }

  // clone(flags rdi, stack rsi, parent's tid rdx, child's tid r10); function r9, its argument r8, context rbx. The
  // child starts with these registers on its own stack.
  void spawn() {
    constexpr int Clone = 56, Exit = 60;
    Label parent = code.newLabel();
    put(Mnemonic::Mov, {gpr(Rax, 32), Clone});
    put(Mnemonic::Syscall, {});
    put(Mnemonic::Test, {rax, rax});
    jumpIf(Cond::Ne, parent);
    put(Mnemonic::And, {rsp, -16});
    put(Mnemonic::Mov, {r15, rbx});
    put(Mnemonic::Xor, {gpr(Rbp, 32), gpr(Rbp, 32)});
    put(Mnemonic::Mov, {rdi, r8});
    put(Mnemonic::Call, {r9});
    put(Mnemonic::Xor, {gpr(Rdi, 32), gpr(Rdi, 32)});
    put(Mnemonic::Mov, {gpr(Rax, 32), Exit});
    put(Mnemonic::Syscall, {});
    put(Mnemonic::Ud2, {});
    bind(parent);
  }

  // rsi := 1 for AVX2, FMA, BMI and the like with the system's support, 2 for AVX-512 F, BW, DQ, VL too, else 0.
  void cpuLevel() {
    constexpr int64_t Leaf1 = 1 << 12 | 1 << 22 | 1 << 23 | 1 << 27 | 1 << 28;  // ecx: FMA MOVBE POPCNT OSXSAVE AVX
    constexpr int64_t Leaf7 = 1 << 3 | 1 << 5 | 1 << 8;                                 // ebx: BMI1 AVX2 BMI2
    constexpr int64_t Leaf7Level2 = int64_t(int32_t(1u << 16 | 1u << 17 | 1u << 30 | 1u << 31));   // AVX512 F DQ BW VL
    constexpr int64_t Avx = 6, Avx512 = 0xe6;                                           // xcr0
    Reg a = gpr(Rax, 32), b = gpr(Rbx, 32), c = gpr(Rcx, 32), result = gpr(Rsi, 32), xcr0 = gpr(Rdi, 32);
    Label end = code.newLabel();
    auto leaf = [&](int64_t n) {
      put(Mnemonic::Mov, {a, n});
      put(Mnemonic::Xor, {c, c});
      put(Mnemonic::Cpuid, {});
    };
    auto require = [&](Reg r, int64_t bits) {
      put(Mnemonic::And, {r, bits});
      put(Mnemonic::Cmp, {r, bits});
      jumpIf(Cond::Ne, end);
    };
    put(Mnemonic::Xor, {result, result});
    leaf(0);
    put(Mnemonic::Cmp, {a, 7});
    jumpIf(Cond::B, end);
    leaf(1);
    require(c, Leaf1);
    put(Mnemonic::Xor, {c, c});
    put(Mnemonic::Xgetbv, {});
    put(Mnemonic::Mov, {xcr0, a});
    require(a, Avx);
    leaf(0x80000001);
    require(c, 1 << 5);                        // LZCNT
    leaf(7);
    put(Mnemonic::Mov, {a, b});
    require(a, Leaf7);
    put(Mnemonic::Mov, {result, 1});
    require(b, Leaf7Level2);
    require(xcr0, Avx512);
    put(Mnemonic::Mov, {result, 2});
    bind(end);
  }
};

}  // namespace

bool emitFunction(const mir::Function& f, const ir::Function& source, uint32_t trapSymbol, elf::ObjectFunction& out,
                  std::string& error, Listing* listing) {
  return Emitter(f, source, trapSymbol, listing).run(out, error);
}

}  // namespace mica::x64
