#!/bin/sh
# list.sh OUT: writes the list of the library's modules for library.cpp. OUT keeps its time when the list is the same.
LC_ALL=C
export LC_ALL
n=0
for path in src/rt/*.mica; do
  test -e "$path" || continue
  name=${path##*/}
  echo "LIBRARY_FILE($n, \"${name%.mica}\", \"$path\")"
  n=$((n + 1))
done >"$1.new"
if cmp -s "$1.new" "$1"; then rm "$1.new"; else mv "$1.new" "$1"; fi
