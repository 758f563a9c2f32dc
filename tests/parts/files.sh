# Files that are missing, odd, damaged or too large, disks that are full, saving that is cut off: files.sh OBJ
# Every message is one line with the path and the reason; an older checkpoint stays whole whatever happens while a new one is saved.
obj=$PWD/$1
work=$obj/files
chmod -R u+rwx "$work" 2>/dev/null
rm -rf "$work" && mkdir -p "$work"
passed=0 failed=0 skipped=0
"$obj/mica" build tests/files/store.mica -o "$work/store" || { echo "0 passed, 1 failed"; exit 1; }
printf 'func Main\n  Print("hello")\nend\n' >"$work/hello.mica"
cd "$work" || exit 1

good() { passed=$((passed + 1)); }
bad() { echo "FAILED $1: $2"; head -5 err; failed=$((failed + 1)); }
skip() { echo "skipped $1: $2"; skipped=$((skipped + 1)); }
check() { local name=$1; shift; if "$@"; then good; else bad "$name" "not so: $*"; fi; }
holds() { [ "$(./store show "$1" 2>err)" = "step $2" ]; }      # PATH STEP
nothing_beside() { [ -z "$(find . -name '.mica-*')" ]; }

# refuses STATUS NAME LINE COMMAND…: that status, and LINE is all that standard error holds.
refuses() {
  local status=$1 name=$2 line=$3 got
  shift 3
  timeout 30 "$@" >out 2>err
  got=$?
  if [ $got = "$status" ] && [ "$(cat err)" = "$line" ]; then good; else bad "$name" "status $got"; fi
}
# gives NAME WANTED COMMAND…: status 0 and that standard output.
gives() {
  local name=$1 wanted=$2
  shift 2
  if [ "$(timeout 30 "$@" 2>err)" = "$wanted" ]; then good; else bad "$name" "not \`$wanted\`"; fi
}
# ./plain COMMAND…: as somebody who may not do everything, if we are root.
cat >plain <<'END'
#!/bin/sh
[ "$(id -u)" = 0 ] || exec "$@"
exec setpriv --reuid=65534 --regid=65534 --clear-groups "$@"
END
# ./inject CALL:FAULT COMMAND…: with a fault of that system call.
cat >inject <<'END'
#!/bin/sh
fault=$1
shift
exec strace -f -qq -o /dev/null -e trace="${fault%%:*}" -e inject="$fault" "$@"
END
chmod +x plain inject

# ---- reading ----

: >empty.txt
mkdir folder locked
printf 'secret' >locked/text.txt && chmod 000 locked/text.txt
printf 'abc\377def' >latin.txt
truncate -s 64T sparse.txt 2>/dev/null || truncate -s 15T sparse.txt
ln -s loop1 loop2 && ln -s loop2 loop1
ln -s nowhere dangling
chmod 755 . locked
refuses 1 "a missing file" "error: absent.txt: there is no such file" ./store text absent.txt
gives "an empty file" "0 bytes" ./store text empty.txt
refuses 1 "a folder" "error: folder: it is a folder" ./store text folder
./plain ./store text empty.txt >out 2>err && plain=yes || plain=no
if [ $plain = yes ]; then
  refuses 1 "an unreadable file" "error: locked/text.txt: permission denied" ./plain ./store text locked/text.txt
else
  skip "unreadable and unwritable files" "no other user can run a program here"
fi
refuses 1 "no UTF-8" "error: latin.txt: not UTF-8 text at byte 3" ./store text latin.txt
refuses 1 "larger than the memory" "error: sparse.txt: it does not fit into the memory" ./store text sparse.txt
refuses 1 "a circle of links" "error: loop1: its links form a circle, or are too many" ./store text loop1
refuses 1 "a file as a folder" "error: empty.txt/x: a part of the path is no folder" ./store text empty.txt/x
refuses 1 "a link to nothing" "error: dangling: there is no such file" ./store text dangling
refuses 1 "an endless file" "error: /dev/zero: it does not fit into the memory" bash -c 'ulimit -v 200000; exec ./store text /dev/zero'
if perl -MIO::Socket::UNIX -e 'IO::Socket::UNIX->new(Local => "socket", Listen => 1) or exit 1' 2>/dev/null; then
  refuses 1 "a socket" "error: socket: nothing is behind this device or socket" ./store text socket
