# The runtime's kernels against the stated orders over a sweep of shapes, at both tiers and processor levels, with 1, 2, 3, 7 and 64 threads, on a
# machine that is kept busy: sweep.sh OBJ [quick]. Ends with `N passed, N failed`. Quick takes fewer shapes and repeats less. Where the processor
# has only the first level, tests/level2 executes the instructions of the second.
obj=$1
work=$obj/orders/sweep
rm -rf "$work" && mkdir -p "$work"
rounds=100 some="--of 17" all=""
[ "$2" = quick ] && rounds=3 some="--of 61" all="--of 17"
for tier in debug release; do
  "$obj/mica" build tests/orders/sweep.mica --tier $tier -o "$work/$tier" || { echo "0 passed, 1 failed"; exit 1; }
done
second=$(grep -m1 '^flags' /proc/cpuinfo | tr ' ' '\n' | grep -c -x -E 'avx512f|avx512bw|avx512dq|avx512vl')

run() {     # NAME THREADS PROGRAM OPTIONS…
  MICA_THREADS=$2 timeout 3000 $under "$work/$3" "${@:4}" >"$work/$1.out" 2>&1 || echo "$3 ${*:4} ended with status $?" >>"$work/$1.out"
}
under=
run one 1 release $all
run debug 1 debug --part 5 $some
if [ "$second" = 4 ]; then
  MICA_LEVEL=1 run level-1 1 release $all
else
  under=$obj/emulate
  if [ "$2" = quick ]; then run level-2 1 release --small --part 3 $some; else run level-2 1 release $some; fi
  under=
fi

# Two processes a processor that do nothing but take its time, while threads are many.
busy=
trap 'kill $busy 2>/dev/null' EXIT
for _ in $(seq $((2 * $(nproc)))); do
  (while :; do :; done) &
  busy="$busy $!"
done
for threads in 1 2 3 7 64; do
  run threads-$threads $threads release --part 9 $some --repeats $rounds
done
kill $busy
wait $busy 2>/dev/null
[ "$2" = quick ] || for threads in 2 3 7 64; do run whole-$threads $threads release; done
"$obj/sweep" "$work"/*.out
