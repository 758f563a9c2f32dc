// Turns functions into the interpreter's code: cells for values, immediate operands, jumps with their parallel moves.
#include <algorithm>
#include <cstring>

#include "ir/analysis.h"
#include "ir/interp_code.h"

namespace mica::ir::interp {

namespace {

X operator+(X x, unsigned n) { return X(unsigned(x) + n); }

// The place of an integer width among the forms 8, 16, 32, 64.
unsigned widthIndex(Type t) {
  switch (t.laneBytes()) {
    case 1: return 0;
    case 2: return 1;
    case 4: return 2;
    default: return 3;
  }
}

class Decoder {
 public:
  Decoder(Program& p, uint32_t index) : program(p), module(p.module), f(p.module.functions[index]), self(p.functions[index]), cfg(f) {}

  void run() {
    assignCells();
    findImmediates();
    self.first = uint32_t(program.code.size());
    for (uint32_t k = 0; k < cfg.order.size(); ++k) {
      BlockId b = cfg.order[k];
      block = b;
      blockStart[b.index] = here();
      lineAt = PlaceId();
      next = k + 1 < cfg.order.size() ? cfg.order[k + 1] : BlockId();
      for (InstId i : f.blocks[b.index].insts) inst(f.insts[i.index]);
    }
    finishEdges();
    patch();
    self.frameCells = (cellCount + 7) / 8 * 8;
    for (uint32_t call : frameUsers) program.code[call].c = self.frameCells;
  }

 private:
  Program& program;
  const Module& module;
  const Function& f;
  Decoded& self;
  Cfg cfg;
  std::vector<uint32_t> cell;            // of each value
  std::vector<uint64_t> slotOffset;      // in cells from the frame's start
  std::vector<char> isConst, skipped;    // values: an IConst; an IConst that is only used as an immediate
  std::vector<uint32_t> blockStart;
  uint32_t cellCount = LinkCells, scratch = 0;
  BlockId block, next;                   // being decoded; laid out behind it
  PlaceId place, lineAt;                 // of the code being emitted; of the last Line in this block
  // Jumps to blocks are patched at the end; field 0 = d, 1 = c, 2 = table entry.
  struct Patch { uint32_t code; uint8_t field; uint32_t entry; BlockId block; };
  std::vector<Patch> patches;
  struct Edge { uint32_t code; uint8_t field; uint32_t entry; Target target; PlaceId place; };
  std::vector<Edge> edges;               // edges with arguments get their moves out of line
  std::vector<uint32_t> frameUsers;      // codes that want the frame's size
  std::vector<uint32_t> counts;          // of uses; made when first asked for, like the next
  std::vector<BlockId> homes;

  uint32_t here() const { return uint32_t(program.code.size()); }
  Code& emit(X op) {
    program.code.emplace_back().op = op;
    program.places.push_back(place);
    return program.code.back();
  }

  void assignCells() {
    cell.resize(f.values.size());
    blockStart.resize(f.blocks.size());
    for (ValueId p : f.blocks[0].params) take(p);
    self.paramCells = cellCount - LinkCells;
    self.resultCells = cellsOf(f.result);
    uint32_t largest = 1;
    for (BlockId b : cfg.order) {
      if (b.index != 0)
        for (ValueId p : f.blocks[b.index].params) {
          take(p);
          largest = std::max(largest, cellsOf(f.typeOf(p)));
        }
      for (InstId i : f.blocks[b.index].insts)
        if (ValueId r = f.insts[i.index].result) take(r);
    }
    scratch = cellCount;
    cellCount += largest;
    for (const Slot& s : f.slots) {
      uint64_t align = std::max(s.align, 8u);
      // The frame is aligned to 64 bytes; beyond that the address is aligned when it is taken, within room for it.
      uint64_t bytes = (uint64_t(s.size) + 7) / 8 * 8 + (align > 64 ? align : 0);
      uint64_t inFrame = std::min<uint64_t>(align, 64) / 8;
      cellCount = uint32_t((cellCount + inFrame - 1) / inFrame * inFrame);
      slotOffset.push_back(cellCount);
      cellCount += uint32_t(bytes / 8);
    }
  }
  void take(ValueId v) {
    cell[v.index] = cellCount;
    cellCount += cellsOf(f.typeOf(v));
  }

