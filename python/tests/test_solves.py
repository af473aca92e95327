"""Solves, eigenvalues and estimates against dense matrices and SciPy's iterations."""

from __future__ import annotations

import gc
import os
import signal
import threading
import time
from typing import Any, Callable

import pytest

import rdim as rd
from rdim._solves import METHODS

np = pytest.importorskip("numpy")
N = 61
RNG = np.random.default_rng(48)
POINTS, B = RNG.random((N, 2)), RNG.standard_normal(N)
LOOSE = RNG.standard_normal((N, N)) / 8 + 2 * np.eye(N)  # of no symmetry
INDEFINITE = LOOSE + LOOSE.T - 4 * np.eye(N) + np.diag(np.where(np.arange(N) % 3, 3.0, -3.0))
RIDGE = 0.05


def kernel(x: Any, y: Any) -> Any:
    return rd.exp(-8 * ((x[:, None] - y[None]) ** 2).sum(axis=-1))


def dense_kernel() -> Any:
    return np.exp(-8 * ((POINTS[:, None] - POINTS[None]) ** 2).sum(axis=-1)) + RIDGE * np.eye(N)


def operator(v: Any) -> Any:
    p = rd.asarray(POINTS)
    return kernel(p, p) @ v + RIDGE * v


def landmarks(r: Any) -> Any:
    p = rd.asarray(POINTS)
    pytest_lapack()
    return rd.nystroem(r, kernel(p, p[::4]), kernel(p[::4], p[::4]), RIDGE)


def pytest_lapack() -> None:
    v = rd.input(3)
    try:
        rd.eigsh(v * 2, v, 1)
    except rd.DeviceError as missing:
        pytest.skip(str(missing))


def residual(a: Any, x: Any, b: Any) -> float:
    return float((np.linalg.norm(a @ np.asarray(x) - b, axis=0) / np.linalg.norm(b, axis=0)).max())


# ---- Linear systems -------------------------------------------------------------------------------------------------
MATRICES = {"cg": dense_kernel(), "minres": INDEFINITE, "gmres": LOOSE, "bicgstab": LOOSE}


@pytest.mark.parametrize("method", MATRICES)
@pytest.mark.parametrize("sides", [None, 1, 3])
def test_solutions_are_numpys(method: str, sides: int | None) -> None:
    a = MATRICES[method]
    b = B if sides is None else np.stack([B * (k + 1) + k for k in range(sides)], axis=1)
    v = rd.input(b.shape)
    x, info = rd.solve(rd.asarray(a) @ v, v, b, method=method, tolerance=1e-11, info=True)
    assert isinstance(x, rd.Array) and x.shape == b.shape
    np.testing.assert_allclose(x, np.linalg.solve(a, b), rtol=1e-7, atol=1e-8)
    assert info.converged and info.residual == pytest.approx(residual(a, x, b), rel=1e-3, abs=1e-14) and residual(a, x, b) <= 1e-11
    assert len(info.history) == info.iterations and info.evaluations >= info.iterations


@pytest.mark.parametrize("method", MATRICES)
def test_scipy_finds_the_same_in_as_many_iterations(method: str) -> None:
    linalg = pytest.importorskip("scipy.sparse.linalg")
    a, v, steps = MATRICES[method], rd.input(N), [0]

    def count(_: Any) -> None:
        steps[0] += 1

    theirs = {"cg": lambda: linalg.cg(a, B, rtol=1e-8, callback=count),
              "minres": lambda: linalg.minres(a, B, rtol=1e-10, callback=count),
              "gmres": lambda: linalg.gmres(a, B, rtol=1e-8, restart=50, callback=count, callback_type="pr_norm"),
              "bicgstab": lambda: linalg.bicgstab(a, B, rtol=1e-8, callback=count)}[method]()[0]
    x, info = rd.solve(rd.asarray(a) @ v, v, B, method=method, tolerance=1e-8, info=True)
    np.testing.assert_allclose(x, theirs, rtol=1e-4, atol=1e-5)
    assert info.iterations <= 1.3 * steps[0] + 3


def test_kernels_are_not_stored() -> None:
    v = rd.input(N)
    np.testing.assert_allclose(rd.solve(operator(v), v, B, tolerance=1e-11), np.linalg.solve(dense_kernel(), B), rtol=1e-6)


def test_f32_operators() -> None:
    v = rd.input(N, "float32")
    x = rd.solve(rd.asarray(LOOSE.astype("f4")) @ v, v, B.astype("f4"), method="gmres")
    assert x.dtype == np.dtype("f4")
    assert residual(LOOSE, np.asarray(x, "f8"), B) < 1e-4


