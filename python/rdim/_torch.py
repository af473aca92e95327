"""Functions of rdim in PyTorch's automatic differentiation.

A function of arrays becomes a *program*: from a list of arrays to a tuple of arrays.  Its gradient is a program of more
operands, and so is its change along tangents.  One autograd function runs any program, so PyTorch differentiates as often
as it likes.  Programs are built anew from the tensors that PyTorch saved, which finds those that were changed meanwhile.
Solves within the function are recorded, and derivatives go through them; a program that is built anew begins them at
the solutions of the first time, where they end at once.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from . import _core
from ._core import Array
from ._dtypes import numpy
from ._leaves import from_dlpack
from ._solves import changes_through, gradients_through, recorded, resumed

__all__ = ["torch"]


# ---- Programs -----------------------------------------------------------------------------------------------------
class _Program:
    """From a list of arrays to a tuple of arrays."""

    apart = False  # whether each operand must be an array of its own, even of one memory

    def __call__(self, arrays: list[Array]) -> tuple[Array, ...]:
        raise NotImplementedError


class _Caller(_Program):
    """The user's function, with its arguments that are no tensors in their places."""

    def __init__(self, f: Callable[..., Any], arguments: list[Any], places: list[int], keywords: dict[str, Any]) -> None:
        self._f, self._arguments, self._places, self._keywords = f, arguments, places, keywords
        self.single = False  # whether f returns an array and no tuple of them, which a first call says
        self._solutions: list[Array] = []  # of the solves of the last call

    def __call__(self, arrays: list[Array]) -> tuple[Array, ...]:
        arguments = list(self._arguments)
        for place, array in zip(self._places, arrays):
            arguments[place] = array
        with resumed(self._solutions), recorded() as solves:
            made = self._f(*arguments, **self._keywords)
        self._solutions = [one.x for one in solves]
        self.single = not isinstance(made, (list, tuple))
        found = (made,) if self.single else tuple(made)
        for one in found:
            if not isinstance(one, Array):
                raise TypeError(f"rdim.torch(): the function returned {type(one).__name__}, and an Array, or a tuple of "
                                "Arrays, is wanted")
        return found


class _Gradient(_Program):
    """Gradients of a program: its operands, then a cotangent for each result in `given`."""

    apart = True

    def __init__(self, of: _Program, n: int, wanted: Sequence[int], given: Sequence[int]) -> None:
        self._of, self._n, self._wanted, self._given = of, n, tuple(wanted), tuple(given)

    def __call__(self, arrays: list[Array]) -> tuple[Array, ...]:
        operands = arrays[: self._n]
        with recorded() as solves:
            made = self._of(operands)
        by = tuple(operands[k] for k in self._wanted)
        return gradients_through(solves, [(made[k], seed) for k, seed in zip(self._given, arrays[self._n :])], by)


class _Change(_Program):
    """Changes of a program's results in `real`: its operands, then how those in `moved` move."""

    apart = True

    def __init__(self, of: _Program, n: int, moved: Sequence[int], real: Sequence[int]) -> None:
        self._of, self._n, self._moved, self._real = of, n, tuple(moved), tuple(real)

    def __call__(self, arrays: list[Array]) -> tuple[Array, ...]:
        operands = arrays[: self._n]
        with recorded() as solves:
            made = self._of(operands)
        by = tuple(operands[k] for k in self._moved)
        return changes_through(solves, [made[k] for k in self._real], by, arrays[self._n :])


# ---- Tensors in and out -------------------------------------------------------------------------------------------
def _arrays(tensors: Sequence[Any], apart: bool) -> list[Array]:
    """Arrays over the memory of tensors.  Arrays over one memory are one operand, so where each has to be its own
    those after the first are copies."""
    seen: set[Any] = set()
    found = []
    for k, tensor in enumerate(tensors):
        if tensor.device.type != "cpu":
            raise TypeError(f"rdim.torch(): tensor {k} is on {tensor.device}, and the package evaluates on the CPU; "
                            "take tensor.cpu()")
        plain = tensor.detach().resolve_conj().resolve_neg()
        key = plain.data_ptr(), plain.dtype, tuple(plain.shape), plain.stride()
        found.append(from_dlpack(plain, copy=apart and key in seen and plain.numel() > 0))
        seen.add(key)
    return found