  bool takesImmediate(const Inst& i, unsigned operand) const {
    if (operand != 1 || i.type.isVector()) return false;
    switch (i.op) {
      case Op::IAdd: case Op::ISub: case Op::IMul: case Op::And: case Op::Or: case Op::Xor: case Op::Shl: case Op::ShrS: case Op::ShrU:
      case Op::RotL: case Op::SAddT: case Op::SSubT: case Op::SMulT: case Op::UAddT: case Op::USubT: case Op::UMulT: case Op::SDivT:
      case Op::UDivT: case Op::SRemT: case Op::URemT: case Op::ICmp: case Op::PAdd: case Op::IMinS: case Op::IMaxS: case Op::MulHiS: case Op::MulHiU:
        return true;
      default: return false;
    }
  }

  void findImmediates() {
    isConst.assign(f.values.size(), 0);
    skipped.assign(f.values.size(), 0);
    for (BlockId b : cfg.order)
      for (InstId id : f.blocks[b.index].insts) {
        const Inst& i = f.insts[id.index];
        if (i.op == Op::IConst && !i.type.isVector()) isConst[i.result.index] = skipped[i.result.index] = 1;
      }
    for (BlockId b : cfg.order)
      for (InstId id : f.blocks[b.index].insts) {
        const Inst& i = f.insts[id.index];
        for (unsigned k = 0; k < i.argCount; ++k)
          if (!takesImmediate(i, k)) skipped[f.arg(i, k).index] = 0;
        for (const Target& t : targetsOf(f, i))
          for (ValueId v : argsOf(f, t)) skipped[v.index] = 0;
      }
  }

  uint32_t at(const Inst& i, unsigned k) const { return cell[f.arg(i, k).index]; }

  // The second operand as an immediate when it is a constant; `forms` is the distance to the immediate form.
  void binary(const Inst& i, X op, unsigned forms) {
    ValueId second = f.arg(i, 1);
    bool imm = isConst[second.index] && takesImmediate(i, 1);
    Code& c = emit(imm ? op + forms : op);
    c.d = cell[i.result.index];
    c.a = at(i, 0);
    if (imm) c.imm = f.insts[f.values[second.index].def.index].imm;
    else c.b = cell[second.index];
  }
  void integer(const Inst& i, X op8) { binary(i, op8 + widthIndex(i.type), 4); }
  void any(const Inst& i, X op) { binary(i, op, 1); }

  Code& plain(const Inst& i, X op) {
    Code& c = emit(op);
    if (i.result) c.d = cell[i.result.index];
    if (i.argCount > 0) c.a = at(i, 0);
    if (i.argCount > 1) c.b = at(i, 1);
    if (i.argCount > 2) c.c = at(i, 2);
    c.imm = i.imm;
    return c;
  }
  Code& floating(const Inst& i, X op32, Type t) { return plain(i, op32 + (t.kind == TypeKind::F64)); }

  bool vector(const Inst& i) {
    bool any = i.type.isVector() || i.op == Op::Lane || i.op == Op::VAnyTrue;
    if (!any) return false;
    switch (i.op) {
      case Op::Load: case Op::Store: case Op::Call: case Op::CallInd: return false;
      case Op::IConst: case Op::FConst: vectorConst(i); return true;
      case Op::Bitcast: moveN(cell[i.result.index], at(i, 0), cellsOf(i.type)); return true;
      default: break;
    }
    VectorFn fn = vectorFunction(f, i);
    if (!fn) internalError(std::string("interpreter: no vector form of ") + info(i.op).text + " " + toString(i.type));
    Code& c = plain(i, X::Vector);
    c.n = i.op == Op::VAnyTrue ? f.typeOf(f.arg(i, 0)).lanes : i.type.lanes;
    if (i.op == Op::Lane || i.op == Op::SetLane) c.c = uint32_t(i.imm);
    c.imm = int64_t(reinterpret_cast<intptr_t>(fn));
    return true;
  }

