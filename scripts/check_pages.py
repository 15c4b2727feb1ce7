#!/usr/bin/env python3
"""check_pages.py ROOT: fails when a page of docs/guide names a file that is not there, links to nothing, or is missing in index.md."""
import pathlib
import re
import sys

# A file or a folder in backquotes, by its path from the root: `src/runtime/worker.cpp`, `mpi/`.
FILE = re.compile(r"`((?:include|src|mpi|cuda|cmake|test|bench|docs|scripts|tools)/[\w./-]*)`")
LINK = re.compile(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)")


def problems(root):
    guide = root / "docs" / "guide"
    index = (guide / "index.md").read_text()
    for page in sorted(guide.glob("*.md")):
        name, text = page.relative_to(root).as_posix(), page.read_text()
        yield from (f"{name}: names {file}, which is not there" for file in FILE.findall(text) if not (root / file).exists())
        yield from (f"{name}: links to {link}, which is not there" for link in LINK.findall(text)
                    if not (page.parent / link).exists())
        if page.name != "index.md" and f"]({page.name})" not in index:
            yield f"{name}: index.md does not list it"


def main(root):
    found = list(problems(root))
    print("\n".join(found) or "pages ok")
    return 1 if found else 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(pathlib.Path(sys.argv[1])))
