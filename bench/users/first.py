#!/usr/bin/env python3
"""The first call of everyday expressions in a fresh process with an empty cache, beside NumPy's first call.

    PYTHONPATH=build/release/python python3 bench/users/first.py [--threads 1,2] [--rounds 5]

Each expression has a process of its own for each library and round.  A row has the least time of the first call in
microseconds, how many times as long it takes as NumPy's first call, the time of a call after 0.3 s of calls, and whether all
its stages ran as they will later on (compiled, or a form that needs no compiler).
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from typing import Any, Callable

import numpy as np

Arrays = dict[str, Any]
LARGE = 1_000_000


def inputs() -> Arrays:
    rng = np.random.default_rng(3)
    return {"x": rng.standard_normal(LARGE), "y": rng.standard_normal(LARGE), "m": rng.standard_normal((1000, 1000)),
            "p": rng.standard_normal((1000, 3)).astype("f4"), "k": rng.integers(0, 100, LARGE)}


EXPRESSIONS: dict[str, Callable[[Any, Arrays], Any]] = {
    "x + y": lambda f, a: a["x"] + a["y"],
    "sqrt(x * x + y * y)": lambda f, a: f.sqrt(a["x"] * a["x"] + a["y"] * a["y"]),
    "exp(-x * x)": lambda f, a: f.exp(-a["x"] * a["x"]),
    "std(x)": lambda f, a: f.std(a["x"]),
    "mean(m, 0)": lambda f, a: f.mean(a["m"], axis=0),
    "m - mean(m, 1)": lambda f, a: a["m"] - f.mean(a["m"], axis=1, keepdims=True),
    "sum(k % 7 == 0)": lambda f, a: f.sum(a["k"] % 7 == 0),
    "nearest point": lambda f, a: f.min(f.sum((a["p"][:, None] - a["p"][None]) ** 2, axis=-1), axis=1),
}


def one_process(library: str, name: str, threads: int) -> None:
    """Runs in the fresh process; prints the time of the first call, that of later calls, and the forms."""
    arrays, call, forms = inputs(), EXPRESSIONS[name], ""
    if library == "rdim":
        import rdim as rd
        ours = {key: rd.asarray(value) for key, value in arrays.items()}
        with rd.options(threads=threads):
            measure(lambda: rd.compute(call(rd, ours)), lambda: rd.explain(call(rd, ours)))
    else:
        measure(lambda: call(np, arrays), lambda: forms)


def measure(run: Callable[[], Any], explain: Callable[[], str]) -> None:
    begun = time.perf_counter()
    run()
    first = time.perf_counter() - begun
    while time.perf_counter() - begun < 0.3:
        run()
    later = min(timed(run) for _ in range(5))
    waiting = [line for line in explain().splitlines() if line.startswith("form of stage") and
               ("being compiled" in line or ", compiled once" in line)]
    print(json.dumps({"first": first, "later": later, "waiting": len(waiting)}))


def timed(run: Callable[[], Any]) -> float:
    begun = time.perf_counter()
    run()
    return time.perf_counter() - begun


def fresh(library: str, name: str, threads: int) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as cache:
        environment = {**os.environ, "XDG_CACHE_HOME": cache, "OMP_NUM_THREADS": str(threads)}
        done = subprocess.run([sys.executable, __file__, "--process", library, name, str(threads)], env=environment,
                              capture_output=True, text=True, check=True)
    return dict(json.loads(done.stdout))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", default="")
    parser.add_argument("--process", nargs=3, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.process:
        one_process(given.process[0], given.process[1], int(given.process[2]))
        return
    print("| expression | threads | first, us | / NumPy's first | after 0.3 s, us | / NumPy's | stages that wait |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for name in EXPRESSIONS:
        if given.only and given.only != name:
            continue
        for threads in (int(n) for n in given.threads.split(",")):
            rounds = [(fresh("rdim", name, threads), fresh("numpy", name, threads)) for _ in range(given.rounds)]
            first, later = (min(ours[key] for ours, _ in rounds) for key in ("first", "later"))
            theirs, theirs_later = (min(them[key] for _, them in rounds) for key in ("first", "later"))
            print(f"| `{name}` | {threads} | {first * 1e6:.0f} | {first / theirs:.2f} | {later * 1e6:.0f} | "
                  f"{later / theirs_later:.2f} | {max(ours['waiting'] for ours, _ in rounds)} |", flush=True)


if __name__ == "__main__":
    main()
