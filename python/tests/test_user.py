"""Functions of the user's, formulas, random numbers."""

import ctypes
import ctypes.util
import gc
import os
import shutil
import weakref

import pytest

import rdim as rd

np = pytest.importorskip("numpy")
libm = ctypes.CDLL(ctypes.util.find_library("m") or "libm.so.6")
needs_compiler = pytest.mark.skipif(not shutil.which(os.environ.get("RDIM_CC", "cc").split()[0]), reason="no C compiler")


def arrays(n, *, kind="f8", size=1000):
    rng = np.random.default_rng(n)
    return [rng.standard_normal(size).astype(kind) for _ in range(n)]


def test_text():
    x, y = arrays(2)
    np.testing.assert_array_equal(rd.map(x, "x > 0 ? x : 0").compute(), np.maximum(x, 0))
    np.testing.assert_array_equal(rd.map(x, y, "a, b: a * b + 1").compute(), (rd.asarray(x) * y + 1).compute())
    np.testing.assert_allclose(rd.map(x, "exp").compute(), np.exp(x))
    with pytest.raises(rd.TextError, match=r"\^"):
        rd.map(x, "x +")
    for bad in [(x,), (x, 3), (x, np.sin), (x, lambda v: v)]:
        with pytest.raises(TypeError, match="rdim.map"):
            rd.map(*bad)


@pytest.mark.parametrize("n", [1, 2, 3, 4])
@pytest.mark.parametrize("real, kind", [(ctypes.c_double, "f8"), (ctypes.c_float, "f4")])
def test_ctypes(n, real, kind):
    x = arrays(n, kind=kind, size=3000)

    @ctypes.CFUNCTYPE(real, *[real] * n)
    def mixed(*values):
        return sum((k + 1) * value for k, value in enumerate(values))

    want = sum((k + 1) * part.astype("f8") for k, part in enumerate(x))
    got = rd.map(*x, mixed)
    assert got.dtype == kind
    np.testing.assert_allclose(got.compute(), want, rtol=1e-5 if kind == "f4" else 1e-12, atol=1e-5 if kind == "f4" else 1e-12)


def test_functions_of_a_library():
    libm.cos.restype, libm.cos.argtypes = ctypes.c_double, [ctypes.c_double]
    (x,) = arrays(1)
    np.testing.assert_allclose(rd.map(x, libm.cos).compute(), np.cos(x), rtol=1e-14)
    with pytest.raises(TypeError, match="c_int"):
        rd.map(x, libm.abs)
    libm.fma.restype, libm.fma.argtypes = ctypes.c_double, [ctypes.c_double] * 3
    np.testing.assert_allclose(rd.map(x, x, x, libm.fma).compute(), x * x + x)
    with pytest.raises(TypeError, match="2 arrays"):
        rd.map(x, x, libm.fma)


def test_numba():
    numba = pytest.importorskip("numba")
    x, y = arrays(2, size=100_000)

    @numba.cfunc("float64(float64, float64)")
    def larger(a, b):
        return a if a > b else b

    np.testing.assert_array_equal(rd.map(x, y, larger).compute(), np.maximum(x, y))


BLOCK = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64, ctypes.POINTER(ctypes.c_void_p), ctypes.c_void_p)


def test_blocks():
    x, y = arrays(2, size=50_000)
    sizes = []

    def weave(user, n, inputs, out):
        a, b = (np.frombuffer((ctypes.c_double * n).from_address(inputs[k])) for k in range(2))
        np.frombuffer((ctypes.c_int64 * n).from_address(out), "i8")[:] = (a > b) + (user or 0)
        sizes.append(n)
        return None

    f = rd.block(BLOCK(weave), "float64", "int64", user=3, name="weave")
    z = f(x, rd.asarray(y) + 0)
    del f
    gc.collect()
    np.testing.assert_array_equal(z.compute(), (x > y) + 3)
    assert sum(sizes) == 50_000

    sentence = ctypes.create_string_buffer(b"a table has no such row")
    failing = rd.block(BLOCK(lambda *of: ctypes.addressof(sentence)))
    with pytest.raises(rd.CallbackError, match="no such row"):
        failing(x).compute()
    with pytest.raises(TypeError):
        rd.block(print)


