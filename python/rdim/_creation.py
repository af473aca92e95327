"""Arrays made of rules: ranges, grids, triangles."""

from __future__ import annotations

import math
from typing import Any

from . import _core
from ._leaves import asarray

__all__ = ["arange", "diag", "diagflat", "fromfunction", "geomspace", "identity", "indices", "linspace", "logspace",
           "meshgrid", "tri", "vander"]


def _is_whole(*numbers: Any) -> bool:
    return all(hasattr(number, "__index__") for number in numbers)


def _count(start: Any, stop: Any, step: Any) -> int:
    """How many steps from start stay before stop."""
    if step == 0:
        raise ValueError("rdim.arange(): step is 0")
    if _is_whole(start, stop, step):
        return max(0, -((int(start) - int(stop)) // int(step)))
    return max(0, math.ceil((float(stop) - float(start)) / float(step)))


def arange(start: Any, /, stop: Any = None, step: Any = 1, dtype: Any = None, *, device: Any = None) -> Any:
    """Numbers from start before stop by steps, as numpy.arange."""
    _core.zeros((), device=device)
    if stop is None:
        start, stop = 0, start
    places = _core.index_along(_count(start, stop, step))
    if _is_whole(start, stop, step):
        start, step = int(start), int(step)
        steps = places if step == 1 else places * step
        values = steps if start == 0 else steps + start
        return values if dtype is None else _core.astype(values, dtype)
    values = _core.astype(places, "float64") * float(step) + float(start)
    return values if dtype is None else _core.astype(values, dtype)


def _steps(start: Any, stop: Any, num: int, endpoint: bool) -> tuple[Any, Any]:
    """The points, along a new first axis, and their distance."""
    parts = num - 1 if endpoint else num
    start, stop = asarray(start), asarray(stop)
    rank = max(start.ndim, stop.ndim)
    at = _core.reshape(_core.astype(_core.index_along(num), "float64"), (num,) + (1,) * rank)
    width = (stop - start) * 1.0
    step = width / parts if parts > 0 else width * math.nan
    if num == 0:
        return at * width + start, step
    points = point_at(at, start, stop, max(parts, 1))
    return (_core.where(at == parts, stop, points) if endpoint and num > 1 else points), step


def point_at(at: Any, start: Any, stop: Any, parts: int) -> Any:
    """The points at places, of parts + 1 from start to stop: the last one may be beside stop by rounding."""
    return at * ((stop - start) * 1.0 / parts) + start


def linspace(start: Any, stop: Any, /, num: int = 50, endpoint: bool = True, retstep: bool = False,
             dtype: Any = None, axis: int = 0, *, device: Any = None) -> Any:
    """num points with one distance from start to stop, as numpy.linspace."""
    _core.zeros((), device=device)
    if num < 0:
        raise ValueError(f"rdim.linspace(): {num} points")
    points, step = _steps(start, stop, num, endpoint)
    if dtype is not None and "int" in str(asarray(0).astype(dtype).dtype):
        points = _core.floor(points)
    if dtype is not None:
        points = _core.astype(points, dtype)
    if axis != 0:
        points = _core.moveaxis(points, 0, axis)
    return (points, step) if retstep else points


def logspace(start: Any, stop: Any, num: int = 50, endpoint: bool = True, base: Any = 10.0, dtype: Any = None,
             axis: int = 0) -> Any:
    """base to the power of linspace(), as numpy.logspace."""
    points = _core.power(base, linspace(start, stop, num, endpoint, axis=axis))
    return points if dtype is None else _core.astype(points, dtype)


def geomspace(start: float, stop: float, num: int = 50, endpoint: bool = True, dtype: Any = None) -> Any:
    """num points with one quotient from start to stop, as numpy.geomspace."""
    if start == 0 or stop == 0 or (start < 0) != (stop < 0):
        raise ValueError(f"rdim.geomspace(): from {start} to {stop} there is no constant quotient")
    sign = -1.0 if start < 0 else 1.0
    first, last = math.log10(abs(start)), math.log10(abs(stop))
    points = sign * logspace(first, last, num, endpoint)
    if num > 0:
        at = _core.index_along(num)
        points = _core.where(at == 0, float(start), points)
        points = _core.where(at == num - 1, float(stop), points) if endpoint and num > 1 else points
    return points if dtype is None else _core.astype(points, dtype)


def identity(n: int, dtype: Any = None) -> Any:
    """The matrix of ones on the diagonal, as numpy.identity."""
    return _core.eye(n, dtype=dtype)


def tri(N: int, M: int | None = None, k: int = 0, dtype: Any = float) -> Any:
    """Ones on and below the k-th diagonal, as numpy.tri."""
    return _core.tril(_core.ones((N, N if M is None else M), dtype=dtype), k)


def diag(v: Any, k: int = 0) -> Any:
    """The k-th diagonal of a matrix, or the matrix that has v there, as numpy.diag."""
    v = asarray(v)
    if v.ndim == 2:
        return _core.diagonal(v, k)
    if v.ndim != 1:
        raise ValueError(f"rdim.diag(): an array of {v.ndim} axes; one or two are wanted")
    n = v.size + abs(k)
    row, column = _core.index_along(n)[:, None], _core.index_along(n)[None, :]
    if v.size == 0:
        return _core.zeros((n, n), v.dtype)
    first = max(-k, 0)
    at = _core.clip(row - first, 0, v.size - 1)
    inside = (column - row == k) & (row >= first) & (row < first + v.size)
    return _core.where(inside, _core.take(v, at), _core.zeros((), v.dtype))


def diagflat(v: Any, k: int = 0) -> Any:
    """The matrix that has the elements of v on its k-th diagonal, as numpy.diagflat."""
    return diag(_core.ravel(asarray(v)), k)


def meshgrid(*arrays: Any, copy: bool = True, sparse: bool = False, indexing: str = "xy") -> list[Any]:
    """Coordinates of a grid, as numpy.meshgrid."""
    if indexing not in ("xy", "ij"):
        raise ValueError(f"rdim.meshgrid(): indexing is {indexing!r}, possible are \"xy\" and \"ij\"")
    rows = [_core.ravel(asarray(x)) for x in arrays]
    n = len(rows)
    place = list(range(n))
    if indexing == "xy" and n > 1:
        place[:2] = [1, 0]
    grids = [_core.reshape(row, tuple(row.size if k == place[i] else 1 for k in range(n)))
             for i, row in enumerate(rows)]
    if sparse:
        return grids
    shape = [1] * n
    for i, row in enumerate(rows):
        shape[place[i]] = row.size
    return [_core.broadcast_to(grid, tuple(shape)) for grid in grids]


def indices(dimensions: Any, dtype: Any = int, sparse: bool = False) -> Any:
    """The index of each element along each axis, as numpy.indices."""
    grids = meshgrid(*(_core.astype(_core.index_along(n), dtype) for n in dimensions), sparse=sparse, indexing="ij")
    if sparse:
        return tuple(grids)
    return _core.stack(grids, 0) if grids else _core.zeros((0,), dtype)


def fromfunction(function: Any, shape: Any, *, dtype: Any = float, **kwargs: Any) -> Any:
    """What a function makes of the indices of each element, as numpy.fromfunction."""
    return function(*meshgrid(*(_core.astype(_core.index_along(n), dtype) for n in shape), indexing="ij"), **kwargs)


def vander(x: Any, N: int | None = None, increasing: bool = False) -> Any:
    """Powers of x along a new last axis, as numpy.vander."""
    x = asarray(x)
    powers = _core.index_along(x.shape[0] if N is None else N)
    return _core.power(x[:, None], (powers if increasing else _core.flip(powers))[None, :])
