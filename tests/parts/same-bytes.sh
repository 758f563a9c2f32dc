# The compiler answers the same bytes wherever, whenever and by whomever it is run: all programs of corpus/, tests/lang and the
# documents, at every tier, are built plainly, and again with everything changed at once that must not matter: same-bytes.sh OBJ JOBS
# Where MICA_OTHER names a compiler that another C++ compiler has built, its programs are compared too. A program that is refused must be
# refused in the same words.
obj=$1 jobs=${2:-2} other=${MICA_OTHER:-}
work=$PWD/$obj/same-bytes
rm -rf "$work" && mkdir -p "$work/first/programs" "$work/list"
chmod 755 "$work"
passed=0 failed=0

# The programs, in a folder of their own.
cp tests/lang/*.mica "$work/first/programs"
find corpus -name '*.mica' -exec cp {} "$work/first/programs" \;
for document in README.md docs/*.md; do
  mkdir -p "$work/examples"
  awk -v folder="$work/examples" -f tests/docs/examples.awk "$document" >"$work/examples.out"
  for example in "$work"/examples/*.mica; do
    [ -e "$example" ] && mv "$example" "$work/first/programs/$(basename "$document" .md)-$(basename "$example")"
  done
done

# The list of one program: tier, sum of the bytes or of the message.
cat >"$work/one.sh" <<'EOS'
mica=$1 program=$2 out=$3
name=$(basename "$program" .mica)
for tier in debug checked release; do
  rm -f "$out/$name"
  if "$mica" build "$program" --tier $tier -o "$out/$name" >"$out/$name.said" 2>&1; then
    echo "$name $tier $(sha256sum <"$out/$name")"
  else
    echo "$name $tier refused $(sed 's#[^ ]*/##' "$out/$name.said" | sha256sum)"
  fi
  rm -f "$out/$name" "$out/$name.said"
done
EOS

# builds LIST MICA FOLDER HOW…: the list of all programs of the folder, each built by HOW… mica.
builds() {
  local list=$work/list/$1 mica=$2 folder=$3
  shift 3
  mkdir -p "$folder/out" && chmod 777 "$folder/out"
  (cd "$folder/programs" && find . -name '*.mica' | LC_ALL=C sort |
    "$@" xargs -P "$jobs" -I{} sh "$work/one.sh" "$mica" {} "$folder/out") | LC_ALL=C sort >"$list"
}

# same LIST: compares it with the first.
same() {
  if cmp -s "$work/list/plain" "$work/list/$1"; then passed=$((passed + 1)); else
    echo "FAILED $1: programs that differ:"
    diff "$work/list/plain" "$work/list/$1" | grep '^>' | head -10
    failed=$((failed + 1))
  fi
}

mica=$PWD/$obj/mica
builds plain "$mica" "$work/first"
count=$(grep -vc refused "$work/list/plain")
echo "$count programs built, $(grep -c refused "$work/list/plain") refused"
if [ "$count" -gt 300 ]; then passed=$((passed + 1)); else echo "FAILED too few programs"; failed=$((failed + 1)); fi

# Another place for the compiler and for the sources, another date on them, another locale and time zone, nothing else in the
# environment, another umask, another user, one processor, addresses that are not random.
cp -r "$work/first" "$work/another place"
cp "$mica" "$work/another place/compiler"
find "$work/another place" -name '*.mica' -exec touch -d '2001-02-03 04:05:06' {} +
how=(env -i PATH="$PATH" LC_ALL=tr_TR.UTF-8 TZ=Asia/Kathmandu HOME=/nowhere COLUMNS=17)
taskset -c 0 true 2>/dev/null && how+=(taskset -c 0)
setarch -R true 2>/dev/null && how+=(setarch -R)
# Another user must be able to reach the folder.
setpriv --reuid 65534 --regid 65534 --clear-groups test -r "$work/first/programs" 2>/dev/null && how+=(setpriv --reuid 65534 --regid 65534 --clear-groups)
(umask 007; builds elsewhere "$work/another place/compiler" "$work/another place" "${how[@]}")
same elsewhere
if [ -n "$other" ]; then
  builds "built by another compiler" "$PWD/$other" "$work/first"
  same "built by another compiler"
fi
echo "$passed passed, $failed failed"
[ $failed = 0 ]
