"""Gradients and directional derivatives against differences, and against JAX and PyTorch where these are installed."""

from __future__ import annotations

from typing import Any, Callable

import pytest

import rdim as rd

np = pytest.importorskip("numpy")
RNG = np.random.default_rng(47)
X, Y, W = RNG.uniform(0.3, 1.4, (5, 3)), RNG.uniform(0.3, 1.4, (4, 3)), RNG.uniform(0.3, 1.4, (4, 2))
INDEX = np.array([3, 0, 3, 1])


def pairs(m: Any, x: Any, y: Any) -> Any:
    """Squared distances of all pairs; m is a module with NumPy's names."""
    return ((x[:, None] - y[None]) ** 2).sum(axis=-1)


# Functions of x (5, 3), y (4, 3), w (4, 2) by NumPy's names, which JAX has, too.
FUNCTIONS: dict[str, Callable[..., Any]] = {
    "gauss": lambda m, x, y, w: m.exp(-pairs(m, x, y)) @ w,
    "laplace": lambda m, x, y, w: m.exp(-m.sqrt(pairs(m, x, y))) @ w,
    "cauchy": lambda m, x, y, w: (1 / (1 + pairs(m, x, y))) @ w,
    "logsumexp": lambda m, x, y, w: m.log(m.exp(-pairs(m, x, y)).sum(axis=1)) * x[:, 0] + w.sum(),
    "nearest": lambda m, x, y, w: pairs(m, x, y).min(axis=1) + pairs(m, x, y).max(axis=1) * w[0, 0],
    "softmax": lambda m, x, y, w: (m.exp(x @ y.T) / m.exp(x @ y.T).sum(axis=1, keepdims=True)) @ w,
    "views": lambda m, x, y, w: x[::-1, 1:].T @ m.concatenate([y, y[:1]])[:, :2] + w[:2],
    "taken": lambda m, x, y, w: m.take(x, INDEX, axis=0) * y + m.where(x[:4] > 0.8, x[:4], y) * w.sum(axis=1)[:, None],
    "moments": lambda m, x, y, w: x.std(axis=0) * y.mean(axis=0) + m.sin(x).prod(axis=0) + m.var(w),
    "scans": lambda m, x, y, w: m.cumsum(x[:4] * y, axis=0) + m.cumprod(y, axis=0) * w[:, :1],
    "einsum": lambda m, x, y, w: m.einsum("ik,jk,jl->il", x, y, w),
    "sorted": lambda m, x, y, w: m.sort(x[:4] * y, axis=0) @ y.T @ w,
    "maps": lambda m, x, y, w: m.arctan2(x[:4], y) + m.hypot(x[:4], y) ** 1.5 + m.log1p(y) * m.tanh(w[:, :1]),
}


def lazy(*arrays: Any) -> list[Any]:
    return [rd.asarray(one) for one in arrays]


def seed_for(y: Any) -> Any:
    return np.random.default_rng(3).standard_normal(y.shape)


def differences(f: Callable[..., Any], arrays: list[Any], k: int, step: float = 1e-6) -> Any:
    """The gradient of a number by one array, from values at both sides."""
    found = np.zeros_like(arrays[k])
    for at in np.ndindex(*arrays[k].shape):
        ends = []
        for sign in (1, -1):
            moved = [np.array(one) for one in arrays]
            moved[k][at] += sign * step
            ends.append(float(f(*moved)))
        found[at] = (ends[0] - ends[1]) / (2 * step)
    return found


@pytest.mark.parametrize("name", FUNCTIONS)
def test_gradients_are_differences(name: str) -> None:
    f = FUNCTIONS[name]
    operands = lazy(X, Y, W)
    seed = seed_for(f(rd, *operands))
    found = rd.grad(f(rd, *operands), operands, seed=seed)
    for k in range(3):
        want = differences(lambda *arrays: (f(np, *arrays) * seed).sum(), [X, Y, W], k)
        np.testing.assert_allclose(found[k], want, rtol=1e-6, atol=1e-7, err_msg=f"{name}, operand {k}")


