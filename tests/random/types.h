// The types of generated programs. A type is made once and known by its address; `name` is how the program writes it.
#pragma once
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace mica::random {

enum class Kind { Int, Float, Bool, Char, String, List, Map, Set, Optional, Tuple, Array, Record, Choice, Tensor, Parameter };

// The integers that an expression can have, wide enough for the product of any two 64-bit numbers.
struct Range {
  __int128 low = 0, high = 0;
  bool holds(const Range& r) const { return low <= r.low && r.high <= high; }
};

// An extent of a tensor. `size` is what it is when known to the generator, else 0; `name` what the type says: a number, a name or `?`.
struct Extent {
  std::string name;
  int size = 0;
  bool operator==(const Extent& e) const { return name == e.name && size == e.size; }
};

struct Type;

struct Field {
  std::string name;
  const Type* type = nullptr;
  bool tracked = false;
};

struct Case {
  std::string name;
  std::vector<Field> fields;
};

struct Type {
  Kind kind{};
  std::string name;
  int bits = 0;                         // Int, Float
  bool isSigned = false;
  int count = 0;                        // Array
  std::vector<const Type*> parts;       // of composed types; a map's key and value; a tensor's element
  std::vector<Field> fields;            // Record
  std::vector<Case> cases;              // Choice
  std::vector<Extent> extents;          // Tensor
  bool number = false, ordered = false; // Parameter: its constraints (always Copyable, Equatable and Printable)

  bool is(Kind k) const { return kind == k; }
  const Type* element() const { return parts.back(); }
  size_t rank() const { return extents.size(); }
};

Range rangeOf(const Type*);             // of an integer type
bool copies(const Type*);               // numbers and what is made only of them
bool ordered(const Type*);

class Types {
 public:
  Types();
  const Type* integer(int bits, bool isSigned);
  const Type* floating(int bits);
  const Type *boolean, *character, *text, *int64, *float64, *float32;
  const Type* list(const Type* element);
  const Type* set(const Type* element);
  const Type* map(const Type* key, const Type* value);
  const Type* optional(const Type* value);
  const Type* array(int count, const Type* element);
  const Type* tuple(std::vector<const Type*> parts);
  const Type* tensor(const Type* element, std::vector<Extent> extents);
  const Type* parameter(const std::string& name, bool number, bool ordered);
  const Type* add(Type);                // a record or choice

 private:
  const Type* made(Kind, std::vector<const Type*> parts, const std::string& name);
  const Type* keep(const std::string& key, Type);
  std::map<std::string, std::unique_ptr<Type>> all;
};

}  // namespace mica::random
