"""Arrays joined, cut and turned."""

from __future__ import annotations

from typing import Any, Sequence

from . import _core
from ._leaves import asarray
from ._whole import is_whole

__all__ = ["append", "array_split", "atleast_1d", "atleast_2d", "atleast_3d", "atleast_nd", "block_of", "broadcast_arrays",
           "broadcast_shapes", "column_stack", "copy", "dsplit", "dstack", "fliplr", "flipud", "hsplit",
           "hstack", "ndim", "rollaxis", "rot90", "shape", "size", "split",
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
    return _met("broadcast_shapes", args)


def _met(call: str, args: Sequence[Any]) -> tuple[int, ...]:
    shapes = [(int(one),) if is_whole(one) else tuple(one) for one in args]
    rank = max((len(one) for one in shapes), default=0)
    met = [1] * rank
    for one in shapes:
        for k, extent in enumerate(one, rank - len(one)):
            if extent != 1 and met[k] not in (1, extent):
                raise _core.ShapeError(f"rdim.{call}(): shapes {', '.join(map(str, shapes))} do not meet")
            met[k] = met[k] if extent == 1 else extent
    return tuple(met)


def broadcast_arrays(*args: Any, subok: bool = False) -> tuple[Any, ...]:
    """Arrays repeated to the shape in which all meet, as numpy.broadcast_arrays."""
    arrays = [asarray(x) for x in args]
    met = _met("broadcast_arrays", [x.shape for x in arrays])
    return tuple(_core.broadcast_to(x, met) for x in arrays)


# ---- Joined -----------------------------------------------------------------------------------------------------
def vstack(tup: Sequence[Any], *, dtype: Any = None, casting: str = "same_kind") -> Any:
    """Arrays below each other, as numpy.vstack."""
    return _core.concat([atleast_2d(x) for x in tup], 0, dtype=dtype, casting=casting)


def hstack(tup: Sequence[Any], *, dtype: Any = None, casting: str = "same_kind") -> Any:
    """Arrays beside each other, as numpy.hstack."""
    parts = [atleast_1d(x) for x in tup]
    return _core.concat(parts, 0 if parts and parts[0].ndim == 1 else 1, dtype=dtype, casting=casting)


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


def block_of(arrays: Any) -> Any:
    """Nested lists of arrays joined to one, the innermost along the last axis, as numpy.block."""
    depth = _depth(arrays)
    flat = _leaves_of(arrays)
    rank = max([depth, *(asarray(one).ndim for one in flat)])
    return _joined(arrays, rank, depth)


def _depth(arrays: Any) -> int:
    if not isinstance(arrays, list):
        return 0
    depths = {_depth(one) for one in arrays}
    if len(depths) != 1:
        raise ValueError("rdim.block(): lists of arrays are nested to unlike depths, or empty")
    return 1 + depths.pop()


def _leaves_of(arrays: Any) -> list[Any]:
    return [leaf for one in arrays for leaf in _leaves_of(one)] if isinstance(arrays, list) else [arrays]


def _joined(arrays: Any, rank: int, depth: int) -> Any:
    if not isinstance(arrays, list):
        return atleast_nd(arrays, rank)
    return _core.concat([_joined(one, rank, depth - 1) for one in arrays], -depth)


# ---- Windows ----------------------------------------------------------------------------------------------------
# ---- Cut --------------------------------------------------------------------------------------------------------
def _part(x: Any, axis: int, start: Any, stop: Any) -> Any:
    return x[(slice(None),) * axis + (slice(start, stop),)]


def _axis(x: Any, axis: int) -> int:
    if not -x.ndim <= axis < x.ndim:
        raise _core.AxisError(f"rdim: axis {axis} of an array of {x.ndim} axes")
    return int(axis % x.ndim)


def array_split(ary: Any, indices_or_sections: Any, axis: int = 0) -> list[Any]:
    """Parts of an array, the first ones longer by one where they cannot be equal, as numpy.array_split."""
    x = asarray(ary)
    axis = _axis(x, axis)
    if is_whole(indices_or_sections):
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
    if is_whole(indices_or_sections):
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
    rank = asarray(m).ndim
    if len(axes) != 2 or not all(-rank <= one < rank for one in axes) or (axes[0] - axes[1]) % rank == 0:
        raise ValueError(f"rdim.rot90(): axes are {axes}; two of {rank} are wanted")
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
    if not -a.ndim <= start <= a.ndim:
        raise _core.AxisError(f"rdim.rollaxis(): start is {start}, for an array of {a.ndim} axes")
    axis, start = _axis(a, axis), start + a.ndim if start < 0 else start
    return _core.moveaxis(a, axis, start - 1 if axis < start else start)
