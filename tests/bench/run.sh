#!/usr/bin/env bash
# make bench: measures Mica against what is on the machine, side by side in one run.
#     run.sh OBJ [NAME…]      NAME: gemm gpt rows scalar size compile (all when none is given)
# `ratio NAME VALUE` is the peer's time over ours (higher is better), the median of PAIRS interleaved pairs; other figures
# are `figure NAME VALUE UNIT`. A peer that is not here is named and left out. See README.md for the peers.
here=$(cd "$(dirname "$0")" && pwd)
obj=$(cd "$1" && pwd)
shift
mica=$obj/mica work=$obj/bench
pairs=${PAIRS:-5}
text=${TEXT:-$here/../../../shared/data/shakespeare.txt}
[ -e "$text" ] || text=$(ls "$here"/../../corpus/text/*.txt 2>/dev/null | head -1)
PY=${PY:-}
for candidate in /opt/torch-peer/bin/python3 python3 /usr/bin/python3; do
  [ -n "$PY" ] || { "$candidate" -c 'import torch' 2>/dev/null && PY=$candidate; }
done
mkdir -p "$work"
wanted() { [ ${#only[@]} = 0 ] || [[ " ${only[*]} " == *" $1 "* ]]; }
only=("$@")
grep -qw avx512f /proc/cpuinfo && export ATEN_CPU_CAPABILITY=avx512   # PyTorch's best, which it does not take by itself
export MICA_THREADS=1 OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1

seconds() { local a b; a=$(date +%s%N); "$@" >/dev/null 2>"$work/err" || { cat "$work/err" >&2; echo nan; return 1; }; b=$(date +%s%N); echo "$(((b - a) / 1000))e-6"; }
# Seconds of a repetition: the difference of a long and a short run, over the difference of their counts.
each() { local low=$1 high=$2 a b; shift 2; a=$(seconds "$@" "$low") && b=$(seconds "$@" "$high") && awk "BEGIN { print ($b - $a) / ($high - $low) }"; }
median() { sort -g | awk '{ v[NR] = $1 } END { print (NR % 2) ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2 }'; }
divide() { awk "BEGIN { printf \"%.3f\n\", $1 / $2 }"; }
build() { "$mica" build "$1" -o "$2" --tier "${3:-release}" || { echo "cannot build $1"; return 1; }; }

# pairs NAME OURS PEER: two functions that print seconds; prints the ratio and both medians.
compare() {
  local name=$1 ours=$2 peer=$3 i o p
  : >"$work/o" && : >"$work/p" && : >"$work/r"
  for ((i = 0; i < pairs; i++)); do
    o=$($ours) && p=$($peer) || { echo "cannot measure $name"; return 1; }
    echo "$o" >>"$work/o"; echo "$p" >>"$work/p"; divide "$p" "$o" >>"$work/r"
  done
  echo "ratio $name $(median <"$work/r")    (ours $(median <"$work/o") s, peer $(median <"$work/p") s)"
}

# OpenBLAS picks its kernel by the processor's name and falls back to a slow one where it does not know it: its best is asked.
bestCore() {
  local best= most=0 core rate
  for core in "" SkylakeX Haswell Zen; do
    rate=$(OPENBLAS_CORETYPE=$core "$work/gemm_blas" 512 512 512 nn 2>/dev/null | sed -n 's/.*median *\([0-9.]*\).*/\1/p')
    [ -n "$rate" ] && awk "BEGIN { exit !($rate > $most) }" && most=$rate best=$core
  done
  echo "$best"
}

# One product of both sides: product FORM M N K THREADS. Each side prints the median of its calls in GFLOP/s.
product() {
  local form=$1 m=$2 n=$3 k=$4 threads=$5
  timeOf() { sed -n 's/.*median *\([0-9.]*\).*/\1/p' | awk "{ print 2.0 * $m * $n * $k / \$1 * 1e-9 }"; }
  ours() { MICA_THREADS=$threads "$work/gemm" --rows $m --columns $n --inner $k --form $form | timeOf; }
  peer() { OPENBLAS_NUM_THREADS=$threads OPENBLAS_CORETYPE=$core "$work/gemm_blas" $m $n $k $form | timeOf; }
  if [ "$form $m $n" = "nn $k $k" ]; then compare gemm-$m-threads-$threads ours peer; else compare gemm-$form-${m}x${n}x$k-threads-$threads ours peer; fi
}

if wanted gemm; then
  if gcc -O2 "$here/gemm/gemm_blas.c" -lopenblas -o "$work/gemm_blas" 2>/dev/null && build "$here/mica/gemm.mica" "$work/gemm"; then
    unset OPENBLAS_L2_SIZE
    core=$(bestCore)
    echo "# OpenBLAS with its kernel ${core:-as installed}"
    for threads in $(seq 1 "$(($(nproc --all) < 2 ? 1 : 2))"); do
      for size in 256 512 1024 2048; do product nn $size $size $size "$threads"; done
      # the small GPT's: of its blocks, of the head (65 characters), of the weights' gradients
      for shape in "128 128" "384 128" "512 128" "128 512" "65 128"; do
        set -- $shape
        product nn 1024 $1 $2 "$threads"
        product nt 1024 $2 $1 "$threads"
        product tn $2 $1 1024 "$threads"
      done
    done
  else
    echo "# no OpenBLAS (Debian: libopenblas-dev)"
  fi
