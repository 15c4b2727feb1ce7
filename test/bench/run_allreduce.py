#!/usr/bin/env python3
"""run_allreduce.py PROGRAM MPIEXEC FLAG: the table is OSU's, the JSON is JSON, every result is validated, and bad options are refused."""
import json
import pathlib
import subprocess
import sys
import tempfile

program, mpiexec, flag = sys.argv[1:]
specs = ["none", "qsgd(bits=4)", "topk(ratio=0.01)"]


def run(*arguments):
    return subprocess.run([mpiexec, flag, "2", program, *arguments], capture_output=True, text=True, check=False)


with tempfile.TemporaryDirectory() as folder:
    path = pathlib.Path(folder) / "rows.json"
    options = [option for spec in specs for option in ("--spec", spec)]
    done = run("-c", "-f", "-m", "4:64K", "-i", "4", "-x", "1", "--json", str(path), *options)
    assert done.returncode == 0, done.stdout + done.stderr
    rows = json.loads(path.read_text())

assert len(rows) == 15 * len(specs), len(rows)
for row in rows:
    assert row["validation"] == "Pass" and row["ranks"] == 2 and row["iterations"] == 4, row
    assert 0 < row["min_us"] <= row["latency_us"] <= row["max_us"], row
    assert abs(row["algbw"] - row["size"] / row["latency_us"] / 1e3) < 1e-9, row
    assert abs(row["busbw"] - row["algbw"]) < 1e-9, row  # 2 (P-1)/P is 1
    assert row["mpi_latency_us"] > 0 and row["mpi_default_latency_us"] > 0, row
wire = {(row["spec"], row["size"]): row["wire_bytes"] for row in rows}
assert 65536 <= wire["none", 65536] < 65536 + 256, wire  # half to reduce, half to gather, and a few bytes of negotiation
assert wire["qsgd(bits=4)", 65536] < wire["none", 65536] / 7, wire
assert wire["topk(ratio=0.01)", 65536] < wire["none", 65536] / 40, wire

text = done.stdout
start = "\n\n# OSU MPI Allreduce Latency Test v7.4\n# Datatype: MPI_FLOAT.\n"
header = "# Size" + " " * 7 + "Avg Latency(us)" + " " * 3 + "Min Latency(us)" + " " * 3 + "Max Latency(us)  Iterations" + " " * 8 + "Validation"
assert text.count(start + header) == len(specs), text
numbers = [line for line in text.splitlines() if line and not line.startswith("#")]
assert len(numbers) == len(rows), text
assert all(line[:10].strip().isdigit() and line[10:28].strip().replace(".", "").isdigit() for line in numbers), text

refused = run("-T", "mpi_char")
assert refused.returncode != 0 and "mpi_float" in refused.stderr + refused.stdout, refused
in_place = run("-l", "-c", "-m", "1K:2K", "-i", "2", "-x", "0", "--no-mpi")
assert in_place.returncode == 0 and "MPI fair" not in in_place.stdout, in_place
