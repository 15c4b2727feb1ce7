#!/usr/bin/env python3
"""check_format.py ROOT: fails when clang-format would change a file, or a line has more than 120 columns. Exit status 77 without
clang-format."""
import pathlib
import shutil
import subprocess
import sys

AREAS = ("include", "src", "mpi", "cuda", "test", "bench", "tools", "docs/examples")
SUFFIXES = (".h", ".hpp", ".cpp", ".c", ".inl", ".cu", ".cuh")
COLUMNS = 120


def main(root):
    files = sorted(f for area in AREAS for f in (root / area).rglob("*") if f.suffix in SUFFIXES)
    wide = [f"{file.relative_to(root)}:{number}: {len(line)} columns, the limit is {COLUMNS}"
            for file in files for number, line in enumerate(file.read_text().splitlines(), 1) if len(line) > COLUMNS]
    print("\n".join(wide), end="\n" if wide else "")
    if wide:
        return 1
    tool = shutil.which("clang-format")
    if tool is None:
        print("clang-format is not installed")
        return 77
    if subprocess.run([tool, "--style=file", "--dry-run", "-Werror", *files], cwd=root).returncode != 0:
        print("clang-format -i puts these right")
        return 1
    print(f"format: {len(files)} files are as {tool} has them")
    return 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(pathlib.Path(sys.argv[1]).resolve()))
