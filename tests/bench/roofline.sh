#!/usr/bin/env bash
# make roofline: each kernel of the small GPT on one thread against the limit of the processor: roofline.sh OBJ
# The limit of a kernel is the lesser of the peak rate of multiply-adds and of what memory of its size can bring (Williams, Waterman, Patterson 2009,
# "Roofline"). Both are measured in the same run. Cores are shared on most machines: the best of many calls stands for each figure.
here=$(cd "$(dirname "$0")" && pwd)
obj=$(cd "$1" && pwd)
work=$obj/bench
mkdir -p "$work"
gcc -O2 -march=native -pthread "$here/limits/peak.c" -o "$work/peak" && gcc -O3 -march=native -pthread "$here/limits/stream.c" -o "$work/stream" || exit 1
"$obj/mica" build "$here/mica/roofline.mica" --tier release -o "$work/roofline" || exit 1
peak=$("$work/peak" 1 | grep '^f32' | sed 's/.*best *\([0-9.]*\).*/\1/' | sort -g | tail -1)
# Copies at the four sizes of memory, in GB/s.
read -r l1 l2 l3 ram < <("$work/stream" 1 | sed -n 's/.*copy *\([0-9.]*\) *triad.*/\1/p' | head -4 | tr '\n' ' ')
echo "peak $peak GFLOP/s; copies in L1 $l1, L2 $l2, L3 $l3, memory $ram GB/s"
echo "| kernel | time | GFLOP/s | GB/s | limit of the time | reached |"
echo "|---|---|---|---|---|---|"
MICA_THREADS=1 "$work/roofline" | awk -F'|' -v peak="$peak" -v l2="$l2" -v l3="$l3" -v ram="$ram" '
  { bytes = $4; bandwidth = bytes < 400000 ? l2 : bytes < 24e6 ? l3 : ram
    compute = $3 / peak * 1e-9; memory = bytes / bandwidth * 1e-9; limit = compute > memory ? compute : memory
    printf "| %s | %.0f µs | %.1f | %.1f | %.0f µs (%s) | %.2f |\n", $1, $2 * 1e6, $3 / $2 * 1e-9, bytes / $2 * 1e-9, limit * 1e6, (compute > memory ? "arithmetic" : "memory"), limit / $2 }'
