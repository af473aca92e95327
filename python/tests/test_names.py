"""Functions by the names of NumPy: random arrays and arguments, NumPy is the oracle.

A row is a function, how its arguments are made, and nothing else: what is compared is NumPy's result for the same
arguments, with its shape and its type.
"""

from __future__ import annotations

import warnings
from typing import Any, Callable

import numpy as np
import pytest

import rdim as rd

Make = Callable[[np.random.Generator], Any]
TRIES = 12


def floats(*shape: int) -> Make:
    return lambda rng: np.round(rng.normal(size=shape) * 4, 1)


def ints(*shape: int, low: int = -5, high: int = 6, dtype: str = "int64") -> Make:
    return lambda rng: rng.integers(low, high, shape).astype(dtype)


def holes(*shape: int) -> Make:
    """Floats of which some are NaN."""
    return lambda rng: np.where(rng.random(shape) < 0.25, np.nan, np.round(rng.normal(size=shape) * 4, 1))


def rising(n: int) -> Make:
    return lambda rng: np.cumsum(rng.random(n) + 0.1)


def one_of(*values: Any) -> Make:
    return lambda rng: values[rng.integers(len(values))]


M, V, T, V4 = floats(4, 5), floats(7), floats(2, 3, 4), floats(4)
MASK = lambda rng: rng.random((4, 5)) < 0.6  # noqa: E731
AXIS2, AXIS3, AXES = one_of(None, 0, 1, -1), one_of(0, 1, 2, -1), one_of(None, 0, -1, (0, 2), (1,), ())

