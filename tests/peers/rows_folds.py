"""Reductions and scans of core/reducers.def, with their keywords."""
import numpy as np
import scipy.special as sp

from rows import ALL, FLOATS, INTS, NUMBERS, UNSIGNED, BOOL, Row, anything, axes, axis, keeping, reduced, small


# ---- Keywords: (random, arrays) -> dict ------------------------------------------------------------------------------
def which(random, arrays):
    """Axes, and whether they stay."""
    return {"axis": axes(random, arrays[0]), "keepdims": bool(random.random() < 0.3)}


def with_ddof(random, arrays):
    return {**which(random, arrays), "ddof": int(random.integers(0, 3))}


def along(random, arrays):
    return {"axis": axis(random, arrays[0]), "exclusive": bool(random.random() < 0.3),
            "reverse": bool(random.random() < 0.3)}


# ---- Bounds of sums: of what all elements come to without their signs, ulps per doubling of their number -----------
def total(x, axis=None, keepdims=False, **_):
    return np.sum(abs(x.astype(float)), axis, keepdims=keepdims)


def average(x, axis=None, keepdims=False, **_):
    return np.mean(abs(x.astype(float)), axis, keepdims=keepdims)


def running(x, axis, **_):
    return np.broadcast_to(np.sum(abs(x.astype(float)), axis, keepdims=True), x.shape)


def fold(name, theirs, types=ALL, arguments=which, **more):
    return Row(name, name, theirs, types=types, arguments=arguments, **more)


def masked(name, theirs, types=NUMBERS, **more):
    """The second operand is a mask."""
    return Row(f"{name} where", lambda r, x, mask, **k: getattr(r, name)(x, where=mask, **k),
               lambda x, mask, axis, keepdims: theirs(x, axis=axis, keepdims=keepdims, where=np.broadcast_to(
                   mask, x.shape)), operands=2, types=types, also=BOOL, arguments=which, shapes=beside, **more)


def skipping(name, theirs, **more):
    return Row(f"{name} skip_nan", lambda r, x, **k: getattr(r, name)(x, skip_nan=True, **k), theirs, types=FLOATS,
               arguments=which, **more)


def beside(random):
    """A shape, and one that broadcasts to it."""
    shape = tuple(int(n) for n in random.choice([1, 2, 3, 5, 70], random.integers(1, 4)))
    return [shape, tuple(n if random.random() < 0.7 else 1 for n in shape)[random.integers(0, len(shape)):]]


def near_one(random, shape, dtype):
    """Floats whose products stay in the range, whatever their order."""
    x = small(random, shape, dtype)
    return x if dtype.kind != "f" else random.choice([-1, 1], shape) * random.uniform(0.97, 1.03, shape)


def positive_freedom(f):
    """NaN where NumPy divides by 0 or less."""
    def call(x, axis=None, keepdims=False, ddof=0):
        y = f(x, axis, keepdims=keepdims, ddof=ddof)
        return y if reduced(x, axis).shape[-1] > ddof else y * np.nan
    return call


def first_of(f):
    return keeping(lambda x: f(x, axis=-1))


def place(f):
    """Of no result nothing is refused."""
    return lambda x: f(x, -1) if x.shape[-1] or 0 not in x.shape[:-1] else np.empty(x.shape[:-1], int)


def norm(p):
    return keeping(lambda x: np.linalg.norm(x, p, axis=-1) if x.shape[-1] else np.zeros(x.shape[:-1], x.dtype))


def skewness(x):
    with np.errstate(all="ignore"):
        d = x - x.mean(-1, keepdims=True)
        return (d**3).mean(-1) / (d**2).mean(-1) ** 1.5


def kurtosis(x):
    with np.errstate(all="ignore"):
        d = x - x.mean(-1, keepdims=True)
        return (d**4).mean(-1) / (d**2).mean(-1) ** 2 - 3


def covariance(x, y, axis=None, keepdims=False, ddof=0):
    x, y = np.broadcast_arrays(x, y)
    d = (x - x.mean(axis, keepdims=True)) * (y - y.mean(axis, keepdims=True))
    n = reduced(x, axis).shape[-1]
    return d.sum(axis, keepdims=keepdims) / (n - ddof if n > ddof else np.nan)


def correlation(x, y, axis, keepdims):
    r = covariance(x, y, axis, keepdims)
    x, y = np.broadcast_arrays(x, y)
    return r / (x.std(axis, keepdims=keepdims) * y.std(axis, keepdims=keepdims))


def varied(random):
    """Long enough that no spread is a rounding of 0."""
    shape, other = beside(random)
    return [(70, *shape), (70, *shape) if random.random() < 0.5 else (70,) + shape]


