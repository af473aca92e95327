"""Methods of arrays that are not C functions already, attached to the type here and nowhere else."""

from __future__ import annotations

from typing import Any, Iterator

from . import (
    _array_api, _assignment, _changes, _core, _edges, _manipulation, _numeric, _numpy, _printing, _results, _sorting, sparse,
)

from ._dtypes import FOREIGN

__all__: list[str] = []


def _iterate(self: Any) -> Iterator[Any]:
    """The parts along the first axis."""
    if self.ndim == 0:
        raise TypeError("iteration over an array without axes")
    return (self[k] for k in range(self.shape[0]))


def _contains(self: Any, value: Any) -> bool:
    return bool(_core.any(self == value))


def _divmod(self: Any, other: Any) -> Any:
    return _numeric.divmod(self, other)


def _rdivmod(self: Any, other: Any) -> Any:
    return _numeric.divmod(other, self)


def _round(self: Any, ndigits: int | None = None) -> Any:
    return _core.round(self, ndigits or 0)


def _item(self: Any, *args: Any) -> Any:
    """One element as a Python number, as numpy.ndarray.item."""
    if not args:
        return _core.item(self)
    if len(args) == 1 and isinstance(args[0], tuple):
        args = args[0]
    return _core.item(_core.ravel(self)[args[0]] if len(args) == 1 else self[args])


def _tolist(self: Any) -> Any:
    """The elements as lists of Python numbers, as numpy.ndarray.tolist."""
    return _core.compute(_core.astype(self, "float32") if str(self.dtype) in FOREIGN else self).tolist()


def _tobytes(self: Any, order: str = "C") -> bytes:
    """The bytes of the elements, as numpy.ndarray.tobytes."""
    made = _core.compute(self)
    return bytes(made.tobytes(order) if order != "C" else made.tobytes())


def _put(self: Any, indices: Any, values: Any, mode: str = "raise") -> None:
    _changes.put(self, indices, values, mode)


def _nonzero(self: Any) -> Any:
    return _sorting.nonzero(self)


def _dot(self: Any, b: Any) -> Any:
    return _core.dot(self, b)


def _conj(self: Any) -> Any:
    return _core.conj(self)


def _copy(self: Any, order: str = "C") -> Any:
    return _manipulation.copy(self)


def _repeat(self: Any, repeats: Any, axis: int | None = None) -> Any:
    return _edges.repeat(self, repeats, axis)


def _searchsorted(self: Any, v: Any, side: str = "left", sorter: Any = None) -> Any:
    return _core.searchsorted(self, v, side, sorter)


def _ptp(self: Any, axis: Any = None, out: Any = None, keepdims: bool = False) -> Any:
    from . import _statistics

    return _statistics.ptp(self, axis, out, keepdims)


def _compress(self: Any, condition: Any, axis: int | None = None) -> Any:
    return _sorting.compress(condition, self, axis)


METHODS: dict[str, Any] = {
    # Python
    "__iter__": _iterate, "__contains__": _contains, "__divmod__": _divmod, "__rdivmod__": _rdivmod,
    "__round__": _round, "__setitem__": _assignment.setitem,
    # NumPy
    "__array__": _numpy.array, "__array_ufunc__": _numpy.array_ufunc, "__array_function__": _numpy.array_function,
    "__array_priority__": 100.0, "item": _item, "tolist": _tolist, "tobytes": _tobytes,
    "sort": _changes.sort_in_place, "fill": _changes.fill, "put": _put,
    "flat": property(_changes.get_flat, _changes.set_flat),
    "nonzero": _nonzero, "dot": _dot, "conj": _conj, "conjugate": _conj, "copy": _copy, "repeat": _repeat,
    "searchsorted": _searchsorted, "ptp": _ptp, "compress": _compress,
    # SciPy
    "to_scipy": sparse.to_scipy,
    # The Array API
    "__array_namespace__": _array_api.array_namespace, "to_device": _array_api.to_device,
    "device": property(lambda self: _array_api.CPU),
    # rdim
    **_results.METHODS, **_printing.METHODS,
}

for _method, _function in METHODS.items():
    if not hasattr(_core.Array, _method) or _method.startswith("__"):
        setattr(_core.Array, _method, _function)
