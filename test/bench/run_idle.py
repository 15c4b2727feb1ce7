#!/usr/bin/env python3
"""run_idle.py PROGRAM MPIEXEC FLAG: while idle, the library's threads sleep. The bound is far above the aim of 2 %, for machines under
load, and far below one thread that polls without a rest (100 %)."""
import json
import pathlib
import subprocess
import sys
import tempfile

program, mpiexec, flag = sys.argv[1:]
with tempfile.TemporaryDirectory() as folder:
    path = pathlib.Path(folder) / "ranks.json"
    command = [mpiexec, flag, "2", program, "--cycles", "1", "-i", "1", "--sleep", "1", "--json", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    ranks = json.loads(path.read_text())
assert len(ranks) == 2 and all(rank["down_ms"] > 0 and rank["up_ms"] > 0 for rank in ranks), ranks
assert all(rank["cpu_up_ms"] < 0.1 * 1000 * rank["sleep_s"] for rank in ranks), ranks
