"""Places among edges that are equally far apart: a quotient finds them, and comparisons make them exact."""

from __future__ import annotations

from typing import Any, Callable

from . import _core
from ._creation import point_at
from ._leaves import asarray

__all__: list[str] = []

_MORE = 2.0**-7  # bins, which is more than quotients and edges are off by rounding


class EqualBins:
    """n bins from low to high, between edge(0) to edge(n), which rounding moves by less than a bin.

    So the quotient, and a little more, is the bin or the one behind it, and a comparison with the edge between decides.
    A search gives the same numbers, but looks up an edge for each halving of the row."""

    def __init__(self, low: float, high: float, n: int, edge: Callable[[Any], Any]) -> None:
        self.low, self.high, self.n, self.edge = low, high, n, edge

    def label(self, x: Any) -> Any:
        """The bin of each element, where the last one has its right edge, too; -1 of what is in none."""
        x = _core.astype(x, "float64")
        scale = self.n / (self.high - self.low)
        near = _core.floor(x * scale + (_MORE - self.low * scale))
        at = near - _one_if(x < self.edge(near))
        at = _core.where(at >= self.n, self.n - 1.0, at)
        inside = _core.where(x >= self.low, _core.where(x <= self.high, at, -1.0), -1.0)
        return _core.astype(inside, "int32")


def _one_if(condition: Any) -> Any:
    return _core.where(condition, 1.0, 0.0)


def _resolves(low: float, high: float, n: int) -> bool:
    """Is a bin so much wider than the distance of neighbouring floats that rounding moves no quotient by one?"""
    return 0 < n < 1 << 30 and (high - low) / n > max(2.0**-1000, 2.0**-40 * max(abs(low), abs(high)))


def of_range(low: float, high: float, n: int) -> EqualBins | None:
    """The bins between linspace(low, high, n + 1); None where these are too narrow."""
    if not _resolves(low, high, n):
        return None
    return EqualBins(low, high, n, lambda at: point_at(at, asarray(low), asarray(high), n))
