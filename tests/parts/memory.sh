# A program that trains for a million steps holds its memory constant, at every tier: memory.sh OBJ
obj=$1
work=$obj/memory
mkdir -p "$work"
passed=0 failed=0
for tier in debug checked release; do
  said=$("$obj/mica" build tests/parts/memory/steady.mica --tier $tier -o "$work/steady" && "$work/steady" 2>&1)
  if [ "$said" = steady ]; then
    passed=$((passed + 1))
  else
    echo "FAILED a million steps at the $tier tier: $said"
    failed=$((failed + 1))
  fi
done
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
