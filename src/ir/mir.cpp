// Prints machine IR, before and after allocation: for people and for the messages of the checker.
#include "ir/mir.h"

namespace mica::mir {

namespace {

std::string locName(const Loc& l, const Target& t) {
  if (l.isReg()) return t.regNames[l.index];
  if (l.isSlot()) return "[spill " + std::to_string(l.index) + "]";
  return "?";
}

std::string operandName(const Operand& o, const Target& t) {
  std::string s = o.reg ? "v" + std::to_string(o.reg.index) : std::string();
  if (o.loc.kind != Loc::None) return s.empty() ? locName(o.loc, t) : s + ":" + locName(o.loc, t);
  switch (o.constraint) {
    case Constraint::Reg: break;
    case Constraint::Fixed: s += std::string("=") + t.regNames[o.fixed]; break;
    case Constraint::Tied: s += "=operand" + std::to_string(o.tied); break;
    case Constraint::Any: s += "?"; break;
  }
  return s + (o.late ? "!" : "");
}

std::string memName(const MemRef& m, const Function& f, const Inst& i, const Target& t) {
  std::string s = "[";
  const Operand* ops = f.operandsOf(i);
  switch (m.kind) {
    case MemRef::None: return "";
    case MemRef::Address: if (m.base >= 0) s += operandName(ops[m.base], t); break;
    case MemRef::Symbol: s += "symbol " + std::to_string(m.id); break;
    case MemRef::Slot: s += "slot s" + std::to_string(m.id); break;
    case MemRef::Incoming: s += "incoming"; break;
    case MemRef::Outgoing: s += "outgoing"; break;
    case MemRef::Constant: s += "constant " + std::to_string(m.id); break;
  }
  if (m.index >= 0) s += " + " + operandName(ops[m.index], t) + "*" + std::to_string(m.scale);
  if (m.disp) s += " + " + std::to_string(m.disp);
  s += "]";
  if (m.copies) s += "{1to" + std::to_string(m.copies) + "}";
  return s;
}

}  // namespace

std::string print(const Function& f, const Target& t, const Inst& i) {
  static const char* const generic[] = {"copy", "move", "swap"};
  std::string s = i.op < FirstTarget ? generic[i.op] : t.opName(i.op);
  if (i.cond) s += "." + std::to_string(i.cond);
  const Operand* ops = f.operandsOf(i);
  bool first = true;
  for (unsigned k = 0; k < i.operandCount; ++k) {
    bool inMem = i.mem.kind != MemRef::None && (int(k) == i.mem.base || int(k) == i.mem.index);
    if (inMem) continue;
    s += first ? " " : ", ";
    first = false;
    s += (ops[k].isDef ? "def " : "") + operandName(ops[k], t);
  }
  if (i.mem.kind != MemRef::None) s += (first ? " " : ", ") + memName(i.mem, f, i, t);
  bool hasImm = i.remat;
  for (const Arg& a : i.args) hasImm |= a.kind == Arg::Imm;
  if (hasImm) s += " #" + std::to_string(i.imm);
  return s;
}

std::string print(const Function& f, const Target& t) {
  std::string s;
  for (BlockId id : f.order) {
    const Block& b = f.blocks[id.index];
    s += "b" + std::to_string(id.index);
    if (!b.params.empty()) {
      s += "(";
      for (size_t k = 0; k < b.params.size(); ++k) {
        s += (k ? ", v" : "v") + std::to_string(b.params[k].index);
        if (k < b.paramLocs.size()) s += ":" + locName(b.paramLocs[k], t);
      }
      s += ")";
    }
    s += ":";
    if (b.loopDepth) s += "  ; loop depth " + std::to_string(b.loopDepth);
    s += "\n";
    for (const Inst& i : b.insts) s += "  " + print(f, t, i) + "\n";
    for (const Edge& e : b.succs) {
      s += "  -> b" + std::to_string(e.to.index);
      for (VReg a : e.args) s += " v" + std::to_string(a.index);
      s += "\n";
    }
  }
  return s;
}

}  // namespace mica::mir
