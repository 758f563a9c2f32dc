# What only large programs ask of the code generator: functions of many thousand statements and values, long case tables, branches
# that need 32 bits, frames that are refused. Each program runs at every tier and prints what awk works out: codegen.sh OBJ
obj=$1
work=$PWD/$obj/codegen
rm -rf "$work" && mkdir -p "$work"
passed=0 failed=0

pass() { passed=$((passed + 1)); }
fail() { echo "FAILED $1"; failed=$((failed + 1)); }

# runs NAME WANTED: NAME.mica prints WANTED when given 7, at every tier.
runs() {
  local tier got
  for tier in debug checked release; do
    got=$(timeout 120 "$obj/mica" run --tier $tier "$work/$1.mica" 7 2>&1)
    if [ "$got" = "$2" ]; then pass; else fail "$1 at tier $tier prints \`$(echo "$got" | head -c 200)\`, not \`$2\`"; fi
  done
}

number='import Args, Text

func Number(i: int): int
  return try Text.ToInt(Args.Positional(i)) else 0
end
'

# 12,000 statements in a row, every fifth one behind a branch.
{
  echo "$number"
  awk 'BEGIN {
    print "func Main\n  var x := Number(0)"
    for (k = 0; k < 12000; k++) {
      if (k % 5 == 4) printf "  if x band 3 <> %d then\n    x += %d\n  end\n", k % 4, k
      else printf "  x := (x * 31 + %d) rem 1000003\n", k
    }
    print "  Print(x)\nend"
  }'
} >"$work/statements.mica"
runs statements "$(awk 'BEGIN {
  x = 7
  for (k = 0; k < 12000; k++) {
    if (k % 5 == 4) { if (x % 4 != k % 4) x += k }
    else x = (x * 31 + k) % 1000003
  }
  print x
}')"

# The same in the body of a loop, and behind one condition: branches forwards and back that do not fit in a byte. Every
# thousandth statement may leave the loop or begin it again.
{
  echo "$number"
  awk 'BEGIN {
    print "func Main\n  let n := Number(0)\n  var x := n\n  var xs := [i for i in 0 ..< 100]\n  var rounds := 0"
    print "  while rounds < 20 do\n    rounds += 1\n    if x rem 3 <> 0 then"
    for (k = 0; k < 6000; k++) {
      if (k % 1000 == 500) printf "      if x = %d then\n        break\n      end\n", k + 5000000
      else if (k % 1000 == 750) printf "      if x rem 17 = 0 then\n        x += 1\n        continue\n      end\n"
      else if (k % 10 == 3) printf "      xs[x rem 100] += %d\n", k
      else printf "      x := (x * 29 + xs[%d]) rem 1000003\n", k % 100
    }
    print "    end\n    x += 1\n  end\n  Print(\"{x} {rounds} {xs[0]} {xs[99]}\")\nend"
  }'
} >"$work/branches.mica"
runs branches "$(awk 'BEGIN {
  x = 7
  for (i = 0; i < 100; i++) xs[i] = i
  for (rounds = 1; rounds <= 20; rounds++) {
    again = 0
    if (x % 3 != 0)
      for (k = 0; k < 6000; k++) {
        if (k % 1000 == 500) continue
        if (k % 1000 == 750) { if (x % 17 == 0) { x++; again = 1; break } }
        else if (k % 10 == 3) xs[x % 100] += k
        else x = (x * 29 + xs[k % 100]) % 1000003
      }
    if (!again) x++
  }
  print x, rounds - 1, xs[0], xs[99]
}')"

