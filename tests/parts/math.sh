# A sample of `make exhaustive`, each 997th input, where MPFR is installed: math.sh OBJ
obj=$1
make --no-print-directory -s OBJ="$obj" "$obj/math/check" "$obj/math/check_texts" 2>/dev/null
if [ ! -x "$obj/math/check" ]; then
  echo "skipped the elementary functions and floats as text: MPFR is not installed (libmpfr-dev)"
  echo "0 passed, 0 failed, 1 skipped"
  exit 0
fi
bash tests/math/exhaustive.sh "$obj" 997
