"""Memory that stays flat, and threads that evaluate at once.

    PYTHONPATH=build/release/python python3 bench/python/memory.py           all of it, some minutes
    ... bench/python/memory.py 0.02                                          a fiftieth of everything

A million lazy arrays, 100,000 evaluations and 10,000 cycles are made by one thread and by 24 together.  A tenth of them
comes first, so that caches are full.  `grown` is what the process takes more after all of them."""

import gc
import os
import sys
import threading
import time

import numpy as np

import rdim as rd

THREADS = 24


def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def together(threads, work):
    """work(k) in so many threads; what failed in one of them fails here."""
    failures = []

    def run(k):
        try:
            work(k)
        except BaseException as error:
            failures.append(error)

    started = [threading.Thread(target=run, args=(k,)) for k in range(threads)]
    for thread in started:
        thread.start()
    for thread in started:
        thread.join()
    if failures:
        raise failures[0]


# ---- What is made ---------------------------------------------------------------------------------------------------
SHARED = np.arange(100.0)


def lazy(n):
    x = rd.asarray(SHARED)
    for k in range(n // 3):
        rd.sum((x + k) * 2)


def evaluated(n):
    x = rd.asarray(SHARED)
    for k in range(n):
        assert float(rd.sum(x + k)) == 4950 + 100 * k


class Base(np.ndarray):
    """An array that may refer to arrays over itself."""


def cycles(n):
    for k in range(n):
        base = np.zeros(1000).view(Base)
        base.over = rd.asarray(base) + k
        base.over = [base.over, base.over * 2]


WORK = {"lazy arrays": (lazy, 1_000_000), "evaluations": (evaluated, 100_000), "cycles": (cycles, 10_000)}


def flat(work, n, threads):
    """Seconds of n, and bytes that the process grows by."""
    each = max(n // threads, 1)

    def part(share):
        together(threads, lambda k: work(max(int(each * share), 1)))
        gc.collect()

    part(0.1)
    before, begun = resident(), time.perf_counter()
    part(1)
    return time.perf_counter() - begun, resident() - before


# ---- At once and one after the other ------------------------------------------------------------------------------------
def at_once(size, turns):
    """Seconds of THREADS evaluations at once, and one after the other, the least of some turns; results are compared."""
    arrays = [rd.asarray(np.random.default_rng(k).random(size)) for k in range(THREADS)]
    made = [rd.sum(rd.sin(x) * (k + 1)) for k, x in enumerate(arrays)]
    wanted = [float(y) for y in made]
    best = [float("inf"), float("inf")]

    def one(k):
        with rd.options(threads=1):
            if float(made[k]) != wanted[k]:
                raise AssertionError(f"thread {k} has another sum")

    for _ in range(turns):
        for which, run in enumerate((lambda: together(THREADS, one), lambda: [together(1, lambda _: one(k)) for k in range(THREADS)])):
            begun = time.perf_counter()
            run()
            best[which] = min(best[which], time.perf_counter() - begun)
    return best


def main(share):
    print(f"{'':14}{'threads':>8}{'made':>10}{'seconds':>9}{'grown':>12}")
    for name, (work, n) in WORK.items():
        for threads in (1, THREADS):
            seconds, grown = flat(work, int(n * share), threads)
            print(f"{name:14}{threads:8}{int(n * share):10}{seconds:9.2f}{grown / 1e6:9.2f} MB", flush=True)
    for size in (1000, 100_000, 1_000_000):
        together_, after = at_once(size, 3)
        print(f"{THREADS} sums of sines of {size}: at once {together_:.4f} s, one after the other {after:.4f} s, ratio {together_ / after:.2f}",
              flush=True)


if __name__ == "__main__":
    main(float(sys.argv[1]) if len(sys.argv) > 1 else 1.0)