  void vectorConst(const Inst& i) {
    Inst splat = i;
    splat.op = Op::Splat;
    Code& c = emit(X::Const);
    c.d = cell[i.result.index];
    c.imm = i.imm;
    Code& s = emit(X::Vector);
    s.d = s.a = cell[i.result.index];
    s.n = i.type.lanes;
    s.imm = int64_t(reinterpret_cast<intptr_t>(vectorFunction(f, splat)));
  }

  void moveN(uint32_t to, uint32_t from, uint32_t cells) {
    Code& c = emit(cells == 1 ? X::Mov : X::MovN);
    c.d = to;
    c.a = from;
    c.n = uint16_t(cells);
  }

  uint32_t argCells(const Inst& i, unsigned first, uint16_t& count) {
    uint32_t start = uint32_t(program.cells.size());
    for (unsigned k = first; k < i.argCount; ++k)
      for (uint32_t n = 0; n < cellsOf(f.typeOf(f.arg(i, k))); ++n) program.cells.push_back(at(i, k) + n);
    count = uint16_t(program.cells.size() - start);
    return start;
  }

  void undefined(const std::string& what) {
    Code& c = emit(X::Undefined);
    c.a = uint32_t(program.undefined.size());
    program.undefined.push_back(what);
  }

  // Says that the place has been reached, when lines are recorded: at the start of a block and where the place changes.
  void line(PlaceId reached) {
    if (!program.recordLines || !reached || reached == lineAt) return;
    lineAt = place = reached;
    emit(X::Line).a = reached.index;
  }

