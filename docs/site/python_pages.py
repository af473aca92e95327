"""The package rdim as pages of reStructuredText: all names of rdim.__all__, by their themes."""

from __future__ import annotations

import importlib
import inspect
import pathlib
import re
import sys
from typing import Any

import rdim
from rdim import _core, _dtypes

__all__ = ["c_calls", "write"]

sys.path.append(str(pathlib.Path(__file__).parents[2] / "python"))  # behind the package that was built
import tables  # noqa: E402

MODULES = ("fft", "linalg", "random", "sparse")
# A page: what it begins with, and where its names come from: tables, parts of calls.def, modules of the package.
PAGES: dict[str, tuple[str, tuple[str, ...]]] = {
    "arrays": ("Arrays and their evaluation", ("_leaves", "_results", "_options", "_array_api")),
    "elements": ("Functions of elements", ("maps", "Element by element", "_numeric", "positive")),
    "reductions": ("Reductions and scans", ("reductions", "_statistics")),
    "shapes": ("Shapes, parts and joins", ("Shapes", "_manipulation", "_edges")),
    "creation": ("New arrays", ("Arrays made of others", "_creation")),
    "order": ("Order, sorting and sets", ("Statistics, order", "_sorting")),
    "products": ("Products", ("Products", "_linear")),
    "neighbours": ("Neighbours, distances and norms", ("Neighbours",)),
    "derivatives": ("Derivatives", ("Derivatives", "_derivatives", "_torch")),
    "own": ("Formulas and functions of yours", ("_formulas", "_user", "_reducers")),
    "plans": ("Plans", ("texts",)),
}
TEXTS = ("explain", "explain_svg", "graphviz")


def _parts_of_calls() -> dict[str, list[str]]:
    """Names of calls.def by the comment above them."""
    text = (tables.SOURCES / "calls.def").read_text()
    parts = re.split(r"/\* ---- (.*?) ---- \*/", text)
    return {title: re.findall(r"^CALL\((\w+),", rows, re.M) for title, rows in zip(parts[1::2], parts[2::2])}


def _of_table(table: str) -> list[str]:
    return re.findall(r"^(?!SIGNATURE)[A-Z]\w*\((\w+),", (tables.SOURCES / f"{table}.def").read_text(), re.M)


def _names_of(source: str) -> list[str]:
    if source == "texts":
        return list(TEXTS)
    if source in ("maps", "reductions"):
        return _of_table(source)
    if source in rdim.__all__:
        return [source]
    if source.startswith("_"):
        return list(importlib.import_module(f"rdim.{source}").__all__)
    return _parts_of_calls()[source]


def c_calls() -> dict[str, tuple[str, ...]]:
    """Functions of C that a function of the package makes nodes by, where the tables say so."""
    return {f"rdim.{name}": one.calls for name, one in tables.functions().items() if one.calls}


def _aliases() -> dict[str, list[str]]:
    """Other names of each function, by the first one."""
    found: dict[int, list[str]] = {}
    for name in rdim.__all__:
        value = getattr(rdim, name)
        if callable(value) and not isinstance(value, type) and name not in _dtypes.NAMES:
            found.setdefault(id(value), []).append(name)
    return {names[0]: names[1:] for group in found.values() for names in [sorted(group, key=_own_first)]}


def _own_first(name: str) -> tuple[bool, str]:
    return getattr(getattr(rdim, name), "__name__", name) != name, name


def _function(name: str, aliases: dict[str, list[str]]) -> str:
    others = aliases.get(name, [])
    text = f".. autofunction:: rdim.{name}\n"
    if others:
        text += f"\n   Other names: {', '.join(f'``{one}``' for one in sorted(others))}.\n"
    return text


def _page(title: str, sources: tuple[str, ...], aliases: dict[str, list[str]], shown: set[str]) -> str:
    names = sorted({name for source in sources for name in _names_of(source) if name in aliases} - shown)
    shown.update(names)
    return "\n".join([title, "=" * len(title), "", *(_function(name, aliases) for name in names)])


