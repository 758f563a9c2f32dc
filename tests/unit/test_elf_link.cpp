// The linker: programs assembled by hand are linked, looked at with the system's tools, and run.
#include <algorithm>
#include <cstring>

#include "elf/format.h"
#include "elf/sha1.h"
#include "test_elf.h"

using namespace elftest;

namespace {

Object hello() {
  Build b;
  addHello(b, "hello\n", "Main.Main");
  addConstant(b, "Main.Main", 7);
  addConstant(b, "Main.Unused", 8);
  return b.object;
}

LinkOptions stripped() {
  LinkOptions options;
  options.strip = true;
  return options;
}

template <class T> std::vector<T> table(const std::string& file, uint64_t at, unsigned count) {
  std::vector<T> list(count);
  std::memcpy(list.data(), file.data() + at, count * sizeof(T));
  return list;
}

std::vector<Elf64_Phdr> programHeaders(const std::string& file) {
  Elf64_Ehdr h = load<Elf64_Ehdr>(file.data());
  return table<Elf64_Phdr>(file, h.e_phoff, h.e_phnum);
}

// Address and file offset of every loaded byte agree; nothing is writable and executable; segments do not share pages.
void checkSegments(const std::string& file) {
  uint64_t end = 0;
  for (const Elf64_Phdr& p : programHeaders(file)) {
    CHECK((p.p_flags & (PF_W | PF_X)) != (PF_W | PF_X));
    if (p.p_type != PT_LOAD) continue;
    CHECK(p.p_offset % p.p_align == p.p_vaddr % p.p_align);
    CHECK(p.p_offset + p.p_filesz <= file.size());
    CHECK(p.p_filesz <= p.p_memsz);
    CHECK(p.p_vaddr / p.p_align * p.p_align >= end);
    end = (p.p_vaddr + p.p_memsz + p.p_align - 1) / p.p_align * p.p_align;
  }
}

// The bytes of the file behind an address.
const char* atAddress(const std::string& file, uint64_t address) {
  for (const Elf64_Phdr& p : programHeaders(file))
    if (p.p_type == PT_LOAD && address >= p.p_vaddr && address < p.p_vaddr + p.p_filesz) return file.data() + p.p_offset + (address - p.p_vaddr);
  FAIL("no such address in the file");
  return nullptr;
}

// The symbols of an unstripped file.
std::vector<std::pair<std::string, Elf64_Sym>> symbolsOf(const std::string& file) {
  Elf64_Ehdr h = load<Elf64_Ehdr>(file.data());
  auto sections = table<Elf64_Shdr>(file, h.e_shoff, h.e_shnum);
  std::vector<std::pair<std::string, Elf64_Sym>> result;
  for (const Elf64_Shdr& s : sections) {
    if (s.sh_type != SHT_SYMTAB) continue;
    for (const Elf64_Sym& symbol : table<Elf64_Sym>(file, s.sh_offset, unsigned(s.sh_size / sizeof(Elf64_Sym))))
      result.emplace_back(file.data() + sections[s.sh_link].sh_offset + symbol.st_name, symbol);
  }
  return result;
}

uint64_t addressOf(const std::string& file, const std::string& name) {
  for (const auto& [n, symbol] : symbolsOf(file)) if (n == name) return symbol.st_value;
  FAIL("no symbol " << name);
  return 0;
}

bool hasSymbol(const std::string& file, const std::string& name) {
  auto list = symbolsOf(file);
  return std::any_of(list.begin(), list.end(), [&](const auto& s) { return s.first == name; });
}

}  // namespace

TEST_CASE("elf: a linked program runs") {
  Folder folder;
  Object object = hello();
  save(folder / "hello", linked({&object}));
  Result result = run(folder / "hello");
  CHECK(result.status == 7);
  CHECK(result.out == "hello\n");
}

TEST_CASE("elf: a stripped program runs in an empty root and is small") {
  Folder folder;
  Object object = hello();
  std::string file = linked({&object}, stripped());
  CHECK(file.size() < 1024);
  CHECK(load<Elf64_Ehdr>(file.data()).e_shnum == 0);
  save(folder / "hello", file);
  CHECK(run(folder / "hello").status == 7);
  if (::geteuid() == 0) {
    Result result = run("chroot " + folder.path + " /hello");
    CHECK(result.status == 7);
    CHECK(result.out == "hello\n");
  }
}

