"""What becomes an Array: memory of others, tensors, numbers, nested lists."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any

from . import _core
from ._core import Array
from ._dtypes import FOREIGN, numpy, resolve

__all__ = ["array", "asarray", "from_dlpack", "frombuffer", "pairs"]

_NUMBERS = (bool, int, float, complex)
_NUMBER_TYPES = {bool: "bool", int: "int64", float: "float64", complex: "complex128"}


def from_dlpack(x: Any, /, *, device: Any = None, copy: bool | None = None) -> Array:
    """A tensor of PyTorch, JAX, CuPy or NumPy as an Array over its memory, like numpy.from_dlpack."""
    if device is not None and str(device) != "cpu":
        raise ValueError(f"rdim.from_dlpack: device is {device!r}, arrays of rdim stay where the tensor is")
    if not hasattr(x, "__dlpack__"):
        raise TypeError(f"rdim.from_dlpack: {type(x).__name__} has no __dlpack__")
    try:
        capsule = x.__dlpack__(max_version=(1, 1))
    except TypeError:  # a library from before DLPack 1.0
        capsule = x.__dlpack__()
    made = _core.from_dlpack(capsule)
    return _core.persist(made) if copy else made


def frombuffer(buffer: Any, dtype: Any = float, count: int = -1, offset: int = 0) -> Array:
    """The bytes of a buffer as a row of elements of a type, like numpy.frombuffer."""
    kind = _core.dtype_names[resolve(dtype) - 1]
    flat: Any = memoryview(buffer).cast("B")
    size = _SIZES[kind]
    n = (len(flat) - offset) // size if count < 0 else count
    if offset < 0 or n < 0 or offset + n * size > len(flat) or (count < 0 and (len(flat) - offset) % size):
        raise ValueError(f"rdim.frombuffer: {count} elements of {kind} from byte {offset} on, "
                         f"the buffer has {len(flat)} bytes")
    part = flat[offset : offset + n * size]
    if kind.startswith("complex"):
        pairs = _of_own(part.cast("f" if size == 8 else "d"))
        return _core.complex(pairs[::2], pairs[1::2])
    return _of_own(part.cast(_FORMATS[kind]), kind)


def _any_array(x: Any, dtype: Any = None, order: Any = None, *, device: Any = None, copy: bool | None = None,
               like: Any = None) -> Array:
    """What asarray() of the extension, which knows plain arrays of NumPy, leaves to Python."""
    if device is not None and str(device) != "cpu":
        raise ValueError(f"rdim.asarray: device is {device!r}, and arrays are made on \"cpu\" alone")
    if isinstance(x, Array):
        return _as_asked(x, dtype, copy)
    if isinstance(x, _NUMBERS) and type(x) in _NUMBER_TYPES:
        return _number(x, dtype)
    if numpy is not None and isinstance(x, numpy.generic) and x.dtype.kind in "biufc":
        return _as_asked(_strong(x.item(), x.dtype), dtype, None)
    if isinstance(x, (list, tuple)):
        return _of_sequence(x, dtype)
    return _as_asked(_of_object(x, copy), dtype, copy)


# ---- Numbers ----------------------------------------------------------------------------------------
def _strong(value: Any, dtype: Any) -> Array:
    if not isinstance(value, _NUMBERS):
        raise TypeError(_no_type(dtype))
    return _core.scalar(value, dtype)


def _number(value: Any, dtype: Any) -> Array:
    if dtype is None:
        wide = type(value) is int and value >= 1 << 63
        return _core.scalar(value, "uint64" if wide else _NUMBER_TYPES[type(value)])
    name = _core.dtype_names[resolve(dtype) - 1]
    if isinstance(value, int) and "int" in name:
        bits, signed = int(name.split("int")[1]), name[0] == "i"
        low, high = (-(1 << bits - 1), 1 << bits - 1) if signed else (0, 1 << bits)
        if not low <= value < high:
            raise OverflowError(f"rdim.asarray: {value} is no {name}")
    elif isinstance(value, complex) and not name.startswith("complex"):
        raise TypeError(f"rdim.asarray: {value} is complex, and {name} is not")
    return _core.scalar(value, dtype)


# ---- Sequences --------------------------------------------------------------------------------------
def _has_array(x: Any) -> bool:
    return isinstance(x, Array) or (isinstance(x, (list, tuple)) and any(map(_has_array, x)))


def _of_sequence(x: Sequence[Any], dtype: Any) -> Array:
    """Arrays in it stay lazy."""
    if _has_array(x):
        made = _core.stack([asarray(part) for part in x], 0)
        return made if dtype is None else _core.astype(made, dtype)
    if numpy is None:
        return _packed(x, dtype)
    wanted = _core.dtype_names[resolve(dtype) - 1] if dtype is not None else None
    made = asarray(numpy.asarray(x, dtype=None if wanted in FOREIGN else dtype))
    return _core.astype(made, dtype) if wanted in FOREIGN else made


def _extents(x: Any) -> tuple[int, ...]:
    if not isinstance(x, (list, tuple)):
        return ()
    inner = {_extents(part) for part in x}
    if len(inner) > 1:
        raise ValueError(f"rdim.asarray: nested lists of unlike extents {sorted(inner)}")
    return (len(x), *(inner.pop() if inner else ()))


def _flat(x: Any) -> list[Any]:
    return [leaf for part in x for leaf in _flat(part)] if isinstance(x, (list, tuple)) else [x]


def _packed(x: Sequence[Any], dtype: Any) -> Array:
    """Without NumPy: the elements of nested lists in memory of their own."""
    shape, flat = _extents(x), _flat(x)
    kinds = [type(value) for value in flat]
    if any(kind not in _NUMBER_TYPES for kind in kinds):
        raise TypeError(f"rdim.asarray: {next(k for k in kinds if k not in _NUMBER_TYPES).__name__} is no number")
    order = list(_NUMBER_TYPES)
    kind = _NUMBER_TYPES[max(kinds, key=order.index)] if kinds else "float64"
    if kind == "complex128":
        parts = [_packed_row([complex(v).real for v in flat], "d"), _packed_row([complex(v).imag for v in flat], "d")]
        made = _core.complex(*parts)
    elif kind == "int64" and any(value >= 1 << 63 for value in flat):
        made = _packed_row(flat, "Q")
    else:
        made = _packed_row(flat, {"bool": "?", "int64": "q", "float64": "d"}[kind])
    made = _core.reshape(made, shape)
    return made if dtype is None else _core.astype(made, dtype)


def _packed_row(values: list[Any], code: str) -> Array:
    try:
        memory: Any = memoryview(struct.pack(f"={len(values)}{code}", *values))
        return _of_own(memory.cast(code))
    except struct.error as error:
        raise OverflowError(f"rdim.asarray: {error}") from None


# ---- Objects ----------------------------------------------------------------------------------------
def _no_type(given: Any) -> str:
    return f"rdim has no element type {given!s}; it has {', '.join(_core.dtype_names)}"


def _of_object(x: Any, copy: bool | None) -> Array:
    """Of what has memory, a tensor, or makes an array of itself."""
    if isinstance(x, (str, bytes)):
        raise TypeError(f"rdim.asarray: {type(x).__name__} is no array; rdim.frombuffer() reads bytes as elements")
    if numpy is not None and isinstance(x, numpy.ndarray):
        return _of_ndarray(x, copy)
    if hasattr(x, "tocsr") and hasattr(x, "nnz"):
        from .sparse import from_scipy

        return from_scipy(x)
    if not hasattr(x, "__array__") or hasattr(x, "__dlpack__"):
        if hasattr(x, "__dlpack__"):
            return from_dlpack(x)
        try:
            memory = memoryview(x)
        except TypeError:
            memory = None
        if memory is not None:
            return _of_buffer(memory, copy)
    if numpy is None or not (hasattr(x, "__array__") or hasattr(x, "__array_interface__")):
        raise TypeError(f"rdim: no array can be made of {type(x)!r}")
    return _of_ndarray(numpy.asarray(x), copy)


def _as_ints(x: Any, name: str) -> Any:
    """x itself, whose cycles the collector sees; of a type that exports no buffer, its elements as ints."""
    return x.view(FOREIGN[name]) if name in FOREIGN else x


def _of_ndarray(x: Any, copy: bool | None) -> Array:
    name = x.dtype.name
    if name not in _core.dtype_names:
        raise TypeError(f"rdim.asarray: {_no_type(x.dtype)}" + _ADVICE.get(x.dtype.kind, ""))
    if isinstance(x, numpy.ma.MaskedArray) and numpy.ma.is_masked(x):
        raise TypeError("rdim.asarray: a masked array has elements that are missing; take x.filled(...), "
                        "or x.data and where=~x.mask")
    if x.ndim > 32:
        raise ValueError(f"rdim.asarray: {x.ndim} axes, an Array has at most 32")
    native = x.dtype.isnative
    made = _of_memory(_as_ints(x, name), name) if native else None
    if made is None:
        _refuse_copy(copy, "its byte order, strides or address are none that rdim reads in place")
        plain = numpy.array(x, dtype=x.dtype.newbyteorder("="), order="C", copy=True, subok=False)
        made = _of_own(_as_ints(plain, name), name)
    return made


_ADVICE = {
    "M": "; x.view('int64') has the numbers of dates",
    "m": "; x.view('int64') has the numbers of durations",
    "O": "; objects are no elements: x.astype(float) makes numbers of them",
    "U": "; x.astype(float) reads numbers in texts",
    "S": "; x.astype(float) reads numbers in texts",
    "V": "; a record's field is an array: x['name']",
}


def _of_buffer(memory: memoryview, copy: bool | None) -> Array:
    made = _of_memory(memory)
    if made is not None:
        return made
    _refuse_copy(copy, f"a buffer of format {memory.format!r} is none that rdim reads in place")
    if numpy is not None:
        return _of_ndarray(numpy.asarray(memory), copy)
    order, code = (memory.format[:1], memory.format[1:]) if memory.format[:1] in tuple("<>=@!") else ("", memory.format)
    if code not in _FORMATS.values() and code not in ("l", "L"):
        raise TypeError(f"rdim.asarray: {_no_type(f'of format {memory.format!r}')}")
    values = struct.unpack(f"{order or '='}{len(memory.tobytes()) // memory.itemsize}{code}", memory.tobytes())
    return _core.reshape(_packed_row(list(values), code), memory.shape or ())


def _of_memory(memory: Any, name: str = "") -> Array | None:
    """Without a copy, or None."""
    return _core.from_buffer(memory, name if name in FOREIGN else None)


def _of_own(memory: Any, name: str = "") -> Array:
    """Without a copy, of memory that was laid out here to be read in place."""
    made = _of_memory(memory, name)
    if made is None:
        raise TypeError(f"rdim.asarray: {_no_type(f'of format {memoryview(memory).format!r}')}")
    return made


def _refuse_copy(copy: bool | None, why: str) -> None:
    if copy is False:
        raise ValueError(f"rdim.asarray: copy is False, and {why}")


def _as_asked(made: Array, dtype: Any, copy: bool | None) -> Array:
    if dtype is not None and resolve(dtype) != resolve(made.dtype):
        _refuse_copy(copy, f"elements of {made.dtype} become {dtype}")
        made = _core.astype(made, dtype)
    return _core.persist(made) if copy else made


def array(object: Any, dtype: Any = None, *, copy: bool | None = True, order: Any = "K", subok: bool = False,
          ndmin: int = 0, like: Any = None, device: Any = None) -> Array:
    """An Array of its own, as numpy.array: memory of others is copied, and x[key] = value changes no other handle."""
    made = asarray(object, dtype, device=device)
    if isinstance(object, Array):
        made = made[...]
    elif copy and not isinstance(object, (list, tuple, *_NUMBERS)) and not made.is_sparse:
        made = _core.persist(made)
    return made if made.ndim >= ndmin else _core.reshape(made, (1,) * (ndmin - made.ndim) + made.shape)


def pairs(x: Any) -> Array:
    """Points for sums over pairs: pairs(x)[:, None] - pairs(y)[None], as KeOps' LazyTensor.  It is asarray()."""
    return asarray(x)


_FORMATS = {"bool": "?", "int8": "b", "int16": "h", "int32": "i", "int64": "q", "uint8": "B", "uint16": "H",
            "uint32": "I", "uint64": "Q", "float16": "e", "bfloat16": "H", "float8_e4m3fn": "B",
            "float32": "f", "float64": "d"}
_SIZES = {name: struct.calcsize(code) for name, code in _FORMATS.items()} | {"complex64": 8, "complex128": 16}

asarray = _core.asarray
_core._set_asarray(_any_array, *((numpy.ndarray, numpy.bool_) if numpy is not None else ()))