@pytest.mark.parametrize("name", FUNCTIONS)
def test_both_modes_agree(name: str) -> None:
    f = FUNCTIONS[name]
    operands = lazy(X, Y, W)
    y = f(rd, *operands)
    seed, moves = seed_for(y), [np.random.default_rng(9).standard_normal(one.shape) for one in (X, Y, W)]
    by_gradients = sum(float(rd.sum(g * t)) for g, t in zip(rd.grad(y, operands, seed=seed), moves))
    np.testing.assert_allclose(float(rd.sum(rd.jvp(y, operands, moves) * seed)), by_gradients, rtol=1e-11)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_second_derivatives_are_differences_of_gradients(name: str) -> None:
    f, step = FUNCTIONS[name], 1e-6
    moves = [np.random.default_rng(9).standard_normal(one.shape) for one in (X, Y, W)]

    def gradients(shift: float) -> list[Any]:
        at = lazy(*(one + shift * t for one, t in zip((X, Y, W), moves)))
        return [np.asarray(g) for g in rd.grad(rd.sum(rd.sin(f(rd, *at))), at)]

    operands = lazy(X, Y, W)
    found = rd.hvp(rd.sum(rd.sin(f(rd, *operands))), operands, moves)
    again = rd.grad(sum(rd.sum(g * t) for g, t in zip(rd.grad(rd.sum(rd.sin(f(rd, *operands))), operands), moves)), operands)
    for one, twice, high, low in zip(found, again, gradients(step), gradients(-step)):
        np.testing.assert_allclose(one, (high - low) / (2 * step), rtol=2e-5, atol=1e-6)
        np.testing.assert_allclose(twice, one, rtol=1e-9, atol=1e-11)


# ---- Of points ----------------------------------------------------------------------------------------------------
def test_divergence_and_laplacian() -> None:
    x, y, w = lazy(X, Y, W)
    f = rd.exp(-pairs(rd, x, y)) @ w[:, 0]
    d2 = pairs(np, X, Y)
    want = ((4 * d2 - 2 * 3) * np.exp(-d2)) @ W[:, 0]
    np.testing.assert_allclose(rd.laplacian(f, x), want, rtol=1e-12)
    np.testing.assert_allclose(rd.divergence(rd.grad(rd.sum(f), x), x), want, rtol=1e-12)
    assert rd.laplacian(x.sum(axis=-1), x).tolist() == [0] * 5


# ---- What is given, what is returned --------------------------------------------------------------------------------
def test_results_are_as_operands() -> None:
    x, y = lazy(X, Y)
    loss = rd.sum(pairs(rd, x, y))
    one = rd.grad(loss, x)
    assert isinstance(one, rd.Array) and one.shape == X.shape
    assert [g.shape for g in rd.grad(loss, [x, y])] == [X.shape, Y.shape]
    assert isinstance(rd.grad(loss, (x, y)), tuple) and isinstance(rd.hvp(loss, [x], [X]), list)
    assert rd.hvp(loss, x, 1.0).shape == X.shape and rd.jvp(x * 2, x, 1.0).tolist() == [[2.0] * 3] * 5


@pytest.mark.parametrize("kind", ["float16", "float32", "float64"])
def test_types_stay(kind: str) -> None:
    x = rd.asarray(X.astype(kind))
    assert rd.grad(rd.sum(x * x), x).dtype == np.dtype(kind)
    assert rd.jvp(x * x, x, X).dtype == np.dtype(kind)


def test_complex_ones_are_of_real_sums() -> None:
    """d/dRe + i d/dIm of the sum of |z|^2 is 2 z."""
    z = rd.asarray(X[0] + 1j * X[1])
    np.testing.assert_allclose(rd.grad(rd.sum(rd.real(z * rd.conj(z))), z), 2 * (X[0] + 1j * X[1]), rtol=1e-15)


def test_operands_are_what_was_read() -> None:
    x, other = lazy(X, Y)
    y = x * 2
    assert rd.grad(rd.sum(y * y), y).tolist() == (4 * X).tolist()      # an expression in between
    assert rd.grad(rd.sum(x), other).tolist() == [[0.0] * 3] * 4       # y does not read it
    a = np.array(X)
    assert rd.grad(rd.sum(rd.asarray(a) ** 2), rd.asarray(a)).tolist() == (2 * X).tolist()  # one memory, one operand
    kept = x.persist()                                                 # memory of its own: a constant
    assert rd.grad(rd.sum(x * kept), x).tolist() == X.tolist()


def test_operands_stay_after_many_nodes_were_dropped() -> None:
    """Nodes of a thread are made again now and then: x is still what y was made from."""
    x = rd.asarray(np.array(X))
    loss = rd.sum(rd.exp(x))
    for k in range(40000):
        x + k  # noqa: B018
    np.testing.assert_allclose(rd.grad(loss, x), np.exp(X), rtol=1e-15)


