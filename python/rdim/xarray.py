"""For xarray: `import rdim.xarray` adds .rdim to arrays and datasets, and compute(), load(), persist() evaluate.

xarray's own functions work on Arrays without it, and stay lazy.  But xarray evaluates none but chunked arrays, and an
Array is not one of these: it would then be refused by apply_ufunc(), as an indexer, and by flox."""

from __future__ import annotations

import importlib
from functools import wraps
from typing import Any, Callable

from . import _core, _results
from ._xarray_accessor import DataArrayAccessor, DatasetAccessor

__all__ = ["DataArrayAccessor", "DatasetAccessor"]

_xr: Any = importlib.import_module("xarray")
_indexing: Any = importlib.import_module("xarray.core.indexing")
_nputils: Any = importlib.import_module("xarray.core.nputils")


# ---- Evaluation ----------------------------------------------------------------------------------------------------
def _evaluate(variables: list[Any], keep: bool) -> None:
    """The elements of all variables that are lazy, in shared passes, in place of the expressions."""
    lazy = [one for one in variables if isinstance(one._data, _core.Array)]
    for one, values in zip(lazy, _results.compute([one._data for one in lazy])):
        one.data = _core.asarray(values) if keep else values


def _evaluating(load: Callable[..., Any], variables: Callable[[Any], list[Any]]) -> Callable[..., Any]:
    """A method load() of xarray that evaluates Arrays before it does its own work."""

    @wraps(load)
    def call(self: Any, **kwargs: Any) -> Any:
        _evaluate(variables(self), keep=False)
        return load(self, **kwargs)

    return call


def _persisting(persist: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(persist)
    def call(self: Any, **kwargs: Any) -> Any:
        made = self.copy(deep=False)
        _evaluate(list(made.variables.values()), keep=True)
        return persist(made, **kwargs)

    return call


_xr.Variable.load = _evaluating(_xr.Variable.load, lambda self: [self])
_xr.Dataset.load = _evaluating(_xr.Dataset.load, lambda self: list(self.variables.values()))
_xr.Dataset.persist = _persisting(_xr.Dataset.persist)


# ---- Indexing by arrays that meet ----------------------------------------------------------------------------------
# xarray refuses it for all arrays of the Array API, as the standard lacks it.  Arrays have it, by NumPy's rules.
_Adapter = _indexing.ArrayApiIndexingAdapter
_get, _set = _Adapter._vindex_get, _Adapter._vindex_set


def _vindex_get(self: Any, indexer: Any) -> Any:
    if not isinstance(self.array, _core.Array):
        return _get(self, indexer)
    return _nputils.NumpyVIndexAdapter(self.array)[indexer.tuple]


def _vindex_set(self: Any, indexer: Any, value: Any) -> None:
    if not isinstance(self.array, _core.Array):
        _set(self, indexer, value)
        return
    _nputils.NumpyVIndexAdapter(self.array)[indexer.tuple] = value


_Adapter._vindex_get, _Adapter._vindex_set = _vindex_get, _vindex_set


# ---- Accessors -----------------------------------------------------------------------------------------------------
_xr.register_dataarray_accessor("rdim")(DataArrayAccessor)
_xr.register_dataset_accessor("rdim")(DatasetAccessor)
