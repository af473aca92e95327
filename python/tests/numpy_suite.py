"""NumPy's own tests with lazy arrays: a plugin of pytest.

    python -m pytest -p numpy_suite --pyargs numpy.lib.tests.test_nanfunctions

Each function of numpy that rdim has is replaced by one that makes its arrays lazy, calls NumPy's
function, which hands them to rdim, and evaluates what comes back.  Arguments of types that rdim lacks, and of
subclasses, stay NumPy's.
"""

from __future__ import annotations

import functools
from typing import Any, Callable

import numpy as np
import pytest

import rdim as rd
from rdim import _numpy, _numpys

_TYPES = {np.dtype(name) for name in ("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
                                      "float16", "float32", "float64", "complex64", "complex128")}
_MADE_OF_RULES = {"arange", "linspace", "zeros", "ones", "full", "empty", "eye", "identity", "array", "asarray",
                  "array_equal", "array_equiv", "allclose", "isclose", "geomspace", "logspace", "tri", "meshgrid",
                  "indices", "fromfunction", "copy", "shape", "ndim", "size", "isnan", "isfinite"}
# What changes its first argument, and what rdim gives to NumPy anyhow.
_NUMPYS = {"copyto", "put", "place", "putmask", "fill_diagonal", "put_along_axis", *_numpys.__all__}
CALLS = {"lazy": 0, "numpy": 0}
_within = False


def _takes(x: Any) -> bool:
    return type(x) is np.ndarray and x.dtype in _TYPES and x.dtype.isnative


def _lazy(x: Any) -> Any:
    if _takes(x):
        return rd.asarray(x)
    if type(x) in (list, tuple) and any(_takes(part) for part in x):
        return type(x)(map(_lazy, x))
    return x


def _value(x: Any) -> Any:
    if isinstance(x, rd.Array):
        return np.asarray(x)[()]
    if isinstance(x, tuple):
        return type(x)(*map(_value, x)) if hasattr(x, "_fields") else tuple(map(_value, x))
    return list(map(_value, x)) if isinstance(x, list) else x


def _wrapped(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        global _within
        if _within:  # rdim asks NumPy, of evaluated arguments
            return function(*args, **kwargs)
        lazies = [_lazy(x) for x in args]
        named = {key: value if key == "out" else _lazy(value) for key, value in kwargs.items()}
        changed = any(one is not x for one, x in zip(lazies, args)) or any(named[key] is not kwargs[key] for key in named)
        CALLS["lazy" if changed else "numpy"] += 1
        if not changed:
            return function(*args, **kwargs)
        _within = True
        try:
            return _value(function(*lazies, **named))
        finally:
            _within = False

    return call


def pytest_configure(config: pytest.Config) -> None:
    """Replaces the names of numpy that rdim has, before test modules keep them."""
    for name in np.__all__:
        one = getattr(np, name)
        known = not isinstance(one, np.ufunc) and hasattr(one, "_implementation") and _numpy.function_for(one)
        if known and name not in _MADE_OF_RULES | _NUMPYS:
            setattr(np, name, _wrapped(one))


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """How many calls went to rdim."""
    terminalreporter.write_line(f"{CALLS['lazy']} calls of lazy arrays, {CALLS['numpy']} of what rdim does not take")


