# Traps of every kind, in the main thread and in the pool's, at every tier and in the interpreter: traps.sh OBJ
# What each has to say stands in tests/traps/kinds.mica.
obj=$1
work=$PWD/$obj/traps
source=tests/traps/kinds.mica
library=tests/traps/library
rm -rf "$work" && mkdir -p "$work"
passed=0 failed=0
for tier in debug checked release; do
  "$obj/mica" build --library $library --tier $tier --verify "$source" -o "$work/$tier" || { echo "0 passed, 1 failed"; exit 1; }
done

exec 3>&1
bad() {  # NAME WHAT
  echo "FAILED $1: $2" >&3
  head -12 "$work/err" >&3
  failed=$((failed + 1))
}

# Runs KIND at PLACE the WAY, under a limit of the address space in KiB if one is given; leaves $status, out and err.
run() {  # WAY KIND PLACE [LIMIT]
  local command=("$work/$1")
  [ "$1" != interpret ] || command=("$obj/mica" run --interpret --library $library "$source")
  (ulimit -v "${4:-unlimited}" && exec env MICA_THREADS=4 "${command[@]}" "$2" "$3") >"$work/out" 2>"$work/err"
  status=$?
}

# The report in err: the sentence, the place (that of a stack overflow anywhere in its function), the chain to Main, nothing else.
reported() {  # NAME WORD KIND PLACE FUNCTION SENTENCE
  local mark line column first at rest chain
  mark=$(grep -n "//@ $3 [0-9]*\$" "$source")
  line=${mark%%:*} column=${mark##* }
  [ $status = 134 ] || { bad "$1" "status $status"; return; }
  [ "$(cat "$work/out")" = before ] || { bad "$1" "standard output: $(head -3 "$work/out")"; return; }
  first=$(head -1 "$work/err")
  [ "$2" != limited ] || first="${first% [0-9]* bytes} …"     # how many bytes depends on the machine
  [ "$first" = "trap: $6" ] || { bad "$1" "another sentence"; return; }
  at="  at kinds.mica:$line:$column in $5"
  [ "$2" != stack ] || at="  at kinds.mica:*:* in $5"
  case $(sed -n 2p "$work/err") in $at) ;; *) bad "$1" "not \`$at\`"; return ;; esac
  rest=$(tail -n +3 "$work/err" | sed -E 's/^  at [a-zA-Z]+\.mica:[0-9]+:[0-9]+ in //' | grep -vx "$5" | tr '\n' ' ')
  case $4 in main) chain="Provoke Main " ;; pool) chain="Provoke Main Each Main " ;; esac
  rest=${rest#  … and *[0-9] more calls, then }
  [ "$rest" = "$chain" ] || { bad "$1" "another chain: $rest"; return; }
  passed=$((passed + 1))
}

while read -r word kind function sentence; do
  for way in debug checked release interpret; do
    for place in main pool; do
      case $way/$place/$word in
        interpret/pool/*) continue ;;                    # it has one thread
        interpret/*/limited | interpret/*/stack) continue ;;      # too slow; tests/lang has a stack overflow
      esac
      name="$kind in $place, $way"
      limit=
      [ $word != limited ] || limit=300000
      run $way "$kind" $place $limit
      if [ $word/$way = checks/release ]; then
        if [ $status = 0 ] && [ "$(tail -1 "$work/out")" = after ]; then passed=$((passed + 1)); else bad "$name" "status $status in the release tier"; fi
      else
        reported "$name" $word "$kind" $place "$function" "$sentence"
      fi
    done
  done
done < <(sed -nE 's/^\/\/ (trap|checks|limited|stack) (\w+) (\w+): (.*)/\1 \2 \3 \4/p' "$source")

# Of many threads' traps always the same one is reported, once.
for threads in 2 3 7 64; do
  for kind in list late growing deep; do
    other=0
    for try in 1 2 3 4; do
      (ulimit -v 600000; MICA_THREADS=$threads "$work/checked" $kind pool >"$work/out" 2>"$work/err")
      [ $? = 134 ] && [ "$(grep -c '^trap: ' "$work/err")" = 1 ] && tail -1 "$work/err" | grep -q ' in Main$' && [ "$(cat "$work/out")" = before ] || other=$((other + 1))
      case $kind in list | late) grep -q '^trap: index 5 is' "$work/err" || other=$((other + 1)) ;; esac
    done
    if [ $other = 0 ]; then passed=$((passed + 1)); else bad "$kind in $threads threads" "$other times of 4"; fi
  done
done

# A trap inside the report of a trap ends with what is known, and a report that cannot be written, or output that cannot, does not hinder the end.
ends() {  # NAME WANTED-ERROR-OUTPUT COMMAND…: status 134 in time
  local name=$1 wanted=$2
  shift 2
  timeout 20 "$@" 2>"$work/err"
  status=$?
  if [ $status = 134 ] && [ "$(cat "$work/err")" = "$wanted" ]; then passed=$((passed + 1)); else bad "$name" "status $status"; fi
}
report='trap: an integer is divided by zero
  at nested.mica:5:12 in Trap'
for tier in debug checked release; do
  program=$work/nested-$tier
  "$obj/mica" build --library $library --tier $tier tests/traps/nested.mica -o "$program" || { failed=$((failed + 1)); continue; }
  whole=$("$program" plain 2>&1 >"$work/out")
  case $whole in "$report"*" in Main") passed=$((passed + 1)) ;; *) bad "a plain trap, $tier" "$whole" ;; esac
  ends "a chain that leads nowhere, $tier" "$report
  at nested.mica:11:47 in Main
  at Spoil.mica:8:3 in Chain
  at nested.mica:11:23 in Main
  (a second trap ended this report)" "$program" chain >"$work/out"
  ends "no memory for the report, $tier" "  (a second trap ended this report)" "$program" text >"$work/out"
  [ "$(cat "$work/out")" = before ] || bad "no memory for the report, $tier" "standard output was lost"
  ends "standard output is full, $tier" "$whole" "$program" plain >/dev/full
  ends "standard output is closed, $tier" "$whole" "$program" plain >&-
  ends "standard output is a pipe without a reader, $tier" "$whole" bash -c '"$1" plain > >(exec true)' sh "$program"
  ends "standard error is full, $tier" "" bash -c '"$1" plain 2>/dev/full' sh "$program" >"$work/out"
  ends "standard error is closed, $tier" "" bash -c '"$1" plain 2>&-' sh "$program" >"$work/out"
done
echo "$passed passed, $failed failed"
[ $failed = 0 ]
