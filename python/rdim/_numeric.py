"""Histograms, slopes, integrals: what goes along an axis or counts."""

from __future__ import annotations

from typing import Any, Sequence

from . import _core
from ._evaluated import evaluated
from ._leaves import asarray
from ._whole import is_whole

__all__ = ["array_equal", "array_equiv", "bincount", "digitize", "divmod", "ediff1d", "fmod", "frexp", "gradient",
           "fix", "histogram", "histogram_bin_edges", "interp", "iscomplex", "iscomplexobj", "isneginf", "isposinf", "isreal",
           "isrealobj", "modf", "polyval", "select", "trapezoid", "unwrap"]


# ---- Histograms -------------------------------------------------------------------------------------------------
def _range(x: Any, limits: Any) -> tuple[float, float]:
    """The outer edges: what is said, or the least and the greatest element, which are evaluated."""
    if limits is not None:
        low, high = float(limits[0]), float(limits[1])
    elif x.size == 0:
        low, high = 0.0, 1.0
    else:
        low, high = (float(one) for one in _core.compute(_core.minmax(x)).tolist())
    if not (low <= high and high - low < float("inf")):
        raise ValueError(f"rdim.histogram(): no finite range: {low} to {high}")
    return (low - 0.5, high + 0.5) if low == high else (low, high)


def _equal(x: Any, bins: Any, limits: Any) -> tuple[float, float]:
    """From where to where so many equal bins are."""
    if int(bins) < 1:
        raise ValueError(f"rdim.histogram(): {bins} bins")
    return _range(x, limits)


def histogram_bin_edges(a: Any, bins: Any = 10, range: Any = None, weights: Any = None) -> Any:
    """The edges of the bins of histogram(), as numpy.histogram_bin_edges."""
    from ._creation import linspace

    if isinstance(bins, str):  # a rule, which looks at all elements
        return evaluated("", "histogram_bin_edges")(a, bins, range, weights)
    if is_whole(bins):
        return linspace(*_equal(asarray(a), bins, range), int(bins) + 1)
    edges = asarray(bins)
    if edges.ndim != 1:
        raise ValueError(f"rdim.histogram(): edges of {edges.ndim} axes; one is wanted")
    return edges


def labels_between(x: Any, bins: Any, range: Any, weights: Any = None) -> tuple[Any, Any]:
    """The bin of each element, -1 of what is in none, and the edges."""
    from ._equal_bins import of_range

    equal = None
    if is_whole(bins):
        low, high = range = _equal(x, bins, range)
        equal = of_range(low, high, int(bins)) if x.dtype.kind != "c" else None
    edges = histogram_bin_edges(x, bins, range, weights)
    return (equal.label(x) if equal else _core._bins_between(x, edges)), edges


def histogram(a: Any, bins: Any = 10, range: Any = None, density: bool | None = None,
              weights: Any = None) -> tuple[Any, Any]:
    """How many elements each bin has, and the edges, as numpy.histogram."""
    x = asarray(a)
    if weights is not None or x.ndim == 0:
        x, weights = _core.ravel(x), None if weights is None else _core.ravel(asarray(weights))
    label, edges = labels_between(x, bins, range, weights)
    n = edges.size - 1
    counted = _core.ones(label.shape, "int64") if weights is None else weights
    counts = _core.sum(counted, by=label, groups=n)
    if density:
        return counts / (_core.diff(edges) * _core.sum(counts)), edges
    return counts, edges


def _with_ends(x: Any, length: int) -> tuple[Any, int, int]:
    """x, its least and greatest element; or numbers below and above them, if none may be beyond that length.  What is
    computed is stored beside them, as it is read again."""
    if x.size == 0:
        return x, 0, -1
    low, high, stored = _core._known(x)
    if 0 <= low and high < length:
        return x, low, high
    if stored:
        low, high = _core.compute(_core.minmax(x)).tolist()
    else:
        values, ends = _core.compute_many((x, _core.minmax(x)))
        x, (low, high) = asarray(values), ends.tolist()
    return x, int(low), int(high)


def bincount(x: Any, weights: Any = None, minlength: int = 0) -> Any:
    """How often each number from 0 on occurs, as numpy.bincount; the greatest one is evaluated, but where minlength is
    more than what x may be, as of a remainder or of bytes."""
    x = asarray(x)
    if x.ndim != 1:
        raise ValueError(f"rdim.bincount(): an array of {x.ndim} axes; one is wanted")
    if x.dtype.kind not in "iub":
        raise TypeError(f"rdim.bincount(): labels are whole numbers, not {x.dtype}")
    x, low, high = _with_ends(x, minlength)
    if low < 0:
        raise ValueError(f"rdim.bincount(): a label is {low}; none may be below 0")
    groups = max(high + 1, minlength)
    if groups == 0:
        return _core.zeros((0,), "int64" if weights is None else "float64")
    if weights is None:
        return _core.sum(_core.ones(x.shape, "int64"), by=x, groups=groups)
    return _core.sum(_core.astype(asarray(weights), "float64"), by=x, groups=groups)


