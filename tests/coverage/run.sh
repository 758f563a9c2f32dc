#!/usr/bin/env bash
# What the tests reach of the compiler and of the runtime: run.sh OBJ JOBS, called by `make coverage`.
# OBJ holds everything built with --coverage. The compiler's lines are counted by gcov over the whole suite. The runtime's are those
# that the interpreter executes (`mica run --lines`): in the language tests, in the kernels' comparison with their orders, and in a
# few steps of the GPT. What runs only natively (threads, signal handlers) counts as not reached.
obj=$1 jobs=$2
lines=$PWD/$obj/lines
find "$obj" -name '*.gcda' -delete
rm -rf "$lines" && mkdir -p "$lines"
MICA_TEST_LINES=$lines bash tests/run.sh "$obj" "$jobs" || echo "(some tests failed; the figures count what ran)"

gpt="--set Layers=2 --set Width=32 --set Context=16 --set Batch=4 corpus/gpt/gpt.mica"
text=$(ls corpus/text/*.txt | head -1)
"$obj/mica" run --lines "$lines/gpt" $gpt --text "$text" --steps 2 --sample 20 --save "$obj/gpt.safetensors" >/dev/null
"$obj/mica" run --lines "$lines/gpt-resumed" $gpt --text "$text" --steps 3 --sample 0 --load "$obj/gpt.safetensors" >/dev/null
python3 tests/coverage/report.py "$obj" "$lines"
