"""Large rows in Python and in C, on the same memory with the same threads.

    cmake --build --preset release --target rdim rdim_python
    PYTHONPATH=build/release/python python3 bench/python/large.py build/release/librdim.so 1e7 15 2     elements, turns, threads

C is librdim.so: each expression is built by the calls of rdim.h, and evaluated by rd_eval() into memory that is there.
Python builds the same one and evaluates it by y.to(out=...) into the same memory.  The two take turns, and all numbers
are the least of all turns: seconds that pass, and seconds of processors, which other work on the machine changes less."""

import ctypes
import gc
import importlib.util
import os
import sys
import time
from pathlib import Path

import numpy as np

import rdim as rd

THREADS = int(sys.argv[4]) if len(sys.argv) > 4 else os.cpu_count() or 1
LARGEST = 3162  # side of matrices, whose product takes seconds


def peer(path):
    """The library by its header: tests/peers/rdim.py, whose name is the package's."""
    spec = importlib.util.spec_from_file_location("peer", Path(__file__).resolve().parents[2] / "tests/peers/rdim.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    library = module.Rdim(path)
    library.library.rd_ctx_free(library.ctx)
    kind = library.types["rd_ctx_opts"]
    library.ctx = library.library.rd_ctx_new(ctypes.byref(kind(size=ctypes.sizeof(kind), threads=THREADS)))
    return library


def programs(n, c):
    """Of each: Python, C, operands, and the shape of the result."""
    rows = (n // 1000, 1000)
    side = min(int(n ** 0.5), LARGEST)
    rng = np.random.default_rng(0)
    x, y = rng.random(n), rng.random(n)
    x -= 0.5
    a, b = x[:side * side].reshape(side, side), y[:side * side].reshape(side, side)
    r = x[:rows[0] * 1000].reshape(rows)

    def keywords(**of):
        return c.keywords("rd_sort_opts", **of)

    return {
        "sum(x)": (lambda x: rd.sum(x), lambda x: c.sum(x), (x,), ()),
        "mean(x, axis=0), rows of 1000": (lambda x: rd.mean(x, axis=0), lambda x: c.mean(x, axis=0), (r,), (1000,)),
        "sum(sqrt(x * x + 1) * y)": (lambda x, y: rd.sum(rd.sqrt(x * x + 1) * y),
                                     lambda x, y: c.sum(c.mul(c.sqrt(c.add(c.mul(x, x), c.library.rd_int(c.ctx, 1))), y)), (x, y), ()),
        "where(x > 0, x, y)": (lambda x, y: rd.where(x > 0, x, y),
                               lambda x, y: c.where(c.gt(x, c.library.rd_int(c.ctx, 0)), x, y), (x, y), (n,)),
        f"a @ b, {side} x {side}": (lambda a, b: a @ b, lambda a, b: c.matmul(a, b), (a, b), a.shape),
        "softmax(x), rows of 1000": (lambda x: rd.softmax(x), lambda x: c.library.rd_softmax(x, c.dims(-1, False)), (r,), rows),
        "std(x)": (lambda x: rd.std(x), lambda x: c.std(x), (x,), ()),
        "sort(x), rows of 1000": (lambda x: rd.sort(x), lambda x: c.library.rd_sort_by(x, keywords(axis=-1)), (r,), rows),
    }


def now():
    return np.array([time.perf_counter(), time.process_time()])


def in_python(build, operands, out):
    begun = now()
    build(*(rd.asarray(x) for x in operands)).to(out=out)
    return now() - begun


def in_c(c, build, operands, out):
    begun = now()
    with c.expressions():
        c.eval(build(*(c.leaf(x) for x in operands)), out)
    return now() - begun


def main(path, n, turns):
    c = peer(path)
    print(f"{'n = %.0e' % n:32}{'Python ms':>11}{'C ms':>11}{'ratio':>8}{'of processors':>15}")
    room = np.empty(n)
    room[:] = 0
    for name, (python, of_c, operands, shape) in programs(n, c).items():
        out = room[:int(np.prod(shape, dtype=int))].reshape(shape)
        best = [np.full(2, np.inf), np.full(2, np.inf)]
        gc.disable()
        for turn in range((min(turns, 3) if "@" in name else turns) + 1):
            for k in (0, 1) if turn % 2 else (1, 0):
                taken = in_c(c, of_c, operands, out) if k else in_python(python, operands, out)
                result = out.tobytes() if turn == 0 and out.nbytes < 1e9 else None
                if turn == 0:
                    first = result if k else first  # C goes first
                    assert k or first == result, name
                else:
                    best[k] = np.minimum(best[k], taken)
        gc.enable()
        (wall, of_all), (ratio, of_processors) = [b[0] * 1e3 for b in best], best[0] / best[1]
        print(f"{name:32}{wall:11.2f}{of_all:11.2f}{ratio:8.3f}{of_processors:15.3f}", flush=True)


if __name__ == "__main__":
    with rd.options(threads=THREADS):
        main(sys.argv[1], int(float(sys.argv[2])), int(sys.argv[3]))