TEST_CASE("elf: the headers are those of a plain static program") {
  Object object = hello();
  for (bool strip : {false, true}) {
    LinkOptions options;
    options.strip = strip;
    std::string file = linked({&object}, options);
    checkSegments(file);
    bool stack = false;
    for (const Elf64_Phdr& p : programHeaders(file)) {
      bool known = p.p_type == PT_LOAD || p.p_type == PT_NOTE || p.p_type == PT_PHDR || p.p_type == PT_GNU_STACK;
      CHECK(known);
      if (p.p_type == PT_GNU_STACK) stack = p.p_flags == (PF_R | PF_W);
    }
    CHECK(stack);
  }
}

TEST_CASE("elf: readelf and elflint accept the file") {
  Folder folder;
  Build b;
  addHello(b, "hello\n", "Main.Main");
  ObjectFunction& f = b.function("Main.Main");
  b.code(f, "55 48 89 e5");
  b.code(f, "8b 05 00 00 00 00", "Data");             // mov eax, [rip + Data]
  b.code(f, "48 8d 0d 00 00 00 00", "mica.places");
  b.code(f, "48 8d 0d 00 00 00 00", "mica.state");
  b.code(f, "48 8d 0d 00 00 00 00", "mica.text.end");
  b.code(f, "5d c3");
  f.lines = {{0, b.place("a.mica", 3, "Main.Main")}};
  b.data("Data", std::string("\x05\0\0\0", 4), 0, 4, false);
  save(folder / "a", linked({&b.object}));
  CHECK(run(folder / "a").status == 5);
  if (have("readelf")) {
    Result result = run("readelf -aW " + (folder / "a"));
    CHECK(result.status == 0);
    CHECK(result.out.find("arning") == std::string::npos);
    CHECK(result.out.find("INTERP") == std::string::npos);
    CHECK(result.out.find("DYNAMIC") == std::string::npos);
    CHECK(result.out.find("RWE") == std::string::npos);
    CHECK(result.out.find("Build ID: ") != std::string::npos);
    Result dwarf = run("readelf --debug-dump=info,decodedline,frames " + (folder / "a"));
    CHECK(dwarf.status == 0);
    CHECK(dwarf.out.find("arning") == std::string::npos);
    CHECK(dwarf.out.find("Main.Main") != std::string::npos);
    CHECK(dwarf.out.find("a.mica") != std::string::npos);
  }
  if (have("eu-elflint")) {
    Result result = run("eu-elflint --gnu-ld " + (folder / "a"));
    CHECK_MESSAGE(result.status == 0, result.out);
  }
}

TEST_CASE("elf: the same input gives the same bytes, another input another build id") {
  Object one = hello(), two = hello(), other = hello();
  CHECK(linked({&one}) == linked({&two}));
  LinkOptions here, there;
  here.source = "hello.mica", there.source = "/some/where/hello.mica";
  CHECK(linked({&one}, here) == linked({&one}, there));
  other.data[0].bytes[0] = 'H';
  std::string a = linked({&one}, stripped()), b = linked({&other}, stripped());
  size_t note = a.find(std::string("GNU\0", 4));
  REQUIRE(note != std::string::npos);
  CHECK(a.substr(note, 24) != b.substr(note, 24));
  std::string full = linked({&one});
  CHECK(full.substr(note, 24) == a.substr(note, 24));
}

