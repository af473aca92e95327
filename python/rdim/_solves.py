"""Linear systems, eigenvalues and determinants of operators that are arrays made from an input.

An operator is an array that is linear in an input v, so no matrix is stored.  These calls evaluate, and what they return
has elements.  Solutions are arrays of their own: an array made from one does not know of the solve.  A *record* of the
solves that a function made says how its results change through them; rd.torch() differentiates by it.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple

from . import _core
from ._core import Array
from ._leaves import asarray

__all__ = ["eigsh", "estimate_logdet", "estimate_trace", "input", "nystroem", "power_iteration", "solve", "solve_grad"]


class _Method(NamedTuple):
    number: int  # rd_solver
    symmetric: bool = False  # it takes symmetric operators only, whose transposed ones are themselves


METHODS = {"cg": _Method(0, symmetric=True), "minres": _Method(1, symmetric=True), "gmres": _Method(2), "bicgstab": _Method(3)}
_WHICH = {"largest": 0, "smallest": 1, "farthest": 2}
_names = itertools.count(1)


class SolveInfo(NamedTuple):
    """What a solve or eigenvalues took, and how well they ended."""

    iterations: int
    evaluations: int
    residual: float  # of the result, and not of a recurrence
    converged: bool
    history: tuple[float, ...]  # residuals after each iteration, as the method estimates them


class Estimate(NamedTuple):
    """A number from random probes, with its standard error."""

    value: float
    error: float


# ---- Records ------------------------------------------------------------------------------------------------------
@dataclass
class Solved:
    """A solve that was made: its operands, its solution, and its keywords."""

    Av: Array
    v: Array
    b: Array
    x: Array
    keywords: dict[str, Any]


class _Records(threading.local):
    """Those that are open in a thread, the innermost one last; solutions to begin with."""

    def __init__(self) -> None:
        self.open: list[list[Solved]] = []
        self.begun: Iterator[Array] = iter(())


_records = _Records()


@contextmanager
def recorded() -> Iterator[list[Solved]]:
    """A list that gets each solve within the block."""
    made: list[Solved] = []
    _records.open.append(made)
    try:
        yield made
    finally:
        _records.open.pop()


@contextmanager
def resumed(solutions: list[Array]) -> Iterator[None]:
    """Solves within the block begin where the same solves ended before; then they may have ended, too."""
    before, _records.begun = _records.begun, iter(solutions)
    try:
        yield
    finally:
        _records.begun = before


def _record(one: Solved) -> None:
    for made in _records.open:
        made.append(one)


def _applied(one: Solved, x: Array) -> Array:
    """A x: as A v is linear in v, its change where v moves by x."""
    return _core._jvp(one.Av, (one.v,), (x,))[0]


def _alone(x: Any) -> Array:
    """x, which solve() returned alone."""
    assert isinstance(x, Array)
    return x


def _solve_transposed(one: Solved, g: Array) -> Array:
    """w of A^T w = g.  Methods for symmetric operators take A as it is."""
    keywords = dict(one.keywords)
    if METHODS[keywords["method"]].symmetric:
        return _alone(solve(one.Av, one.v, g, **keywords))
    u = input(one.v.shape, one.v.dtype)
    transposed = _core._grad(one.Av, (one.v,), u)[0]
    if keywords["preconditioner"] is None:
        return _alone(solve(transposed, u, g, **keywords))
    w = solve_grad(one.Av, one.v, one.x, g, **keywords)[0]  # which transposes the preconditioner, too
    _record(Solved(transposed, u, g, w, {**keywords, "preconditioner": None}))
    return w


def _sum(total: list[Array | None], parts: Sequence[Array]) -> list[Array | None]:
    return [part if one is None else one + part for one, part in zip(total, parts)]


def gradients_through(solves: list[Solved], seeded: Sequence[tuple[Array, Any]], by: tuple[Array, ...]) -> tuple[Array, ...]:
    """Gradients of the sum of seed * y over all pairs, where y are made from `by`, also through solves.

    A x = b gives A dx = db - dA x.  So with A^T w = g, where g is the gradient by x, the number changes by
    w . (db - dA x): the gradient of w . (b - A x) by all but x."""
    operands = (*by, *(one.x for one in solves))
    total: list[Array | None] = [None] * len(operands)
    for y, seed in seeded:
        total = _sum(total, _core._grad(y, operands, seed))
    for k in reversed(range(len(solves))):
        one, g = solves[k], total[len(by) + k]
        assert g is not None
        w = _solve_transposed(one, g)
        before = operands[: len(by) + k]
        parts = _core._grad(one.b - _applied(one, one.x), before, w)
        total = _sum(total[: len(before)], parts)
    return tuple(one for one in total[: len(by)] if one is not None)


def changes_through(solves: list[Solved], made: Sequence[Array], by: tuple[Array, ...], t: Sequence[Any]) -> tuple[Array, ...]:
    """How arrays change where `by` move by t, also through solves."""
    operands, moves = list(by), list(t)
    for one in solves:
        change = _core._jvp(one.b - _applied(one, one.x), tuple(operands), tuple(moves))[0]
        operands.append(one.x)
        moves.append(solve(one.Av, one.v, change, **one.keywords))
    return tuple(_core._jvp(y, tuple(operands), tuple(moves))[0] for y in made)


# ---- Arguments ----------------------------------------------------------------------------------------------------
def _word(call: str, name: str, given: Any, words: dict[str, int]) -> int:
    if not isinstance(given, str) or given not in words:
        raise ValueError(f"rdim.{call}(): {name} is {given!r}; possible are {', '.join(map(repr, words))}")
    return words[given]


def _numbers() -> dict[str, int]:
    """The methods as the library numbers them."""
    return {name: method.number for name, method in METHODS.items()}


def _operator(call: str, Av: Any, v: Any) -> tuple[Array, Array]:
    """A v and v as arrays; to make an array of something else would make one that is not made from v."""
    for name, one in (("Av", Av), ("v", v)):
        if not isinstance(one, Array):
            raise TypeError(f"rdim.{call}(): {name} is of {type(one).__name__}; v is an rdim.input(), and Av an Array made "
                            "from it, such as A @ v")
    return Av, v


def _told(call: str, progress: Any) -> Any:
    if progress is not None and not callable(progress):
        raise TypeError(f"rdim.{call}(): progress is {progress!r}; it is called with an iteration and a residual")
    return progress


def _optional(x: Any) -> Array | None:
    return None if x is None else asarray(x)


def input(shape: Any, dtype: Any = "float64") -> Array:
    """An array whose elements solves give: the v of an operator A v.

    shape
        Its extents, or one number.  With two axes or more the last one counts vectors, such as right sides.
    dtype
        "float32" or "float64".

    >>> v = rd.input(2)
    >>> rd.solve(rd.asarray([[2.0, 1.0], [1.0, 3.0]]) @ v, v, [3.0, 5.0])
    rdim.Array([0.8, 1.4])
    """
    made = _core._input(f"v{next(_names)}", shape, dtype)
    if str(made.dtype) not in ("float32", "float64"):
        raise _core.DTypeError(f"rdim.input(): elements are {made.dtype}; vectors are float32 or float64")
    return made


# ---- Linear systems -----------------------------------------------------------------------------------------------
def solve(Av: Array, v: Array, b: Any, *, method: str = "cg", tolerance: float = 0, most: int = 1000, restart: int = 50,
          preconditioner: Any = None, start: Any = None, coupled: bool = False,
          progress: Callable[[int, float], object] | None = None, info: bool = False) -> Any:
    """The solution x of A x = b, where A is not a matrix but what it makes of v, as scipy.sparse.linalg.cg.

    It evaluates Av once an iteration.  rd.torch() differentiates through it, and solve_grad() has its gradients.

    Av
        An Array that is linear in v, with v's shape and type.
    v
        An rdim.input().  If it has two axes or more, the last one counts right sides, which are solved together.
    b
        The right sides; they broadcast to v's shape.
    method
        "cg": A is symmetric and positive definite.  "minres": it is symmetric.  "gmres": any A.  "bicgstab": any A,
        with few vectors and two evaluations an iteration.
    tolerance
        The greatest |b - A x| / |b| of a right side; 0: 1e-6, or 1e-5 if v is float32.
    most
        The most iterations.
    restart
        How many vectors "gmres" keeps before it begins anew.
    preconditioner
        An Array made from an input r of v's shape, about A^-1 r, such as jacobi() or nystroem().
    start
        Where to begin, such as an earlier solution; None: at 0.
    coupled
        All of v is one vector, also if it has several axes.
    progress
        Is called with the number of each iteration and its residual; an exception of it ends the solve.
    info
        Whether to return (x, info), with iterations, evaluations, residual, converged and history.  Then it is no
        error if the tolerance was missed.

    >>> v = rd.input(2)
    >>> x, info = rd.solve(rd.asarray([[2.0, 1.0], [1.0, 3.0]]) @ v, v, [3.0, 5.0], info=True)
    >>> info.iterations, info.converged
    (2, True)
    """
    Av, v = _operator("solve", Av, v)
    keywords: dict[str, Any] = dict(method=method, tolerance=tolerance, most=most, restart=restart,
                                    preconditioner=_optional(preconditioner), coupled=coupled)
    right = asarray(b)
    begun = next(_records.begun, None)  # in turn, also where the caller says where to begin
    begin = begun if start is None else start
    operands = Av, v, keywords["preconditioner"], right, _optional(begin)
    x, found = _core._solve(operands, _word("solve", "method", method, _numbers()), tolerance, most, restart, coupled,
                            _told("solve", progress), info)
    if _records.open:
        _record(Solved(Av, v, right, x, keywords))
    return (x, SolveInfo(*found)) if info else x


def solve_grad(Av: Array, v: Array, x: Any, g: Any, p: Any = (), *, method: str = "cg", tolerance: float = 0, most: int = 1000,
               restart: int = 50, preconditioner: Any = None, coupled: bool = False,
               progress: Callable[[int, float], object] | None = None) -> tuple[Array, Any]:
    """Gradients of a number through a solve A x = b: with respect to b, and to arrays that A was made from.

    It takes one solve with the transposed operator, and one evaluation.  Keywords are those of solve().

    x
        The solution.
    g
        The gradient of the number with respect to x.
    p
        Arrays that Av was made from: one, or a list of them.

    >>> v, ridge = rd.input(2), rd.asarray(1.0).persist()
    >>> Av = rd.asarray([[2.0, 1.0], [1.0, 3.0]]) @ v + ridge * v
    >>> x = rd.solve(Av, v, [3.0, 5.0])
    >>> rd.solve_grad(Av, v, x, [1.0, 0.0], ridge)      # of x[0]
    (rdim.Array([ 0.36363636, -0.09090909]), rdim.Array(-0.12396694))
    """
    Av, v = _operator("solve_grad", Av, v)
    several = isinstance(p, (list, tuple))
    by = tuple(p) if several else (p,)
    for k, one in enumerate(by):
        if not isinstance(one, Array):
            name = f"p[{k}]" if several else "p"
            raise TypeError(f"rdim.solve_grad(): {name} is of {type(one).__name__}; gradients are with respect to an Array that "
                            "Av was made from")
    of_b, *of_p = _core._solve_grad((Av, v, _optional(preconditioner), asarray(x), asarray(g), *by),
                                    _word("solve_grad", "method", method, _numbers()), tolerance, most, restart, coupled,
                                    _told("solve_grad", progress), False)
    return of_b, of_p if isinstance(p, list) else tuple(of_p) if several else of_p[0]


def nystroem(r: Array, across: Any, within: Any, ridge: float) -> Array:
    """A preconditioner for K + ridge, with K a kernel of points, from a few of the points, the landmarks.

    What is as small as `within` is computed now; `across` is computed anew where the preconditioner is used.

    r
        An rdim.input() of the operator's shape; it may be the operator's.
    across
        K(points, landmarks), of shape (n, k).
    within
        K(landmarks, landmarks), of shape (k, k).
    ridge
        What is added to the diagonal of K, above 0.
    """
    if not isinstance(r, Array):
        raise TypeError(f"rdim.nystroem(): r is of {type(r).__name__}; it is an rdim.input()")
    return _core._nystroem((r, asarray(across), asarray(within)), ridge)


# ---- Eigenvalues --------------------------------------------------------------------------------------------------
def eigsh(Av: Array, v: Array, k: int = 6, *, which: str = "largest", tolerance: float = 0, most: int = 1000, basis: int = 0,
          seed: int = 0, progress: Callable[[int, float], object] | None = None, info: bool = False) -> tuple[Any, ...]:
    """k eigenvalues of a symmetric operator and their vectors, as scipy.sparse.linalg.eigsh.

    It returns (values, vectors), or with info=True (values, vectors, info).  All of v is one vector; vectors have v's shape
    with a last axis of k.

    Av
        An Array that is linear in v, with v's shape and type.
    v
        An rdim.input().
    k
        How many.
    which
        "largest", in descending order; "smallest", in ascending order; "farthest" from 0, in that order.
    tolerance
        The greatest |A x - value x| / |value|; 0: 1e-6.
    most
        The most evaluations of Av.
    basis
        How many vectors are kept, more than k; 0: 2 k + 20.
    seed
        The key of the random vector to begin with.
    progress
        As in solve().
    info
        Whether to return what it took; then it is no error if the tolerance was missed.

    >>> v = rd.input(3)
    >>> rd.eigsh(rd.asarray([3.0, 1.0, 2.0]) * v, v, 2)[0]
    rdim.Array([3., 2.])
    """
    if isinstance(k, int) and k < 1:
        raise _core.ArgumentError(f"rdim.eigsh(): k is {k}; it is 1 or more")
    values, vectors, found = _core._eigenvalues(_operator("eigsh", Av, v), k, _word("eigsh", "which", which, _WHICH), tolerance,
                                                most, basis, seed, _told("eigsh", progress), info)
    return (values, vectors, SolveInfo(*found)) if info else (values, vectors)


def power_iteration(Av: Array, v: Array, *, tolerance: float = 0, most: int = 1000, seed: int = 0,
                    progress: Callable[[int, float], object] | None = None, info: bool = False) -> tuple[Any, ...]:
    """The eigenvalue of the greatest absolute value, a number, and its vector, by multiplying by A again and again.

    Arguments are those of eigsh(), which needs fewer evaluations.

    >>> v = rd.input(3)
    >>> round(rd.power_iteration(rd.asarray([3.0, 1.0, 2.0]) * v, v)[0], 4)
    3.0
    """
    value, vector, found = _core._eigenvalues(_operator("power_iteration", Av, v), 0, 0, tolerance, most, 0, seed,
                                              _told("power_iteration", progress), info)
    return (value, vector, SolveInfo(*found)) if info else (value, vector)


# ---- Traces and determinants --------------------------------------------------------------------------------------
def estimate_trace(Av: Array, v: Array, *, probes: int = 16, seed: int = 0, coupled: bool = False,
                   progress: Callable[[int, float], object] | None = None) -> Estimate:
    """The trace of A, estimated from random vectors of -1 and 1, with the standard error of the estimate.

    Av
        An Array that is linear in v, with v's shape and type.
    v
        An rdim.input().  If it has two axes or more, the last one counts probes that run together.
    probes
        How many vectors.
    seed
        The key of the probes; equal keys give equal results.
    coupled
        All of v is one vector, also if it has several axes.
    progress
        Is called with the number of each evaluation and 0.

    >>> v = rd.input(3)
    >>> rd.estimate_trace(rd.asarray([3.0, 1.0, 2.0]) * v, v)      # exact: the matrix is diagonal
    Estimate(value=6.0, error=0.0)
    """
    return Estimate(*_core._estimate(_operator("estimate_trace", Av, v), False, 0, probes, seed, coupled,
                                     _told("estimate_trace", progress)))


def estimate_logdet(Av: Array, v: Array, *, probes: int = 16, steps: int = 50, seed: int = 0, coupled: bool = False,
                    progress: Callable[[int, float], object] | None = None) -> Estimate:
    """The logarithm of the determinant of a symmetric positive definite A, estimated as estimate_trace() does.

    steps
        The most steps of Lanczos' method for a probe; as many vectors are kept.

    >>> v = rd.input(3)
    >>> value, error = rd.estimate_logdet(rd.asarray([3.0, 1.0, 2.0]) * v, v)
    >>> round(value, 6)                                            # log(6)
    1.791759
    """
    return Estimate(*_core._estimate(_operator("estimate_logdet", Av, v), True, steps, probes, seed, coupled,
                                     _told("estimate_logdet", progress)))
