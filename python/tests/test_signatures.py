"""Signatures, documentation and type hints of the extension's functions are those of its tables."""

from __future__ import annotations

import ast
import doctest
import inspect
import pathlib
import sys
from typing import Any

import pytest

import rdim as rd
from rdim import _core

np = pytest.importorskip("numpy")

sys.path.append(str(pathlib.Path(__file__).parents[1]))  # behind the package that was built
import stubs  # noqa: E402
import tables  # noqa: E402

FUNCTIONS = tables.functions()
PUBLIC = {name: one for name, one in FUNCTIONS.items() if getattr(rd, name, None) is getattr(_core, name)}
METHODS = {name: one for name, one in FUNCTIONS.items() if one.method != "FUNCTION"}
KINDS = {"POSITIONAL_ONLY": (True, False), "POSITIONAL_OR_KEYWORD": (True, True), "KEYWORD_ONLY": (False, True)}


def of_table(parameters: tuple[tables.Parameter, ...]) -> list[tuple[Any, ...]]:
    return [(p.names[0], None if p.default is None else ast.literal_eval(p.default), p.default is None, p.by_place, p.by_name)
            for p in parameters]


def of_python(function: Any) -> list[tuple[Any, ...]]:
    return [(p.name, None if p.default is p.empty else p.default, p.default is p.empty, *KINDS[p.kind.name])
            for p in inspect.signature(function).parameters.values()]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_signature_is_the_tables(name: str) -> None:
    assert of_python(getattr(_core, name)) == of_table(FUNCTIONS[name].parameters)
    if name in METHODS:
        own = of_python(getattr(rd.Array, name))
        assert own[0][0] == "self" and own[1:] == of_table(FUNCTIONS[name].parameters[1:])


def test_each_function_has_a_signature() -> None:
    assert len(FUNCTIONS) > 220 and len(PUBLIC) > 200 and len(METHODS) > 25
    for name in rd.__all__:
        value = getattr(rd, name)
        if callable(value) and not isinstance(value, type) and value is not getattr(np, name, None):
            inspect.signature(value, follow_wrapped=False)  # some are calls of NumPy, whose own are not all known


def test_stub_is_the_tables() -> None:
    """python3 python/stubs.py writes it."""
    stub = stubs.STUB.read_text()
    assert stubs.written(stub) == stub
    for name in FUNCTIONS:
        assert f"\ndef {name}(" in stub
    for name in METHODS:
        assert f"\n    def {name}(self" in stub


def test_stub_has_all_methods() -> None:
    declared = {one.name for parsed in ast.parse(stubs.STUB.read_text()).body if getattr(parsed, "name", "") == "Array"
                for one in parsed.body if isinstance(one, ast.FunctionDef)}
    there = {name for name in dir(rd.Array) if not name.startswith("_")}
    assert there <= declared
    assert {name for name in declared if not hasattr(rd.Array, name)} == set()


def taken(name: str) -> set[str]:
    return {one for p in FUNCTIONS[name].parameters for one in p.names}


REDUCTIONS = [name for name, one in FUNCTIONS.items() if {"skipna", "where"} <= taken(name) and "q" not in taken(name)
              and name != "median"]
VALUES: dict[str, Any] = {
    "axis": 0, "dtype": None, "out": None, "ddof": 1, "keepdims": True, "initial": 1, "where": np.ones((3, 4), bool),
    "weights": np.full((3, 4), 2.0), "skipna": True, "correction": 1, "by": np.array([[0], [1], [0]]), "groups": 2,
    "mean": 5.0, "accuracy": "wide", "p": 1.0, "exclusive": True, "reverse": True, "restart": np.zeros((3, 4), bool),
}


@pytest.mark.parametrize("name", REDUCTIONS)
def test_reductions_take_their_keywords_alone(name: str) -> None:
    """What the signature has is computed with; what it does not have is no keyword."""
    x = rd.asarray(np.arange(12).reshape(3, 4) * (1 if name.startswith("bits") else 1.0))
    for key, value in VALUES.items():
        given = {key: value} if key not in ("by", "groups") else {"by": VALUES["by"], "groups": 2}
        if key in taken(name):
            if key == "exclusive" and name in ("cummin", "cummax"):
                given["initial"] = 1.0
            np.asarray(getattr(rd, name)(x, **{"axis": 0, **given}))
        else:
            with pytest.raises(TypeError, match=f"has no keyword '{'by' if key == 'groups' else key}'"):
                getattr(rd, name)(x, **given)


@pytest.mark.parametrize("name", PUBLIC)
def test_documentation(name: str) -> None:
    """A sentence, the parameters, an example that prints what it says, as NumPy does where it has the function."""
    text = inspect.getdoc(getattr(rd, name)) or ""
    doc = tables.docs()[name]
    assert text.startswith(doc.sentence + "\n\nParameters\n----------\n"), text
    for p in FUNCTIONS[name].parameters:
        assert f"\n{p.names[0]} : " in text
    assert f"{name}(" in doc.example and f"\n>>> {doc.example}\n{doc.result}" in text
    examples = doctest.DocTestParser().get_doctest(text, {"rd": rd}, name, None, 0)
    assert len(examples.examples) == 1
    assert doctest.DocTestRunner(verbose=False).run(examples).failed == 0
    if hasattr(np, name) and name not in ("astype", "take_along_axis", "empty", "empty_like"):  # np's want its own arrays
        want = eval(doc.example, {"rd": np})
        np.testing.assert_allclose(np.asarray(eval(doc.example, {"rd": rd})), want, rtol=1e-14)


def test_documentation_has_no_other_rows() -> None:
    shown = {name for name in FUNCTIONS if not name.startswith("_")}
    assert set(tables.docs()) <= shown
    used = {(name, p.names[0], p.kind) for name in shown for p in FUNCTIONS[name].parameters}
    for function, name, kinds, _ in tables.parameter_rows():
        for kind in kinds:
            assert any((function in (one, "any_other")) and (name, kind) == rest for one, *pair in used
                       for rest in [tuple(pair)]), (function, name, kind)


def test_letters() -> None:
    assert {p.kind for one in FUNCTIONS.values() for p in one.parameters} <= set(tables.kinds())
