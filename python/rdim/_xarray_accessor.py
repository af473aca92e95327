"""The accessor .rdim of xarray's objects: xarray's methods on lazy data, and some that xarray evaluates, lazy."""

from __future__ import annotations

import importlib
from typing import Any, Callable

from . import _core
from ._dtypes import numpy
from ._leaves import asarray

__all__ = ["DataArrayAccessor", "DatasetAccessor"]

_xr: Any = importlib.import_module("xarray")


def _lazy(data: Any) -> Any:
    """Data as an Array, or as they are where rdim has no such elements, as of dates, texts and objects."""
    return asarray(data) if getattr(data.dtype, "name", None) in _core.dtype_names else data


def _along(x: Any, dim: Any, function: Callable[[Any], Any]) -> Any:
    """A function along the last axis of a variable, whose result has that axis again."""
    made = _xr.apply_ufunc(function, x, input_core_dims=[[dim]], output_core_dims=[[dim]], keep_attrs=True)
    return made.transpose(*x.dims)


def _ranked(data: Any, share: bool) -> Any:
    ranks = _core.ranks(data, axis=-1, method="average") * 1.0
    if data.dtype.kind == "f":
        ranks = _core.where(_core.isnan(data), numpy.nan, ranks)
    return ranks / _core.sum(~_core.isnan(data), axis=-1, keepdims=True) if share else ranks


# ---- One variable: what xarray leaves to libraries that evaluate ---------------------------------------------------
def _rank(x: Any, dim: Any, pct: bool = False) -> Any:
    return _along(x, dim, lambda data: _ranked(data, pct))


def _filled(x: Any, dim: Any, limit: int | None, function: Any) -> Any:
    if limit is not None and limit < 1:
        raise ValueError(f"rdim: limit={limit}; elements that are filled in a row are 1 or more, or None for any")
    return _along(x, dim, lambda data: function(data, axis=-1, limit=limit or 0))


def _ffill(x: Any, dim: Any, limit: int | None = None) -> Any:
    return _filled(x, dim, limit, _core.ffill)


def _bfill(x: Any, dim: Any, limit: int | None = None) -> Any:
    return _filled(x, dim, limit, _core.bfill)


class _Accessor:
    """Methods of xarray on lazy data: .rdim.mean("time") is .rdim.lazy().mean("time")."""

    def __init__(self, of: Any) -> None:
        self._of = of

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self.lazy(), name)

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *(name for name in dir(self._of) if not name.startswith("_"))})

    def lazy(self) -> Any:
        """The same object over Arrays; NumPy's memory is read in place, and files and Dask's arrays are read now."""
        raise NotImplementedError

    def _each(self, function: Callable[..., Any], dim: Any, *args: Any) -> Any:
        raise NotImplementedError

    def compute(self) -> Any:
        """All variables in memory of NumPy, evaluated in shared passes; the object itself stays lazy."""
        return self._of.compute()

    def persist(self) -> Any:
        """All variables as Arrays over their elements, which are computed in shared passes."""
        return self.lazy().persist()

    def rank(self, dim: Any, pct: bool = False) -> Any:
        """Ranks along a dimension, from 1, equal elements their mean, as xarray's rank(); lazy."""
        return self._each(_rank, dim, pct)

    def ffill(self, dim: Any, limit: int | None = None) -> Any:
        """NaN replaced by the element before, as xarray's ffill(); lazy."""
        return self._each(_ffill, dim, limit)

    def bfill(self, dim: Any, limit: int | None = None) -> Any:
        """NaN replaced by the element behind, as xarray's bfill(); lazy."""
        return self._each(_bfill, dim, limit)


class DataArrayAccessor(_Accessor):
    """da.rdim"""

    def lazy(self) -> Any:
        """The same array over an Array; NumPy's memory is read in place, and files and Dask's arrays are read now."""
        return self._of.copy(deep=False, data=_lazy(self._of.data))

    def _each(self, function: Callable[..., Any], dim: Any, *args: Any) -> Any:
        return function(self.lazy(), dim, *args)


class DatasetAccessor(_Accessor):
    """ds.rdim"""

    def lazy(self) -> Any:
        """The same dataset over Arrays; NumPy's memory is read in place, and files and Dask's arrays are read now."""
        variables = self._of.data_vars.items()
        return self._of.assign({name: one.copy(deep=False, data=_lazy(one.data)) for name, one in variables})

    def rank(self, dim: Any, pct: bool = False) -> Any:
        """Ranks along a dimension of the variables that have it, as xarray's rank(); lazy."""
        return super().rank(dim, pct)[[name for name, one in self._of.data_vars.items() if dim in one.dims]]

    def _each(self, function: Callable[..., Any], dim: Any, *args: Any) -> Any:
        lazy = self.lazy()
        return lazy.assign({name: function(one, dim, *args) for name, one in lazy.data_vars.items() if dim in one.dims})