# name, arguments by place, arguments by keyword
ROWS: list[tuple[str, list[Any], dict[str, Any]]] = [
    # reductions
    *((name, [T], {"axis": AXES, "keepdims": one_of(False, True)})
      for name in ("sum", "prod", "mean", "var", "std", "any", "all", "count_nonzero", "ptp", "median")),
    *((name, [M], {"axis": AXIS2, "keepdims": one_of(False, True)})
      for name in ("max", "min", "amax", "amin", "argmax", "argmin")),
    *((name, [M], {"axis": AXIS2, "where": MASK}) for name in ("sum", "prod", "mean", "var", "std", "any", "all")),
    *((name, [M], {"axis": AXIS2, "where": MASK, "initial": one_of(-1.0, 20.0)}) for name in ("max", "min")),
    *((name, [M, one_of(None, 0, 1)], {"dtype": one_of("float32", "float64", None)})
      for name in ("sum", "prod", "mean", "cumsum", "cumprod")),
    *((name, [M], {"axis": AXIS2, "ddof": one_of(0, 1)}) for name in ("var", "std", "nanvar", "nanstd")),
    *((name, [holes(9, 8)], {"axis": AXIS2}) for name in ("nansum", "nanprod", "nanmean", "nanmedian",
                                                        "nancumsum", "nancumprod")),
    ("nanquantile", [lambda rng: (rng.integers(0, 256, (9, 8)) / 256).astype("f4"), one_of(0.3, [0.1, 0.9], np.array([0.5]), np.array([0.5], "f4"))],
     {"axis": AXIS2}),
    ("unravel_index", [ints(3, 4, low=0, high=30), one_of((5, 6), (2, 3, 5), (30,))], {"order": one_of("C", "F")}),
    ("apply_along_axis", [one_of(np.sort, np.sum), one_of(0, 1), holes(4, 5)], {}),
    ("nanquantile", [holes(9, 8), one_of(0.3, [0.1, 0.9])], {"axis": AXIS2}),
    ("nanpercentile", [holes(9, 8), one_of(30, [10, 90])], {"axis": AXIS2, "keepdims": one_of(False, True)}),
    *((name, [ints(4, 5)], {"axis": AXIS2}) for name in ("sum", "prod", "mean", "var", "max", "any", "cumsum",
                                                       "median", "ptp", "count_nonzero", "average")),
    ("average", [M], {"axis": AXIS2, "weights": lambda rng: rng.random((4, 5))}),
    ("average", [M], {"axis": one_of(1, -1), "weights": lambda rng: rng.random(5), "returned": one_of(True, False)}),
    ("quantile", [M, one_of(0.5, [0.1, 0.5], np.array([[0.2, 0.3]]))], {
        "axis": AXIS2, "method": one_of("linear", "lower", "higher", "nearest", "midpoint", "hazen", "weibull")}),
    ("percentile", [M, one_of(50, (10, 99))], {"axis": AXIS2, "keepdims": one_of(False, True)}),
    ("cov", [floats(3, 8)], {"rowvar": one_of(True, False), "bias": one_of(True, False)}),
    ("cov", [floats(8), floats(8)], {"ddof": one_of(None, 0, 1)}),
    ("cov", [floats(3, 8)], {"fweights": ints(8, low=1), "aweights": one_of(None, np.linspace(1, 2, 8))}),
    ("corrcoef", [floats(3, 8)], {"rowvar": one_of(True, False)}),
    ("histogram", [floats(50)], {"bins": one_of(1, 5, 10, [-3, 0, 1, 5]), "range": one_of(None, (-2, 3)),
                                "density": one_of(None, True)}),
    ("histogram", [floats(20)], {"weights": floats(20)}),
    ("histogram", [floats(50)], {"bins": one_of("auto", "fd", "sqrt", "sturges"), "range": one_of(None, (-2, 3))}),
    ("bincount", [ints(20, low=0)], {"minlength": one_of(0, 9), "weights": one_of(None, np.linspace(0, 1, 20))}),
    ("digitize", [V, one_of(np.array([-2.0, 0, 1, 3]), np.array([3.0, 1, 0]))], {"right": one_of(False, True)}),
    ("gradient", [floats(4, 5)], {"axis": one_of(None, 0, 1, (0, 1)), "edge_order": one_of(1, 2)}),
    ("gradient", [floats(4, 5), one_of(0.5, 2)], {}),
    ("gradient", [holes(4, 7), np.arange(7) * 10.0], {"axis": 1, "edge_order": one_of(1, 2)}),
    ("gradient", [lambda rng: rng.integers(0, 9, 6).astype("f4"), one_of(np.arange(6) * 2.0, np.arange(6) ** 2.0, 0.5)], {}),
    ("gradient", [floats(6), rising(6)], {"edge_order": one_of(1, 2)}),
    ("gradient", [holes(6, 5), one_of(np.arange(6), np.linspace(0, 3, 6))], {"axis": one_of(0)}),
    ("gradient", [M, one_of(np.arange(4.0)), rising(5)], {"edge_order": one_of(1, 2)}),
    ("histogram", [floats(50)], {"bins": one_of("auto", "sturges")}),
    ("histogram2d", [floats(60), floats(60)], {"bins": one_of(5, (3, 4), np.arange(-5, 6)), "range": one_of(
        None, ((-4, 4), (-9, 9))), "density": one_of(None, True), "weights": one_of(None, np.linspace(0, 1, 60))}),
    ("histogramdd", [floats(60, 3)], {"bins": one_of(3, (2, 3, 4)), "density": one_of(None, True)}),
    ("polyval", [one_of([1, 2, 3], [2.5], np.array([1.0, -2.0])), M], {}),
    ("polyfit", [rising(8), floats(8, 2), one_of(1, 2)], {}),
    ("piecewise", [V, lambda rng: [V(rng) > 1, V(rng) > 0], one_of([1, 2], [1, 2, 3], [abs, -2.0, np.negative])], {}),
    ("trapezoid", [M], {"axis": one_of(0, 1, -1), "dx": one_of(1.0, 0.5)}),
    ("trapezoid", [M, rising(5)], {}),
    ("diff", [T], {"axis": AXIS3, "n": one_of(0, 1, 2)}),
    ("diff", [V], {"prepend": one_of(0, np.array([1.0, 2])), "append": one_of(3.0, np.array([1.0]))}),
    ("ediff1d", [V], {"to_end": one_of(None, 3.0), "to_begin": one_of(None, np.array([1.0, 2.0]))}),
    ("interp", [V, rising(5), floats(5)], {"left": one_of(None, -9.0), "right": one_of(None, 9.0)}),
    ("interp", [V, lambda rng: rng.random(5) * 30 - 9, floats(5)], {"period": one_of(3.0, -7.5)}),
    ("unwrap", [floats(9)], {"discont": one_of(None, 4.0)}),
    ("unwrap", [ints(9, low=-30, high=30)], {"period": one_of(7, 10)}),
    ("average", [lambda rng: M(rng).astype("f4")], {"weights": lambda rng: rng.random((4, 5))}),
    ("quantile", [M, one_of(0.5, [0.1, 0.7])], {"axis": one_of(1), "weights": lambda rng: rng.random(5) + 0.1,
                                               "method": one_of("inverted_cdf")}),
    ("delete", [M, one_of(np.array([[0, 1]]), np.array([True, False, True, False]))], {"axis": one_of(0)}),
    # shapes
    ("reshape", [T, one_of((6, 4), -1, (4, -1), (2, 2, -1))], {"order": one_of("C", "F")}),
    ("ravel", [T], {"order": one_of("C", "F")}),
    ("transpose", [T, one_of(None, (2, 0, 1), (-1, 0, 1))], {}),
    ("permute_dims", [T, one_of((2, 0, 1), (1, 0, 2))], {}),
    ("matrix_transpose", [T], {}),
    ("swapaxes", [T, AXIS3, AXIS3], {}),
    ("moveaxis", [T, one_of(0, -1, 2), one_of(1, -1)], {}),
    ("moveaxis", [T, one_of((0, 1), (2, 0)), one_of((1, 2), (-1, 0))], {}),
    ("rollaxis", [T, AXIS3], {"start": one_of(0, 1, 2, 3)}),
    ("expand_dims", [M, one_of(0, 1, -1, (0, 2), (0, -1))], {}),
    ("squeeze", [floats(1, 3, 1)], {"axis": one_of(None, 0, 2, (0, 2), -1)}),
    ("flip", [T], {"axis": one_of(None, 0, (0, 2), -1)}),
    ("flipud", [T], {}), ("fliplr", [T], {}),
    ("rot90", [T], {"k": one_of(0, 1, 2, 3, -1), "axes": one_of((0, 1), (1, 2), (2, 0))}),
    ("roll", [T, one_of(1, -2, 5)], {"axis": one_of(None, 0, 2)}),
    ("roll", [T, one_of((1, 2), 1)], {"axis": one_of((0, 1), (0, 0))}),
    ("tile", [M, one_of(2, (2, 1), (2, 1, 3))], {}),
    ("repeat", [M, one_of(2, 3)], {"axis": one_of(None, 0, 1)}),
    ("repeat", [V, one_of([0, 1, 2, 0, 3, 1, 1])], {}),
    ("pad", [M, one_of(1, (1, 2), ((1, 0), (2, 3)), ((2,), (1,)))], {
        "mode": one_of("constant", "edge", "reflect", "symmetric", "wrap", "mean", "maximum", "minimum",
                       "linear_ramp", "median")}),
    ("pad", [M, one_of(2)], {"constant_values": one_of(3, (1, 2), ((1, 2), (3, 4)))}),
    ("pad", [M, one_of(1, 9, (1, 7), ((12, 0), (2, 3)))], {"mode": one_of("reflect", "symmetric"), "reflect_type": one_of("odd")}),
    ("pad", [floats(1, 2), one_of(3, ((0, 1), (5, 2)))], {"mode": one_of("reflect", "symmetric"), "reflect_type": one_of("odd")}),
    ("vstack", [lambda rng: [M(rng), M(rng)]], {"dtype": one_of("i4", "f4"), "casting": one_of("unsafe")}),
    ("block", [lambda rng: [[M(rng), M(rng)], [M(rng), M(rng)]]], {}), ("block", [lambda rng: [V(rng), V(rng)]], {}),
    ("sliding_window_view", [T, one_of((2, 3, 2), (1, 1, 4))], {}), ("sliding_window_view", [T, one_of((2, 2))], {"axis": one_of((2, 0))}),
    ("sliding_window_view", [T, one_of(2)], {"axis": one_of(1)}),
    ("resize", [V, one_of((3, 4), 3, (2, 0))], {}),
    ("broadcast_to", [floats(1, 5), one_of((4, 5), (2, 4, 5))], {}),
    ("concatenate", [lambda rng: [M(rng), M(rng), M(rng)]], {"axis": one_of(0, 1, None)}),
    ("stack", [lambda rng: [M(rng), M(rng)]], {"axis": one_of(0, 1, 2, -1)}),
    *((name, [lambda rng: [M(rng), M(rng)]], {}) for name in ("vstack", "hstack", "dstack", "column_stack")),
    *((name, [lambda rng: [V(rng), V(rng)]], {}) for name in ("vstack", "hstack", "dstack", "column_stack")),
    ("append", [M, M], {"axis": one_of(None, 0, 1)}),
    ("delete", [M, one_of(0, -1, [0, 2], slice(0, 2))], {"axis": one_of(0, 1)}),
    ("insert", [V, one_of(0, 3, -1), one_of(2.0, [1.0, 2.0])], {}),
    ("insert", [M, one_of(0, 2, -1, [1], [0, 2]), one_of(7.0)], {"axis": one_of(None, 0, 1)}),
    ("insert", [floats(4, 4), one_of(1), V4], {"axis": one_of(0, 1)}),
    ("insert", [V, one_of([0, 2], [3, 3], slice(0, 2)), one_of([1.0, 2.0], 5.0)], {}),
    ("split", [floats(6, 4), one_of(2, 3, [1, 4])], {}),
    ("array_split", [V, one_of(2, 3, [1, 5])], {}),
    ("hsplit", [floats(6, 4), one_of(2)], {}), ("vsplit", [floats(6, 4), one_of(2)], {}),
    ("unstack", [T], {"axis": AXIS3}),
    ("atleast_1d", [one_of(2.0, np.ones(3))], {}), ("atleast_2d", [V], {}), ("atleast_3d", [M], {}),
    ("broadcast_arrays", [floats(4, 1), floats(5)], {}),
    ("meshgrid", [floats(3), floats(4)], {"indexing": one_of("xy", "ij"), "sparse": one_of(True, False)}),
    ("diagonal", [T], {"offset": one_of(0, 1, -1), "axis1": one_of(0), "axis2": one_of(1, 2)}),
    ("trace", [M], {"offset": one_of(0, 1, -1)}),
    ("diag", [one_of(np.arange(3.0), np.arange(12.0).reshape(3, 4))], {"k": one_of(0, 1, -1)}),
    ("diagflat", [V], {"k": one_of(0, 2)}),
    ("tril", [M], {"k": one_of(0, 1, -1)}), ("triu", [M], {"k": one_of(0, 1, -1)}),
    ("vander", [V], {"N": one_of(None, 3), "increasing": one_of(False, True)}),
    ("unravel_index", [ints(3, 2, low=0, high=24), one_of((2, 3, 4), (4, 6), 24)], {"order": one_of("C", "F")}),
    ("unravel_index", [one_of(7, 0), one_of((2, 3, 4))], {}),
    ("ravel_multi_index", [lambda rng: (ints(9, low=0, high=2)(rng), ints(9, low=0, high=3)(rng)), one_of((2, 3))], {
        "order": one_of("C", "F")}),
    ("ravel_multi_index", [lambda rng: (ints(9)(rng), ints(9)(rng)), one_of((2, 3))], {
        "mode": one_of("wrap", "clip", ("clip", "wrap"))}),
    # elements
    ("where", [MASK, M, one_of(0, 1.5)], {}),
    ("clip", [M, one_of(None, -1.0), one_of(2.0)], {}),
    ("round", [M], {"decimals": one_of(0, 1, -1)}), ("around", [M], {}),
    ("nan_to_num", [holes(4, 5)], {"nan": one_of(0.0, 7.0)}),
    ("isclose", [holes(4, 5), holes(4, 5)], {"equal_nan": one_of(True, False), "rtol": one_of(1e-5, 0.5)}),
    ("allclose", [M, M], {"rtol": one_of(1e-5, 99.0)}),
    ("array_equal", [M, one_of(np.zeros((4, 5)), np.zeros(3))], {}),
    ("select", [lambda rng: [M(rng) > 1, M(rng) > 0], lambda rng: [M(rng), M(rng)]], {"default": one_of(0, 2.5)}),
    ("take", [T, one_of(np.array([0, 1, -1]), 1)], {"axis": one_of(None, 0, 1, -1)}),
    ("take_along_axis", [M, ints(4, 2, low=0, high=4)], {"axis": one_of(1)}),
    ("fix", [M], {}), ("isposinf", [holes(4, 5)], {}), ("isneginf", [holes(4, 5)], {}), ("iscomplex", [M], {}), ("isreal", [M], {}),
    ("polyval", [V4, M], {}), ("choose", [ints(5, low=0, high=2), lambda rng: [ints(5)(rng), ints(5)(rng)]], {}),
    ("unravel_index", [ints(4, low=0, high=23)], {"shape": one_of((4, 6), (2, 3, 4)), "order": one_of("C", "F")}),
    ("ravel_multi_index", [lambda rng: (ints(4, low=0, high=3)(rng), ints(4, low=0, high=4)(rng))], {"dims": one_of((3, 4), (9, 5)),
                                                                                                "order": one_of("C", "F")}),
    ("ravel_multi_index", [lambda rng: (ints(4)(rng), ints(4)(rng))], {"dims": one_of((3, 4)), "mode": one_of("wrap", "clip", ("wrap", "clip"))}),
    ("tril_indices", [one_of(3, 4), one_of(0, 1, -1)], {"m": one_of(None, 2, 5)}), ("triu_indices", [one_of(3, 4), one_of(0, 1, -1)], {}),
    ("tril_indices_from", [floats(3, 4)], {}), ("diag_indices", [one_of(3), one_of(2, 3)], {}), ("ix_", [one_of([0, 2], [True, False, True]), one_of([1])], {}),
    # order
    ("sort", [M], {"axis": one_of(None, 0, 1)}), ("argsort", [floats(4, 50)], {"axis": one_of(0, 1), "kind": one_of("stable")}),
    ("searchsorted", [rising(6), floats(3, 2)], {"side": one_of("left", "right")}),
    ("lexsort", [lambda rng: (ints(9)(rng), ints(9)(rng))], {}),
    ("nonzero", [ints(4, 5, low=0, high=2)], {}), ("argwhere", [ints(4, 5, low=0, high=2)], {}),
    ("flatnonzero", [ints(4, 5, low=0, high=2)], {}),
    ("extract", [MASK, M], {}), ("compress", [one_of([True, False, True]), M], {"axis": one_of(None, 0, 1)}),
    ("unique", [ints(12)], {"return_index": one_of(True, False), "return_inverse": one_of(True, False),
                           "return_counts": one_of(True, False)}),
    ("unique", [holes(12)], {"equal_nan": one_of(True, False), "return_counts": one_of(True, False)}),
    ("unique", [ints(12, 2, low=0, high=2)], {"axis": one_of(0, 1, -1), "return_index": one_of(True, False),
                                             "return_inverse": one_of(True, False), "return_counts": one_of(True, False)}),
    ("intersect1d", [ints(8), ints(5)], {"return_indices": one_of(True)}),
    *((name, [lambda rng: ints(12)(rng) + 1j * ints(12, low=0, high=2)(rng)], {})
      for name in ("unique", "unique_all", "unique_counts", "unique_inverse", "unique_values")),
    ("unique_all", [ints(3, 4)], {}), ("unique_counts", [ints(12)], {}), ("unique_inverse", [ints(3, 4)], {}),
    ("unique_values", [ints(12)], {}),
    ("isin", [ints(4, 5), ints(3)], {"invert": one_of(True, False)}),
    ("union1d", [ints(4), ints(5)], {}), ("intersect1d", [ints(8), ints(5)], {}),
    ("setdiff1d", [ints(8), ints(5)], {}), ("setxor1d", [ints(8), ints(5)], {}),
    # products
    ("matmul", [floats(2, 3), floats(3, 4)], {}), ("dot", [floats(2, 3), floats(3)], {}),
    ("inner", [floats(2, 3), floats(4, 3)], {}), ("outer", [V, V], {}), ("vdot", [M, M], {}),
    ("vecdot", [M, M], {}), ("kron", [floats(2, 3), floats(2)], {}),
    ("tensordot", [T, floats(4, 3, 2), one_of(1, ([0, 1], [2, 1]), (2, 0))], {}),
    ("cross", [floats(4, 3), one_of(np.ones(3), np.ones((4, 1)) * [3, 4])], {}),
    ("cross", [floats(4, 2), floats(4, 2)], {}),
    ("einsum", [one_of("ij,jk->ik", "ij,jk", "ij,jk->"), floats(2, 3), floats(3, 4)], {}),
    ("convolve", [V, floats(3)], {"mode": one_of("full", "same", "valid")}),
    ("correlate", [V, floats(3)], {"mode": one_of("full", "same", "valid")}),
    ("cumulative_sum", [M], {"axis": one_of(0, 1), "include_initial": one_of(True, False)}),
    ("cumulative_prod", [M], {"axis": one_of(0, 1), "include_initial": one_of(True, False)}),
    # made of rules
    ("arange", [one_of(0, 2, -3, 1.5), one_of(9, 7.25), one_of(1, 2, 0.5, -1)], {}),
    ("linspace", [one_of(0, -1.5), one_of(9, 7.25), one_of(1, 2, 7)], {"endpoint": one_of(True, False)}),
    ("linspace", [floats(3), one_of(9.0), one_of(4)], {"axis": one_of(0, 1)}),
    ("logspace", [one_of(0, -1.5), one_of(2), one_of(5)], {}), ("geomspace", [one_of(1.0), one_of(100.0), one_of(5)], {}),
    ("eye", [one_of(3), one_of(None, 4)], {"k": one_of(0, 1, -1)}), ("tri", [one_of(3), one_of(None, 4)], {"k": one_of(0, -1)}),
    ("identity", [one_of(3)], {}), ("indices", [one_of((2, 3))], {}),
    ("zeros", [one_of(3, (2, 3), ())], {"dtype": one_of("float64", "int32", None, bool)}),
    ("ones", [one_of((2, 3))], {"dtype": one_of("float32", "complex64")}),
    ("full", [one_of((2, 3), 4), one_of(1, 2.5, True, 1j)], {"dtype": one_of(None, "complex128")}),
    ("zeros_like", [M], {"dtype": one_of(None, "int8"), "shape": one_of(None, (2, 2))}),
    ("ones_like", [ints(3, dtype="int16")], {}), ("full_like", [M, one_of(3)], {"shape": one_of(None, (1, 2))}),
]


