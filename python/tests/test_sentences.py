"""Exceptions speak of the function that was called and of NumPy's types, and never of the C library's names."""

from __future__ import annotations

import copy
import re
import warnings
from pathlib import Path
from typing import Any, Iterator

import numpy as np
import pytest

import rdim as rd

X = rd.asarray(np.arange(12.0).reshape(3, 4))
C, I, B, V = X + 1j, X.astype("int64"), X > 3, X[0]
SPARSE = rd.sparse.csr([2.0, 3.0], [0, 1], [0, 1, 2], shape=(2, 3))
PLACES: list[tuple[Any, ...]] = [
    (), (None,), ("a",), (object(),), (C,), (B,), (SPARSE,), (X, 99), (X, "a"), (X, None), (X, C), (X, V[:3]), (C, C),
    (X, X), (X, X, X), (X, (0, 0)), (X, -9), (X, 2.5), (X, 1j), (I, I, 99), (I, C), (C, 2, 1), ([X, V],), ([X, C], 5),
    (V, V, V, V), (B, 1), (X, 0, C), (I, -1), (V, [0.5, 2.0], 0, "a"), (X, (1, 2, 3, 4, 5)), (X, V, 1), (V[:0],),
    (X[:0], 0), (X.astype("float16"), C), (V, 0, 7),
]
KEYWORDS: list[dict[str, Any]] = [
    {}, {"axis": 7}, {"axis": (0, 0)}, {"dtype": "int8"}, {"dtype": "nothing"}, {"where": X}, {"where": V[:3]},
    {"out": np.zeros(1, "i1")}, {"nonsense": 1}, {"weights": C}, {"by": X}, {"initial": C}, {"casting": "odd"},
    {"method": "odd"}, {"casting": "no", "dtype": "float32"},
]
NOT_TRIED = {"options", "progress", "persist", "compute", "reducer", "function", "block", "Array.compute", "Array.persist"}
OF_C = re.compile(r"\brd_|\bRD_|\benum\b|\brdpy|\b[iu](8|16|32|64)\b|\b(b?f16|f32|f64|c64|c128)\b")
# What a call may say of its arguments before it has them as arrays, and of the elements when they are computed.
OTHERS = {"asarray", "stack", "compute", "frombuffer", "astype", "broadcast_to"}


def method(name: str) -> Any:
    return lambda *args, **named: getattr(copy.copy(X), name)(*args, **named)


def copied(args: tuple[Any, ...]) -> tuple[Any, ...]:
    """Other handles, as some functions change what they are given."""
    return tuple(copy.copy(one) if isinstance(one, rd.Array) and not one.is_sparse else one for one in args)


def functions() -> list[tuple[str, Any]]:
    found = [(name, getattr(rd, name)) for name in rd.__all__]
    found += [(f"linalg.{name}", getattr(rd.linalg, name)) for name in rd.linalg.__all__]
    found += [(f"Array.{name}", method(name)) for name in dir(X) if name[0] != "_" and callable(getattr(X, name))]
    return [(name, one) for name, one in found if callable(one) and not isinstance(one, type) and name not in NOT_TRIED]


FUNCTIONS = dict(functions())


def sentences(function: Any) -> Iterator[tuple[Any, Exception]]:
    for args in PLACES:
        for named in KEYWORDS if len(args) < 2 else KEYWORDS[:3]:
            try:
                made = function(*copied(args), **named)
                if isinstance(made, rd.Array) and made.size < 1000:
                    made.compute()
            except Exception as error:
                yield (args, named), error


def names_of(function: Any, name: str) -> set[str]:
    """The name itself and that of which it is another one."""
    found = {name, name.removeprefix("Array."), getattr(function, "__name__", name)} | OTHERS
    return found | {"nonzero"} if name == "where" else found  # of one argument


@pytest.mark.parametrize("name", FUNCTIONS)
def test_wrong_arguments(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # savez("a") and savetxt write a file
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for given, error in sentences(FUNCTIONS[name]):
            text = str(error)
            assert not OF_C.search(text), (given, text)
            speaks = re.match(r"rdim\.([\w.]+)[:(]", text)
            if isinstance(error, rd.Error) and speaks:
                assert speaks[1] in names_of(FUNCTIONS[name], name), (given, text)


def test_examples() -> None:
    for call, sentence in (
        (lambda: rd.round(I, -19), "rdim.round: "), (lambda: C.astype("float32"), "rdim.astype: complex128 to float32 "),
        (lambda: X.sum(axis=5), "rdim.sum: no axis 5"), (lambda: np.mean(X, axis=5), "rdim.mean: no axis 5"),
        (lambda: rd.cov(X, rd.zeros((2, 9))), "rdim.cov: part 1 of shape"),
        (lambda: rd.linalg.norm(X, axis=5), "rdim.linalg.norm: no axis 5"),
        (lambda: X + V[:3], "rdim.add: shapes do not broadcast"), (lambda: X & 1, "rdim.bitwise_and: "),
        (lambda: rd.frexp(C), "rdim.frexp: operands come to complex128"),
        (lambda: rd.percentile(X, 200), "rdim.percentile: "), (lambda: rd.cumsum(X, axis=(0, 1)), "rdim.cumsum: "),
    ):
        with pytest.raises((ValueError, TypeError, IndexError)) as caught:
            call()
        assert str(caught.value).startswith(sentence), caught.value


def test_formulas_keep_their_words() -> None:
    """A caret stands below the words of a formula, so these stay as they are."""
    with pytest.raises(rd.TextError) as caught:
        rd.formula("o[i] = f32(x[i]) +* 2", x=V)
    lines = str(caught.value).split("\n")
    assert "f32(x[i])" in lines[1] and lines[2].index("^") > 0
