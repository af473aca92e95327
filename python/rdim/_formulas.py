"""Whole expressions as text, in the language of docs/formulas.md."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from . import _core
from ._core import Array

__all__ = ["formula", "formulas"]


def _operands(names: Mapping[str, Any] | None, keywords: Mapping[str, Any]) -> dict[str, Any]:
    return {**(names or {}), **keywords}


def formula(text: str, names: Mapping[str, Any] | None = None, /, **keywords: Any) -> Array:
    """The last statement of a formula as an Array: formula("o[i] = sum[j] x[i, j]", x=x), like numpy.einsum of more."""
    return _core.formula(text, _operands(names, keywords))


def formulas(text: str, names: Mapping[str, Any] | None = None, /, **keywords: Any) -> dict[str, Array]:
    """All statements of a formula by their names; compute(formulas(...)) shares passes among them."""
    return dict(_core.formulas(text, _operands(names, keywords)))