# 2,000 integers and 500 floats that are all alive at once, across a call too.
{
  echo "$number"
  awk 'BEGIN {
    print "func Step(x: int): int\n  return if x < 0 then Step(x + 1) else x * 3 rem 1009\nend\n\nfunc Main\n  let n := Number(0)\n  let f := float64(n)"
    for (k = 0; k < 2000; k++) printf "  let v%d := (n * %d + %d) rem 1009\n", k, k + 3, k * 7
    for (k = 0; k < 500; k++) printf "  let f%d := f * %d.0 + 0.5\n", k, k % 50
    print "  var sum := Step(v1999) + Step(v3)\n  var total := 0.0"
    for (k = 1999; k >= 0; k--) printf "  sum := (sum * 3 + v%d) rem 1000003\n", (k * 7) % 2000
    for (k = 499; k >= 0; k--) printf "  total += f%d\n", k
    print "  Print(\"{sum} {total} {v0} {v1000} {v1999}\")\nend"
  }'
} >"$work/values.mica"
runs values "$(awk 'BEGIN {
  n = 7
  for (k = 0; k < 2000; k++) v[k] = (n * (k + 3) + k * 7) % 1009
  sum = v[1999] * 3 % 1009 + v[3] * 3 % 1009
  for (k = 1999; k >= 0; k--) sum = (sum * 3 + v[(k * 7) % 2000]) % 1000003
  for (k = 0; k < 500; k++) total += n * (k % 50) + 0.5
  printf "%d %.1f %d %d %d\n", sum, total, v[0], v[1000], v[1999]
}')"

# A table of 3,000 cases, and one of 2,000 that lie far apart.
{
  echo "$number"
  awk 'BEGIN {
    print "func Dense(n: int): int\n  match n"
    for (k = 0; k < 3000; k++) printf "    case %d then return %d\n", k - 1500, (k * 37) % 1009
    print "    else return -1\n  end\nend\n\nfunc Sparse(n: int): int\n  match n"
    for (k = 0; k < 2000; k++) printf "    case %d then return %d\n", (k - 1000) * 1000003, (k * 41) % 1013
    print "    else return -1\n  end\nend\n\nfunc Main\n  let n := Number(0)\n  var a := 0\n  var b := 0"
    print "  for i in -1501 .. 1500 do\n    a := (a * 3 + Dense(i) + 1) rem 1000003\n  end"
    print "  for i in -1001 .. 1000 do\n    b := (b * 3 + Sparse(i * 1000003) + Sparse(i * 1000003 + 1) + 2) rem 1000003\n  end"
    print "  Print(\"{a} {b} {Dense(n)} {Sparse(n * 1000003)}\")\nend"
  }'
} >"$work/cases.mica"
runs cases "$(awk 'BEGIN {
  for (i = -1501; i <= 1500; i++) a = (a * 3 + (i >= -1500 && i < 1500 ? (i + 1500) * 37 % 1009 : -1) + 1) % 1000003
  for (i = -1001; i <= 1000; i++) b = (b * 3 + (i >= -1000 && i < 1000 ? (i + 1000) * 41 % 1013 : -1) - 1 + 2) % 1000003
  print a, b, 1507 * 37 % 1009, 1007 * 41 % 1013
}')"

# refuses NAME LINE WORDS: the build ends with status 1 and one message that says WORDS at LINE.
refuses() {
  local status
  timeout 60 "$obj/mica" build "$work/$1.mica" -o "$work/$1" >"$work/$1.out" 2>&1
  status=$?
  if [ $status = 1 ] && grep -qF "$3" "$work/$1.out" && grep -qF "$1.mica:$2:" "$work/$1.out"; then pass; else
    fail "$1: status $status"
    head -5 "$work/$1.out"
  fi
}
# A frame, a single value, one whose size needs 33 bits, one whose size needs 43, several that are too large together.
large() { printf 'func Large(n: int): int\n  var a: %s := %s\n  return n\nend\n\nfunc Main\n  Print(Large(1))\nend\n' "$2" "$3" >"$work/$1.mica"; }
large frame-2GiB 'array[268435456] of int' '[0 for i in 0 ..< 268435456]'
large frame-4GiB 'array[600000000] of int' '[0 for i in 0 ..< 600000000]'
large frame-8TB 'array[1000000000000] of int' '[0 for i in 0 ..< 1000000000000]'
large frame-nested 'array[70000] of array[70000] of byte' '[[0 for j in 0 ..< 70000] for i in 0 ..< 70000]'
printf 'func Large(n: int): int\n  var a: array[150000000] of int := [n for i in 0 ..< 150000000]\n  let b := a\n  a[n] := 1\n  return a[n] + b[n]\nend\n\nfunc Main\n  Print(Large(1))\nend\n' >"$work/frame-together.mica"
refuses frame-together 1 'the local values of `Large` take 2 GiB or more'
for name in frame-2GiB frame-4GiB frame-8TB frame-nested; do refuses $name 2 'takes 2 GiB or more'; done
echo "$passed passed, $failed failed"
[ $failed = 0 ]
