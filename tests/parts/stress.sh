# Sources that are deep, long or hostile get a program or a message, never a signal and no hang, in bounded time and memory: stress.sh OBJ
# The sources are those of tests/stress/cases.sh, of sizes at which what is not about linear would not end within the limits.
obj=$1
work=$PWD/$obj/stress
mica=$PWD/$obj/mica
. tests/stress/cases.sh
rm -rf "$work" && mkdir -p "$work"
passed=0 failed=0
limits='ulimit -t 20 -v 8000000 2>/dev/null'

pass() { passed=$((passed + 1)); }
fail() {   # NAME WHAT: with the beginning of what was said
  echo "FAILED $1: $2"
  head -c 300 "$work/out"
  failed=$((failed + 1))
}

# checks STATUS NAME FILE: `mica check` ends with the status, in time, and says something short when it refuses.
checks() {
  local got
  (eval "$limits"; exec "$mica" check "$3") >"$work/out" 2>&1
  got=$?
  if [ $got != "$1" ]; then fail "$2" "status $got"
  elif [ "$1" != 0 ] && [ ! -s "$work/out" ]; then fail "$2" "no message"
  elif [ "$(wc -c <"$work/out")" -gt 100000 ]; then fail "$2" "a message without end"
  else pass; fi
}

# builds NAME FILE: every tier makes a program, and all of them print the same.
builds() {
  local tier got
  for tier in debug checked release; do
    (eval "$limits"; exec "$mica" build --tier $tier "$2" -o "$work/program-$tier") >"$work/out" 2>&1
    got=$?
    [ $got = 0 ] || { fail "$1" "$tier: status $got"; return; }
    timeout 20 "$work/program-$tier" >"$work/printed-$tier" 2>&1
    got=$?
    cmp -s "$work/printed-debug" "$work/printed-$tier" || { fail "$1" "the $tier program prints something else"; return; }
    [ $got = 0 ] || { fail "$1" "the $tier program ends with $got"; return; }
  done
  pass
}

while read -r name n status build; do
  [ -n "$name" ] || continue
  "source_$name" "$n" >"$work/$name.mica"
  checks "$status" "$name" "$work/$name.mica"
  [ -z "$build" ] || builds "$name" "$work/$name.mica"
  rm -f "$work/$name.mica"
done <<<"$cases"

# files and modules
: >"$work/empty.mica"
checks 0 "an empty file" "$work/empty.mica"
head -c 65536 "$mica" >"$work/binary.mica"
checks 1 "a binary file" "$work/binary.mica"
head -c 1000000 /dev/urandom >"$work/random.mica"
checks 1 "random bytes" "$work/random.mica"
checks 1 "a folder" "$work"
checks 1 "no file" "$work/absent.mica"

# modules N NEXT: N modules, the k-th imports the one that the awk expression names and calls its F.
modules() {
  rm -rf "$work/modules" && mkdir "$work/modules"
  awk -v n="$1" -v to="$work/modules" "BEGIN { for (k = 1; k <= n; k++) { other = $2; file = to \"/M\" k \".mica\"
    if (other) printf(\"import M%d\\n\", other) >file
    printf(\"pub func F%d(): int\\n  return %s\\nend\\n\", k, (other ? \"M\" other \".F\" other \"() + 1\" : \"1\")) >file; close(file) } }"
  printf 'import M1\nfunc Main\n  Print(M1.F1())\nend\n' >"$work/modules/Main.mica"
}
modules 2000 'k < n ? k + 1 : 0'
checks 0 "a chain of 2,000 modules" "$work/modules/Main.mica"
modules 2000 'k % n + 1'
checks 1 "a ring of 2,000 modules" "$work/modules/Main.mica"
modules 1 'k'
checks 1 "a module that imports itself" "$work/modules/Main.mica"
modules 5000 '0'
{ printf 'import M1'; rows 4999 'printf ", M%d", i + 1'; printf '\nfunc Main\n  Print(M1.F1() + M5000.F5000())\nend\n'; } >"$work/modules/Main.mica"
checks 0 "5,000 imports" "$work/modules/Main.mica"

rm -rf "$work"
echo "$passed passed, $failed failed"
[ $failed = 0 ]
