#!/usr/bin/env python3
"""Adds up what gcov and the interpreter counted: report.py OBJ LINES

OBJ is a folder of object files built with --coverage, LINES a folder of files as `mica run --lines` writes them. Prints a table of files
for the compiler (src, C++) and one for the runtime (src/rt, Mica); OBJ/coverage.txt gets all of it and the lines and functions that nothing reached.
"""
import collections
import glob
import json
import os
import re
import subprocess
import sys


def compiler(obj):
    """{file: {line: reached}} and {(file, line): (name, reached)} of the C++ sources."""
    lines = collections.defaultdict(dict)
    functions = {}
    notes = glob.glob(obj + "/src/**/*.gcno", recursive=True)
    for start in range(0, len(notes), 20):
        out = subprocess.run(["gcov", "--json-format", "--stdout", "--demangled-names"] + notes[start:start + 20],
                             stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True).stdout
        for document in out.decode().splitlines():
            for file in json.loads(document)["files"] if document else []:
                name = os.path.normpath(file["file"])
                if not name.startswith("src/"):
                    continue
                for line in file["lines"]:
                    at = line["line_number"]
                    lines[name][at] = lines[name].get(at, False) or line["count"] > 0
                for f in file["functions"]:
                    key = (name, f["start_line"])
                    reached = f["execution_count"] > 0 or functions.get(key, ("", False))[1]
                    functions[key] = (f["demangled_name"], reached)
    return lines, functions


def functions_of(path):
    """(name, first line, last line) of each function of a Mica file in the canonical layout: its `end` is not indented."""
    found, name, first = [], None, 0
    for number, line in enumerate(open(path), 1):
        head = re.match(r"(?:@\w+(?:\([^)]*\))?\s+)*(?:pub\s+)?func\s+(\w+)", line)
        if head:
            name, first = head.group(1), number
        elif name and line.rstrip() == "end":
            found.append((name, first, number))
            name = None
    return found


def statements(path, first, last):
    """The lines between that hold something to execute, for a function that no program made code of."""
    text = open(path).read().splitlines()
    for number in range(first + 1, last):
        line = text[number - 1].strip()
        if line and not line.startswith("//") and not re.fullmatch(r"(end|else|loop do|[)\]},]+)", line):
            yield number


def runtime(folder):
    lines = collections.defaultdict(dict)
    for path in glob.glob(folder + "/*"):
        for record in open(path):
            place, _, count = record.rpartition(" ")
            name, _, line = place.rpartition(":")
            if name.startswith("library/"):
                of = lines["src/rt/" + name[len("library/"):]]
                of[int(line)] = of.get(int(line), False) or int(count) > 0
    functions = {}
    for path in sorted(glob.glob("src/rt/*.mica")):
        of = lines[path]
        for name, first, last in functions_of(path):
            inside = [n for n in of if first <= n <= last]
            if not inside:
                for n in statements(path, first, last):
                    of[n] = False
            functions[path, first] = (name, any(of[n] for n in inside))
    return lines, functions


def ranges(numbers):
    parts, numbers = [], sorted(numbers)
    while numbers:
        length = 1
        while length < len(numbers) and numbers[length] == numbers[0] + length:
            length += 1
        parts.append(str(numbers[0]) if length == 1 else f"{numbers[0]}-{numbers[length - 1]}")
        numbers = numbers[length:]
    return " ".join(parts)


def table(title, lines):
    rows, all_reached, all_lines = [], 0, 0
    for name in sorted(lines):
        reached, count = sum(lines[name].values()), len(lines[name])
        if count:
            rows.append(f"{reached:6} of {count:6}  {100 * reached / count:5.1f} %  {name}")
        all_reached, all_lines = all_reached + reached, all_lines + count
    total = f"{title}: {all_reached} of {all_lines} lines, {100 * all_reached / max(all_lines, 1):.1f} %"
    return rows, total


def main():
    obj, folder = sys.argv[1:]
    detail, totals = [], []
    for title, (lines, functions) in (("compiler", compiler(obj)), ("runtime", runtime(folder))):
        rows, total = table(title, lines)
        print("\n".join(rows))
        totals.append(total)
        detail += rows + [total, "", "functions that nothing reached:"]
        detail += [f"  {file}:{line} {name}" for (file, line), (name, reached) in sorted(functions.items()) if not reached]
        detail += ["", "lines that nothing reached:"]
        detail += [f"  {name}: {ranges(missing)}" for name in sorted(lines) if (missing := [n for n in lines[name] if not lines[name][n]])]
        detail.append("")
    with open(obj + "/coverage.txt", "w") as out:
        out.write("\n".join(detail + totals) + "\n")
    print("\n".join(totals))
    print(f"functions and lines that nothing reached: {obj}/coverage.txt")


main()