  void inst(const Inst& i) {
    line(i.place);
    place = i.place;
    if (vector(i)) return;
    switch (i.op) {
      case Op::IConst: case Op::FConst:
        if (i.op == Op::FConst || !skipped[i.result.index]) plain(i, X::Const);
        return;
      case Op::SymAddr: return symbolAddress(i);
      case Op::SlotAddr: {
        Code& c = plain(i, X::SlotAddr);
        c.imm = int64_t(slotOffset[i.imm]);
        c.b = f.slots[i.imm].align;
        return;
      }
      case Op::Context: plain(i, X::Context); return;
      case Op::SetContext: plain(i, X::SetContext); return;
      case Op::FramePtr: plain(i, X::FramePtr); return;
      case Op::CpuLevel: plain(i, X::Const).imm = 1; return;
      case Op::IAdd: return integer(i, X::Add8);
      case Op::ISub: return integer(i, X::Sub8);
      case Op::IMul: return integer(i, X::Mul8);
      case Op::PAdd: return binary(i, X::Add64, 4);
      case Op::And: return any(i, X::And);
      case Op::Or: return any(i, X::Or);
      case Op::Xor: return any(i, X::Xor);
      case Op::Shl: return integer(i, X::Shl8);
      case Op::ShrS: return integer(i, X::ShrS8);
      case Op::ShrU: return integer(i, X::ShrU8);
      case Op::RotL: return integer(i, X::RotL8);
      case Op::MulHiS: return integer(i, X::MulHiS8);
      case Op::MulHiU: return integer(i, X::MulHiU8);
      case Op::IMinS: return any(i, X::MinS);
      case Op::IMaxS: return any(i, X::MaxS);
      case Op::Clz: plain(i, X::Clz8 + widthIndex(i.type)); return;
      case Op::Ctz: plain(i, X::Ctz8 + widthIndex(i.type)); return;
      case Op::Popcount: plain(i, X::Popcount8 + widthIndex(i.type)); return;
      case Op::SAddT: return integer(i, X::SAddT8);
      case Op::SSubT: return integer(i, X::SSubT8);
      case Op::SMulT: return integer(i, X::SMulT8);
      case Op::UAddT: return integer(i, X::UAddT8);
      case Op::USubT: return integer(i, X::USubT8);
      case Op::UMulT: return integer(i, X::UMulT8);
      case Op::SDivT: return integer(i, X::SDivT8);
      case Op::UDivT: return integer(i, X::UDivT8);
      case Op::SRemT: return integer(i, X::SRemT8);
      case Op::URemT: return integer(i, X::URemT8);
      case Op::FAdd: floating(i, X::FAddF32, i.type); return;
      case Op::FSub: floating(i, X::FSubF32, i.type); return;
      case Op::FMul: floating(i, X::FMulF32, i.type); return;
      case Op::FDiv: floating(i, X::FDivF32, i.type); return;
      case Op::FSqrt: floating(i, X::FSqrtF32, i.type); return;
      case Op::Fma: floating(i, X::FmaF32, i.type); return;
      case Op::FNeg: floating(i, X::FNegF32, i.type); return;
      case Op::FAbs: floating(i, X::FAbsF32, i.type); return;
      case Op::FMin: floating(i, X::FMinF32, i.type); return;
      case Op::FMax: floating(i, X::FMaxF32, i.type); return;
      case Op::FFloor: floating(i, X::FFloorF32, i.type); return;
      case Op::FCeil: floating(i, X::FCeilF32, i.type); return;
      case Op::FTrunc: floating(i, X::FTruncF32, i.type); return;
      case Op::FRound: floating(i, X::FRoundF32, i.type); return;
      case Op::ICmp: return compare(i);
      case Op::FCmp: return floatCompare(i);
      case Op::Select: plain(i, X::Select); return;
      case Op::Not: plain(i, X::Not); return;
      case Op::SExt: case Op::ZExt: case Op::Trunc: return resize(i);
      case Op::SToF: floating(i, X::SToFF32, i.type); return;
      case Op::UToF: floating(i, X::UToFF32, i.type).n = uint16_t(f.typeOf(f.arg(i, 0)).bytes() * 8); return;
      case Op::FToST: case Op::FToUT: case Op::FToSSat: case Op::FToUSat: return toInteger(i);
      case Op::FExt: plain(i, X::FExt); return;
      case Op::FCut: plain(i, X::FCut); return;
      case Op::Bitcast: return bitcast(i);
      case Op::Load: return load(i);
      case Op::Store: return store(i);
      case Op::MemCopy: plain(i, X::MemCopy); return;
      case Op::MemZero: plain(i, X::MemZero); return;
      case Op::Prefetch: case Op::Pause: return;
      case Op::ALoad: plain(i, X::ALoad).n = uint16_t(i.type.bytes()); return;
      case Op::AStore: plain(i, X::AStore).n = uint16_t(i.type.bytes()); return;
      case Op::AAdd: plain(i, X::AAdd).n = uint16_t(i.type.bytes()); return;
      case Op::ASwap: plain(i, X::ASwap).n = uint16_t(i.type.bytes()); return;
      case Op::ACas: plain(i, X::ACas).n = uint16_t(i.type.bytes()); return;
      case Op::Fence: plain(i, X::Fence); return;
      case Op::Call: return call(i);
      case Op::CallInd: return callIndirect(i);
      case Op::Syscall: {
        uint16_t count;
        uint32_t list = argCells(i, 0, count);
        Code& c = emit(X::Syscall);
        c.d = cell[i.result.index];
        c.b = list;
        return;
      }
      case Op::SpawnThread: {
        Code& c = emit(X::Const);
        c.d = cell[i.result.index];
        c.imm = -38;   // -ENOSYS
        return;
      }
      case Op::TrapIf: case Op::Trap: return trap(i);
      case Op::Br: return jump(targetsOf(f, i)[0]);
      case Op::BrIf: return branch(i);
      case Op::Switch: return switchOn(i);
      case Op::Ret: {
        Code& c = emit(X::Ret);
        c.n = uint16_t(self.resultCells);
        if (i.argCount) c.a = at(i, 0);
        return;
      }
      case Op::Unreachable: emit(X::Unreachable); return;
      default: internalError(std::string("interpreter: no form of ") + info(i.op).text);
    }
  }

  void symbolAddress(const Inst& i) {   // filled in when everything has its address
    program.symbolUses.push_back({here(), i.symbol});
    plain(i, X::Const);
  }