fi

# Two threads share one memory: there PyTorch is taken at its best of all runs, ours at the median.
bestOf() {
  local name=$1 ours=$2 peer=$3 i
  : >"$work/o" && : >"$work/p"
  for ((i = 0; i < pairs; i++)); do $ours >>"$work/o" && $peer >>"$work/p" || { echo "cannot measure $name"; return 1; }; done
  local o=$(median <"$work/o") p=$(sort -g "$work/p" | head -1)
  echo "ratio $name $(divide "$p" "$o")    (ours $o s, peer's best $p s)"
}

if wanted gpt && [ -e "$here/../../corpus/gpt/gpt.mica" ] && build "$here/../../corpus/gpt/gpt.mica" "$work/gpt" checked; then
  threads=1
  ours() { MICA_THREADS=$threads each 20 120 "$work/gpt" --text "$text" --sample 0 --steps; }
  if [ -n "$PY" ]; then
    echo "# PyTorch $("$PY" -c 'import torch; print(torch.__version__)')"
    peer() { "$PY" "$here/gpt/train_gpt.py" --config small --untied --threads $threads --steps 80 --data "$text" | sed -n 's/^ms.step median \([0-9.]*\).*/\1e-3/p'; }
    compare gpt-small-1-thread ours peer
    if [ "$(nproc --all)" -gt 1 ]; then
      threads=2
      bestOf gpt-small-2-threads ours peer
      threads=1
    fi
  else
    echo "# no PyTorch: figure gpt-step $(ours) s"
  fi
  # train_gpt2.c of a checkout of github.com/karpathy/llm.c, at the same sizes
  if [ -n "${LLMC:-}" ] && gcc -Ofast -march=native -fopenmp -w -DTESTING -I "$LLMC" "$here/gpt/llmc_step.c" -lm -o "$work/llmc_step"; then
    peer() { "$work/llmc_step" "$work/llmc.bin" 40 | sed -n 's/^ms.step median \([0-9.]*\).*/\1e-3/p'; }
    compare gpt-small-llm.c ours peer
  else
    echo "# no llm.c (LLMC=folder)"
  fi
fi

if wanted rows && [ -n "$PY" ] && build "$here/mica/rows.mica" "$work/rows"; then
  "$PY" "$here/elementwise/elementwise.py" torch 1 >"$work/torch-rows"
  for op in exp tanh gelu add softmax layernorm; do
    case $op in gelu) key='gelu(tanh)' ;; softmax) key='softmax rows of 256' ;; layernorm) key='layernorm rows of 384' ;; *) key=$op ;; esac
    rate=$(grep -F " $key " "$work/torch-rows" | head -1 | sed -n 's/.*median *\([0-9]*\).*/\1/p')
    ours=$(each 200 1200 "$work/rows" --op $op --count)
    echo "ratio $op $(awk "BEGIN { printf \"%.3f\n\", 262144 / ($rate * 1e6) / $ours }")    (ours $(awk "BEGIN { printf \"%.0f\", 262144 / $ours * 1e-6 }") M elements/s)"
  done
fi

if wanted scalar; then
  for name in mandelbrot nbody sieve spectral_norm; do
    case $name in mandelbrot) size=1500 ;; nbody) size=2000000 ;; sieve) size=20000000 ;; *) size=1500 ;; esac
    gcc -O2 "$here/scalar/$name.c" -lm -o "$work/$name-c2" && gcc -O3 "$here/scalar/$name.c" -lm -o "$work/$name-c3"
    build "$here/mica/$name.mica" "$work/$name" || continue
    if [ "$("$work/$name" $size)" != "$("$work/$name-c2" $size)" ]; then echo "$name prints something else than C"; fi
    ours() { seconds "$work/$name" $size; }
    peer() { local a b; a=$(seconds "$work/$name-c2" $size); b=$(seconds "$work/$name-c3" $size); awk "BEGIN { print $a < $b ? $a : $b }"; }
    compare "$name" ours peer
  done
fi

if wanted size && "$mica" build "$here/mica/hello.mica" -o "$work/hello" --strip; then
  gcc -O2 "$here/size/spawn.c" -o "$work/spawn"
  gcc -O2 -s -static "$here/size/hello.c" -o "$work/hello-c"
  echo "figure hello-size $(stat -c %s "$work/hello") bytes"
  echo "ratio hello-size $(divide "$(stat -c %s "$work/hello-c")" "$(stat -c %s "$work/hello")")"
  start() { "$work/spawn" 500 "$1" | sed -n 's/.*median \([0-9]*\).*/\1e-6/p'; }
  ours() { start "$work/hello"; }
  peer() { start "$work/hello-c"; }
  compare hello-start ours peer
fi

if wanted compile && [ -e "$here/../../corpus/gpt/gpt.mica" ]; then
  for tier in debug checked release; do
    for i in 1 2 3 4 5; do seconds "$mica" build "$here/../../corpus/gpt/gpt.mica" --tier $tier -o "$work/gpt-$tier"; done | median | sed "s/^/figure compile-gpt-$tier /; s/\$/ s/"
  done
fi
