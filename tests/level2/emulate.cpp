// Runs a Mica program at the second processor level on a processor that has only the first:
//
//     emulate PROGRAM OPTIONS…
//
// The program runs as it is, under ptrace. Its processor's level is written into its state (`mica.state`, see src/rt/Context.mica), so it takes the
// ways for AVX-512. The processor refuses those instructions (SIGILL); they are executed here, as many as follow one another, and the program goes
// on behind them. So it is the compiled code that is tested: only the instructions the runtime's wide kernels consist of are known, any other one
// ends the test with its bytes. Registers 0 to 15 keep their lower halves in the processor, where other instructions change them; an upper half counts
// as zero after such a change, which is what the processor's own instructions do. Ends with the program's status, or 1.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <elf.h>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

constexpr uint64_t LevelOffset = 176;   // Context.Level

[[noreturn]] void give_up(const std::string& why) {
  std::fprintf(stderr, "emulate: %s\n", why.c_str());
  std::exit(1);
}

union Vector {
  uint8_t b[64];
  uint32_t u[16];
  uint64_t q[8];
  float f[16];
  double d[8];
};

// What ptrace calls the extended state: the lower halves of the registers lie in two places.
struct Extended {
  static constexpr size_t Low = 160, High = 576, Present = 512;
  alignas(64) uint8_t bytes[4096] = {};
  size_t size = 0;
};

struct Thread {
  pid_t id = 0;
  user_regs_struct regs = {};
  Vector v[32] = {};
  uint64_t k[8] = {};
};

uint64_t emulated = 0;

// ---- the program's memory ----

// While a thread is stopped, its memory is read in pieces that are kept, since a system call for each operand would take most of the time.
struct Piece {
  static constexpr uint64_t Size = 256, Count = 64;
  uint64_t at = ~uint64_t(0);
  uint8_t bytes[Size];
};

Piece pieces[Piece::Count];

void forget() {
  for (Piece& p : pieces) p.at = ~uint64_t(0);
}

Piece& pieceOf(pid_t id, uint64_t at) {
  Piece& p = pieces[at / Piece::Size % Piece::Count];
  if (p.at == at) return p;
  iovec here{p.bytes, Piece::Size}, there{reinterpret_cast<void*>(at), Piece::Size};
  if (process_vm_readv(id, &here, 1, &there, 1, 0) != ssize_t(Piece::Size)) give_up("an operand lies outside the program's memory");
  p.at = at;
  return p;
}

void readMemory(pid_t id, uint64_t from, uint8_t* to, size_t n) {
  while (n > 0) {
    uint64_t inside = from % Piece::Size, some = std::min<uint64_t>(n, Piece::Size - inside);
    std::memcpy(to, pieceOf(id, from - inside).bytes + inside, some);
    from += some, to += some, n -= some;
  }
}

void writeMemory(pid_t id, uint64_t to, const void* from, size_t n) {
  iovec here{const_cast<void*>(from), n}, there{reinterpret_cast<void*>(to), n};
  if (process_vm_writev(id, &here, 1, &there, 1, 0) != ssize_t(n)) give_up("a result lies outside the program's memory");
  for (uint64_t at = to - to % Piece::Size; at < to + n; at += Piece::Size)
    if (Piece& p = pieces[at / Piece::Size % Piece::Count]; p.at == at) p.at = ~uint64_t(0);
}

// ---- one instruction ----

struct Instruction {
  unsigned map = 0, prefix = 0, opcode = 0, size = 0;   // size: in bytes
  bool w = false, zeroing = false, broadcast = false, inMemory = false;
  unsigned length = 0;                                  // of vectors, in bytes
  unsigned reg = 0, other = 0, rm = 0, mask = 0, digit = 0;
  int base = -1, index = -1;
  unsigned scale = 1;
  int32_t distance = 0;
  bool isShort = false;                                 // the distance is one byte, in units of the operand
  uint8_t immediate = 0;
};

