// Register allocation, the walk over the instructions; see regalloc.h for the idea.
#include "ir/regalloc.h"

#include <algorithm>
#include <bit>

#include "ir/mir_layout.h"
#include "ir/regalloc_state.h"

namespace mica::mir {

AllocationStats allocateRegisters(Function& f, const Target& t) { return Allocator(f, t).run(); }

Allocator::Allocator(Function& function, const Target& target) : f(function), t(target), live(analyse(function)) {}

AllocationStats Allocator::run() {
  size_t n = f.vregs.size();
  regOf.assign(n, NoReg);
  nextUse.assign(n, Never);
  seenIn.assign(n, 0);
  spilled.assign(n, false);
  rematOf.assign(n, Never);
  fixedHint.assign(n, NoReg);
  phiHint.assign(n, VReg());
  tiedHint.assign(n, VReg());
  wish.assign(n, NoReg);
  entry.resize(f.blocks.size());
  exit.resize(f.blocks.size());
  done.assign(f.blocks.size(), false);
  output.resize(f.blocks.size());
  after.assign(f.operands.size(), Never);
  layOut(f, live);
  prepareHints();
  for (BlockId b : live.order) processBlock(b);
  collectEdgeMoves();
  placeStores();
  assignSlots();
  rebuildBlocks();
  insertEdgeMoves();
  for (bool s : spilled) stats.spilledValues += s;
  return stats;
}

// Where values would like to be: in the register that an instruction fixes for them, or where a tied result or a block
// parameter wants to be that they turn into.
void Allocator::prepareHints() {
  for (BlockId id : live.order) {
    const Block& b = f.blocks[id.index];
    for (const Inst& inst : b.insts) {
      const Operand* ops = f.operandsOf(inst);
      if (inst.remat) {
        rematOf[ops[0].reg.index] = uint32_t(remats.size());
        remats.push_back(inst);
      }
      for (unsigned k = 0; k < inst.operandCount; ++k) {
        if (!ops[k].isDef && ops[k].constraint == Constraint::Fixed && fixedHint[ops[k].reg.index] == NoReg)
          fixedHint[ops[k].reg.index] = ops[k].fixed;
        if (ops[k].isDef && ops[k].constraint == Constraint::Tied && !tiedHint[ops[ops[k].tied].reg.index])
          tiedHint[ops[ops[k].tied].reg.index] = ops[k].reg;
      }
    }
    for (const Edge& e : b.succs)
      for (size_t k = 0; k < e.args.size(); ++k)
        if (!phiHint[e.args[k].index]) phiHint[e.args[k].index] = f.blocks[e.to.index].params[k];
  }
}

// Backwards over a block: the next use of each operand's value after its instruction, and (in nextUse) after the
// block's start.
void Allocator::scanBlock(BlockId id) {
  const Block& b = f.blocks[id.index];
  ++stampNow;
  uint32_t end = uint32_t(b.insts.size());
  auto note = [&](VReg v, uint32_t at) {
    if (seenIn[v.index] != stampNow) {
      seenIn[v.index] = stampNow;
      nextUse[v.index] = at;
    } else {
      nextUse[v.index] = std::min(nextUse[v.index], at);
    }
  };
  for (const Edge& e : b.succs) {
    uint32_t penalty = live.edgePenalty(id, e.to);
    for (const LiveIn& l : live.liveIn[e.to.index]) note(l.reg, end + 1 + std::min(Farthest, l.distance + penalty));
    for (VReg a : e.args) note(a, end);
  }
  for (uint32_t i = end; i-- > 0;) {
    const Inst& inst = b.insts[i];
    const Operand* ops = f.operandsOf(inst);
    for (unsigned k = 0; k < inst.operandCount; ++k) {
      VReg v = ops[k].reg;
      after[inst.firstOperand + k] = seenIn[v.index] == stampNow ? nextUse[v.index] : Never;
    }
    for (unsigned k = 0; k < inst.operandCount; ++k)
      if (!ops[k].isDef) {
        seenIn[ops[k].reg.index] = stampNow;
        nextUse[ops[k].reg.index] = i;
      }
  }
}

void Allocator::processBlock(BlockId id) {
  Block& b = f.blocks[id.index];
  blockNow = id;
  scanBlock(id);
  enterBlock(id);
  out = &output[id.index];
  out->reserve(b.insts.size() + 4);
  for (here = 0; here < b.insts.size(); ++here) allocate(b.insts[here]);
  for (RegSet s = occupied; s; s &= s - 1) {
    PReg r = PReg(std::countr_zero(s));
    exit[id.index].push_back({inReg[r], r});
  }
  for (const Edge& e : b.succs)
    for (size_t k = 0; k < e.args.size(); ++k) {
      PReg r = regOf[e.args[k].index];
      VReg p = f.blocks[e.to.index].params[k];
      if (r != NoReg && wish[p.index] == NoReg) wish[p.index] = r;
    }
  for (const Held& h : exit[id.index]) regOf[h.reg.index] = NoReg;
  occupied = 0;
  done[id.index] = true;
}

void Allocator::settle(VReg v, PReg r) {
  regOf[v.index] = r;
  inReg[r] = v;
  occupied |= bit(r);
  f.usedRegs |= bit(r);
}

void Allocator::drop(VReg v) {
  PReg r = regOf[v.index];
  former.push_back({v, r});
  PReg before = formerReg(v);
  if (before != NoReg && nextUse[v.index] != Never && !isRemat(v))
    sites.push_back({v, blockNow, uint32_t(out->size()), before});
  occupied &= ~bit(r);
  regOf[v.index] = NoReg;
}

PReg Allocator::formerReg(VReg v) const {
  for (const Former& m : former)
    if (m.reg == v) return m.at;
  return regOf[v.index];
}

void Allocator::addSource(VReg v, PReg to) {
  f.usedRegs |= bit(to);
  PReg from = formerReg(v);
  if (from != NoReg) {
    pending.push_back({Loc::reg(from), Loc::reg(to), v, nullptr});
  } else if (isRemat(v)) {
    pending.push_back({{}, Loc::reg(to), v, &remats[rematOf[v.index]]});
  } else {
    spilled[v.index] = true;
    pending.push_back({homeSlot(v), Loc::reg(to), v, nullptr});
  }
}

PReg Allocator::hintOf(VReg v, RegSet candidates, int depth) const {
  if (VReg p = phiHint[v.index]) {
    PReg r = wish[p.index];
    if (r != NoReg && (candidates & bit(r))) return r;
  }
  PReg r = fixedHint[v.index];
  if (r != NoReg && (candidates & bit(r)) && !live.crossesCall[v.index]) return r;
  if (VReg d = tiedHint[v.index]; d && depth < 4) return hintOf(d, candidates, depth + 1);
  if (VReg p = phiHint[v.index]; p && depth < 2) return hintOf(p, candidates, depth + 1);
  return NoReg;
}

// The best of the free registers for a value.
PReg Allocator::pick(VReg v, RegSet candidates) const {
  if (!candidates) return NoReg;
  if (PReg r = hintOf(v, candidates); r != NoReg) return r;
  // A callee-saved register costs a save and a restore the first time; across a call it is worth that.
  RegSet saved = candidates & t.calleeSaved, other = candidates & ~t.calleeSaved;
  if (live.crossesCall[v.index] && saved && !isRemat(v)) candidates = saved & f.usedRegs ? saved & f.usedRegs : saved;
  else if (other) candidates = other;
  else if (saved & f.usedRegs) candidates = saved & f.usedRegs;
  for (PReg r : t.order[unsigned(f.vregs[v.index].cls)])
    if (candidates & bit(r)) return r;
  return PReg(std::countr_zero(candidates));
}

// A register among the candidates for v: a free one, else that of the value needed farthest, if that is farther than
// `nearer`. Values in `keep` stay.
PReg Allocator::takeFrom(VReg v, RegSet candidates, RegSet keep, uint32_t nearer) {
  if (PReg r = pick(v, candidates & ~occupied & ~keep); r != NoReg) return r;
  PReg best = NoReg;
  uint64_t bestScore = 0;
  for (RegSet s = candidates & occupied & ~keep; s; s &= s - 1) {
    PReg r = PReg(std::countr_zero(s));
    VReg w = inReg[r];
    if (nextUse[w.index] <= nearer) continue;
    uint64_t distance = nextUse[w.index] - std::min(nextUse[w.index], here);
    uint64_t score = cheapToDrop(w) ? distance * 2 + 8 : distance;
    if (best == NoReg || score > bestScore) {
      best = r;
      bestScore = score;
    }
  }
  if (best == NoReg) return NoReg;
  // If the instruction was about to move it there, it need not.
  if (beforeInst) std::erase_if(pending, [&](const PendingMove& m) { return m.to == Loc::reg(best); });
  drop(inReg[best]);
  return best;
}

// Gives every operand of the instruction its location and appends it, with the moves that it needs first.
void Allocator::allocate(Inst& inst) {
  Operand* ops = f.operandsOf(inst);
  if (inst.remat) {                      // made where it is needed
    nextUse[ops[0].reg.index] = after[inst.firstOperand];
    return;
  }
  RegSet fixedUse = 0, gone = inst.clobbers;
  for (unsigned k = 0; k < inst.operandCount; ++k) {
    if (ops[k].constraint == Constraint::Fixed) (ops[k].isDef ? gone : fixedUse) |= bit(ops[k].fixed);
    if (!ops[k].isDef) nextUse[ops[k].reg.index] = after[inst.firstOperand + k];
  }
  f.usedRegs |= gone;
  pending.clear();
  former.clear();
  RegSet occupiedBefore = occupied;
  beforeInst = true;
  if ((fixedUse | gone) & occupied) vacate(inst, fixedUse, gone);
  placeUses(inst, fixedUse, gone);
  placeTied(inst, fixedUse, gone);
  beforeInst = false;
  placeDefs(inst, gone);
  emitPending(occupiedBefore, inst);
  out->push_back(inst);
}

// Whether the value's register must survive what the instruction destroys: it is needed afterwards, is read late, or a
// result takes its register over.
bool Allocator::outlasts(const Inst& inst, VReg v) const {
  if (nextUse[v.index] != Never) return true;
  const Operand* ops = f.operandsOf(inst);
  for (unsigned k = 0; k < inst.operandCount; ++k) {
    if (ops[k].isDef ? ops[k].constraint == Constraint::Tied && ops[ops[k].tied].reg == v
                     : ops[k].late && ops[k].reg == v)
      return true;
  }
  return false;
}

// Moves away what stands in registers that the instruction fixes or destroys and is still needed.
void Allocator::vacate(Inst& inst, RegSet fixedUse, RegSet gone) {
  Operand* ops = f.operandsOf(inst);
  for (RegSet s = (fixedUse | gone) & occupied; s; s &= s - 1) {
    PReg r = PReg(std::countr_zero(s));
    VReg w = inReg[r];
    bool plainUse = false, wantedHere = false;
    for (unsigned k = 0; k < inst.operandCount; ++k)
      if (!ops[k].isDef && ops[k].reg == w) {
        bool fixed = ops[k].constraint == Constraint::Fixed;
        plainUse |= !fixed;
        wantedHere |= fixed && ops[k].fixed == r;
      }
    bool livesOn = outlasts(inst, w);
    bool leaveBefore = (fixedUse & bit(r)) && !wantedHere && (livesOn || plainUse);
    bool leaveAfter = (gone & bit(r)) && livesOn;
    if (!leaveBefore && !leaveAfter) continue;
    if (isRemat(w)) {                  // made again where it is needed
      drop(w);
      continue;
    }
    RegSet allowed = classRegs(w) & ~fixedUse & ~(livesOn ? gone : 0);
    RegSet keep = 0;
    for (unsigned k = 0; k < inst.operandCount; ++k)
      if (!ops[k].isDef && regOf[ops[k].reg.index] != NoReg) keep |= bit(regOf[ops[k].reg.index]);
    RegSet free = allowed & ~occupied;
    // Moving only to a callee-saved register at calls: anything else is in `gone`. A full house: whoever is needed last
    // gives way.
    PReg to = free ? pick(w, free) : takeFrom(w, allowed, keep, plainUse ? 0 : nextUse[w.index]);
    if (to == NoReg) {
      drop(w);
      continue;
    }
    former.push_back({w, r});
    pending.push_back({Loc::reg(r), Loc::reg(to), w, nullptr});
    occupied &= ~bit(r);
    settle(w, to);
  }
}

void Allocator::placeUses(Inst& inst, RegSet fixedUse, RegSet gone) {
  Operand* ops = f.operandsOf(inst);
  for (unsigned k = 0; k < inst.operandCount; ++k) {
    Operand& o = ops[k];
    if (o.isDef || o.constraint != Constraint::Fixed) continue;
    o.loc = Loc::reg(o.fixed);
    bool first = true;
    for (unsigned j = 0; j < k; ++j)
      first &= ops[j].isDef || ops[j].constraint != Constraint::Fixed || ops[j].fixed != o.fixed;
    if (first && formerReg(o.reg) != o.fixed) addSource(o.reg, o.fixed);
  }
  RegSet keep = fixedUse;
  for (unsigned k = 0; k < inst.operandCount; ++k)
    if (!ops[k].isDef && ops[k].constraint != Constraint::Fixed && regOf[ops[k].reg.index] != NoReg)
      keep |= bit(regOf[ops[k].reg.index]);
  for (unsigned k = 0; k < inst.operandCount; ++k) {
    Operand& o = ops[k];
    if (o.isDef || o.constraint == Constraint::Fixed) continue;
    VReg v = o.reg;
    bool livesOn = outlasts(inst, v);
    if (regOf[v.index] == NoReg) {
      RegSet allowed = classRegs(v) & ~fixedUse & ~(livesOn ? gone : 0);
      bool near = nextUse[v.index] != Never && nextUse[v.index] - here < 30;
      if (o.constraint == Constraint::Any && !isRemat(v) && !(near && (allowed & ~occupied))) {
        if (PReg r = formerReg(v); r != NoReg && !(fixedUse & bit(r)) && !(occupied & bit(r)) && !o.late) {
          o.loc = Loc::reg(r);         // dropped by this instruction, but still there when it reads
          keep |= bit(r);
        } else {
          spilled[v.index] = true;
          o.loc = homeSlot(v);
          // Dropped by this instruction, the last to read it: nobody else asks for the store.
          if (r != NoReg && nextUse[v.index] == Never) sites.push_back({v, blockNow, uint32_t(out->size()), r});
        }
        continue;
      }
      PReg r = takeFrom(v, allowed, keep, 0);
      if (r == NoReg) r = takeFrom(v, classRegs(v) & ~fixedUse, keep, 0);
      if (r == NoReg) internalError("register allocation: no register left for an operand");
      addSource(v, r);
      former.push_back({v, NoReg});
      settle(v, r);
    }
    o.loc = Loc::reg(regOf[v.index]);
    keep |= bit(regOf[v.index]);
  }
}

// Definitions that take over the register of a use, and definitions written before the last use is read.
void Allocator::placeTied(Inst& inst, RegSet fixedUse, RegSet gone) {
  Operand* ops = f.operandsOf(inst);
  RegSet busy = fixedUse;              // registers that operands have already
  for (unsigned k = 0; k < inst.operandCount; ++k)
    if (ops[k].loc.isReg() && (!ops[k].isDef || ops[k].constraint != Constraint::Reg))
      busy |= bit(PReg(ops[k].loc.index));
  for (unsigned k = 0; k < inst.operandCount; ++k) {
    Operand& d = ops[k];
    if (!d.isDef) continue;
    if (d.constraint == Constraint::Reg && d.late) {
      PReg r = takeFrom(d.reg, classRegs(d.reg) & ~busy & ~gone, busy, 0);
      if (r == NoReg) internalError("register allocation: no register left for an early result");
      d.loc = Loc::reg(r);
      busy |= bit(r);
      f.usedRegs |= bit(r);
      continue;
    }
    if (d.constraint != Constraint::Tied) continue;
    Operand& u = ops[d.tied];
    VReg w = u.reg;
    PReg r = PReg(u.loc.index);
    bool alsoLate = false;
    for (unsigned j = 0; j < inst.operandCount; ++j) alsoLate |= !ops[j].isDef && ops[j].reg == w && ops[j].late;
    bool livesOn = nextUse[w.index] != Never || alsoLate;
    if (livesOn && regOf[w.index] == r) {
      RegSet allowed = classRegs(w) & ~busy & ~gone;
      PReg hint = hintOf(d.reg, allowed | bit(r));
      PReg other = NoReg;
      // The value that lives on needs a second register, unless it is the one needed last of all.
      if (RegSet free = allowed & ~occupied) other = hint == r ? pick(w, free) : pick(d.reg, free);
      else other = takeFrom(w, allowed, busy, nextUse[w.index]);
      if (other == NoReg && alsoLate) other = takeFrom(w, allowed, busy, 0);
      if (other == NoReg) {
        drop(w);
      } else {
        addSource(w, other);
        if (hint == r && !alsoLate) {
          former.push_back({w, r});
          occupied &= ~bit(r);
          settle(w, other);
        } else {
          u.loc = Loc::reg(other);
          r = other;
        }
        busy |= bit(other);
      }
    }
    d.loc = Loc::reg(r);
    busy |= bit(r);
    f.usedRegs |= bit(r);
  }
}

void Allocator::placeDefs(Inst& inst, RegSet gone) {
  Operand* ops = f.operandsOf(inst);
  RegSet lateUse = 0;
  for (unsigned k = 0; k < inst.operandCount; ++k) {
    const Operand& o = ops[k];
    if (o.isDef) continue;
    if (o.late && o.loc.isReg()) lateUse |= bit(PReg(o.loc.index));
    if (nextUse[o.reg.index] == Never && regOf[o.reg.index] != NoReg) {
      occupied &= ~bit(regOf[o.reg.index]);
      former.push_back({o.reg, regOf[o.reg.index]});
      regOf[o.reg.index] = NoReg;
    }
  }
  for (RegSet s = gone & occupied; s; s &= s - 1) drop(inReg[std::countr_zero(s)]);
  // A value loaded only into a fixed register may as well stay there.
  for (unsigned k = 0; k < inst.operandCount; ++k) {
    const Operand& o = ops[k];
    if (!o.isDef && o.constraint == Constraint::Fixed && nextUse[o.reg.index] != Never && regOf[o.reg.index] == NoReg &&
        !((gone | occupied) & bit(o.fixed))) {
      former.push_back({o.reg, NoReg});
      settle(o.reg, o.fixed);
    }
  }
  RegSet taken = lateUse | gone;
  for (unsigned k = 0; k < inst.operandCount; ++k) {
    Operand& o = ops[k];
    if (!o.isDef) continue;
    if (o.constraint == Constraint::Fixed) o.loc = Loc::reg(o.fixed);
    if (o.loc.isReg()) {
      PReg r = PReg(o.loc.index);
      if (occupied & bit(r)) drop(inReg[r]);
      taken |= bit(r);
    }
  }
  for (unsigned k = 0; k < inst.operandCount; ++k) {
    Operand& o = ops[k];
    if (!o.isDef) continue;
    nextUse[o.reg.index] = after[inst.firstOperand + k];
    if (!o.loc.isReg()) {
      PReg r = takeFrom(o.reg, classRegs(o.reg) & ~taken, taken, 0);
      if (r == NoReg) internalError("register allocation: no register left for a result");
      o.loc = Loc::reg(r);
      taken |= bit(r);
      f.usedRegs |= bit(r);
    }
    if (nextUse[o.reg.index] != Never) settle(o.reg, PReg(o.loc.index));
  }
}

void Allocator::appendStep(std::vector<Inst>& to, const MoveStep& s, ir::PlaceId place) {
  if (s.to.isReg()) f.usedRegs |= bit(PReg(s.to.index));
  Inst i;
  i.place = place;
  if (s.kind == MoveStep::Remat) {
    i = *s.remat;
    Operand o = f.operandsOf(*s.remat)[0];
    o.loc = s.to;
    o.constraint = Constraint::Reg;
    i.firstOperand = uint32_t(f.operands.size());
    i.place = place;
    f.operands.push_back(o);
    ++stats.remats;
    to.push_back(i);
    return;
  }
  i.op = s.kind == MoveStep::Swap ? Swap : Move;
  i.operandCount = 2;
  i.firstOperand = uint32_t(f.operands.size());
  Operand d, u;
  d.isDef = true;
  d.reg = u.reg = s.value;
  d.loc = s.to;
  u.loc = s.from;
  f.operands.push_back(d);
  f.operands.push_back(u);
  if (s.from.isSlot()) ++stats.reloads;
  else if (s.to.isSlot()) ++stats.spills;
  else ++stats.moves;
  to.push_back(i);
}

void Allocator::emitPending(RegSet occupiedBefore, const Inst& inst) {
  if (pending.empty()) return;
  RegSet busy = occupiedBefore;
  const Operand* ops = f.operandsOf(inst);
  for (unsigned k = 0; k < inst.operandCount; ++k)
    if (ops[k].loc.isReg()) busy |= bit(PReg(ops[k].loc.index));
  for (const PendingMove& m : pending) busy |= bit(PReg(m.to.index));
  RegSet free = (t.allocatable[0] | t.allocatable[1]) & ~busy & (f.usedRegs | ~t.calleeSaved);
  // Here slots are only read, and each has one owner: their final numbers may come later. Spare ones are numbered from
  // the top.
  MoveContext context{f, free, t, [this](unsigned size, unsigned which) { return Never - 1 - spareSlot(size, which); }};
  for (const MoveStep& s : orderMoves(pending, context)) appendStep(*out, s, inst.place);
}

}  // namespace mica::mir
