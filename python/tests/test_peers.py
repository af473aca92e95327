"""Derivatives beside those of JAX and PyTorch, where both are installed: tests/peers/derivatives.py."""

from __future__ import annotations

import importlib.util
import os
import pathlib
import warnings
from typing import Any

import pytest

import rdim as rd  # noqa: F401

pytest.importorskip("numpy")
SCRIPT = pathlib.Path(__file__).parents[2] / "tests/peers/derivatives.py"
spec = importlib.util.spec_from_file_location("peers_derivatives", SCRIPT)
assert spec and spec.loader
peers = importlib.util.module_from_spec(spec)
spec.loader.exec_module(peers)


def both() -> list[Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in ("jax", "torch"):
            pytest.importorskip(name, reason="JAX or PyTorch is not installed: derivatives are not compared with theirs")
        return [peers.Ours(), [peers.Jax(), peers.Torch()]]


def test_each_derivative_has_a_row() -> None:
    assert peers.missing_rows() == []


def test_rows_are_alike() -> None:
    both()
    every = os.environ.get("RDIM_TESTS") in ("all", "every")  # JAX compiles for minutes
    assert peers.compare("" if every else "^(exp|sqrt|max|cumprod|cdist|sort|einsum|complex abs)$", quiet=True) == []


def test_other_derivatives_are_found() -> None:
    ours, libraries = both()
    wrong = peers.Row("exp", "exp(x)", "expm1(x) * 2", at=[(0.0,)])
    found, _ = peers.compare_row(wrong, ours, libraries, {}, set())
    assert len(found) == 3 and "JAX is" in found[0] and "| `exp` | `0` | `1` | `2` | `2` |" in found[2]
    tie = next(row for row in peers.MAPS if row.name == "maximum")
    assert peers.compare_row(tie, ours, libraries, {}, set())[0] and not peers.compare_row(
        tie, ours, libraries, peers.table_of(peers.PAGE.read_text()), set())[0]
