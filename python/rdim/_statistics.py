"""Averages, covariances, order statistics, of all elements or along axes."""

from __future__ import annotations

import operator
from typing import Any

from . import _core
from ._leaves import asarray

__all__ = ["average", "corr", "corrcoef", "cov", "mad", "nanmedian", "nanpercentile", "nanquantile", "percentile",
           "ptp", "quantile"]


def ptp(a: Any, axis: Any = None, out: Any = None, keepdims: bool = False, *, by: Any = None,
        groups: Any = None) -> Any:
    """The greatest less the least element, as numpy.ptp, of all or of each group."""
    given = {"axis": axis, "keepdims": keepdims, "by": by, "groups": groups}
    found = _core.max(a, **given) - _core.min(a, **given)
    return found if out is None else _core.evaluate_into(found, out)


def average(a: Any, axis: Any = None, weights: Any = None, returned: bool = False, *, keepdims: bool = False) -> Any:
    """The mean, each element as often as its weight says, as numpy.average."""
    a = asarray(a)
    if weights is not None:
        weights = asarray(weights)
        if weights.shape != a.shape:
            weights = _along(weights, a, axis)
        both = _core.where(True, _core.zeros((), a.dtype), _core.zeros((), weights.dtype)).dtype
        a = _core.astype(a, both if both.kind in "fc" else "float64")
    mean = _core.mean(a, axis=axis, keepdims=keepdims, weights=weights)
    if not returned:
        return mean
    total = a.size / max(mean.size, 1) if weights is None else _core.sum(weights, axis=axis, keepdims=keepdims)
    return mean, _core.broadcast_to(_core.astype(asarray(total), mean.dtype), mean.shape)


def _along(weights: Any, a: Any, axis: Any) -> Any:
    """A row of weights along the axis that is reduced."""
    if axis is None:
        raise TypeError("rdim.average(): Axis must be specified when shapes of a and weights differ")
    axes = [one % a.ndim for one in (axis if isinstance(axis, (tuple, list)) else (axis,))]
    if tuple(a.shape[one] for one in axes) != tuple(weights.shape):
        raise _core.ShapeError(f"rdim.average(): Shape of weights must be consistent with shape of a along "
                               f"specified axis: {weights.shape} for axis {axis} of {a.shape}")
    weights = _core.transpose(weights, tuple(sorted(range(len(axes)), key=lambda k: axes[k])))
    return _core.reshape(weights, tuple(n if k in axes else 1 for k, n in enumerate(a.shape)))


# ---- Pairs of variables -----------------------------------------------------------------------------------------
def _variables(m: Any, y: Any, rowvar: bool, dtype: Any) -> Any:
    parts: list[Any] = []
    for given in (m,) if y is None else (m, y):
        x = asarray(given)
        if x.ndim > 2:
            raise ValueError(f"rdim.cov(): an array of {x.ndim} axes; at most two are possible")
        turned = not rowvar and x.ndim == 2 and (not parts or x.shape[0] != 1)
        x = _core.reshape(x, (1, -1)) if x.ndim < 2 else x
        parts.append(x.T if turned else x)
    x = _core.concat(parts, 0)
    if dtype is None:
        return x * 1.0 if x.dtype.kind in "biu" else x
    return _core.astype(x, dtype)


def cov(m: Any, y: Any = None, rowvar: bool = True, bias: bool = False, ddof: int | None = None,
        fweights: Any = None, aweights: Any = None, *, dtype: Any = None) -> Any:
    """The covariance of each pair of variables, as numpy.cov."""
    x = _variables(m, y, rowvar, dtype)
    ddof = (0 if bias else 1) if ddof is None else ddof
    weights = None
    if fweights is not None and asarray(fweights).dtype.kind not in "iu":
        raise TypeError("rdim.cov(): fweights must be integer")
    for name, given in (("fweights", fweights), ("aweights", aweights)):
        if given is not None and asarray(given).shape != (x.shape[1],):
            raise RuntimeError(f"rdim.cov(): {name} of shape {asarray(given).shape} for {x.shape[1]} observations")
    for given in (fweights, aweights):
        if given is not None:
            weights = asarray(given) if weights is None else weights * asarray(given)
    n: Any = x.shape[1]
    if weights is not None:
        n = _core.sum(weights)
        if aweights is not None and ddof:
            n = n - ddof * _core.sum(weights * asarray(aweights)) / n
        elif ddof:
            n = n - ddof
    else:
        n = n - ddof
    x = x - _core.mean(x, axis=1, keepdims=True, weights=weights)
    weighed = x if weights is None else x * weights
    found = _core.matmul(x, _core.conj(weighed.T)) / _core.maximum(n, 0) * 1.0
    return _core.squeeze(found)


def corrcoef(x: Any, y: Any = None, rowvar: bool = True, *, dtype: Any = None) -> Any:
    """The correlation of each pair of variables, as numpy.corrcoef."""
    c = cov(x, y, rowvar, dtype=dtype)
    if c.ndim == 0:
        return c / c
    spread = _core.sqrt(_core.real(_core.diagonal(c)))
    c = c / spread[:, None] / spread[None, :]
    if c.dtype.kind != "c":
        return _core.clip(c, -1, 1)
    return _core.complex(_core.clip(_core.real(c), -1, 1), _core.clip(_core.imag(c), -1, 1))


