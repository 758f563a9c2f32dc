// The printer and the parser of the text form; see text.h. They are one below the other so that they stay the same language.
#include "ir/text.h"

#include <bit>
#include <charconv>
#include <cmath>

#include "ir/builder.h"

namespace mica::ir {

namespace {

bool nameChar(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' || c == '$' || c == '/';
}

// Whether instructions of this operation spell their type.
bool printsType(Op op) {
  if (!fixedType(op).isVoid()) return false;
  if (info(op).result != '-') return true;
  return op == Op::Store || op == Op::AStore || op == Op::Switch;
}

bool hasAddressOffset(Op op) {
  switch (op) {
    case Op::Load: case Op::Store: case Op::Prefetch: case Op::ALoad: case Op::AStore: case Op::AAdd: case Op::ASwap: case Op::ACas:
      return true;
    default: return false;
  }
}

bool hasTrailingNumber(Op op) { return op == Op::MemCopy || op == Op::MemZero || op == Op::Lane || op == Op::SetLane; }

class Printer {
 public:
  Printer(const Module& m, PrintOptions o) : module(m), options(o) {}
  std::string out;

  void function(const Function& f) {
    out += "func ";
    symbol(f.symbol);
    out += '(';
    for (size_t k = 0; k < f.params.size(); ++k) {
      if (k) out += ", ";
      if (!f.blocks.empty() && k < f.blocks[0].params.size()) value(f.blocks[0].params[k]);
      out += ": " + toString(f.params[k]);
    }
    out += ')';
    if (!f.result.isVoid()) out += " -> " + toString(f.result);
    if (f.noInline) out += " noinline";
    if (f.alwaysInline) out += " inline";
    if (f.cold) out += " cold";
    if (f.entry) out += " entry";
    if (f.cpuLevel != 1) out += " level(" + std::to_string(f.cpuLevel) + ")";
    place(f.place);
    out += " {\n";
    for (size_t s = 0; s < f.slots.size(); ++s)
      out += "  slot s" + std::to_string(s) + " size " + std::to_string(f.slots[s].size) + " align " + std::to_string(f.slots[s].align) + "\n";
    for (size_t b = 0; b < f.blocks.size(); ++b) {
      out += 'b' + std::to_string(b);
      if (b != 0 && !f.blocks[b].params.empty()) {
        out += '(';
        for (size_t k = 0; k < f.blocks[b].params.size(); ++k) {
          if (k) out += ", ";
          value(f.blocks[b].params[k]);
          out += ": " + toString(f.typeOf(f.blocks[b].params[k]));
        }
        out += ')';
      }
      out += ":\n";
      for (InstId i : f.blocks[b].insts) {
        out += "  ";
        inst(f, f.insts[i.index]);
        out += '\n';
      }
    }
    out += "}\n";
  }

  void inst(const Function& f, const Inst& i) {
    if (i.result) {
      value(i.result);
      out += " = ";
    }
    out += info(i.op).text;
    if (i.op == Op::ICmp || i.op == Op::FCmp) out += std::string(" ") + name(i.cond);
    if (i.op == Op::TrapIf || i.op == Op::Trap) out += std::string(" ") + name(TrapKind(i.imm >= 0 && i.imm <= LastTrapKind ? i.imm : 0));
    if (printsType(i.op) && !i.type.isVoid()) out += " " + toString(i.type);
    switch (i.op) {
      case Op::IConst: out += " " + std::to_string(i.imm); break;
      case Op::FConst: floatBits(i.type, i.imm); break;
      case Op::SymAddr:
        out += ' ';
        symbol(i.symbol);
        offset(i.imm);
        break;
      case Op::SlotAddr: out += " s" + std::to_string(i.imm); break;
      case Op::Call:
        out += ' ';
        symbol(i.symbol);
        argList(f, i.firstArg, i.argCount, true);
        break;
      case Op::CallInd:
        out += ' ';
        value(f.arg(i, 0));
        argList(f, i.firstArg + 1, i.argCount - 1, true);
        break;
      default: plainOperands(f, i);
    }
    place(i.place);
  }

