"""Reducers of the user's, in C source."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any, NamedTuple

from . import _core
from ._compiler import address, library
from ._core import Array
from ._dtypes import resolve

__all__ = ["Reducer", "reducer"]

_C = {"bool": "_Bool", "int8": "int8_t", "int16": "int16_t", "int32": "int32_t", "int64": "int64_t", "uint8": "uint8_t",
      "uint16": "uint16_t", "uint32": "uint32_t", "uint64": "uint64_t", "float32": "float", "float64": "double"}

_SOURCE = """#include <math.h>
#include <stdint.h>
typedef struct {{ {state} }} rd_state;
const int64_t rd_size = sizeof(rd_state);
void rd_init(void *rd_s) {{ rd_state *const s = rd_s; {init} }}
void rd_step(void *rd_s, int64_t rd_n, const void *rd_x, int64_t rd_stride, int64_t i) {{
    rd_state rd_t = *(rd_state *)rd_s, *const s = &rd_t;
    const {x} *rd_p = rd_x;
    for (const int64_t rd_end = i + rd_n; i < rd_end; i++, rd_p += rd_stride) {{
        const {x} x = *rd_p;
        {step}
    }}
    *(rd_state *)rd_s = rd_t;
}}
void rd_merge(void *rd_a, const void *rd_b) {{ rd_state *const a = rd_a; const rd_state *const b = rd_b; {merge} }}
void rd_finish(const void *rd_s, void *rd_y) {{ const rd_state *const s = rd_s; {y} *const y = rd_y; {finish} }}
"""


class _Parts(NamedTuple):
    state: str
    init: str
    step: str
    merge: str
    finish: str


class Reducer:
    """Call it with an array and axes, as numpy.sum; accumulate() is the results so far, as numpy.cumsum."""

    def __init__(self, parts: _Parts, types: tuple[str, str], n: int, commutes: bool, merges: bool, name: str) -> None:
        loaded = library(name, _SOURCE.format(**parts._asdict(), x=_C[types[0]], y=_C[types[1]]))
        size = ctypes.c_int64.in_dll(loaded, "rd_size").value
        functions = (loaded.rd_init, loaded.rd_step, loaded.rd_merge if merges else None, loaded.rd_finish)
        addresses = tuple(address(f) if f is not None else 0 for f in functions)
        self._spec = (name, n, *types, size, commutes, tuple(parts), addresses)
        self.__name__ = name

    def __call__(self, x: Any, axis: int | Sequence[int] | None = None, *, keepdims: bool = False, where: Any = None) -> Array:
        return _core.reduce_user(x, where, self._spec, axis, keepdims, False, self)

    def accumulate(self, x: Any, axis: int = 0) -> Array:
        """The reductions of the elements up to each, along an axis."""
        return _core.reduce_user(x, None, self._spec, axis, False, True, self)


def reducer(state: str, init: str, step: str, finish: str, merge: str | None = None, *, in_type: Any = "float64",
            out_type: Any = "float64", n: int = 1, commutes: bool = False, name: str = "reducer") -> Reducer:
    """A reducer of statements in C, compiled by cc or as RDIM_CC says.

    state are the members of a struct; init sets *s; step takes x, and i, its place, into *s; merge takes *b, of the
    elements after a's, into *a, and without it elements go strictly in order; finish writes y[0] to y[n - 1] of *s.

        reducer("double most;", "s->most = 0;", "if (fabs(x) > s->most) s->most = fabs(x);", "y[0] = s->most;",
                "if (b->most > a->most) *a = *b;")"""
    kinds = [_core.dtype_names[resolve(given) - 1] for given in (in_type, out_type)]
    for kind in kinds:
        if kind not in _C:
            raise TypeError(f"rdim.reducer: C has no {kind}; possible are {', '.join(_C)}")
    return Reducer(_Parts(state, init, step, merge or "", finish), (kinds[0], kinds[1]), n, commutes, merge is not None, name)
