"""Index arrays and masks by NumPy's rules; the extension takes keys of numbers, slices, None and ... itself."""

from __future__ import annotations

from typing import Any, NamedTuple

from . import _core
from ._core import Array
from ._dtypes import numpy, resolve
from ._leaves import asarray

__all__ = ["getitem"]

_BOOL, _FIRST_FLOAT = 1, resolve("uint64") + 1
_WHOLE = slice(None)
_NO_NUMBERS = (bool, Array, *((numpy.bool_,) if numpy is not None else ()))


class _Part(NamedTuple):
    """One part of a key: something basic, or an index array; `axis` False: it goes along no axis (a bool)."""

    basic: Any
    places: Array | None = None
    axis: bool = True

    @property
    def advanced(self) -> bool:
        return self.places is not None or isinstance(self.basic, int)


def getitem(x: Array, key: Any) -> Array:
    """x[key], where the key has index arrays or masks."""
    # One index array is what is asked most: this takes 5 us, the general way 25.
    if type(key) is Array and _BOOL < resolve(key.dtype) < _FIRST_FLOAT and x.ndim > 0 and x.shape[0] > 1:
        return _core.take(x, key, 0)
    parts = key if isinstance(key, tuple) else (key,)
    whole = _whole_mask(x, parts)
    if whole is not None:
        return whole
    return _gathered(x, _without_dots(x, [part for given in parts for part in _parts_of(given)], parts))


# ---- Parts of a key ---------------------------------------------------------------------------------
def _is_basic(part: Any) -> bool:
    return part is None or part is Ellipsis or isinstance(part, slice)


def _is_number(part: Any) -> bool:
    return hasattr(part, "__index__") and not isinstance(part, _NO_NUMBERS) and not hasattr(part, "__len__")


def _array_of(part: Any) -> Array:
    if isinstance(part, (str, bytes)):
        raise IndexError(f"rdim: {part!r} is no index; possible are ints, slices, None, ..., index arrays and masks")
    if isinstance(part, (list, tuple)) and len(part) == 0:
        return asarray(part, dtype="int64")
    try:
        index = asarray(part)
    except TypeError:
        raise IndexError(f"rdim: {type(part).__name__} is no index; possible are ints, slices, None, ..., "
                         "index arrays and masks") from None
    if resolve(index.dtype) >= _FIRST_FLOAT:
        raise IndexError(f"rdim: an index array of {index.dtype}; ints and bools are indices")
    return index


def _is_mask(index: Array) -> bool:
    return resolve(index.dtype) == _BOOL


def _parts_of(part: Any) -> list[_Part]:
    """A mask of r axes is r index arrays."""
    if _is_basic(part):
        return [_Part(part)]
    if _is_number(part):
        return [_Part(int(part.__index__()))]
    index = _array_of(part)
    if not _is_mask(index):
        return [_Part(None, index)]
    if index.ndim == 0:
        n = int(bool(index))
        return [_Part(None, _core.broadcast_to(_core.scalar(0, "int64"), (n,)), axis=False)]
    places = _core.nonzero(index)
    return [_Part(_Mask(index, k), places[:, k]) for k in range(index.ndim)]


class _Mask(NamedTuple):
    """Of which mask an index array is, for its extents."""

    mask: Array
    axis: int


def _takes_axis(part: _Part) -> bool:
    if part.places is not None:
        return part.axis
    return part.basic is not None and part.basic is not Ellipsis


def _without_dots(x: Array, parts: list[_Part], given: tuple[Any, ...]) -> list[_Part]:
    """The same parts with slices in place of "...", one for each axis of x."""
    dots = [k for k, part in enumerate(parts) if part.basic is Ellipsis]
    rest = x.ndim - sum(map(_takes_axis, parts))
    if len(dots) > 1:
        raise IndexError('rdim: an index has "..." twice')
    if rest < 0:
        raise IndexError(f"rdim: {x.ndim - rest} indices for an array of {x.ndim} axes")
    at = dots[0] if dots else len(parts)
    filled = parts[:at] + [_Part(_WHOLE)] * rest + parts[at + 1 :]
    _see_masks(x, filled)
    # Dots separate index arrays also where they stand for no axis.
    return filled if rest or not dots else parts[:at] + [_Part(Ellipsis)] + parts[at + 1 :]