  void data(const Data& d) {
    out += "data ";
    symbol(d.symbol);
    out += " align " + std::to_string(d.align) + (d.readOnly ? " readonly {\n" : " {\n");
    bool printable = !d.bytes.empty();
    for (char c : d.bytes) printable &= (c >= ' ' && c <= '~') || c == '\n';
    if (printable) {
      out += "  text ";
      quoted(d.bytes);
      out += '\n';
    } else {
      for (size_t at = 0; at < d.bytes.size(); at += 32) hexLine(std::string_view(d.bytes).substr(at, 32));
    }
    if (d.zeros) out += "  zeros " + std::to_string(d.zeros) + "\n";
    for (const DataRef& r : d.refs) {
      out += "  ref " + std::to_string(r.offset) + " ";
      symbol(r.symbol);
      offset(r.addend);
      out += '\n';
    }
    out += "}\n";
  }

 private:
  const Module& module;
  PrintOptions options;

  void value(ValueId v) { out += v ? "%" + std::to_string(v.index) : std::string("%none"); }

  void symbol(SymbolId s) {
    out += '@';
    nameOrString(s ? module.nameOf(s) : std::string());
  }

  void nameOrString(const std::string& s) {
    bool plain = !s.empty();
    for (char c : s) plain &= nameChar(c);
    if (plain) out += s;
    else quoted(s);
  }

  void quoted(std::string_view s) {
    static const char* hex = "0123456789abcdef";
    out += '"';
    for (char c : s) {
      if (c == '"' || c == '\\') (out += '\\') += c;
      else if (c == '\n') out += "\\n";
      else if (c >= ' ' && c <= '~') out += c;
      else ((out += "\\x") += hex[uint8_t(c) >> 4]) += hex[c & 15];
    }
    out += '"';
  }

  void hexLine(std::string_view bytes) {
    static const char* hex = "0123456789abcdef";
    out += "  hex ";
    for (char c : bytes) (out += hex[uint8_t(c) >> 4]) += hex[c & 15];
    out += '\n';
  }

  void offset(int64_t n) {
    if (n > 0) out += " + " + std::to_string(n);
    if (n < 0) out += " - " + std::to_string(0 - uint64_t(n));
  }

  void place(PlaceId p) {
    if (!options.places || !p) return;
    out += " !";
    for (bool first = true; p; first = false, p = module.places[p.index].inlinedAt) {
      if (!first) out += " at ";
      const PlaceInfo& i = module.places[p.index];
      nameOrString(i.file);
      out += ":" + std::to_string(i.line) + ":" + std::to_string(i.column) + " in ";
      nameOrString(i.function);
    }
  }

  void argList(const Function& f, uint32_t first, uint32_t count, bool always) {
    if (!count && !always) return;
    out += '(';
    for (uint32_t k = 0; k < count; ++k) {
      if (k) out += ", ";
      value(f.pool[first + k]);
    }
    out += ')';
  }

  // A finite value as the shortest decimal that reads back to it, others as bits.
  void floatBits(Type t, int64_t bits) {
    char buffer[64];
    std::to_chars_result r{};
    out += ' ';
    if (t.kind == TypeKind::F32) {
      float v = std::bit_cast<float>(uint32_t(bits));
      if (std::isfinite(v)) r = std::to_chars(buffer, buffer + sizeof buffer, v);
    } else {
      double v = std::bit_cast<double>(bits);
      if (std::isfinite(v)) r = std::to_chars(buffer, buffer + sizeof buffer, v);
    }
    if (!r.ptr) {
      out += "0x";
      r = std::to_chars(buffer, buffer + sizeof buffer, uint64_t(bits), 16);
    }
    out.append(buffer, r.ptr);
  }

  void plainOperands(const Function& f, const Inst& i) {
    bool first = true;
    auto separate = [&] {
      out += first ? " " : ", ";
      first = false;
    };
    for (uint32_t k = 0; k < i.argCount; ++k) {
      separate();
      value(f.pool[i.firstArg + k]);
    }
    if (hasAddressOffset(i.op)) offset(i.imm);
    if (i.region == Region::Header) out += " header";
    if (i.region == Region::Scalar) out += " scalar";
    if (hasTrailingNumber(i.op)) {
      separate();
      out += std::to_string(i.imm);
    }
    for (uint32_t k = 0; k < i.targetCount; ++k) {
      separate();
      if (i.op == Op::Switch && k > 0) out += std::to_string(f.cases[i.imm + k - 1]) + ": ";
      const Target& t = f.targets[i.firstTarget + k];
      out += 'b' + std::to_string(t.block.index);
      argList(f, t.firstArg, t.argCount, false);
    }
  }
};

// ---------------------------------------------------------------------------------------------------------------- parser

struct Fault { size_t at; std::string message; };

class Parser {
 public:
  Parser(std::string_view t, Module& m) : text(t), module(m) {}

