// Runs compiled IR in the test's own process: compiles a module's functions, puts code and data into executable memory,
// resolves their relocations, and calls functions. Traps come back as values.
#pragma once
#include <csetjmp>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "elf/object.h"
#include "ir/ir.h"

namespace mica::test {

struct TrapSeen { int64_t kind = 0, a = 0, b = 0, c = 0; };

class Jit {
 public:
  // Externals: addresses of symbols that the module does not define.
  explicit Jit(ir::Module&, const std::map<std::string, void*>& externals = {});
  ~Jit();
  Jit(const Jit&) = delete;
  std::string error;                       // of compilation; empty when all went well
  void* addressOf(const std::string& name) const;
  const elf::ObjectFunction* object(const std::string& name) const;
  std::string dump;                        // the machine IR of all functions
  template <class F> F* function(const std::string& name) const { return reinterpret_cast<F*>(addressOf(name)); }

  // Calls f() and answers whether it trapped.
  template <class F> bool traps(F f, TrapSeen& seen) {
    if (setjmp(back()) != 0) {
      seen = lastTrap();
      return true;
    }
    f();
    return false;
  }

 private:
  ir::Module& module;
  std::vector<elf::ObjectFunction> objects;
  std::vector<uint64_t> addresses;         // by symbol
  uint8_t* memory = nullptr;
  size_t size = 0;
  static jmp_buf& back();
  static TrapSeen& lastTrap();
  static void raise(int64_t kind, int64_t a, int64_t b, int64_t c);
};

// The highest processor level that this machine runs: 0, 1 or 2.
int machineLevel();

}  // namespace mica::test
