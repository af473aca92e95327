"""Gradients and directional derivatives: of an array that is made, with respect to arrays that it was made from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, overload

from . import _core
from ._core import Array

__all__ = ["grad", "hvp", "jvp"]


def _operands(call: str, x: Any) -> tuple[Array, ...]:
    """What is differentiated by; an array that is made here would be one that y does not read."""
    several = isinstance(x, (list, tuple))
    found = tuple(x) if several else (x,)
    for k, one in enumerate(found):
        if not isinstance(one, Array):
            name = f"x[{k}]" if several else "x"
            raise TypeError(f"rdim.{call}(): {name} is of {type(one).__name__}; derivatives are with respect to an Array "
                            "that y was made from: make it by rdim.asarray() first")
    if not found:
        raise ValueError(f"rdim.{call}(): x is empty; one Array or more are wanted")
    return found


def _directions(call: str, x: Any, t: Any, name: str) -> tuple[Any, ...]:
    """A list of directions for a list of operands, or one for one."""
    if not isinstance(x, (list, tuple)):
        return (t,)
    if not isinstance(t, (list, tuple)) or len(t) != len(x):
        given = f"{len(t)} of them" if isinstance(t, (list, tuple)) else type(t).__name__
        raise ValueError(f"rdim.{call}(): x has {len(x)} operands and {name} is {given}; it has one for each of them")
    return tuple(t)


def _like(x: Any, made: list[Array]) -> Any:
    """One array for one operand, a list for a list, a tuple for a tuple."""
    if isinstance(x, tuple):
        return tuple(made)
    return made if isinstance(x, list) else made[0]


@overload
def grad(y: Any, x: Array, *, seed: Any = None) -> Array: ...
@overload
def grad(y: Any, x: Sequence[Array], *, seed: Any = None) -> Sequence[Array]: ...
def grad(y: Any, x: Any, *, seed: Any = None) -> Any:
    """The gradient of a number y with respect to x, or to each of a list of arrays, as torch.autograd.grad.

    Like any array it is lazy, and grad() may be asked for its own derivatives.  It has the shape and type of x.

    y
        An Array of one element, or of several if seed is given.
    x
        Arrays that y was made from; a list gives a list.  Two arrays over the same memory are one operand.
    seed
        Weights of the elements of y: the gradient is of sum(seed * y).

    >>> x = rd.asarray([1.0, 2.0])
    >>> rd.grad(rd.sum(x * x), x)
    rdim.Array([2., 4.])
    """
    return _like(x, _core._grad(y, _operands("grad", x), seed))


def jvp(y: Any, x: Any, t: Any) -> Array:
    """How y changes if x moves by t: the directional derivative, as jax.jvp.

    y
        An Array of any shape.
    x
        An Array that y was made from, or a list of them.
    t
        How x moves: of its shape, or broadcast to it; a list if x is one.

    >>> x = rd.asarray([1.0, 2.0])
    >>> rd.jvp(x * x, x, [1.0, 0.0])
    rdim.Array([2., 0.])
    """
    return _core._jvp(y, _operands("jvp", x), _directions("jvp", x, t, "t"))[0]


@overload
def hvp(y: Any, x: Array, v: Any) -> Array: ...
@overload
def hvp(y: Any, x: Sequence[Array], v: Sequence[Any]) -> Sequence[Array]: ...
def hvp(y: Any, x: Any, v: Any) -> Any:
    """The Hessian of a number y times v: how the gradient by x changes if x moves by v.

    y
        An Array of one element.
    x
        An Array that y was made from, or a list of them; a list gives a list.
    v
        How x moves: of its shape, or broadcast to it; a list if x is one.

    >>> x = rd.asarray([1.0, 2.0])
    >>> rd.hvp(rd.sum(x**3), x, [1.0, 1.0])
    rdim.Array([ 6., 12.])
    """
    return _like(x, _core._hvp(y, _operands("hvp", x), _directions("hvp", x, v, "v")))
