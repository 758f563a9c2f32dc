# The runtime's kernels against the stated orders, bit by bit, with different numbers of threads: orders.sh OBJ
obj=$1
mkdir -p "$obj/orders"
for tier in debug release; do
  "$obj/mica" build tests/orders/kernels.mica --tier $tier -o "$obj/orders/kernels-$tier" || { echo "0 passed, 1 failed"; exit 1; }
  [ $tier = debug ] && threads=1 || threads=3
  printf '#!/bin/sh\nMICA_THREADS=%s exec "%s"\n' $threads "$PWD/$obj/orders/kernels-$tier" >"$obj/orders/$tier"
  chmod +x "$obj/orders/$tier"
done
exec "$obj/kernels" "$obj/orders/debug" "$obj/orders/release"
