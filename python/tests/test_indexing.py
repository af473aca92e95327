"""Keys of all kinds, beside NumPy: numbers, slices, None, ..., index arrays, masks."""

import random
import warnings

import pytest

import rdim as rd

np = pytest.importorskip("numpy")

HUGE = [2**62, -(2**63), 2**63, -(2**70), 2**80, 1 - 2**63]


def some_slice(rng, n):
    def bound():
        return rng.choice([None, None, rng.randint(-n - 3, n + 3), rng.choice(HUGE)])

    step = rng.choice([None, None, 1, -1, 2, -2, 3, -5, 2**62, -(2**62), 2**63 - 1, -(2**63), 2**70, -(2**70)])
    return slice(bound(), bound(), step)


def some_array(rng, n):
    shape = rng.choice([(), (1,), (2,), (3,), (2, 3), (1, 3), (2, 1), (0,), (2, 2, 3)])
    a = np.array([rng.randint(-n, n - 1) for _ in range(int(np.prod(shape)))], "i8").reshape(shape)
    a = (a % n).astype("u1") if rng.random() < 0.2 else a.astype(rng.choice(["i8", "i4", "i2"]))
    if rng.random() < 0.04 and a.size:
        a.flat[0] = n
    return rng.choice([a, a.tolist(), rd.asarray(a)])


def some_mask(rng, shape):
    if rng.random() < 0.04:
        shape = tuple(n + 1 for n in shape)
    mask = np.array([rng.random() < 0.5 for _ in range(int(np.prod(shape)))], bool).reshape(shape)
    return rng.choice([mask, rd.asarray(mask)])


def some_part(rng, shape, axis, arrays):
    """A part of a key, and how many axes it takes."""
    n = shape[axis] if axis < len(shape) else 3
    kind = rng.random() if arrays else 0.6 * rng.random()
    if kind < 0.15:
        return rng.randint(-max(n, 1), max(n, 1)), 1
    if kind < 0.4:
        return some_slice(rng, n), 1
    if kind < 0.5:
        return None, 0
    if kind < 0.55:
        return Ellipsis, 0
    if kind < 0.6:
        return np.int64(rng.randint(-max(n, 1), max(n, 1) - 1)), 1
    if kind < 0.85:
        return some_array(rng, max(n, 1)), 1
    if kind < 0.88 or axis >= len(shape):
        return rng.choice([True, False, np.bool_(True), np.bool_(False)]), 0
    mask = some_mask(rng, shape[axis : axis + rng.randint(1, 3)])
    return mask, mask.ndim


def some_key(rng, shape, arrays):
    parts, axis, most = [], 0, rng.randint(0, len(shape) + (rng.random() < 0.1))
    while axis < most and len(parts) < 8:
        part, taken = some_part(rng, shape, axis, arrays)
        parts.append(part)
        axis += taken
    return parts[0] if len(parts) == 1 and rng.random() < 0.3 else tuple(parts)


def of_numpy(key):
    if isinstance(key, tuple):
        return tuple(map(of_numpy, key))
    return key.compute() if isinstance(key, rd.Array) else key


def outcome(f):
    try:
        return f()
    except (IndexError, ValueError, DeprecationWarning) as error:
        return error


def same(x, want, got):
    """NumPy warns of indices outside where nothing is read, which may be an error or not."""
    if isinstance(want, DeprecationWarning):
        return True
    if isinstance(want, Exception):
        return isinstance(got, type(want)) or (not isinstance(got, Exception) and got.size == 0)
    return not isinstance(got, Exception) and got.shape == want.shape and np.array_equal(got, want)


@pytest.mark.parametrize("arrays", [False, True])
@pytest.mark.parametrize("seed", range(5))
def test_random_keys(arrays, seed):
    rng = random.Random(seed)
    errors = 0
    for _ in range(400):
        shape = tuple(rng.choice([0, 1, 1, 2, 3, 4, 5, 7]) for _ in range(rng.randint(0, 4)))
        x = np.arange(int(np.prod(shape)), dtype=rng.choice(["f8", "i4", "f4"])).reshape(shape)
        x = x.T if rng.random() < 0.3 else x
        key = some_key(rng, x.shape, arrays)
        with warnings.catch_warnings():
            warnings.simplefilter("error", DeprecationWarning)
            want = outcome(lambda: np.asarray(x[of_numpy(key)]))
        got = outcome(lambda: rd.asarray(x)[key].compute())
        errors += isinstance(want, Exception)
        assert same(x, want, got), f"shape {x.shape}, key {key!r}: {want!r} is wanted, it is {got!r}"
    assert errors < 200


@pytest.mark.parametrize("key", [1.0, "a", b"a", [0.5], {}, object(), np.array([1.0]), np.array(["a"]), (0, 1.5)])
def test_what_is_no_index(key):
    with pytest.raises(IndexError, match="index"):
        rd.asarray(np.zeros((3, 3)))[key]


def test_zero_step():
    with pytest.raises(ValueError):
        rd.asarray(np.zeros(3))[::0]


def test_indices_outside_are_found_when_elements_are_asked_for():
    x = rd.asarray(np.arange(4.0))
    y = x[np.array([0, 4])]
    assert y.shape == (2,)
    with pytest.raises(IndexError, match="4"):
        y.compute()
    with pytest.raises(IndexError):
        rd.asarray(np.zeros((1, 3)))[[5]]


def test_views_read_the_base_when_evaluated():
    base = np.arange(12.0).reshape(3, 4)
    y = rd.asarray(base)[1:, ::-1][[1, 0]]
    base[:] = 7
    assert (y.compute() == 7).all()
