# The GPT in its small configuration prints the same digits and saves the same bytes, run after run, for every number of
# threads, at every tier, and in the interpreter: repro.sh OBJ
obj=$1
work=$PWD/$obj/repro
gpt=$PWD/corpus/gpt/gpt.mica
[ -e "$gpt" ] || { echo "0 passed, 1 failed"; exit 1; }
rm -rf "$work" && mkdir -p "$work"
text=$(ls "$PWD"/corpus/text/*.txt | head -1)
tiny="--set Layers=2 --set Width=32 --set Context=16 --set Batch=4"
options="--text $text --steps 5 --seed 3 --sample 40"
passed=0 failed=0

same() {   # NAME: compares what NAME printed and saved with the first run
  if cmp -s "$work/$1.out" "$work/first.out" && cmp -s "$work/$1.safetensors" "$work/first.safetensors"; then
    passed=$((passed + 1))
  else
    echo "FAILED $1 prints or saves something else than the first run"
    diff "$work/first.out" "$work/$1.out" | head -5
    failed=$((failed + 1))
  fi
}
run() {    # NAME THREADS PROGRAM
  MICA_THREADS=$2 "$3" $options --save "$work/$1.safetensors" >"$work/$1.out" 2>"$work/$1.err" || { echo "$1 ended with status $?"; head -5 "$work/$1.err"; }
}

for tier in debug checked release; do
  "$obj/mica" build "$gpt" $tiny --tier $tier -o "$work/gpt-$tier" || { echo "0 passed, 1 failed"; exit 1; }
done
run first 1 "$work/gpt-checked"
if [ ! -s "$work/first.safetensors" ] || [ ! -s "$work/first.out" ]; then
  echo "FAILED the first run left nothing"
  echo "0 passed, 1 failed"
  exit 1
fi
run again 1 "$work/gpt-checked" && same again
for threads in 2 3 7; do run threads-$threads $threads "$work/gpt-checked"; same threads-$threads; done
for tier in debug release; do run tier-$tier 2 "$work/gpt-$tier"; same tier-$tier; done
timeout 300 "$obj/mica" run --interpret $tiny "$gpt" $options --save "$work/interpreter.safetensors" >"$work/interpreter.out" 2>"$work/interpreter.err"
same interpreter
# Resuming in the middle gives the bits of running through.
"$work/gpt-checked" --text "$text" --steps 3 --seed 3 --sample 0 --save "$work/half.safetensors" >/dev/null 2>&1
"$work/gpt-checked" --text "$text" --steps 5 --seed 3 --sample 0 --load "$work/half.safetensors" --save "$work/resumed.safetensors" >/dev/null 2>&1
if cmp -s "$work/resumed.safetensors" "$work/first.safetensors"; then passed=$((passed + 1)); else
  echo "FAILED a resumed run saves something else than running through"; failed=$((failed + 1)); fi
echo "$passed passed, $failed failed"
[ $failed = 0 ]