def test_callbacks_that_use_rdim():
    """A block in Python that evaluates arrays itself, on whichever thread runs it."""
    (x,) = arrays(1, size=20_000)
    small = rd.sum(rd.asarray(np.arange(10)))

    def inner(user, n, inputs, out):
        a = rd.asarray((ctypes.c_double * n).from_address(inputs[0]))
        (a * 2 + small).to((ctypes.c_double * n).from_address(out))
        return None

    np.testing.assert_allclose(rd.block(BLOCK(inner))(x).compute(), 2 * x + 45)


@needs_compiler
@pytest.mark.parametrize("kind", ["f8", "f4"])
def test_c_source(kind):
    x, y = arrays(2, kind=kind)
    steps = rd.function("""
        real steps(real x, real y) {
            real n = 0;
            if (min(x, y) < -2) return -1;
            for (int k = 0; k < 5; k++)
                if (abs(x) > k * 0.5 && exp(y) > 0) n += 1;
            return n + 0 * sqrt(abs(x));
        }""")
    want = np.where(np.minimum(x, y) < -2, -1, sum((np.abs(x) > k * 0.5).astype(kind) for k in range(5)))
    got = rd.map(x, y, steps)
    assert got.dtype == kind
    np.testing.assert_array_equal(got.compute(), want)
    np.testing.assert_array_equal(steps(x, y).compute(), want)
    assert rd.function("double f(double x) { double t = x; return t; }")(np.float32([1.5])).dtype == np.float64
    with pytest.raises(rd.TextError, match="nothing_such"):
        rd.function("double f(double x) { double t = nothing_such(x, y); return t; }")(x)


def test_c_source_of_one_expression_needs_no_compiler(monkeypatch):
    monkeypatch.setenv("RDIM_CC", "no-such-compiler")
    x, y = arrays(2)
    f = rd.function("double f(double a, double b) {\n  return a > b\n ? a / 2 : b * (1.0 / 4);\n}")
    np.testing.assert_array_equal(f(x, y).compute(), np.where(x > y, x / 2, y * 0.25))
    with pytest.raises(RuntimeError, match="no-such-compiler"):
        rd.function("double once(double q) { double t = 3; return t; }")(x)
    with pytest.raises(TypeError, match="2 arrays"):
        f(x)


@pytest.mark.parametrize("source", ["x + 1", "int f(int x) { return x; }", "double f() { return 1; }", "double f(double *x) { return *x; }",
                                    "double f(float x) { return x; }"])
def test_sources_that_are_none(source):
    with pytest.raises((ValueError, TypeError), match="rdim.function"):
        rd.function(source)


def test_owners_of_functions_live_as_long_as_expressions():
    x = arrays(1)[0]
    f = BLOCK(lambda user, n, inputs, out: ctypes.memmove(out, inputs[0], 8 * n) and None)
    alive = weakref.ref(f)
    y = rd.block(f)(x)[::2] + 0
    del f
    gc.collect()
    assert alive() is not None
    np.testing.assert_array_equal(y.compute(), x[::2])
    del y
    gc.collect()
    assert alive() is None


# ---- Formulas ---------------------------------------------------------------------------------------
def test_formulas():
    a, x = np.arange(6.0).reshape(2, 3), np.arange(3.0)
    np.testing.assert_array_equal(rd.formula("o[i] = sum[j] a[i, j] * x[j]", a=a, x=x).compute(), a @ x)
    np.testing.assert_array_equal(rd.formula("a * x + 1", {"a": a, "x": x}).compute(), a * x + 1)
    made = rd.formulas("m = mean(x)\ns = std(x); z[i] = (x[i] - m) / s", x=x)
    assert list(made) == ["m", "s", "z"]
    got = rd.compute(made)
    assert got["m"] == 1 and abs(got["z"].sum()) < 1e-12
    for bad, error in [("o = ", rd.TextError), ("y + 1", rd.TextError), ("m = 1; a + nothing", rd.TextError)]:
        with pytest.raises(error):
            rd.formula(bad, a=a)
        with pytest.raises(error):
            rd.formulas(bad, a=a)
    with pytest.raises(TypeError):
        rd.formula("a", a=object())


def test_formulas_of_sparse_arrays():
    sp = pytest.importorskip("scipy.sparse")
    a = sp.csr_array(np.eye(3))
    made = rd.formulas("s = sum(a); d = a * 2", a=rd.asarray(a))
    s, d = made["s"], made["d"]
    del made, a
    gc.collect()
    assert s.compute() == 3 and (d.compute() == 2 * np.eye(3)).all()


