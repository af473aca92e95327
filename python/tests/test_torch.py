"""rd.torch(): functions of tensors with PyTorch's derivatives, by its own checks of these."""

from __future__ import annotations

import threading
import warnings
from typing import Any

import pytest

import rdim as rd

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    torch: Any = pytest.importorskip("torch", reason="PyTorch is not installed: rd.torch() is not tested")
np = pytest.importorskip("numpy")


def random(*shape: int, dtype: Any = torch.float64, grad: bool = True) -> Any:
    generator = torch.Generator().manual_seed(sum(shape) * 31 + len(shape))
    return (torch.rand(shape, dtype=dtype, generator=generator) + 0.3).requires_grad_(grad)


@rd.torch
def gauss(x: Any, y: Any, b: Any, scale: float = 1.0) -> Any:
    return rd.exp(-scale * ((x[:, None] - y[None]) ** 2).sum(axis=-1)) @ b


def plain(x: Any, y: Any, b: Any, scale: float = 1.0) -> Any:
    return torch.exp(-scale * ((x[:, None] - y[None]) ** 2).sum(-1)) @ b


ATTENTION = rd.torch(lambda q, k, v: rd.softmax(q @ rd.transpose(k), axis=-1) @ v)
CHECKED = {
    "pairs": (gauss, [(5, 3), (4, 3), (4, 2)]),
    "attention": (ATTENTION, [(4, 3), (5, 3), (5, 2)]),
    "maps": (rd.torch(lambda x, y: rd.sin(x) * y / (1 + x * x)), [(3, 4), (4,)]),
    "a number": (rd.torch(lambda x: rd.logsumexp(x)), [(3, 4)]),
    "two results": (rd.torch(lambda x, y: (x @ y, rd.cumsum(x, axis=1))), [(3, 4), (4, 2)]),
    "linear": (rd.torch(lambda x: rd.sum(x, axis=0)), [(3, 4)]),
    "one axis of no element": (rd.torch(lambda x, y: x @ y), [(3, 0), (0, 2)]),
}




def regression(x: Any, scale: Any, b: Any, method: str = "cg") -> Any:
    """Weights of a kernel ridge regression."""
    v = rd.input(b.shape)
    kernel = rd.exp(-scale * ((x[:, None] - x[None]) ** 2).sum(axis=-1))
    return rd.solve(kernel @ v + 0.3 * v, v, b, tolerance=1e-13, method=method)


def two_solves(a: Any, b: Any, method: str = "gmres") -> Any:
    """The second one is of what the first one found; neither operator has a symmetry."""
    v, diagonal = rd.input(b.shape), 3 + rd.diagonal(a)
    y = rd.solve(a @ v + 3 * v, v, b, method=method, tolerance=1e-13, preconditioner=rd.jacobi(v, diagonal))
    return rd.sum(y), y * rd.solve((a * a) @ v + 5 * v, v, rd.sin(y), method=method, tolerance=1e-13)


SOLVES = {
    "cg": (rd.torch(regression), [(6, 2), (), (6,)]),
    "minres": (rd.torch(lambda x, scale, b: regression(x, scale, b, "minres")), [(6, 2), (), (6, 2)]),
    "gmres": (rd.torch(two_solves), [(5, 5), (5,)]),
    "bicgstab": (rd.torch(lambda a, b: two_solves(a, b, "bicgstab")), [(5, 5), (5,)]),
}
CHECKED |= {f"solve by {name}": row for name, row in SOLVES.items()}


@pytest.mark.parametrize("name", CHECKED)
def test_first_derivatives(name: str) -> None:
    f, shapes = CHECKED[name]
    assert torch.autograd.gradcheck(f, [random(*shape) for shape in shapes], check_forward_ad=True)


@pytest.mark.parametrize("name", CHECKED)
def test_second_derivatives(name: str) -> None:
    f, shapes = CHECKED[name]
    assert torch.autograd.gradgradcheck(f, [random(*shape) for shape in shapes])


def test_complex_ones() -> None:
    z = torch.complex(random(3, 4, grad=False), random(4, 3, grad=False).T.contiguous()).requires_grad_()
    f = rd.torch(lambda z: rd.exp(z) * z)
    assert torch.autograd.gradcheck(f, z) and torch.autograd.gradgradcheck(f, z)
    seed = torch.complex(random(3, 4, grad=False), random(3, 4, grad=False))
    torch.testing.assert_close(torch.autograd.grad(f(z), z, seed), torch.autograd.grad(torch.exp(z) * z, z, seed))


