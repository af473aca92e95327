"""Arrays joined, cut, repeated and bordered."""

from __future__ import annotations

from typing import Any, Sequence

from . import _core
from ._leaves import asarray

__all__ = ["append", "array_split", "atleast_1d", "atleast_2d", "atleast_3d", "atleast_nd", "broadcast_arrays",
           "broadcast_shapes", "column_stack", "copy", "delete", "dsplit", "dstack", "fliplr", "flipud", "hsplit",
           "hstack", "insert", "ndim", "pad", "repeat", "resize", "rollaxis", "rot90", "shape", "size", "split",
           "unstack", "vsplit", "vstack"]


def ndim(a: Any) -> int:
    """How many axes a has, as numpy.ndim."""
    return int(asarray(a).ndim)


def shape(a: Any) -> tuple[int, ...]:
    """The extents of a, as numpy.shape."""
    return tuple(asarray(a).shape)


def size(a: Any, axis: int | None = None) -> int:
    """How many elements a has, all of them or along an axis, as numpy.size."""
    a = asarray(a)
    return int(a.size if axis is None else a.shape[axis])


def copy(a: Any) -> Any:
    """A handle of the same values: arrays are immutable, so nothing is copied."""
    return asarray(a)[...]


# ---- Ranks ------------------------------------------------------------------------------------------------------
def atleast_nd(x: Any, n: int) -> Any:
    """x with new axes in front, until it has n of them."""
    x = asarray(x)
    return x if x.ndim >= n else _core.reshape(x, (1,) * (n - x.ndim) + x.shape)


def _each(arrays: tuple[Any, ...], change: Any) -> Any:
    made = tuple(change(asarray(x)) for x in arrays)
    return made[0] if len(made) == 1 else made


def atleast_1d(*arys: Any) -> Any:
    """Arrays of one axis or more, as numpy.atleast_1d."""
    return _each(arys, lambda x: atleast_nd(x, 1))


def atleast_2d(*arys: Any) -> Any:
    """Arrays of two axes or more, as numpy.atleast_2d."""
    return _each(arys, lambda x: atleast_nd(x, 2))


def atleast_3d(*arys: Any) -> Any:
    """Arrays of three axes or more, as numpy.atleast_3d."""
    return _each(arys, lambda x: atleast_nd(x, 2)[:, :, None] if x.ndim < 3 else x)


# ---- Shapes that meet -------------------------------------------------------------------------------------------
def broadcast_shapes(*args: Any) -> tuple[int, ...]:
    """The shape in which shapes meet, as numpy.broadcast_shapes."""
    shapes = [(one,) if isinstance(one, int) else tuple(one) for one in args]
    rank = max((len(one) for one in shapes), default=0)
    met = [1] * rank
    for one in shapes:
        for k, extent in enumerate(one, rank - len(one)):
            if extent != 1 and met[k] not in (1, extent):
                raise _core.ShapeError(f"rdim.broadcast_shapes(): shapes {', '.join(map(str, shapes))} do not meet")
            met[k] = met[k] if extent == 1 else extent
    return tuple(met)


def broadcast_arrays(*args: Any, subok: bool = False) -> tuple[Any, ...]:
    """Arrays repeated to the shape in which all meet, as numpy.broadcast_arrays."""
    arrays = [asarray(x) for x in args]
    met = broadcast_shapes(*(x.shape for x in arrays))
    return tuple(_core.broadcast_to(x, met) for x in arrays)


# ---- Joined -----------------------------------------------------------------------------------------------------
def vstack(tup: Sequence[Any], *, dtype: Any = None, casting: str = "same_kind") -> Any:
    """Arrays below each other, as numpy.vstack."""
    return _core.concat([atleast_2d(x) for x in tup], 0, dtype=dtype)


