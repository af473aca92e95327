"""Elements in order, found, and different ones."""

from __future__ import annotations

from typing import Any, NamedTuple

from . import _core
from ._evaluated import evaluated
from ._leaves import asarray
from ._manipulation import _axis

__all__ = ["argpartition", "argwhere", "compress", "extract", "flatnonzero", "in1d", "intersect1d", "isin", "lexsort",
           "nonzero", "partition", "setdiff1d", "setxor1d", "union1d", "unique", "unique_all", "unique_counts",
           "unique_inverse", "unique_values"]


# ---- Order ------------------------------------------------------------------------------------------------------
def partition(a: Any, kth: Any, axis: int | None = -1, kind: str = "introselect") -> Any:
    """The elements so that those before place kth are not greater: in order, as numpy.partition allows."""
    _core.take(_core.zeros(asarray(a).shape), kth, axis)
    return _core.sort(a, axis)


def argpartition(a: Any, kth: Any, axis: int | None = -1, kind: str = "introselect") -> Any:
    """The places of partition(), as numpy.argpartition."""
    _core.take(_core.zeros(asarray(a).shape), kth, axis)
    return _core.argsort(a, axis)


def lexsort(keys: Any, axis: int = -1) -> Any:
    """Places in the order of the last key, then of the one before it, as numpy.lexsort."""
    rows = [asarray(key) for key in (keys if isinstance(keys, (list, tuple)) else asarray(keys))]
    order = _core.argsort(rows[0], axis)
    for key in rows[1:]:
        order = _core.take_along_axis(order, _core.argsort(_core.take_along_axis(key, order, axis), axis), axis)
    return order


# ---- Where something is: how much that is the data say, so these evaluate ----------------------------------------
def argwhere(a: Any) -> Any:
    """The indices of what is not 0, a row each, as numpy.argwhere; evaluated."""
    return _core.nonzero(asarray(a))


def nonzero(a: Any) -> tuple[Any, ...]:
    """The indices of what is not 0, for each axis, as numpy.nonzero; evaluated."""
    a = asarray(a)
    if a.ndim == 0:
        raise ValueError("rdim.nonzero(): an array without axes; atleast_1d() makes one")
    found = _core.nonzero(a)
    return tuple(found[:, k] for k in range(a.ndim))


def flatnonzero(a: Any) -> Any:
    """The places of what is not 0 in C order, as numpy.flatnonzero; evaluated."""
    return _core.nonzero(_core.ravel(asarray(a)))[:, 0]


def extract(condition: Any, arr: Any) -> Any:
    """The elements where a condition holds, as numpy.extract; evaluated."""
    return _core.compress(_core.ravel(asarray(arr)), _core.ravel(asarray(condition)))


def compress(condition: Any, a: Any, axis: int | None = None, out: Any = None) -> Any:
    """The parts along an axis where a condition holds, as numpy.compress; evaluated."""
    a, condition = asarray(a), asarray(condition)
    a, axis = (_core.ravel(a), 0) if axis is None else (a, _axis(a, axis))
    if condition.ndim != 1 or condition.size > a.shape[axis]:
        raise ValueError(f"rdim.compress(): a condition of shape {condition.shape} for {a.shape[axis]} elements")
    a = a[(slice(None),) * axis + (slice(0, condition.size),)]
    found = _core.compress(a, _core.astype(condition, "bool"), axis)
    return found if out is None else _core.evaluate_into(found, out)


# ---- What is different: evaluated ---------------------------------------------------------------------------------
class UniqueAll(NamedTuple):
    """What unique_all() returns."""

    values: Any
    indices: Any
    inverse_indices: Any
    counts: Any


class UniqueCounts(NamedTuple):
    """What unique_counts() returns."""

    values: Any
    counts: Any


class UniqueInverse(NamedTuple):
    """What unique_inverse() returns."""

    values: Any
    inverse_indices: Any


def _first(inverse: Any, n: int) -> Any:
    """The first place of each of n values."""
    flat = _core.ravel(inverse)
    return _core.min(_core.index_along(flat.size), by=flat, groups=n, initial=flat.size)


def _is_complex(x: Any) -> bool:
    """The library has no order of complex numbers, and NumPy has one."""
    return bool(asarray(x).dtype.kind == "c")


def _distinct(x: Any) -> tuple[Any, Any, Any]:
    """Values, counts and which value each element is, where no NaN equals another, as in the standard."""
    values, counts, inverse = _core.unique(x)
    inverse = _core.reshape(inverse, x.shape)
    n = values.size
    if n == 0 or x.dtype.kind not in "fc" or not bool(_core.isnan(values[-1])) or int(counts[-1]) < 2:
        return values, counts, inverse
    missing = _core.isnan(x)
    own = _core.reshape(_core.cumsum(missing), x.shape) + (n - 2)
    n_missing = int(counts[-1])
    return (_core.concat([values[:-1], _core.broadcast_to(values[-1:], (n_missing,))], 0),
            _core.concat([counts[:-1], _core.ones((n_missing,), counts.dtype)], 0),
            _core.where(missing, own, inverse))


