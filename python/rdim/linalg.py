"""Linear algebra: products and norms are lazy; what belongs to LAPACK evaluates its arguments and is NumPy's."""

from __future__ import annotations

from typing import Any, Callable, TYPE_CHECKING

from . import _core
from ._evaluated import evaluated
from ._leaves import asarray
from ._linear import cross, multi_dot, tensordot
from ._whole import is_whole

__all__ = ["cross", "diagonal", "matmul", "matrix_norm", "matrix_power", "matrix_transpose", "multi_dot", "norm",
           "outer", "tensordot", "trace", "vecdot", "vector_norm"]

matmul = _core.matmul
matrix_transpose = _core.matrix_transpose
vecdot = _core.vecdot


def _floats(x: Any) -> Any:
    x = asarray(x)
    return x * 1.0 if x.dtype.kind in "biu" else x


def diagonal(x: Any, /, *, offset: int = 0) -> Any:
    """Diagonals of the last two axes, as numpy.linalg.diagonal."""
    return _core.diagonal(x, offset, -2, -1)


def trace(x: Any, /, *, offset: int = 0, dtype: Any = None) -> Any:
    """Sums of the diagonals of the last two axes, as numpy.linalg.trace."""
    x = asarray(x) if dtype is None else _core.astype(asarray(x), dtype)
    return _core.trace(x, offset, -2, -1, dtype)


def outer(x1: Any, x2: Any, /) -> Any:
    """All products of elements of two vectors, as numpy.linalg.outer."""
    x1, x2 = asarray(x1), asarray(x2)
    if x1.ndim != 1 or x2.ndim != 1:
        raise _core.ShapeError(f"rdim.linalg.outer(): arrays of {x1.ndim} and {x2.ndim} axes; one each is wanted")
    return _core.outer(x1, x2)


def vector_norm(x: Any, /, *, axis: Any = None, keepdims: bool = False, ord: float = 2) -> Any:
    """Norms of vectors, as numpy.linalg.vector_norm."""
    x = _floats(x)
    if ord in (1, 2, float("inf"), float("-inf")):
        return _core.norm(x, axis=axis, keepdims=keepdims, p=ord)
    if ord == 0:
        counted = _core.astype(x != 0, _core.real(x).dtype)
        return _core.sum(counted, axis=axis, keepdims=keepdims)
    return _core.sum(abs(x) ** ord, axis=axis, keepdims=keepdims) ** (1 / ord)


def matrix_norm(x: Any, /, *, keepdims: bool = False, ord: Any = "fro") -> Any:
    """Norms of the matrices of the last two axes, as numpy.linalg.matrix_norm."""
    x = _floats(x)
    if x.ndim < 2:
        raise _core.ShapeError(f"rdim.linalg.matrix_norm(): an array of {x.ndim} axes; two are wanted")
    if ord == "fro":
        return _core.norm(x, axis=(-2, -1), keepdims=keepdims)
    sides: dict[Any, tuple[int, Callable[..., Any]]] = {
        1: (-2, _core.max), -1: (-2, _core.min), float("inf"): (-1, _core.max), float("-inf"): (-1, _core.min)}
    if ord not in sides:
        if ord not in (2, -2, "nuc"):
            raise ValueError(f"rdim.linalg.matrix_norm(): no norm is called {ord!r}")
        values = svdvals(x)  # type: ignore[name-defined]  # noqa: F821
        joined: dict[Any, Callable[..., Any]] = {2: _core.max, -2: _core.min, "nuc": _core.sum}
        found = joined[ord](values, axis=-1)
        return _core.reshape(found, found.shape + (1, 1)) if keepdims else found
    along, extreme = sides[ord]
    sums = _core.sum(abs(x), axis=along, keepdims=True)
    return extreme(sums, axis=(-2, -1), keepdims=keepdims)


def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    """The norm of a vector or a matrix, as numpy.linalg.norm."""
    x = _floats(x)
    if axis is None and ord is None:
        return _core.norm(x, axis=None, keepdims=keepdims)
    if axis is None:
        axis = tuple(range(x.ndim))
    axes = (axis,) if is_whole(axis) else tuple(axis)
    if len(axes) == 1:
        return vector_norm(x, axis=axes[0], keepdims=keepdims, ord=2 if ord is None else ord)
    if len(axes) != 2:
        raise ValueError(f"rdim.linalg.norm(): {len(axes)} axes; one or two are wanted")
    moved = _core.moveaxis(x, axes, (-2, -1))
    found = matrix_norm(moved, ord="fro" if ord is None else ord)
    return _core.expand_dims(found, tuple(one % x.ndim for one in axes)) if keepdims else found


def matrix_power(a: Any, n: int) -> Any:
    """A square matrix multiplied by itself, n >= 0 times, as numpy.linalg.matrix_power."""
    a = asarray(a)
    if a.ndim < 2 or a.shape[-1] != a.shape[-2]:
        raise _core.ShapeError(f"rdim.linalg.matrix_power(): shape {a.shape}; square matrices are wanted")
    if n < 0:
        a, n = inv(a), -n  # type: ignore[name-defined]  # noqa: F821
    power = _core.broadcast_to(_core.eye(a.shape[-1], dtype=a.dtype), a.shape)
    while n:
        power, a, n = _core.matmul(power, a) if n & 1 else power, _core.matmul(a, a), n >> 1
    return power


# ---- What belongs to LAPACK: evaluated, and NumPy's ---------------------------------------------------------------
_LAPACK = ("cholesky", "cond", "det", "eig", "eigh", "eigvals", "eigvalsh", "inv", "lstsq", "matrix_rank", "pinv", "qr",
           "slogdet", "solve", "svd", "svdvals", "tensorinv", "tensorsolve")
globals().update({name: evaluated("linalg", name) for name in _LAPACK})
__all__ += _LAPACK


if TYPE_CHECKING:  # names that are made above in a loop

    def __getattr__(name: str) -> Any: ...