  void run() {
    for (skip(); at < text.size(); skip()) {
      if (keyword("func")) function();
      else if (keyword("data")) data();
      else fail("expected `func` or `data`");
    }
  }

 private:
  std::string_view text;
  Module& module;
  size_t at = 0;
  Function* fn = nullptr;
  // How often each value and block was mentioned first, so that undefined ones are reported where they are used.
  std::vector<size_t> valueUse, blockUse;
  std::vector<char> valueDefined, blockDefined;

  [[noreturn]] void fail(const std::string& message) { throw Fault{at, message}; }

  void skip() {
    while (at < text.size()) {
      char c = text[at];
      if (c == ';') while (at < text.size() && text[at] != '\n') ++at;
      else if (c == ' ' || c == '\n' || c == '\t' || c == '\r') ++at;
      else break;
    }
  }

  char peek() {
    skip();
    return at < text.size() ? text[at] : '\0';
  }
  bool accept(char c) {
    if (peek() != c) return false;
    ++at;
    return true;
  }
  void expect(char c) {
    if (!accept(c)) fail(std::string("expected `") + c + "`");
  }

  std::string_view peekWord() {
    skip();
    size_t end = at;
    while (end < text.size() && nameChar(text[end])) ++end;
    return text.substr(at, end - at);
  }
  std::string_view word(const char* what) {
    std::string_view w = peekWord();
    if (w.empty()) fail(std::string("expected ") + what);
    at += w.size();
    return w;
  }
  bool keyword(std::string_view k) {
    if (peekWord() != k) return false;
    at += k.size();
    return true;
  }
  void expectKeyword(std::string_view k) {
    if (!keyword(k)) fail("expected `" + std::string(k) + "`");
  }

  template <class T> T number(const char* what) {
    skip();
    T n{};
    auto r = std::from_chars(text.data() + at, text.data() + text.size(), n);
    if (r.ec != std::errc()) fail(std::string("expected ") + what);
    at = size_t(r.ptr - text.data());
    return n;
  }
  int64_t integer() { return number<int64_t>("an integer"); }

  // A numbered name such as %3: the number, bounded so that a slip of the pen does not ask for gigabytes.
  uint32_t numbered(char sigil, const char* what) {
    if (peek() != sigil) fail(std::string("expected ") + what);
    ++at;
    if (at >= text.size() || text[at] < '0' || text[at] > '9') fail(std::string("expected ") + what);
    uint32_t n = number<uint32_t>(what);
    if (n > text.size() + 65536) fail("number too large");
    return n;
  }

  std::string nameOrString(const char* what) {
    if (peek() == '"') return string();
    return std::string(word(what));
  }
  unsigned hexDigit(char c) {
    if (c >= '0' && c <= '9') return unsigned(c - '0');
    if (c >= 'a' && c <= 'f') return unsigned(c - 'a' + 10);
    fail("expected a hexadecimal digit");
  }
  char next() {
    if (at >= text.size()) fail("unexpected end");
    return text[at++];
  }
  std::string string() {
    expect('"');
    std::string s;
    for (char c = next(); c != '"'; c = next()) {
      if (c == '\\') {
        c = next();
        if (c == 'n') c = '\n';
        else if (c == 'x') {
          unsigned high = hexDigit(next());
          c = char(high * 16 + hexDigit(next()));
        }
      }
      s += c;
    }
    return s;
  }
  SymbolId symbol() {
    expect('@');
    return module.symbol(nameOrString("a symbol"));
  }
  int64_t offset() {
    if (accept('+')) return int64_t(number<uint64_t>("an offset"));
    if (accept('-')) return int64_t(0 - number<uint64_t>("an offset"));
    return 0;
  }

