#!/bin/sh
# Installs what the tests need beyond a C++ compiler and make, or says what to install.
# Needed: doctest (unit tests), MPFR (the exact values of elementary functions), binutils (the encoder's second opinion), strace (system
# calls that fail).
# `install.sh fuzz` also brings clang with libFuzzer and the sanitizers, for `make fuzz`.
missing=
if test "${1:-}" = fuzz; then command -v "${FUZZ_CXX:-clang++}" >/dev/null || missing="clang"; fi
test -e /usr/include/doctest/doctest.h || missing="$missing doctest-dev"
test -e /usr/include/mpfr.h || missing="$missing libmpfr-dev"
command -v objdump >/dev/null && command -v readelf >/dev/null || missing="$missing binutils"
command -v strace >/dev/null || test "$(id -u)" != 0 || missing="$missing strace"   # without it some tests are skipped
test -z "$missing" && exit 0
if test "$(id -u)" = 0 && command -v apt-get >/dev/null; then
  echo "installing$missing"
  (apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $missing) >/dev/null 2>&1 && exit 0
  echo "tests: apt-get could not install:$missing" >&2
  exit 1
fi
echo "tests: please install these packages first (Debian's names):$missing" >&2
exit 1
