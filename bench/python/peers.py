#!/usr/bin/env python3
"""Typical programs beside numexpr, PyTorch and KeOps, of which those that are installed take part.

    PYTHONPATH=build/release/python OMP_NUM_THREADS=1 python3 bench/python/peers.py [--threads 1] [--reps 7]

Results are compared first.  Programs run in turn; a cell has how many times as long the other takes, the median of
neighbouring pairs: time of the processor on one thread, on the clock on several.
"""

from __future__ import annotations

import argparse
import importlib
import os
import statistics
import time
from typing import Any, Callable

import numpy as np

import rdim as rd

Program = Callable[[], Any]
rng = np.random.default_rng(1)
A, B = rng.random((2, 4_000_000))
F = rng.random((480, 90, 180), dtype="float32")
M = rng.standard_normal((4000, 1000)).astype("float32")
X, Y, W = (rng.random(shape, dtype="float32") for shape in ((10000, 3), (10000, 3), (10000, 1)))
ROWS = ["2*a + 3*b", "exp(-a*a) * sin(b)", "sum of a*b where a > b", "std over axis 0", "softmax of rows",
        "Gaussian sum over pairs", "nearest of pairs"]


def ours() -> list[Program | None]:
    a, b, f, m = map(rd.asarray, (A, B, F, M))
    squares = ((rd.pairs(X)[:, None] - rd.pairs(Y)[None]) ** 2).sum(axis=-1)
    return [lambda: (2 * a + 3 * b).compute(), lambda: (rd.exp(-a * a) * rd.sin(b)).compute(),
            lambda: float(rd.sum(rd.where(a > b, a * b, 0))), lambda: f.std(axis=0).compute(),
            lambda: rd.softmax(m, axis=1).compute(), lambda: (rd.exp(-squares) @ W).compute(),
            lambda: rd.argmin(squares, axis=1).compute()]


def numexprs(threads: int) -> list[Program | None]:
    ne = importlib.import_module("numexpr")
    ne.set_num_threads(threads)
    names = {"a": A, "b": B}
    texts = ["2*a + 3*b", "exp(-a*a) * sin(b)", "sum(where(a > b, a*b, 0))"]
    return [lambda text=text: ne.evaluate(text, names) for text in texts] + [None] * 4  # type: ignore[misc]


def torchs(threads: int) -> list[Program | None]:
    torch = importlib.import_module("torch")
    torch.set_num_threads(threads)
    a, b, f, m, x, y, w = map(torch.from_numpy, (A, B, F, M, X, Y, W))
    return [lambda: 2 * a + 3 * b, lambda: torch.exp(-a * a) * torch.sin(b),
            lambda: torch.where(a > b, a * b, 0).sum(), lambda: f.std(dim=0, correction=0),
            lambda: torch.softmax(m, dim=1), lambda: torch.exp(-torch.cdist(x, y) ** 2) @ w,
            lambda: torch.cdist(x, y).argmin(dim=1)]


def keopss(threads: int) -> list[Program | None]:
    lazy = importlib.import_module("pykeops.numpy").LazyTensor
    squares = ((lazy(X[:, None]) - lazy(Y[None])) ** 2).sum(-1)
    return [None] * 5 + [lambda: (-squares).exp() @ W, lambda: squares.argmin(dim=1).ravel()]


def seconds(program: Program, clock: Callable[[], float]) -> float:
    start = clock()
    program()
    return clock() - start


def equal(name: str, mine: Program, other: Program) -> None:
    got, want = np.asarray(mine()), np.asarray(other())
    if "nearest" in name:
        assert np.mean(got == want) > 0.999, name
    else:
        np.testing.assert_allclose(got, want, rtol=2e-3, atol=1e-5, err_msg=name)


def row(name: str, mine: Program, others: list[Program | None], reps: int, clock: Callable[[], float]) -> str:
    for other in filter(None, others):
        equal(name, mine, other)
    rd.compute(rd.asarray(0))
    times = [[seconds(one, clock) if one else 0.0 for one in (mine, *others)] for _ in range(reps)]
    cells = [f"{statistics.median(t[0] for t in times) * 1e3:.3g}"]
    for k, one in enumerate(others, 1):
        cells.append(f"{statistics.median(t[k] / t[0] for t in times):.2g}" if one else "")
    return f"| {name} | " + " | ".join(cells) + " |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--reps", type=int, default=7)
    given = parser.parse_args()
    os.environ.setdefault("OMP_NUM_THREADS", str(given.threads))
    peers: dict[str, list[Program | None]] = {}
    for name, make in (("numexpr", numexprs), ("torch", torchs), ("pykeops", keopss)):
        try:
            peers[name] = make(given.threads)
        except ImportError:
            print(f"{name} is not there")
    clock = time.process_time if given.threads == 1 else time.perf_counter
    print("| program | rdim, ms | " + " | ".join(peers) + " |")
    with rd.options(threads=given.threads):
        for name, mine, *others in zip(ROWS, ours(), *peers.values()):
            assert mine is not None
            for _ in range(3):
                mine()
            print(row(name, mine, others, given.reps, clock), flush=True)


if __name__ == "__main__":
    main()
