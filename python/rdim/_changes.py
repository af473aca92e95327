"""Functions of NumPy that change their first argument: an Array gets another expression, as by x[key] = value."""

from __future__ import annotations

from typing import Any, Iterator

from . import _core
from ._edges import resize
from ._evaluated import evaluated
from ._leaves import asarray
from ._manipulation import _axis

__all__ = ["Flat", "add_at", "copyto", "fill", "fill_diagonal", "place", "put", "put_along_axis", "putmask",
           "sort_in_place"]


def _become(x: Any, made: Any) -> None:
    """x has the elements of `made` from now on, in its own shape and type."""
    if x.is_sparse:
        raise TypeError("rdim: elements of a sparse array cannot be set; rdim.dense(x) is an array of all elements")
    _core._replace(x, _core.reshape(_core.astype(made, x.dtype), x.shape))


def _repeated(values: Any, x: Any) -> Any:
    """Values over and over, one for each element of x, in x's type."""
    return resize(_core.astype(asarray(values), x.dtype), (x.size,))


def fill(self: Any, value: Any) -> None:
    """All elements become a value, as numpy.ndarray.fill."""
    self[...] = value


def sort_in_place(self: Any, axis: int = -1, kind: Any = None, order: Any = None, *, stable: Any = None) -> None:
    """The elements come in order along an axis, as numpy.ndarray.sort."""
    _become(self, _core.sort(self, axis))


def put(a: Any, ind: Any, v: Any, mode: str = "raise") -> Any:
    """Elements at places in a row become others, as numpy.put."""
    if not isinstance(a, _core.Array):
        return evaluated("", "put")(a, ind, v, mode)
    if mode not in ("raise", "wrap", "clip"):
        raise ValueError(f"rdim.put(): mode is {mode!r}; possible are raise, wrap and clip")
    at = _core.ravel(asarray(ind))
    at = {"raise": at, "wrap": _core.remainder(at, max(a.size, 1)), "clip": _core.clip(at, 0, a.size - 1)}[mode]
    flat = _core.ravel(a)
    if mode == "raise" and at.size and bool(_core.any((at < -a.size) | (at >= a.size))):
        raise IndexError(f"rdim.put(): an index is outside of an array of {a.size} elements")
    if at.size and asarray(v).size:
        flat[at] = resize(v, (at.size,))
    return _become(a, flat)


def putmask(a: Any, mask: Any, values: Any) -> Any:
    """Elements under a mask become those at the same places of values, as numpy.putmask."""
    if not isinstance(a, _core.Array):
        return evaluated("", "putmask")(a, mask, values)
    others = _core.reshape(_repeated(values, a), a.shape)
    return _become(a, _core.where(_core.astype(asarray(mask), "bool"), others, a))


def place(arr: Any, mask: Any, vals: Any) -> Any:
    """Elements under a mask become the first of some values, one after the other, as numpy.place."""
    if not isinstance(arr, _core.Array):
        return evaluated("", "place")(arr, mask, vals)
    mask, vals = _core.ravel(_core.astype(asarray(mask), "bool")), _core.astype(_core.ravel(asarray(vals)), arr.dtype)
    if vals.size == 0:
        raise ValueError("rdim.place(): there is no value to put in")
    which = _core.remainder(_core.maximum(_core.cumsum(mask) - 1, 0), vals.size)
    return _become(arr, _core.where(mask, _core.take(vals, which), _core.ravel(arr)))


def copyto(dst: Any, src: Any, casting: str = "same_kind", where: Any = True) -> Any:
    """Elements become those of another array, where a mask says so, as numpy.copyto."""
    if not isinstance(dst, _core.Array):
        return evaluated("", "copyto")(dst, src, casting, where)
    if type(src) in (bool, int, float, complex):
        src = asarray(src, dtype=dst.dtype) if type(src) is int else src
    source = _core.broadcast_to(_core.astype(asarray(src), dst.dtype, None, casting), dst.shape)
    return _become(dst, source if where is True else _core.where(where, source, dst))