  void compare(const Inst& i) {
    static_assert(unsigned(X::CmpUge) - unsigned(X::CmpEq) == 18);
    any(i, X::CmpEq + 2 * unsigned(i.cond));
  }
  void floatCompare(const Inst& i) {
    unsigned k = i.cond <= Cond::Ne ? unsigned(i.cond) : unsigned(i.cond) - unsigned(Cond::Lt) + 2;
    floating(i, X::FEqF32 + 2 * k, i.type);
  }

  void resize(const Inst& i) {
    Type from = f.typeOf(f.arg(i, 0));
    if (i.op == Op::SExt) plain(i, from == I1 ? X::SExt1 : X::Mov);
    else if (i.op == Op::ZExt) plain(i, from == I1 ? X::Mov : X::ZExtFrom8 + widthIndex(from));
    else plain(i, i.type == I1 ? X::Trunc1 : X::SExtTo8 + widthIndex(i.type));
  }
  void toInteger(const Inst& i) {
    X op = i.op == Op::FToST ? X::FToSTF32 : i.op == Op::FToUT ? X::FToUTF32 : i.op == Op::FToSSat ? X::FToSSatF32 : X::FToUSatF32;
    floating(i, op, f.typeOf(f.arg(i, 0))).n = uint16_t(i.type.bytes() * 8);
  }
  void bitcast(const Inst& i) {   // i32 is sign extended, f32 need not be
    plain(i, i.type == I32 ? X::SExtTo32 : X::Mov);
  }

  void load(const Inst& i) {
    if (i.type.isVector()) {
      plain(i, X::LoadN).n = uint16_t(i.type.bytes());
      return;
    }
    switch (i.type.kind) {
      case TypeKind::I1: plain(i, X::Load1); return;
      case TypeKind::I8: plain(i, X::Load8); return;
      case TypeKind::I16: plain(i, X::Load16); return;
      case TypeKind::I32: plain(i, X::Load32); return;
      case TypeKind::F32: plain(i, X::LoadF32); return;
      default: plain(i, X::Load64); return;
    }
  }
  void store(const Inst& i) {
    switch (i.type.bytes()) {
      case 1: plain(i, X::Store8); return;
      case 2: plain(i, X::Store16); return;
      case 4: plain(i, X::Store32); return;
      case 8: plain(i, X::Store64); return;
      default: plain(i, X::StoreN).n = uint16_t(i.type.bytes()); return;
    }
  }

  void call(const Inst& i) {
    const Symbol& s = module.symbols[i.symbol.index];
    if (s.kind != SymbolKind::Function) return undefined("the function @" + s.name + " is not defined");
    uint16_t count;
    uint32_t list = argCells(i, 0, count);
    frameUsers.push_back(here());
    Code& c = emit(X::Call);
    c.a = s.index;
    c.b = list;
    c.n = count;
    c.d = i.result ? cell[i.result.index] : scratch;
  }
  void callIndirect(const Inst& i) {
    uint16_t count;
    uint32_t list = argCells(i, 1, count);
    frameUsers.push_back(here());
    Code& c = emit(X::CallInd);
    c.a = at(i, 0);
    c.b = list;
    c.n = count;
    c.d = i.result ? cell[i.result.index] : scratch;
  }

  void trap(const Inst& i) {
    bool conditional = i.op == Op::TrapIf;
    uint16_t count;
    uint32_t list = argCells(i, conditional, count);
    Code& c = emit(conditional ? X::TrapIf : X::Trap);
    if (conditional) c.a = at(i, 0);
    c.b = list;
    c.n = count;
    c.imm = i.imm;
  }

  // Notes that a field of a code leads along an edge.
  void lead(uint32_t code, uint8_t field, uint32_t entry, const Target& t) {
    if (t.argCount == 0) patches.push_back({code, field, entry, t.block});
    else edges.push_back({code, field, entry, t, place});
  }