def test_coupled_axes_are_one_vector() -> None:
    weights = RNG.uniform(1, 2, (5, 3))
    v = rd.input((5, 3))
    mixed = weights * v + 0.3 * rd.sum(v)  # the columns meet
    a = np.diag(weights.ravel()) + 0.3
    x = rd.solve(mixed, v, np.arange(15.0).reshape(5, 3), coupled=True, tolerance=1e-12)
    np.testing.assert_allclose(np.asarray(x).ravel(), np.linalg.solve(a, np.arange(15.0)), rtol=1e-9)


def test_right_sides_broadcast_and_are_lazy() -> None:
    v = rd.input((N, 2))
    x = rd.solve(rd.asarray(LOOSE) @ v, v, rd.asarray(B)[:, None] * 2, method="gmres", tolerance=1e-10)
    np.testing.assert_allclose(x, np.linalg.solve(LOOSE, np.stack([2 * B] * 2, 1)), rtol=1e-6, atol=1e-8)
    assert rd.solve(v * 2, v, 0.0).tolist() == [[0.0, 0.0]] * N


def test_preconditioners() -> None:
    v, r = rd.input(N), rd.input(N)
    plain = rd.solve(operator(v), v, B, info=True)[1]
    made = landmarks(r)
    for k in range(30000):  # nodes of this thread are dropped now and then; what it computed stays
        r + k  # noqa: B018
    gc.collect()
    x, info = rd.solve(operator(v), v, B, info=True, preconditioner=made)
    np.testing.assert_allclose(dense_kernel() @ np.asarray(x), B, atol=1e-4)
    assert info.converged and info.iterations < plain.iterations / 2
    scale = np.geomspace(1, 1e4, N)
    scaled = rd.asarray(scale) * v + 0.1 * rd.sum(v)
    slow, fast = (rd.solve(scaled, v, B, info=True, preconditioner=one)[1] for one in (None, rd.jacobi(v, scale)))
    assert fast.converged and fast.iterations < slow.iterations / 2


def test_going_on_from_a_solution() -> None:
    v = rd.input(N)
    x, first = rd.solve(operator(v), v, B, most=5, info=True)
    assert not first.converged and first.iterations == 5
    x, info = rd.solve(operator(v), v, B, start=x, info=True)
    assert info.converged
    again, info = rd.solve(operator(v), v, B, start=x, info=True)
    assert info.iterations == 0 and again.tolist() == x.tolist()


def test_bits_do_not_depend_on_threads() -> None:
    v, found = rd.input(N), []
    for threads in (1, 2, 5):
        with rd.options(threads=threads, deterministic=True):
            found.append(rd.solve(operator(v), v, B).tolist())
    assert found[0] == found[1] == found[2]


def test_sparse_operators() -> None:
    sparse = pytest.importorskip("scipy.sparse")
    a = sparse.csr_array(np.diag(np.arange(1.0, 8)) + np.diag(np.ones(6), 1))
    v = rd.input(7)
    x = rd.solve(rd.asarray(a) @ v, v, np.ones(7), method="gmres", tolerance=1e-12)
    np.testing.assert_allclose(x, np.linalg.solve(a.toarray(), np.ones(7)), rtol=1e-9)


@pytest.mark.parametrize("shape", [(0,), (0, 2), (3, 0), ()])
def test_few_elements(shape: tuple[int, ...]) -> None:
    v = rd.input(shape)
    np.testing.assert_allclose(rd.solve(v * 4, v, 2.0), np.full(shape, 0.5), rtol=1e-15)


def test_results_outlive_what_they_were_made_from() -> None:
    def made() -> Any:
        v = rd.input(N)
        return rd.solve(rd.asarray(np.array(LOOSE)) @ v, v, np.array(B), method="gmres", tolerance=1e-10)

    found = made()
    gc.collect()
    np.testing.assert_allclose(found, np.linalg.solve(LOOSE, B), rtol=1e-6, atol=1e-8)


# ---- Progress, threads, signals ---------------------------------------------------------------------------------------
def test_progress_is_the_history() -> None:
    v, seen = rd.input(N), []

    def note(iteration: int, residual: float) -> None:
        assert float(rd.sum(rd.asarray([1.0, 2.0]))) == 3  # it may evaluate
        seen.append((iteration, residual))

    _, info = rd.solve(operator(v), v, B, info=True, progress=note)
    assert [k for k, _ in seen] == list(range(1, info.iterations + 1))
    assert tuple(r for _, r in seen) == info.history


