#!/usr/bin/env python3
"""run_fusion.py PROGRAM MPIEXEC FLAG: every contender is measured and the ratios are those of the figures."""
import json
import pathlib
import subprocess
import sys
import tempfile

program, mpiexec, flag = sys.argv[1:]
with tempfile.TemporaryDirectory() as folder:
    path = pathlib.Path(folder) / "rows.json"
    command = [mpiexec, flag, "2", program, "-i", "1", "-x", "0", "--spec", "none", "--spec", "fp16", "--json", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    rows = json.loads(path.read_text())
assert [row["ours"] for row in rows] == [True, True, False, False, False, False], rows
assert "161 tensors, 25557032 floats" in done.stdout, done.stdout
best = min(row["median_ms"] for row in rows if not row["ours"])
assert all(abs(row["over_best_mpi"] - row["median_ms"] / best) < 1e-9 for row in rows), rows
