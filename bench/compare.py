#!/usr/bin/env python3
"""compare.py FILE...: joins the JSON lines of rdim-bench and of peers/run.sh into one table.

For each case: rdim's time, that of the best peer and which it is, and their quotients; then geometric means by row.
A peer that has no figure for this number of threads stands with its time on one thread."""
import json
import math
import sys


def read(paths):
    """(row, case, dtype, threads) -> {who: seconds}; the least of several runs."""
    cases = {}
    for path in paths:
        with open(path, encoding="utf-8") as lines:
            for line in lines:
                if not line.startswith("{"):
                    continue
                r = json.loads(line)
                key = (r["row"], r["case"], r["dtype"], r["threads"])
                who = cases.setdefault(key, {})
                name = r.get("peer", "rdim")
                who[name] = min(r["seconds"], who.get(name, math.inf))
                if r.get("hand_seconds"):
                    who["hand"] = min(r["hand_seconds"], who.get("hand", math.inf))
    return cases


def best_peer(cases, key):
    """The name and seconds of the fastest peer, on as many threads as rdim or on one."""
    row, case, dtype, _ = key
    peers = {}
    for threads in (1, key[3]):
        for name, seconds in cases.get((row, case, dtype, threads), {}).items():
            if name not in ("rdim", "hand"):
                peers[name] = min(seconds, peers.get(name, math.inf))
    return min(peers.items(), key=lambda p: p[1]) if peers else (None, None)


def text(seconds):
    if seconds is None:
        return "-"
    for unit, factor in (("s", 1), ("ms", 1e3), ("us", 1e6)):
        if seconds * factor >= 1:
            return f"{seconds * factor:.4g} {unit}"
    return f"{seconds * 1e9:.4g} ns"


def quotient(a, b):
    return f"{a / b:.2f}" if a and b else "-"


def mean(values):
    return math.exp(sum(map(math.log, values)) / len(values)) if values else None


def main():
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    cases = read(sys.argv[1:])
    means = {}
    print("| row | case | type | threads | rdim | hand | best peer | | rdim / hand | rdim / peer |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for key, who in cases.items():
        if "rdim" not in who:
            continue
        name, seconds = best_peer(cases, key)
        rdim, hand = who["rdim"], who.get("hand")
        cells = (*key, text(rdim), text(hand), text(seconds), name or "", quotient(rdim, hand), quotient(rdim, seconds))
        print("| " + " | ".join(map(str, cells)) + " |")
        to_hand, to_peer = means.setdefault((key[0], key[3]), ([], []))
        if hand:
            to_hand.append(rdim / hand)
        if seconds:
            to_peer.append(rdim / seconds)
    print("\n| row | threads | rdim / hand | rdim / best peer |\n|---|---|---|---|")
    for (row, threads), (to_hand, to_peer) in means.items():
        print(f"| {row} | {threads} | {quotient(mean(to_hand), 1)} | {quotient(mean(to_peer), 1)} |")


if __name__ == "__main__":
    main()
