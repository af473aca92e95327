"""Histograms of several variables."""

from __future__ import annotations

from typing import Any

from . import _core
from ._leaves import asarray
from ._numeric import labels_between

__all__ = ["histogram2d", "histogramdd"]


def histogramdd(sample: Any, bins: Any = 10, range: Any = None, density: bool | None = None,
                weights: Any = None) -> tuple[Any, list[Any]]:
    """How many rows each box of bins has, and the edges along each axis, as numpy.histogramdd."""
    rows = list(sample) if isinstance(sample, (list, tuple)) else _columns(asarray(sample))
    rows = [_core.ravel(asarray(row)) * 1.0 for row in rows]
    each = [bins] * len(rows) if hasattr(bins, "__index__") else list(bins)
    limits = [None] * len(rows) if range is None else list(range)
    if len(each) != len(rows) or len(limits) != len(rows):
        raise ValueError(f"rdim.histogramdd(): {len(each)} bins and {len(limits)} ranges for {len(rows)} variables")
    placed = [labels_between(row, one, limit) for row, one, limit in zip(rows, each, limits)]
    labels, edges = tuple(label for label, _ in placed), [edge for _, edge in placed]
    counted = _core.ones(rows[0].shape) if weights is None else _core.astype(asarray(weights), "float64")
    counts = _core.sum(counted, by=labels, groups=tuple(edge.size - 1 for edge in edges))
    if density:
        volume = _core.sum(counts)
        for axis, edge in enumerate(edges):
            width = _core.diff(edge)
            counts = counts / _core.reshape(width, (-1,) + (1,) * (len(edges) - 1 - axis))
        counts = counts / volume
    return counts, edges


def _columns(sample: Any) -> list[Any]:
    return [sample] if sample.ndim == 1 else [sample[:, k] for k in range(sample.shape[1])]


def histogram2d(x: Any, y: Any, bins: Any = 10, range: Any = None, density: bool | None = None,
                weights: Any = None) -> tuple[Any, Any, Any]:
    """How many pairs each rectangle has, and the edges along both axes, as numpy.histogram2d."""
    pair = not hasattr(bins, "__index__") and len(bins) == 2
    counts, edges = histogramdd([x, y], bins if pair or hasattr(bins, "__index__") else [bins, bins], range, density,
                                weights)
    return counts, edges[0], edges[1]
