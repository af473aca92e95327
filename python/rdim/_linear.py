"""Products of vectors, matrices and more."""

from __future__ import annotations

from typing import Any

from . import _core
from ._leaves import asarray
from ._whole import is_whole

__all__ = ["cross", "einsum", "inner", "matvec", "multi_dot", "tensordot", "vdot", "vecmat"]


def inner(a: Any, b: Any) -> Any:
    """Products of last axes, as numpy.inner."""
    a, b = asarray(a), asarray(b)
    return a * b if a.ndim == 0 or b.ndim == 0 else _core._tensordot(a, b, -1, -1)


def vdot(a: Any, b: Any) -> Any:
    """The sum of products of all elements, of the first their conjugates, as numpy.vdot."""
    return _core.vecdot(_core.ravel(asarray(a)), _core.ravel(asarray(b)))


def tensordot(a: Any, b: Any, axes: Any = 2) -> Any:
    """The sum of products over some axes of both, as numpy.tensordot."""
    a, b = asarray(a), asarray(b)
    if is_whole(axes):
        n = int(axes)
        if not 0 <= n <= min(a.ndim, b.ndim):
            raise _core.ShapeError(f"rdim.tensordot(): {n} axes of arrays of {a.ndim} and {b.ndim}")
        axes = (tuple(range(a.ndim - n, a.ndim)), tuple(range(n)))
    of_a, of_b = ((one,) if is_whole(one) else tuple(one) for one in axes)
    return _core._tensordot(a, b, of_a, of_b)


def einsum(subscripts: Any, *operands: Any, out: Any = None, dtype: Any = None, order: str = "K",
           casting: str = "safe", optimize: Any = False) -> Any:
    """Products and sums by letters for axes, as numpy.einsum."""
    if not isinstance(subscripts, str):
        subscripts, operands = _letters((subscripts, *operands))
    parts = [asarray(one) if dtype is None else _core.astype(asarray(one), dtype) for one in operands]
    found = _core.einsum_of(subscripts, parts)
    return found if out is None else _core.evaluate_into(found, out)


def _letters(given: tuple[Any, ...]) -> tuple[str, tuple[Any, ...]]:
    """einsum(a, [0, 1], b, [1, 2], [0, 2]) as letters."""
    def text(axes: Any) -> str:
        return "".join("..." if one is Ellipsis else chr(ord("A") + one if one < 26 else ord("a") + one - 26)
                       for one in axes)

    pairs = len(given) // 2
    words = ",".join(text(given[2 * k + 1]) for k in range(pairs))
    if len(given) % 2:
        words += "->" + text(given[-1])
    return words, tuple(given[2 * k] for k in range(pairs))


def matvec(x1: Any, x2: Any) -> Any:
    """Products of matrices and vectors, as numpy.matvec."""
    return _core.matmul(x1, asarray(x2)[..., None])[..., 0]


def vecmat(x1: Any, x2: Any) -> Any:
    """Products of vectors, of which the conjugate is taken, and matrices, as numpy.vecmat."""
    return _core.matmul(_core.conj(asarray(x1))[..., None, :], x2)[..., 0, :]


def multi_dot(arrays: Any, *, out: Any = None) -> Any:
    """The product of several matrices, as numpy.linalg.multi_dot, in the order that has the least work."""
    parts = [asarray(x) for x in arrays]
    if len(parts) < 2:
        raise ValueError(f"rdim.multi_dot(): {len(parts)} matrices; two or more are wanted")
    names = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
    words = [names[k:k + 2] for k in range(len(parts))]
    if parts[0].ndim == 1:
        words[0] = words[0][1:]
    if parts[-1].ndim == 1:
        words[-1] = words[-1][:1]
    ends = (words[0][0] if parts[0].ndim == 2 else "") + (words[-1][-1] if parts[-1].ndim == 2 else "")
    return einsum(",".join(words) + "->" + ends, *parts, out=out)


def cross(a: Any, b: Any, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: int | None = None) -> Any:
    """Products of vectors of three elements, or the third element of those of two, as numpy.cross."""
    a, b = asarray(a), asarray(b)
    if axis is not None:
        axisa = axisb = axisc = axis
    a, b = _core.moveaxis(a, axisa, -1), _core.moveaxis(b, axisb, -1)
    if not {a.shape[-1], b.shape[-1]} <= {2, 3}:
        raise _core.ShapeError(f"rdim.cross(): vectors of {a.shape[-1]} and {b.shape[-1]} elements; 2 or 3 are wanted")
    if a.shape[-1] == b.shape[-1] == 2:
        return a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0]
    a, b = (_core.concat([x, x[..., :1] * 0], -1) if x.shape[-1] == 2 else x for x in (a, b))
    parts = [a[..., i] * b[..., j] - a[..., j] * b[..., i] for i, j in ((1, 2), (2, 0), (0, 1))]
    return _core.moveaxis(_core.stack(parts, -1), -1, axisc)
