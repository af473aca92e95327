"""Elements of lazy arrays: computed into memory of NumPy, of the caller, of rdim, or as a tensor."""

from __future__ import annotations

from typing import Any

from . import _core
from ._core import Array

__all__ = ["compute", "persist"]


def _collect(x: Any, found: list[Array]) -> Any:
    """The arrays of a nested structure; what it returns puts results in their places."""
    if isinstance(x, Array):
        found.append(x)
        place = len(found) - 1
        return lambda results: results[place]
    if isinstance(x, dict):
        parts = {key: _collect(value, found) for key, value in x.items()}
        return lambda results: {key: part(results) for key, part in parts.items()}
    if isinstance(x, (list, tuple)):
        items = [_collect(value, found) for value in x]
        if hasattr(x, "_fields"):  # a named tuple
            return lambda results: type(x)(*(item(results) for item in items))
        return lambda results: type(x)(item(results) for item in items)
    return lambda results: x


def compute(*arrays: Any) -> Any:
    """The elements of all arrays, by one run, in which they share passes; also of those in lists, tuples and dicts.

    One argument gives its result, several a tuple of results, like dask.compute of several."""
    if len(arrays) == 1 and isinstance(arrays[0], Array):
        return _core.compute(arrays[0])
    found: list[Array] = []
    fill = _collect(arrays, found)
    results = _core.compute_many(tuple(found)) if found else ()
    filled = fill(results)
    return filled[0] if len(arrays) == 1 else filled


def persist(x: Array) -> Array:
    """An Array of x's elements, which are computed now and kept in memory of rdim."""
    return _core.persist(x)


def _compute_method(self: Array) -> Any:
    """The elements as an array of NumPy, or without NumPy as a memoryview."""
    return _core.compute(self)


def _to(self: Array, out: Any) -> Any:
    """Computes the elements into a buffer of that shape, which is returned."""
    return _core.evaluate_into(self, out)


_CPU = (1, 0)


def _dlpack(self: Array, *, stream: Any = None, max_version: tuple[int, int] | None = None,
            dl_device: tuple[int, int] | None = None, copy: bool | None = None) -> Any:
    """A capsule of the elements, which are computed now; torch.from_dlpack() and others call it."""
    if dl_device is not None and tuple(dl_device) != _CPU:
        raise BufferError(f"rdim: results are in this process's memory, (1, 0), and not on device {dl_device}")
    if stream is not None:
        raise ValueError(f"rdim: stream is {stream!r}, and memory of this process has none")
    return _core.to_dlpack(self, max_version is not None and max_version[0] >= 1)


def _dlpack_device(self: Array) -> tuple[int, int]:
    """Where results are: in this process's memory."""
    return _CPU


def _refuse_pickle(self: Array, protocol: int = 0) -> Any:
    raise TypeError("rdim: an Array is an expression over memory of this process and is not pickled; "
                    "pickle its elements, x.compute()")


def _other_handle(self: Array) -> Array:
    """For copy.copy(): x[key] = value changes one handle alone."""
    return self[...]


def _complex(self: Array) -> complex:
    """The one element, for complex()."""
    return complex(_core.item(self))


def _persisted(self: Array, memo: Any) -> Array:
    """For copy.deepcopy()."""
    return _core.persist(self)


METHODS: dict[str, Any] = {
    "__complex__": _complex, "compute": _compute_method, "persist": persist, "to": _to, "__dlpack__": _dlpack,
    "__dlpack_device__": _dlpack_device, "__reduce_ex__": _refuse_pickle, "__copy__": _other_handle, "__deepcopy__": _persisted,
}