def _tensors(arrays: tuple[Array, ...]) -> tuple[Any, ...]:
    """The elements as tensors; several results share passes."""
    import torch as pytorch  # type: ignore[import-not-found, unused-ignore]

    if len(arrays) < 2 or numpy is None or any(str(one.dtype) == "bfloat16" for one in arrays):
        return tuple(pytorch.from_dlpack(one) for one in arrays)  # type: ignore[attr-defined, unused-ignore]
    return tuple(pytorch.from_numpy(one) for one in _core.compute_many(arrays))


# ---- The autograd function ----------------------------------------------------------------------------------------
@functools.cache
def _function() -> Any:
    """The class that runs programs; PyTorch is imported when it is first asked for."""
    from torch.autograd import Function  # type: ignore[import-not-found, unused-ignore]

    class Rdim(Function):  # type: ignore[misc, no-any-unimported, unused-ignore]
        """Results of a program of tensors."""

        @staticmethod
        def forward(program: _Program, *tensors: Any) -> Any:
            return _tensors(program(_arrays(tensors, program.apart)))

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            ctx.program, *tensors = inputs
            ctx.real = [k for k, one in enumerate(output) if one.is_floating_point() or one.is_complex()]
            ctx.n_out = len(output)
            ctx.set_materialize_grads(False)
            ctx.save_for_backward(*tensors)
            ctx.save_for_forward(*tensors)

        @staticmethod
        def backward(ctx: Any, *cotangents: Any) -> Any:
            tensors = ctx.saved_tensors
            wanted = [k for k, needed in enumerate(ctx.needs_input_grad[1:]) if needed]
            given = [k for k in ctx.real if cotangents[k] is not None]
            found: list[Any] = [None] * len(tensors)
            if wanted and given:
                gradient = _Gradient(ctx.program, len(tensors), wanted, given)
                made = Rdim.apply(gradient, *tensors, *(cotangents[k] for k in given))
                for k, one in zip(wanted, made):
                    found[k] = one
            return (None, *found)

        @staticmethod
        def jvp(ctx: Any, _: Any, *tangents: Any) -> Any:
            tensors = ctx.saved_tensors
            moved = [k for k, one in enumerate(tangents) if one is not None]
            found: list[Any] = [None] * ctx.n_out
            if moved and ctx.real:
                change = _Change(ctx.program, len(tensors), moved, ctx.real)
                made = Rdim.apply(change, *tensors, *(tangents[k] for k in moved))
                for k, one in zip(ctx.real, made):
                    found[k] = one
            return tuple(found)

    return Rdim


def torch(f: Callable[..., Any]) -> Callable[..., Any]:
    """A function of PyTorch's tensors, with derivatives of every order, from a function of Arrays.

    Tensors among the arguments by place become Arrays over their memory; other arguments are handed on as they are.  f
    builds one Array, or a tuple of them, which are evaluated at once, without a copy, as tensors on the CPU.  PyTorch's
    backward() evaluates grad() of what f builds, and forward-mode differentiation jvp().  So f is called again for each of
    them, and must build the same each time.

    Arrays that f takes from elsewhere are constants.  If one is over the memory of a tensor that is an argument, it is that
    operand, too: hand t.detach() to f as an argument of its own where it shall be constant.  f may call solve(), whose
    gradient is the implicit one; other calls that evaluate give constants.

    f
        A function of Arrays; it may be a decorated one: @rd.torch.
    """

    @functools.wraps(f)
    def call(*arguments: Any, **keywords: Any) -> Any:
        import torch as pytorch  # type: ignore[import-not-found, unused-ignore]

        for name, one in keywords.items():
            if isinstance(one, pytorch.Tensor) and one.requires_grad:
                raise TypeError(f"rdim.torch(): {name}= is a tensor that wants a gradient; hand it over by place")
        keywords = {name: from_dlpack(one) if isinstance(one, pytorch.Tensor) else one for name, one in keywords.items()}
        places = [k for k, one in enumerate(arguments) if isinstance(one, pytorch.Tensor)]
        program = _Caller(f, list(arguments), places, keywords)
        made = _function().apply(program, *(arguments[k] for k in places))
        return made[0] if program.single else made

    return call
