"""Functions of the user's: text, C functions by address, and C source."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from . import _core
from ._compiler import address, library
from ._core import Array
from ._manipulation import block_of

__all__ = ["Block", "Function", "block", "function", "map"]

_FUNCTION: Any = getattr(ctypes, "_CFuncPtr")
_REALS = {ctypes.c_double: "float64", ctypes.c_float: "float32"}


def map(*arguments: Any) -> Array:
    """map(x, f), map(x, y, f): f of each element, or of the elements of several arrays side by side.

    f is text as "x > 0 ? x : 0" or "a, b: a * b + 1", the name of a function, what function() or block() made,
    a Numba cfunc, or a ctypes function of doubles or of floats."""
    if len(arguments) < 2:
        raise TypeError("rdim.map: an array and a function are wanted")
    *arrays, f = arguments
    if isinstance(f, str):
        return _core.map_text(tuple(arrays), f)
    if isinstance(f, (Function, Block)):
        return f(*arrays)
    pointer = f.ctypes if hasattr(f, "address") and hasattr(f, "ctypes") else f
    if not isinstance(pointer, _FUNCTION):
        raise TypeError(f"rdim.map: {type(f).__name__} is no function that runs without Python; possible are text, "
                        "rdim.function(), rdim.block(), a Numba cfunc, a ctypes function")
    return _core.map_numbers(tuple(arrays), address(pointer), _real_type(pointer, len(arrays)), f)


def _real_type(pointer: Any, n: int) -> str:
    kinds = [pointer.restype, *(pointer.argtypes or ())]
    if len(kinds) != n + 1 or len(set(kinds)) != 1 or kinds[0] not in _REALS:
        names = [getattr(kind, "__name__", str(kind)) for kind in kinds]
        raise TypeError(f"rdim.map: a function with the types {', '.join(names)} (result first) of {n} arrays; "
                        "all are c_double, or all c_float, one for each array; set .restype and .argtypes")
    return _REALS[kinds[0]]


# ---- Blocks -----------------------------------------------------------------------------------------
class Block:
    """A C function of blocks of elements; call it with arrays."""

    def __init__(self, f: Any, types: tuple[str, str], user: int, name: str) -> None:
        self._f, self._types, self._user, self._name = f, types, user, name

    def __call__(self, *arrays: Any) -> Array:
        return _core.map_block(arrays, address(self._f), self._user, self._name, *self._types, self)


def block(f: Any, in_type: Any = "float64", out_type: Any = "float64", *, user: int = 0, name: str = "block") -> Any:
    """A function that computes n elements a call, any thread, any order: a ctypes pointer or a Numba cfunc of

        const char *f(void *user, int64_t n, const void *const *in, void *out)

    It returns NULL, or a sentence that ends the evaluation as rdim.CallbackError.  Of a nested list of arrays it is
    numpy.block: one array of all."""
    if isinstance(f, list):
        return block_of(f)
    pointer = f.ctypes if hasattr(f, "address") and hasattr(f, "ctypes") else f
    if not isinstance(pointer, _FUNCTION):
        raise TypeError(f"rdim.block: {type(f).__name__} is no ctypes function and no cfunc of Numba")
    made = Block(pointer, (in_type, out_type), user, name)
    made._owner = f  # type: ignore[attr-defined]
    return made


# ---- C source ---------------------------------------------------------------------------------------
class _Parsed(NamedTuple):
    real: str
    name: str
    parameters: tuple[str, ...]
    body: str


_HEAD = re.compile(r"\s*(?:(?:static|inline)\s+)*(double|float|real)\s+([A-Za-z_]\w*)\s*\(([^()]*)\)\s*\{(.*)\}\s*\Z", re.S)
_PARAMETER = re.compile(r"\s*(?:const\s+)?(double|float|real)\s+([A-Za-z_]\w*)\s*\Z")
_EXPRESSION = re.compile(r"\s*return\s+([^;{}]+);\s*\Z", re.S)


def _parse(source: str) -> _Parsed:
    head = _HEAD.match(source)
    parameters = [_PARAMETER.match(part) for part in head.group(3).split(",")] if head else []
    if not head or not all(parameters) or not 1 <= len(parameters) <= 8:
        raise ValueError('rdim.function: the source is no function as "double f(double x, double y) { ... }" of 1 to 8 '
                         f"parameters that are double, float, or real for either: {source.strip()[:80]!r}")
    kinds = {head.group(1), *(p.group(1) for p in parameters if p)}
    if len(kinds) > 1:
        raise TypeError(f"rdim.function: {head.group(2)} has the types {', '.join(sorted(kinds))}; all are of one")
    return _Parsed(head.group(1), head.group(2), tuple(p.group(2) for p in parameters if p), head.group(4))


class Function:
    """A function in C; call it with arrays, which become its type where that is not `real`."""

    def __init__(self, source: str) -> None:
        self._of = _parse(source)
        self.__name__ = self._of.name

    def _text(self, arrays: tuple[Any, ...]) -> Array | None:
        """One expression that rdim can read is nodes of its own: no compiler is needed, and it fuses."""
        found = _EXPRESSION.match(self._of.body)
        if not found:
            return None
        try:
            code = f"{','.join(self._of.parameters)}: {' '.join(found.group(1).split())}"
            return _core.map_code(arrays, self._of.name, code)
        except _core.TextError:
            return None

    def __call__(self, *arrays: Any) -> Array:
        of = self._of
        if len(arrays) != len(of.parameters):
            raise TypeError(f"rdim: {of.name}() takes {len(of.parameters)} arrays, {len(arrays)} given")
        if of.real != "real":
            kind = "float64" if of.real == "double" else "float32"
            arrays = tuple(_core.astype(x, kind) for x in arrays)
        made = self._text(arrays)
        if made is not None:
            return made
        loaded = library(of.name, _source(of))
        return _core.map_body(arrays, address(loaded.loop_float), address(loaded.loop_double), of.name, ",".join((*of.parameters, "rd_result")), of.body, self)


def function(source: str) -> Function:
    """A function from C source, as "double f(double x) { double y = 0; while (x > y) y += 1; return y; }".

    One expression needs no compiler; statements are compiled once, by cc or as RDIM_CC says."""
    return Function(source)


_LOOP = """
static inline {real} f_{real}({parameters}) {{
    typedef {real} real;
    {names}
    {body}
}}
void loop_{real}(int64_t rd_n, const {real} *const *rd_in, {real} *rd_out) {{
    for (int64_t rd_i = 0; rd_i < rd_n; rd_i++)
        rd_out[rd_i] = f_{real}({arguments});
}}
"""


def _source(of: _Parsed) -> str:
    arguments = ", ".join(f"rd_in[{k}][rd_i]" for k in range(len(of.parameters)))
    loops = "".join(_LOOP.format(real=real, body=of.body, names=_names(real), arguments=arguments,
                                 parameters=", ".join(f"{real} {name}" for name in of.parameters))
                    for real in ("float", "double"))
    return "#include <math.h>\n#include <stdint.h>\n" + _EXTREMES + loops


_OF_ONE = ("fabs sqrt exp expm1 log log1p log2 sin cos tan tanh erf floor ceil trunc asin acos atan sinh cosh asinh acosh "
           "atanh exp2 log10 cbrt erfc").split()
_OF_TWO = "pow atan2 hypot fmod copysign".split()
_EXTREMES = "".join(f"static {real} {name}_{real}({real} a, {real} b) {{ return a {sign} b || a != a ? a : b; }}\n"
                    for real in ("float", "double") for name, sign in (("min", "<"), ("max", ">")))


def _names(real: str) -> str:
    """C's names follow the type, and abs, min and max are of reals, as where the library compiles the statements."""
    suffix = "f" if real == "float" else ""
    lines = [f"{real} (*const abs)({real}) = fabs{suffix};"]
    lines += [f"{real} (*const {name})({real}, {real}) = {name}_{real};" for name in ("min", "max")]
    if suffix:
        lines += [f"float (*const {name})(float) = {name}f;" for name in _OF_ONE]
        lines += [f"float (*const {name})(float, float) = {name}f;" for name in _OF_TWO]
    return "\n    ".join(lines)