def _types(of: type, but: tuple[Any, ...] = ()) -> list[str]:
    values = {name: getattr(rdim, name) for name in rdim.__all__}
    return sorted(name for name, value in values.items()
                  if isinstance(value, type) and issubclass(value, of) and not (but and issubclass(value, but)))


def _classes() -> str:
    errors = _types(Exception)
    lines = ["The class Array", "===============", "", ".. autoclass:: rdim.Array", "   :members:", "   :undoc-members:", "",
             "Exceptions", "==========", ""]
    for name in errors:
        bases = ", ".join(f"``{one.__name__}``" for one in getattr(rdim, name).__mro__[1:-3])
        lines += [f".. py:exception:: rdim.{name}", "", f"   {inspect.getdoc(getattr(rdim, name)) or ''}", "", f"   Also: {bases}." if bases else "", ""]
    own = [name for name in _types(object, (Exception, _core.Array)) if name not in _dtypes.NAMES]
    lines += ["Other classes", "=============", "", *(f".. autoclass:: rdim.{name}\n   :members:\n" for name in own)]
    return "\n".join(lines)


def _objects() -> list[str]:
    """Names that are indexed and not called, such as NumPy's r_."""
    return sorted(name for name in rdim.__all__ if name not in (*_dtypes.NAMES, *MODULES, "newaxis")
                  and not callable(getattr(rdim, name)) and not isinstance(getattr(rdim, name), (float, type)))


def _constants() -> str:
    lines = ["Types and constants", "===================", "",
             "Types of elements are those of NumPy, or objects of these names where there is no NumPy.", ""]
    for name in _dtypes.NAMES:
        lines += [f".. py:data:: rdim.{name}", ""]
    for name in _objects():
        lines += [f".. py:data:: rdim.{name}", "", f"   As ``numpy.{name}``.", ""]
    for name in ("e", "euler_gamma", "inf", "nan", "newaxis", "pi"):
        lines += [f".. py:data:: rdim.{name}", f"   :value: {getattr(rdim, name)}", ""]
    return "\n".join(lines)


def _module(name: str) -> str:
    title = f"The module rdim.{name}"
    module = importlib.import_module(f"rdim.{name}")
    lines = [title, "=" * len(title), "", f".. py:module:: rdim.{name}", "", inspect.getdoc(module) or "", ""]
    for one in sorted(module.__all__):
        kind = "autoclass" if inspect.isclass(getattr(module, one)) else "autofunction"
        lines += [f".. {kind}:: rdim.{name}.{one}", *(["   :members:"] if kind == "autoclass" else []), ""]
    return "\n".join(lines)


def _all_pages() -> dict[str, str]:
    aliases, shown = _aliases(), set[str]()
    pages = {name: _page(title, sources, aliases, shown) for name, (title, sources) in PAGES.items()}
    left = sorted(set(aliases) - shown)
    if left:
        pages["other"] = "\n".join(["Other functions", "===============", "", *(_function(name, aliases) for name in left)])
    return {"array": _classes(), **pages, "constants": _constants(), **{f"module-{name}": _module(name) for name in MODULES}}


def write(folder: pathlib.Path) -> None:
    """Pages into the folder, index.rst among them."""
    folder.mkdir(parents=True, exist_ok=True)
    pages = _all_pages()
    for name, text in pages.items():
        (folder / f"{name}.rst").write_text(text)
    listed = "\n".join(f"   {name}" for name in pages)
    (folder / "index.rst").write_text(f"""The Python package
==================

.. py:module:: rdim

{inspect.getdoc(rdim)}

Functions of the library's own tables name the C functions that they make nodes by.

.. toctree::
   :maxdepth: 1

{listed}
""")
    assert _core.Array is rdim.Array
