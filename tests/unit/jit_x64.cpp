// See jit_x64.h.
#include "jit_x64.h"

#include <sys/mman.h>

#include <cstring>

#include "backend_x64/backend.h"

namespace mica::test {

jmp_buf& Jit::back() {
  static jmp_buf buffer;
  return buffer;
}

TrapSeen& Jit::lastTrap() {
  static TrapSeen seen;
  return seen;
}

void Jit::raise(int64_t kind, int64_t a, int64_t b, int64_t c) {
  lastTrap() = {kind, a, b, c};
  longjmp(back(), 1);
}

Jit::Jit(ir::Module& m, const std::map<std::string, void*>& externals) : module(m) {
  x64::prepareModule(m);
  x64::CompileOptions options;
  options.checkAllocation = true;
  options.dump = &dump;
  for (const ir::Function& f : m.functions) {
    objects.emplace_back();
    if (!x64::compileFunction(m, f, options, objects.back(), &error)) return;
  }
  std::vector<size_t> offsets;
  for (const elf::ObjectFunction& o : objects) {
    offsets.push_back(size = (size + 63) / 64 * 64);
    size += o.code.size();
  }
  std::vector<size_t> dataOffsets;
  for (const ir::Data& d : m.data) {
    dataOffsets.push_back(size = (size + 63) / 64 * 64);
    size += d.bytes.size() + d.zeros;
  }
  size_t stubs = size = (size + 15) / 16 * 16;     // jumps to externals, which may be farther away than 2 GiB
  size += m.symbols.size() * 16;
  memory = static_cast<uint8_t*>(
      mmap(nullptr, size, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  addresses.assign(m.symbols.size(), 0);
  for (uint32_t s = 0; s < m.symbols.size(); ++s) {
    const ir::Symbol& symbol = m.symbols[s];
    if (symbol.kind == ir::SymbolKind::Function) addresses[s] = uint64_t(memory + offsets[symbol.index]);
    else if (symbol.kind == ir::SymbolKind::Data) addresses[s] = uint64_t(memory + dataOffsets[symbol.index]);
    else {
      auto e = externals.find(symbol.name);
      uint64_t to = symbol.name == "Trap.Raise" ? uint64_t(&Jit::raise)
                    : e != externals.end()      ? uint64_t(e->second)
                                                : 0;
      uint8_t* stub = memory + stubs + s * 16;
      const uint8_t jump[] = {0xff, 0x25, 0, 0, 0, 0};    // jmp [rip+0]
      std::memcpy(stub, jump, 6);
      std::memcpy(stub + 6, &to, 8);
      addresses[s] = uint64_t(stub);
    }
  }
  for (size_t k = 0; k < m.data.size(); ++k) {
    const ir::Data& d = m.data[k];
    std::memcpy(memory + dataOffsets[k], d.bytes.data(), d.bytes.size());
    for (const ir::DataRef& r : d.refs) {
      uint64_t value = addresses[r.symbol.index] + uint64_t(r.addend);
      std::memcpy(memory + dataOffsets[k] + r.offset, &value, 8);
    }
  }
  for (size_t k = 0; k < objects.size(); ++k) {
    uint8_t* at = memory + offsets[k];
    std::memcpy(at, objects[k].code.data(), objects[k].code.size());
    for (const elf::Reloc& r : objects[k].relocs) {
      uint64_t value = addresses[r.symbol] + uint64_t(r.addend);
      if (r.kind == elf::RelocKind::Abs64) {
        std::memcpy(at + r.offset, &value, 8);
      } else {
        int32_t distance = int32_t(value - uint64_t(at + r.offset));
        std::memcpy(at + r.offset, &distance, 4);
      }
    }
  }
}

Jit::~Jit() {
  if (memory) munmap(memory, size);
}

void* Jit::addressOf(const std::string& name) const {
  auto s = module.byName.find(name);
  return s == module.byName.end() ? nullptr : reinterpret_cast<void*>(addresses[s->second.index]);
}

const elf::ObjectFunction* Jit::object(const std::string& name) const {
  auto s = module.byName.find(name);
  return s == module.byName.end() ? nullptr : &objects[module.symbols[s->second.index].index];
}

int machineLevel() {
  __builtin_cpu_init();
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) return 0;
  bool two = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
             __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  return two ? 2 : 1;
}

}  // namespace mica::test