def digitize(x: Any, bins: Any, right: bool = False) -> Any:
    """The bin of each element, as numpy.digitize; whether edges rise or fall is evaluated."""
    edges = asarray(bins)
    before, behind = edges[:-1], edges[1:]  # differences of ints may wrap
    rises, falls = _core.compute_many((_core.all(before <= behind), _core.all(before >= behind)))
    if not rises and not falls:
        raise ValueError("rdim.digitize(): edges rise or fall")
    side = "left" if right else "right"
    if rises:
        return _core.searchsorted(edges, x, side)
    return edges.size - _core.searchsorted(_core.flip(edges), x, side)


# ---- Slopes and integrals ---------------------------------------------------------------------------------------
def _step(where: Any) -> Any:
    """Coordinates, or their distance where it is the same everywhere: they are evaluated, as NumPy looks, too."""
    if getattr(where, "ndim", 0 if not isinstance(where, (list, tuple)) else 1) != 1 or len(where) < 2:
        return where
    steps = _core.diff(asarray(where))
    return steps[0] if bool(_core.all(steps == steps[0])) else where


def gradient(f: Any, *varargs: Any, axis: Any = None, edge_order: int = 1) -> Any:
    """The slope along each axis, by neighbours, as numpy.gradient."""
    f = asarray(f)
    axes = range(f.ndim) if axis is None else [axis] if is_whole(axis) else list(axis)
    if len(varargs) not in (0, 1, len(axes)):
        raise TypeError(f"rdim.gradient(): {len(varargs)} distances for {len(axes)} axes")
    if len(varargs) == 1 < len(axes) and asarray(varargs[0]).ndim:
        raise TypeError(f"rdim.gradient(): one row of coordinates for {len(axes)} axes")
    steps = list(varargs) * len(axes) if len(varargs) == 1 else list(varargs) or [1.0] * len(axes)
    found = [_core._gradient(f, _step(step), one, edge_order) for step, one in zip(steps, axes)]
    if f.dtype.kind in "fc":  # coordinates of a wider type do not widen the result
        found = [_core.astype(one, f.dtype) for one in found]
    return found[0] if len(found) == 1 else tuple(found)


def trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: int = -1) -> Any:
    """The integral along an axis by trapezoids, as numpy.trapezoid."""
    return _core._trapezoid(y, dx if x is None else x, axis)


def ediff1d(ary: Any, to_end: Any = None, to_begin: Any = None) -> Any:
    """Differences of neighbours of all elements, as numpy.ediff1d."""
    parts = [_core.diff(_core.ravel(asarray(ary)))]
    if to_begin is not None:
        parts.insert(0, _core.astype(_core.ravel(asarray(to_begin)), parts[0].dtype))
    if to_end is not None:
        parts.append(_core.astype(_core.ravel(asarray(to_end)), parts[0].dtype))
    return _core.concat(parts, 0)


