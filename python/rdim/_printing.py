"""What arrays print: elements where there are few, else what computing them would read."""

from __future__ import annotations

import html
import re
from typing import Any

from . import _core
from ._core import Array
from ._dtypes import FOREIGN, DType, numpy

__all__: list[str] = []

MOST_ELEMENTS = 1000  # as NumPy prints all of
MOST_READ, MOST_OPERATIONS = 1 << 27, 1e9  # nobody waits for a print

_READS = re.compile(r"^cost of stage .*?reads (\d+) bytes", re.M)
_OPERATIONS = re.compile(r"elements?: (\d+) operations", re.M)


def _cost(x: Array) -> tuple[int, int]:
    """Bytes that are read, and operations."""
    plan = _core.explain(x)
    return sum(map(int, _READS.findall(plan))), sum(map(int, _OPERATIONS.findall(plan)))


def bytes_text(n: int) -> str:
    """7.6 MiB"""
    size, unit = float(n), "B"
    for unit in ("B", "KiB", "MiB", "GiB", "TiB"):
        if size < 1024 or unit == "TiB":
            break
        size /= 1024
    return f"{n} B" if unit == "B" else f"{size:.1f} {unit}"


def _itemsize(x: Array) -> int:
    return int(x.dtype.itemsize)


def _described(x: Array) -> str:
    try:
        reads = f", {bytes_text(_cost(x)[0])} to be read"
    except _core.Error as error:
        reads = f", {error}"
    sparse = ", sparse" if x.is_sparse else ""
    return f"rdim.Array(shape={x.shape}, dtype={x.dtype}{sparse}, {bytes_text(x.size * _itemsize(x))}{reads})"


def _elements(x: Array) -> Any:
    """None: there are many, or they take long."""
    if x.size > MOST_ELEMENTS or x.is_sparse:
        return None
    reads, operations = _cost(x)
    if reads > MOST_READ or operations > MOST_OPERATIONS:
        return None
    without_memory = isinstance(x.dtype, DType) and str(x.dtype) in (*FOREIGN, "float16")
    return _core.compute(_core.astype(x, "float32") if without_memory else x)


def _repr(self: Array) -> str:
    try:
        elements = _elements(self)
    except (_core.Error, TypeError) as error:  # of an index outside, say: to be seen, and no reason to fail
        return f"rdim.Array(shape={self.shape}, dtype={self.dtype}, not to be computed: {error})"
    if elements is None:
        return _described(self)
    if numpy is None:
        return f"rdim.Array({elements.tolist()}, dtype={self.dtype})"
    if str(self.dtype) in FOREIGN:
        return f"rdim.Array({numpy.array2string(elements, separator=', ', prefix='rdim.Array(')}, dtype={self.dtype})"
    lines = repr(elements).split("\n")
    return "\n".join(["rdim.A" + lines[0][1:], *("     " + line if line.startswith(" ") else line for line in lines[1:])])


def _str(self: Array) -> str:
    try:
        elements = _elements(self)
    except (_core.Error, TypeError):
        return _repr(self)
    if elements is None:
        return _described(self)
    return str(elements) if numpy is not None else str(elements.tolist())


def _format(self: Array, spec: str) -> str:
    """f"{x:.3f}" of one element, as of NumPy's numbers."""
    return format(_core.item(self), spec) if spec and self.ndim == 0 else format(str(self), spec)


_ROW = "<tr><th style='text-align:left;padding-right:1em'>{}</th><td style='text-align:left'>{}</td></tr>"


def _picture(x: Array) -> str:
    """How x would be computed, for a page of any colour: boxes keep theirs, lines are seen on light and on dark."""
    svg = _core.explain_svg(x)
    svg = svg[svg.find("<svg") :].replace('<rect width="100%" height="100%" fill="white"/>', "").replace("#555", "#888")
    return ("<details><summary style='cursor:pointer'>How it is computed</summary>"
            f"<div style='overflow-x:auto'>{svg}</div></details>") if svg.startswith("<svg") else ""


def _repr_html(self: Array) -> str:
    """A table, and behind it how the elements would be computed, as a picture."""
    try:
        reads, picture = bytes_text(_cost(self)[0]), _picture(self)
    except _core.Error as error:
        reads, picture = str(error), ""
    rows = [("Shape", self.shape), ("Type", self.dtype), ("Bytes", bytes_text(self.size * _itemsize(self))), ("To be read", reads)]
    if self.is_sparse:
        rows.append(("Pattern", "sparse"))
    table = "".join(_ROW.format(name, html.escape(str(value))) for name, value in rows)
    return f"<div><b>rdim.Array</b><table style='margin:0.3em 0'>{table}</table>{picture}</div>"


METHODS: dict[str, Any] = {"__repr__": _repr, "__str__": _str, "__format__": _format, "_repr_html_": _repr_html}