def made(given: Any, rng: np.random.Generator) -> Any:
    return given(rng) if callable(given) and not isinstance(given, type) else given


def lazy(x: Any) -> Any:
    """The same with lazy arrays in the places of arrays."""
    if isinstance(x, np.ndarray):
        return rd.asarray(x)
    return type(x)(lazy(part) for part in x) if isinstance(x, (list, tuple)) else x


def same(got: Any, want: Any, what: str) -> None:
    if isinstance(want, (tuple, list)):
        assert len(got) == len(want), what
        for one, other in zip(got, want):
            same(one, other, what)
        return
    want = np.asarray(want)
    got = np.asarray(got)
    assert got.shape == want.shape, f"{what}: shape {got.shape}, NumPy has {want.shape}"
    assert got.dtype == want.dtype, f"{what}: type {got.dtype}, NumPy has {want.dtype}"
    np.testing.assert_allclose(got, want, rtol=1e-6 if want.dtype in ("f4", "c8") else 1e-10, atol=1e-9, err_msg=what)


@pytest.mark.parametrize("row", range(len(ROWS)), ids=lambda k: f"{ROWS[k][0]}-{k}")
def test_function(row: int) -> None:
    name, places, keywords = ROWS[row]
    for seed in range(TRIES):
        rng = np.random.default_rng([row, seed])
        args = [made(one, rng) for one in places]
        named = {key: made(one, rng) for key, one in keywords.items()}
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # cross of two elements is deprecated
            want = getattr(np, name, getattr(np.lib.stride_tricks, name, None))(*args, **named)
        got = getattr(rd, name)(*map(lazy, args), **{key: lazy(one) for key, one in named.items()})
        same(got, want, f"{name}({args}, {named})")