  bool type(Type& t) {
    static constexpr Type kinds[] = {I1, I8, I16, I32, I64, F32, F64, Ptr};
    std::string_view w = peekWord();
    for (Type k : kinds) {
      std::string base = toString(k);
      if (!w.starts_with(base)) continue;
      std::string_view rest = w.substr(base.size());
      unsigned lanes = 1;
      if (!rest.empty()) {
        auto r = std::from_chars(rest.data() + 1, rest.data() + rest.size(), lanes);
        if (rest[0] != 'x' || r.ec != std::errc() || r.ptr != rest.data() + rest.size() || lanes < 2 || lanes > 64) continue;
      }
      at += w.size();
      t = k.withLanes(lanes);
      return true;
    }
    return false;
  }
  Type type() {
    Type t;
    if (!type(t)) fail("expected a type");
    return t;
  }

  PlaceId place() {
    if (!accept('!')) return {};
    std::vector<PlaceInfo> chain;
    do {
      PlaceInfo p;
      p.file = nameOrString("a file name");
      expect(':');
      p.line = number<uint32_t>("a line number");
      expect(':');
      p.column = number<uint32_t>("a column number");
      expectKeyword("in");
      p.function = nameOrString("a function name");
      chain.push_back(std::move(p));
    } while (keyword("at"));
    PlaceId id;
    for (size_t k = chain.size(); k-- > 0;) id = addPlace(module, chain[k].file, chain[k].line, chain[k].column, chain[k].function, id);
    return id;
  }

  void function() {
    SymbolId s = symbol();
    if (module.symbols[s.index].kind != SymbolKind::External) fail("`@" + module.nameOf(s) + "` is defined twice");
    fn = &module.addFunction(std::string(module.nameOf(s)));
    valueUse.clear(), blockUse.clear(), valueDefined.clear(), blockDefined.clear();
    std::vector<ValueId> params;
    paramList(params, BlockId(0));
    for (ValueId p : params) fn->params.push_back(fn->typeOf(p));
    if (accept('-')) {
      expect('>');
      fn->result = type();
    }
    attributes();
    fn->place = place();
    expect('{');
    while (keyword("slot")) slot();
    while (!accept('}')) block(params);
    finish();
  }

  void attributes() {
    for (;;) {
      if (keyword("noinline")) fn->noInline = true;
      else if (keyword("inline")) fn->alwaysInline = true;
      else if (keyword("cold")) fn->cold = true;
      else if (keyword("entry")) fn->entry = true;
      else if (keyword("level")) {
        expect('(');
        fn->cpuLevel = uint8_t(integer());
        expect(')');
      } else return;
    }
  }

  void slot() {
    if (numbered('s', "a slot") != fn->slots.size()) fail("slots are numbered in order");
    Slot s;
    expectKeyword("size");
    s.size = number<uint32_t>("a size");
    expectKeyword("align");
    s.align = number<uint32_t>("an alignment");
    fn->slots.push_back(s);
  }

  void paramList(std::vector<ValueId>& params, BlockId of) {
    expect('(');
    if (accept(')')) return;
    do {
      ValueId v = define();
      expect(':');
      fn->values[v.index].type = type();
      fn->values[v.index].paramOf = of;
      params.push_back(v);
    } while (accept(','));
    expect(')');
  }

  void block(const std::vector<ValueId>& entryParams) {
    size_t start = at;
    BlockId b = blockRef();
    if (blockDefined[b.index]) at = start, fail("block defined twice");
    blockDefined[b.index] = 1;
    std::vector<ValueId> params;
    if (b.index == 0) params = entryParams;
    else if (peek() == '(') paramList(params, b);
    fn->blocks[b.index].params = std::move(params);
    expect(':');
    while (peek() != '}' && !atBlock()) inst(b);
  }

  bool atBlock() {
    std::string_view w = peekWord();
    if (w.size() < 2 || w[0] != 'b') return false;
    for (char c : w.substr(1)) if (c < '0' || c > '9') return false;
    return true;
  }

  template <class T> static void grow(std::vector<T>& v, uint32_t index, T fill = T()) {
    if (index >= v.size()) v.resize(index + 1, fill);
  }