// The whole of an EVEX instruction.
Instruction decode(const uint8_t* p) {
  Instruction x;
  x.map = p[1] & 7;
  x.prefix = p[2] & 3;
  x.w = p[2] >> 7;
  x.zeroing = p[3] >> 7;
  x.length = 16u << (p[3] >> 5 & 3);
  x.broadcast = p[3] >> 4 & 1;
  x.mask = p[3] & 7;
  x.opcode = p[4];
  bool r = !(p[1] & 0x80), indexBit = !(p[1] & 0x40), b = !(p[1] & 0x20), r2 = !(p[1] & 0x10), v2 = !(p[3] & 8);
  uint8_t mod = p[5] >> 6, low = p[5] & 7;
  x.digit = p[5] >> 3 & 7;
  x.reg = x.digit | r << 3 | r2 << 4;
  x.other = (~p[2] >> 3 & 15) | v2 << 4;
  const uint8_t* at = p + 6;
  if (mod == 3) {
    x.rm = low | b << 3 | indexBit << 4;
  } else {
    x.inMemory = true;
    x.base = low | b << 3;
    if (low == 4) {
      uint8_t sib = *at++;
      x.base = (sib & 7) | b << 3;
      int index = (sib >> 3 & 7) | indexBit << 3;
      if (index != 4) x.index = index;
      x.scale = 1u << (sib >> 6);
      if ((sib & 7) == 5 && mod == 0) x.base = -1;
    } else if (low == 5 && mod == 0) {
      x.base = 16;                                      // rip
    }
    if (mod == 1) {
      x.isShort = true;
      x.distance = int8_t(*at++);
    } else if (mod == 2 || x.base == 16 || x.base == -1) {
      std::memcpy(&x.distance, at, 4);
      at += 4;
    }
  }
  bool takesByte = x.map == 3 || (x.map == 1 && (x.opcode == 0xc2 || x.opcode == 0xc6 || (x.opcode >= 0x70 && x.opcode <= 0x73)));
  if (takesByte) x.immediate = *at++;
  x.size = unsigned(at - p);
  return x;
}

std::string hex(const uint8_t* p, unsigned n) {
  std::string text;
  char two[4];
  for (unsigned i = 0; i < n; i++) std::snprintf(two, sizeof two, "%02x ", p[i]), text += two;
  return text;
}

uint64_t generalRegister(const Thread& t, int number, uint64_t next) {
  const user_regs_struct& r = t.regs;
  const unsigned long long all[17] = {r.rax, r.rcx, r.rdx, r.rbx, r.rsp, r.rbp, r.rsi, r.rdi, r.r8,
                                      r.r9,  r.r10, r.r11, r.r12, r.r13, r.r14, r.r15, next};
  return all[number];
}

// `unit`: what a short distance counts in.
uint64_t address(const Thread& t, const Instruction& x, unsigned unit) {
  uint64_t a = uint64_t(int64_t(x.isShort ? x.distance * int32_t(unit) : x.distance));
  uint64_t next = t.regs.rip + x.size;
  if (x.base >= 0) a += generalRegister(t, x.base, next);
  if (x.index >= 0) a += generalRegister(t, x.index, next) * x.scale;
  return a;
}

// The last operand: a register, `bytes` of memory, or one element of memory for all lanes.
Vector operand(const Thread& t, const Instruction& x, unsigned element, unsigned bytes) {
  if (!x.inMemory) return t.v[x.rm];
  Vector v = {};
  if (!x.broadcast) {
    readMemory(t.id, address(t, x, bytes), v.b, bytes);
    return v;
  }
  uint8_t one[8];
  readMemory(t.id, address(t, x, element), one, element);
  for (unsigned at = 0; at < x.length; at += element) std::memcpy(v.b + at, one, element);
  return v;
}

