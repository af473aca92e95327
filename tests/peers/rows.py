"""rows.py - what a row of the comparison is, and what its cases are drawn from.

A row is one operation: how rdim spells it, how NumPy or SciPy does, of which types, and how far apart the two may be.
Rows live in files by theme, each with a list ROWS; compare.py reads every file rows_*.py.  To add an operation, add a
row:

    Row("hypot", lambda r, x, y: r.hypot(x, y), np.hypot, operands=2, types=FLOATS, ulps=1)

Where a name alone is given for rdim's spelling, it is the call of that name on the operands, then on the arguments.
"""
from dataclasses import dataclass
from typing import Callable, Sequence

import numpy as np

BOOL = ("bool",)
SIGNED = ("int8", "int16", "int32", "int64")
UNSIGNED = ("uint8", "uint16", "uint32", "uint64")
FLOATS = ("float16", "float32", "float64")
COMPLEX = ("complex64", "complex128")
INTS = SIGNED + UNSIGNED
NUMBERS = INTS + FLOATS
ALL = BOOL + NUMBERS


# ---- Values: (random, shape, dtype) -> dense array ------------------------------------------------------------------
def anything(random, shape, dtype):
    """Ints of the whole range or small; floats of several sizes, in one case of three with NaN, infinities and 0."""
    if dtype == bool:
        return random.random(shape) < random.choice([0.1, 0.5, 0.9])
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        low, high = (info.min, info.max) if random.random() < 0.5 else (max(info.min, -9), 9)
        return random.integers(low, high, shape, dtype, endpoint=True)
    x = (random.standard_normal(shape) * random.choice([1e-3, 1, 1, 30])).astype(dtype)
    if random.random() < 0.33:
        odd = random.choice([np.nan, np.inf, -np.inf, 0.0, -0.0], shape)
        x = np.where(random.random(shape) < 0.1, odd, x).astype(dtype)
    return x


def small(random, shape, dtype):
    """Numbers that products and casts of any type can hold."""
    if dtype == bool:
        return anything(random, shape, dtype)
    low = -3 if dtype.kind != "u" else 0
    if dtype.kind in "iu":
        return random.integers(low, 3, shape, endpoint=True).astype(dtype)
    return random.uniform(low, 3, shape).astype(dtype)


def between(low, high):
    """Floats from there; ints, which some functions take as f64, too."""
    def draw(random, shape, dtype):
        x = random.uniform(low, high, shape)
        return (x if dtype.kind == "f" else np.trunc(np.clip(x, 0 if dtype.kind in "ub" else -100, 100))).astype(dtype)
    return draw


# ---- A row ----------------------------------------------------------------------------------------------------------
@dataclass
class Row:
    name: str
    ours: Callable | str  # (rdim, *nodes, **arguments) -> node; a name: that call
    theirs: Callable      # (*arrays, **arguments) -> array
    operands: int = 1
    types: Sequence = ALL              # of the first operand
    also: Sequence | str = "same"      # of the others; "same": often the first's, else any of `types`; "first": the first's
    values: Callable = anything
    shapes: Callable | None = None     # (random) -> list of shapes, one per operand; None: they broadcast
    arguments: Callable | None = None  # (random, arrays) -> dict
    ulps: float = 0                    # how far from the exact result, of floats; ints and bools agree; of complex
                                       # numbers in units of the larger part
    scale: Callable | None = None      # (*arrays, **arguments) -> what these ulps are of; None: of the result
    real: bool = False                 # operands go to theirs as the float type they promote to, ints as f64
    exact: bool | str = True           # theirs takes long double; False: f64 at most; "same": the type as it is
    type: Callable | None = None       # (dtypes) -> type of the result, where that is not theirs
    weight: float = 1                  # how often it is drawn


def real_type(dtypes):
    """What a float function of them takes and gives."""
    dtype = np.result_type(*dtypes)
    return dtype if dtype.kind == "f" else np.dtype(float)


# ---- Arguments ------------------------------------------------------------------------------------------------------
def axis(random, x):
    """An axis of x from either end, in one case of thirty one that is not there."""
    if random.random() < 0.03 or x.ndim == 0:
        return int(random.choice([x.ndim, -x.ndim - 1]))
    return int(random.integers(-x.ndim, x.ndim))


def at(axis, x):
    """The axis from the start, for calls of NumPy that would take more than there are."""
    return np.lib.array_utils.normalize_axis_index(axis, x.ndim)


def axes(random, x):
    """Some of the axes in any order, as NumPy's axis: None, a number, a tuple."""
    chance = random.random()
    if chance < 0.03:
        return (0, 0) if random.random() < 0.5 else (x.ndim,)
    if chance < 0.2:
        return None
    chosen = random.permutation(x.ndim)[: random.integers(0, x.ndim + 1)]
    return tuple(int(a) - (x.ndim if random.random() < 0.3 else 0) for a in chosen)


def reduced(x, axis):
    """x with the axes to be reduced as one, the last."""
    axis = tuple(range(x.ndim)) if axis is None else np.lib.array_utils.normalize_axis_tuple(axis, x.ndim)
    kept = [a for a in range(x.ndim) if a not in axis]
    return x.transpose(kept + sorted(axis)).reshape([x.shape[a] for a in kept] + [-1 if x.size else int(
        np.prod([x.shape[a] for a in axis], dtype=int))])


def keeping(f):
    """f(x with one reduced axis, the last) as a function of x, axis and keepdims."""
    def call(x, axis=None, keepdims=False, **more):
        y = f(reduced(x, axis), **more)
        return np.expand_dims(y, tuple(range(x.ndim)) if axis is None else tuple(axis)) if keepdims else y
    return call