TEST_CASE("elf: SHA-1 gives the standard's examples") {
  auto hex = [](std::string_view text) {
    std::string out;
    char two[3];
    for (unsigned char c : sha1(text)) out += (std::snprintf(two, 3, "%02x", c), two);
    return out;
  };
  CHECK(hex("abc") == "a9993e364706816aba3e25717850c26c9cd0d89d");
  CHECK(hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq") == "84983e441c3bd26ebaae4aa1f95129e5e54670f1");
  CHECK(hex("") == "da39a3ee5e6b4b0d3255bfef95601890afd80709");
}

TEST_CASE("elf: only what the entry reaches is linked") {
  Object object = hello();
  std::string file = linked({&object});
  CHECK(hasSymbol(file, "Main.Main"));
  CHECK_FALSE(hasSymbol(file, "Main.Unused"));
  LinkOptions options;
  options.roots = {"Main.Unused"};
  CHECK(hasSymbol(linked({&object}, options), "Main.Unused"));
}

TEST_CASE("elf: data refers to code and data by address") {
  Folder folder;
  Build b;
  addHello(b, "", "Main.Main");
  addConstant(b, "Answer", 42);
  ObjectData& slot = b.data("Slot", std::string(16, '\0'), 0, 8, true);
  slot.relocs = {{8, RelocKind::Abs64, b.symbol("Answer"), 0}};
  ObjectFunction& f = b.function("Main.Main");
  b.code(f, "ff 25 00 00 00 00", "Slot", 8);          // jmp [rip + Slot + 8]
  save(folder / "a", linked({&b.object}));
  CHECK(run(folder / "a").status == 42);
}

TEST_CASE("elf: several objects meet by name, literals that both define are one") {
  Folder folder;
  Build a, b;
  addHello(a, "from the first\n", "Library.F");
  addConstant(b, "Library.G", 3);
  b.data("str.0", "from the first\n");
  ObjectFunction& f = b.function("Library.F");
  b.code(f, "48 8d 05 00 00 00 00", "str.0");         // lea rax, [rip + str.0]
  b.code(f, "0f b6 00 c3");                           // movzx eax, byte [rax]; ret
  std::string bytes = serialize(b.object), error;
  auto view = ObjectView::open(bytes, error);
  REQUIRE(view);
  std::string viaView, viaObject = linked({&a.object, &b.object});
  std::vector<std::string> errors;
  REQUIRE(link({LinkInput(&a.object), LinkInput(&*view)}, {}, viaView, errors));
  CHECK(viaView == viaObject);
  save(folder / "a", viaView);
  Result result = run(folder / "a");
  CHECK(result.status == 'f');
  CHECK(result.out == "from the first\n");
  CHECK_FALSE(hasSymbol(viaView, "Library.G"));
}

TEST_CASE("elf: undefined symbols name three users and count the rest") {
  Build b;
  addHello(b, "", "Main.Main");
  ObjectFunction& f = b.function("Main.Main");
  for (int i = 0; i < 5; i++) b.code(f, "e8 00 00 00 00", "Missing.F");
  b.code(f, "e8 00 00 00 00", "Missing.G");
  f.lines = {{0, b.place("a.mica", 3, "Main.Main")}, {6, b.place("a.mica", 4, "Main.Main")}};
  auto errors = faults({&b.object});
  REQUIRE(errors.size() == 2);
  CHECK(errors[0] == "undefined symbol `Missing.F`, used in Main.Main (a.mica:3), Main.Main (a.mica:4), Main.Main (a.mica:4) and 2 more");
  CHECK(errors[1] == "undefined symbol `Missing.G`, used in Main.Main (a.mica:4)");
  Build empty;
  CHECK(faults({&empty.object}) == std::vector<std::string>{"undefined symbol `Start.Entry`, used in the program's entry"});
}

TEST_CASE("elf: duplicate symbols are refused") {
  Object a = hello(), b;
  Build c;
  addConstant(c, "Main.Main", 1);
  c.data("mica.state", "x");
  auto errors = faults({&a, &c.object});
  REQUIRE(errors.size() == 2);
  CHECK(errors[0] == "duplicate symbol `mica.state`, defined in the linker and in object 2");
  CHECK(errors[1] == "duplicate symbol `Main.Main`, defined in object 1 and in object 2");
  Build d;
  d.data("str.0", "another text of the same name");
  CHECK(faults({&a, &d.object}) == std::vector<std::string>{"duplicate symbol `str.0`, defined in object 1 and in object 2"});
}

TEST_CASE("elf: an entry that is data is refused") {
  Build b;
  b.data("Start.Entry", "x");
  CHECK(faults({&b.object}) == std::vector<std::string>{"the program's entry `Start.Entry` is not a function"});
}

TEST_CASE("elf: zeroed data take no room in the file and are zero") {
  Folder folder;
  Build b;
  addHello(b, "", "Main.Main");
  const uint64_t size = uint64_t(1) << 30, tail = 1 << 20;
  b.data("Big", "", size, 64, false);
  b.data("Small", "", 8, 8, false);
  b.data("Word", std::string("\x01\x02\x03\x04", 4), 0, 4, false);
  b.data("Tailed", "\x05", tail, 1, false);
  b.data("TailedConstant", "\x06", tail, 1, true);
  ObjectFunction& f = b.function("Main.Main");
  b.code(f, "0f b6 05 00 00 00 00", "Big", int64_t(size) - 1);       // movzx eax, byte [rip + ...]
  b.code(f, "c6 05 00 00 00 00 02");                                 // mov byte [rip + Big + size - 1], 2
  f.relocs.push_back({uint32_t(f.code.size() - 5), RelocKind::Pc32, b.symbol("Big"), int64_t(size) - 1 - 5});
  b.code(f, "02 05 00 00 00 00", "Big", int64_t(size) - 1);          // add al, [rip + ...]
  b.code(f, "02 05 00 00 00 00", "Small");
  b.code(f, "02 05 00 00 00 00", "Word", 3);
  b.code(f, "02 05 00 00 00 00", "Tailed", 0);
  b.code(f, "02 05 00 00 00 00", "Tailed", tail);
  b.code(f, "02 05 00 00 00 00", "mica.state", 4095);
  b.code(f, "c3");
  std::string file = linked({&b.object}, stripped());
  CHECK(file.size() < 2048);
  checkSegments(file);
  save(folder / "a", file);
  CHECK(run(folder / "a").status == 2 + 4 + 5);
  ObjectFunction& g = b.object.functions.back();
  g.code.pop_back();
  b.code(g, "02 05 00 00 00 00", "TailedConstant");
  b.code(g, "c3");
  CHECK(linked({&b.object}, stripped()).size() > tail);                // of two long tails only one can be last
}

TEST_CASE("elf: a program with zeroed data only") {
  Folder folder;
  Build b;
  addHello(b, "", "Main.Main");
  b.data("Counter", "", 8, 8, false);
  ObjectFunction& f = b.function("Main.Main");
  b.code(f, "ff 05 00 00 00 00", "Counter");          // inc dword [rip + Counter]
  b.code(f, "8b 05 00 00 00 00", "Counter");
  b.code(f, "c3");
  std::string file = linked({&b.object}, stripped());
  checkSegments(file);
  save(folder / "a", file);
  CHECK(run(folder / "a").status == 1);
}

TEST_CASE("elf: alignment up to a page is kept") {
  Build b;
  addHello(b, "", "Main.Main");
  ObjectFunction& f = b.function("Main.Main");
  f.align = 4096;
  std::vector<std::pair<std::string, uint32_t>> wanted = {{"Main.Main", 4096}};
  for (int kind = 0; kind < 3; kind++) {
    for (uint32_t align : {1u, 64u, 256u, 4096u, 2u}) {
      std::string name = "D" + std::to_string(kind) + "." + std::to_string(align);
      b.data(name, kind == 2 ? "" : "x", kind == 2 ? 3 : 0, align, kind == 0);
      b.code(b.object.functions.back(), "48 8d 05 00 00 00 00", name);
      wanted.emplace_back(name, align);
    }
  }
  std::string file = linked({&b.object});
  checkSegments(file);
  for (const auto& w : wanted) CHECK_MESSAGE(addressOf(file, w.first) % w.second == 0, w.first);
  b.code(b.object.functions.back(), "48 8d 05 00 00 00 00", "mica.state");
  CHECK(addressOf(linked({&b.object}), "mica.state") % 64 == 0);
}

TEST_CASE("elf: what is out of reach is refused by name") {
  Build b;
  addHello(b, "", "Main.Main");
  b.data("Huge", "", uint64_t(5) << 30, 8, false);
  ObjectFunction& f = b.function("Main.Main");
  b.code(f, "8b 05 00 00 00 00", "Huge", int64_t(4) << 30);
  auto errors = faults({&b.object});
  REQUIRE(errors.size() == 1);
  CHECK(errors[0].find("Main.Main+2: the relocation to `Huge` is out of range: 429") == 0);
  CHECK(errors[0].find(" is not in [-2147483648, 2147483648)") != std::string::npos);

  b.object.data.back().zeros = ~uint64_t(0);
  CHECK(faults({&b.object}) == std::vector<std::string>{"the program's data are larger than the address space"});
}

TEST_CASE("elf: the place table covers what was linked, sorted, each text once") {
  Build b;
  addHello(b, "", "Main.Main");
  uint32_t outer = b.place("gpt.mica", 80, "Main"), unused = b.place("other.mica", 1, "Unused");
  uint32_t inner = b.place("gpt.mica", 31, "Forward", outer), again = b.place("gpt.mica", 31, "Forward", outer);
  ObjectFunction& f = b.function("Main.Main");
  b.code(f, "48 8d 05 00 00 00 00", "mica.places");
  b.code(f, "48 8d 05 00 00 00 00", "mica.text.start");
  b.code(f, "48 8d 05 00 00 00 00", "mica.text.end");
  for (int k = 0; k < 4; k++) b.code(f, "e8 00 00 00 00", "Main.Main");   // entries are for calls and function beginnings
  b.code(f, "c3");
  f.lines = {{21, inner}, {26, again}, {31, outer}, {36, NoPlace}};
  b.function("Main.Unused", "\xc3").lines = {{0, unused}};
  std::string file = linked({&b.object}), strippedFile = linked({&b.object}, stripped());
  uint64_t start = addressOf(file, "mica.text.start"), end = addressOf(file, "mica.text.end");
  CHECK(start == addressOf(file, "Start.Entry"));
  CHECK(end == addressOf(file, "Main.Main") + 42);
  uint32_t at = uint32_t(addressOf(file, "Main.Main") - start);

  const char* table = atAddress(file, addressOf(file, "mica.places"));
  auto word = [&](size_t i) { return load<uint32_t>(table + 4 * i); };
  std::vector<uint32_t> entries;
  for (uint32_t i = 0; i < 2 * word(0); i++) entries.push_back(word(4 + i));
  CHECK(entries == std::vector<uint32_t>{0, NoPlace, at, 1, at + 35, 0, at + 40, NoPlace});
  REQUIRE(word(1) == 2);
  const size_t places = 4 + 2 * word(0);
  const char* strings = table + 4 * (places + 5 * word(1));
  CHECK(word(2) == sizeof "gpt.mica" + sizeof "Main" + sizeof "Forward");
  auto text = [&](size_t i) { return std::string(strings + word(i)); };
  CHECK(text(places) == "gpt.mica");
  CHECK(text(places + 1) == "Main");
  CHECK(word(places + 2) == 80);
  CHECK(word(places + 3) == 5);
  CHECK(word(places + 4) == NoPlace);
  CHECK(text(places + 5) == "gpt.mica");
  CHECK(text(places + 6) == "Forward");
  CHECK(word(places + 7) == 31);
  CHECK(word(places + 9) == 0);
  CHECK(std::memcmp(atAddress(strippedFile, addressOf(file, "mica.places")), table, 4 * places + 40 + word(2)) == 0);
}

TEST_CASE("elf: gdb stops on a line and sees its callers") {
  if (!have("gdb")) return;
  Folder folder;
  Build b;
  addHello(b, "", "Main.Main");
  uint32_t main = b.place("gpt.mica", 80, "Main.Main"), head = b.place("gpt.mica", 30, "Main.Forward[int]");
  uint32_t first = b.place("gpt.mica", 31, "Main.Forward[int]"), inlined = b.place("lib.mica", 12, "Library.Helper", first);
  uint32_t last = b.place("gpt.mica", 33, "Main.Forward[int]");
  ObjectFunction& f = b.function("Main.Main");
  b.code(f, "55 48 89 e5 90");
  b.code(f, "e8 00 00 00 00", "Main.Forward[int]");
  b.code(f, "5d c3");
  f.lines = {{0, main}};
  ObjectFunction& g = b.function("Main.Forward[int]");
  b.code(g, "55 48 89 e5 90 90 90 b8 09 00 00 00 5d c3");
  g.lines = {{4, first}, {5, inlined}, {7, last}};
  g.place = head;
  save(folder / "a", linked({&b.object}));
  std::ofstream(folder / "gpt.mica") << "a line\n";
  std::string gdb = "cd " + folder.path + " && gdb -nx -batch ";
  Result at = run(gdb + "-ex 'break gpt.mica:33' -ex run -ex bt ./a");
  CHECK_MESSAGE(at.out.find("#0  Main.Forward[int] () at gpt.mica:33") != std::string::npos, at.out);
  CHECK_MESSAGE(at.out.find("in Main.Main () at gpt.mica:80") != std::string::npos, at.out);
  CHECK_MESSAGE(at.out.find("in Start.Entry ()") != std::string::npos, at.out);
  CHECK_MESSAGE(at.out.find("#3") == std::string::npos, at.out);
  at = run(gdb + "-ex 'break lib.mica:12' -ex run -ex bt ./a");
  CHECK_MESSAGE(at.out.find("#0  Library.Helper () at lib.mica:12") != std::string::npos, at.out);
  CHECK_MESSAGE(at.out.find("#1  Main.Forward[int] () at gpt.mica:31") != std::string::npos, at.out);
  at = run(gdb + "-ex 'break Main.Main' -ex run -ex 'break Main.Forward[int]' -ex continue -ex finish ./a");
  CHECK_MESSAGE(at.out.find("Breakpoint 2, Main.Forward[int] () at gpt.mica:31") != std::string::npos, at.out);
  CHECK_MESSAGE(at.out.find("in Main.Main () at gpt.mica:80") != std::string::npos, at.out);
}

TEST_CASE("elf: valgrind names functions and lines") {
  if (!have("valgrind")) return;
  Folder folder;
  Build b;
  addHello(b, "", "Main.Main");
  ObjectFunction& f = b.function("Main.Main");
  b.code(f, "55 48 89 e5");
  b.code(f, "48 8d 0d 00 00 00 00", "mica.state");
  b.code(f, "31 c0 8b 00");                           // xor eax, eax; mov eax, [rax]
  f.lines = {{0, b.place("gpt.mica", 80, "Main.Main")}};
  save(folder / "a", linked({&b.object}));
  Result result = run("valgrind " + (folder / "a"));
  CHECK_MESSAGE(result.out.find("Main.Main (gpt.mica:80)") != std::string::npos, result.out);
}

TEST_CASE("elf: ARM64 relocations reach their fields and are checked") {
  Build b;
  b.object.symbols = {"Start.Entry", "F", "D"};
  LinkOptions options;
  options.machine = Machine::A64;
  ObjectFunction& f = b.function("Start.Entry");
  for (uint32_t word : {0x94000000u, 0x90000000u, 0x91000000u, 0xf9400001u, 0x3dc00002u, 0x39400003u, 0x79400004u}) put32(f.code, word);
  f.relocs = {{0, RelocKind::Call26, 1, 0}, {4, RelocKind::AdrPage21, 2, 0}, {8, RelocKind::AddLo12, 2, 4}, {12, RelocKind::LdstLo12, 2, 8},
              {16, RelocKind::LdstLo12, 2, 16}, {20, RelocKind::LdstLo12, 2, 3}, {24, RelocKind::LdstLo12, 2, 2}};
  b.function("F", std::string("\xc0\x03\x5f\xd6", 4));
  b.data("D", std::string(32, 'x'), 0, 16, false);
  std::string file = linked({&b.object}, options);
  CHECK(load<Elf64_Ehdr>(file.data()).e_machine == EM_AARCH64);
  checkSegments(file);
  uint64_t entry = addressOf(file, "Start.Entry"), F = addressOf(file, "F"), D = addressOf(file, "D");
  const char* code = atAddress(file, entry);
  auto word = [&](size_t i) { return load<uint32_t>(code + 4 * i); };
  CHECK(word(0) == (0x94000000 | (F - entry) / 4));
  uint64_t pages = (D >> 12) - (entry >> 12);
  CHECK(word(1) == (0x90000000 | (pages & 3) << 29 | pages >> 2 << 5));
  CHECK(word(2) == (0x91000000 | (D + 4) % 4096 << 10));
  CHECK(word(3) == (0xf9400001 | (D + 8) % 4096 / 8 << 10));
  CHECK(word(4) == (0x3dc00002 | (D + 16) % 4096 / 16 << 10));
  CHECK(word(5) == (0x39400003 | (D + 3) % 4096 << 10));
  CHECK(word(6) == (0x79400004 | (D + 2) % 4096 / 2 << 10));

  b.object.functions[0].relocs = {{0, RelocKind::Call26, 1, int64_t(1) << 27}, {4, RelocKind::Call26, 1, 2}, {12, RelocKind::LdstLo12, 2, 4},
                                  {8, RelocKind::AdrPage21, 2, int64_t(1) << 33}};
  auto errors = faults({&b.object}, options);
  REQUIRE(errors.size() == 4);
  CHECK(errors[0].find("Start.Entry+0: the relocation to `F` is out of range") == 0);
  CHECK(errors[1].find("Start.Entry+4: the relocation to `F` is not aligned") == 0);
  CHECK(errors[2].find("Start.Entry+12: the relocation to `D` is not aligned") == 0);
  CHECK(errors[3].find("Start.Entry+8: the relocation to `D` is out of range") == 0);
}

TEST_CASE("elf: an ARM64 program runs under the emulator") {
  if (!have("qemu-aarch64")) return;
  Folder folder;
  Build b;
  b.object.symbols = {"Start.Entry", "str.0", "Main.Main"};
  ObjectFunction& f = b.function("Start.Entry");
  for (uint32_t word : {0x90000001u, 0x91000021u, 0xd2800020u, 0xd28000c2u, 0xd2800808u, 0xd4000001u,    // adrp/add x1; x0 = 1; x2 = 6; write
                        0x94000000u, 0xd2800bc8u, 0xd4000001u})                                          // bl Main.Main; exit_group
    put32(f.code, word);
  f.relocs = {{0, RelocKind::AdrPage21, 1, 0}, {4, RelocKind::AddLo12, 1, 0}, {24, RelocKind::Call26, 2, 0}};
  ObjectFunction& g = b.function("Main.Main");
  for (uint32_t word : {0xd28000e0u, 0xd65f03c0u}) put32(g.code, word);                                  // x0 = 7; ret
  b.data("str.0", "hello\n");
  LinkOptions options;
  options.machine = Machine::A64;
  save(folder / "a", linked({&b.object}, options));
  Result result = run("qemu-aarch64 " + (folder / "a"));
  CHECK(result.status == 7);
  CHECK(result.out == "hello\n");
}

TEST_CASE("elf: the output is replaced whole or not at all") {
  Folder folder;
  std::string path = folder / "out", error;
  ::umask(022);
  REQUIRE(writeExecutable(path, "one", error));
  REQUIRE(writeExecutable(path, "two", error));
  struct stat s{};
  REQUIRE(::stat(path.c_str(), &s) == 0);
  CHECK((s.st_mode & 0777) == 0755);
  CHECK(run("cat " + path).out == "two");

  CHECK_FALSE(writeExecutable(folder / "missing/out", "x", error));
  CHECK(error == "cannot write " + (folder / "missing/out") + ": No such file or directory");
  CHECK_FALSE(writeExecutable(folder.path, "x", error));
  CHECK(error == "cannot write " + folder.path + ": it is a folder");
  CHECK_FALSE(writeExecutable("/dev/full", "x", error));
  CHECK(error == "cannot write /dev/full: No space left on device");
  CHECK(writeExecutable("/dev/null", "x", error));
  CHECK(std::filesystem::is_character_file("/dev/null"));

  std::filesystem::create_symlink("out", folder / "linked");
  REQUIRE(writeExecutable(folder / "linked", "three", error));
  CHECK(std::filesystem::is_symlink(folder / "linked"));
  CHECK(run("cat " + path).out == "three");
  CHECK(std::distance(std::filesystem::directory_iterator(folder.path), {}) == 2);
}