// Stores a result in a register: lanes that the mask leaves out stay as they are, or become zero.
void store(Thread& t, const Instruction& x, unsigned to, const Vector& result, unsigned element) {
  Vector v = {};
  for (unsigned at = 0, lane = 0; at < x.length; at += element, lane++) {
    bool chosen = x.mask == 0 || (t.k[x.mask] >> lane & 1);
    if (chosen) std::memcpy(v.b + at, result.b + at, element);
    else if (!x.zeroing) std::memcpy(v.b + at, t.v[to].b + at, element);
  }
  t.v[to] = v;
}

// result[i] = f(a[i], b[i], old[i]) over floats, or over doubles.
template <class F> void floats(Thread& t, const Instruction& x, F f) {
  bool wide = x.w;
  Vector a = t.v[x.other], b = operand(t, x, wide ? 8 : 4, x.length), old = t.v[x.reg], r = {};
  for (unsigned i = 0; i < x.length / (wide ? 8 : 4); i++)
    if (wide) r.d[i] = f(a.d[i], b.d[i], old.d[i]);
    else r.f[i] = f(a.f[i], b.f[i], old.f[i]);
  store(t, x, x.reg, r, wide ? 8 : 4);
}

template <class F> void integers(Thread& t, const Instruction& x, bool wide, F f) {
  Vector a = t.v[x.other], b = operand(t, x, wide ? 8 : 4, x.length), r = {};
  for (unsigned i = 0; i < x.length / (wide ? 8 : 4); i++)
    if (wide) r.q[i] = f(a.q[i], b.q[i]);
    else r.u[i] = uint32_t(f(a.u[i], b.u[i]));
  store(t, x, x.reg, r, wide ? 8 : 4);
}

// The comparisons that the compiler uses: equal, less, less or equal, not equal, greater or equal, greater; ordered or not says what NaN gives.
bool compare(double a, double b, unsigned how) {
  bool nan = a != a || b != b;
  switch (how & 15) {
    case 0: return a == b;
    case 1: return a < b;
    case 2: return a <= b;
    case 3: return nan;
    case 4: return nan || a != b;
    case 5: return !(a < b);
    case 6: return !(a <= b);
    case 7: return !nan;
    case 13: return a >= b;
    case 14: return a > b;
  }
  give_up("a comparison that is not known");
}

void compareLanes(Thread& t, const Instruction& x) {
  Vector a = t.v[x.other], b = operand(t, x, x.w ? 8 : 4, x.length);
  uint64_t mask = 0;
  for (unsigned i = 0; i < x.length / (x.w ? 8 : 4); i++)
    mask |= uint64_t(x.w ? compare(a.d[i], b.d[i], x.immediate) : compare(a.f[i], b.f[i], x.immediate)) << i;
  t.k[x.reg & 7] = x.mask == 0 ? mask : mask & t.k[x.mask];
}

void move(Thread& t, const Instruction& x, bool toMemory, unsigned element) {
  if (!toMemory) {
    store(t, x, x.reg, operand(t, x, element, x.length), element);
  } else if (x.inMemory) {
    if (x.mask != 0) give_up("a masked store");
    writeMemory(t.id, address(t, x, x.length), t.v[x.reg].b, x.length);
  } else {
    store(t, x, x.rm, t.v[x.reg], element);
  }
}

void shift(Thread& t, const Instruction& x, bool wide) {
  Vector a = operand(t, x, wide ? 8 : 4, x.length), r = {};
  for (unsigned i = 0; i < x.length / (wide ? 8 : 4); i++)
    switch (x.digit) {
      case 2: wide ? r.q[i] = a.q[i] >> x.immediate : r.u[i] = a.u[i] >> x.immediate; break;
      case 4: wide ? r.q[i] = uint64_t(int64_t(a.q[i]) >> x.immediate) : r.u[i] = uint32_t(int32_t(a.u[i]) >> x.immediate); break;
      case 6: wide ? r.q[i] = a.q[i] << x.immediate : r.u[i] = a.u[i] << x.immediate; break;
      default: give_up("a shift that is not known");
    }
  store(t, x, x.other, r, wide ? 8 : 4);
}

