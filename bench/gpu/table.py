#!/usr/bin/env python3
"""table.py FILE: what script/gpu found, a line for each row: rdim's time, what part of the copy bandwidth of the same
run that is, its time with the numbers that measuring found and with recorded runs, the best peer's time, and how many
times rdim's it is."""
import json
import sys

FOUND = json.load(open(sys.argv[1], encoding="utf-8"))


def rows_of(part):
    rows = FOUND.get(part, {}).get("rows") or []
    return [row for row in rows if "row" in row]


def key(row, matrix):
    return row["row"], row["dtype"], row["columns"], matrix >= 1 << 28


best = {}
for row in rows_of("peers"):
    k = key(row, row["matrix"])
    if k not in best or row["seconds"] < best[k]["seconds"]:
        best[k] = row
also = [{key(row, row["bytes"]): row["seconds"] * 1e3 for row in rows_of(part)} for part in ("tuned", "graphs")]
names = f"{'row':18} {'dtype':5} {'columns':>7} {'ms':>9} {'of copy':>8} {'measured':>9} {'graphs':>9}"
print(f"{names} {'best peer':>20} {'ms':>9} {'times':>6}")
for row in rows_of("rows"):
    peer = best.get(key(row, row["bytes"]))
    line = f"{row['row']:18} {row['dtype']:5} {row['columns']:7} {row['seconds'] * 1e3:9.3f} {row['of_copy']:8.1%}"
    for times in also:
        line += f" {times[k]:9.3f}" if (k := key(row, row["bytes"])) in times else " " * 10
    if peer:
        line += f" {peer['peer']:>20} {peer['seconds'] * 1e3:9.3f} {peer['seconds'] / row['seconds']:6.2f}"
    print(line)
