#!/usr/bin/env bash
# How the time to check and to build grows when a source doubles: growth.sh OBJ [NAME...]
# Prints seconds of processor time at the sizes n and 2n and their ratio: about 2 where time is linear.
obj=$1
shift
only=${*:-}
. tests/stress/cases.sh
work=$obj/stress-growth
mkdir -p "$work"
ulimit -t 120 -v 12000000
TIMEFORMAT='%U %S'

# cpu COMMAND...: seconds of processor time, and a mark when it ended by a signal
cpu() {
  local used
  used=$({ time "$@" >"$work/out" 2>&1; echo "status $?" >"$work/status"; } 2>&1)
  awk -v used="$used" -v status="$(cut -d' ' -f2 "$work/status")" 'BEGIN { split(used, u, " "); printf "%.2f%s", u[1] + u[2], (status > 1 ? "!" status : "") }'
}

report() {   # NAME WAY AT-N AT-2N
  awk -v name="$1" -v way="$2" -v a="$3" -v b="$4" 'BEGIN { printf("%-20s %-8s %8s %8s  %.1f\n", name, way, a, b, (b + 0) / (a + 0 > 0.005 ? a : 0.005)) }'
}

printf '%-20s %-8s %8s %8s  %s\n' source way n 2n ratio
echo "$cases" | while read -r name n status build; do
  [ -n "$name" ] || continue
  case " $only " in "  " | *" $name "*) ;; *) continue ;; esac
  "source_$name" "$n" >"$work/n.mica"
  "source_$name" $((2 * n)) >"$work/2n.mica"
  report "$name" check "$(cpu "$obj/mica" check "$work/n.mica")" "$(cpu "$obj/mica" check "$work/2n.mica")"
  [ -n "$build" ] || continue
  for tier in debug checked; do
    report "$name" $tier "$(cpu "$obj/mica" build --tier $tier "$work/n.mica" -o "$work/n")" "$(cpu "$obj/mica" build --tier $tier "$work/2n.mica" -o "$work/n")"
  done
done