def unique_all(x: Any, /) -> UniqueAll:
    """Values in order, where each is first, which one each element is, how many there are; as numpy.unique_all."""
    if _is_complex(x):
        return UniqueAll(*evaluated("", "unique_all")(x))
    values, counts, inverse = _distinct(asarray(x))
    return UniqueAll(values, _first(inverse, values.size), inverse, counts)


def unique_counts(x: Any, /) -> UniqueCounts:
    """Values in order and how often each occurs, as numpy.unique_counts."""
    if _is_complex(x):
        return UniqueCounts(*evaluated("", "unique_counts")(x))
    return UniqueCounts(*_distinct(asarray(x))[:2])


def unique_inverse(x: Any, /) -> UniqueInverse:
    """Values in order and which one each element is, as numpy.unique_inverse."""
    if _is_complex(x):
        return UniqueInverse(*evaluated("", "unique_inverse")(x))
    values, _, inverse = _distinct(asarray(x))
    return UniqueInverse(values, inverse)


def unique_values(x: Any, /) -> Any:
    """Values in order, as numpy.unique_values."""
    return evaluated("", "unique_values")(x) if _is_complex(x) else _distinct(asarray(x))[0]


def unique(ar: Any, return_index: bool = False, return_inverse: bool = False, return_counts: bool = False,
           axis: int | None = None, *, equal_nan: bool = True, sorted: bool = True) -> Any:
    """Values in order, or with axis= the parts along it, as numpy.unique; evaluated."""
    ar = asarray(ar)
    if ar.dtype.kind == "c" or (axis is not None and (ar.ndim != 1 or axis not in (0, -1))):
        return evaluated("", "unique")(ar, return_index, return_inverse, return_counts,
                                       None if axis is None else _axis(ar, axis), equal_nan=equal_nan)
    values, counts, inverse = _core.unique(ar) if equal_nan else _distinct(ar)
    found = [values]
    if return_index:
        found.append(_first(inverse, values.size))
    if return_inverse:
        found.append(_core.reshape(inverse, ar.shape))
    if return_counts:
        found.append(counts)
    return found[0] if len(found) == 1 else tuple(found)


# ---- Sets ---------------------------------------------------------------------------------------------------------
def isin(element: Any, test_elements: Any, assume_unique: bool = False, invert: bool = False, *,
         kind: str | None = None) -> Any:
    """Whether each element is one of others, as numpy.isin."""
    element, tests = asarray(element), _core.ravel(asarray(test_elements))
    if tests.size == 0:
        return _core.full(element.shape, invert)
    both = _core.where(True, element[..., None], tests).dtype
    element, ordered = _core.astype(element, both), _core.sort(_core.astype(tests, both))
    at = _core.clip(_core.searchsorted(ordered, element), 0, tests.size - 1)
    found = _core.take(ordered, at) == element
    return ~found if invert else found


def in1d(ar1: Any, ar2: Any, assume_unique: bool = False, invert: bool = False) -> Any:
    """isin() of all elements in a row, as numpy.in1d was."""
    return isin(_core.ravel(asarray(ar1)), ar2, assume_unique, invert)


def union1d(ar1: Any, ar2: Any) -> Any:
    """The values of both in order, as numpy.union1d."""
    return unique(_core.concat([asarray(ar1), asarray(ar2)], None))


def intersect1d(ar1: Any, ar2: Any, assume_unique: bool = False, return_indices: bool = False) -> Any:
    """The values that both have in order, as numpy.intersect1d."""
    one, at = unique(ar1, return_index=True)
    other, at_other = unique(ar2, return_index=True)
    both, of_other = isin(one, other), isin(other, one)
    found = _core.compress(one, both)
    if not return_indices:
        return found
    return found, _core.compress(at, both), _core.compress(at_other, of_other)


def setdiff1d(ar1: Any, ar2: Any, assume_unique: bool = False) -> Any:
    """The values of the first that the second has not, as numpy.setdiff1d."""
    one = _core.ravel(asarray(ar1)) if assume_unique else unique(ar1)
    return _core.compress(one, isin(one, ar2, invert=True))


def setxor1d(ar1: Any, ar2: Any, assume_unique: bool = False) -> Any:
    """The values that one of both has, as numpy.setxor1d."""
    return unique(_core.concat([setdiff1d(ar1, ar2), setdiff1d(ar2, ar1)], 0))