def fill_diagonal(a: Any, val: Any, wrap: bool = False) -> Any:
    """The elements of the main diagonal become others, as numpy.fill_diagonal."""
    if not isinstance(a, _core.Array):
        return evaluated("", "fill_diagonal")(a, val, wrap)
    if a.ndim < 2 or (a.ndim > 2 and len(set(a.shape)) != 1):
        raise ValueError(f"rdim.fill_diagonal(): shape {a.shape}; two axes, or equal extents, are wanted")
    step, along = 1, 1
    for extent in reversed(a.shape[1:]):
        along *= extent
        step += along
    at, vals = _core.index_along(a.size), _core.ravel(_core.astype(asarray(val), a.dtype))
    here = at - at // step * step == 0
    if a.ndim == 2 and not wrap:
        here = here & (at < a.shape[1] * a.shape[1])
    value = _core.take(vals, _core.remainder(at // step, vals.size))
    return _become(a, _core.where(here, value, _core.ravel(a)))


def put_along_axis(arr: Any, indices: Any, values: Any, axis: int | None = -1) -> Any:
    """Elements at an index along an axis become others, as numpy.put_along_axis."""
    if not isinstance(arr, _core.Array):
        return evaluated("", "put_along_axis")(arr, indices, values, axis)
    if axis is None:
        return put(arr, indices, _core.broadcast_to(asarray(values), asarray(indices).shape))
    at, axis = asarray(indices), _axis(arr, axis)
    if at.ndim != arr.ndim:
        raise ValueError(f"rdim.put_along_axis(): indices of {at.ndim} axes for an array of {arr.ndim}")
    key = [at if k == axis else _core.reshape(_core.index_along(n), tuple(n if j == k else 1 for j in range(arr.ndim)))
           for k, n in enumerate(arr.shape)]
    arr[tuple(key)] = values
    return None


# ---- numpy.add.at -------------------------------------------------------------------------------------------------
_AT = {"add": ("sum", "add"), "subtract": ("sum", "subtract"), "multiply": ("prod", "multiply"),
       "maximum": ("max", "maximum"), "minimum": ("min", "minimum"), "divide": ("prod", "divide")}


def add_at(name: str, a: Any, indices: Any, b: Any) -> bool:
    """numpy.<name>.at(a, indices, b): elements that are named several times meet each value.  False: not known."""
    if name not in _AT:
        return False
    reducer, function = _AT[name]
    places = _core.reshape(_core.index_along(a.size), a.shape)[indices]
    values = _core.ravel(_core.broadcast_to(asarray(b), places.shape))
    if values.size == 0:
        return True
    places, named = _core.ravel(places), {}
    if reducer in ("max", "min"):  # of no element
        named = {"initial": getattr(_core, "min" if reducer == "max" else "max")(values)}
    met = getattr(_core, reducer)(values, by=places, groups=a.size, **named)
    flat = _core.ravel(a)
    counted = _core.sum(_core.ones(places.shape, "int64"), by=places, groups=a.size) > 0
    changed = getattr(_core, function)(flat, met)
    _become(a, _core.where(counted, _core.astype(changed, a.dtype, None, "same_kind"), flat))
    return True


# ---- x.flat -------------------------------------------------------------------------------------------------------
class Flat:
    """The elements in a row, as numpy.ndarray.flat: to read, to go through, and to set."""

    def __init__(self, x: Any) -> None:
        self.base = x

    def __len__(self) -> int:
        return int(self.base.size)

    def __iter__(self) -> Iterator[Any]:
        return iter(_core.ravel(self.base))

    def __getitem__(self, key: Any) -> Any:
        return _core.ravel(self.base)[key]

    def __setitem__(self, key: Any, value: Any) -> None:
        flat = _core.ravel(self.base)
        shape = flat[key].shape
        flat[key] = resize(value, shape) if shape and asarray(value).size else value
        _become(self.base, flat)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return _core.ravel(self.base).__array__(dtype, copy)

    def copy(self) -> Any:
        """An Array of the elements in a row."""
        return _core.ravel(self.base)


def get_flat(self: Any) -> Flat:
    """For the property x.flat."""
    return Flat(self)


def set_flat(self: Any, value: Any) -> None:
    """x.flat = value: elements become the values, over and over."""
    _become(self, _repeated(value, self))