// One element of the last operand in all lanes.
void spread(Thread& t, const Instruction& x, unsigned element) {
  Vector one = {}, r = {};
  if (x.inMemory) readMemory(t.id, address(t, x, element), one.b, element);
  else one = t.v[x.rm];
  for (unsigned at = 0; at < x.length; at += element) std::memcpy(r.b + at, one.b, element);
  store(t, x, x.reg, r, element);
}

void blend(Thread& t, const Instruction& x, unsigned element) {
  Vector a = t.v[x.other], r = operand(t, x, element, x.length);
  for (unsigned at = 0, lane = 0; at < x.length; at += element, lane++)
    if (!(t.k[x.mask] >> lane & 1)) std::memcpy(r.b + at, a.b + at, element);
  Instruction whole = x;
  whole.mask = 0;
  store(t, whole, x.reg, r, element);
}

// Half of a vector of 64 bytes out of it, or into it.
void extract(Thread& t, const Instruction& x) {
  const uint8_t* half = t.v[x.reg].b + 32 * (x.immediate & 1);
  if (x.inMemory) return writeMemory(t.id, address(t, x, 32), half, 32);
  Vector v = {};
  std::memcpy(v.b, half, 32);
  t.v[x.rm] = v;
}

void insert(Thread& t, const Instruction& x) {
  Vector r = t.v[x.other], half = operand(t, x, 32, 32);
  std::memcpy(r.b + 32 * (x.immediate & 1), half.b, 32);
  store(t, x, x.reg, r, 8);
}

void widen(Thread& t, const Instruction& x) {
  Vector a = operand(t, x, 4, x.length / 2), r = {};
  for (unsigned i = 0; i < x.length / 8; i++) r.d[i] = a.f[i];
  store(t, x, x.reg, r, 8);
}

void narrow(Thread& t, const Instruction& x) {
  Vector a = operand(t, x, 8, x.length), r = {};
  for (unsigned i = 0; i < x.length / 8; i++) r.f[i] = float(a.d[i]);
  Instruction half = x;
  half.length = x.length / 2;
  store(t, half, x.reg, r, 4);
}

// a * b + c in three orders of operands, with the signs of the product and of c.
void fused(Thread& t, const Instruction& x, unsigned order, bool minusProduct, bool minusAddend) {
  floats(t, x, [=](auto second, auto third, auto first) {
    auto a = order == 1 ? first : second, b = order == 2 ? first : third, c = order == 1 ? second : order == 2 ? third : first;
    return std::fma(minusProduct ? -a : a, b, minusAddend ? -c : c);
  });
}

