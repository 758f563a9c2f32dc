// The reference interpreter: executes a module directly, with real memory. It is the oracle that the backends are compared
// with, so it is plain: each function is decoded once into a flat code (interp_code.h) that one loop runs (interp_run.cpp).
//
// Loads and stores go to host addresses, data objects lie in host memory, slots on an interpreter stack. Functions have made-up
// addresses in a made-up text segment, a byte for each decoded instruction; the place table (`mica.places`) describes it, so that the runtime's own
// trap module walks frames and prints places exactly as it does in a compiled program. A module without `Trap.Raise` has its traps
// reported by the interpreter. System calls go to the kernel, but for those that would start threads, install handlers in
// the made-up text or end the host: SpawnThread and clone answer -ENOSYS, signal handlers are not installed, one processor is seen.
#pragma once
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ir/ir.h"

namespace mica::ir {

struct Outcome {
  enum Kind : uint8_t { Returned, Exited, Trapped, Stuck, OutOfFuel } kind = Returned;
  int status = 0;                     // Exited
  TrapKind trap{};                    // Trapped (only in modules without Trap.Raise), with its details
  int64_t details[3] = {};
  std::vector<PlaceId> chain;         // Trapped: the places from the trap outwards
  std::string message;                // Stuck: what cannot be executed
  std::vector<uint64_t> result;       // Returned: the cells of the result (integers sign extended, f32 in the low half, vectors packed)
};

// File and line of all code, and whether it has been executed.
using Lines = std::map<std::pair<std::string, uint32_t>, bool>;

class Interpreter {
 public:
  static constexpr uint64_t StackBytes = uint64_t(256) << 20;
  explicit Interpreter(const Module&, uint64_t stackBytes = StackBytes, bool recordLines = false);
  ~Interpreter();
  // Calls a function; arguments as cells, in the form of Outcome::result. Memory (data) keeps its state between calls.
  // `fuel` bounds the number of jumps and calls.
  Outcome call(std::string_view function, const std::vector<uint64_t>& args, uint64_t fuel = ~uint64_t(0));
  Outcome call(uint32_t function, const std::vector<uint64_t>& args, uint64_t fuel = ~uint64_t(0));
  void* addressOf(std::string_view data);   // of a data object; null if there is none
  Lines lines() const;                      // empty unless they are recorded

 private:
  struct State;
  std::unique_ptr<State> state;
};

// Runs the process entry with these arguments (the first is the program's name) and answers the exit status: the program's,
// 134 after a trap, 70 with a message when the module cannot be executed. With `linesFile`, that file gets a line `FILE:LINE COUNT` for
// each line that has code, COUNT being 1 if it was executed and else 0.
int interpret(const Module&, const std::vector<std::string>& arguments, const std::string& linesFile = "");

// What a trap says without the runtime's help, and its call chain, in the runtime's format.
std::string describeTrap(const Module&, const Outcome&);

}  // namespace mica::ir