def test_values_and_gradients_are_pytorchs() -> None:
    x, y, b = random(50, 3), random(40, 3), random(40, 2)
    torch.testing.assert_close(gauss(x, y, b, 0.5), plain(x, y, b, 0.5))
    gauss(x, y, b, scale=0.5).square().sum().backward()
    want = torch.autograd.grad(plain(x, y, b, 0.5).square().sum(), [x, y, b])
    for one, other in zip((x, y, b), want):
        torch.testing.assert_close(one.grad, other)


# ---- One memory, several arguments ------------------------------------------------------------------------------------
def test_one_tensor_twice() -> None:
    x, b = random(6, 3), random(6, 2)
    assert torch.autograd.gradcheck(lambda x, b: gauss(x, x, b), (x, b), check_forward_ad=True)
    assert torch.autograd.gradgradcheck(lambda x, b: gauss(x, x, b), (x, b))


def test_a_detached_one_is_constant() -> None:
    x, b = random(6, 3), random(6, 2)
    for other in (lambda x: x.detach(), lambda x: x.detach().clone()):
        found = torch.autograd.grad(gauss(x, other(x), b).square().sum(), [x, b])
        torch.testing.assert_close(found, torch.autograd.grad(plain(x, other(x), b).square().sum(), [x, b]))


def test_a_view_of_the_same_memory() -> None:
    x = random(6, 3)
    f = rd.torch(lambda x, whole: (x * whole[0]).sum())
    torch.testing.assert_close(torch.autograd.grad(f(x, x.detach()[None]), x)[0], x.detach())
    q, k = random(4, 6).chunk(2, dim=1)
    dot = rd.torch(lambda q, k: (q * k).sum())
    torch.testing.assert_close(torch.autograd.grad(dot(q, k), [q, k]), (k.detach(), q.detach()))


def test_the_cotangent_may_be_the_operand() -> None:
    x = random(6, 3)
    square = rd.torch(lambda x: x * x)
    by_x, = torch.autograd.grad(square(x), x, grad_outputs=x, create_graph=True)
    torch.testing.assert_close(by_x, 2 * x * x)
    torch.testing.assert_close(torch.autograd.grad(by_x.sum(), x)[0], 4 * x.detach())


# ---- Memory ---------------------------------------------------------------------------------------------------------
def test_nothing_is_copied() -> None:
    x = random(100, 3, grad=False)
    seen: list[int] = []

    def look(a: Any) -> Any:
        seen.append(np.from_dlpack(a[:0]).size)
        x[0, 0] = 7.0  # f's array reads the tensor's memory when it is evaluated
        return a + 0

    assert float(rd.torch(look)(x)[0, 0]) == 7.0 and seen == [0]


def test_strided_and_expanded_tensors() -> None:
    x, b = random(3, 5).T, random(2, 4).T
    y = random(1, 3).expand(4, 3)
    torch.testing.assert_close(gauss(x, y, b), plain(x, y, b))
    torch.testing.assert_close(torch.autograd.grad(gauss(x, y, b).sum(), [x, y, b]), torch.autograd.grad(plain(x, y, b).sum(), [x, y, b]))


def test_a_tensor_that_was_changed_meanwhile() -> None:
    x = random(3, 4)
    z = x * 1
    y = rd.torch(lambda a: a * a)(z)
    z.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_types_stay(dtype: Any) -> None:
    x, y = random(4, 3, dtype=dtype), random(4, 3, dtype=dtype)
    made = rd.torch(lambda a, b: (a * b, a + b))(x, y)
    assert [one.dtype for one in made] == [dtype] * 2
    sum(one.sum() for one in made).backward()
    assert x.grad.dtype == dtype
    torch.testing.assert_close(x.grad, y.detach() + 1)


# ---- Arguments ------------------------------------------------------------------------------------------------------
def test_arguments_that_are_no_floats() -> None:
    x, index = random(5, 3), torch.tensor([4, 0, 0])
    f = rd.torch(lambda x, index, axis: (rd.take(x, index, axis=axis), rd.argmax(x, axis=1)))
    rows, places = f(x, index, 0)
    assert places.dtype == torch.int64 and not places.requires_grad
    rows.sum().backward()
    torch.testing.assert_close(x.grad[:, 0], torch.tensor([2.0, 0, 0, 0, 1], dtype=torch.float64))
    x.grad = None
    assert torch.autograd.gradcheck(lambda x: f(x, index, 0)[0], x, check_forward_ad=True)