else
  skip "a socket" "perl cannot make one"
fi
long=$(printf 'n%.0s' $(seq 255))
for name in 'a b' '-dash' $'two\nlines' "$long" $'latin-\377' 'ä'; do
  printf 'some text' >"./$name"
  gives "the name $name" "9 bytes" ./store text "./$name"
  refuses 0 "replacing $name" "" ./store replace "./$name"
done
refuses 1 "a name of 256 bytes" "error: n$long: the name is too long" ./store text "n$long"
refuses 1 "a name with a line end" 'error: no\x0asuch: there is no such file' ./store text $'no\nsuch'
refuses 1 "a name that is no text" 'error: no\xffsuch: there is no such file' ./store text $'no\377such'

# Short reads: a pipe whose writer gives a byte at a time, a character cut in the middle among them.
mkfifo pipe
{ for byte in a '\303' '\251' b '\n'; do printf "$byte"; sleep 0.02; done >pipe; } &
gives "a slow pipe" "5 bytes" ./store text pipe
{ for byte in a '\303'; do printf "$byte"; sleep 0.02; done >pipe; } &
refuses 1 "a pipe that ends inside a character" "error: pipe: not UTF-8 text at byte 1" ./store text pipe
gives "a long pipe" "3000000 bytes" ./store text <(head -c 3000000 /dev/zero | tr '\0' x)
gives "standard input" "2 lines" bash -c 'printf "a\nb" | ./store lines'
refuses 1 "standard input that is no text" "error: standard input: not UTF-8 text at byte 1" bash -c 'printf "a\377" | ./store lines'
refuses 1 "standard input that is a folder" "error: standard input: it is a folder" bash -c './store lines <folder'
refuses 1 "standard input that is closed" "error: standard input: it is not open" bash -c './store lines <&-'

# ---- writing ----

refuses 1 "a full device" "error: /dev/full: no space left" ./store write /dev/full
refuses 1 "a full device, replaced" "error: /dev/full: no space left" ./store replace /dev/full
check "devices are written to, not replaced" test -c /dev/full
refuses 1 "a missing folder" "error: absent/x: there is no such file" ./store replace absent/x
refuses 1 "onto a folder" "error: folder: it is a folder" ./store replace folder
refuses 1 "into a circle of links" "error: loop1: its links form a circle, or are too many" ./store replace loop1
printf 'old' >target && ln -s target link && chmod 640 target
refuses 0 "through a link" "" ./store replace link
check "the link is still one" test -L link
check "what it leads to is new" test "$(cat target)" = "some text"
check "and has its old rights" test "$(stat -c %a target)" = 640
refuses 0 "through a link to nothing" "" ./store replace dangling
check "it leads to something now" test "$(cat nowhere)" = "some text"
(cat pipe >from-pipe) & refuses 0 "into a pipe" "" ./store replace pipe
wait
check "all came through" test "$(cat from-pipe)" = "some text"
check "the pipe is still one" test -p pipe
if [ $plain = yes ]; then
  refuses 1 "into a locked folder" "error: locked/new: permission denied" ./plain ./store replace locked/new
  refuses 1 "onto an unwritable file" "error: locked/text.txt: permission denied" ./plain ./store write locked/text.txt
fi

# ---- a checkpoint that cannot be saved ----

