"""The tables of the extension's functions, python/src/*.def, as Python sees them.

Type hints (python/stubs.py), the API site (script/site) and tests are made of them, so that all say the same.
"""

from __future__ import annotations

import ast
import dataclasses
import pathlib
import re

__all__ = ["Doc", "Function", "Parameter", "docs", "functions", "kinds", "parameter_rows"]

SOURCES = pathlib.Path(__file__).parent / "src"
ROW = re.compile(r"^(\w+)\((.*)\)$", re.M)
FIELD = re.compile(r'\s*((?:"(?:[^"\\]|\\.)*"|\'[^\']*\'|\([^()]*\)|[^,"])+)\s*(?:,|$)')


@dataclasses.dataclass(frozen=True)
class Parameter:
    """One argument: its names, the letter of calls.def, its value where it is not given (None: it must be)."""

    names: tuple[str, ...]
    kind: str
    optional: bool
    default: str | None
    by_place: bool
    by_name: bool


@dataclasses.dataclass(frozen=True)
class Function:
    """A row: its arguments, whether arrays have it as a method (METHOD, SPREAD), functions of C that it calls."""

    name: str
    parameters: tuple[Parameter, ...]
    method: str
    calls: tuple[str, ...]


@dataclasses.dataclass(frozen=True)
class Doc:
    """What docs.def says of a function."""

    sentence: str
    example: str
    result: str


def _rows(table: str) -> list[tuple[str, list[str]]]:
    """The rows of a table: the macro, and its arguments as they are written; a last one may hold commas."""
    text = re.sub(r"/\*.*?\*/", "", (SOURCES / f"{table}.def").read_text(), flags=re.S)
    return [(macro, [field.strip() for field in FIELD.findall(fields)]) for macro, fields in ROW.findall(text)]


def _text(field: str) -> str:
    value = ast.literal_eval(field)
    assert isinstance(value, str), field
    return value


def _default(kind: str, optional: bool, absent: str) -> str | None:
    if not absent:
        return "None" if optional else None
    return str(absent != "0") if kind == "b" else absent


def _parameters(signature: str) -> tuple[Parameter, ...]:
    found: list[Parameter] = []
    by_place = True
    for word in signature.split():
        if word == "/":
            found = [dataclasses.replace(one, by_name=False) for one in found]
        elif word == "*":
            by_place = False
        else:
            names, rest = word.split(":", 1)
            optional = rest[1:2] == "?"
            absent = rest.partition("=")[2]
            found.append(Parameter(tuple(names.split("|")), rest[0], optional, _default(rest[0], optional, absent),
                                   by_place, True))
    return tuple(found)


def _calls_of(expression: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(re.findall(r"\brd_[a-z]\w*(?=\()", expression)))


def _of_calls() -> list[Function]:
    return [Function(f[0], _parameters(_text(f[2])), f[1], _calls_of(", ".join(f[3:]))) for _, f in _rows("calls")]


def _of_maps() -> list[Function]:
    rows = _rows("maps")
    signature = {f[0]: _parameters(_text(f[1])) for macro, f in rows if macro == "SIGNATURE"}
    return [Function(f[0], signature[macro], "FUNCTION", (f[1],) if f[1].startswith("rd_") else ())
            for macro, f in rows if macro in signature]


def _of_reductions() -> list[Function]:
    rows = _rows("reductions")
    signature = {f[0]: _parameters(_text(f[1])) for macro, f in rows if macro == "SIGNATURE"}
    found = []
    for macro, f in rows:
        if macro == "REDUCTION":
            found.append(Function(f[0], signature[f[3]], f[4], (f"rd_{_text(f[1])}",)))
        elif macro == "CHOICE":
            found.append(Function(f[0], signature[f[3]], "FUNCTION", (f[1].removesuffix("_of"),)))
        elif macro == "SCAN":
            found.append(Function(f[0], signature[f[3]], f[4], ("rd_scan",)))
    return found


def functions() -> dict[str, Function]:
    """All functions that have a row, by their names."""
    found = _of_maps() + _of_reductions() + _of_calls()
    assert len({one.name for one in found}) == len(found), "two rows have one name"
    return {one.name: one for one in sorted(found, key=lambda one: one.name)}


def docs() -> dict[str, Doc]:
    """The rows of docs.def, by the functions' names."""
    return {f[0]: Doc(_text(f[1]), _text(f[2]), _text(f[3])) for _, f in _rows("docs")}


def kinds() -> dict[str, tuple[str, str]]:
    """What each letter is: in words, and as a type hint."""
    return {_text(f[0]): (_text(f[1]), _text(f[2])) for _, f in _rows("kinds")}


def parameter_rows() -> list[tuple[str, str, str, str]]:
    """The rows of parameters.def: function, name, kinds, text."""
    return [(f[0], f[1], _text(f[2]), _text(f[3])) for _, f in _rows("parameters")]
