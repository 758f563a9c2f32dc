# What is exact, for all inputs: exhaustive.sh OBJ [STEP [NAME…]]. With STEP, each STEP-th input, and fewer random ones in proportion; with
# names, those alone, two at a time. Ends with `N passed, N failed`.
#   near        the reference of the float32 functions, against MPFR at random inputs
#   exp … cos   a float32 function at all 2^32 inputs, alone and in tensors, and its float64 form at 10^7 random inputs
#   pow         both at 10^7 random pairs, float32 at constructed ties and beside 1 too
#   texts-…     printing and reading floats: all float32, 10^8 random float64, and texts that are hard to read
# Where the processor has the second level, the first level's kernels are run beside its own; where not, a sample of the second's by tests/level2.
obj=$1
step=${2:-1}
export MICA_THREADS=1              # two functions at a time keep two processors busy
shift; shift
names=${*:-near cos pow exp texts-low texts-high expm1 log log1p tanh sigmoid erf sqrt rsqrt cbrt sin texts-double texts-hard}
out=$obj/math/results
rm -rf "$out" && mkdir -p "$out"
for program in table texts; do
  "$obj/mica" build tests/math/$program.mica --tier release -o "$obj/math/$program" || { echo "0 passed, 1 failed"; exit 1; }
done
blocks=$((65536 / step))
[ $blocks -gt 1 ] || blocks=2
random=$((10000000 / step + 1000))
second=$(grep -m1 '^flags' /proc/cpuinfo | tr ' ' '\n' | grep -c -x -E 'avx512f|avx512bw|avx512dq|avx512vl')

judge() {   # CHECK COMMAND…: the command's table through the checking program
  "${@:2}" | "$obj/math/"$1
  [ "${PIPESTATUS[0]}" = 0 ] || echo "${*:2} ended early"$'\n0 passed, 1 failed'
}
one() {     # NAME
  local table=$obj/math/table texts=$obj/math/texts half=$((blocks / 2))
  case $1 in
    near) "$obj/math/check" near 100000 ;;
    texts-low) judge check_texts "$texts" --blocks $half --step $step ;;
    texts-high) judge check_texts "$texts" --first $((half * 65536 * step)) --blocks $((blocks - half)) --step $step ;;
    texts-double) judge check_texts "$texts" --random $((1526 / step + 1)) ;;
    texts-hard)
      "$obj/math/check_texts" make $((100000 / step + 1000)) >"$out/hard"
      judge check_texts "$texts" --read <"$out/hard" ;;
    pow) judge check "$table" --function pow --random $random --step $step ;;
    *)
      judge check "$table" --function "$1" --blocks $blocks --step $step
      judge check "$table" --function "$1" --random $random
      if [ "$second" = 4 ]; then
        MICA_LEVEL=1 judge "check level-1" "$table" --function "$1" --tensors --blocks $blocks --step $step
      elif [[ " exp log tanh sigmoid " == *" $1 "* ]]; then     # those that have a way of their own there
        judge "check level-2" "$obj/emulate" "$table" --function "$1" --tensors --blocks $((blocks / 1024 + 1)) --step $((step == 1 ? 1021 : 65521))
      fi ;;
  esac
}
export -f judge one
export obj step blocks random second out

printf '%s\n' $names | xargs -P 2 -I NAME bash -c "one NAME >'$out/NAME' 2>&1"
passed=0
failed=0
for name in $names; do
  grep -v ' passed, ' "$out/$name" | cut -c 1-300
  counts=$(sed -n 's/^\([0-9]*\) passed, \([0-9]*\) failed$/\1 \2/p' "$out/$name" | awk '{p += $1; f += $2} END {print p + 0, f + 0}')
  [ "$counts" != "0 0" ] || { echo "$name: no answer"; counts="0 1"; }
  passed=$((passed + ${counts% *}))
  failed=$((failed + ${counts#* }))
done
echo "$passed passed, $failed failed"
[ $failed = 0 ]