# fails NAME LINE COMMAND…: refused with that line; state.safetensors is still step 1, and nothing lies beside it.
fails() {
  local name=$1
  refuses 1 "$@"
  check "$name: the old checkpoint is whole" holds state.safetensors 1
  check "$name: nothing lies beside it" nothing_beside
}
./store save state.safetensors --step 1 --count 1000
check "a checkpoint" holds state.safetensors 1
fails "a file size limit" "error: state.safetensors: the file would be too large" bash -c 'ulimit -f 2; exec ./store save state.safetensors --step 2 --count 100000'
if [ "$(id -u)" = 0 ] && mkdir small && mount -t tmpfs -o size=64k none small 2>/dev/null; then
  ./store save small/state.safetensors --step 1 --count 5000
  refuses 1 "a full disk" "error: small/state.safetensors: no space left" ./store save small/state.safetensors --step 2 --count 20000
  check "a full disk: the old checkpoint is whole" holds small/state.safetensors 1
  cat /dev/zero >small/filler 2>/dev/null
  refuses 1 "a program onto a full disk" "mica: cannot write small/hello: No space left on device" "$obj/mica" build hello.mica -o small/hello
  check "a full disk: nothing lies beside it" nothing_beside
  check "a full disk: no half program" test ! -e small/hello
  mount -o remount,ro small
  refuses 1 "a disk that can only be read" "error: small/state.safetensors: the file system can only be read" ./store save small/state.safetensors --step 2 --count 1
  refuses 1 "a program onto a disk that can only be read" "mica: cannot write small/hello: Read-only file system" "$obj/mica" build hello.mica -o small/hello
  umount small
else
  skip "a full disk" "no small file system can be mounted"
fi

# Calls of the system that fail or are interrupted, one after another, and a kill at each of them.
if ! ./inject close:error=EIO:when=99 true 2>/dev/null; then
  skip "failing system calls" "strace cannot run programs here"
else
  for call in write:EIO fsync:EIO close:EIO rename:EIO write:ENOSPC close:ENOSPC close:EDQUOT fsync:ENOSPC; do
    case $call in
      *ENOSPC) why="no space left" ;;
      *EDQUOT) why="the quota is used up" ;;
      *) why="input or output failed" ;;
    esac
    fails "$call" "error: state.safetensors: $why" ./inject "${call%%:*}:error=${call##*:}:when=1" ./store save state.safetensors --step 2 --count 9
  done
  for call in open write fsync; do
    refuses 0 "$call interrupted" "" ./inject "$call:error=EINTR:when=1+2" ./store save again.safetensors --step 3 --count 9
    check "$call interrupted: saved all the same" holds again.safetensors 3
  done
  gives "read interrupted" "9 bytes" ./inject read:error=EINTR:when=1+2 ./store text target
  gives "read that would wait" "9 bytes" ./inject read:error=EAGAIN:when=1 ./store text target
  refuses 1 "read fails" "error: target: input or output failed" ./inject read:error=EIO:when=1 ./store text target
  # The order that outlasts a power failure: the file is on the disk before it takes the name, then the folder is.
  strace -qq -o order -e trace=open,write,fsync,close,rename ./store save order.safetensors --step 1 --count 9
  check "write, sync, close, rename, sync the folder" test "$(sed 's/(.*//' order | tr '\n' ' ')" = "open write fsync close rename open fsync close "
  for call in open write fsync close rename; do
    for when in 1 2; do
      ./store save state.safetensors --step 1 --count 1000
      { ./inject "$call:signal=KILL:when=$when" ./store save state.safetensors --step 2 --count 1000; } >/dev/null 2>&1
      if holds state.safetensors 1 || holds state.safetensors 2; then good; else bad "a kill at $call $when" "$(./store show state.safetensors 2>&1)"; fi
      rm -f .mica-*
    done
  done
  for call in close:EIO write:ENOSPC rename:EIO; do
    rm -f hello
    ./inject "${call%%:*}:error=${call##*:}:when=1+" "$obj/mica" build hello.mica -o hello >out 2>err
    case $? in 1) good ;; *) bad "building with $call" "another status" ;; esac
    check "building with $call: nothing is there" test ! -e hello
  done
fi

# ---- kills ----

./store save state.safetensors --step 1 --count 50000
broken=0
for try in $(seq 200); do
  { timeout -s KILL "0.$(printf %03d $((try * 7 % 40 + 2)))" ./store keep state.safetensors --count 50000; } >/dev/null 2>&1
  case $(./store show state.safetensors 2>&1) in "step "*) ;; *) broken=$((broken + 1)) ;; esac
  rm -f .mica-*
done
check "200 kills while saving: old or new, whole ($broken are neither)" test $broken = 0
rm -f hello
broken=0
for try in $(seq 60); do
  { timeout -s KILL "0.$(printf %03d $((try * 2)))" "$obj/mica" build hello.mica -o hello; } >/dev/null 2>&1
  if [ -e hello ] && [ "$(./hello 2>&1)" != hello ]; then broken=$((broken + 1)); fi
  rm -f .mica-*
