#!/usr/bin/env python3
"""check_words.py ROOT: fails for notes of unfinished work, merge leftovers and paths of one machine, in any text file of the tree."""
import pathlib
import re
import sys

SKIPPED = {".git", "build"}
UNFINISHED = re.compile(r"\b(" + "|".join(("TO" + "DO", "FIX" + "ME", "X" + "XX")) + r")\b")
LEFTOVER = re.compile(r"^(<{7} |={7}$|>{7} )", re.M)
# Homes, scratch and mounts; a program's documentation may name what is the same everywhere, such as /dev/null or /usr/lib.
MACHINE = re.compile(r"(?<![\w./$}>])/(home|root|work|tmp|mnt|data|Users|scratch)/[\w.-]+")


def problems(path, text):
    for pattern, what in ((UNFINISHED, "unfinished work"), (LEFTOVER, "a leftover of a merge"), (MACHINE, "a path of one machine")):
        for match in pattern.finditer(text):
            line = text.count("\n", 0, match.start()) + 1
            yield f"{path}:{line}: {what}: {match.group(0).strip()}"


def texts(root):
    for file in sorted(root.rglob("*")):
        path = file.relative_to(root)
        if not file.is_file() or SKIPPED & set(path.parts):
            continue
        try:
            yield path.as_posix(), file.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue  # no text


def main(root):
    found = [problem for path, text in texts(root) for problem in problems(path, text)]
    print("\n".join(found) or "words ok")
    return 1 if found else 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(pathlib.Path(sys.argv[1])))
