# Sources that are deep, long or hostile. A row of `cases`: the name, the size, what `mica check` answers (0: a program, 1: a message), and
# for programs `build` when they are also built at every tier. `source_NAME N` writes that source of size N to standard output.
# Used by tests/parts/stress.sh and tests/stress/growth.sh.

cases='
sum                100000 0 build
nested_sum         100000 1
brackets           100000 1
square_brackets    100000 1
braces             100000 1
open_brackets      100000 1
closed_brackets    100000 1
minus_signs        100000 1
not_words          100000 1
operators          100000 1
and_chain          50000 0 build
compare_chain      100000 1
dots               100000 1
calls              100000 1
indices            100000 1
question_marks     100000 1
lists_of_lists     100000 1
func_types         100000 1
digits             1000000 1
float_digits       1000000 0 build
long_name          1000000 0 build
one_line           400000 0
long_comment       10000000 0
long_string        5000000 0 build
open_string        5000000 1
open_raw           5000000 1
open_interpolation 100000 1
blank_lines        5000000 0
cr_lf              100000 0
bom                1000 0
nul                100000 1
bad_utf8           100000 1
wrong_signs        100000 1
errors             100000 1
unknown_names      100000 1
parts              50000 0 build
nested_parts       10000 1
list_literal       100000 0 build
float_list         100000 0 build
string_list        50000 0 build
map_literal        20000 0 build
set_literal        20000 0 build
vector_literal     100000 0 build
matrix_literal     1000 0 build
functions          100000 0
called_functions   10000 0 build
call_chain         20000 0 build
back_calls         5000 0 build
instances          3000 0 build
parameters         1000 0 build
statements         100000 0 build
locals             100000 0 build
live_locals        5000 0 build
owners             10000 0 build
blocks_in_row      10000 0 build
deep_ifs           900 0 build
too_deep_ifs       100000 1
else_ifs           5000 0 build
elifs              10000 0 build
match_arms         10000 0 build
match_strings      5000 0 build
match_choices      5000 0 build
loops_in_row       10000 0 build
deep_loops         100 0 build
closures           3000 0 build
deep_closures      100 0 build
failures           2000 0 build
attempts           5000 0 build
redeclared         100000 1
shadows            900 0 build
fields             5000 0 build
choice_cases       10000 0 build
nested_records     5000 0 build
nested_lists       900 0
record_ring        5000 1
choice_ring        5000 1
tuple_ring         5000 1
optional_ring      5000 1
array_ring         5000 1
alias_ring         5000 1
list_ring          5000 0
box_ring           5000 0
generic_ring       5000 1
const_chain        20000 0 build
const_ring         5000 1
const_backwards    20000 1
doubling_records   60 1
doubling_tuples    40 1
doubling_arrays    70 1
doubling_strings   60 1
extent_product     40 1
extent_power       200 1
growing_function   1 1
growing_tuple      1 1
growing_type       1 1
growing_extent     1 1
tape_steps         3000 0 build
products           5000 0 build
shape_names        1000 0 build
tests_in_row       5000 0
'

# rows N AWK: the AWK program's text for i from 1 to N.
rows() { awk -v n="$1" "BEGIN { for (i = 1; i <= n; i++) { $2 } }"; }
many() { awk -v n="$1" -v t="$2" 'BEGIN { s = t; out = ""; while (n > 0) { if (n % 2) out = out s; s = s s; n = int(n / 2) } printf "%s", out }'; }
main() { printf 'func Main\n'; cat; printf 'end\n'; }
printed() { printf '  Print('; cat; printf ')\n'; }

