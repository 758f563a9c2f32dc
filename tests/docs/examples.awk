# Takes the examples out of a document: awk -v folder=FOLDER -f examples.awk DOCUMENT writes FOLDER/line-NNNN.mica for each block that
# begins with ```mica on line NNNN, with what stands in the blocks behind it as the comment lines that the harness reads
# (tests/harness/expectations.h). The convention is in tests/README.md.

function finish() {
  if (name != "") close(name)
  name = ""
}

# A line of an example. What stands behind its declarations becomes the body of Main.
function take(line, at) {
  if (!whole && !inBody && !inDeclaration && line ~ /^[^ ]/ && line !~ /^\/\//) {
    if (line ~ /^(pub )?(func|test) / || line ~ /^(pub )?type .*= (record|choice)$/) inDeclaration = 1
    else if (line !~ /^(import|const|pub|type|failure)( |$)/) {
      print "func Main fails any" > name
      inBody = 1
      bodyFrom = at
    }
  }
  if (line == "end") inDeclaration = 0
  print line > name
}

# `  example.mica:LINE:…` of a trap or an error, as a line of the test. The body lies a line lower there.
function lineOf(text) {
  sub(/.*example\.mica:/, "", text)
  sub(/:.*/, "", text)
  return lower(text)
}
function lower(line) { return line + (inBody && line + 0 >= bodyFrom) }

# At the opening of a block: `mica`, `mica NAME.mica`, `output`, …
function begin(info,   parts) {
  split(info, parts, " ")
  block = parts[1] == "" ? "text" : parts[1]
  which = parts[2]
  from = NR
  count = 0
}

# At the end of an example: one without `func Main` is wrapped.
function write(   i) {
  finish()
  name = folder "/" (which != "" ? which : sprintf("line-%04d.mica", from))
  whole = which != ""
  for (i = 1; i <= count; i++) if (lines[i] ~ /^func Main/) whole = 1
  inBody = inDeclaration = 0
  for (i = 1; i <= count; i++) take(lines[i], i)
  if (!whole) print inBody ? "end" : "func Main\nend" > name
}

/^```/ {
  if (block == "") begin(substr($0, 4))
  else {
    if (block == "mica") write()
    block = ""
  }
  next
}
block == "mica" { lines[++count] = $0 }
block == "output" { print "// expect: " $0 > name }
block == "trap" && /^trap: / { sentence = substr($0, 7) }
block == "trap" && /^  at / {
  place = $0
  sub(/.* in /, "in ", place)
  if (sentence != "") print "// trap " lineOf($0) ": " sentence > name
  else print "// error-output: .mica:" lineOf($0) ":" > name
  print "// error-output: " place > name
  sentence = ""
}
block == "failure" { print "// error-output: " $0 > name; print "// status: 1" > name }
block == "error" && /^error: / { sentence = substr($0, 8) }
block == "error" && /^  example\.mica:/ { print "// error " lineOf($0) ": " sentence > name }
block == "error" && /^ *= / {
  sub(/^ *= /, "")
  if (match($0, / at line [0-9]+/)) $0 = substr($0, 1, RSTART) "at line " lower(substr($0, RSTART + 9, RLENGTH - 9)) substr($0, RSTART + RLENGTH)
  print "// note: " $0 > name
}
block == "" && /^#/ { finish() }
END { finish() }