def corr(x: Any, y: Any, axis: Any = None, keepdims: bool = False, *, where: Any = None, weights: Any = None,
         skipna: bool = False) -> Any:
    """The correlation of two arrays along axes, as xarray.corr and scipy.stats.pearsonr(x, y, axis=axis)."""
    words = ["x", "y", f"keepdims={str(bool(keepdims)).lower()}", f"skip_nan={str(bool(skipna)).lower()}"]
    if axis is not None:
        axes = (axis,) if hasattr(axis, "__index__") else tuple(axis)
        words.append(f"axis=({', '.join(str(operator.index(one)) for one in axes)},)")
    given = {"x": asarray(x), "y": asarray(y), "where": where, "weights": weights}
    named = {name if name in "xy" else "the_" + name: one for name, one in given.items() if one is not None}
    words += [f"{name[4:]}={name}" for name in named if name.startswith("the_")]
    return _core.formula(f"corr({', '.join(words)})", named)


# ---- Quantiles --------------------------------------------------------------------------------------------------
def _numbers(q: Any) -> tuple[Any, tuple[int, ...]]:
    """A number or a flat list of numbers, and the shape that they had."""
    if isinstance(q, (int, float)):
        return float(q), ()
    q = asarray(q)
    values = _core.compute(_core.astype(_core.ravel(q), "float64")).tolist()
    return (values[0] if q.ndim == 0 else values), q.shape


_MOST = 64


def _parts(function: Any, a: Any, numbers: list[float], keywords: dict[str, Any]) -> Any:
    parts = [function(a, numbers[k:k + _MOST], **keywords) for k in range(0, len(numbers), _MOST)]
    return parts[0] if len(parts) == 1 else _core.concat(parts, 0)


_OF_ELEMENTS = ("lower", "higher", "nearest", "inverted_cdf", "closest_observation")  # methods that compute nothing


def _as_asked(a: Any, q: Any, method: str) -> Any:
    """In the type of q where it is the wider one, as in NumPy; a number of Python has none."""
    if isinstance(q, (int, float)) or method in _OF_ELEMENTS:
        return a
    a, kind = asarray(a), asarray(q).dtype
    if not a.dtype.kind == kind.kind == "f":
        return a
    both = _core.where(True, _core.zeros((), a.dtype), _core.zeros((), kind)).dtype
    return a if both == a.dtype else _core.astype(a, both)


def _ask(function: Any, a: Any, q: Any, out: Any, keywords: dict[str, Any]) -> Any:
    numbers, shape = _numbers(q)
    a = _as_asked(a, q, keywords["method"])
    weights = keywords.get("weights")
    if weights is not None:
        a, weights = asarray(a), asarray(weights)
        keywords["weights"] = weights if weights.shape == a.shape else _along(weights, a, keywords["axis"])
    if isinstance(numbers, list):
        if not numbers:
            raise ValueError("rdim.quantile(): q has no number")
        found = _parts(function, a, numbers, keywords)
        found = found if len(shape) == 1 else _core.reshape(found, tuple(shape) + tuple(found.shape[1:]))
    else:
        found = function(a, numbers, **keywords)
    return found if out is None else _core.evaluate_into(found, out)


def quantile(a: Any, q: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False,
             method: str = "linear", keepdims: bool = False, *, weights: Any = None, where: Any = None,
             skipna: bool = False, by: Any = None, groups: Any = None) -> Any:
    """The q-th quantile, 0 <= q <= 1, or several of them, as numpy.quantile; with by= of each group of elements."""
    return _ask(_core._quantile, a, q, out, {"axis": axis, "method": method, "keepdims": keepdims, "weights": weights,
                                             "where": where, "skipna": skipna, "by": by, "groups": groups})


def percentile(a: Any, q: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False,
               method: str = "linear", keepdims: bool = False, *, weights: Any = None, where: Any = None,
               skipna: bool = False, by: Any = None, groups: Any = None) -> Any:
    """The q-th percentile, 0 <= q <= 100, or several of them, as numpy.percentile; with by= of each group."""
    return _ask(_core._percentile, a, q, out, {"axis": axis, "method": method, "keepdims": keepdims,
                                               "weights": weights, "where": where, "skipna": skipna, "by": by,
                                               "groups": groups})


def nanquantile(a: Any, q: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False,
                method: str = "linear", keepdims: bool = False, *, weights: Any = None, by: Any = None,
                groups: Any = None) -> Any:
    """quantile() of what is not NaN, as numpy.nanquantile."""
    return quantile(a, q, axis, out, overwrite_input, method, keepdims, weights=weights, skipna=True, by=by,
                    groups=groups)


def nanpercentile(a: Any, q: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False,
                  method: str = "linear", keepdims: bool = False, *, weights: Any = None, by: Any = None,
                  groups: Any = None) -> Any:
    """percentile() of what is not NaN, as numpy.nanpercentile."""
    return percentile(a, q, axis, out, overwrite_input, method, keepdims, weights=weights, skipna=True, by=by,
                      groups=groups)


def nanmedian(a: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False,
              keepdims: bool = False, *, by: Any = None, groups: Any = None) -> Any:
    """The median of what is not NaN, as numpy.nanmedian, of all or of each group."""
    return _core.median(a, axis, out, overwrite_input, keepdims, skipna=True, by=by, groups=groups)


def mad(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """The median of the distances from the median, as scipy.stats.median_abs_deviation with center=median."""
    x = asarray(x)
    return _core.median(abs(x - _core.median(x, axis, keepdims=True)), axis, keepdims=keepdims)