def test_an_exception_of_progress_ends_it() -> None:
    v = rd.input(N)
    for call in (rd.solve, rd.eigsh, rd.power_iteration):
        with pytest.raises(ZeroDivisionError):
            call(operator(v), v, *([B] if call is rd.solve else []), progress=lambda k, r: 1 // 0)
    assert float(rd.solve(v * 2, v, 2.0)[0]) == pytest.approx(1)  # the thread goes on


def test_threads_solve_what_others_made() -> None:
    v = rd.input(N)
    made, want, wrong = operator(v), rd.solve(operator(v), v, B).tolist(), []

    def run() -> None:
        for _ in range(3):
            if rd.solve(made, v, B).tolist() != want:
                wrong.append(1)

    threads = [threading.Thread(target=run) for _ in range(4)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert not wrong


@pytest.mark.skipif(threading.current_thread() is not threading.main_thread(), reason="signals go to the main thread")
def test_an_interrupt_ends_a_long_solve() -> None:
    p = rd.asarray(RNG.random((4000, 3)))
    v = rd.input(4000)
    timer = threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    begin = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        rd.solve(kernel(p, p) @ v + 1e-12 * v, v, RNG.standard_normal(4000), most=10**9, tolerance=1e-300)
    timer.join()
    assert time.monotonic() - begin < 60


# ---- Gradients ------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("method", MATRICES)
@pytest.mark.parametrize("preconditioned", [False, True])
def test_gradients_are_differences(method: str, preconditioned: bool) -> None:
    """Of sum(g x) by b, by the matrix and by a number in the operator."""
    a, g, step = MATRICES[method], RNG.standard_normal(N), 1e-6
    matrix, shift, v = rd.asarray(a), rd.asarray(0.25).persist(), rd.input(N)
    Av = matrix @ v + shift * v
    diagonal = np.diag(a) if not METHODS[method].symmetric else np.ones(N) * 2
    options: dict[str, Any] = dict(method=method, tolerance=1e-12)
    if preconditioned:
        options["preconditioner"] = rd.jacobi(v, diagonal)
    x = rd.solve(Av, v, B, **options)
    by_b, (by_a, by_shift) = rd.solve_grad(Av, v, x, g, (matrix, shift), **options)

    def value(shift: float, a: Any, b: Any) -> float:
        return float(g @ np.linalg.solve(a + shift * np.eye(N), b))

    np.testing.assert_allclose(by_b, np.linalg.solve((a + 0.25 * np.eye(N)).T, g), rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(by_a, -np.outer(by_b, x), rtol=1e-9, atol=1e-11)
    by_differences = (value(0.25 + step, a, B) - value(0.25 - step, a, B)) / (2 * step)
    assert float(by_shift) == pytest.approx(by_differences, rel=1e-5, abs=1e-6)


def test_gradients_are_as_operands() -> None:
    v, scale = rd.input(3), rd.asarray(2.0).persist()
    x = rd.solve(scale * v, v, 1.0)
    one = rd.solve_grad(scale * v, v, x, 1.0, scale)
    assert float(one[1]) == pytest.approx(-0.75)
    assert isinstance(rd.solve_grad(scale * v, v, x, 1.0, [scale])[1], list)
    assert rd.solve_grad(scale * v, v, x, 1.0)[1] == ()


# ---- Eigenvalues, traces, determinants ----------------------------------------------------------------------------------
@pytest.mark.parametrize("which, scipys", [("largest", "LA"), ("smallest", "SA"), ("farthest", "LM")])
def test_eigenvalues_are_scipys(which: str, scipys: str) -> None:
    linalg = pytest.importorskip("scipy.sparse.linalg")
    pytest_lapack()
    v = rd.input(N)
    values, vectors, info = rd.eigsh(rd.asarray(INDEFINITE) @ v, v, 4, which=which, tolerance=1e-9, info=True)
    np.testing.assert_allclose(np.sort(values), np.sort(linalg.eigsh(INDEFINITE, 4, which=scipys)[0]), rtol=1e-9)
    order = np.abs(values) if which == "farthest" else np.asarray(values)
    assert (np.diff(order) * (1 if which == "smallest" else -1) > 0).all()
    u = np.asarray(vectors)
    assert u.shape == (N, 4) and info.converged
    np.testing.assert_allclose(INDEFINITE @ u, u * np.asarray(values), atol=1e-7)
    np.testing.assert_allclose(u.T @ u, np.eye(4), atol=1e-9)


def test_power_iteration() -> None:
    v = rd.input(N)
    value, vector = rd.power_iteration(operator(v), v)
    assert value == pytest.approx(np.linalg.eigvalsh(dense_kernel())[-1], rel=1e-5) and vector.shape == (N,)


def test_estimates() -> None:
    v, several = rd.input(N), rd.input((N, 8))
    trace, error = rd.estimate_trace(operator(v), v, probes=64)
    assert 0 < error and abs(trace - np.trace(dense_kernel())) < 5 * error
    assert rd.estimate_trace(operator(v), v, probes=64, seed=1).value != trace
    assert rd.estimate_trace(operator(v), v, probes=64).value == trace
    pytest_lapack()
    want = np.linalg.slogdet(dense_kernel())[1]
    for one in (v, several):
        value, error = rd.estimate_logdet(operator(one), one, probes=64)
        assert abs(value - want) < 5 * error + 0.02 * abs(want)


# ---- Mistakes -------------------------------------------------------------------------------------------------------
def wrong(v: Any) -> dict[str, tuple[Callable[[], Any], type[Exception], str]]:
    Av = operator(v)
    return {
        "an array": (lambda: rd.solve(Av, rd.asarray(B), B), rd.ArgumentError, r"rdim.solve: v is leaf, and must be an input\(\)"),
        "memory": (lambda: rd.solve(Av, B, B), TypeError, "v is of ndarray; v is an rdim.input"),
        "a matrix": (lambda: rd.solve(LOOSE, v, B), TypeError, "Av is of ndarray"),
        "shape": (lambda: rd.solve(v[:5], v, B), rd.ShapeError, r"A v has shape \(5\), and v \(61\)"),
        "sides": (lambda: rd.solve(Av, v, B[:7]), rd.ShapeError, r"rdim.solve: shape \(7\) does not broadcast to \(61\)"),
        "another input": (lambda: rd.solve(Av + rd.input(N), v, B), rd.ArgumentError, "reads the input .* not given"),
        "method": (lambda: rd.solve(Av, v, B, method="bicg"), ValueError, "method is 'bicg'; possible are 'cg', 'minres', 'gmres', 'bicgstab'"),
        "tolerance": (lambda: rd.solve(Av, v, B, tolerance=-1), rd.ArgumentError, "tolerance= is -1"),
        "most": (lambda: rd.solve(Av, v, B, most=-3), rd.ArgumentError, "most= is -3"),
        "restart": (lambda: rd.solve(Av, v, B, method="gmres", restart=-1), rd.ArgumentError, "restart= is -1"),
        "missed": (lambda: rd.solve(Av, v, B, most=3), rd.ConvergenceError, "after 3 iterations, above the tolerance"),
        "indefinite": (lambda: rd.solve(-1 * Av, v, B), rd.ConvergenceError, 'positive definite operator; method="minres" takes'),
        "NaN": (lambda: rd.solve(Av, v, B * np.nan), rd.ConvergenceError, "not finite"),
        "progress": (lambda: rd.solve(Av, v, B, progress=3), TypeError, "progress is 3"),
        "complex": (lambda: rd.solve(Av * 1j, v, B), rd.DTypeError, "complex128, and must be a real float"),
        "no preconditioner": (lambda: rd.solve(Av, v, B, preconditioner=B), rd.ArgumentError, r"reads no input\(\)"),
        "ridge": (lambda: rd.nystroem(v, np.ones((N, 2)), np.eye(2), 0.0), rd.ArgumentError, "the ridge is 0, and must be above 0"),
        "landmarks": (lambda: rd.nystroem(v, np.ones((N, 2)), np.eye(3), 1.0), rd.ShapeError, "rdim.nystroem"),
        "points": (lambda: rd.nystroem(B, np.ones((N, 2)), np.eye(2), 1.0), TypeError, "r is of ndarray"),
        "no eigenvalue": (lambda: rd.eigsh(Av, v, 0), rd.ArgumentError, "k is 0"),
        "many eigenvalues": (lambda: rd.eigsh(Av, v, 62), rd.ArgumentError, "62 eigenvalues of an operator of 61 rows"),
        "which": (lambda: rd.eigsh(Av, v, which="LA"), ValueError, "which is 'LA'; possible are 'largest'"),
        "probes": (lambda: rd.estimate_trace(Av, v, probes=-1), rd.ArgumentError, "probes= is -1"),
        "ints": (lambda: rd.input(3, "int32"), rd.DTypeError, r"rdim.input\(\): elements are int32"),
        "extent": (lambda: rd.input((3, -1)), rd.ShapeError, "an extent is negative"),
        "gradient": (lambda: rd.solve_grad(Av, v, B, B, [2.0]), TypeError, r"p\[0\] is of float"),
        "a number": (lambda: rd.solve_grad(Av, v, B, B, rd.asarray(2.0)), rd.ArgumentError, r"rdim.asarray\(2.0\).persist\(\)"),
        "not read": (lambda: rd.solve_grad(Av, v, B, B, rd.asarray(B) + 1), rd.ArgumentError, "was not made from"),
        "elements": (lambda: v.compute(), rd.ArgumentError, r"has no memory; it is an rdim.input\(\)"),
    }


@pytest.mark.parametrize("name", wrong(rd.input(N)))
def test_mistakes(name: str) -> None:
    call, kind, text = wrong(rd.input(N))[name]
    with pytest.raises(kind, match=text):
        call()
