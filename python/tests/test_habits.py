"""What people write with NumPy: pieces of programs from habits.txt, with rdim in NumPy's place.

Each runs three times: with NumPy, with the package rdim as `np`, and with NumPy's own functions over lazy arrays.  The
results have the same values, shapes and types.  KNOWN lists what differs, with what happens instead.
"""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any, Callable

import numpy as np
import pytest

import rdim as rd

TEXT = Path(__file__).with_name("habits.txt").read_text()
HABITS = {head: code for head, _, code in (part.partition("\n") for part in TEXT[2:].split("\n# "))}

# An exception, or None for a result of another value or type.  "rd": with rdim as np, "np": with NumPy's functions.
BOTH: dict[str, type[Exception] | None] = {
    "pickle": TypeError,  # an Array reads memory of its process
    "mandel": TypeError,  # complex numbers have no order; and rd.array of a complex 2
    "datetime": None, "structured": None, "strings": None, "objects": None,  # refused with a TypeError
    "bool_pow": None,  # int64: NumPy's ** 2 of bools alone is int8, its power(bools, 2) is int64
    "assert_allclose": ValueError,  # assert_almost_equal asks for the truth of an array that is no ndarray
    "nbytes": AttributeError, "base_flags": AttributeError, "setflags": AttributeError, "ctypes_": AttributeError,
    "shape_set": AttributeError, "complex_set_real": AttributeError,  # no memory: no strides, flags, data
    "view": None,  # an AttributeError for the same reason
    "add_reduceat": Exception,
}
KNOWN: dict[str, dict[str, type[Exception] | None]] = {
    "np": {**{key: one for key, one in BOTH.items() if key != "mandel"}},
    "rd": {**BOTH, "iinfo": None,  # numbers of Python, as the Array API wants them
           "vectorize": AttributeError, "as_strided": AttributeError,
           # rd.add is a function: numpy.add.reduce(x) has the methods
           **dict.fromkeys(("group_addat", "max_drawdown", "add_reduce", "mul_outer", "max_acc", "logical_reduce",
                            "logical_or_reduce", "ufunc_at_sub"), AttributeError)},
}
MADE = {"array", "asarray", "zeros", "ones", "full", "empty", "arange", "linspace", "logspace", "geomspace", "eye",
        "identity", "zeros_like", "ones_like", "full_like", "empty_like", "hanning", "fromiter"}


class OverLazy:
    """NumPy, whose functions that make arrays make lazy ones."""

    lib, linalg, fft = np.lib, np.linalg, np.fft

    def __getattr__(self, name: str) -> Any:
        function = getattr(np, name)
        return self._made(function, name) if name in MADE else function

    @staticmethod
    def _made(function: Callable[..., Any], name: str) -> Callable[..., Any]:
        def call(*args: Any, **named: Any) -> Any:
            if name in ("array", "asarray") and isinstance(args[0], rd.Array) and not named:
                return rd.array(args[0])
            made = function(*args, **named)
            return tuple(map(lazy, made)) if isinstance(made, tuple) else rd.asarray(made)

        return call


def lazy(x: Any) -> Any:
    return rd.asarray(x) if isinstance(x, np.ndarray) else x


def data(wrap: Callable[[Any], Any]) -> dict[str, Any]:
    rng = np.random.default_rng(3)
    X, V, I = rng.normal(size=(5, 6)), rng.normal(size=20), rng.integers(0, 6, 20)
    Xn = np.where(rng.random((5, 6)) < 0.2, np.nan, X)
    T, T3, IM = rng.normal(size=(2, 3, 4)), rng.normal(size=(4, 5, 3)), rng.integers(0, 2, (8, 2))
    return {key: wrap(one) for key, one in dict(X=X, V=V, I=I, Xn=Xn, T=T, T3=T3, IM=IM).items()}


def result(code: str, module: Any, wrap: Callable[[Any], Any]) -> Any:
    names = {"np": module, "E": np, "rd": rd, **data(wrap)}
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec(code, names)
        return value(names["r"])


def value(x: Any) -> Any:
    if isinstance(x, rd.Array):
        return np.asarray(x)
    if isinstance(x, (tuple, list)):
        return [value(part) for part in x]
    return {key: value(part) for key, part in x.items()} if isinstance(x, dict) else x


def unlike(got: Any, want: Any) -> str:
    """What differs; nothing where nothing does."""
    if isinstance(want, dict):
        return "keys" if got.keys() != want.keys() else "".join(unlike(got[key], want[key]) for key in want)
    if isinstance(want, list) and not isinstance(got, np.ndarray):
        return f"{len(got)} parts" if len(got) != len(want) else "".join(map(unlike, got, want))
    if isinstance(want, (str, bytes, type, type(None))):
        return "" if got == want else f"{got!r}, NumPy has {want!r}"
    got, want = np.asarray(got), np.asarray(want)
    if got.shape != want.shape or got.dtype != want.dtype:
        return f"{got.dtype} {got.shape}, NumPy has {want.dtype} {want.shape}"
    return "" if np.allclose(got, want, rtol=1e-6, equal_nan=True) else f"{got}, NumPy has {want}"


@pytest.mark.parametrize("how", ["rd", "np"])
@pytest.mark.parametrize("name", HABITS)
def test_habit(name: str, how: str) -> None:
    if name.startswith("sc_"):
        pytest.importorskip("scipy")
    want = result(HABITS[name], np, np.array)
    module = rd if how == "rd" else OverLazy()
    known = KNOWN[how].get(name, "")
    if isinstance(known, type):
        with pytest.raises(known):
            result(HABITS[name], module, rd.asarray)
        return
    found = unlike(result(HABITS[name], module, rd.asarray), want)
    assert bool(found) == (name in KNOWN[how]), found
