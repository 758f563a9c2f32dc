# What README.md and docs/*.md say: their examples do what stands beside them, their links lead somewhere, docs/language.md has the
# library's public functions, no more and no fewer, and tests/README.md the tests: docs.sh OBJ JOBS
obj=${1:?the folder of the build} jobs=${2:-2}
work=$PWD/$obj/docs
page=docs/language.md
rm -rf "$work" && mkdir -p "$work"
passed=0 failed=0
shopt -s lastpipe   # `… | check NAME` counts in this shell

# ---- examples ----

for document in README.md docs/*.md; do
  folder=$work/$(basename "$document" .md)
  mkdir -p "$folder"
  awk -v folder="$folder" -f tests/docs/examples.awk "$document"
done
"$obj/harness" --mica "$obj/mica" --jobs "$jobs" "rules:$work" >"$work/examples.log"
grep -vE '^[0-9]+ passed, ' "$work/examples.log"
read -r passed failed < <(sed -nE 's/^([0-9]+) passed, ([0-9]+) failed.*/\1 \2/p' "$work/examples.log")

check() {  # NAME: lines on standard input are what is wrong
  local wrong
  wrong=$(cat)
  if [ -z "$wrong" ]; then passed=$((passed + 1)); else failed=$((failed + 1)); printf 'FAILED %s\n%s\n' "$1" "$wrong"; fi
}

# ---- links ----

# The anchors of a document's headings, as they are made from their words.
anchors() {
  awk '/^```/ { inside = !inside } !inside && /^#+ / { sub(/^#+ /, ""); print tolower($0) }' "$1" | sed -E 's/[^a-z0-9 _-]//g; s/ /-/g'
}

links() {
  local document target path anchor
  for document in README.md docs/*.md tests/README.md tests/*/README.md; do
    awk '/^```/ { inside = !inside } !inside' "$document" | sed 's/`[^`]*`//g' | grep -oE '\]\([^)]+\)' | sed -E 's/^\]\(//; s/\)$//' | while read -r target; do
      case $target in http://* | https://*) continue ;; esac
      path=${target%%#*} anchor=${target#"$path"}
      path=${path:+$(dirname "$document")/$path}
      path=${path:-$document}
      if [ ! -e "$path" ]; then echo "$document: there is no $target"
      elif [ -n "$anchor" ] && ! anchors "$path" | grep -qxF -- "${anchor#\#}"; then echo "$document: $path has no heading for $anchor"
      fi
    done
  done
}
links | check "links"

# ---- the tests ----

diff <(sed -nE 's/^\| `([a-z0-9]+)\/`.*/\1/p' tests/README.md | sort) <(find tests -mindepth 1 -maxdepth 1 -type d -printf '%f\n' | sort) |
  sed -n "s/^< /there is no folder /p; s/^> /not described: /p" | check "the folders in tests/README.md"
sed -nE 's/^#   make ([a-z-]+).*/\1/p' tests/Makefile.inc | sort -u |
  while read -r target; do grep -qE "make $target\b" tests/README.md || echo "not described: make $target"; done | check "the commands in tests/README.md"

# ---- the library ----

# The public declarations of a module as the page writes them. Those with pointers are for the library alone.
public() {
  awk '/^@/ { attributes = $0; next }
       /^pub (func|type|failure) / {
         line = $0
         sub(/^pub /, "", line)
         if (attributes ~ /@fill/) { sub(/to: pointer, count: int, /, "", line); line = "@fill " line }
         if (line !~ /pointer/) print line
       }
       { attributes = "" }' "$1" | sort
}
documented() { awk -v module="$1" '$0 == "```library " module { inside = 1; next } /^```/ { inside = 0 } inside' "$page" | sort; }

for module in Args Bits Console Env Files Prelude Process Random Text Time; do
  diff <(documented $module) <(public src/rt/$module.mica) | sed -n "s/^< /documented, and not there: /p; s/^> /not documented: /p" | check "library $module"
done
diff <(documented Failures) <(public src/rt/Failures.mica | grep '^failure') | grep '^[<>]' | check "library Failures"
sed -nE 's/^```library (.*)/\1/p' "$page" | sort | uniq -d | check "each module stands once"

# ---- the operations of the language, and the vocabulary's page ----

{ grep -oE '\{"[A-Z][A-Za-z]*", Builtin::' src/frontend/builtins.cpp | sed -E 's/\{"(.*)".*/\1/'; echo Backward Gradient Detach Fma | tr ' ' '\n'; } |
  grep -vxE 'ToDevice|ToHost|Beside|CheckGradient|Share|Stream|Send|Receive|Close' |
  while read -r name; do grep -qE "\b$name\b" "$page" || echo "$page does not say what $name is"; done | check "operations"
diff <("$obj/mica" vocabulary) docs/vocabulary.md | head -5 | check "docs/vocabulary.md is what the compiler prints"

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