def test_names() -> None:
    """Each name is there, once, and says what it is."""
    assert len(set(rd.__all__)) == len(rd.__all__)
    for name in rd.__all__:
        assert hasattr(rd, name), name


def test_grids_and_keys() -> None:
    a = np.arange(5.0, dtype="f4")
    x = rd.asarray(a)
    for of in ("r_", "c_"):
        for key in (np.s_[1:4], np.s_[0:1:5j], np.s_[1:9:3, 0] if of == "r_" else np.s_[1:9:3, 0:3], (a, a),
                    *([("0,2", a, a), ("-1", a, 3.5), ("1,2,0", a, a), (a, 1, a[:2])] if of == "r_" else [])):
            got = getattr(rd, of)[tuple(map(lazy, key)) if isinstance(key, tuple) else key]
            same(got, getattr(np, of)[key], f"{of}[{key}]")
    for of in ("mgrid", "ogrid"):
        for key in (np.s_[0:3], np.s_[0:3, 2:5], np.s_[-1:1:5j, 0:4:2, 0:1]):
            same(getattr(rd, of)[key], getattr(np, of)[key], f"{of}[{key}]")
    assert rd.s_[1:2, 3] == np.s_[1:2, 3] and rd.index_exp[2] == (2,)
    with pytest.raises(TypeError, match="matrix"):
        rd.r_["r", x]


