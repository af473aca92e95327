"""Sparse matrices: from SciPy and back, and of index arrays, without a copy of them or of values."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any

from . import _core
from ._core import Array
from ._dtypes import numpy

__all__ = ["coo", "csc", "csr", "from_scipy", "to_scipy"]

_FORMATS = ("csr", "csc", "coo")


def csr(data: Any, indices: Any, indptr: Any, shape: Sequence[int], *, fill: Any = None, stored: bool = False) -> Array:
    """Row i has data[indptr[i]:indptr[i + 1]] in columns indices[...], ascending, like scipy.sparse.csr_array.

    fill is the element at all other places, 0 unless said; with `stored` there is nothing at them."""
    return _core.matrix("csr", tuple(shape), indptr, indices, data, fill, stored, False)


def csc(data: Any, indices: Any, indptr: Any, shape: Sequence[int], *, fill: Any = None, stored: bool = False) -> Array:
    """Column j has data[indptr[j]:indptr[j + 1]] in rows indices[...], ascending, like scipy.sparse.csc_array."""
    return _core.matrix("csc", tuple(shape), indptr, indices, data, fill, stored, False)


def coo(data: Any, row: Any, col: Any, shape: Sequence[int], *, fill: Any = None, stored: bool = False) -> Array:
    """data[k] is at row[k], col[k], in order of rows and in each of columns, like scipy.sparse.coo_array."""
    return _core.matrix("coo", tuple(shape), row, col, data, fill, stored, False)


def from_scipy(x: Any) -> Array:
    """A matrix or array of scipy.sparse; CSR, CSC and COO in order are not copied."""
    if x.ndim != 2:
        raise ValueError(f"rdim.sparse: a sparse array of {x.ndim} axes; matrices have 2")
    if x.format == "coo" and not _in_order(x):
        x = x.tocsr()
    elif x.format not in _FORMATS:
        x = x.tocsr()
    if not x.has_canonical_format and x.format != "coo":
        x = x.copy()
        x.sum_duplicates()
    pos, crd = (x.row, x.col) if x.format == "coo" else (x.indptr, x.indices)
    return _core.matrix(x.format, x.shape, pos, crd, x.data, None, False, True)


def _in_order(x: Any) -> bool:
    """Places ascend by rows, in each by columns, each once."""
    row, col = x.row, x.col
    return bool(((row[1:] > row[:-1]) | ((row[1:] == row[:-1]) & (col[1:] > col[:-1]))).all())


def to_scipy(x: Array, format: str = "csr") -> Any:
    """A sparse array of scipy.sparse with x's elements, which are computed now."""
    scipy: Any = importlib.import_module("scipy.sparse")

    if not isinstance(x, Array) or not x.is_sparse or x.ndim != 2:
        raise TypeError("rdim.sparse.to_scipy: a sparse matrix is wanted; scipy.sparse.csr_array(x.compute()) "
                        "finds what is not 0 in a dense one")
    try:
        pos, crd, values, fill = _core.stored_parts(x, format)
    except _core.DTypeError:  # what is not stored differs from place to place, as 0 * v of a row v may
        return scipy.coo_array(x.compute()).asformat(format)
    if fill is not None and _core.item(fill) != 0:
        raise ValueError(f"rdim.sparse.to_scipy: the elements that are not stored are {_core.item(fill)}, SciPy's are 0")
    pos, crd, values = (_memory(part) for part in (pos, crd, values))
    if format == "coo":
        return scipy.coo_array((values, (pos, crd)), shape=x.shape)
    made = {"csr": scipy.csr_array, "csc": scipy.csc_array}[format]
    return made((values, crd, pos), shape=x.shape)


def _memory(x: Array) -> Any:
    return numpy.asarray(_core.compute(x))
