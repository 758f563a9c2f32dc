# The elementary functions of float32 for all 2^32 inputs each, those of float64 and Pow for 10^7 random ones, two functions at a time:
# exhaustive.sh OBJ [STEP]. With STEP, each STEP-th input, and fewer random ones in proportion. Ends with `N passed, N failed`.
# Where the processor has the second level, the first level's kernels are run beside its own.
obj=$1
step=${2:-1}
out=$obj/math/results
rm -rf "$out" && mkdir -p "$out"
"$obj/mica" build tests/math/table.mica --tier release -o "$obj/math/table" || { echo "0 passed, 1 failed"; exit 1; }
blocks=$((65536 / step))
[ $blocks -gt 0 ] || blocks=1
random=$((10000000 / step + 1000))
second=$(grep -m1 '^flags' /proc/cpuinfo | tr ' ' '\n' | grep -c -x -E 'avx512f|avx512bw|avx512dq|avx512vl')

judge() {
  "$obj/math/table" --function "$@" | "$obj/math/check"
  [ "${PIPESTATUS[0]}" = 0 ] || echo "table --function $* ended early"$'\n0 passed, 1 failed'
}
one() {     # NAME: all that is checked of one function
  if [ "$1" = pow ]; then
    judge pow --random $random --step $step
    return
  fi
  judge "$1" --blocks $blocks --step $step
  judge "$1" --random $random
  if [ "$second" = 4 ]; then MICA_LEVEL=1 judge "$1" --tensors --blocks $blocks --step $step; fi
}
export -f judge one
export obj step blocks random second

names="cos pow exp expm1 log log1p tanh sigmoid erf sqrt rsqrt cbrt sin"
printf '%s\n' $names | xargs -P 2 -I NAME bash -c "one NAME >'$out/NAME' 2>&1"
passed=0
failed=0
for name in $names; do
  grep -v ' passed, ' "$out/$name"
  counts=$(sed -n 's/^\([0-9]*\) passed, \([0-9]*\) failed$/\1 \2/p' "$out/$name" | awk '{p += $1; f += $2} END {print p + 0, f + 0}')
  [ "$counts" != "0 0" ] || { echo "$name: no answer"; counts="0 1"; }
  passed=$((passed + ${counts% *}))
  failed=$((failed + ${counts#* }))
done
echo "$passed passed, $failed failed"
[ $failed = 0 ]
