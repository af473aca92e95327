"""Functions that other libraries have: their arguments are evaluated, their results become Arrays."""

from __future__ import annotations

import importlib
from typing import Any, Callable

from . import _core
from ._dtypes import numpy
from ._leaves import asarray

__all__ = ["evaluated"]


def _values(x: Any) -> Any:
    if isinstance(x, _core.Array):
        return _core.compute(x)
    return type(x)(map(_values, x)) if type(x) in (list, tuple) else x


def _arrays(x: Any) -> Any:
    if isinstance(x, tuple):
        made = [_arrays(part) for part in x]
        return type(x)(*made) if hasattr(x, "_fields") else tuple(made)
    return asarray(x) if getattr(getattr(x, "dtype", None), "name", None) in _core.dtype_names else x


def _numpys(module: str, name: str) -> Any:
    return getattr(importlib.import_module(f"numpy.{module}" if module else "numpy"), name)


def evaluated(module: str, name: str) -> Callable[..., Any]:
    """numpy.<module>.<name> for Arrays, of "" numpy.<name>: it evaluates them when it is called."""

    def call(*args: Any, **kwargs: Any) -> Any:
        function = _numpys(module, name)
        named = {key: _values(value) for key, value in kwargs.items()}
        return _arrays(function(*map(_values, args), **named))

    call.__name__, call.__qualname__ = name, name
    if numpy is not None:
        call.__wrapped__ = _numpys(module, name)  # type: ignore[attr-defined]  # whose signature inspect shows
    call.__doc__ = f"numpy.{module + '.' if module else ''}{name} of the elements, which are evaluated when it is called."
    return call
