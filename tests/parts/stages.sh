#!/usr/bin/env bash
# The finished compiler, which carries a runtime, compiles the same runtime as the compiler that made it: stages.sh OBJ
obj=$1
if "$obj/mica" build-runtime -o "$obj/runtime-again.bin" && cmp "$obj/runtime.bin" "$obj/runtime-again.bin"; then
  echo "1 passed, 0 failed"
else
  echo "the runtime compiled by $obj/mica differs from the one by $obj/stage1/mica"
  echo "0 passed, 1 failed"
  exit 1
fi
