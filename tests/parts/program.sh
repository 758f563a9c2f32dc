# What a built program is (one small static file) and how it meets wrong input: program.sh OBJ
obj=$1
work=$PWD/$obj/program
gpt=$PWD/corpus/gpt/gpt.mica
[ -e "$gpt" ] || { echo "0 passed, 1 failed"; exit 1; }
rm -rf "$work" && mkdir -p "$work/empty"
text=$(ls "$PWD"/corpus/text/*.txt | head -1)
passed=0 failed=0
tiny="--set Layers=2 --set Width=32 --set Context=16 --set Batch=4"
"$obj/mica" build "$gpt" --strip -o "$work/gpt" && "$obj/mica" build "$gpt" $tiny --strip -o "$work/tiny" || { echo "0 passed, 1 failed"; exit 1; }

check() {  # NAME COMMAND…
  local name=$1
  shift
  if "$@"; then passed=$((passed + 1)); else echo "FAILED $name"; failed=$((failed + 1)); fi
}
lacks() { ! readelf -lW "$work/gpt" | grep -qE "$1"; }
check "no interpreter and no dynamic section" lacks 'INTERP|DYNAMIC'
check "no segment is writable and executable" lacks ' RWE '
check "a note says that the stack is not executable" sh -c "readelf -lW '$work/gpt' | grep -q 'GNU_STACK.* RW '"
check "the stripped program is under 300 KiB" test "$(stat -c %s "$work/gpt")" -lt 307200
for program in tests/lang/import-module.mica tests/lang/flow-if.mica corpus/gpt/gpt.mica; do
  "$obj/mica" build $program -o "$work/lines"
  check "readelf reads the table of lines of $program without a complaint" \
    sh -c "readelf --debug-dump=decodedline '$work/lines' 2>&1 >/dev/null | wc -l | grep -qx 0"
done
if [ "$(id -u)" = 0 ]; then
  cp "$work/tiny" "$work/empty/gpt" && cp "$text" "$work/empty/text.txt"
  check "it runs in a folder that holds only it and the text" chroot "$work/empty" /gpt --text /text.txt --steps 2 --sample 10 >"$work/chroot.out" 2>"$work/chroot.err"
fi

# One clear line on standard error, and the status: refuses STATUS NAME WORD ARGUMENTS…
refuses() {
  local status=$1 name=$2 word=$3 got
  shift 3
  "$work/tiny" "$@" >"$work/out" 2>"$work/err"
  got=$?
  if [ $got = "$status" ] && [ -s "$work/err" ] && grep -qF -- "$word" "$work/err" && { [ "$status" = 2 ] || [ "$(wc -l <"$work/err")" -le 1 ]; }; then
    passed=$((passed + 1))
  else
    echo "FAILED $name: status $got, standard error:"
    head -3 "$work/err"
    failed=$((failed + 1))
  fi
}
: >"$work/nothing.txt"
printf 'short' >"$work/short.txt"
"$work/tiny" --text "$text" --steps 1 --sample 0 --save "$work/good.safetensors" >/dev/null 2>&1
head -c 1000 "$work/good.safetensors" >"$work/cut.safetensors" 2>/dev/null
printf '\377\377\377\377\377\377\377\177{}' >"$work/long.safetensors"
refuses 1 "a missing text" absent.txt --text "$work/absent.txt" --steps 1
refuses 1 "an empty text" "" --text "$work/nothing.txt" --steps 1
refuses 1 "a text shorter than the context" "" --text "$work/short.txt" --steps 1
refuses 2 "an unknown option" --stpes --text "$text" --stpes 1
refuses 2 "a number that is none" many --text "$text" --steps many
refuses 1 "a cut checkpoint" "" --text "$text" --steps 2 --load "$work/cut.safetensors"
refuses 1 "a checkpoint with a wild length" "" --text "$text" --steps 2 --load "$work/long.safetensors"
refuses 1 "a missing checkpoint" absent.safetensors --text "$text" --steps 2 --load "$work/absent.safetensors"
refuses 1 "a folder as text" "" --text "$work" --steps 1
echo "$passed passed, $failed failed"
[ $failed = 0 ]
