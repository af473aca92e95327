"""Keywords and methods of NumPy's universal functions: out=, dtype=, where=; reduce, accumulate, outer."""

from __future__ import annotations

import sys
from typing import Any, Callable

from . import _core, _linear, _numeric
from ._leaves import asarray
from ._dtypes import numpy

__all__ = ["ALIASES", "METHODS", "TESTS", "function_for", "function_of", "is_numpys", "outer", "with_keywords"]

# Names of NumPy that are other names of functions here.
ALIASES = {
    "absolute": "abs", "fabs": "abs", "arccos": "acos", "arccosh": "acosh", "arcsin": "asin", "arcsinh": "asinh",
    "arctan": "atan", "arctanh": "atanh", "atan2": "arctan2", "bitwise_invert": "bitwise_not", "invert": "bitwise_not",
    "bitwise_left_shift": "left_shift", "bitwise_right_shift": "right_shift", "conjugate": "conj",
    "degrees": "rad2deg", "radians": "deg2rad", "mod": "remainder", "pow": "power", "true_divide": "divide",
}

# ufunc.method: the function here, the axis where none is said
METHODS = {
    "reduce": {"add": "sum", "multiply": "prod", "minimum": "min", "maximum": "max", "fmin": "nanmin",
               "fmax": "nanmax", "logical_and": "all", "logical_or": "any", "bitwise_and": "bits_and",
               "bitwise_or": "bits_or", "bitwise_xor": "bits_xor", "logaddexp": "logsumexp", "hypot": "norm"},
    "accumulate": {"add": "cumsum", "multiply": "cumprod", "minimum": "cummin", "maximum": "cummax"},
}

# Functions whose results are truths, whatever their operands are.
TESTS = frozenset(["equal", "not_equal", "less", "less_equal", "greater", "greater_equal", "isnan", "isinf",
                   "isfinite", "signbit", "logical_not", "logical_and", "logical_or", "logical_xor"])

_HERE: dict[str, Callable[..., Any]] = {
    "positive": lambda x: asarray(x), "exp10": _core.exp10, "fmod": _numeric.fmod, "modf": _numeric.modf,
    "frexp": _numeric.frexp, "divmod": _numeric.divmod, "float_power": lambda x, y: _core.power(x * 1.0, y),
    "logaddexp2": lambda x, y: _core.logaddexp(x * _LN2, y * _LN2) / _LN2, "ldexp": _core.ldexp,
    "matvec": _linear.matvec, "vecmat": _linear.vecmat,
}
_LN2 = 0.6931471805599453


def function_of(name: str) -> Callable[..., Any] | None:
    """The function that means what NumPy's of this name does."""
    found = _HERE.get(name) or getattr(_core, ALIASES.get(name, name), None)
    return found if callable(found) and not isinstance(found, type) else None


# Names of scipy.special's universal functions that are functions here.
_SPECIAL = {"digamma": "digamma", "erf": "erf", "erfc": "erfc", "erfinv": "erfinv", "expit": "sigmoid", "gamma": "gamma",
            "gammaln": "gammaln", "ndtr": "ndtr", "psi": "digamma", "exp10": "exp10", "cbrt": "cbrt"}


def function_for(ufunc: Any) -> Callable[..., Any] | None:
    """The function that means what a universal function does: one of NumPy or of scipy.special.

    Others may have their names and do something else."""
    name = ufunc.__name__
    if getattr(numpy, name, None) is ufunc:
        return function_of(name)
    special = sys.modules.get("scipy.special")
    if name in _SPECIAL and getattr(special, name, None) is ufunc:
        return function_of(_SPECIAL[name])
    return None


def is_numpys(ufunc: Any) -> bool:
    """Whether a universal function is NumPy's own."""
    return getattr(numpy, ufunc.__name__, None) is ufunc


def _fits(dtype: Any, out: Any, casting: Any) -> None:
    """NumPy's rule of what may be written where, so that no fraction is lost without a word."""
    if casting not in ("no", "equiv", "safe", "same_kind", "unsafe"):
        raise ValueError(f"rdim: casting={casting!r} is none of NumPy's")
    if not numpy.can_cast(dtype, out.dtype, casting):
        raise TypeError(f"rdim: cannot cast the result from {dtype} to {out.dtype} of out= by the rule {casting!r}")


def _write(made: Any, out: Any, where: Any, casting: str) -> Any:
    _fits(made.dtype, out, casting)
    if casting == "unsafe":
        made = _core.astype(made, out.dtype)
    if where is not True:
        made = _core.where(where, made, asarray(out))
    return _core.evaluate_into(_core.broadcast_to(made, out.shape), out)


def with_keywords(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A function of elements with the keywords of NumPy's universal functions."""
    function = function_of(name)
    out, where = kwargs.pop("out", None), kwargs.pop("where", True)
    dtype, casting = kwargs.pop("dtype", None), kwargs.pop("casting", "same_kind")
    kwargs.pop("order", None), kwargs.pop("subok", None)
    if kwargs or function is None:
        raise TypeError(f"rdim.{name}() has no keyword {', '.join(map(repr, kwargs))}")
    if dtype is not None:
        if name in TESTS:
            raise TypeError(f"rdim.{name}(): results are bool, not {dtype}; say astype()")
        args = tuple(_core.astype(one, dtype) for one in args)
    made = function(*args)
    outs = out if isinstance(out, tuple) else (out,)
    if all(one is None for one in outs):
        if where is not True:
            raise TypeError(f"rdim.{name}(): where= needs out=, which has the other elements; rdim.where() takes both")
        return made
    parts = made if isinstance(made, tuple) else (made,)
    found = tuple(one if to is None else _write(one, to, where, casting) for one, to in zip(parts, outs))
    return found if isinstance(made, tuple) else found[0]


def outer(name: str, a: Any, b: Any, **kwargs: Any) -> Any:
    """A function of all pairs of elements, as a method of NumPy's universal functions."""
    a, b = asarray(a), asarray(b)
    a = _core.reshape(a, a.shape + (1,) * b.ndim)
    return with_keywords(name, (a, b), kwargs)
