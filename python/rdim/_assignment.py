"""x[key] = value: the handle gets another expression.  Other handles, views of x among them, keep their values."""

from __future__ import annotations

from typing import Any

from . import _core
from ._leaves import asarray

__all__ = ["setitem"]


def setitem(self: Any, key: Any, value: Any) -> None:
    """The elements that x[key] reads are those of value from now on; as in NumPy, but that views stay as they are."""
    if self.is_sparse:
        raise TypeError("rdim: elements of a sparse array cannot be set; rdim.dense(x) is an array of all elements")
    parts = key if isinstance(key, tuple) else (key,)
    if all(_is_basic(part) for part in parts):
        made = _of_slices(self, key, parts, value)
    elif isinstance(key, _core.Array) and key.shape == self.shape and str(key.dtype) == "bool" and _is_number(value):
        made = _core.where(key, _number(value, self), self)
    else:
        made = _of_places(self, key, value)
    if made is not None:
        _core._replace(self, made)


def _is_number(value: Any) -> bool:
    return isinstance(value, (bool, int, float, complex)) or getattr(value, "ndim", None) == 0


def _is_basic(part: Any) -> bool:
    if part is None or part is Ellipsis or isinstance(part, slice):
        return True
    return hasattr(part, "__index__") and not isinstance(part, bool) and not hasattr(part, "__len__")


def _number(value: Any, x: Any) -> Any:
    return asarray(value, dtype=x.dtype)


def _fitted(value: Any, x: Any, shape: tuple[int, ...]) -> Any:
    """The value in x's type and a shape; NumPy takes axes of one element in front as well."""
    value = _number(value, x)
    while value.ndim > len(shape) and value.shape[0] == 1:
        value = value[0]
    return _core.broadcast_to(value, shape)


# ---- Numbers and slices: the places are conditions of coordinates -------------------------------------------------
def _axes_of(x: Any, parts: tuple[Any, ...]) -> list[Any]:
    """A part for each axis: a number or a slice."""
    taken = [part for part in parts if part is not None and part is not Ellipsis]
    at = next((k for k, part in enumerate(p for p in parts if p is not None) if part is Ellipsis), len(taken))
    return [*taken[:at], *[slice(None)] * (x.ndim - len(taken)), *taken[at:]]


def _of_slices(x: Any, key: Any, parts: tuple[Any, ...], value: Any) -> Any:
    shape = x[key].shape  # refuses what is outside
    value = _fitted(value, x, shape)
    if 0 in shape:
        return None
    ranges = [range(part.__index__() % n, part.__index__() % n + 1) if hasattr(part, "__index__")
              else range(*part.indices(n)) for part, n in zip(_axes_of(x, parts), x.shape)]
    value = _core.reshape(value, tuple(map(len, ranges)))
    inside: Any = True
    for axis, (one, n) in enumerate(zip(ranges, x.shape)):
        if one == range(n):
            continue
        place = _core.index_along(n) - one.start
        step = place if one.step == 1 else place // one.step
        here = (step >= 0) & (step < len(one))
        if one.step != 1:
            here = here & (step * one.step == place)
        if len(one) > 1:
            value = _core.take(value, _core.clip(step, 0, len(one) - 1), axis)
        here = _core.reshape(here, tuple(n if k == axis else 1 for k in range(x.ndim)))
        inside = here if inside is True else inside & here
    return _core.broadcast_to(_core.where(inside, value, x) if inside is not True else value, x.shape)


# ---- Masks and index arrays: of those that name a place again the last one counts ---------------------------------
def _of_places(x: Any, key: Any, value: Any) -> Any:
    places = _core.reshape(_core.index_along(x.size), x.shape)[key]
    value = _core.ravel(_fitted(value, x, places.shape))
    if places.size == 0:
        return None
    last = _core.max(_core.index_along(places.size), by=_core.ravel(places), groups=x.size, initial=-1)
    found = _core.where(last >= 0, _core.take(value, _core.maximum(last, 0)), _core.ravel(x))
    return _core.reshape(found, x.shape)