bool execute(Thread& t, const Instruction& x) {
  bool floating = x.prefix == (x.w ? 1u : 0u);
  if (x.map == 2 && x.prefix == 1) {
    unsigned row = x.opcode >> 4, column = x.opcode & 15;
    if (row >= 9 && row <= 11 && (column == 8 || column == 10 || column == 12 || column == 14)) {
      fused(t, x, row == 9 ? 1 : row == 10 ? 2 : 3, column >= 12, column == 10 || column == 14);
      return true;
    }
    switch (x.opcode) {
      case 0x18: return spread(t, x, 4), true;
      case 0x19: return spread(t, x, 8), true;
      case 0x64: case 0x65: return blend(t, x, x.w ? 8 : 4), true;
    }
    return false;
  }
  if (x.map == 3 && x.prefix == 1 && x.length == 64 && (x.opcode == 0x1b || x.opcode == 0x1a)) {
    x.opcode == 0x1b ? extract(t, x) : insert(t, x);
    return true;
  }
  if (x.map != 1) return false;
  switch (x.opcode) {
    case 0x10: case 0x28: return floating && (move(t, x, false, x.w ? 8 : 4), true);
    case 0x11: case 0x29: return floating && (move(t, x, true, x.w ? 8 : 4), true);
    case 0x51: return floating && (floats(t, x, [](auto, auto b, auto) { return std::sqrt(b); }), true);
    case 0x58: return floating && (floats(t, x, [](auto a, auto b, auto) { return a + b; }), true);
    case 0x59: return floating && (floats(t, x, [](auto a, auto b, auto) { return a * b; }), true);
    case 0x5c: return floating && (floats(t, x, [](auto a, auto b, auto) { return a - b; }), true);
    case 0x5e: return floating && (floats(t, x, [](auto a, auto b, auto) { return a / b; }), true);
    case 0x5a: return x.prefix == 0 ? (widen(t, x), true) : x.prefix == 1 && (narrow(t, x), true);
    case 0xc2: return floating && (compareLanes(t, x), true);
    case 0x54: return floating && (integers(t, x, x.w, [](uint64_t a, uint64_t b) { return a & b; }), true);
    case 0x55: return floating && (integers(t, x, x.w, [](uint64_t a, uint64_t b) { return ~a & b; }), true);
    case 0x56: return floating && (integers(t, x, x.w, [](uint64_t a, uint64_t b) { return a | b; }), true);
    case 0x57: return floating && (integers(t, x, x.w, [](uint64_t a, uint64_t b) { return a ^ b; }), true);
  }
  if (x.prefix != 1) return false;
  switch (x.opcode) {
    case 0x6f: return move(t, x, false, x.w ? 8 : 4), true;
    case 0x7f: return move(t, x, true, x.w ? 8 : 4), true;
    case 0x72: return shift(t, x, x.w), true;
    case 0x73: return shift(t, x, true), true;
    case 0xd4: return integers(t, x, true, [](uint64_t a, uint64_t b) { return a + b; }), true;
    case 0xfe: return integers(t, x, false, [](uint64_t a, uint64_t b) { return a + b; }), true;
    case 0xfa: return integers(t, x, false, [](uint64_t a, uint64_t b) { return a - b; }), true;
    case 0xfb: return integers(t, x, true, [](uint64_t a, uint64_t b) { return a - b; }), true;
    case 0xdb: return integers(t, x, x.w, [](uint64_t a, uint64_t b) { return a & b; }), true;
    case 0xdf: return integers(t, x, x.w, [](uint64_t a, uint64_t b) { return ~a & b; }), true;
    case 0xeb: return integers(t, x, x.w, [](uint64_t a, uint64_t b) { return a | b; }), true;
    case 0xef: return integers(t, x, x.w, [](uint64_t a, uint64_t b) { return a ^ b; }), true;
  }
  return false;
}

// ---- a thread that was stopped by an instruction ----

void loadLower(Thread& t, const Extended& e) {
  for (unsigned r = 0; r < 16; r++) {
    uint8_t now[32];
    std::memcpy(now, e.bytes + Extended::Low + 16 * r, 16);
    std::memcpy(now + 16, e.bytes + Extended::High + 16 * r, 16);
    if (std::memcmp(now, t.v[r].b, 32) == 0) continue;
    std::memcpy(t.v[r].b, now, 32);
    std::memset(t.v[r].b + 32, 0, 32);
  }
}

void storeLower(const Thread& t, Extended& e) {
  for (unsigned r = 0; r < 16; r++) {
    std::memcpy(e.bytes + Extended::Low + 16 * r, t.v[r].b, 16);
    std::memcpy(e.bytes + Extended::High + 16 * r, t.v[r].b + 16, 16);
  }
  e.bytes[Extended::Present] |= 7;
}

