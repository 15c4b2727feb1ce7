#!/usr/bin/env python3
"""Prints runs of ringlet-train side by side: compare_runs.py RUN.json ..."""
import json
import sys


def row(path):
    with open(path) as file:
        epochs = json.load(file)
    last = epochs[-1]
    total = {key: sum(epoch[key] for epoch in epochs) for key in ("bytes_sent", "bytes_received", "dense_bytes", "seconds")}
    return [
        last["spec"],
        f'{100 * last["accuracy"]:.2f} %',
        f'{last["loss"]:.4f}',
        f'{total["dense_bytes"] / total["bytes_sent"]:.2f} x' if total["bytes_sent"] else "-",
        f'{total["bytes_sent"] / 1e6:.2f} MB',
        f'{total["bytes_received"] / 1e6:.2f} MB',
        f'{total["seconds"]:.1f} s',
        last["weights_hash"],
    ]


def main(paths):
    table = [["compression", "accuracy", "loss", "ratio", "sent/rank", "received/rank", "time", "weights"]] + [row(p) for p in paths]
    widths = [max(len(line[i]) for line in table) for i in range(len(table[0]))]
    for line in table:
        print("  ".join(cell.ljust(width) if i == 0 else cell.rjust(width) for i, (cell, width) in enumerate(zip(line, widths))))


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(sys.argv[1:])
