# A sample of `make exhaustive`, each 997th input, where MPFR is installed: math.sh OBJ
obj=$1
[ -x "$obj/math/check" ] || make --no-print-directory -s OBJ="$obj" "$obj/math/check" 2>/dev/null
if [ ! -x "$obj/math/check" ]; then
  echo "skipped the elementary functions: MPFR is not installed (libmpfr-dev)"
  echo "0 passed, 0 failed, 1 skipped"
  exit 0
fi
bash tests/math/exhaustive.sh "$obj" 997