  ValueId valueNumber() {
    skip();
    size_t start = at;
    ValueId v(numbered('%', "a value"));
    grow(fn->values, v.index);
    grow(valueDefined, v.index);
    grow(valueUse, v.index, std::string_view::npos);
    if (valueUse[v.index] == std::string_view::npos) valueUse[v.index] = start;
    return v;
  }
  ValueId define() {
    skip();
    size_t start = at;
    ValueId v = valueNumber();
    if (valueDefined[v.index]) at = start, fail("value defined twice");
    valueDefined[v.index] = 1;
    return v;
  }
  BlockId blockRef() {
    skip();
    size_t start = at;
    BlockId b(numbered('b', "a block"));
    grow(fn->blocks, b.index);
    grow(blockDefined, b.index);
    grow(blockUse, b.index, std::string_view::npos);
    if (blockUse[b.index] == std::string_view::npos) blockUse[b.index] = start;
    return b;
  }

  void finish() {
    for (size_t v = 0; v < valueUse.size(); ++v)
      if (valueUse[v] != std::string_view::npos && !valueDefined[v]) at = valueUse[v], fail("value is never defined");
    for (size_t b = 0; b < blockUse.size(); ++b)
      if (blockUse[b] != std::string_view::npos && !blockDefined[b]) at = blockUse[b], fail("block is never defined");
  }

  void inst(BlockId b) {
    ValueId result;
    skip();
    size_t start = at;
    if (peek() == '%') {
      result = define();
      expect('=');
    }
    Inst i;
    i.op = operation();
    if (i.op == Op::ICmp || i.op == Op::FCmp) i.cond = condition();
    if (i.op == Op::TrapIf || i.op == Op::Trap) i.imm = trapKind();
    i.type = fixedType(i.op);
    if (printsType(i.op) && !type(i.type) && i.op != Op::Call && i.op != Op::CallInd) fail("expected a type");
    std::vector<ValueId> args;
    operands(i, args);
    i.firstArg = addToPool(*fn, args);
    i.argCount = uint32_t(args.size());
    i.place = place();
    Type t = resultType(i.op, i.type);
    if (t.isVoid() == bool(result)) at = start, fail(t.isVoid() ? "the operation has no result" : "the result needs a name");
    i.result = result;
    InstId id(uint32_t(fn->insts.size()));
    if (result) fn->values[result.index].type = t, fn->values[result.index].def = id;
    fn->insts.push_back(i);
    fn->blocks[b.index].insts.push_back(id);
  }

  Op operation() {
    std::string_view w = peekWord();
    for (unsigned k = 0; k < OpCount; ++k)
      if (w == info(Op(k)).text) {
        at += w.size();
        return Op(k);
      }
    fail("unknown operation `" + std::string(w) + "`");
  }
  Cond condition() {
    std::string_view w = peekWord();
    for (unsigned k = 0; k <= unsigned(Cond::Nge); ++k)
      if (w == name(Cond(k))) {
        at += w.size();
        return Cond(k);
      }
    fail("unknown condition `" + std::string(w) + "`");
  }
  int64_t trapKind() {
    std::string_view w = peekWord();
    for (int64_t k = 1; k <= LastTrapKind; ++k)
      if (w == name(TrapKind(k))) {
        at += w.size();
        return k;
      }
    fail("unknown trap kind `" + std::string(w) + "`");
  }

  void argList(std::vector<ValueId>& args) {
    expect('(');
    if (accept(')')) return;
    do args.push_back(valueNumber());
    while (accept(','));
    expect(')');
  }

  void operands(Inst& i, std::vector<ValueId>& args) {
    switch (i.op) {
      case Op::IConst: i.imm = integer(); return;
      case Op::FConst: i.imm = floatBits(i.type); return;
      case Op::SymAddr:
        i.symbol = symbol();
        i.imm = offset();
        return;
      case Op::SlotAddr: i.imm = numbered('s', "a slot"); return;
      case Op::Call:
        i.symbol = symbol();
        argList(args);
        return;
      case Op::CallInd:
        args.push_back(valueNumber());
        argList(args);
        return;
      default: plainOperands(i, args);
    }
  }

