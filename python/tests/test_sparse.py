"""Sparse matrices beside SciPy: in, out, and 500 random programs."""

import gc
import weakref

import pytest

import rdim as rd

np = pytest.importorskip("numpy")
sp = pytest.importorskip("scipy.sparse")

FORMATS = ["csr", "csc", "coo"]


def some(rng, n, m, kind="f8", format="csr"):
    """Small whole numbers: sums of products of them have one result in any order."""
    dense = rng.integers(-4, 5, (n, m)) * (rng.random((n, m)) < rng.choice([0, 0.1, 0.4, 1]))
    return sp.csr_array(dense.astype(kind)).asformat(format)


def dense(x):
    return x.toarray() if sp.issparse(x) else np.asarray(x)


def same(got, want):
    want = dense(want)
    elements = np.asarray(got.compute())
    assert elements.shape == want.shape
    np.testing.assert_allclose(elements, want, rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("kind", ["f4", "f8", "i4", "i8", "u1", "c8", "c16", "?"])
@pytest.mark.parametrize("make", [sp.csr_array, sp.csr_matrix])
def test_there_and_back(format, kind, make):
    rng = np.random.default_rng(1)
    for n, m in [(5, 7), (0, 3), (3, 0), (1, 1), (20, 4)]:
        a = make(some(rng, n, m, kind)).asformat(format)
        x = rd.asarray(a)
        assert x.is_sparse and x.shape == (n, m) and x.dtype == a.dtype
        same(x, a)
        for other in FORMATS:
            back = x.to_scipy(other)
            assert back.format == other and back.dtype == a.dtype and back.nnz == a.nnz
            np.testing.assert_array_equal(back.toarray(), a.toarray())


def test_nothing_is_copied():
    a = some(np.random.default_rng(0), 30, 40)
    x = rd.asarray(a)
    a.data[:] = 7
    assert set(np.unique(x.compute())) <= {0.0, 7.0}


def test_owners_live_as_long_as_is_needed():
    a = some(np.random.default_rng(0), 30, 40)
    data, want = weakref.ref(a.data), (a + a).toarray()
    x = rd.asarray(a)
    y = x + x
    del a, x
    gc.collect()
    assert data() is not None
    same(y, want)
    del y
    gc.collect()
    assert data() is None


def test_orders_and_duplicates():
    row, col, data = [2, 0, 2, 1], [1, 2, 0, 1], [1.0, 2, 3, 4]
    want = sp.coo_array((data, (row, col)), shape=(3, 3))
    same(rd.asarray(want), want)
    twice = sp.coo_array((data + data, (row + row, col + col)), shape=(3, 3))
    same(rd.asarray(twice), 2 * want)
    unsorted = sp.csr_array((np.array([1.0, 2, 3]), np.array([2, 0, 1]), np.array([0, 2, 3])), shape=(2, 3))
    same(rd.asarray(unsorted), unsorted)
    assert list(unsorted.indices) == [2, 0, 1]
    for format in ["bsr", "lil", "dok", "dia"]:
        same(rd.asarray(want.asformat(format)), want)


def test_index_arrays():
    a = some(np.random.default_rng(3), 6, 5)
    for make in (rd.sparse.csr, rd.sparse.csc):
        b = a.asformat(make.__name__)
        same(make(b.data, b.indices, b.indptr, b.shape), a)
    b = a.tocoo()
    same(rd.sparse.coo(b.data, b.row, b.col, b.shape), a)
    x = rd.sparse.csr([1.0, 2], [1, 0], [0, 1, 2], (2, 2), fill=5.0)
    np.testing.assert_array_equal(x.compute(), [[5, 1], [2, 5]])
    with pytest.raises(ValueError, match="5"):
        x.to_scipy()
    with pytest.raises(TypeError):
        rd.asarray(np.eye(2)).to_scipy()
    for bad in [([1.0, 2], [0, 7], [0, 1, 2]), ([1.0], [0], [0, 1, 2]), ([1.0, 2], [1, 0], [0, 2, 2])]:
        with pytest.raises(ValueError, match="rdim.sparse.csr"):
            rd.sparse.csr(*bad, (2, 2))
    with pytest.raises(TypeError):
        rd.sparse.csr([1.0], [0.0], [0, 1], (1, 1))


def one_step(rng, x, a):
    """The same step in rdim and in SciPy; of a sparse x the result is sparse where it can be."""
    n, m = a.shape
    kind = rng.integers(0, 12)
    b = some(rng, n, m, "f8", rng.choice(FORMATS))
    other = rd.asarray(b)
    if kind == 0:
        return x + other, a + b
    if kind == 1:
        return x - other, a - b
    if kind == 2:
        return x * other, a.multiply(b).tocsr()
    if kind == 3:
        return x * 2.5, a * 2.5
    if kind == 4:
        return -rd.abs(x), -abs(a)
    if kind == 5:
        return rd.maximum(x, other), a.maximum(b)
    if kind == 6:
        return rd.minimum(x, other), a.minimum(b)
    if kind == 7:
        c = some(rng, m, int(rng.integers(0, 6)), "f8", rng.choice(FORMATS))
        return x @ rd.asarray(c), a @ c
    if kind == 8:
        return rd.matrix_transpose(x), a.T.tocsr()
    if kind == 9:
        return rd.sin(x), a.sin()
    if kind == 10:
        row = rng.integers(-3, 4, m).astype("f8")
        return x * rd.asarray(row), a.multiply(row[None]).tocsr()
    return rd.square(x), a.power(2)


def last_step(rng, x, a):
    n, m = a.shape
    kind = rng.integers(0, 8)
    if kind == 0:
        axis = [None, 0, 1][rng.integers(0, 3)]
        return rd.sum(x, axis=axis), a.sum(axis=axis)
    if kind == 1:
        v = rng.integers(-3, 4, m).astype("f8")
        return x @ rd.asarray(v), a @ v
    if kind == 2:
        v = rng.integers(-3, 4, (4, n)).astype("f8")
        return rd.asarray(v) @ x, v @ a
    if kind == 3 and n and m:
        axis = int(rng.integers(0, 2))
        return rd.max(x, axis=axis), a.max(axis=axis)
    if kind == 4 and n and m:
        return rd.mean(x, axis=0), a.mean(axis=0)
    if kind == 5:
        return rd.count_nonzero(x), a.count_nonzero()
    if kind == 6:
        d = rng.integers(-3, 4, (n, m)).astype("f8")
        return x + rd.asarray(d), a + d
    return x, a


@pytest.mark.parametrize("part", range(5))
def test_random_programs(part):
    rng = np.random.default_rng(part)
    for _ in range(100):
        n, m = rng.integers(0, 9, 2)
        a = some(rng, n, m, "f8", rng.choice(FORMATS))
        x = rd.asarray(a)
        for _ in range(rng.integers(0, 5)):
            x, a = one_step(rng, x, a)
        if x.is_sparse and rng.random() < 0.3:
            np.testing.assert_allclose(x.to_scipy(rng.choice(FORMATS)).toarray(), dense(a), rtol=1e-13, atol=1e-13)
        same(*last_step(rng, x, a))


def test_patterns_that_come_and_go():
    """Memory of a pattern that was freed is used again: what was kept of the old one must not be."""
    rng = np.random.default_rng(9)
    for k in range(300):
        a = sp.random_array((50, 400), density=0.05, format=FORMATS[k % 3], rng=rng)
        if k % 5 == 0:  # one long row, which is cut into pieces
            a = a.tolil()
            a[7] = 1.0
            a = a.tocsr()
        x = rd.asarray(a)
        v = rng.random(400)
        same((x + x) @ rd.asarray(v), 2 * (a @ v))
        same(rd.sum(x * 2, axis=1), 2 * a.sum(axis=1))


def test_products_of_arrays_that_are_gone():
    """Memory of one product's arrays becomes that of the next, which has as many places, and others."""
    n = 4
    for columns in ([0, 1, 2, 3], [1, 2, 3, 0], [3, 2, 1, 0], [2, 2, 2, 2]):
        one = sp.csr_array((np.ones(n), np.array(columns, "i4"), np.arange(n + 1, dtype="i4")), shape=(n, n))
        a = rd.asarray(one)
        assert np.array_equal((a @ a).compute(), (one @ one).toarray()), columns
        del one, a


def test_masks_with_wide_coordinates():
    n, rows = np.arange(5, dtype="i4"), np.arange(4)
    eye = rd.sparse.csr(np.ones(4), n[:4], n, (4, 4), stored=True)
    mask = rd.sparse.coo(np.array([1.0, 2, 3, 4]), rows, rows, (4, 4), stored=True)
    assert np.diag(((eye @ eye) * mask).compute()).tolist() == [1, 2, 3, 4]


def test_maps_of_three_patterns():
    c, x, y = np.array([[True], [False], [False]]), np.array([[0.0], [0], [4]]), np.array([[6.0], [5], [2]])
    got = rd.where(*(rd.asarray(sp.csr_array(a)) for a in (c, x, y))).compute()
    assert np.asarray(got).tolist() == np.where(c, x, y).tolist()
