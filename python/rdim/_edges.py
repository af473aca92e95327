"""Arrays repeated and bordered; elements put in and left out."""

from __future__ import annotations

from typing import Any, Callable

from . import _core
from ._leaves import asarray
from ._manipulation import _axis, _part, atleast_nd
from ._whole import is_whole

__all__ = ["delete", "insert", "pad", "repeat", "resize"]


# ---- Repeated, bordered -----------------------------------------------------------------------------------------
def repeat(a: Any, repeats: Any, axis: int | None = None) -> Any:
    """Each element several times, as numpy.repeat; different times for each are evaluated."""
    a = asarray(a)
    if is_whole(repeats):
        return _core._repeat(a, int(repeats), axis)
    times = [int(n) for n in _core.compute(_core.ravel(asarray(repeats))).tolist()]
    if len(times) == 1:
        return _core._repeat(a, times[0], axis)
    a, axis = (_core.ravel(a), 0) if axis is None else (a, _axis(a, axis))
    if len(times) != a.shape[axis] or min(times, default=0) < 0:
        raise ValueError(f"rdim.repeat(): {len(times)} numbers, none below 0, for {a.shape[axis]} elements are wanted")
    ends = _core.cumsum(asarray(times))
    return _core.take(a, _core.searchsorted(ends, _core.index_along(sum(times)), "right"), axis)


