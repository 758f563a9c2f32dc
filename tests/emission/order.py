#!/usr/bin/env python3
"""Calls of which two arguments emit IR, in the sources given: order.py FILE…

C++ leaves it to the compiler which argument is computed first, and g++ and clang++ choose differently: then the compiler that the one built emits
other bytes than the compiler that the other built. Arguments in braces are computed from left to right and are fine, and so is a name given to one of
them before the call. Prints a line for each such call; exits with 1 when there is one.

A function emits when its text calls the builder (`b().` or `b.`) or another function that emits. Functions are told apart by name only."""
import re
import sys

KEYWORDS = {"if", "for", "while", "switch", "return", "sizeof", "catch", "assert"}
# Of the builder, what only reads: which block, which type.
BUILDER = re.compile(r"\bb(\(\))?\.(?!block\b|current\b|function\b|setBlock\b|param\b|typeOf\b)\w+\(")
CALL = re.compile(r"(?<![\w~])([A-Za-z_]\w*)\(")
# A call that may emit: not one of the tables of types and declarations, which have functions of the same names.
EMITTING = re.compile(r"(?<![\w~])(?<!\bl\.)(?<!\btypes\.)(?<!\bprogram\.)([A-Za-z_]\w*)\(")


def end_of(text, start):
    """The position behind the bracket that closes the one before `start`."""
    depth, i, quote = 1, start, None
    while i < len(text) and depth:
        c = text[i]
        if quote:
            if c == "\\":
                i += 1
            elif c == quote:
                quote = None
        elif c == '"' or (c == "'" and not text[i - 1].isalnum()):
            quote = c
        elif c in "([{":
            depth += 1
        elif c in ")]}":
            depth -= 1
        i += 1
    return i


def arguments(text):
    parts, depth, quote, part = [], 0, None, ""
    for i, c in enumerate(text):
        if quote:
            quote = None if c == quote and text[i - 1] != "\\" else quote
        elif c == '"':
            quote = c
        elif c in "([{":
            depth += 1
        elif c in ")]}":
            depth -= 1
        if c == "," and depth == 0 and not quote:
            parts.append(part)
            part = ""
        else:
            part += c
    return parts + [part]


def definitions(text):
    """Names and bodies of the functions and named lambdas of a file."""
    for m in CALL.finditer(text):
        if m.group(1) in KEYWORDS:
            continue
        after = re.match(r"(\s*(const|override|noexcept))*\s*\{", text[end_of(text, m.end()):])
        if after:
            body = end_of(text, m.end()) + after.end()
            yield m.group(1), text[body:end_of(text, body)]
    for m in re.finditer(r"\bauto (\w+) = \[[^\]]*\]\s*(\([^()]*\))?[^{;]*\{", text):
        yield m.group(1), text[m.end():end_of(text, m.end())]


def emitters(files):
    bodies = {}
    for text in files.values():
        for name, body in definitions(text):
            bodies[name] = bodies.get(name, "") + body
    known = {name for name, body in bodies.items() if BUILDER.search(body)}
    while True:
        more = {name for name, body in bodies.items() if name not in known and any(m.group(1) in known for m in EMITTING.finditer(body))}
        if not more:
            return known
        known |= more


def emits(argument, known):
    if re.match(r"\s*\[[^\]]*\]", argument):      # a lambda is not called here
        return False
    return bool(BUILDER.search(argument)) or any(m.group(1) in known for m in EMITTING.finditer(argument))


def main(paths):
    files = {path: re.sub(r"//[^\n]*", lambda m: " " * len(m.group()), open(path, encoding="utf-8").read()) for path in paths}
    known, found = emitters(files), 0
    for path, text in files.items():
        for m in CALL.finditer(text):
            if m.group(1) in KEYWORDS:
                continue
            inside = text[m.end():end_of(text, m.end()) - 1]
            if sum(emits(a, known) for a in arguments(inside)) > 1:
                print(f"{path}:{text.count(chr(10), 0, m.start()) + 1}: {m.group(1)}({' '.join(inside.split())[:120]})")
                found += 1
    return 1 if found else 0


sys.exit(main(sys.argv[1:]))