def _see_masks(x: Array, parts: list[_Part]) -> None:
    axis = 0
    for part in parts:
        if isinstance(part.basic, _Mask):
            mask, k = part.basic
            if mask.shape[k] != x.shape[axis]:
                raise IndexError(f"rdim: a mask of shape {mask.shape} for axes from {axis - k} on of an array "
                                 f"of shape {x.shape}: {mask.shape[k]} is not {x.shape[axis]}")
        axis += _takes_axis(part)


# ---- One mask ---------------------------------------------------------------------------------------
def _whole_mask(x: Array, parts: tuple[Any, ...]) -> Array | None:
    """x[mask] of all axes, or of the first one: the elements in one go.  None: it is something else."""
    if len(parts) != 1 or _is_basic(parts[0]) or _is_number(parts[0]):
        return None
    mask = _array_of(parts[0])
    if not _is_mask(mask) or x.is_sparse:
        return None
    if mask.ndim == x.ndim > 0 and mask.shape == x.shape:
        return _core.compress(x, mask)
    if mask.ndim == 1 and x.ndim > 1 and mask.shape[0] == x.shape[0]:
        return _core.compress(x, mask, 0)
    return None


# ---- Gathering --------------------------------------------------------------------------------------
def _common_shape(shapes: list[tuple[int, ...]]) -> tuple[int, ...]:
    rank = max(map(len, shapes))
    common = [1] * rank
    for shape in shapes:
        for k, n in enumerate(shape, rank - len(shape)):
            if n != 1 and common[k] not in (1, n):
                raise IndexError(f"rdim: index arrays of shapes {', '.join(map(str, shapes))} do not fit together")
            common[k] = n if n != 1 else common[k]
    return tuple(common)


def _target(parts: list[_Part]) -> int:
    """Where the axes of index arrays go: in their place if they stand side by side, else in front."""
    places = [k for k, part in enumerate(parts) if part.advanced]
    if places[-1] - places[0] + 1 > len(places):
        return 0
    return sum(part.basic is not Ellipsis for part in parts[: places[0]])


def _see_single(index: Array) -> None:
    """An axis of one element is read whatever the index says, so it is looked at here."""
    signed = resolve(index.dtype) < resolve("uint8")
    if bool(_core.any(_core.greater(index, 0))) or (signed and bool(_core.any(_core.less(index, -1)))):
        raise IndexError("rdim: an index array has an index outside of an axis of extent 1")


def _gathered(x: Array, parts: list[_Part]) -> Array:
    y = x[tuple(_WHOLE if part.places is not None else part.basic for part in parts if part.places is None or part.axis)]
    common = _common_shape([part.places.shape for part in parts if part.places is not None])
    along, axis = [], 0
    for part in parts:
        if part.places is not None and part.axis:
            if y.shape[axis] == 1 and part.places.size:
                _see_single(part.places)
            along.append((axis, part.places))
        axis += (part.axis if part.places is not None else not isinstance(part.basic, int)) and part.basic is not Ellipsis
    target, rank = _target(parts), len(common)
    if not along:  # bools alone
        y = _core.broadcast_to(_core.reshape(y, (*y.shape[:target], 1, *y.shape[target:])),
                               (*y.shape[:target], *common, *y.shape[target:])) if common == (1,) else \
            _core.expand_dims(y, (target,))[(_WHOLE,) * target + (slice(0, common[0]),)]
        return y
    first = along[0][0]
    y = _core.take(y, _core.broadcast_to(along[0][1], common), first)
    y = _of_others(y, along[1:], first, rank)
    return _moved(y, first, rank, target)


def _of_others(y: Array, along: list[tuple[int, Array]], first: int, rank: int) -> Array:
    """The other index arrays: their axes are those of the first one, `rank` of them from `first` on."""
    for axis, index in along:
        extents = [1] * y.ndim
        extents[first + rank - index.ndim : first + rank] = index.shape
        y = _core.take_along_axis(y, _core.reshape(index, tuple(extents)), axis - 1 + rank)
    dropped = tuple(axis - 1 + rank for axis, _ in along)
    return _core.squeeze(y, dropped) if dropped else y


def _moved(y: Array, first: int, rank: int, target: int) -> Array:
    if first == target or rank == 0:
        return y
    rest = [k for k in range(y.ndim) if not first <= k < first + rank]
    order = rest[:target] + list(range(first, first + rank)) + rest[target:]
    return _core.permute_dims(y, tuple(order))
