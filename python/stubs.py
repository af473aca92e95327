"""Writes the type hints of the extension's functions, which the tables have, into python/rdim/_core.pyi.

    python3 python/stubs.py

Run it after a change of a table; a test says where it was forgotten.
"""

from __future__ import annotations

import pathlib
import re
from typing import Iterator

import tables

STUB = pathlib.Path(__file__).parent / "rdim/_core.pyi"
WIDTH = 120


def _declared(p: tables.Parameter, hints: dict[str, tuple[str, str]]) -> str:
    hint = hints[p.kind][1]
    if p.default is None:
        return f"{p.names[0]}: {hint}"
    none = " | None" if (p.optional or p.default == "None") and hint != "Any" else ""
    return f"{p.names[0]}: {hint}{none} = {p.default}"


def _arguments(parameters: tuple[tables.Parameter, ...], hints: dict[str, tuple[str, str]]) -> list[str]:
    found: list[str] = []
    for k, p in enumerate(parameters):
        if not p.by_place and (k == 0 or parameters[k - 1].by_place):
            found.append("*")
        found.append(_declared(p, hints))
        if not p.by_name and (k + 1 == len(parameters) or parameters[k + 1].by_name):
            found.append("/")
    return found


def _wrapped(indent: str, head: str, arguments: list[str]) -> str:
    """A declaration, broken into lines where it is long."""
    lines, line = [], f"{indent}def {head}("
    room = " " * len(line)
    for k, one in enumerate(arguments):
        end = ", " if k + 1 < len(arguments) else ") -> Array: ..."
        if len(line) + len(one) + len(end.rstrip()) > WIDTH and line != room:
            lines.append(line.rstrip())
            line = room
        line += one + end
    return "\n".join([*lines, line])


def _method(one: tables.Function, hints: dict[str, tuple[str, str]]) -> Iterator[str]:
    plain = _wrapped("    ", one.name, ["self", *_arguments(one.parameters[1:], hints)])
    if one.method != "SPREAD":
        yield plain
        return
    spread, *others = one.parameters[1:]
    keywords = [_declared(p, hints) for p in others]
    yield f"    @overload\n{plain}"
    yield "    @overload\n" + _wrapped("    ", one.name, ["self", f"*{spread.names[0]}: SupportsIndex", *keywords])


def functions() -> str:
    hints = tables.kinds()
    return "\n".join(_wrapped("", one.name, _arguments(one.parameters, hints)) for one in tables.functions().values())


def methods() -> str:
    hints = tables.kinds()
    return "\n".join(text for one in tables.functions().values() if one.method != "FUNCTION"
                     for text in _method(one, hints))


def _replaced(stub: str, what: str, text: str) -> str:
    """The stub with other lines between the two comments that begin and end this part."""
    part = re.compile(rf"(^ *# ---- {what} of the tables.*?\n).*?(^ *# ---- end)", re.M | re.S)
    assert len(part.findall(stub)) == 1, what
    return part.sub(lambda found: f"{found[1]}{text}\n{found[2]}", stub)


def written(stub: str) -> str:
    """What the stub's text has to be."""
    return _replaced(_replaced(stub, "methods", methods()), "functions", functions())


if __name__ == "__main__":
    STUB.write_text(written(STUB.read_text()))
