"""Sentences of the C library in words of Python: the function that was called, NumPy's names of types."""

from __future__ import annotations

import re
import sys
from typing import Any

from . import _core
from ._solves import METHODS

__all__ = ["retold"]

# Names of the library that are no rows of a table in C, and the words for them here.
_WORDS = {
    "abs": "abs", "arg": "angle", "at": "indexing", "broadcast": "broadcast_to", "bit_and": "bitwise_and",
    "cast": "astype", "concat": "concatenate", "ctx_new": "options", "eval": "compute", "eval_many": "compute",
    "expand": "expand_dims", "floordiv": "floor_divide", "input": "input", "leaf": "asarray", "map2": "map", "mapn": "map",
    "mode_count_of": "mode_count", "mode_of": "mode", "mul": "multiply", "permute": "transpose",
    "popcount": "bitwise_count", "pow": "power", "quantiles": "quantile", "read": "asarray", "reduce": "reducer", "reduce2": "reducer", "round_to": "round",
    "select": "indexing", "shift_left": "left_shift", "shift_right": "right_shift", "slice": "indexing", "slice_axis": "indexing", "sub": "subtract", "take_along": "take_along_axis",
    "window": "sliding_window_view",
}
# Words of a sentence that mean something else here.
_PHRASES = {
    "name it among the inputs of rd_plan_new()": "it is an rdim.input(), to which solve() and the like give elements",
    "use a leaf or an input of rank 0": "give it memory of its own: x = rdim.asarray(2.0).persist()",
    **{f"RD_{name.upper()}": f'method="{name}"' for name in METHODS},
}
_TYPES = {
    "i8": "int8", "i16": "int16", "i32": "int32", "i64": "int64", "u8": "uint8", "u16": "uint16", "u32": "uint32",
    "u64": "uint64", "f16": "float16", "bf16": "bfloat16",
    "f8e4m3": "float8_e4m3fn", "f32": "float32", "f64": "float64", "c64": "complex64",
    "c128": "complex128",
}
_KEYWORDS = {"type": "dtype", "dims": "axis", "skip_nan": "skipna"}
_A_NAME, _A_TYPE = re.compile(r"\brd_(\w+)"), re.compile(r"\b(" + "|".join(_TYPES) + r")\b")
_A_PHRASE = re.compile("|".join(map(re.escape, _PHRASES)))
_A_KEYWORD = re.compile(r"(?<![\w.)\]])\.([a-z_]{2,})\b(?! of)")
_AN_AXIS = re.compile(r"\bRD_DIMS\((-?\d+)\)")
_OF_CALL = re.compile(r"^(?:rd_(?P<library>\w+)(?=[: ])|rdim\.(?P<here>\w+)(?=[:(]))")


def _word(name: str) -> str:
    return str(_core._library_names.get("rd_" + name) or _WORDS.get(name, name))


def _public() -> frozenset[str]:
    package: Any = sys.modules.get("rdim")
    return frozenset(getattr(package, "__all__", ()))


def _function_above() -> str | None:
    """The outermost function of the package that the program called, if it is one in Python."""
    frame: Any = sys._getframe(1)
    found = None
    while frame is not None and str(frame.f_globals.get("__name__", "")).split(".")[0] == "rdim":
        name, module = frame.f_code.co_name, frame.f_globals["__name__"]
        if module in ("rdim.linalg", "rdim.fft", "rdim.random", "rdim.sparse"):
            found = f"{module[5:]}.{name}" if name[0] != "_" else found
        elif name in _public():
            found = name
        frame = frame.f_back
    return found


def retold(sentence: str, call: str | None) -> str:
    """The sentence about the function that was called: the one of the package that the program called, or else `call`,
    the row of a table in C, or else what the library's own name means here."""
    own = _OF_CALL.match(sentence)
    if own:
        name = _function_above() or call or own["here"] or _word(own["library"])
        sentence = f"rdim.{name}" + sentence[own.end():]
    sentence, line, formula = sentence.partition("\n")  # whose own words have a caret below them
    sentence = _A_PHRASE.sub(lambda found: _PHRASES[found[0]], sentence)
    sentence = _A_NAME.sub(lambda found: _word(found[1]), sentence)
    sentence = _AN_AXIS.sub(r"axis=\1", _A_TYPE.sub(lambda found: _TYPES[found[1]], sentence))
    sentence = _A_KEYWORD.sub(lambda found: _KEYWORDS.get(found[1], found[1]) + "=", sentence)
    return sentence + line + formula


_core._set_retold(retold)
