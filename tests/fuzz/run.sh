#!/usr/bin/env bash
# Runs the fuzz targets one after the other, each for the seconds given: run.sh OBJ SECONDS [ONLY]
# Each target's corpus stays in OBJ/fuzz/corpus and is taken up again; what it finds is minimised and lies in OBJ/fuzz/finds.
obj=$1 seconds=$2 only=${3:-}
fuzz=$obj/fuzz
passed=0 failed=0
export ASAN_OPTIONS=detect_leaks=1:allocator_may_return_null=0 UBSAN_OPTIONS=print_stacktrace=1
ulimit -s 1000000 2>/dev/null          # the stations walk trees by recursion, and the sanitizers' frames are large

# A target's first inputs are the tests that there are, without their expectations: NAME FOLDER
seeds() {
  local to=$fuzz/seeds/$1 file
  rm -rf "$to" && mkdir -p "$to"
  case $1 in
    ir) for file in tests/ir/*.ir; do sed '/^; expect/,$d' "$file" >"$to/$(basename "$file")"; done
        for file in tests/lang/{int-bits,float-min-max,flow-while,record-basics,choice-basics,tensor-sums}.mica; do
          "$obj/mica" explain --stage ir "$file" >"$to/$(basename "$file" .mica).ir" 2>/dev/null
        done ;;
    checkpoint) "$obj/mica" run tests/fuzz/checkpoint.mica --write "$to/whole" ;;
    *) for file in tests/lang/*.mica tests/rules/*.mica tests/reject/*.mica; do
         sed -E '/^ *\/\/ (expect|error|arguments|status)/d' "$file" >"$to/$(basename "$(dirname "$file")")-$(basename "$file")"
       done ;;
  esac
}

# The words and signs of the language, the operations, and those of the IR, in libFuzzer's form.
dictionary() {
  {
    sed -nE 's/.*X\(/&/; s/X\(([A-Za-z]+), "([a-z_]+)"\)/\n@\2\n/gp' src/frontend/interner.h | sed -n 's/^@//p'
    grep -oE '"`[^`]+`"' src/frontend/token.h | tr -d '"`'
    sed -nE 's/^BUILTIN\(([A-Za-z]+)\).*/\1/p' src/frontend/builtins.def
    "$obj/mica" vocabulary | sed -nE 's/^\| `([A-Za-z0-9]+)\(.*/\1/p'
    sed -nE 's/^OP\([A-Za-z0-9]+, *"([a-z0-9]+)".*/\1/p' src/ir/ops.def
    printf '%s\n' int float32 float64 bool string char byte int8 uint64 vector matrix i1 i8 i32 i64 f32 f64 ptr f32x8 i32x4 slot data
  } | sort -u | sed -E 's/[\\"]/\\&/g; s/.*/"&"/' >"$fuzz/dictionary"
}

for program in "$fuzz"/*; do
  [ -f "$program" ] && [ -x "$program" ] || continue
  name=$(basename "$program")
  case $name in *"$only"*) ;; *) continue ;; esac
  mkdir -p "$fuzz/corpus/$name" "$fuzz/finds"
  seeds "$name"
  dictionary
  log=$fuzz/$name.log
  "$program" -max_total_time="$seconds" -timeout=25 -rss_limit_mb=4096 -max_len=4096 -dict="$fuzz/dictionary" -artifact_prefix="$fuzz/finds/$name-" \
    -print_final_stats=1 "$fuzz/corpus/$name" "$fuzz/seeds/$name" >"$log" 2>&1
  status=$?
  runs=$(sed -nE 's/^stat::number_of_executed_units: *//p' "$log")
  echo "$name: ${runs:-0} executions, $(grep -oE 'cov: [0-9]+' "$log" | tail -1), in $(sed -nE 's/^Done [0-9]+ runs in ([0-9]+) .*/\1/p' "$log") s"
  if [ $status = 0 ]; then passed=$((passed + 1)); continue; fi
  failed=$((failed + 1))
  find=$(sed -nE 's/.*Test unit written to (.*)/\1/p' "$log" | tail -1)
  grep -E 'ERROR|runtime error|does not hold|internal compiler error' "$log" | head -3
  [ -n "$find" ] || continue
  "$program" -minimize_crash=1 -runs=20000 -max_total_time=60 -exact_artifact_path="$find.small" "$find" >/dev/null 2>&1
  echo "  found: $find, minimised: $find.small"
done
echo "$passed passed, $failed failed"
[ $failed = 0 ]