def three_alike(random):
    return [beside(random)[0]] * 3


def above_0(random, shape, dtype):
    return abs(small(random, shape, dtype)) + dtype.type(1)


def positions(random):
    shape, _ = beside(random)
    return [shape, shape if random.random() < 0.5 else shape[-1:]]


def last_number(x):
    """From behind, the first that is a number."""
    if not x.shape[-1] and x.size == 0 and 0 not in x.shape[:-1]:
        raise ValueError("no element")
    back = x[..., ::-1]
    at = np.argmax(~np.isnan(back), -1, keepdims=True) if x.shape[-1] else np.zeros(x.shape[:-1] + (1,), int)
    return np.take_along_axis(back, at, -1)[..., 0] if x.shape[-1] else np.empty(x.shape[:-1], x.dtype)


def weighted_mean(x, w, axis, keepdims):
    w = np.broadcast_to(w, x.shape)
    return np.sum(x * w, axis, keepdims=keepdims) / np.sum(w, axis, keepdims=keepdims)


def scanned(accumulate, identity):
    """A scan by NumPy's, exclusive and from the end by hand."""
    def call(x, axis, exclusive, reverse):
        y = np.moveaxis(x, axis, 0)
        y = accumulate(y[::-1] if reverse else y)
        if exclusive:
            y = np.concatenate([np.full_like(y[:1], identity), y[:-1]])
        return np.moveaxis(y[::-1] if reverse else y, 0, axis)
    return call


def so_far(f):
    """Element i is f of elements 0 to i."""
    def call(x, axis, exclusive, reverse):
        y = np.moveaxis(x, axis, 0)
        y = y[::-1] if reverse else y
        each = [f(y[: i + 1], axis=0) for i in range(len(y))]
        y = np.stack(each) if each else np.empty(y.shape, f(np.ones(1, x.dtype), axis=0).dtype)
        return np.moveaxis(y[::-1] if reverse else y, 0, axis)
    return call


def away_from_0(random, shape, dtype):
    """Neighbours are apart, so that no spread but the first is 0."""
    return (np.arange(int(np.prod(shape))) % 7 + 1).reshape(shape).astype(dtype)


inclusive = {"arguments": lambda *a: {**along(*a), "exclusive": False}}


def scan(name, theirs, **more):
    return Row(f"scan {name}", lambda r, x, **k: r.scan(name, x, **k), theirs,
               **{"types": NUMBERS, "arguments": along, **more})


def bits(ufunc, start):
    return keeping(lambda x: ufunc.reduce(x, -1) if x.shape[-1] else np.full(x.shape[:-1], start).astype(x.dtype))


