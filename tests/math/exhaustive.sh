# The elementary functions of float32 for all 2^32 inputs each, those of float64 and Pow for random ones: exhaustive.sh OBJ [STEP]
# With STEP, each STEP-th input. Ends with `N passed, N failed`; takes about two minutes a function and core.
obj=$1
step=${2:-1}
mkdir -p "$obj/math"
"$obj/mica" build tests/math/table.mica --tier release -o "$obj/math/table" || { echo "0 passed, 1 failed"; exit 1; }
passed=0
failed=0
judge() {
  text=$("$obj/math/table" "$@" | "$obj/math/check")
  counts=$(echo "$text" | sed -n 's/^\([0-9]*\) passed, \([0-9]*\) failed$/\1 \2/p')
  [ -n "$counts" ] || { text="table $*: no answer"; counts="0 1"; }
  echo "$text" | grep -v ' passed, '
  passed=$((passed + ${counts% *}))
  failed=$((failed + ${counts#* }))
}
blocks=$((65536 / step))
[ $blocks -gt 0 ] || blocks=1
for name in exp expm1 log log1p tanh sigmoid erf sqrt rsqrt cbrt sin cos; do
  judge --function $name --blocks $blocks --step $step
  judge --function $name --blocks $(((blocks + 63) / 64)) --step $((step * 64 + 1)) --single
  judge --function $name --random $((2000000 / step + 1000))
done
judge --function pow --random $((10000000 / step + 1000))
echo "$passed passed, $failed failed"
[ $failed = 0 ]
