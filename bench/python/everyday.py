#!/usr/bin/env python3
"""Everyday expressions beside NumPy: one of each, alternating, at four sizes.

    PYTHONPATH=build/release/python python3 bench/python/everyday.py [--sizes 100,10000,1000000] [--threads 1]

Prints the time of rdim in microseconds, all in (building the expression and evaluating it into fresh memory), and how
many times as long NumPy takes.  The median of the ratios of pairs counts, as clocks of shared machines drift.
"""

from __future__ import annotations

import argparse
import statistics
import time
from typing import Any, Callable

import numpy as np

import rdim as rd

Arrays = dict[str, Any]


def rows(n: int) -> int:
    return max(1, int(n**0.5))


# name, NumPy, rdim; x and y have n elements, m is (rows, columns) of them, k are ints
CASES: list[tuple[str, Callable[[Any, Arrays], Any]]] = [
    ("x + y", lambda f, a: a["x"] + a["y"]),
    ("2 * x + 1", lambda f, a: 2 * a["x"] + 1),
    ("x * y + x / y - 1", lambda f, a: a["x"] * a["y"] + a["x"] / a["y"] - 1),
    ("sqrt(x * x + y * y)", lambda f, a: f.sqrt(a["x"] * a["x"] + a["y"] * a["y"])),
    ("exp(-x * x)", lambda f, a: f.exp(-a["x"] * a["x"])),
    ("where(x > y, x, 0)", lambda f, a: f.where(a["x"] > a["y"], a["x"], 0)),
    ("sum(x)", lambda f, a: f.sum(a["x"])),
    ("mean(x * y)", lambda f, a: f.mean(a["x"] * a["y"])),
    ("std(x)", lambda f, a: f.std(a["x"])),
    ("max(abs(x - y))", lambda f, a: f.max(f.abs(a["x"] - a["y"]))),
    ("nanmean(x)", lambda f, a: f.nanmean(a["x"])),
    ("argmax(x)", lambda f, a: f.argmax(a["x"])),
    ("any(x > 3)", lambda f, a: f.any(a["x"] > 3)),
    ("cumsum(x)", lambda f, a: f.cumsum(a["x"])),
    ("m.sum(axis=0)", lambda f, a: f.sum(a["m"], axis=0)),
    ("m.mean(axis=1)", lambda f, a: f.mean(a["m"], axis=1)),
    ("m - m.mean(axis=0)", lambda f, a: a["m"] - f.mean(a["m"], axis=0)),
    ("softmax of rows", lambda f, a: softmax(f, a["m"])),
    ("m[::2, ::-1] + 1", lambda f, a: a["m"][::2, ::-1] + 1),
    ("(k % 7 == 0).sum()", lambda f, a: f.sum(a["k"] % 7 == 0)),
]


def softmax(f: Any, m: Any) -> Any:
    e = f.exp(m - f.max(m, axis=1, keepdims=True))
    return e / f.sum(e, axis=1, keepdims=True)


def inputs(n: int) -> Arrays:
    rng = np.random.default_rng(1)
    r = rows(n)
    return {"x": rng.standard_normal(n), "y": rng.standard_normal(n) + 5,
            "m": rng.standard_normal((r, n // r)), "k": rng.integers(0, 1000, n)}


def seconds(run: Callable[[], Any], repeats: int) -> float:
    begun = time.perf_counter()
    for _ in range(repeats):
        run()
    return (time.perf_counter() - begun) / repeats


def compare(case: Callable[[Any, Arrays], Any], ours: Arrays, theirs: Arrays) -> tuple[float, float]:
    def by_rdim() -> Any:
        return rd.compute(case(rd, ours))

    def by_numpy() -> Any:
        return case(np, theirs)

    np.testing.assert_allclose(np.asarray(by_rdim()), by_numpy(), rtol=1e-9)
    for _ in range(100):  # past the first plan
        if seconds(by_rdim, 1) > 0.01:
            break
    repeats = max(1, min(2000, int(0.02 / seconds(by_rdim, 1))))
    pairs = [(seconds(by_rdim, repeats), seconds(by_numpy, repeats)) for _ in range(9)]
    return statistics.median(r for r, _ in pairs), statistics.median(n / r for r, n in pairs)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default="100,10000,1000000")
    parser.add_argument("--threads", type=int, default=1)
    given = parser.parse_args()
    sizes = [int(size) for size in given.sizes.split(",")]
    made = [inputs(n) for n in sizes]
    print(f"| expression |{''.join(f' {n:,} |' for n in sizes)}\n| --- |{' --- |' * len(sizes)}")
    with rd.options(threads=given.threads):
        for name, case in CASES:
            cells = []
            for theirs in made:
                ours = {key: rd.asarray(value) for key, value in theirs.items()}
                taken, ratio = compare(case, ours, theirs)
                cells.append(f" {taken * 1e6:.4g} us, {ratio:.2g} |")
            print(f"| `{name}` |{''.join(cells)}", flush=True)


if __name__ == "__main__":
    main()
