"""What the Python peers share: the numbers, the protocol and the lines of rdim-bench.

Every program takes the number of threads and rows (none: all)."""
import ctypes
import json
import math
import os
import sys
import time

import numpy as np

THREADS = int(sys.argv[1]) if len(sys.argv) > 1 else 1
ROWS = set(sys.argv[2:])
CUBE = (256, 512, 512)
AXES = {"sum(0)": (0,), "sum(1)": (1,), "sum(2)": (2,), "sum(01)": (0, 1), "sum(12)": (1, 2), "sum(02)": (0, 2),
        "sum(all)": (0, 1, 2)}
LONG = 100_000_000
POINTS = {"gauss10k": 10000, "gauss30k": 30000}
MONTHS = (480, 90, 180)
MONTH_AXES = {"(0)": 0, "(2)": 2, "(all)": None}
ROW_SHAPES = {"1k": (16384, 1024), "64k": (1024, 65536)}


def hashed(which, n):
    """24 bits for each index: those of rdim-bench's input `which`."""
    out = np.empty(n, np.uint32)
    step = 1 << 22
    for start in range(0, n, step):
        i = np.arange(start, min(n, start + step), dtype=np.uint64) + np.uint64(which * 0x10000000)
        h = i.astype(np.uint32) * np.uint32(0x9E3779B1)
        h = (h ^ h >> np.uint32(15)) * np.uint32(0x85EBCA6B)
        h = (h ^ h >> np.uint32(13)) * np.uint32(0xC2B2AE35)
        out[start:start + len(h)] = (h ^ h >> np.uint32(16)) >> np.uint32(8)
    return out


def uniform(which, shape, dtype):
    out = hashed(which, math.prod(shape)).astype(dtype)
    out *= out.dtype.type(1 / 16777216)
    return out.reshape(shape)


def image(shape):
    return hashed(0, math.prod(shape)).astype(np.uint8).reshape(shape)


def halves(shape):
    out = (hashed(0, math.prod(shape)) >> np.uint32(13)).astype(np.float16)
    out *= np.float16(1 / 2048)
    return out.reshape(shape)


def index(which, n, below):
    return hashed(which, n).astype(np.int64) % below


def sea(shape):
    """Where a map (90, 180), repeated, has no land: land lies in discs, and is one element in a thousand elsewhere."""
    h = hashed(0, 48).astype(np.int64)
    radius, north, east = (h[k::3][:16, None, None] for k in range(3))
    up = np.arange(90)[:, None] - north % 90
    across = np.abs(np.arange(180) - east % 180)
    across = np.minimum(across, 180 - across)
    land = (up ** 2 + across ** 2 < (8 + radius % 14) ** 2).any(0)
    return ~(land | (hashed(3, math.prod(shape)).reshape(shape) % 1000 == 0))


def climate(shape, dtype):
    return np.where(sea(shape), uniform(0, shape, dtype), dtype(np.nan))


class _Pattern(ctypes.Structure):
    _fields_ = [("rows", ctypes.c_int64), ("places", ctypes.c_int64), ("extent", ctypes.c_int64 * 3),
                ("pos", ctypes.POINTER(ctypes.c_int32)), ("crd", ctypes.POINTER(ctypes.c_int32))]


def _rows(of, kind):
    """Positions and columns of compressed rows, None where there is no such pattern."""
    data = os.path.join(os.path.dirname(__file__), "..", "..", "examples", "data").encode()
    p = of(kind, 1.0, data)
    if not p:
        return None
    pos = np.ctypeslib.as_array(p[0].pos, (p[0].rows + 1,))
    return pos, np.ctypeslib.as_array(p[0].crd, (p[0].places,))


def patterns():
    """W13's matrices as bench/patterns.c makes them: name, positions and columns of compressed rows, and those of the
    pattern that R-MAT's is merged with, else None; none without run.sh, which compiles it."""
    library = os.environ.get("BENCH_PATTERNS")
    if not library:
        return
    of = ctypes.CDLL(library).bench_pattern_of
    of.restype = ctypes.POINTER(_Pattern)
    of.argtypes = [ctypes.c_int, ctypes.c_double, ctypes.c_char_p]
    for name, kind in (("rmat", 1), ("laplace", 3), ("depends", 4)):
        p = _rows(of, kind)
        if p:
            yield name, *p, _rows(of, 2) if name == "rmat" else None


def seconds_of(f, times):
    start = time.perf_counter()
    for _ in range(times):
        f()
    return (time.perf_counter() - start) / times


def median_seconds(f):
    seconds = seconds_of(f, 1)
    if seconds > 4:
        return seconds, 1
    if seconds < 0.5:
        seconds = seconds_of(f, 1)
    times = int(4e-3 / max(seconds, 1e-9)) + 1 if seconds < 2e-3 else 1
    reps = 3 if seconds > 1 else 7 if seconds > 0.25 else 11
    runs = sorted(seconds_of(f, times) for _ in range(reps))
    return runs[reps // 2], reps


class Peer:
    """peer(row, case, dtype, f) times f() and prints a line; one that fails says so on stderr."""

    def __init__(self, name):
        self.name = name

    def wants(self, row):
        return not ROWS or row in ROWS

    def __call__(self, row, case, dtype, f):
        if not self.wants(row):
            return
        try:
            seconds, reps = median_seconds(f)
        except Exception as e:  # a case that one version cannot do leaves the others
            print(f"{self.name}: {row} {case} {dtype}: {str(e)[:120]}", file=sys.stderr)
            return
        print(json.dumps({"peer": self.name, "row": row, "case": case, "dtype": dtype, "threads": THREADS,
                          "seconds": float(f"{seconds:.6g}"), "reps": reps}), flush=True)