def test_gradients_of_sparse_matrices_have_their_places() -> None:
    sparse = pytest.importorskip("scipy.sparse")
    m = rd.asarray(sparse.csr_array(np.array([[0, 2.0, 0], [1.0, 0, 3.0]])))
    v = rd.asarray(X[0])
    by_m, by_v = rd.grad(rd.sum((m @ v) ** 2), [m, v])
    r = np.array([2 * X[0, 1], X[0, 0] + 3 * X[0, 2]])
    np.testing.assert_allclose(by_v, 2 * np.array([[0, 2.0, 0], [1.0, 0, 3.0]]).T @ r, rtol=1e-14)
    assert by_m.is_sparse
    np.testing.assert_allclose(by_m.to_scipy().toarray(), 2 * np.array([[0, r[0] * X[0, 1], 0], [r[1] * X[0, 0], 0, r[1] * X[0, 2]]]),
                               rtol=1e-14)


def test_a_loop_of_gradient_steps() -> None:
    """Least squares by descent comes to the answer of NumPy."""
    a, b = RNG.standard_normal((50, 3)), RNG.standard_normal(50)
    w = np.zeros(3)
    for _ in range(300):
        x = rd.asarray(w)
        w = w - 0.2 * rd.grad(rd.mean((rd.asarray(a) @ x - b) ** 2), x).compute()
    np.testing.assert_allclose(w, np.linalg.lstsq(a, b, rcond=None)[0], rtol=1e-8)


# ---- Mistakes -----------------------------------------------------------------------------------------------------
def wrong() -> dict[str, tuple[Callable[[Any], Any], type[Exception], str]]:
    return {
        "several elements": (lambda x: rd.grad(x, x), rd.ShapeError, r"rdim.grad: y has shape \(5, 3\).*seed="),
        "a number": (lambda x: rd.grad(rd.sum(x), 2.0), TypeError, "x is of float"),
        "memory": (lambda x: rd.grad(rd.sum(x), [x, X]), TypeError, r"x\[1\] is of ndarray"),
        "none": (lambda x: rd.grad(rd.sum(x), []), ValueError, "empty"),
        "not read": (lambda x: rd.grad(rd.sum(x), x + 1), rd.ArgumentError, "was not made from"),
        "not read either": (lambda x: rd.divergence(x, x + 1), rd.ArgumentError, "rdim.divergence: .*was not made from"),
        "ints": (lambda x: rd.grad(rd.sum(rd.asarray([1, 2])), x), rd.DTypeError, "int64, and derivatives are of floats; astype"),
        "seed": (lambda x: rd.grad(x, x, seed=np.ones(4)), rd.ShapeError, "broadcast"),
        "directions": (lambda x: rd.jvp(x, [x], [X, X]), ValueError, "x has 1 operands and t is 2 of them"),
        "one direction": (lambda x: rd.hvp(rd.sum(x), [x], X), ValueError, "v is ndarray"),
        "shape of a direction": (lambda x: rd.jvp(x, x, np.ones((2, 2))), rd.ShapeError, "rdim.jvp"),
        "points": (lambda x: rd.laplacian(x, x), rd.ShapeError, "rdim.laplacian: .*without its last axis"),
        "digamma": (lambda x: rd.grad(rd.sum(rd.digamma(x)), x), rd.ArgumentError, "digamma"),
    }


@pytest.mark.parametrize("name", wrong())
def test_mistakes(name: str) -> None:
    call, kind, text = wrong()[name]
    with pytest.raises(kind, match=text):
        call(rd.asarray(X))


# ---- Other libraries ------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", FUNCTIONS)
def test_jax_has_the_same(name: str) -> None:
    jax = pytest.importorskip("jax", reason="JAX is not installed: gradients are not compared with its own")
    jax.config.update("jax_enable_x64", True)
    f = FUNCTIONS[name]
    operands = lazy(X, Y, W)
    seed = seed_for(f(rd, *operands))
    want = jax.grad(lambda *arrays: (f(jax.numpy, *arrays) * seed).sum(), (0, 1, 2))(*map(jax.numpy.asarray, (X, Y, W)))
    for one, other in zip(rd.grad(f(rd, *operands), operands, seed=seed), want):
        np.testing.assert_allclose(one, np.asarray(other), rtol=1e-11, atol=1e-12)
    moves = [np.random.default_rng(9).standard_normal(one.shape) for one in (X, Y, W)]
    _, along = jax.jvp(lambda *arrays: f(jax.numpy, *arrays), (X, Y, W), tuple(moves))
    np.testing.assert_allclose(rd.jvp(f(rd, *operands), operands, moves), np.asarray(along), rtol=1e-11, atol=1e-12)