source_sum() { { printf '  let x := 1'; many "$1" ' + 1'; printf '\n  Print(x)\n'; } | main; }
source_nested_sum() { { many "$1" '(1 + '; printf 1; many "$1" ')'; } | printed | main; }
source_brackets() { { many "$1" '('; printf 1; many "$1" ')'; } | printed | main; }
source_square_brackets() { { many "$1" '['; printf 1; many "$1" ']'; } | printed | main; }
source_braces() { { many "$1" '{'; printf 1; many "$1" '}'; } | printed | main; }
source_open_brackets() { many "$1" '('; many "$1" '['; many "$1" '{'; }
source_closed_brackets() { many "$1" ')'; many "$1" ']'; many "$1" '}'; }
source_minus_signs() { { many "$1" '- '; printf 1; } | printed | main; }
source_not_words() { { many "$1" 'not '; printf true; } | printed | main; }
source_operators() { { printf 1; many "$1" ' + * / .* ./ div mod <> = <= .. ..< +% := += shl band in and or not'; } | printed | main; }
source_and_chain() { { printf '  let t := true\n  Print(t'; many "$1" ' and t'; printf ')\n'; } | main; }
source_compare_chain() { { printf 1; many "$1" ' < 1'; } | printed | main; }
source_dots() { { printf '  let a := 1\n  Print(a'; many "$1" '.a'; printf ')\n'; } | main; }
source_calls() { { printf '  let a := 1\n  Print(a'; many "$1" '()'; printf ')\n'; } | main; }
source_indices() { { printf '  let a := [1]\n  Print(a'; many "$1" '[0]'; printf ')\n'; } | main; }
source_question_marks() { printf 'func F(x: int'; many "$1" '?'; printf ')\nend\n'; main </dev/null; }
source_lists_of_lists() { printf 'func F(x: '; many "$1" 'list of '; printf 'int)\nend\n'; main </dev/null; }
source_func_types() { printf 'func F(x: '; many "$1" 'func('; many "$1" ')'; printf ')\nend\n'; main </dev/null; }
source_digits() { many "$1" 9 | printed | main; }
source_float_digits() { { printf 0.; many "$1" 7; } | printed | main; }
source_long_name() { { printf '  let n'; many "$1" 'a'; printf ' := 1\n  Print(n'; many "$1" 'a'; printf ')\n'; } | main; }
source_one_line() { printf 'func Main; '; many "$1" 'Print("aaaaaaaaaaaaaa"); '; printf 'end\n'; }
source_long_comment() { printf '//'; many "$1" x; printf '\n'; echo 'Print(1)' | main; }
source_long_string() { { printf '"'; many "$1" s; printf '"'; } | printed | main; }
source_open_string() { printf 'func Main\n  Print("'; many "$1" s; printf '\nend\n'; }
source_open_raw() { printf 'func Main\n  Print("""'; many "$1" 's\n'; printf '\nend\n'; }
source_open_interpolation() { printf 'func Main\n  Print('; many "$1" '"{'; printf '\nend\n'; }
source_blank_lines() { many "$1" '\n'; echo 'Print(1)' | main; }
source_cr_lf() { printf 'func Main\r\n'; many "$1" '  Print(1)   // one\r\n'; printf 'end\r\n'; }
source_bom() { printf '\357\273\277func Main\n'; many "$1" '  Print(1)\n'; printf 'end\n'; }
source_nul() { printf 'func Main\n'; head -c "$1" /dev/zero; printf 'end\n'; }
source_bad_utf8() { printf 'func Main\n  Print("'; many "$1" x; printf '\377\376\200")\nend\n'; }
source_wrong_signs() { many "$1" '$ # \\ ~ '; }
source_errors() { many "$1" '  let := )\n' | main; }
source_unknown_names() { rows "$1" 'print "  Nowhere" i "(x" i ")"' | main; }
source_parts() { { printf '  let x := 1\n  Print(Length("'; many "$1" 'a{x}'; printf '"))\n'; } | main; }
source_nested_parts() { { many "$1" '"{'; printf 1; many "$1" '}"'; } | printed | main; }
source_list_literal() { { printf '  let xs := [1'; rows "$1" 'printf ", %d", i'; printf ']\n  Print(Length(xs))\n'; } | main; }
source_float_list() { { printf '  let xs := [1.5'; rows "$1" 'printf ", %d.25", i'; printf ']\n  Print(Length(xs))\n'; } | main; }
source_string_list() { { printf '  let xs := ["a"'; rows "$1" 'printf ", \"s%d\"", i'; printf ']\n  Print(Length(xs))\n'; } | main; }
source_map_literal() { { printf '  let xs := {0: 1'; rows "$1" 'printf ", %d: %d", i, i'; printf '}\n  Print(Length(xs))\n'; } | main; }
source_set_literal() { { printf '  let xs := {0'; rows "$1" 'printf ", %d", i'; printf '}\n  Print(Length(xs))\n'; } | main; }
source_vector_literal() { { printf '  let xs: vector[?] := [1'; rows "$1" 'printf ", %d", i'; printf ']\n  Print(xs[0])\n'; } | main; }
source_matrix_literal() { { printf '  let xs: matrix[?, 100] := ['; rows "$1" 'printf (i > 1 ? ", [0" : "[0"); for (k = 1; k < 100; k++) printf ", %d", k; printf "]"'; printf ']\n  Print(xs[0, 0])\n'; } | main; }
source_functions() { rows "$1" 'print "func F" i "(x: int): int\n  return x + " i "\nend"'; printf '  Print(F1(1) + F%d(2))\n' "$1" | main; }
source_called_functions() { rows "$1" 'print "func F" i "(x: int): int\n  return x + " i "\nend"'; rows "$1" 'print "  x := F" i "(x)"' | { printf '  var x := 1\n'; cat; printf '  Print(x)\n'; } | main; }
source_call_chain() { rows "$1" 'print "func F" i "(x: int): int\n  return F" i + 1 "(x) + 1\nend"'; printf 'func F%d(x: int): int\n  return x\nend\n' $(($1 + 1)); printf '  Print(F%d(2))\n' $(($1 - 100)) | main; }
source_back_calls() { printf 'func F0(x: int): int\n  return x\nend\n'; rows "$1" 'print "func F" i "(x: int): int\n  return F" i - 1 "(x) + 1\nend"'; printf '  Print(F100(2) + (if 1 = 1 then 1 else F%d(1)))\n' "$1" | main; }
source_instances() { printf 'func Same[T](move x: T): T\n  return x\nend\n'; rows "$1" 'print "type R" i " = record\n  x: int\nend"'; rows "$1" 'print "  let a" i " := Same(R" i "(x: " i "))"' | { cat; printf '  Print(a1.x)\n'; } | main; }
source_parameters() { printf 'func F('; rows "$1" 'printf (i > 1 ? ", a%d: int" : "a%d: int"), i'; printf '): int\n  return a1'; rows "$1" 'printf " + a%d", i'; printf '\nend\n'; { printf 'F('; rows "$1" 'printf (i > 1 ? ", %d" : "%d"), i'; printf ')'; } | printed | main; }
source_statements() { { printf '  var x := 0\n'; rows "$1" 'print "  x += " i % 7'; printf '  Print(x)\n'; } | main; }
source_locals() { { rows "$1" 'print "  let a" i " := " i'; printf '  Print(a%d)\n' "$1"; } | main; }
source_live_locals() { { printf '  var a0 := 1\n'; rows "$1" 'print "  var a" i " := a" i - 1 " * 3 mod 1000"'; printf '  Print(a0'; rows "$1" 'printf " + a%d", i'; printf ')\n'; } | main; }
source_owners() { { rows "$1" 'print "  let a" i " := [" i ", 2]"'; printf '  Print(a%d[0])\n' "$1"; } | main; }
source_blocks_in_row() { { printf '  var x := 0\n'; rows "$1" 'print "  if x mod " i + 1 " = 0 then\n    x += 1\n  else\n    x += 2\n  end"'; printf '  Print(x)\n'; } | main; }
source_deep_ifs() { { printf '  let x := 1\n'; many "$1" '  if x = 1 then\n'; printf '  Print(x)\n'; many "$1" '  end\n'; } | main; }
source_too_deep_ifs() { source_deep_ifs "$1"; }
source_else_ifs() { { printf '  let x := 7\n  let y := 0'; rows "$1" 'print ""; printf "  let b%d := if x = %d then 1 else if x = 7 then 2 else 3", i, i'; printf '\n  Print(b1)\n'; } | main; }
source_elifs() { { printf '  let x := 7\n  if x = 0 then\n    Print(0)\n'; rows "$1" 'print "  elif x = " i " then\n    Print(" i ")"'; printf '  end\n'; } | main; }
source_match_arms() { { printf '  let x := 7\n  match x\n'; rows "$1" 'print "    case " i " then Print(" i ")"'; printf '    else Print(0)\n  end\n'; } | main; }
source_match_strings() { { printf '  let x := "s7"\n  match x\n'; rows "$1" 'print "    case \"s" i "\" then Print(" i ")"'; printf '    else Print(0)\n  end\n'; } | main; }
source_match_choices() { { printf 'type C = choice\n'; rows "$1" 'print "  C" i "(x: int)"'; printf 'end\n'; }; { printf '  let x := C.C7(3)\n  match x\n'; rows "$1" 'print "    case C" i "(y) then Print(y)"'; printf '  end\n'; } | main; }
source_loops_in_row() { { printf '  var x := 0\n'; rows "$1" 'print "  for i in 0 ..< 3 do\n    x += i\n  end"'; printf '  Print(x)\n'; } | main; }
source_deep_loops() { { printf '  var x := 0\n'; rows "$1" 'print "  for i" i " in 0 ..< 1 do"'; printf '  x += 1\n'; many "$1" '  end\n'; printf '  Print(x)\n'; } | main; }
source_closures() { printf 'func Apply(f: func(int): int, x: int): int\n  return f(x)\nend\n'; { printf '  var x := 0\n'; rows "$1" 'print "  x := Apply((a) => a + x + " i ", x) mod 1000"'; printf '  Print(x)\n'; } | main; }
source_deep_closures() { printf 'func Apply(f: func(int): int, x: int): int\n  return f(x)\nend\n'; { rows "$1" 'printf "Apply((a%d) => a%d + ", i, i'; printf 1; rows "$1" 'printf ", %d)", i'; } | printed | main; }
source_failures() { rows "$1" 'print "failure E" i "(x: int) = \"{x}\""'; rows "$1" 'print "func F" i "(x: int) fails E" i "\n  if x = " i " then\n    fail E" i "(x: x)\n  end\nend"'; { printf '  attempt\n'; rows "$1" 'print "    try F" i "(7)"'; printf '  recover e: any\n    Print(e)\n  end\n'; } | main; }
source_attempts() { printf 'failure E\nfunc F(x: int) fails E\n  if x = 0 then\n    fail E\n  end\nend\n'; rows "$1" 'print "  attempt\n    try F(" i ")\n  recover e: E\n    Print(0)\n  end"' | main; }
source_redeclared() { { printf '  let x := 0\n'; rows "$1" 'print "  let x := x + 1"'; printf '  Print(x)\n'; } | main; }
source_shadows() { { printf '  let x := 0\n'; rows "$1" 'print "  if x >= 0 then\n  let x := x + 1"'; printf '  Print(x)\n'; many "$1" '  end\n'; } | main; }
source_fields() { printf 'type R = record\n'; rows "$1" 'print "  f" i ": int := " i'; printf 'end\n'; { printf '  let r := R()\n  Print(r.f%d)\n  Print(r = r)\n' "$1"; } | main; }
source_choice_cases() { printf 'type C = choice\n'; rows "$1" 'print "  C" i "(x: int)"'; printf 'end\n'; printf '  Print(C.C7(3))\n' | main; }
source_nested_records() { printf 'type A0 = record\n  x: int\nend\n'; rows "$1" 'print "type A" i " = record\n  a: A" i - 1 "\nend"'; printf 'func F(x: A%d)\n  Print(x)\nend\n' "$1"; printf '  Print(1)\n' | main; }
source_nested_lists() { printf 'func F(x: '; many "$1" 'list of '; printf 'int)\n  Print(x)\n  let y := Copy(x)\nend\n'; printf '  Print(1)\n' | main; }
ring() { rows "$1" "printf \"type A%d = $2\\n\", i, i % n + 1"; printf '  Print(1)\n' | main; }
source_record_ring() { ring "$1" 'record\n  a: A%d\nend'; }
source_choice_ring() { ring "$1" 'choice\n  C(a: A%d)\n  D\nend'; }
source_tuple_ring() { ring "$1" '(int, A%d)'; }
source_optional_ring() { ring "$1" 'record\n  a: A%d?\nend'; }
source_array_ring() { ring "$1" 'record\n  a: array[2] of A%d\nend'; }
source_alias_ring() { ring "$1" 'A%d'; }
source_list_ring() { ring "$1" 'record\n  a: list of A%d\nend'; }
source_box_ring() { ring "$1" 'record\n  a: (box A%d)?\nend'; }
source_generic_ring() { rows "$1" 'print "type A" i "[T] = record\n  a: A" i % n + 1 "[T]\nend"'; printf 'func F(x: A1[int])\nend\n'; printf '  Print(1)\n' | main; }
source_const_chain() { printf 'const\n  C0 = 1\n'; rows "$1" 'print "  C" i " = C" i - 1 " + 1"'; printf '  Print(C%d)\n' "$1" | main; }
source_const_ring() { printf 'const\n'; rows "$1" 'print "  C" i " = C" i % n + 1 " + 1"'; printf '  Print(C1)\n' | main; }
source_const_backwards() { printf 'const\n'; rows "$1" 'print "  C" i " = C" i + 1 " + 1"'; printf '  C%d = 1\n' $(($1 + 1)); printf '  Print(C1)\n' | main; }
source_doubling_records() { printf 'type A0 = record\n  x: int\nend\n'; rows "$1" 'print "type A" i " = record\n  a, b: A" i - 1 "\nend"'; printf 'func F(x: A%d)\n  Print(x)\nend\n' "$1"; printf '  let f := F\n  Print(1)\n' | main; }
source_doubling_tuples() { printf 'type A0 = (int, int)\n'; rows "$1" 'print "type A" i " = (A" i - 1 ", A" i - 1 ")"'; printf 'func F(x: A%d)\n  Print(x)\nend\n' "$1"; printf '  let f := F\n  Print(1)\n' | main; }
source_doubling_arrays() { printf 'type A0 = array[2] of int\n'; rows "$1" 'print "type A" i " = array[2] of A" i - 1'; printf 'func F(x: A%d)\n  var y := Copy(x)\n  F(y)\nend\n' "$1"; printf '  let f := F\n  Print(1)\n' | main; }
source_doubling_strings() { printf 'const\n  C0 = "ab"\n'; rows "$1" 'print "  C" i " = C" i - 1 " + C" i - 1'; printf '  Print(Length(C%d))\n' "$1" | main; }
source_extent_product() { printf 'func F['; rows "$1" 'printf (i > 1 ? ", N%d" : "N%d"), i'; printf '](x: vector['; rows "$1" 'printf (i > 1 ? " * (N%d + 1)" : "(N%d + 1)"), i'; printf '])\n  Print(1)\nend\n'; printf '  Print(1)\n' | main; }
source_extent_power() { printf 'func F[N, M](x: vector[N], y: vector[M], z: vector[1'; many "$1" ' * (N + M)'; printf '])\n  Print(1)\nend\n'; printf '  Print(1)\n' | main; }
source_growing_tuple() { printf 'func F[T: Copyable](x: T): int\n  return F((Copy(x), Copy(x)))\nend\n'; printf '  Print(F(1))\n' | main; }
source_growing_function() { printf 'func F[T](x: T): int\n  return F([1]) + F[list of T]([])\nend\n'; printf '  Print(F(1))\n' | main; }
source_growing_type() { printf 'type R[T] = record\n  x: T\n  next: list of R[list of T]\nend\nfunc F(r: R[int])\n  Print(Length(r.next))\nend\n'; printf '  F(R(x: 1, next: []))\n' | main; }
source_growing_extent() { printf 'func F[N](x: array[N] of int): int\n  let y: array[N + 1] of int := [0 for i in 0 ..< N + 1]\n  return F(y)\nend\n'; printf '  Print(F([1, 2]))\n' | main; }
source_tape_steps() { { printf '  var x: tracked vector[3] := [1, 2, 3]\n  tape\n    var y := x .* 1\n'; rows "$1" 'print "    y := y .* x + x"'; printf '    Backward(Sum(y))\n    Print(Gradient(x))\n  end\n'; } | main; }
source_products() { { printf '  let a: matrix[3, 3] := [[1, 2, 3], [4, 5, 6], [7, 8, 9]]\n  var b := Copy(a)\n'; rows "$1" 'print "  b := a * b"'; printf '  Print(b[0, 0] > 0)\n'; } | main; }
source_shape_names() { printf 'func F['; rows "$1" 'printf (i > 1 ? ", N%d" : "N%d"), i'; printf ']('; rows "$1" 'printf (i > 1 ? ", x%d: vector[N%d]" : "x%d: vector[N%d]"), i, i'; printf '): int\n  return N1'; rows "$1" 'printf " + N%d", i'; printf '\nend\n'; { printf '  let v: vector[2] := [1, 2]\n  Print(F('; rows "$1" 'printf (i > 1 ? ", v" : "v")'; printf '))\n'; } | main; }
source_tests_in_row() { rows "$1" 'print "test \"t" i "\"\n  assert 1 = 1, \"one\"\nend"'; printf '  Print(1)\n' | main; }
