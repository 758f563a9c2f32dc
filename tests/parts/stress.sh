# Sources that are deep, long or hostile get a program or a message, never a signal and no hang: stress.sh OBJ
obj=$1
work=$PWD/$obj/stress
rm -rf "$work" && mkdir -p "$work"
passed=0 failed=0

# checks STATUS NAME FILE: `mica check` ends with the status, in time, and says something when it refuses.
checks() {
  local got
  timeout 60 "$obj/mica" check "$3" >"$work/out" 2>&1
  got=$?
  if [ $got = "$1" ] && { [ "$1" = 0 ] || [ -s "$work/out" ]; }; then passed=$((passed + 1)); else
    echo "FAILED $2: status $got"
    head -c 300 "$work/out"
    failed=$((failed + 1))
  fi
}
repeat() { printf "%.0s$2" $(seq "$1"); }   # COUNT TEXT

{ printf 'func Main\n  let x := 1'; repeat 100000 ' + 1'; printf '\n  Print(x)\nend\n'; } >"$work/sum.mica"
checks 0 "a sum of 100,000 terms" "$work/sum.mica"
if [ "$(timeout 60 "$obj/mica" run "$work/sum.mica")" = 100001 ]; then passed=$((passed + 1)); else echo "FAILED the sum's value"; failed=$((failed + 1)); fi
{ printf 'func Main\n  Print('; repeat 100000 '('; printf 1; repeat 100000 ')'; printf ')\nend\n'; } >"$work/brackets.mica"
checks 1 "100,000 brackets" "$work/brackets.mica"
for i in $(seq 5000); do echo "type A$i = A$((i % 5000 + 1))"; done >"$work/ring.mica"
printf 'func Main\n  Print(1)\nend\n' >>"$work/ring.mica"
checks 1 "a ring of 5,000 types" "$work/ring.mica"
{ printf 'func Main\n  Print('; repeat 100000 9; printf ')\nend\n'; } >"$work/digits.mica"
checks 1 "a literal of 100,000 digits" "$work/digits.mica"
for i in $(seq 20000); do printf 'func F%d(x: int): int\n  return x + %d\nend\n' "$i" "$i"; done >"$work/functions.mica"
printf 'func Main\n  Print(F1(1) + F20000(2))\nend\n' >>"$work/functions.mica"
checks 0 "20,000 functions" "$work/functions.mica"
: >"$work/empty.mica"
checks 1 "an empty file" "$work/empty.mica"
head -c 65536 "$obj/mica" >"$work/binary.mica"
checks 1 "a binary file" "$work/binary.mica"
printf 'func Main\n  Print("never ends)\n' >"$work/open.mica"
checks 1 "a string and a block left open" "$work/open.mica"
checks 1 "a folder" "$work"
echo "$passed passed, $failed failed"
[ $failed = 0 ]
