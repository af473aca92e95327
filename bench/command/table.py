#!/usr/bin/env python3
"""table.py FILE...: lines of command.py --json as tables for docs/performance.md: seconds of the processor and on the
clock, and rdim's by each peer's.  A case that comes twice has its last line."""
import json
import math
import sys


def read(paths):
    lines = {}
    for path in paths:
        with open(path, encoding="utf-8") as f:
            for line in map(json.loads, f):
                lines[line["row"], line["case"], line["dtype"]] = line
    return lines


def geometric(values):
    return math.exp(sum(map(math.log, values)) / len(values)) if values else math.nan


def climate(lines):
    """A row a job, a column a kind of file: rdim's seconds of the processor, and its ratios to CDO and NCO."""
    kinds = [k for k in ("deflated", "packed", "classic") if any(key[2] == k for key in lines)]
    print("| job | " + " | ".join(f"{k}, s | / `cdo` | / `nco`" for k in kinds) + " |")
    print("| --- |" + " --- | --- | --- |" * len(kinds))
    for job in dict.fromkeys(key[1] for key in lines if key[0] == "W15"):
        cells = []
        for kind in kinds:
            line = lines.get(("W15", job, kind))
            peers = line["peers"] if line else {}
            cells.append(f"{line['cpu']:.2f}" if line else "")
            cells += [f"{peers[p]['cpu_ratio']:.2f}" if p in peers else "" for p in ("cdo", "nco")]
        print(f"| {job} | " + " | ".join(cells) + " |")
    cells = []
    for kind in kinds:
        of = [line["peers"] for key, line in lines.items() if key[0] == "W15" and key[2] == kind]
        cells += [""] + [f"{geometric([p[peer]['cpu_ratio'] for p in of if peer in p]):.2f}" for peer in ("cdo", "nco")]
    print("| geometric mean | " + " | ".join(cells) + " |")


def parts(lines):
    print("| case | rdim, s of the processor | others: s, and rdim's by it |")
    print("| --- | --- | --- |")
    for (row, case, _), line in lines.items():
        if row == "W16":
            others = ", ".join(f"{name} {p['cpu']:.2f} ({p['cpu_ratio']:.2f})" for name, p in line["peers"].items())
            print(f"| {case} | {line['cpu']:.3f} | {others} |")


def main():
    lines = read(sys.argv[1:])
    if any(key[0] == "W15" for key in lines):
        climate(lines)
        print()
    if any(key[0] == "W16" for key in lines):
        parts(lines)


if __name__ == "__main__":
    main()