def resize(a: Any, new_shape: Any) -> Any:
    """The elements of a over and over in another shape, as numpy.resize."""
    flat = _core.ravel(asarray(a))
    target = (int(new_shape),) if is_whole(new_shape) else tuple(new_shape)
    n = 1
    for extent in target:
        n *= extent
    if flat.size == 0 or n == 0:
        return _core.zeros(target, flat.dtype)
    return _core.reshape(_core.tile(flat, -(-n // flat.size))[:n], target)


def _pairs(given: Any, rank: int) -> list[tuple[Any, Any]]:
    """(before, after) of each axis, of what NumPy takes for that."""
    if isinstance(given, dict):
        pairs = [(0, 0)] * rank
        for axis, one in given.items():
            pairs[axis] = (one, one) if not isinstance(one, (tuple, list)) else tuple(one)
        return pairs
    rows = given.tolist() if hasattr(given, "tolist") else given
    if not isinstance(rows, (tuple, list)):
        return [(rows, rows)] * rank
    if rows and not isinstance(rows[0], (tuple, list)):
        rows = [rows]
    full = [(row[0], row[-1]) for row in rows]
    if len(full) not in (1, rank):
        raise ValueError(f"rdim.pad(): {len(full)} pairs for {rank} axes")
    return full * rank if len(full) == 1 else full


_EDGES: dict[str, Callable[..., Any]] = {
    "maximum": _core.max, "minimum": _core.min, "mean": _core.mean, "median": _core.median}


def _border(x: Any, axis: int, n: int, value: Any) -> Any:
    extents = tuple(n if k == axis else extent for k, extent in enumerate(x.shape))
    return _core.broadcast_to(_core.astype(asarray(value), x.dtype), extents)


def _statistic(x: Any, axis: int, mode: str, length: Any, end: bool) -> Any:
    extent = x.shape[axis]
    n = extent if length is None else min(int(length), extent)
    part = _part(x, axis, extent - n, None) if end else _part(x, axis, 0, n)
    value = _EDGES[mode](part, axis=axis, keepdims=True)
    return _core.rint(value) if "int" in str(x.dtype) else value


def _ramp(x: Any, axis: int, n: int, target: Any, end: bool) -> Any:
    """n elements from the edge, without it, to the target."""
    edge = _part(x, axis, x.shape[axis] - 1, None) if end else _part(x, axis, 0, 1)
    at = _core.reshape(_core.index_along(n), tuple(n if k == axis else 1 for k in range(x.ndim)))
    at = at + 1 if end else n - at
    values = edge + at * ((target - edge) / n)
    return _core.astype(_core.floor(values) if "int" in str(x.dtype) else values, x.dtype)


def _turned(x: Any, axis: int, before: int, after: int, with_edge: bool) -> Any:
    """x with elements turned about its first and last one, 2 * edge - element; what is longer than x in steps."""
    period = x.shape[axis] if with_edge else x.shape[axis] - 1
    first = 0 if with_edge else 1
    while before or after:
        extent = x.shape[axis]
        most = extent // period * period if with_edge else (extent - 1) // period * period
        left, right = min(before, most), min(after, most)
        parts = [2 * _part(x, axis, 0, 1) - _core.flip(_part(x, axis, first, first + left), axis), x,
                 2 * _part(x, axis, extent - 1, None)
                 - _core.flip(_part(x, axis, extent - first - right, extent - first), axis)]
        x = _core.concat([part for part in parts if part.shape[axis]], axis)
        before, after = before - left, after - right
    return x


def pad(array: Any, pad_width: Any, mode: str = "constant", *, constant_values: Any = 0, end_values: Any = 0,
        stat_length: Any = None, reflect_type: str = "even") -> Any:
    """More elements around an array, as numpy.pad."""
    x = asarray(array)
    widths = _pairs(pad_width, x.ndim)
    if mode == "empty":  # elements of any value
        mode, constant_values = "constant", 0
    if reflect_type not in ("even", "odd"):
        raise ValueError(f"rdim.pad(): reflect_type={reflect_type!r}; possible are 'even' and 'odd'")
    lengths = _pairs(stat_length, x.ndim) if mode in _EDGES else []
    values = _pairs(constant_values, x.ndim) if mode == "constant" else []
    targets = _pairs(end_values, x.ndim) if mode == "linear_ramp" else []
    for axis, (before, after) in enumerate(widths):
        if before < 0 or after < 0:
            raise ValueError(f"rdim.pad(): {before} and {after} elements along axis {axis}; none may be below 0")
        if mode in _EDGES:
            parts = [_border(x, axis, before, _statistic(x, axis, mode, lengths[axis][0], False)), x,
                     _border(x, axis, after, _statistic(x, axis, mode, lengths[axis][1], True))]
        elif mode == "constant":
            parts = [_border(x, axis, before, values[axis][0]), x, _border(x, axis, after, values[axis][1])]
        elif mode == "linear_ramp":
            parts = [_ramp(x, axis, before, targets[axis][0], False), x,
                     _ramp(x, axis, after, targets[axis][1], True)]
        elif mode in ("reflect", "symmetric") and reflect_type == "odd" and x.shape[axis] > 1:
            x = _turned(x, axis, before, after, mode == "symmetric")
            continue
        else:
            x = _core._pad(x, before, after, axis, mode) if before or after else x
            continue
        x = _core.concat([part for part in parts if part.shape[axis] or part is x], axis)
    return x


# ---- Elements left out, put in ----------------------------------------------------------------------------------
def _flat_axis(arr: Any, axis: int | None) -> tuple[Any, int]:
    x = asarray(arr)
    return (_core.ravel(x), 0) if axis is None else (x, _axis(x, axis))


def _indices(call: str, obj: Any, extent: int = -1) -> list[int]:
    """Indices as numbers; a mask, which has an extent, says where they are."""
    given = asarray(obj if not isinstance(obj, (list, tuple)) or obj else _core.zeros((0,), "int64"))
    if given.dtype.kind not in "iub":
        raise IndexError(f"rdim.{call}(): indices are whole numbers, not {given.dtype}")
    if given.dtype.kind == "b" and extent >= 0 and given.shape != (extent,):
        raise ValueError(f"rdim.{call}(): a mask of shape {given.shape} for an axis of {extent} elements")
    listed = _core.compute(_core.ravel(given)).tolist()
    return [k for k, one in enumerate(listed) if one] if given.dtype.kind == "b" else listed


def delete(arr: Any, obj: Any, axis: int | None = None) -> Any:
    """Without the elements at some indices, as numpy.delete; the indices are evaluated."""
    x, axis = _flat_axis(arr, axis)
    extent = x.shape[axis]
    if isinstance(obj, slice):
        gone = set(range(*obj.indices(extent)))
    else:
        listed = _indices("delete", obj, extent)
        if any(not -extent <= k < extent for k in listed):
            raise IndexError(f"rdim.delete(): an index of {listed} is outside of an axis of {extent} elements")
        gone = {k % extent for k in listed}
    kept = [k for k in range(extent) if k not in gone]
    return _core.take(x, asarray(kept) if kept else _core.zeros((0,), "int64"), axis)


def insert(arr: Any, obj: Any, values: Any, axis: int | None = None) -> Any:
    """Values before some indices of an axis, as numpy.insert; the indices are evaluated."""
    x, axis = _flat_axis(arr, axis)
    extent = x.shape[axis]
    if isinstance(obj, slice):
        places = list(range(*obj.indices(extent)))
    else:
        places = _indices("insert", obj)
    if any(not -extent <= k <= extent for k in places):
        raise IndexError(f"rdim.insert(): an index of {places} is outside of an axis of {extent} elements")
    values = _core.astype(asarray(values), x.dtype)
    if len(places) == 1:
        values = atleast_nd(values, x.ndim)
        values = _core.moveaxis(values, 0, axis) if is_whole(obj) else values
        places *= values.shape[axis]
    shape = tuple(len(places) if k == axis else n for k, n in enumerate(x.shape))
    both = _core.concat([x, _core.broadcast_to(values, shape)], axis)
    before = sorted((k % extent if k < 0 else k, extent + i) for i, k in enumerate(places))
    order, taken = [], 0
    for place, of_values in before:
        order += [*range(taken, place), of_values]
        taken = place
    order += range(taken, extent)
    return _core.take(both, asarray(order, dtype="int64"), axis)
