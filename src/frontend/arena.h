// Memory that is only ever given back as a whole. Tree nodes, their lists and decoded strings live here: allocation is
// an addition, nothing is destroyed one by one, so freeing a deep tree needs no recursion.
#pragma once
#include <cstddef>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace mica {

class Arena {
 public:
  Arena() = default;
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  void* allocate(size_t size, size_t alignment) {
    size_t start = (used + alignment - 1) & ~(alignment - 1);
    if (start + size > capacity) return allocateInNewBlock(size);
    used = start + size;
    return block + start;
  }

  template <class T, class... Args> T* make(Args&&... args) {
    static_assert(std::is_trivially_destructible_v<T>, "an arena runs no destructors");
    return new (allocate(sizeof(T), alignof(T))) T{std::forward<Args>(args)...};
  }

  // A copy of a list that the arena owns.
  template <class T> std::span<T> copy(const T* items, size_t count) {
    static_assert(std::is_trivially_copyable_v<T>);
    if (count == 0) return {};
    T* to = static_cast<T*>(allocate(count * sizeof(T), alignof(T)));
    std::memcpy(static_cast<void*>(to), items, count * sizeof(T));
    return {to, count};
  }
  template <class T> std::span<T> copy(const std::vector<T>& items) { return copy(items.data(), items.size()); }

  std::string_view copyText(std::string_view text) {
    auto bytes = copy(text.data(), text.size());
    return {bytes.data(), bytes.size()};
  }

 private:
  void* allocateInNewBlock(size_t size) {
    size_t blockSize = size > BlockSize / 4 ? size : BlockSize;
    blocks.push_back(std::make_unique_for_overwrite<std::byte[]>(blockSize));
    std::byte* start = blocks.back().get();
    if (blockSize != BlockSize) return start;   // a large piece has a block of its own; the current one goes on
    block = start;
    capacity = BlockSize;
    used = size;
    return start;
  }

  static constexpr size_t BlockSize = 256 * 1024;
  std::vector<std::unique_ptr<std::byte[]>> blocks;
  std::byte* block = nullptr;
  size_t used = 0, capacity = 0;
};

}  // namespace mica
