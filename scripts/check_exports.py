#!/usr/bin/env python3
"""check_exports.py LIBRARY: fails when a shared ringlet defines a dynamic symbol that is not ringlet's, or exports what is internal, or
lacks what every program needs."""
import re
import subprocess
import sys

OURS = re.compile(r"(?:(?:vtable|typeinfo(?: name)?|guard variable) for )?ringlet(?:::|_)")
INTERNAL = re.compile(r"ringlet::(?:transport|compress|collective|coordinator|observe|optimizer|runtime|api|mpi|info)::")
NEEDED = ("ringlet::init()", "ringlet::Handle::wait() const", "ringlet_init", "typeinfo for ringlet::Error")


def main(library):
    lines = subprocess.run(["nm", "-D", "-C", "--defined-only", library], check=True, capture_output=True, text=True).stdout.splitlines()
    symbols = [line.split(maxsplit=2)[2] for line in lines]
    found = [f"{symbol} is not ringlet's" for symbol in symbols if not OURS.match(symbol)]
    found += [f"{symbol} is internal" for symbol in symbols if INTERNAL.match(symbol)]
    found += [f"{needed} is missing" for needed in NEEDED if needed not in symbols]
    print("\n".join(found) or f"exports: {len(symbols)} symbols, all of them ringlet's")
    return 1 if found else 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1]))
