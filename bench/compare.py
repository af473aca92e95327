#!/usr/bin/env python3
"""compare.py FILE...: joins the JSON lines of rdim-bench and of peers/run.sh into one table.

For each case and number of threads: rdim's time, its quotients to the loop by hand, the limit and the best peer, and
which peer that is; then geometric means by row.  A peer that has no figure for this number of threads stands with its
time on one thread."""
import json
import math
import sys


def read(paths):
    """(row, case, dtype) -> threads -> {"rdim": its line, "peers": {name: seconds}}; the least of several runs."""
    cases = {}
    for path in paths:
        with open(path, encoding="utf-8") as lines:
            for line in lines:
                if not line.startswith("{"):
                    continue
                r = json.loads(line)
                key = (r["row"], r["case"], r["dtype"])
                run = cases.setdefault(key, {}).setdefault(r["threads"], {"peers": {}})
                if "peer" in r:
                    run["peers"][r["peer"]] = min(r["seconds"], run["peers"].get(r["peer"], math.inf))
                elif "rdim" not in run or r["seconds"] < run["rdim"]["seconds"]:
                    run["rdim"] = r
    return cases


def best_peer(runs, threads):
    """The name and seconds of the fastest peer, on as many threads as rdim or on one."""
    found = [(seconds, name) for n in (1, threads) for name, seconds in runs.get(n, {"peers": {}})["peers"].items()]
    return min(found) if found else (None, "")


def quotients(runs, threads):
    """rdim's seconds, and those divided by the hand loop's (of pairs timed side by side), the limit, the best peer's."""
    r = runs[threads]["rdim"]
    seconds, name = best_peer(runs, threads)
    return r["seconds"], {
        "hand": r.get("ratio"),
        "limit": r["seconds"] / r["limit_seconds"] if r.get("limit_seconds") else None,
        "peer": r["seconds"] / seconds if seconds else None,
    }, name


def text(seconds):
    for unit, factor in (("s", 1), ("ms", 1e3), ("us", 1e6)):
        if seconds * factor >= 1:
            return f"{seconds * factor:.4g} {unit}"
    return f"{seconds * 1e9:.4g} ns"


def quotient(value):
    return f"{value:.2f}" if value else "-"


def mean(values):
    return math.exp(sum(map(math.log, values)) / len(values)) if values else None


def main():
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    cases = read(sys.argv[1:])
    threads = sorted({n for runs in cases.values() for n, run in runs.items() if "rdim" in run})
    columns = [c for n in threads for c in (f"{n} thread{'s' if n > 1 else ''}", "/ hand", "/ limit", "/ peer", "peer")]
    means = {}
    print("| row | case | type | " + " | ".join(columns) + " |")
    print("|---" * (3 + len(columns)) + "|")
    for (row, case, dtype), runs in cases.items():
        cells = [row, case, dtype]
        for n in threads:
            if "rdim" not in runs.get(n, {}):
                cells += [""] * 5
                continue
            seconds, to, name = quotients(runs, n)
            cells += [text(seconds), quotient(to["hand"]), quotient(to["limit"]), quotient(to["peer"]), name]
            for what, value in to.items():
                if value:
                    means.setdefault(row, {}).setdefault((n, what), []).append(value)
        if any(cells[3:]):
            print("| " + " | ".join(cells) + " |")
    print("\nGeometric means:\n")
    print("| row | " + " | ".join(f"{n}: / {what}" for n in threads for what in ("hand", "limit", "peer")) + " |")
    print("|---" * (1 + 3 * len(threads)) + "|")
    for row, by in means.items():
        print(f"| {row} | " + " | ".join(quotient(mean(by.get((n, what)))) for n in threads
                                         for what in ("hand", "limit", "peer")) + " |")


if __name__ == "__main__":
    main()
