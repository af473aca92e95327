"""The Array API standard: its names of types, what is known of them, where arrays are."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any, NamedTuple

from . import _core, _dtypes
from ._leaves import asarray

__all__ = ["CPU", "Info", "array_namespace", "can_cast", "finfo", "iinfo", "isdtype", "promote_types",
           "result_type", "to_device"]

VERSION = "2024.12"
_DTYPE = dict(zip(_dtypes.NAMES, _dtypes.OBJECTS))
_KINDS = {
    "bool": ("bool",),
    "signed integer": ("int8", "int16", "int32", "int64"),
    "unsigned integer": ("uint8", "uint16", "uint32", "uint64"),
    "real floating": ("float32", "float64"),
    "complex floating": ("complex64", "complex128"),
}
_KINDS["integral"] = _KINDS["signed integer"] + _KINDS["unsigned integer"]
_KINDS["numeric"] = _KINDS["integral"] + _KINDS["real floating"] + _KINDS["complex floating"]
_NARROW = ("float16", "bfloat16", "float8_e4m3fn")
_ALSO = {"real floating": _NARROW, "numeric": _NARROW}


# ---- Types ------------------------------------------------------------------------------------------------------
def _name(dtype: Any) -> str:
    if isinstance(dtype, _core.Array):
        return str(dtype.dtype)
    return str(_dtypes.NAMES[_dtypes.resolve(dtype) - 1])


def isdtype(dtype: Any, kind: Any) -> bool:
    """Whether a type is of a kind, or of one of several, as numpy.isdtype."""
    if isinstance(kind, tuple):
        return any(isdtype(dtype, one) for one in kind)
    if isinstance(kind, str):
        if kind not in _KINDS:
            raise ValueError(f"rdim.isdtype(): no kind {kind!r}; kinds are {', '.join(_KINDS)}")
        return _name(dtype) in _KINDS[kind] + _ALSO.get(kind, ())
    return _name(dtype) == _name(kind)


def _operand(one: Any) -> Any:
    """A number stays weak; an array or a type counts by its type."""
    if type(one) in (bool, int, float, complex):
        return one
    if hasattr(one, "dtype") and hasattr(one, "shape") and not isinstance(one, type):
        return _core.zeros((), asarray(one).dtype)
    return _core.zeros((), one)


def result_type(*arrays_and_dtypes: Any) -> Any:
    """The type in which types, arrays and numbers meet, as numpy.result_type."""
    if not arrays_and_dtypes:
        raise ValueError("rdim.result_type(): one argument or more is wanted")
    operands = [_operand(one) for one in arrays_and_dtypes]
    strong = [one for one in operands if isinstance(one, _core.Array)]
    met = strong[0] if strong else operands[0]
    for one in (*strong[1:], *(one for one in operands if not isinstance(one, _core.Array))):
        met = _core.where(True, met, one)
    return asarray(met).dtype


def promote_types(type1: Any, type2: Any) -> Any:
    """The type in which two types meet, as numpy.promote_types."""
    return result_type(_core.zeros((), type1), _core.zeros((), type2))


def can_cast(from_: Any, to: Any, casting: str = "safe") -> bool:
    """Whether each value of a type is one of another, as numpy.can_cast."""
    one, other = _name(from_), _name(to)
    if casting == "unsafe":
        return True
    if casting in ("no", "equiv"):
        return one == other
    if casting not in ("safe", "same_kind"):
        raise ValueError(f"rdim.can_cast(): casting={casting!r} is none of NumPy's")
    if str(promote_types(one, other)) == other:
        return True
    order = {"b": 0, "u": 1, "i": 2, "f": 3, "V": 3, "c": 4}
    return casting == "same_kind" and order[_DTYPE[one].kind] <= order[_DTYPE[other].kind]


class FloatInfo(NamedTuple):
    """What finfo() says of a type."""

    bits: int
    eps: float
    max: float
    min: float
    smallest_normal: float
    dtype: Any


class IntInfo(NamedTuple):
    """What iinfo() says of a type."""

    bits: int
    max: int
    min: int
    dtype: Any


_FLOATS = {  # bits, digits behind the point in binary, the greatest exponent
    "float16": (16, 10, 15), "bfloat16": (16, 7, 127), "float8_e4m3fn": (8, 3, 8), "float32": (32, 23, 127),
    "float64": (64, 52, 1023),
}
_PARTS = {"complex64": "float32", "complex128": "float64"}


def finfo(type: Any, /) -> FloatInfo:
    """Limits of a type of floats, or of the parts of a complex one, as numpy.finfo."""
    name = _PARTS.get(_name(type), _name(type))
    if name not in _FLOATS:
        raise ValueError(f"rdim.finfo(): {name} is no type of floats")
    bits, digits, top = _FLOATS[name]
    largest, least = (2.0 - 2.0 ** -digits) * 2.0 ** top, 2.0 ** (1 - top)
    if name == "float8_e4m3fn":  # the greatest exponent is one of numbers, all but its last of them
        largest, least = 448.0, 2.0 ** -6
    return FloatInfo(bits, 2.0 ** -digits, largest, -largest, least, _DTYPE[name])


def iinfo(type: Any, /) -> IntInfo:
    """Limits of a type of ints, as numpy.iinfo."""
    name = _name(type)
    if name not in _KINDS["integral"]:
        raise ValueError(f"rdim.iinfo(): {name} is no type of ints")
    bits = 8 * _DTYPE[name].itemsize
    if name[0] == "u":
        return IntInfo(bits, 2 ** bits - 1, 0, _DTYPE[name])
    return IntInfo(bits, 2 ** (bits - 1) - 1, -(2 ** (bits - 1)), _DTYPE[name])


# ---- Devices ----------------------------------------------------------------------------------------------------
CPU = "cpu"


def to_device(self: Any, device: Any, /, *, stream: Any = None) -> Any:
    """The array itself: lazy arrays have no place but the CPU, where their leaves are."""
    if str(device) != CPU or stream is not None:
        raise ValueError(f"rdim: to_device({device!r}, stream={stream!r}); \"cpu\" alone is possible")
    return self


# ---- Namespace --------------------------------------------------------------------------------------------------
def array_namespace(self: Any, /, *, api_version: str | None = None) -> ModuleType:
    """The module rdim, which has the functions of the standard."""
    if api_version not in (None, "2021.12", "2022.12", "2023.12", VERSION):
        raise ValueError(f"rdim: no version {api_version!r} of the Array API; {VERSION} and those before it are")
    return sys.modules["rdim"]


class Info:
    """What the namespace says of itself."""

    def capabilities(self) -> dict[str, Any]:
        """Masks pick, shapes may depend on data; 32 axes are the most."""
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 32}

    def default_device(self) -> str:
        """The CPU."""
        return CPU

    def devices(self) -> list[str]:
        """The CPU alone."""
        return [CPU]

    def default_dtypes(self, *, device: Any = None) -> dict[str, Any]:
        """Types of what is made without one."""
        return {"real floating": _DTYPE["float64"], "complex floating": _DTYPE["complex128"],
                "integral": _DTYPE["int64"], "indexing": _DTYPE["int64"]}

    def dtypes(self, *, device: Any = None, kind: Any = None) -> dict[str, Any]:
        """The standard's types by name, all of them or those of a kind."""
        kinds = kind if isinstance(kind, tuple) else (kind,)
        names = ("bool",) + _KINDS["numeric"]
        return {name: _DTYPE[name] for name in names
                if any(one is None or isdtype(_DTYPE[name], one) for one in kinds)}
