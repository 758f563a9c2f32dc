# 20,000 random functions: interpreter, debug, checked and release agree: random.sh OBJ JOBS
obj=$1 jobs=$2
rm -rf "$obj/random-work"
"$obj/random" --mica "$obj/mica" --work "$obj/random-work" --jobs "$jobs" --programs 104 --functions 200 --seed 1 --traps 4
