"""Searches every function of the package for leaks: calls with good and bad arguments, drawn at random, many times.

    PYTHONPATH=build/release/python python3 python/tests/leaks.py            some minutes, all functions
    ... python/tests/leaks.py 50 sum sort                                     50 calls each of two functions
    ... python/tests/leaks.py 1 rdim._core                                    one of each function of the extension

Each call is repeated in threads of its own, whose contexts end with them.  What Python has allocated (blocks of its
allocator), what malloc() has given, and references to objects that stay must then be what they were before."""

import contextlib
import ctypes
import gc
import inspect
import sys
import threading
import types
import warnings

import numpy as np

import rdim as rd

# What a call may do without end, or to the process: sizes by a loop in Python, and addresses of code.
APART = {"map_numbers", "map_block", "map_body", "reduce_user", "matrix", "set_options", "block", "options", "progress",
         "reducer", "csource", "default_rng", "Generator", "explain", "_replace"}
REPEATS = 60


class Mallinfo(ctypes.Structure):
    _fields_ = [(name, ctypes.c_size_t) for name in ("arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks",
                                                     "uordblks", "fordblks", "keepcost")]


try:
    mallinfo = ctypes.CDLL(None).mallinfo2
    mallinfo.restype = Mallinfo
except AttributeError:
    mallinfo = None


# Objects that are never freed, or not before the search ends: of these lost references are counted.
WATCHED = [None, True, False, NotImplemented, (), "", 0, 1, 2, 3, float, int, tuple, list, dict, rd.Array, rd.Error,
           rd.ShapeError, rd.AxisError, rd.DTypeError, rd.TextError, rd.ArgumentError, TypeError, ValueError, OverflowError,
           *rd._dtypes.OBJECTS]


def memory():
    """Blocks that Python has, bytes of malloc(), references to what is watched.

    sys.gettotalrefcount() of a debug interpreter is of no use here: an extension that is compiled for releases, as
    NumPy is, changes the counts of objects alone."""
    gc.collect()
    info = mallinfo() if mallinfo else Mallinfo()
    return sys.getallocatedblocks(), info.uordblks + info.hblkhd, sum(sys.getrefcount(one) for one in WATCHED)


# ---- Arguments --------------------------------------------------------------------------------------------------
class Failing:
    """An array that fails when it is asked for its elements, and a number that is none."""

    def __array__(self, *args, **keywords):
        raise ArithmeticError("no elements")

    def __index__(self):
        raise ArithmeticError("no number")


def pool():
    x = np.arange(12.0).reshape(3, 4)
    return [rd.asarray(x), rd.asarray(x) + 1, rd.asarray(x[0]), x, x.astype("f4"), np.arange(3), rd.asarray(np.arange(4)),
            rd.asarray(x > 3), x > 5, rd.asarray(x[:, :3]), rd.asarray(2.5), rd.asarray(x + 1j), [1, 2, 3], [[1.0, 2], [3, 4]],
            1, 0, -1, 2, 3, 0.5, True, 1j, None, "sum", "edge", "float32", np.float64, (0, 1), (3, 4), (-1,), [0, 9], slice(1, 2),
            Failing(), object(), b"bytes", "x +", {"a": x}, np.array(["a"]), np.zeros(3, ">f8"), np.empty((2, 2, 2)),
            (rd.asarray(x), x), [rd.asarray(x)] * 3, 2**70, float("nan"), [Failing()], rd.asarray(np.zeros((0, 4))), np.empty(()),
            np.empty((3, 4)), np.zeros(7)]


KEYWORDS = ["axis", "dtype", "keepdims", "out", "where", "initial", "by", "groups", "weights", "ddof", "skipna", "mode", "n",
            "k", "method", "restart", "accuracy", "order", "copy", "device", "no_such_keyword", "q", "axes", "shape"]


def arguments(rng, given):
    """Like arguments, mostly: an array first, then numbers, with some keywords."""
    first = [given[0] if rng.random() < 0.3 else given[rng.integers(0, len(given))]]
    rest = [given[k] for k in rng.integers(0, len(given), rng.choice([0, 0, 1, 1, 2, 3]))]
    names = rng.permutation(KEYWORDS)[:rng.choice([0, 0, 0, 1, 1, 2])]
    return (*first, *rest), {str(name): given[rng.integers(0, len(given))] for name in names}


# ---- Functions ----------------------------------------------------------------------------------------------------
def functions():
    """Every function of the package, of its modules and of the extension, and every method, by name."""
    found = {}
    for module in (rd._core, rd.linalg, rd.fft, rd.random, rd.sparse, rd):
        for name in dir(module):
            what = getattr(module, name)
            own = isinstance(what, types.BuiltinFunctionType) or getattr(what, "__module__", "").startswith("rdim")
            if callable(what) and own and not isinstance(what, type) and name not in APART and not name.startswith("_set"):
                found[f"{module.__name__}.{name}"] = what
    for name in dir(rd.Array):
        what = inspect.getattr_static(rd.Array, name)
        if callable(what) and name not in ("__class__", "__new__", "__init__", "__del__", "__reduce__", "__reduce_ex__",
                                          "__init_subclass__", "__subclasshook__", "__getstate__", "__setattr__", "__delattr__"):
            found[f"rdim.Array.{name}"] = getattr(rd.Array, name)
        elif hasattr(what, "__get__"):
            found[f"rdim.Array.{name}"] = lambda x, *args, name=name, **keywords: getattr(x, name)
    return found


def finish(made):
    """What a call made, evaluated where it is a small array."""
    if isinstance(made, rd.Array) and made.size < 1000 and not made.is_sparse and str(made.dtype) != "bfloat16":
        made.compute()


def call(function, args, keywords, times):
    with warnings.catch_warnings(), contextlib.suppress(Exception):
        warnings.simplefilter("ignore")
        for _ in range(times):
            with contextlib.suppress(Exception):
                finish(function(*args, **keywords))


def grown(function, args, keywords, times):
    """What so many calls leave: blocks, bytes and references."""
    before = memory()
    thread = threading.Thread(target=call, args=(function, args, keywords, times))
    thread.start()
    thread.join()
    del thread
    after = memory()
    return tuple(b - a for a, b in zip(before, after))


def is_much(left, times):
    blocks, size, references = left
    return blocks >= times // 4 or size >= 8 * times or references >= times // 4


def leaks(function, args, keywords):
    """What the last of several hundred calls leave, if each leaves something; caches that grow leave less and less."""
    grown(function, args, keywords, 5)
    for times in (REPEATS, REPEATS, 4 * REPEATS, 10 * REPEATS, 10 * REPEATS):  # code that is compiled comes once
        left = grown(function, args, keywords, times)
        if not is_much(left, times):
            return None
    return left


def search(each, names=(), seed=0):
    """What leaks: the function, its arguments, blocks, bytes and references."""
    found, given = [], pool()
    WATCHED.extend(given)
    gc.collect()
    gc.freeze()  # what is there already need not be looked through each time
    for name, function in functions().items():
        if names and not any(name.endswith("." + one) or name.startswith(one + ".") for one in names):
            continue
        rng = np.random.default_rng([seed, *name.encode()])
        for _ in range(each):
            args, keywords = arguments(rng, given)
            left = leaks(function, args, keywords)
            if left:
                found.append((name, args, keywords, *left))
                print("leaks:", *found[-1], flush=True)
    return found


if __name__ == "__main__":
    each = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    leaking = search(each, sys.argv[2:])
    print(f"{len(functions())} functions, {each} calls of each, {REPEATS} times and more: {len(leaking)} leak")
    sys.exit(bool(leaking))