  void jump(const Target& t) {
    moves(t);
    if (t.block == next) return;
    patches.push_back({here(), 0, 0, t.block});
    emit(X::Jump);
  }
  void branch(const Inst& i) {
    Code& c = emit(X::JumpIf);
    c.a = at(i, 0);
    uint32_t code = here() - 1;
    fuseCompare(code, f.arg(i, 0));
    lead(uint32_t(program.code.size() - 1), 0, 0, targetsOf(f, i)[0]);
    lead(uint32_t(program.code.size() - 1), 1, 0, targetsOf(f, i)[1]);
  }
  // A comparison right before the jump that tests it becomes one code, which still writes the comparison's cell when it is wanted.
  void fuseCompare(uint32_t code, ValueId condition) {
    if (code == self.first) return;
    Code before = program.code[code - 1];
    if (before.op < X::CmpEq || before.op > X::CmpUgeImm || before.d != cell[condition.index]) return;
    Code& c = program.code[code];
    c = before;
    c.op = X(unsigned(before.op) - unsigned(X::CmpEq) + unsigned(X::JmpEq));
    if (usedOnce(condition) && homeOf(condition) == block) {
      program.code[code - 1] = c;
      program.code.pop_back();
      program.places.pop_back();
    }
  }
  bool usedOnce(ValueId v) {
    if (counts.empty()) counts = useCounts(f);
    return counts[v.index] == 1;
  }
  BlockId homeOf(ValueId v) {
    if (homes.empty()) homes = blocksOfInsts(f);
    return homes[f.values[v.index].def.index];
  }

  void switchOn(const Inst& i) {
    Code& c = emit(X::Switch);
    c.a = at(i, 0);
    c.b = uint32_t(program.tables.size());
    uint32_t code = here() - 1;
    Program::Table table;
    auto targets = targetsOf(f, i);
    for (unsigned k = 1; k < targets.size(); ++k) table.cases.push_back({f.cases[i.imm + k - 1], 0});
    program.tables.push_back(std::move(table));
    for (unsigned k = 0; k < targets.size(); ++k) lead(code, 2, k, targets[k]);
  }

  // Parallel moves of an edge's arguments into the parameters: first those whose target nobody still reads; a cycle is opened
  // by saving one value in the scratch cells.
  void moves(const Target& t) {
    struct Move { uint32_t to, from, cells; };
    std::vector<Move> todo;
    const std::vector<ValueId>& params = f.blocks[t.block.index].params;
    for (unsigned k = 0; k < t.argCount; ++k) {
      uint32_t to = cell[params[k].index], from = cell[f.pool[t.firstArg + k].index];
      if (to != from) todo.push_back({to, from, cellsOf(f.typeOf(params[k]))});
    }
    while (!todo.empty()) {
      bool progress = false;
      for (size_t k = 0; k < todo.size(); ++k) {
        bool read = false;
        for (size_t j = 0; j < todo.size(); ++j) read |= j != k && todo[j].from == todo[k].to;
        if (read) continue;
        moveN(todo[k].to, todo[k].from, todo[k].cells);
        todo.erase(todo.begin() + k--);
        progress = true;
      }
      if (progress) continue;
      Move& m = todo[0];
      moveN(scratch, m.from, m.cells);
      uint32_t saved = m.from;
      for (Move& other : todo) if (other.from == saved) other.from = scratch;
    }
  }

  void setTarget(uint32_t code, uint8_t field, uint32_t entry, uint32_t to) {
    Code& c = program.code[code];
    if (field == 0) c.d = to;
    else if (field == 1) c.c = to;
    else if (entry == 0) program.tables[c.b].otherwise = to;
    else program.tables[c.b].cases[entry - 1].second = to;
  }

  void finishEdges() {
    next = BlockId();
    for (size_t k = 0; k < edges.size(); ++k) {
      Edge e = edges[k];
      place = e.place;
      setTarget(e.code, e.field, e.entry, here());
      jump(e.target);
    }
  }
  void patch() {
    for (const Patch& p : patches) setTarget(p.code, p.field, p.entry, blockStart[p.block.index]);
    for (const Patch& p : patches)
      if (p.field == 2) {
        auto& cases = program.tables[program.code[p.code].b].cases;
        std::sort(cases.begin(), cases.end());
      }
    for (const Edge& e : edges)
      if (e.field == 2) {
        auto& cases = program.tables[program.code[e.code].b].cases;
        std::sort(cases.begin(), cases.end());
      }
  }
};

}  // namespace

void decode(Program& program, uint32_t function) { Decoder(program, function).run(); }

}  // namespace mica::ir::interp
