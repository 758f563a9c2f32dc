#!/usr/bin/env bash
# Runs every part of the test suite and adds up their counts: run.sh OBJ JOBS [TEXT]
# A part is a command that ends with `N passed, N failed[, N skipped]` (or doctest's summary). A part that prints no count
# counts as one test, by its exit status. The last line of all is the sum.
obj=$1 jobs=$2 only=${3:-}
passed=0 failed=0 skipped=0
logs=$obj/test-logs
mkdir -p "$logs"

part() {
  local name=$1 log="$logs/$1.log" start=$SECONDS p f s status line
  shift
  echo "== $name"
  "$@" >"$log" 2>&1 </dev/null
  status=$?
  line=$(grep -E '^[0-9]+ passed, [0-9]+ failed(, [0-9]+ skipped)?$' "$log" | tail -1)
  if [ -n "$line" ]; then
    read -r p f s < <(echo "$line" | sed -E 's/^([0-9]+) passed, ([0-9]+) failed(, ([0-9]+) skipped)?$/\1 \2 \4/')
  elif line=$(grep -F '[doctest] test cases:' "$log" | tail -1) && [ -n "$line" ]; then
    p=$(echo "$line" | sed -E 's/.*[^0-9]([0-9]+) passed.*/\1/')
    f=$(echo "$line" | sed -E 's/.*[^0-9]([0-9]+) failed.*/\1/')
    s=0
  else
    p=$((status == 0)) f=$((status != 0)) s=0
  fi
  if [ "$status" != 0 ] && [ "$f" = 0 ]; then f=1; fi   # died after its count, or before it
  if [ "$f" = 0 ]; then grep -E '^skipped ' "$log"; else cat "$log"; fi
  echo "   $p passed, $f failed, ${s:-0} skipped, $((SECONDS - start)) s"
  passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + ${s:-0}))
}

harness() { "$obj/harness" --mica "$obj/mica" --jobs "$jobs" --known tests/waiting.txt ${only:+--only "$only"} ${MICA_TEST_LINES:+--lines "$MICA_TEST_LINES"} "$@"; }

part lang harness lang:tests/lang
part rules harness rules:tests/rules
part reject harness reject:tests/reject
part ir harness ir:tests/ir
if [ -z "$only" ]; then
  part unit "$obj/unit"
  for more in tests/parts/*.sh; do
    [ -e "$more" ] && part "$(basename "$more" .sh)" bash "$more" "$obj" "$jobs"
  done
fi
line="$passed passed, $failed failed"
[ "$skipped" = 0 ] || line="$line, $skipped skipped"
echo "$line"
[ "$failed" = 0 ]