def hstack(tup: Sequence[Any], *, dtype: Any = None, casting: str = "same_kind") -> Any:
    """Arrays beside each other, as numpy.hstack."""
    parts = [atleast_1d(x) for x in tup]
    return _core.concat(parts, 0 if parts and parts[0].ndim == 1 else 1, dtype=dtype)


def dstack(tup: Sequence[Any]) -> Any:
    """Arrays behind each other, along the third axis, as numpy.dstack."""
    return _core.concat([atleast_3d(x) for x in tup], 2)


def column_stack(tup: Sequence[Any]) -> Any:
    """Rows as the columns of a matrix, as numpy.column_stack."""
    parts = [asarray(x) for x in tup]
    return _core.concat([x if x.ndim > 1 else _core.reshape(x, (-1, 1)) for x in parts], 1)


def append(arr: Any, values: Any, axis: int | None = None) -> Any:
    """values behind arr, as numpy.append."""
    return _core.concat([asarray(arr), asarray(values)], axis)


# ---- Cut --------------------------------------------------------------------------------------------------------
def _part(x: Any, axis: int, start: Any, stop: Any) -> Any:
    return x[(slice(None),) * axis + (slice(start, stop),)]


def _axis(x: Any, axis: int) -> int:
    if not -x.ndim <= axis < x.ndim:
        raise _core.AxisError(f"rdim: axis {axis} of an array of {x.ndim} axes")
    return axis % x.ndim


def array_split(ary: Any, indices_or_sections: Any, axis: int = 0) -> list[Any]:
    """Parts of an array, the first ones longer by one where they cannot be equal, as numpy.array_split."""
    x = asarray(ary)
    axis = _axis(x, axis)
    if hasattr(indices_or_sections, "__index__") and not isinstance(indices_or_sections, (list, tuple)):
        n = int(indices_or_sections)
        if n < 1:
            raise ValueError(f"rdim.split(): {n} parts")
        each, more = divmod(x.shape[axis], n)
        ends = [k * each + min(k, more) for k in range(1, n)]
    else:
        ends = [int(end) for end in indices_or_sections]
    return [_part(x, axis, start, stop) for start, stop in zip([0, *ends], [*ends, None])]


def split(ary: Any, indices_or_sections: Any, axis: int = 0) -> list[Any]:
    """Equal parts of an array, or those between indices, as numpy.split."""
    x = asarray(ary)
    if hasattr(indices_or_sections, "__index__") and not isinstance(indices_or_sections, (list, tuple)):
        extent = x.shape[_axis(x, axis)]
        if int(indices_or_sections) < 1 or extent % int(indices_or_sections):
            raise ValueError(f"rdim.split(): {extent} elements in {indices_or_sections} equal parts; "
                             "array_split() makes parts that differ by one")
    return array_split(x, indices_or_sections, axis)


def hsplit(ary: Any, indices_or_sections: Any) -> list[Any]:
    """split() along the second axis, or the only one, as numpy.hsplit."""
    return split(ary, indices_or_sections, 0 if asarray(ary).ndim == 1 else 1)


def vsplit(ary: Any, indices_or_sections: Any) -> list[Any]:
    """split() along the first axis, as numpy.vsplit."""
    return split(ary, indices_or_sections, 0)


def dsplit(ary: Any, indices_or_sections: Any) -> list[Any]:
    """split() along the third axis, as numpy.dsplit."""
    return split(ary, indices_or_sections, 2)


def unstack(x: Any, /, *, axis: int = 0) -> tuple[Any, ...]:
    """The parts along an axis, without it, as numpy.unstack."""
    x = asarray(x)
    at = (slice(None),) * _axis(x, axis)
    return tuple(x[at + (k,)] for k in range(x.shape[axis]))


# ---- Turned -----------------------------------------------------------------------------------------------------
def flipud(m: Any) -> Any:
    """The first axis reversed, as numpy.flipud."""
    return _core.flip(m, 0)


def fliplr(m: Any) -> Any:
    """The second axis reversed, as numpy.fliplr."""
    return _core.flip(m, 1)