# ---- Random numbers ---------------------------------------------------------------------------------
def test_random_numbers():
    rng, again = rd.random.default_rng(3), rd.random.default_rng(3)
    n = 20_000
    draws = {name: (getattr(rng, name)(size=n), getattr(again, name)(size=n))
             for name in ("random", "standard_normal", "standard_exponential", "bits")}
    for name, (x, y) in draws.items():
        np.testing.assert_array_equal(x.compute(), y.compute())
    assert abs(draws["random"][0].compute().mean() - 0.5) < 0.02
    assert not np.array_equal(rng.random(5).compute(), rng.random(5).compute())
    z = rng.normal(5, np.array([1.0, 2.0]), (n, 2)).compute()
    assert np.allclose(z.mean(axis=0), 5, atol=0.1) and np.allclose(z.std(axis=0), [1, 2], rtol=0.05)
    u = rng.uniform(-1, 3, (50, 40)).compute()
    assert u.shape == (50, 40) and -1 <= u.min() < -0.9 and 2.9 < u.max() < 3
    assert abs(rng.exponential(2.0, n).compute().mean() - 2) < 0.1
    k = rng.integers(3, 6, n)
    assert set(k.compute()) == {3, 4, 5} and k.dtype == np.int64
    assert set(rng.integers(2, size=n, endpoint=True, dtype="i4").compute()) == {0, 1, 2}
    assert rng.random().shape == () and rng.random((2, 3), dtype="f4").dtype == np.float32


def test_permutations_and_choices():
    rng = rd.random.default_rng(1)
    p = rng.permutation(100).compute()
    assert sorted(p) == list(range(100)) and list(p) != list(range(100))
    a = np.arange(12.0).reshape(3, 4)
    q = rng.permutation(a, axis=1).compute()
    assert sorted(map(tuple, q.T)) == sorted(map(tuple, a.T))
    assert set(rng.choice(3, 200).compute()) == {0, 1, 2}
    assert sorted(rng.choice(np.arange(5) * 10, 5, replace=False).compute()) == [0, 10, 20, 30, 40]
    for bad in [lambda: rng.choice(3, 4, replace=False), lambda: rd.random.default_rng(-1), lambda: rng.integers(3, 3),
                lambda: rng.random((-1,))]:
        with pytest.raises(ValueError):
            bad()


# ---- Reducers ---------------------------------------------------------------------------------------
MOST = ("double most;", "s->most = 0;", "if (fabs(x) > s->most) s->most = fabs(x);", "y[0] = s->most;",
        "if (b->most > a->most) *a = *b;")


@needs_compiler
@pytest.mark.parametrize("merges", [True, False])
def test_reducers(merges):
    x = np.random.default_rng(0).standard_normal((40, 50, 3))
    most = rd.reducer(*MOST[: 5 if merges else 4], commutes=merges, name="most")
    for axis in (None, 0, -1, (0, 2)):
        np.testing.assert_array_equal(most(x, axis).compute(), np.abs(x).max(axis=axis))
    np.testing.assert_array_equal(most(x, 1, keepdims=True).compute(), np.abs(x).max(axis=1, keepdims=True))
    np.testing.assert_array_equal(most(x, 1, where=x < 0).compute(), np.abs(np.where(x < 0, x, 0)).max(axis=1))
    np.testing.assert_array_equal(most.accumulate(x, 1).compute(), np.maximum.accumulate(np.abs(x), axis=1))
    big = rd.asarray(np.random.default_rng(1).standard_normal(1_000_000))
    assert float(most(big * 2)) == np.abs(big.compute() * 2).max()


@needs_compiler
def test_reducers_of_several_values_and_types():
    x = np.random.default_rng(0).integers(-50, 50, (30, 20)).astype("i4")
    ends = rd.reducer("int32_t first, last; int64_t seen;", "s->first = 0; s->last = 0; s->seen = 0;",
                      "if (!s->seen) s->first = x; s->last = x; s->seen++;", "y[0] = s->first; y[1] = s->last; y[2] = s->seen;",
                      in_type="int32", out_type="int64", n=3)
    np.testing.assert_array_equal(ends(x, 1).compute(), np.stack([x[:, 0], x[:, -1], np.full(30, 20)], axis=1))
    with pytest.raises(rd.TextError, match="nothing_such"):
        rd.reducer("double s;", "s->s = nothing_such;", "", "y[0] = 0;")
    with pytest.raises(TypeError, match="complex128"):
        rd.reducer("double s;", "", "", "", in_type=complex)