// Executes instructions until one comes that the processor has.
void goOn(Thread& t) {
  static std::map<uint64_t, Instruction> decoded;
  Extended e;
  iovec area{e.bytes, sizeof e.bytes};
  ptrace(PTRACE_GETREGS, t.id, nullptr, &t.regs);
  if (ptrace(PTRACE_GETREGSET, t.id, NT_X86_XSTATE, &area) != 0) give_up("the registers cannot be read");
  e.size = area.iov_len;
  loadLower(t, e);
  forget();
  for (bool first = true;; first = false) {
    auto [place, isNew] = decoded.try_emplace(t.regs.rip);
    if (isNew) {
      uint8_t code[16];
      readMemory(t.id, t.regs.rip, code, sizeof code);
      if (code[0] == 0x62) place->second = decode(code);
    }
    const Instruction& x = place->second;
    if (x.size == 0 && !first) break;
    if (x.size == 0 || !execute(t, x)) {
      uint8_t code[16];
      readMemory(t.id, t.regs.rip, code, sizeof code);
      give_up("an instruction that is not known: " + hex(code, 12));
    }
    t.regs.rip += x.size;
    emulated++;
  }
  storeLower(t, e);
  area.iov_len = e.size;
  if (ptrace(PTRACE_SETREGSET, t.id, NT_X86_XSTATE, &area) != 0 || ptrace(PTRACE_SETREGS, t.id, nullptr, &t.regs) != 0)
    give_up("the registers cannot be set");
}

// ---- the program ----

uint64_t symbolOf(const std::string& file, const std::string& name) {
  std::ifstream in(file, std::ios::binary);
  std::vector<char> bytes((std::istreambuf_iterator<char>(in)), {});
  if (bytes.size() < sizeof(Elf64_Ehdr)) give_up("no program: " + file);
  auto* header = reinterpret_cast<const Elf64_Ehdr*>(bytes.data());
  auto* sections = reinterpret_cast<const Elf64_Shdr*>(bytes.data() + header->e_shoff);
  for (unsigned i = 0; i < header->e_shnum; i++) {
    if (sections[i].sh_type != SHT_SYMTAB) continue;
    const char* strings = bytes.data() + sections[sections[i].sh_link].sh_offset;
    auto* symbols = reinterpret_cast<const Elf64_Sym*>(bytes.data() + sections[i].sh_offset);
    for (size_t k = 0; k < sections[i].sh_size / sizeof(Elf64_Sym); k++)
      if (name == strings + symbols[k].st_name) return symbols[k].st_value;
  }
  give_up("the program has no symbol " + name + " (is it stripped?)");
}

int follow(pid_t main) {
  std::map<pid_t, Thread> threads;
  for (;;) {
    int status = 0;
    pid_t id = waitpid(-1, &status, __WALL);
    if (id < 0) give_up("the program is gone");
    if (WIFEXITED(status) || WIFSIGNALED(status)) {
      if (id != main) continue;
      return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    }
    Thread& t = threads[id];
    int signal = WSTOPSIG(status);
    if (signal == SIGILL) {
      t.id = id;
      goOn(t);
      signal = 0;
    } else if (signal == SIGTRAP || signal == SIGSTOP) {
      signal = 0;                                       // a thread that begins
    }
    ptrace(PTRACE_CONT, id, nullptr, signal);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) give_up("which program?");
  uint64_t state = symbolOf(argv[1], "mica.state");
  pid_t child = fork();
  if (child == 0) {
    ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
    execv(argv[1], argv + 1);
    _exit(127);
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (!WIFSTOPPED(status)) give_up("the program does not start");
  ptrace(PTRACE_SETOPTIONS, child, nullptr, PTRACE_O_EXITKILL | PTRACE_O_TRACECLONE);
  uint64_t level = 2;
  writeMemory(child, state + LevelOffset, &level, sizeof level);
  ptrace(PTRACE_CONT, child, nullptr, 0);
  int result = follow(child);
  if (emulated == 0) give_up("no instruction of the second level was met");
  return result;
}
