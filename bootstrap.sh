#!/bin/sh
# Builds Mica with nothing but a C++ compiler and a shell, as `make` does: stage one compiles the runtime, stage two carries
# it. Then the result makes runtime and compiler once more, and all bytes must be the same.
#   CXX=clang++ OPT=-O1 OUT=build JOBS=4 ./bootstrap.sh
# Lists of flags and files are split at their spaces on purpose.
# shellcheck disable=SC2086
set -e
cd "$(dirname "$0")"
OUT=${OUT:-build}
OPT=${OPT:--O2}
JOBS=${JOBS:-$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)}
if test -z "$CXX"; then
  for CXX in g++ clang++ c++ none; do command -v "$CXX" >/dev/null 2>&1 && break; done
fi
if ! command -v "$CXX" >/dev/null 2>&1; then
  echo "bootstrap: no C++ compiler found; name one with CXX=..." >&2
  exit 1
fi
FLAGS="-std=c++20 $OPT -Wall -Wextra -ffp-contract=off -Isrc"
OBJECTS=
mkdir -p "$OUT/embed" "$OUT/stage1" "$OUT/stage2"
rm -f "$OUT/bootstrap.failed"

compile() { "$CXX" $FLAGS "$@"; }

# Every JOBS-th source, beginning with the given one; the groups run side by side.
compile_group() {
  n=0
  for source in $SOURCES; do
    if test $((n % JOBS)) -eq "$1" && ! compile -c -o "$OUT/${source%.cpp}.o" "$source"; then
      echo "bootstrap: $source does not compile" >&2
      : >"$OUT/bootstrap.failed"
    fi
    n=$((n + 1))
  done
}

echo "bootstrap: compiling the compiler with $CXX"
SOURCES=$(find src -name '*.cpp' ! -path 'src/embed/*' | LC_ALL=C sort)
for source in $SOURCES; do
  mkdir -p "$OUT/${source%/*}"
  OBJECTS="$OBJECTS $OUT/${source%.cpp}.o"
done
group=0
while test "$group" -lt "$JOBS"; do
  compile_group "$group" &
  group=$((group + 1))
done
wait
test ! -e "$OUT/bootstrap.failed" || exit 1

sh src/embed/list.sh "$OUT/embed/library.inc"
compile "-I$OUT/embed" -c -o "$OUT/embed/library.o" src/embed/library.cpp
OBJECTS="$OBJECTS $OUT/embed/library.o"

echo "bootstrap: stage one compiles the runtime"
compile -c -o "$OUT/embed/no-runtime.o" src/embed/runtime.cpp
"$CXX" -static -o "$OUT/stage1/mica" $OBJECTS "$OUT/embed/no-runtime.o" -pthread
"$OUT/stage1/mica" build-runtime -o "$OUT/runtime.bin"

# finish RUNTIME OBJECT COMPILER: the compiler that carries this runtime
finish() {
  compile "-DMICA_RUNTIME_X64=\"$1\"" -c -o "$2" src/embed/runtime.cpp
  "$CXX" -static -o "$3" $OBJECTS "$2" -pthread
}

# same A B WHAT
same() {
  if ! cmp "$1" "$2"; then
    echo "bootstrap: the two builds of the $3 differ" >&2
    exit 1
  fi
}

echo "bootstrap: stage two carries it"
finish "$OUT/runtime.bin" "$OUT/embed/runtime.o" "$OUT/mica"

echo "bootstrap: once more, by the result"
"$OUT/mica" build-runtime -o "$OUT/stage2/runtime.bin"
same "$OUT/runtime.bin" "$OUT/stage2/runtime.bin" runtime
cp "$OUT/mica" "$OUT/stage2/mica"
finish "$OUT/stage2/runtime.bin" "$OUT/embed/runtime.o" "$OUT/mica"
same "$OUT/stage2/mica" "$OUT/mica" compiler
for program in corpus/programs/*.mica corpus/gpt/gpt.mica; do
  test -e "$program" || continue
  "$OUT/stage2/mica" build "$program" -o "$OUT/stage2/program"
  "$OUT/mica" build "$program" -o "$OUT/stage2/program-again"
  same "$OUT/stage2/program" "$OUT/stage2/program-again" "program $program"
done
echo "bootstrap: $OUT/mica is ready; runtime, compiler and programs are the same in both builds"
