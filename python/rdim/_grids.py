"""Indices as arrays, grids by slices: NumPy's index tricks."""

from __future__ import annotations

import math
from typing import Any

from . import _core
from ._array_api import result_type
from ._creation import arange, linspace, meshgrid
from ._leaves import asarray
from ._manipulation import broadcast_arrays
from ._whole import is_whole

__all__ = ["c_", "diag_indices", "diag_indices_from", "index_exp", "ix_", "mgrid", "ogrid", "r_", "ravel_multi_index",
           "s_", "tril_indices", "tril_indices_from", "triu_indices", "triu_indices_from", "unravel_index"]


# ---- By slices --------------------------------------------------------------------------------------------------
def _row(part: slice) -> Any:
    """start:stop:step; with 5j as the step it is 5 points, the last one stop."""
    start, step = 0 if part.start is None else part.start, 1 if part.step is None else part.step
    if isinstance(step, complex):
        return linspace(start, part.stop, int(abs(step)))
    return arange(start, part.stop, step)


class _Grid:
    """numpy.mgrid and numpy.ogrid: coordinates of a grid, all of them or a row for each axis."""

    def __init__(self, sparse: bool) -> None:
        self._sparse = sparse

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, slice):
            return _row(key)
        rows = [_row(part) for part in key]
        kind = result_type(*(row.dtype for row in rows))
        grids = meshgrid(*(_core.astype(row, kind) for row in rows), sparse=self._sparse, indexing="ij")
        return tuple(grids) if self._sparse else _core.stack(grids, 0)


class _Joined:
    """numpy.r_ and numpy.c_: rows, numbers and slices joined."""

    def __init__(self, axis: int, rank: int, first: int) -> None:
        self._said = axis, rank, first

    def __getitem__(self, key: Any) -> Any:
        parts = list(key) if isinstance(key, tuple) else [key]
        axis, rank, first = self._said
        if isinstance(parts[0], str):
            said = parts.pop(0)
            if said in ("r", "c"):
                raise TypeError(f"rdim.r_: {said!r} asks for a numpy.matrix, and rdim has none")
            axis, rank, first = [*(int(one) for one in said.split(",")), *self._said[said.count(",") + 1:]]
        arrays = [_row(part) if isinstance(part, slice) else asarray(part) for part in parts]
        weak = [type(part) in (bool, int, float, complex) for part in parts]
        kind = result_type(*(part if is_weak else array.dtype for part, array, is_weak in zip(parts, arrays, weak)))
        return _core.concat([_core.astype(_ranked(one, rank, first), kind) for one in arrays], axis)


def _ranked(x: Any, rank: int, first: int) -> Any:
    more = rank - x.ndim
    if more <= 0:
        return x
    before = first if first >= 0 else first + more + 1
    return _core.reshape(x, (1,) * before + x.shape + (1,) * (more - before))


class _Key:
    """numpy.s_ and numpy.index_exp: a key of brackets as an object."""

    def __init__(self, tuples: bool) -> None:
        self._tuples = tuples

    def __getitem__(self, key: Any) -> Any:
        return (key,) if self._tuples and not isinstance(key, tuple) else key


mgrid, ogrid = _Grid(sparse=False), _Grid(sparse=True)
r_, c_ = _Joined(0, 1, -1), _Joined(-1, 2, 0)
s_, index_exp = _Key(tuples=False), _Key(tuples=True)


def ix_(*args: Any) -> tuple[Any, ...]:
    """Rows of indices or masks as an open grid of indices, as numpy.ix_."""
    found = []
    for k, given in enumerate(args):
        row = asarray(given) if not isinstance(given, (list, tuple)) or given else asarray(given, dtype="int64")
        if row.ndim != 1:
            raise ValueError(f"rdim.ix_(): an array of {row.ndim} axes; one is wanted")
        row = _core.nonzero(row)[:, 0] if row.dtype.kind == "b" else row
        found.append(_core.reshape(row, tuple(row.size if k == axis else 1 for axis in range(len(args)))))
    return tuple(found)


