"""What is one whole number: an int, NumPy's int64, an array of one without axes; all arrays have __index__."""

from __future__ import annotations

from typing import Any

__all__ = ["is_whole"]


def is_whole(one: Any) -> bool:
    """Whether it is one number that may be an index, and no row of numbers."""
    return hasattr(one, "__index__") and getattr(one, "ndim", 0) == 0