ROWS = [
    fold("sum", np.sum, ulps=4, scale=total, weight=3),
    fold("prod", np.prod, ulps=300, values=near_one),
    fold("min", np.min, weight=2), fold("max", np.max),
    fold("argmin", keeping(place(np.argmin))), fold("argmax", keeping(place(np.argmax))),
    fold("any", np.any), fold("all", np.all), fold("count", first_of(np.count_nonzero)),
    fold("bits_and", bits(np.bitwise_and, -1), types=INTS), fold("bits_or", bits(np.bitwise_or, 0), types=INTS),
    fold("bits_xor", bits(np.bitwise_xor, 0), types=INTS),
    fold("mean", np.mean, ulps=4, scale=average, weight=2),
    fold("var", positive_freedom(np.var), ulps=60, arguments=with_ddof, values=small),
    fold("std", positive_freedom(np.std), ulps=60, arguments=with_ddof, values=small),
    fold("skewness", keeping(skewness), ulps=3000, values=small, real=True, scale=lambda x, **k: 1 + abs(keeping(
        skewness)(x, **k))),
    fold("kurtosis", keeping(kurtosis), ulps=3000, values=small, real=True, scale=lambda x, **k: 3 + abs(keeping(
        kurtosis)(x, **k))),
    Row("cov", "cov", covariance, operands=2, real=True, values=small, arguments=with_ddof, shapes=beside, ulps=100,
        scale=lambda x, y, **k: np.float64(9), also="same"),
    Row("corr", "corr", correlation, operands=2, types=FLOATS, values=small, arguments=which, shapes=varied, ulps=300,
        scale=lambda x, y, **k: np.float64(1), type=lambda types: np.result_type(*types)),
    Row("cov weights", lambda r, x, y, w, **k: r.cov(x, y, weights=w, **k), lambda x, y, w, axis, keepdims:
        weighted_mean((x - weighted_mean(x, w, axis, True)) * (y - weighted_mean(y, w, axis, True)), w, axis, keepdims),
        operands=3, types=FLOATS, also="first", arguments=which, values=above_0, ulps=300, shapes=three_alike,
        scale=lambda x, y, w, **k: np.float64(9), type=lambda types: types[0]),
    Row("trapezoid", "trapezoid", lambda y, x, axis: np.trapezoid(y, x, axis=axis), operands=2, types=FLOATS,
        also="first", shapes=positions, values=small, ulps=20, arguments=lambda random, arrays: {"axis": -1},
        scale=lambda y, x, axis: total(y, -1) * 9 + 1),
    Row("first", "first", keeping(lambda x: x[..., 0]), arguments=which),
    Row("last", "last", keeping(lambda x: x[..., -1]), arguments=which),
    Row("last skip_nan", lambda r, x, **k: r.last(x, skip_nan=True, **k), keeping(last_number), types=FLOATS,
        arguments=which),

    Row("norm 1", lambda r, x, **k: r.norm(x, p=1, **k), norm(1), arguments=which, real=True, ulps=8),
    Row("norm 2", "norm", norm(2), arguments=which, real=True, ulps=8, values=small),
    Row("norm inf", lambda r, x, **k: r.norm(x, p=np.inf, **k), norm(np.inf), arguments=which, real=True),
    fold("logsumexp", keeping(lambda x: sp.logsumexp(x, -1) if x.shape[-1] else np.full(x.shape[:-1], -np.inf,
         x.dtype)), ulps=16, real=True, values=small, exact=False, scale=lambda x, **k: 8 + total(x, **k) * 0),

    masked("sum", np.sum, ulps=4, scale=lambda x, mask, **k: total(x, **k)),
    masked("prod", np.prod, ulps=300, values=near_one), masked("any", np.any), masked("all", np.all),
    masked("mean", np.mean, ulps=4, scale=lambda x, mask, **k: abs(x).max(initial=1).astype(float)),
    masked("var", np.var, ulps=60, values=small, scale=lambda x, mask, **k: np.float64(9)),
    skipping("sum", np.nansum, ulps=4, scale=lambda x, **k: total(np.nan_to_num(x), **k)),
    skipping("prod", np.nanprod, ulps=300, values=near_one),
    Row("sum type", lambda r, x, **k: r.sum(x, type="float64", **k), lambda x, **k: np.sum(x, dtype=np.result_type(
        x.dtype, "float64"), **k), arguments=which, ulps=4, scale=total, type=lambda types: "float64"),
    Row("mean weights", lambda r, x, w, **k: r.mean(x, weights=w, **k), weighted_mean, operands=2, types=FLOATS,
        also="same", arguments=which, shapes=beside, values=lambda random, shape, dtype: abs(small(
            random, shape, dtype)) + dtype.type(1), ulps=300, type=lambda types: types[0]),
    Row("min initial", lambda r, x, **k: r.min(x, initial=r.int(1), **k), lambda x, **k: np.min(x, initial=1, **k),
        arguments=which, types=NUMBERS),

    scan("sum", lambda *a, **k: scanned(lambda y: np.cumsum(y, 0), 0)(*a, **k), types=ALL, ulps=16, scale=running,
         weight=2),
    scan("prod", scanned(lambda y: np.cumprod(y, 0), 1), ulps=300, values=near_one),
    scan("min", scanned(np.minimum.accumulate, 0), arguments=lambda *a: {**along(*a), "exclusive": False}),
    scan("max", scanned(np.maximum.accumulate, 0), arguments=lambda *a: {**along(*a), "exclusive": False}),
    scan("any", scanned(np.logical_or.accumulate, False), types=ALL),
    scan("all", scanned(np.logical_and.accumulate, True), types=ALL),
    scan("count", scanned(lambda y: np.cumsum(y != 0, 0), 0), types=ALL),
    scan("mean", so_far(np.mean), types=ALL, ulps=16, scale=running, **inclusive),
    scan("var", so_far(np.var), ulps=200, values=small, scale=lambda x, **k: np.float64(9), real=True, **inclusive),
    scan("std", so_far(np.std), ulps=200, values=away_from_0, real=True, **inclusive),
    scan("norm", so_far(lambda x, axis: np.sqrt(np.sum(x * x, axis))), ulps=16, values=small, real=True, **inclusive),
    scan("logsumexp", scanned(np.logaddexp.accumulate, -np.inf), types=FLOATS, ulps=64, values=small,
         scale=lambda x, **k: np.float64(9)),
    scan("bits_and", scanned(np.bitwise_and.accumulate, -1 % 2**8), types=("uint8",)),
    scan("bits_or", scanned(np.bitwise_or.accumulate, 0), types=INTS),
    scan("bits_xor", scanned(np.bitwise_xor.accumulate, 0), types=INTS),
]
