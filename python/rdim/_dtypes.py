"""Types of elements: NumPy's where there is NumPy, and objects of our own where there is none."""

from __future__ import annotations

import importlib
from typing import Any

from . import _core

numpy: Any
try:
    numpy = importlib.import_module("numpy")
except ImportError:
    numpy = None


__all__ = ["CLASSES", "FOREIGN", "NAMES", "OBJECTS", "DType", "empty", "numpy", "resolve"]

# Types that NumPy has by the package ml_dtypes alone, and ints of their size.
FOREIGN = {"bfloat16": "uint16", "float8_e4m3fn": "uint8"}


class DType:
    """A type of elements that NumPy does not have, or all of them without NumPy."""

    __slots__ = ("itemsize", "kind", "name")

    def __init__(self, name: str, kind: str, itemsize: int) -> None:
        self.name, self.kind, self.itemsize = name, kind, itemsize

    def __call__(self, value: Any = 0) -> Any:
        """A number of this type, as numpy.float32(value)."""
        from ._leaves import asarray

        return asarray(value, dtype=self)

    def __repr__(self) -> str:
        return f"rdim.{self.name}"

    def __str__(self) -> str:
        return self.name

    def __eq__(self, other: object) -> bool:
        return str(other) == self.name if isinstance(other, (DType, str)) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.name)


def _own(name: str) -> DType:
    if name == "bool":
        return DType(name, "b", 1)
    bits = "".join(c for c in FOREIGN.get(name, name) if c.isdigit())
    return DType(name, "V" if name in FOREIGN else name[0], int(bits) // 8)


def _object(name: str) -> Any:
    if numpy is None:
        return _own(name)
    if name not in FOREIGN:
        return numpy.dtype(name)
    try:
        ml_dtypes: Any = importlib.import_module("ml_dtypes")
        return numpy.dtype(getattr(ml_dtypes, name))
    except (ImportError, AttributeError):
        return _own(name)


NAMES = _core.dtype_names
OBJECTS = tuple(_object(name) for name in NAMES)
# What the package calls them: NumPy's classes of numbers, so that float32(2) is a number.
CLASSES = tuple(getattr(one, "type", one) for one in OBJECTS)
_NUMBER = {name: k + 1 for k, name in enumerate(NAMES)}
_PYTHON = {bool: "bool", int: "int64", float: "float64", complex: "complex128"}


def resolve(given: Any) -> int:
    """The number of a type in the library, of its name, a Python type, or what NumPy takes for one."""
    if isinstance(given, type) and given in _PYTHON:
        return _NUMBER[_PYTHON[given]]
    name = given if isinstance(given, str) else getattr(given, "name", None)
    if name in _NUMBER:
        return _NUMBER[name]
    if numpy is not None:
        try:
            found = numpy.dtype(given)
        except TypeError:
            found = None
        if found is not None and found.name in _NUMBER:
            return _NUMBER[found.name]
    raise TypeError(f"rdim has no element type {given!r}; it has {', '.join(NAMES)}")


def empty(shape: tuple[int, ...], dtype: Any) -> Any:
    """Memory for results where there is no NumPy: a memoryview of that shape."""
    size = dtype.itemsize
    for extent in shape:
        size *= extent
    formats = {"bool": "?", "int8": "b", "int16": "h", "int32": "i", "int64": "q", "uint8": "B",
               "uint16": "H", "uint32": "I", "uint64": "Q", "float32": "f", "float64": "d"}
    if dtype.name not in formats:
        raise TypeError(f"without NumPy there is no memory of {dtype.name}; take another type by astype()")
    flat: Any = memoryview(bytearray(size))
    return flat.cast(formats[dtype.name], shape) if 0 not in shape else _nothing(shape, dtype.name)


def _nothing(shape: tuple[int, ...], name: str) -> memoryview:
    """Without elements: cast() refuses such shapes, arrays of ctypes have them."""
    import ctypes

    plain = {"float32": "float", "float64": "double"}
    kind: Any = getattr(ctypes, f"c_{plain.get(name, name)}")
    for extent in reversed(shape):
        kind = kind * extent
    return memoryview(kind())


_core._set_dtypes(OBJECTS, resolve, CLASSES)
_core._set_empty(numpy.empty if numpy is not None else empty)
