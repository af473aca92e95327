"""NumPy's functions of lazy arrays: lazy where rdim has them, a TypeError where it has not, NumPy's results."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
import pytest

import rdim as rd
from rdim import _numpy, _ufuncs
from test_names import ROWS, made, same

RNG = np.random.default_rng(5)
UFUNCS = sorted(name for name in np.__all__ if isinstance(getattr(np, name), np.ufunc) and _ufuncs.function_of(name))
NOT_OF_FLOATS = {"bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_not", "bitwise_invert", "invert", "left_shift",
                 "right_shift", "bitwise_left_shift", "bitwise_right_shift", "gcd", "lcm", "bitwise_count"}


def lazy(x: Any) -> Any:
    if isinstance(x, np.ndarray):
        return rd.asarray(x)
    return type(x)(lazy(part) for part in x) if isinstance(x, (list, tuple)) else x


def operands(name: str, n: int) -> list[np.ndarray]:
    if name in NOT_OF_FLOATS or name == "ldexp":
        some = [RNG.integers(1, 9, (3, 4)) for _ in range(n)]
        return [some[0].astype(float), some[1]] if name == "ldexp" else some
    if name in ("matmul", "vecdot", "matvec", "vecmat"):
        return [RNG.random((4, 4)) for _ in range(n)]
    return [RNG.random((3, 4)) * 0.9 + (1 if name in ("arccosh", "acosh") else 0) for _ in range(n)]


@pytest.mark.parametrize("name", UFUNCS)
def test_ufunc(name: str) -> None:
    ufunc = getattr(np, name)
    args = operands(name, ufunc.nin)
    want = ufunc(*args)
    got = ufunc(lazy(args[0]), *args[1:])
    assert all(isinstance(one, rd.Array) for one in (got if isinstance(got, tuple) else (got,)))
    same(got, want, name)
    if ufunc.nout == 1:
        out = np.empty_like(want)
        assert ufunc(*map(lazy, args), out=out) is out
        same(out, want, name)
    if ufunc.nin == 2 and ufunc.signature is None:
        same(ufunc(args[0], lazy(args[1])), want, name)
        same(ufunc.outer(lazy(args[0]), args[1][0]), ufunc.outer(args[0], args[1][0]), name)


@pytest.mark.parametrize("method", ["reduce", "accumulate"])
def test_methods_of_ufuncs(method: str) -> None:
    for name in _ufuncs.METHODS[method]:
        if name in ("logaddexp", "hypot"):
            a = RNG.random((3, 4))
        else:
            a = RNG.integers(0, 9, (3, 4)).astype("?" if name.startswith("logical") else "i8")
        function = getattr(getattr(np, name), method)
        for axis in (0, 1, -1) if method == "accumulate" else (0, 1, None, (0, 1)):
            same(function(lazy(a), axis=axis), function(a, axis=axis), f"{name}.{method} {axis}")
        same(function(lazy(a)), function(a), f"{name}.{method}")
    a = RNG.random((3, 4))
    mask = a > 0.3
    same(np.add.reduce(lazy(a), axis=1, keepdims=True, where=mask), np.add.reduce(a, axis=1, keepdims=True, where=mask),
         "where")
    same(np.maximum.reduce(lazy(a), initial=0.9), np.maximum.reduce(a, initial=0.9), "initial")


@pytest.mark.parametrize("row", range(len(ROWS)), ids=lambda k: f"{ROWS[k][0]}-{k}")
def test_function(row: int) -> None:
    """What test_names.py calls by rdim's name, by NumPy's: the same result, and lazy where it is an array."""
    name, places, keywords = ROWS[row]
    function = getattr(np, name, getattr(np.lib.stride_tricks, name, None))
    rng = np.random.default_rng([row, 99])
    args = [made(one, rng) for one in places]
    named = {key: made(one, rng) for key, one in keywords.items()}
    if not hasattr(function, "_implementation") or not any(isinstance(one, (np.ndarray, list, tuple)) for one in args):
        pytest.skip("NumPy asks nobody")
    with np.errstate(all="ignore"):
        want = function(*args, **named)
    lazies = [lazy(one) for one in args]
    if not any(isinstance(one, rd.Array) or isinstance(one, (list, tuple)) for one in lazies):
        pytest.skip("no array")
    same(function(*lazies, **{key: lazy(one) for key, one in named.items()}), want, f"{name}({args}, {named})")


def test_stays_lazy() -> None:
    x = rd.asarray(RNG.random((3, 4)))
    y = np.sqrt(x) + np.mean(x, axis=0)
    assert isinstance(y, rd.Array)
    a = np.asarray(x)
    same(y, np.sqrt(a) + a.mean(axis=0), "sqrt and mean")
    for one in (a + x, a * x, np.float32(2) * x, x @ a.T, a.T @ x, [1, 2, 3, 4] + x, a == x, a < x, 2 ** x):
        assert isinstance(one, rd.Array)
    a += x
    same(a, 2 * np.asarray(x), "in place")


def test_out_and_where() -> None:
    a = RNG.random((3, 4))
    x, out = rd.asarray(a.copy()), a.copy()
    np.multiply(x, 10, out=out, where=a > 0.5)
    same(out, np.where(a > 0.5, a * 10, a), "where")
    with pytest.raises(TypeError, match="cast"):
        np.add(x, 1, out=np.zeros((3, 4), int))
    np.add(x, 1, out=np.zeros((3, 4), int), casting="unsafe")
    with pytest.raises(TypeError, match="where"):
        np.add(x, 1, where=a > 0.5)
    same(rd.add(x, 1, dtype="float32"), np.add(a, 1, dtype="float32"), "dtype")
    out = np.zeros(4)
    assert np.sum(x, axis=0, out=out) is out
    same(out, a.sum(axis=0), "sum")


def test_what_is_not_known() -> None:
    x = rd.asarray(RNG.random((3, 4)))
    for call in (lambda: np.spacing(x), lambda: np.add.reduceat(x, [0]), lambda: np.subtract.reduce(x),
                 lambda: np.isnat(x), lambda: np.power.at(x, [0], 1), lambda: np.negative.at(x, [0]),
                 lambda: np.busday_count(x, x)):
        with pytest.raises(TypeError, match="rdim has no"):
            call()
    with pytest.raises(ValueError, match="copy"):
        np.array(x, copy=False)


def test_elements() -> None:
    a = RNG.random((3, 4))
    x = rd.asarray(a)
    assert np.asarray(x).dtype == a.dtype and np.asarray(x, dtype="f4").dtype == np.float32
    assert np.array(x * 1).tolist() == a.tolist()


class Other:
    """A class that knows more than rdim does: it is asked."""

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> str:
        return "other"

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> str:
        return "other"

    def __radd__(self, other: Any) -> str:
        return "radd"


def test_others_are_asked() -> None:
    x = rd.asarray(np.ones(3))
    assert np.add(x, Other()) == "other"
    assert np.concatenate([x, Other()]) == "other"
    assert operator.add(x, Other()) == "radd"


WINDOWS = [  # the shape, the extents of windows, their axes
    ((7,), 3, None), ((7,), (3,), None), ((4, 5), (2, 3), None), ((4, 5), 2, 0), ((4, 5), 2, -1), ((4, 5), (3, 2), (1, 0)),
    ((4, 5, 6), (2, 6), (0, 2)), ((6, 3), (2, 3), (0, 0)), ((4, 5), (), ()), ((4, 5), 5, 1),
]


@pytest.mark.parametrize("shape, window, axis", WINDOWS)
def test_windows(shape: Any, window: Any, axis: Any) -> None:
    a = RNG.random(shape)
    want = np.lib.stride_tricks.sliding_window_view(a, window, axis=axis)
    same(rd.lib.stride_tricks.sliding_window_view(rd.asarray(a), window, axis, subok=False, writeable=False), want, "rdim")
    same(np.lib.stride_tricks.sliding_window_view(rd.asarray(a), window, axis=axis), want, "numpy")
    same(rd.sliding_window_view(a[..., None], 2, 0, step=2)[..., 0, :],
         np.moveaxis(np.lib.stride_tricks.sliding_window_view(a, 2, axis=0)[::2], -1, -1), "step")


@pytest.mark.parametrize("window, axis", [(3, None), ((2, 2), 0), ((2,), (0, 1)), (6, 1), (2, 2), (-1, 0)])
def test_windows_that_do_not_fit(window: Any, axis: Any) -> None:
    a = RNG.random((4, 5))
    for function in (np.lib.stride_tricks.sliding_window_view, rd.sliding_window_view):
        with pytest.raises(ValueError):
            function(a, window, axis=axis)


def test_is_a_sequence() -> None:
    """pandas takes all that is no sequence and has float() for a number."""
    import ctypes

    a = RNG.random((3, 2))
    get = ctypes.pythonapi.PySequence_GetItem
    get.argtypes, get.restype = [ctypes.py_object, ctypes.c_ssize_t], ctypes.py_object
    assert ctypes.pythonapi.PySequence_Check(ctypes.py_object(rd.asarray(a))) == 1
    same(get(rd.asarray(a), 1), a[1], "item")
    same(get(rd.asarray(a), -1), a[-1], "from the end")
    for wrong in (3, -4):
        with pytest.raises(IndexError):
            get(rd.asarray(a), wrong)


def test_covered() -> None:
    """The table of what stays lazy has what people use; what it lacks is a TypeError, above."""
    table = _numpy.covered()
    assert len(table["ufuncs"]) > 80 and len(table["functions"]) > 120
    assert {"sum", "mean", "where", "einsum", "concatenate", "nanmean", "pad", "unique"} <= set(table["functions"])


def test_universal_functions_of_others() -> None:
    """A name says nothing: scipy.special's are known by what they are, others are evaluated."""
    special = pytest.importorskip("scipy.special")
    a = RNG.random((3, 4))
    x = rd.asarray(a)
    for name in ("expit", "erf", "gammaln", "psi", "ndtr"):
        got = getattr(special, name)(x)
        assert isinstance(got, rd.Array)
        same(got, getattr(special, name)(a), name)
    same(special.binom(x * 9, 2.0), special.binom(a * 9, 2.0), "binom")
    doubled = np.frompyfunc(lambda one: 2 * one, 1, 1)
    assert np.asarray(doubled(x)).tolist() == (2 * a).tolist()
    out = np.zeros((3, 4))
    assert special.i0(x, out=out) is out
    same(out, special.i0(a), "out")


def test_what_is_numpys() -> None:
    a = RNG.random((3, 4))
    x = rd.asarray(a)
    same(np.apply_along_axis(np.ptp, 1, x), np.apply_along_axis(np.ptp, 1, a), "apply_along_axis")
    same(np.histogram2d(x[0], x[1], bins=3), np.histogram2d(a[0], a[1], bins=3), "histogram2d")
    same(rd.polyfit(x[0], x[1], 1), np.polyfit(a[0], a[1], 1), "polyfit")
    same(rd.hanning(5), np.hanning(5), "hanning")
    assert np.array2string(x) == np.array2string(a)
    np.testing.assert_allclose(x, a)
    with pytest.raises(AssertionError):
        np.testing.assert_allclose(x, a + 1)
