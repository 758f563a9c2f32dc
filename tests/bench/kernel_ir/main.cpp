// The kernel before the language: a register-tiled float32 product written as IR text goes through selector, allocator,
// checker and encoder, runs in this process, is compared bit by bit with the product's documented order, and is
// measured against the processor's peak.
//
//   kernel_ir FOLDER [SIZE] [--dump]    FOLDER holds gemm_level1.ir and gemm_level2.ir; SIZE is 512 unless given
//
// Prints for each processor level the rate, the peak measured in the same run by independent chains of fused
// multiply-adds, their ratio, and how many instructions of the inner loop touch the stack (none is wanted). Exit status
// 1 when bits differ or the loop spills.
#include <immintrin.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <sstream>
#include <vector>

#include "../../unit/jit_x64.h"
#include "ir/text.h"
#include "ir/verify.h"

using namespace mica;

namespace {

constexpr int Leaf = 256;

struct Tile { const char* file; const char* name; int rows, columns, level; };
constexpr Tile tiles[] = {{"gemm_level1.ir", "Tile6x16", 6, 16, 1}, {"gemm_level2.ir", "Tile12x32", 12, 32, 2}};

using Kernel = void(const float* a, const float* b, float* c, int64_t rowBytes, int64_t steps, bool joins);

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

// Chains of fused multiply-adds in registers: what one core can do at best. The inline assembly keeps the compiler from
// folding them.
#define CHAINS(NAME, TARGET, REG)                                                                                    \
  __attribute__((target(TARGET), noinline)) void NAME(long rounds) {                                                 \
    __asm__ volatile(                                                                                                \
        "1:\n\t"                                                                                                     \
        "vfmadd231ps %%" REG "14, %%" REG "15, %%" REG "0\n\tvfmadd231ps %%" REG "14, %%" REG "15, %%" REG           \
        "1\n\t"                                                                                                      \
        "vfmadd231ps %%" REG "14, %%" REG "15, %%" REG "2\n\tvfmadd231ps %%" REG "14, %%" REG "15, %%" REG           \
        "3\n\t"                                                                                                      \
        "vfmadd231ps %%" REG "14, %%" REG "15, %%" REG "4\n\tvfmadd231ps %%" REG "14, %%" REG "15, %%" REG           \
        "5\n\t"                                                                                                      \
        "vfmadd231ps %%" REG "14, %%" REG "15, %%" REG "6\n\tvfmadd231ps %%" REG "14, %%" REG "15, %%" REG           \
        "7\n\t"                                                                                                      \
        "vfmadd231ps %%" REG "14, %%" REG "15, %%" REG "8\n\tvfmadd231ps %%" REG "14, %%" REG "15, %%" REG           \
        "9\n\t"                                                                                                      \
        "vfmadd231ps %%" REG "14, %%" REG "15, %%" REG "10\n\tvfmadd231ps %%" REG "14, %%" REG "15, %%" REG          \
        "11\n\t"                                                                                                     \
        "dec %0\n\tjnz 1b\n\t"                                                                                       \
        : "+r"(rounds)                                                                                               \
        :                                                                                                            \
        : "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm14", \
          "xmm15", "cc");                                                                                            \
  }
CHAINS(chains256, "avx2,fma", "ymm")
CHAINS(chains512, "avx512f", "zmm")

double onceChains(int level) {
  constexpr long Rounds = 400000;
  double start = now();
  (level == 1 ? chains256 : chains512)(Rounds);
  return Rounds * 12.0 * (level == 1 ? 8 : 16) * 2 / (now() - start) * 1e-9;
}

struct Aligned {
  explicit Aligned(size_t n) : data(static_cast<float*>(std::aligned_alloc(4096, (n * 4 + 4095) / 4096 * 4096))) {
    std::memset(data, 0, (n * 4 + 4095) / 4096 * 4096);
  }
  ~Aligned() { std::free(data); }
  Aligned(const Aligned&) = delete;
  float* data;
};

// Leaf columns of some rows of A, turned so that a step's values lie together; rows from the matrix's end on are zero.
void packRows(float* to, const float* a, int n, int first, int rows) {
  alignas(64) static const float zeros[Leaf] = {};
  auto row = [&](int r) { return first + r < n ? a + size_t(first + r) * n : zeros; };
  int r = 0;
  for (; r + 4 <= rows; r += 4) {
    const float *p = row(r), *q = row(r + 1), *s = row(r + 2), *u = row(r + 3);
    for (int k = 0; k < Leaf; k += 4) {
      __m128 x = _mm_loadu_ps(p + k), y = _mm_loadu_ps(q + k), z = _mm_loadu_ps(s + k), w = _mm_loadu_ps(u + k);
      _MM_TRANSPOSE4_PS(x, y, z, w);
      float* out = to + size_t(k) * rows + r;
      _mm_storeu_ps(out, x);
      _mm_storeu_ps(out + rows, y);
      _mm_storeu_ps(out + 2 * rows, z);
      _mm_storeu_ps(out + 3 * rows, w);
    }
  }
  for (; r + 2 <= rows; r += 2) {
    const float *p = row(r), *q = row(r + 1);
    for (int k = 0; k < Leaf; k += 4) {
      __m128 x = _mm_loadu_ps(p + k), y = _mm_loadu_ps(q + k), low = _mm_unpacklo_ps(x, y),
             high = _mm_unpackhi_ps(x, y);
      float* out = to + size_t(k) * rows + r;
      _mm_storel_pi(reinterpret_cast<__m64*>(out), low);
      _mm_storeh_pi(reinterpret_cast<__m64*>(out + rows), low);
      _mm_storel_pi(reinterpret_cast<__m64*>(out + 2 * rows), high);
      _mm_storeh_pi(reinterpret_cast<__m64*>(out + 3 * rows), high);
    }
  }
}

// C := A B for square matrices of side n, a multiple of the leaf and at most two leaves (the tree of two leaves is one
// addition). C has room for whole tiles.
void product(Kernel* kernel, const Tile& t, int n, const float* a, const float* b, float* c, int stride, float* packedA,
             float* packedB) {
  int rowTiles = (n + t.rows - 1) / t.rows, columnTiles = (n + t.columns - 1) / t.columns;
  for (int leaf = 0; leaf * Leaf < n; ++leaf) {
    for (int tile = 0; tile < rowTiles; ++tile)
      packRows(packedA + size_t(tile) * Leaf * size_t(t.rows), a + size_t(leaf) * Leaf, n, tile * t.rows, t.rows);
    for (int tile = 0; tile < columnTiles; ++tile)
      for (int k = 0; k < Leaf; ++k)
        std::memcpy(packedB + (size_t(tile) * Leaf + size_t(k)) * size_t(t.columns),
                    b + size_t(leaf * Leaf + k) * n + tile * t.columns, size_t(t.columns) * 4);
    for (int column = 0; column < columnTiles; ++column)
      for (int row = 0; row < rowTiles; ++row)
        kernel(packedA + size_t(row) * Leaf * size_t(t.rows), packedB + size_t(column) * Leaf * size_t(t.columns),
               c + size_t(row) * t.rows * size_t(stride) + column * t.columns, stride * 4, Leaf, leaf > 0);
  }
}

// The documented order, plainly.
float element(const float* a, const float* b, int n, int row, int column) {
  float sums[2];
  for (int leaf = 0; leaf * Leaf < n; ++leaf) {
    float chain = -0.0f;
    for (int k = 0; k < Leaf; ++k)
      chain = std::fmaf(a[size_t(row) * n + leaf * Leaf + k], b[size_t(leaf * Leaf + k) * n + column], chain);
    sums[leaf] = chain;
  }
  return n > Leaf ? sums[0] + sums[1] : sums[0];
}

// Moves between registers and spill slots in the allocated function's loops.
int spillsInLoops(const std::string& dump) {
  size_t at = dump.find("; allocated");
  std::istringstream lines(dump.substr(at == std::string::npos ? 0 : at));
  std::string line;
  bool inLoop = false;
  int found = 0;
  while (std::getline(lines, line)) {
    if (!line.empty() && line[0] == 'b') inLoop = line.find("loop depth") != std::string::npos;
    else if (inLoop && line.find("[spill") != std::string::npos) ++found;
  }
  return found;
}

bool measure(const std::string& folder, const Tile& t, int n, bool dump) {
  std::ifstream file(folder + "/" + t.file);
  std::stringstream text;
  text << file.rdbuf();
  ir::Module module;
  std::string error;
  if (!file || !ir::parse(text.str(), module, error)) {
    std::fprintf(stderr, "kernel_ir: %s: %s\n", t.file, file ? error.c_str() : "cannot be read");
    return false;
  }
  for (const std::string& fault : ir::verify(module))
    std::fprintf(stderr, "kernel_ir: %s: %s\n", t.file, fault.c_str());
  test::Jit jit(module);
  if (!jit.error.empty()) {
    std::fprintf(stderr, "kernel_ir: %s\n", jit.error.c_str());
    return false;
  }
  if (dump) {
    std::puts(jit.dump.c_str());
    std::ofstream(std::string(t.name) + ".bin", std::ios::binary) << jit.object(t.name)->code;
  }
  Kernel* kernel = jit.function<Kernel>(t.name);
  int rows = (n + t.rows - 1) / t.rows * t.rows, columns = (n + t.columns - 1) / t.columns * t.columns,
      stride = columns;
  Aligned a(size_t(n) * n), b(size_t(n) * n + 64), c(size_t(rows) * columns), packedA(size_t(rows) * Leaf),
      packedB(size_t(columns) * Leaf);
  uint32_t seed = 1;
  for (size_t k = 0; k < size_t(n) * n; ++k) {
    seed = seed * 1664525u + 1013904223u;
    a.data[k] = float(int32_t(seed)) * 0x1p-31f;
    seed = seed * 1664525u + 1013904223u;
    b.data[k] = float(int32_t(seed)) * 0x1p-31f;
  }
  product(kernel, t, n, a.data, b.data, c.data, stride, packedA.data, packedB.data);
  int wrong = 0;
  for (int row = 0; row < n; ++row)
    for (int column = row % 7; column < n; column += 7) {
      float want = element(a.data, b.data, n, row, column), have = c.data[size_t(row) * stride + column];
      wrong += std::memcmp(&want, &have, 4) != 0;
    }
  // Peak and product take turns, so that both see the same load of the machine; the best of each counts.
  double best = 0, peak = 0;
  for (int round = 0; round < 100; ++round) {
    peak = std::max(peak, onceChains(t.level));
    double start = now();
    product(kernel, t, n, a.data, b.data, c.data, stride, packedA.data, packedB.data);
    best = std::max(best, 2.0 * n * n * n / (now() - start) * 1e-9);
  }
  int spills = spillsInLoops(jit.dump);
  std::printf(
      "%-10s level %d  %4d cubed  %7.1f GFLOP/s  peak %7.1f  ratio %.3f  spills in the loop %d  wrong elements %d\n",
      t.name, t.level, n, best, peak, best / peak, spills, wrong);
  return wrong == 0 && spills == 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: kernel_ir FOLDER [SIZE] [--dump]\n");
    return 2;
  }
  int size = 512;
  bool dump = false, fine = true;
  for (int k = 2; k < argc; ++k)
    if (std::strcmp(argv[k], "--dump") == 0) dump = true;
    else size = std::atoi(argv[k]);
  if (size != Leaf && size != 2 * Leaf) {
    std::fprintf(stderr, "kernel_ir: the size is 256 or 512\n");
    return 2;
  }
  for (const Tile& t : tiles)
    if (t.level <= test::machineLevel()) fine &= measure(argv[1], t, size, dump);
  return fine ? 0 : 1;
}