def unwrap(p: Any, discont: float | None = None, axis: int = -1, *, period: float = 6.283185307179586) -> Any:
    """Angles without jumps of more than half a period, as numpy.unwrap."""
    p = asarray(p)
    step = _core.diff(p, axis=axis)
    whole = p.dtype.kind in "iu" and isinstance(period, int)
    low: Any = -(period // 2) if whole else -period / 2
    near = _core.remainder(step - low, period) + low
    if not whole or period % 2 == 0:
        near = _core.where((near == low) & (step > 0), -low, near)
    limit = period / 2 if discont is None else discont
    fix = _core.where(abs(step) < limit, 0 if whole else 0.0, near - step)
    at = axis % p.ndim
    zero = _core.zeros(tuple(1 if k == at else n for k, n in enumerate(p.shape)), fix.dtype)
    return p + _core.concat([zero, _core.cumsum(fix, axis)], at)


def interp(x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: float | None = None, *,
           axis: int = 0) -> Any:
    """Values on straight lines between known points, as numpy.interp."""
    if period is None:
        return _core.interp(x, xp, fp, left, right, axis=axis)
    if period == 0:
        raise ValueError("rdim.interp(): period must be a non-zero value")
    period = abs(period)
    xp = _core.remainder(asarray(xp), period) * 1.0
    order = _core.argsort(xp)
    xp, fp = _core.take(xp, order), _core.take(asarray(fp), order, axis)
    around = _core.concat([xp[-1:] - period, xp, xp[:1] + period], 0)
    last, first = (_core.take(fp, _core.index_along(1) + at, axis) for at in (xp.size - 1, 0))
    return _core.interp(_core.remainder(asarray(x), period), around, _core.concat([last, fp, first], axis), axis=axis)


def polyval(p: Any, x: Any) -> Any:
    """The polynomial whose first coefficient is that of the highest power, at each element, as numpy.polyval."""
    p, x = asarray(p), asarray(x)
    found = _core.zeros_like(x)
    for k in range(p.size):
        found = found * x + p[k]
    return found


# ---- Element by element -----------------------------------------------------------------------------------------
def fmod(x1: Any, x2: Any) -> Any:
    """The rest of a division that rounds towards 0, as numpy.fmod."""
    if type(x2) not in (int, float):
        x2 = asarray(x2)
    elif type(x1) in (int, float):
        x1 = asarray(x1)
    if type(x1) not in (int, float):  # beside an array, a number stays one and leaves the other's type as it is
        x1 = asarray(x1)
    rest = _core.remainder(x1, x2)
    if rest.dtype.kind in "iu":  # the least int has no absolute value
        return _core.where((rest != 0) & ((x1 < 0) != (x2 < 0)), rest - x2, rest)
    x1, x2 = (x if type(x) in (int, float) else _core.astype(x, rest.dtype) for x in (x1, x2))
    rest = _core.remainder(abs(x1), abs(x2))
    return _core.where(_core.signbit(x1), -rest, rest)


def divmod(x1: Any, x2: Any) -> tuple[Any, Any]:
    """Quotient and rest, as numpy.divmod."""
    return _core.floor_divide(x1, x2), _core.remainder(x1, x2)


def fix(x: Any, out: Any = None) -> Any:
    """The whole part, towards 0, as numpy.fix."""
    found = _core.trunc(x)
    return found if out is None else _core.evaluate_into(found, out)


def isposinf(x: Any, out: Any = None) -> Any:
    """Whether each element is +infinity, as numpy.isposinf."""
    found = _core.isinf(x) & (asarray(x) > 0)
    return found if out is None else _core.evaluate_into(found, out)


def isneginf(x: Any, out: Any = None) -> Any:
    """Whether each element is -infinity, as numpy.isneginf."""
    found = _core.isinf(x) & (asarray(x) < 0)
    return found if out is None else _core.evaluate_into(found, out)


def iscomplexobj(x: Any) -> bool:
    """Whether elements are complex, as numpy.iscomplexobj."""
    return bool(asarray(x).dtype.kind == "c")


def isrealobj(x: Any) -> bool:
    """Whether elements are not complex, as numpy.isrealobj."""
    return not iscomplexobj(x)


def iscomplex(x: Any) -> Any:
    """Whether each element has an imaginary part other than 0, as numpy.iscomplex."""
    x = asarray(x)
    return _core.imag(x) != 0 if x.dtype.kind == "c" else _core.zeros(x.shape, "bool")


def isreal(x: Any) -> Any:
    """Whether each element has no imaginary part other than 0, as numpy.isreal."""
    return ~iscomplex(x)


def modf(x: Any) -> tuple[Any, Any]:
    """Fraction and whole part, both with the sign of x, as numpy.modf."""
    x = asarray(x) * 1.0
    whole = _core.trunc(x)
    return _core.copysign(_core.where(_core.isinf(x), 0.0, x - whole), x), whole


def frexp(x: Any) -> tuple[Any, Any]:
    """Parts m and n of x = m * 2**n with 0.5 <= |m| < 1, as numpy.frexp."""
    return _core.formula("fraction(x)", {"x": x}), _core.astype(_core.formula("exponent(x)", {"x": x}), "int32")


def select(condlist: Sequence[Any], choicelist: Sequence[Any], default: Any = 0) -> Any:
    """Of each place the choice of the first condition that holds there, as numpy.select."""
    if len(condlist) != len(choicelist) or not condlist:
        raise ValueError(f"rdim.select(): {len(condlist)} conditions for {len(choicelist)} choices")
    for condition in condlist:
        if asarray(condition).dtype.kind != "b":
            raise TypeError("rdim.select(): conditions are arrays of bool")
    found = default
    for condition, choice in zip(reversed(condlist), reversed(choicelist)):
        found = _core.where(condition, choice, found)
    return found


def array_equal(a1: Any, a2: Any, equal_nan: bool = False) -> Any:
    """Whether shapes and all elements are equal, as numpy.array_equal; where shapes are, it is lazy."""
    a1, a2 = asarray(a1), asarray(a2)
    if a1.shape != a2.shape:
        return asarray(False)
    same = a1 == a2
    return _core.all(same | (_core.isnan(a1) & _core.isnan(a2)) if equal_nan else same)


def array_equiv(a1: Any, a2: Any) -> Any:
    """Whether all elements are equal where the arrays meet, as numpy.array_equiv."""
    return _core.all(asarray(a1) == asarray(a2))