# ---- Places in a row and along axes -------------------------------------------------------------------------------
def unravel_index(indices: Any, shape: Any, order: str = "C") -> tuple[Any, ...]:
    """Along each axis the index of places in a row, as numpy.unravel_index; whether they are inside is evaluated."""
    shape = (int(shape),) if is_whole(shape) else tuple(shape)
    at, total = asarray(indices), math.prod(shape)
    if at.dtype.kind not in "iu":
        raise TypeError(f"rdim.unravel_index(): places are whole numbers, not {at.dtype}")
    if at.size and bool(_core.any((at < 0) | (at >= total))):
        raise ValueError(f"rdim.unravel_index(): a place is outside of an array of shape {shape}")
    found = []
    for extent in reversed(shape) if order == "C" else shape:
        found.append(_core.remainder(at, extent))
        at = _core.floor_divide(at, extent)
    return tuple(reversed(found) if order == "C" else found)


def ravel_multi_index(multi_index: Any, dims: Any, mode: str = "raise", order: str = "C") -> Any:
    """The places in a row of indices along axes, as numpy.ravel_multi_index."""
    parts, total = list(broadcast_arrays(*multi_index)), 1
    modes = (mode,) * len(parts) if isinstance(mode, str) else tuple(mode)
    place: Any = 0
    for k in range(len(parts)) if order == "F" else reversed(range(len(parts))):
        at, extent = parts[k], int(dims[k])
        if modes[k] == "raise" and at.size and bool(_core.any((at < 0) | (at >= extent))):
            raise ValueError(f"rdim.ravel_multi_index(): an index is outside of axis {k} of {extent} elements")
        at = _core.remainder(at, extent) if modes[k] == "wrap" else _core.clip(at, 0, extent - 1)
        place, total = place + at * total, total * extent
    return place


# ---- Triangles, diagonals -------------------------------------------------------------------------------------------
def _pairs(mask: Any) -> tuple[Any, Any]:
    found = _core.nonzero(mask)
    return found[:, 0], found[:, 1]


def tril_indices(n: int, k: int = 0, m: int | None = None) -> tuple[Any, Any]:
    """The indices on and below a diagonal, as numpy.tril_indices."""
    return _pairs(_core.tril(_core.ones((n, n if m is None else m), dtype="bool"), k))


def triu_indices(n: int, k: int = 0, m: int | None = None) -> tuple[Any, Any]:
    """The indices on and above a diagonal, as numpy.triu_indices."""
    return _pairs(_core.triu(_core.ones((n, n if m is None else m), dtype="bool"), k))


def _extents(call: str, arr: Any) -> tuple[int, ...]:
    extents = tuple(asarray(arr).shape)
    if len(extents) != 2:
        raise ValueError(f"rdim.{call}(): an array of {len(extents)} axes; two are wanted")
    return extents


def tril_indices_from(arr: Any, k: int = 0) -> tuple[Any, Any]:
    """tril_indices() of an array's shape, as numpy.tril_indices_from."""
    rows, columns = _extents("tril_indices_from", arr)
    return tril_indices(rows, k, columns)


def triu_indices_from(arr: Any, k: int = 0) -> tuple[Any, Any]:
    """triu_indices() of an array's shape, as numpy.triu_indices_from."""
    rows, columns = _extents("triu_indices_from", arr)
    return triu_indices(rows, k, columns)


def diag_indices(n: int, ndim: int = 2) -> tuple[Any, ...]:
    """The indices of the main diagonal, as numpy.diag_indices."""
    return (_core.index_along(n),) * ndim


def diag_indices_from(arr: Any) -> tuple[Any, ...]:
    """diag_indices() of an array whose extents are equal, as numpy.diag_indices_from."""
    extents = tuple(asarray(arr).shape)
    if len(extents) < 2 or len(set(extents)) != 1:
        raise ValueError(f"rdim.diag_indices_from(): shape {extents}; two equal extents or more are wanted")
    return diag_indices(extents[0], len(extents))
