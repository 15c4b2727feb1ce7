#!/usr/bin/env python3
"""check_functions.py ROOT [LIMIT]: fails when a function is longer than LIMIT lines (60), from its opening brace to its closing one.

Counts by braces: those of namespaces, classes and initialisers are looked through, a lambda belongs to the function it is in."""
import pathlib
import re
import sys

AREAS = ("src", "mpi", "cuda", "include", "bench", "tools", "docs/examples")
SUFFIXES = (".h", ".hpp", ".cpp", ".c", ".inl", ".cu", ".cuh")
NOISE = re.compile(r'''//[^\n]*|/\*.*?\*/|R"(?P<tag>[^(\s]*)\(.*?\)(?P=tag)"|"(?:\\.|[^"\\\n])*"|(?<!\w)'(?:\\.|[^'\\\n])+'|^[ \t]*\#(?:\\\n|[^\n])*''', re.S | re.M)
TYPE_HEAD = re.compile(r"\b(namespace|class|struct|union|enum)\b|\bextern\s*$")
AFTER_PARAMETERS = re.compile(r"\)\s*((const|noexcept|override|final|mutable|requires\b[^;{}]*|->[^;{}]*|:[^;{}]*)\s*)*$")


def blank(match):
    """Nothing in the way of counting braces, but every line's end."""
    return " " + "\n" * match.group(0).count("\n")


def functions(text):
    """(first line, last line, head) of each function."""
    code = NOISE.sub(blank, text)
    stack, line, head_begin = [], 1, 0
    for at, c in enumerate(code):
        if c == "\n":
            line += 1
        elif c == ";" and not any(kind == "function" for kind, _, _ in stack):
            head_begin = at + 1
        elif c == "{":
            head = " ".join(code[head_begin:at].split())
            inside = any(kind == "function" for kind, _, _ in stack)
            opens = not inside and "(" in head and (AFTER_PARAMETERS.search(head) or not TYPE_HEAD.search(head))
            stack.append(("function" if opens else "block", line, head))
            head_begin = head_begin if inside or opens else at + 1
        elif c == "}" and stack:
            kind, first, head = stack.pop()
            if kind == "function":
                yield first, line, head
            if not any(k == "function" for k, _, _ in stack):
                head_begin = at + 1


def main(root, limit):
    longest, found, count = 0, [], 0
    for file in sorted(f for area in AREAS for f in (root / area).rglob("*") if f.suffix in SUFFIXES):
        for first, last, head in functions(file.read_text()):
            lines = last - first + 1
            longest, count = max(longest, lines), count + 1
            if lines > limit:
                found.append(f"{file.relative_to(root).as_posix()}:{first}: {lines} lines, the limit is {limit}: {head[-80:]}")
    print("\n".join(found) or f"functions: {count}, the longest has {longest} lines")
    return 1 if found else 0


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    sys.exit(main(pathlib.Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) == 3 else 60))