def test_no_gradient_is_computed_that_is_not_wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    grad = rd._core._grad
    monkeypatch.setattr(rd._core, "_grad", lambda y, x, seed: asked.append(len(x)) or grad(y, x, seed))
    x, y, b = random(5, 3), random(4, 3, grad=False), random(4, 2)
    gauss(x, y, b).sum().backward()
    assert asked == [2]
    with torch.no_grad():
        assert not gauss(x, y, b).requires_grad


def test_a_layer_in_a_model() -> None:
    """Descent by torch.optim through a layer of rdim and one of PyTorch's."""
    torch.manual_seed(1)
    x = torch.rand(64, 2, dtype=torch.float64)
    target = torch.sin(3 * x[:, :1]) * x[:, 1:]
    centres = torch.rand(16, 2, dtype=torch.float64).requires_grad_()
    last = torch.nn.Linear(16, 1, dtype=torch.float64)
    kernel = rd.torch(lambda x, y: rd.exp(-8 * ((x[:, None] - y[None]) ** 2).sum(axis=-1)))
    steps = torch.optim.Adam([centres, *last.parameters()], lr=0.05)
    losses = []
    for _ in range(150):
        steps.zero_grad()
        loss = (last(kernel(x, centres)) - target).square().mean()
        loss.backward()
        steps.step()
        losses.append(float(loss))
    assert losses[-1] < 0.01 * losses[0]


def test_a_solve_is_not_repeated() -> None:
    """The gradient begins with the solution that is known."""
    told: list[int] = []

    def solved(x: Any, b: Any) -> Any:
        v = rd.input(b.shape)
        kernel = rd.exp(-((x[:, None] - x[None]) ** 2).sum(axis=-1))
        return rd.solve(kernel @ v + 0.01 * v, v, b, progress=lambda k, r: told.append(k))

    x, b = random(40, 2), random(40)
    found = rd.torch(solved)(x, b)
    steps = len(told)
    found.sum().backward()
    assert steps > 5 and len(told) == steps
    kernel = torch.exp(-((x[:, None] - x[None]) ** 2).sum(-1)) + 0.01 * torch.eye(40, dtype=torch.float64)
    want = torch.autograd.grad(torch.linalg.solve(kernel, b).sum(), [x, b])
    torch.testing.assert_close((x.grad, b.grad), want, rtol=1e-3, atol=1e-3)


def test_solves_begin_in_turn() -> None:
    """A solve with a start of its own is one of those that are begun anew."""

    def solved(a: Any, b: Any) -> Any:
        v, w = rd.input(b.shape), rd.input((2,))
        first = rd.solve(a * v, v, b, start=rd.ones(b.shape), tolerance=1e-13)
        return rd.sum(first) * rd.solve(w * 2.0, w, rd.asarray([1.0, 3.0]), tolerance=1e-13)

    assert torch.autograd.gradcheck(rd.torch(solved), (random(5), random(5)))


def test_threads() -> None:
    x, y, b = random(20, 3), random(30, 3), random(30, 2)
    want = torch.autograd.grad(plain(x, y, b).sum(), [x, y, b])
    wrong: list[Any] = []

    def run() -> None:
        try:
            for _ in range(5):
                torch.testing.assert_close(torch.autograd.grad(gauss(x, y, b).sum(), [x, y, b]), want)
        except BaseException as error:
            wrong.append(error)

    threads = [threading.Thread(target=run) for _ in range(4)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert not wrong


# ---- Mistakes -------------------------------------------------------------------------------------------------------
def test_mistakes() -> None:
    x = random(3, 4)
    with pytest.raises(TypeError, match="returned Tensor, and an Array"):
        rd.torch(lambda a: x)(x)
    with pytest.raises(TypeError, match="b= is a tensor that wants a gradient"):
        gauss(x, x, b=random(3, 2))
    with pytest.raises(TypeError, match="tensor 0 is on meta"):
        rd.torch(lambda a: a)(torch.empty(3, device="meta"))
    with pytest.raises(rd.ShapeError, match="broadcast"):
        rd.torch(lambda a, b: a + b)(x, random(5))
    with pytest.raises(rd.ArgumentError, match="digamma"):
        rd.torch(lambda a: rd.digamma(a))(x).sum().backward()