  int64_t floatBits(Type t) {
    skip();
    if (text.substr(at).starts_with("0x")) {
      at += 2;
      uint64_t bits = 0;
      auto r = std::from_chars(text.data() + at, text.data() + text.size(), bits, 16);
      if (r.ec != std::errc()) fail("expected hexadecimal digits");
      at = size_t(r.ptr - text.data());
      return int64_t(bits);
    }
    if (t.kind == TypeKind::F32) return std::bit_cast<uint32_t>(number<float>("a number"));
    return std::bit_cast<int64_t>(number<double>("a number"));
  }

  void plainOperands(Inst& i, std::vector<ValueId>& args) {
    std::vector<Target> targets;
    bool any = false;
    if (info(i.op).operands[0] == '\0' && i.op != Op::Br) return;
    auto more = [&] {
      bool yes = any ? accept(',') : peek() == '%' || (i.op == Op::Br && atBlock());
      any = true;
      return yes;
    };
    while (more()) {
      if (peek() == '%') {
        args.push_back(valueNumber());
      } else if (hasTrailingNumber(i.op)) {
        i.imm = integer();
      } else {
        if (i.op == Op::Switch && !targets.empty()) {
          if (targets.size() == 1) i.imm = int64_t(fn->cases.size());
          fn->cases.push_back(integer());
          expect(':');
        }
        Target t;
        t.block = blockRef();
        std::vector<ValueId> targetArgs;
        if (peek() == '(') argList(targetArgs);
        t.firstArg = addToPool(*fn, targetArgs);
        t.argCount = uint32_t(targetArgs.size());
        targets.push_back(t);
      }
    }
    if (hasAddressOffset(i.op)) i.imm = offset();
    if (i.op == Op::Load || i.op == Op::Store) i.region = keyword("header") ? Region::Header : keyword("scalar") ? Region::Scalar : Region::Any;
    i.firstTarget = uint32_t(fn->targets.size());
    i.targetCount = uint32_t(targets.size());
    fn->targets.insert(fn->targets.end(), targets.begin(), targets.end());
  }

  void data() {
    SymbolId s = symbol();
    if (module.symbols[s.index].kind != SymbolKind::External) fail("`@" + module.nameOf(s) + "` is defined twice");
    Data& d = module.addData(std::string(module.nameOf(s)));
    expectKeyword("align");
    d.align = number<uint32_t>("an alignment");
    d.readOnly = keyword("readonly");
    expect('{');
    while (!accept('}')) {
      if (keyword("hex")) {
        std::string_view digits = word("hexadecimal digits");
        if (digits.size() % 2) fail("a byte has two digits");
        for (size_t k = 0; k < digits.size(); k += 2) d.bytes += char(hexDigit(digits[k]) * 16 + hexDigit(digits[k + 1]));
      } else if (keyword("text")) {
        d.bytes += string();
      } else if (keyword("zeros")) {
        d.zeros = number<uint64_t>("a number of bytes");
      } else if (keyword("ref")) {
        DataRef r{};
        r.offset = number<uint32_t>("an offset");
        r.symbol = symbol();
        r.addend = offset();
        d.refs.push_back(r);
      } else {
        fail("expected `hex`, `text`, `zeros`, `ref` or `}`");
      }
    }
  }
};

}  // namespace

std::string print(const Module& m, PrintOptions options) {
  Printer p(m, options);
  for (const Function& f : m.functions) p.function(f);
  for (const Data& d : m.data) p.data(d);
  return std::move(p.out);
}

std::string print(const Module& m, const Function& f, PrintOptions options) {
  Printer p(m, options);
  p.function(f);
  return std::move(p.out);
}

std::string print(const Module& m, const Function& f, InstId i, PrintOptions options) {
  Printer p(m, options);
  p.inst(f, f.insts[i.index]);
  return std::move(p.out);
}

bool parse(std::string_view text, Module& m, std::string& error) {
  Parser p(text, m);
  try {
    p.run();
    return true;
  } catch (const Fault& f) {
    uint32_t line = 1, column = 1;
    for (size_t k = 0; k < f.at && k < text.size(); ++k) {
      if (text[k] == '\n') ++line, column = 1;
      else ++column;
    }
    error = std::to_string(line) + ":" + std::to_string(column) + ": " + f.message;
    return false;
  }
}

}  // namespace mica::ir
