# 20,000 random functions: interpreter, debug, checked and release agree: random.sh OBJ JOBS
# Under `make coverage`, whose compiler is slow, a quarter of them.
obj=$1 jobs=$2
rm -rf "$obj/random-work"
"$obj/random" --mica "$obj/mica" --work "$obj/random-work" --jobs "$jobs" --programs "$([ -n "$MICA_TEST_LINES" ] && echo 26 || echo 104)" --functions 200 --seed 1 --traps 4