def rot90(m: Any, k: int = 1, axes: tuple[int, int] = (0, 1)) -> Any:
    """Turned by k right angles, from the first towards the second of two axes, as numpy.rot90."""
    first, second = axes
    if k % 4 == 0:
        return asarray(m)
    if k % 4 == 2:
        return _core.flip(m, (first, second))
    if k % 4 == 1:
        return _core.swapaxes(_core.flip(m, second), first, second)
    return _core.flip(_core.swapaxes(m, first, second), second)


def rollaxis(a: Any, axis: int, start: int = 0) -> Any:
    """An axis moved to before another one, as numpy.rollaxis."""
    a = asarray(a)
    axis, start = _axis(a, axis), start + a.ndim if start < 0 else start
    return _core.moveaxis(a, axis, start - 1 if axis < start else start)


# ---- Repeated, bordered -----------------------------------------------------------------------------------------
def repeat(a: Any, repeats: Any, axis: int | None = None) -> Any:
    """Each element several times, as numpy.repeat; different times for each are evaluated."""
    a = asarray(a)
    if hasattr(repeats, "__index__") and not hasattr(repeats, "shape"):
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
    target = (new_shape,) if isinstance(new_shape, int) else tuple(new_shape)
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


_EDGES = {"maximum": _core.max, "minimum": _core.min, "mean": _core.mean, "median": _core.median}


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


def pad(array: Any, pad_width: Any, mode: str = "constant", *, constant_values: Any = 0, end_values: Any = 0,
        stat_length: Any = None, reflect_type: str = "even") -> Any:
    """More elements around an array, as numpy.pad."""
    x = asarray(array)
    widths = _pairs(pad_width, x.ndim)
    if reflect_type != "even":
        raise NotImplementedError("rdim.pad(): reflect_type=\"odd\" is none of rdim's; \"even\" is")
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
        else:
            x = _core._pad(x, before, after, axis, mode) if before or after else x
            continue
        x = _core.concat([part for part in parts if part.shape[axis] or part is x], axis)
    return x


# ---- Elements left out, put in ----------------------------------------------------------------------------------
def _flat_axis(arr: Any, axis: int | None) -> tuple[Any, int]:
    x = asarray(arr)
    return (_core.ravel(x), 0) if axis is None else (x, _axis(x, axis))


def _indices(call: str, obj: Any) -> list[int]:
    """Indices as numbers; a mask says where they are."""
    given = asarray(obj if not isinstance(obj, (list, tuple)) or obj else _core.zeros((0,), "int64"))
    if given.dtype.kind not in "iub":
        raise IndexError(f"rdim.{call}(): indices are whole numbers, not {given.dtype}")
    listed = _core.compute(_core.ravel(given)).tolist()
    return [k for k, one in enumerate(listed) if one] if given.dtype.kind == "b" else listed


def delete(arr: Any, obj: Any, axis: int | None = None) -> Any:
    """Without the elements at some indices, as numpy.delete; the indices are evaluated."""
    x, axis = _flat_axis(arr, axis)
    extent = x.shape[axis]
    if isinstance(obj, slice):
        gone = set(range(*obj.indices(extent)))
    else:
        listed = _indices("delete", obj)
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
    if isinstance(obj, int) and x.ndim > 1 and values.ndim:
        values = _core.moveaxis(atleast_nd(values, x.ndim), 0, axis)
    if len(places) == 1:
        places *= values.shape[axis] if values.ndim == x.ndim else 1
    shape = tuple(len(places) if k == axis else n for k, n in enumerate(x.shape))
    both = _core.concat([x, _core.broadcast_to(values, shape)], axis)
    before = sorted((k % extent if k < 0 else k, extent + i) for i, k in enumerate(places))
    order, taken = [], 0
    for place, of_values in before:
        order += [*range(taken, place), of_values]
        taken = place
    order += range(taken, extent)
    return _core.take(both, asarray(order, dtype="int64"), axis)