done
check "60 kills while building: nothing or the whole program ($broken are neither)" test $broken = 0

# ---- damaged checkpoints ----

# 100 MiB of address space: what a file of 1 KiB does not justify would not fit.
./store save damage.safetensors --step 7 --count 5
size=$(stat -c %s damage.safetensors) header=$((8 + $(od -An -td8 -N8 damage.safetensors)))
gives "every damage is refused" "of $size truncations $size refused
of $((8 * header)) flipped bits of the header $((8 * header)) refused, 0 change a text, 0 a tensor, 0 nothing
of $((8 * (size - header))) flipped bits of the data $((8 * (size - header))) refused, 0 taken for the same, 0 change a tensor" \
  bash -c 'ulimit -v 100000; exec ./store damage damage.safetensors scratch.safetensors'
(ulimit -v 100000; ./store foreign damage.safetensors scratch.safetensors >out 2>err)
check "a file without a hash: every truncation is refused" grep -qE '^of ([0-9]+) truncations \1 refused$' out
check "a file without a hash: no header's bit changes a tensor" grep -q ' of the header .* a text, 0 a tensor, ' out
check "a file without a hash: no more than that" test "$(wc -l <out)/$(wc -c <err)" = 3/0
for bytes in 0 1 7 8; do
  head -c $bytes damage.safetensors >short
  ./store show short >out 2>err
  status=$?
  if [ $status = 1 ] && [ "$(wc -l <err)" = 1 ] && grep -q '^error: short: the file is ' err; then good; else bad "$bytes bytes" "status $status"; fi
done
truncate -s 15T huge && printf '\377\377\377\377\377\377\377\177' | dd of=huge conv=notrunc 2>/dev/null
refuses 1 "a checkpoint larger than the memory" "error: huge: it does not fit into the memory" ./store show huge
refuses 1 "a folder as a checkpoint" "error: folder: it is a folder" ./store show folder

# ---- the compiler ----

mica=$obj/mica
refuses 1 "an output on a full device" "mica: cannot write /dev/full: No space left on device" "$mica" build hello.mica -o /dev/full
refuses 1 "an output in a missing folder" "mica: cannot write absent/hello: No such file or directory" "$mica" build hello.mica -o absent/hello
refuses 1 "a folder as output" "mica: cannot write folder: it is a folder" "$mica" build hello.mica -o folder
refuses 1 "the source as output" "mica: cannot write ./hello.mica: the program is read from it" "$mica" build hello.mica -o ./hello.mica
check "the source is what it was" grep -q '"hello"' hello.mica
refuses 1 "an output beyond the file size limit" "mica: cannot write small-hello: File too large" bash -c 'ulimit -f 4; exec "$1" build hello.mica -o small-hello' sh "$mica"
check "no half program" test ! -e small-hello
refuses 1 "a circle of links as output" "mica: cannot write loop1: Too many levels of symbolic links" "$mica" build hello.mica -o loop1
refuses 1 "a missing source" "error: cannot read \`absent.mica\`: there is no such file" "$mica" build absent.mica -o hello
refuses 1 "a folder as source" "error: cannot read \`folder\`: it is a directory" "$mica" check folder
refuses 1 "an endless source" "error: cannot read \`/dev/zero\`: it is larger than 256 MiB" "$mica" check /dev/zero
if [ $plain = yes ]; then
  cp hello.mica locked/hello.mica && chmod 000 locked/hello.mica
  refuses 1 "an unreadable source" "error: cannot read \`locked/hello.mica\`: permission is denied" ./plain "$mica" check locked/hello.mica
  refuses 1 "an output in a locked folder" "mica: cannot write locked/hello: Permission denied" ./plain "$mica" build hello.mica -o locked/hello
fi
"$mica" help >/dev/full 2>err
status=$?
check "help onto a full device" test "$status $(cat err)" = "1 mica: cannot write the output: No space left on device"
check "nothing lies beside anything" nothing_beside
chmod -R u+rwx .
line="$passed passed, $failed failed"
[ $skipped = 0 ] || line="$line, $skipped skipped"
echo "$line"
[ $failed = 0 ]
