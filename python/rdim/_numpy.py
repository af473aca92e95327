"""NumPy's protocols, so that its functions of lazy arrays are lazy: np.sqrt(x) + np.mean(x, axis=0).

What NumPy calls by a name is what rdim calls by that name.  What rdim has not is a TypeError, which says so;
numpy.asarray(x) evaluates x, and gives NumPy an array of its own.
"""

from __future__ import annotations

from typing import Any, Callable

from . import _changes, _core, _numpys, _ufuncs
from ._dtypes import numpy

__all__ = ["array", "array_function", "array_ufunc", "covered"]

_NUMBERS = (bool, int, float, complex, list, tuple)


def _known(one: Any) -> bool:
    """Whether an operand is for rdim to take: others are asked by NumPy in their turn."""
    if isinstance(one, (_core.Array, numpy.ndarray, numpy.generic, *_NUMBERS)) or one is None:
        return True
    return not hasattr(one, "__array_ufunc__")


def _lacks(what: str) -> TypeError:
    return TypeError(f"rdim has no {what}; numpy.asarray(x) evaluates a lazy array, and NumPy takes that")


# ---- Universal functions ----------------------------------------------------------------------------------------
def array_ufunc(self: Any, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
    """numpy.<ufunc>(...) and its methods where an operand is an Array."""
    if not all(_known(one) for one in inputs):
        return NotImplemented
    name, function = ufunc.__name__, _ufuncs.function_for(ufunc)
    if not _ufuncs.is_numpys(ufunc):
        if function is not None and method == "__call__" and not kwargs:
            return function(*inputs)
        return _numpys.foreign(ufunc, method, inputs, kwargs)
    if method == "__call__":
        if function is None:
            raise _lacks(f"numpy.{name}")
        if not kwargs:
            return function(*inputs)
        return _ufuncs.with_keywords(name, inputs, kwargs)
    if method == "at":
        return _at(ufunc, *inputs)
    if method == "outer" and _ufuncs.function_of(name) is not None:
        return _ufuncs.outer(name, *inputs, **kwargs)
    return _along(name, method, inputs, kwargs)


def _at(ufunc: Any, a: Any, indices: Any, *b: Any) -> None:
    """numpy.add.at(a, indices, b): an Array gets another expression, NumPy's memory is written to."""
    if not isinstance(a, _core.Array):
        _numpys.foreign(ufunc, "at", (a, indices, *b), {})
    elif not b or not _changes.add_at(ufunc.__name__, a, indices, b[0]):
        raise _lacks(f"numpy.{ufunc.__name__}.at")


def _along(name: str, method: str, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """reduce and accumulate: along axis 0 where nothing is said, and not along all as the functions."""
    found = _ufuncs.METHODS.get(method, {}).get(name)
    if found is None:
        raise _lacks(f"numpy.{name}.{method}")
    x, rest = inputs[0], inputs[1:]
    for key, value in zip(("axis", "dtype", "out", "keepdims", "initial", "where"), rest):
        kwargs.setdefault(key, value)
    kwargs.setdefault("axis", 0)
    out = kwargs.pop("out", None)
    out = out[0] if isinstance(out, tuple) else out
    kwargs = {key: value for key, value in kwargs.items() if value is not None or key == "axis"}
    if kwargs.get("where") is True:
        del kwargs["where"]
    if found in ("bits_and", "bits_or", "bits_xor", "all", "any") and kwargs.get("dtype") is None:
        kwargs.pop("dtype", None)
    made = getattr(_core, found)(x, **kwargs)
    return made if out is None else _core.evaluate_into(made, out)


# ---- Other functions --------------------------------------------------------------------------------------------
# Modules of NumPy whose functions are those of the same names here.
_MODULES = {"numpy": "rdim", "numpy.linalg": "rdim.linalg", "numpy.fft": "rdim.fft", "numpy.lib.stride_tricks": "rdim"}

# NumPy's names of functions that have another name here.
_OTHER = {"amax": "max", "amin": "min", "nanargmax": "nanargmax", "round_": "round", "trapz": "trapezoid",
          "msort": "sort", "row_stack": "vstack", "product": "prod", "cumproduct": "cumprod", "sometrue": "any",
          "alltrue": "all"}

_cache: dict[Any, Callable[..., Any] | None] = {}


def _where(condition: Any, *parts: Any) -> Any:
    import rdim

    return rdim.nonzero(condition) if not parts else rdim.where(condition, *parts)


def _find(function: Any) -> Callable[..., Any] | None:
    import importlib

    name = function.__name__
    if name == "where":
        return _where
    module = _MODULES.get(function.__module__)
    if module is None:
        return None
    here = importlib.import_module(module)
    wanted = _OTHER.get(name, name)
    return getattr(here, wanted) if wanted in here.__all__ else None


def function_for(function: Any) -> Callable[..., Any] | None:
    """The function here that means what one of NumPy's does; None: there is none."""
    if function not in _cache:
        _cache[function] = _find(function)
    return _cache[function]


def array_function(self: Any, func: Any, types: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """numpy.<func>(...) where an argument is an Array."""
    if not all(issubclass(one, (_core.Array, numpy.ndarray)) for one in types):
        return NotImplemented
    found = function_for(func)
    if found is None:
        raise _lacks(f"{func.__module__}.{func.__name__}")
    absent = getattr(numpy, "_NoValue", None)
    return found(*args, **{key: value for key, value in kwargs.items() if absent is None or value is not absent})


def covered() -> dict[str, list[str]]:
    """Which functions of NumPy stay lazy, and which have no function here."""
    table: dict[str, list[str]] = {"ufuncs": [], "functions": [], "linalg": [], "none": []}
    for name in sorted(numpy.__all__):
        one = getattr(numpy, name)
        if isinstance(one, numpy.ufunc):
            table["ufuncs" if _ufuncs.function_of(name) else "none"].append(name)
        elif hasattr(one, "_implementation"):
            table["functions" if function_for(one) else "none"].append(name)
    for name in sorted(numpy.linalg.__all__):
        one = getattr(numpy.linalg, name)
        if hasattr(one, "_implementation"):
            table["linalg" if function_for(one) else "none"].append("linalg." + name)
    return table


# ---- Elements ---------------------------------------------------------------------------------------------------
def array(self: Any, dtype: Any = None, copy: bool | None = None) -> Any:
    """The elements as an array of NumPy: what numpy.asarray(x) asks for.  It evaluates."""
    if copy is False:
        raise ValueError("rdim: elements of a lazy array are computed, so there is no NumPy array without a copy")
    made = _core.compute(self)
    return made if dtype is None or made.dtype == dtype else made.astype(dtype)