def test_array_copies() -> None:
    """array() is of its own, asarray() is not."""
    a = np.arange(4.0)
    x, y = rd.array(a), rd.asarray(a)
    z = rd.array(y)
    a[0], z[1] = 9, 8
    assert x.tolist() == [0, 1, 2, 3] and y.tolist() == [9, 1, 2, 3] and z.tolist() == [9, 8, 2, 3]
    assert rd.array([1, 2], ndmin=3).shape == (1, 1, 2) and rd.array(a, "i2").dtype == np.int16
    assert rd.asarray(a, None, "F").shape == (4,) and rd.asarray([1, 2], dtype=">i4").dtype == np.int32


def test_types_are_classes_of_numbers() -> None:
    assert type(rd.uint8(250)) is np.uint8 and rd.asarray([1], dtype=rd.int16).dtype == rd.int16
    assert (rd.asarray(np.ones(2, "f4")) * rd.float32(2)).dtype == rd.float32
    assert rd.bfloat16 == rd.zeros(1, rd.bfloat16).dtype
    assert rd.float8_e4m3fn == rd.zeros(1, rd.float8_e4m3fn).dtype and rd.zeros(3, rd.float8_e4m3fn).nbytes == 3
    assert rd.finfo(rd.float8_e4m3fn).max == 448


def test_indices_of_numpys_types() -> None:
    """One whole number is one also as NumPy's int64, and an array of them is none."""
    a, n = np.arange(12.0), np.int64(3)
    x = rd.asarray(a)
    same(rd.split(x, np.array([2, 5])), np.split(a, [2, 5]), "split")
    same(rd.split(x, rd.asarray([2, 5])), np.split(a, [2, 5]), "split")
    same(rd.split(x, n), np.split(a, 3), "split")
    same(rd.resize(x, n), np.resize(a, 3), "resize")
    same(rd.insert(x, n, 5), np.insert(a, 3, 5), "insert")
    same(rd.gradient(x, axis=np.int64(0)), np.gradient(a), "gradient")
    same(rd.repeat(x, n), np.repeat(a, 3), "repeat")
    assert rd.broadcast_shapes(n, (2, 1)) == (2, 3)
    assert rd.random.default_rng(1).permutation(n).shape == (3,)
