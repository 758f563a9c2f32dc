#!/usr/bin/env bash
# The command line: what each command answers, prints and leaves behind, and how it refuses wrong usage: command.sh OBJ
obj=$PWD/$1
mica=$obj/mica
work=$obj/command
rm -rf "$work" && mkdir -p "$work/more" && cd "$work" || exit 1
passed=0 failed=0

# expect STATUS TEXT COMMAND…: the exit status, and a text that standard output or error holds.
expect() {
  local status=$1 text=$2 got
  shift 2
  "$@" >out 2>err </dev/null
  got=$?
  if [ $got = "$status" ] && { [ -z "$text" ] || grep -qF -- "$text" out err; }; then passed=$((passed + 1)); else
    echo "FAILED $*: status $got, expected $status and \`$text\`"
    head -3 out err
    failed=$((failed + 1))
  fi
}
holds() {   # NAME COMMAND…
  local name=$1
  shift
  if "$@"; then passed=$((passed + 1)); else echo "FAILED $name"; failed=$((failed + 1)); fi
}

cat >hello.mica <<'MICA'
// A small program.
import Args

const Times = 2

func Twice(n: int): int
  return n * Times
end

func Main
  Print("{Twice(Args.Int("n", otherwise: 3))} {Args.Positional(0, otherwise: "-")}")
end

test "twice"
  assert Twice(4) = 8
end
MICA
cat >more/Help.mica <<'MICA'
pub func Nine(): int
  return 9
end
MICA
printf 'import Help\n\npub func Ten(): int\n  return Help.Nine() + "1"\nend\n' >wrong.mica
printf 'import Help\n\nfunc Main\n  Print(Help.Nine())\nend\n' >needs.mica
printf 'test "holds"\n  assert 1 + 1 = 2\nend\n\ntest "does not"\n  assert 1 + 1 = 3, "one and one"\nend\n' >fails.mica
printf 'func Main\nlet x:=1+2\n      Print( x )\nend\n' >crooked.mica

# Commands and their usage.
expect 0 "mica run [options] FILE" "$mica" help
expect 0 "mica build" "$mica" --help
expect 0 "mica 0." "$mica" version
expect 0 "mica 0." "$mica" --version
expect 2 "usage:" "$mica"
expect 2 "there is no command frobnicate" "$mica" frobnicate
expect 2 "no file given" "$mica" run
expect 2 "no file given" "$mica" fmt
expect 2 "unknown option --fast" "$mica" build --fast hello.mica
expect 2 "unknown option --fast" "$mica" fmt --fast hello.mica
expect 2 "the option -o needs a value" "$mica" build hello.mica -o
expect 2 "there is no tier quick" "$mica" build --tier quick hello.mica
expect 2 "has no target moon" "$mica" build --target moon hello.mica
expect 2 "--set needs NAME=VALUE" "$mica" run --set Times hello.mica
expect 2 "needs.mica is a second one" "$mica" build hello.mica needs.mica
expect 2 "there is no stage cloud" "$mica" explain hello.mica --stage cloud
expect 2 "ir-test takes one file" "$mica" ir-test

# Running and building.
expect 0 "6 -" "$mica" run hello.mica
expect 0 "10 x" "$mica" run hello.mica --n 5 x
expect 0 "6 x" "$mica" run hello.mica -- x
expect 0 "14 -" "$mica" run --set Times=7 hello.mica --n 2
expect 0 "6 -" "$mica" run --interpret hello.mica
expect 0 "6 -" "$mica" run --timing --tier debug hello.mica
holds "--timing names the stations" grep -q "parse and check" err
expect 0 "6 -" "$mica" run --lines lines hello.mica
holds "--lines says what ran" grep -qx "hello.mica:7 1" lines
expect 0 "" "$mica" build hello.mica
expect 0 "6 -" ./hello
expect 0 "" "$mica" build --strip hello.mica -o stripped
holds "--strip makes it smaller" test "$(stat -c %s stripped)" -lt "$(stat -c %s hello)"
expect 1 "there is no module" "$mica" run needs.mica
expect 0 "9" "$mica" run -I more needs.mica
expect 1 "the file has no constant" "$mica" run --set Nothing=1 hello.mica
expect 1 "the constant needs" "$mica" run --set Times=many hello.mica
expect 1 "cannot read" "$mica" run absent.mica
expect 1 "it is a folder" "$mica" build hello.mica -o more
expect 1 "absent" "$mica" build hello.mica -o absent/hello
expect 0 "" "$mica" check hello.mica
expect 1 "absent.mica" "$mica" check hello.mica absent.mica

# A module has no Main: it is checked alone, with its tests, and is no program.
expect 0 "" "$mica" check more/Help.mica fails.mica
expect 1 "does not apply" "$mica" check -I more wrong.mica
expect 0 "Nine" "$mica" explain more/Help.mica --stage tree
expect 1 'this program has no `func Main`' "$mica" run more/Help.mica
expect 1 'this program has no `func Main`' "$mica" build more/Help.mica
: >nothing.mica
expect 0 "" "$mica" check nothing.mica
expect 1 'this program has no `func Main`' "$mica" run nothing.mica

# Tests of a file.
expect 0 "twice" "$mica" test hello.mica
expect 134 "one and one" "$mica" test fails.mica
expect 134 "twice" "$mica" test hello.mica fails.mica

# The canonical layout.
expect 1 "crooked.mica" "$mica" fmt --check crooked.mica
expect 0 "" "$mica" fmt crooked.mica
holds "fmt writes the layout" cmp -s crooked.mica - <<<$'func Main\n  let x := 1 + 2\n  Print(x)\nend'
expect 0 "" "$mica" fmt --check crooked.mica
expect 0 "" "$mica" fmt --check .

# Each stage shows the program.
expect 0 "Twice" "$mica" explain hello.mica --stage tokens
expect 0 "Twice" "$mica" explain hello.mica --stage ast
expect 0 "Twice" "$mica" explain hello.mica --stage tree
expect 0 "smul" "$mica" explain hello.mica --func Twice
expect 0 "@hello.Twice" "$mica" explain hello.mica --stage passes --func Twice
expect 0 "ret" "$mica" explain hello.mica --stage asm --func Twice
expect 1 "no compiled function Nothing" "$mica" explain hello.mica --func Nothing
expect 1 "cannot read" "$mica" explain absent.mica --stage ast
"$mica" explain "$OLDPWD/corpus/gpt/gpt.mica" --stage tree >tree 2>err
holds "the tree of the GPT" test -s tree
"$mica" explain "$OLDPWD/corpus/gpt/gpt.mica" --stage ast >ast 2>err
holds "the syntax of the GPT" test -s ast

echo "$passed passed, $failed failed"
[ $failed = 0 ]
