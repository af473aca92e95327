"""What looks along an axis: slopes, convolutions, lines between points, fills, ranks, rolling and weighted medians."""
import numpy as np
import scipy.stats

from rows import ALL, COMPLEX, FLOATS, INTS, NUMBERS, Row, anything, at, axis, real_type, small

MODES = ("full", "same", "valid")
RANKS = ("average", "min", "max", "dense", "ordinal")


def along(random, arrays):
    return {"axis": axis(random, arrays[0])}


def sizes(random):
    """A shape without extents of 0, and a row."""
    return [tuple(int(n) for n in random.choice([1, 2, 3, 7, 40], random.integers(1, 4)))]


def greatest(x, **_):
    """Of the numbers that x has, beside each result: what cancels is no more than that."""
    finite = np.where(np.isfinite(x), abs(x.astype(complex if x.dtype.kind == "c" else float)), 0)
    return np.max(finite, initial=0)


# ---- Slopes ---------------------------------------------------------------------------------------------------------
def slope(random, arrays):
    return {**along(random, arrays), "order": int(random.integers(1, 3))}


def slope_at(random, arrays):
    made = slope(random, arrays)
    n = arrays[0].shape[made["axis"]] if -arrays[0].ndim <= made["axis"] < arrays[0].ndim else 1
    return {**made, "where": np.cumsum(random.uniform(0.5, 2, n)) * random.choice([-1, 1])}


def gradient(x, axis, order):
    at(axis, x)
    y = x.astype(np.longdouble) if x.dtype.kind in "iu" else x
    return np.gradient(y, axis=axis, edge_order=order).astype(real_type([x.dtype]) if x.dtype.kind in "iu" else y.dtype)


# ---- Convolutions ---------------------------------------------------------------------------------------------------
def shape_and_row(random):
    return sizes(random) + [(int(random.choice([1, 2, 3, 8, 9, 41])),)]


def mode(random, arrays):
    return {**along(random, arrays), "mode": int(random.integers(3))}


def by_row(f):
    def call(x, k, axis, mode):
        return np.apply_along_axis(lambda row: f(row, k, MODES[mode]), at(axis, x), x)
    return call


def products(x, k, axis, mode):
    return by_row(np.convolve)(abs(x).astype(float), abs(k).astype(float), axis, mode)


def correlated_products(x, k, axis, mode):
    return by_row(np.correlate)(abs(x).astype(float), abs(k).astype(float), axis, mode)


# ---- Between points -------------------------------------------------------------------------------------------------
def points(random, arrays):
    n = int(random.choice([2, 3, 10, 300]))
    return {"xp": np.sort(random.standard_normal(n) * 5), "fp": random.standard_normal(n),
            "down": bool(random.random() < 0.3)}


def our_lines(r, x, xp, fp, down):
    way = -1 if down else 1
    return r.interp(x, r.leaf(xp[::way].copy()), r.leaf(fp[::way].copy()), 0, None, None)


# ---- Fills ----------------------------------------------------------------------------------------------------------
def limit(random, arrays):
    return {**along(random, arrays), "limit": int(random.integers(4))}


def holes(random, shape, dtype):
    x = anything(random, shape, dtype)
    return np.where(random.random(shape) < 0.5, np.nan, x).astype(dtype) if dtype.kind == "f" else x


def filled(back):
    def call(x, axis, limit):
        y = np.moveaxis(x.copy(), at(axis, x), 0)
        y = y[::-1] if back else y
        age = np.zeros(y.shape[1:], int)
        for k in range(len(y)):
            nan = np.isnan(y[k])
            age = np.where(nan, age + 1, 0)
            if k:
                y[k] = np.where(nan & ((limit == 0) | (age <= limit)), y[k - 1], y[k])
        return np.moveaxis(y[::-1] if back else y, 0, at(axis, x))
    return call


# ---- Order ----------------------------------------------------------------------------------------------------------
def rank(random, arrays):
    return {**along(random, arrays), "method": int(random.integers(5))}


def few(random, shape, dtype):
    x = small(random, shape, dtype).round() if dtype.kind == "f" else small(random, shape, dtype)
    return np.where(random.random(shape) < 0.1, np.nan, x).astype(dtype) if dtype.kind == "f" else x


def ranks(x, axis, method):
    return scipy.stats.rankdata(x, RANKS[method], axis=at(axis, x), nan_policy="omit").astype(float)


def window(random, arrays):
    return {**along(random, arrays), "n": int(random.integers(0, 6))}


def medians(x, axis, n):
    a = at(axis, x)
    if n < 1:
        raise ValueError("no window")
    if n > x.shape[a]:
        return np.empty(x.shape[:a] + (0,) + x.shape[a + 1:], x.dtype if x.dtype.kind == "f" else float)
    return np.quantile(np.lib.stride_tricks.sliding_window_view(x, n, axis=a), 0.5, axis=-1)


def weighed(random, arrays):
    n = arrays[0].shape
    return {**along(random, arrays), "q": float(random.choice([0, 0.1, 0.5, 0.77, 1])),
            "w": random.integers(1, 5, n).astype(float)}


def our_weighted(r, x, axis, q, w):
    return r.quantile_by(x, q, r.keywords("rd_quantile_opts", dims=r.dims(axis), method=5, weights=r.leaf(w)))


# ---- Added at places ------------------------------------------------------------------------------------------------
def places(random, arrays):
    made = along(random, arrays)
    x = arrays[0]
    n = x.shape[made["axis"]] if -x.ndim <= made["axis"] < x.ndim else 1
    m = int(random.choice([1, 3, 50]))
    values = random.integers(-3, 4, [m if k == made["axis"] % x.ndim else e for k, e in enumerate(x.shape)])
    return {**made, "index": random.integers(-n, n, m), "values": values.astype(x.dtype)}


def added(x, axis, index, values):
    y = x.copy()
    np.add.at(y, (slice(None),) * at(axis, x) + (index,), values.astype(x.dtype))
    return y


# ---- Means by distance ----------------------------------------------------------------------------------------------
def decay(random, arrays):
    return {**along(random, arrays), "alpha": float(random.choice([0.01, 0.1, 0.5, 0.9])),
            "adjust": bool(random.random() < 0.7)}


def means(x, axis, alpha, adjust):
    y, total = np.moveaxis(x.astype(np.longdouble), at(axis, x), 0).copy(), 0
    weight = np.longdouble(0)
    for k in range(len(y)):
        nan = np.isnan(y[k])
        if adjust:
            total = total * (1 - np.longdouble(alpha)) + np.where(nan, 0, y[k])
            weight = weight * (1 - np.longdouble(alpha)) + ~nan
            y[k] = total / weight
        else:
            y[k] = y[k] * alpha + y[k - 1] * (1 - np.longdouble(alpha)) if k else y[k]
    return np.moveaxis(y, 0, at(axis, x)).astype(x.dtype if x.dtype.kind == "f" else float)


ROWS = [
    Row("gradient", lambda r, x, axis, order: r.gradient(x, r.int(1), axis, order), gradient, types=INTS[:4] + FLOATS,
        values=small, shapes=sizes, arguments=slope, ulps=4, scale=greatest),
    Row("gradient positions", lambda r, y, axis, order, where: r.gradient(y, r.leaf(where), axis, order),
        lambda y, axis, order, where: np.gradient(y, where.astype(y.dtype), axis=at(axis, y), edge_order=order),
        types=("float64",), values=small, shapes=sizes, arguments=slope_at, ulps=40, scale=greatest),
    Row("convolve", "convolve", by_row(np.convolve), operands=2, types=ALL + COMPLEX, also="first", values=small,
        shapes=shape_and_row, arguments=mode, ulps=8, scale=products, weight=2),
    Row("correlate", "correlate", by_row(np.correlate), operands=2, types=ALL + COMPLEX, also="first", values=small,
        shapes=shape_and_row, arguments=mode, ulps=8, scale=correlated_products, weight=2),
    Row("interp", our_lines, lambda x, xp, fp, down: np.interp(x.astype(float), xp, fp), types=NUMBERS,
        arguments=points, ulps=16, scale=lambda x, fp, **_: np.max(abs(fp)), exact="same"),
    Row("ffill", "ffill", filled(False), types=NUMBERS, values=holes, arguments=limit),
    Row("bfill", "bfill", filled(True), types=NUMBERS, values=holes, arguments=limit),
    Row("ranks", "ranks", ranks, types=NUMBERS, values=few, shapes=sizes, arguments=rank),
    Row("rolling_median", "rolling_median", medians, types=INTS + FLOATS, values=few, arguments=window, ulps=1,
        type=real_type),
    Row("weighted quantile", our_weighted, lambda x, axis, q, w: np.quantile(
        x, q, axis=at(axis, x), weights=w.astype(x.dtype if x.dtype.kind == "f" else float), method="inverted_cdf"),
        types=INTS + FLOATS[1:], values=few, shapes=sizes, arguments=weighed, type=real_type),
    Row("scatter_add", lambda r, x, axis, index, values: r.scatter_add(x, axis, r.leaf(index), r.leaf(values)), added,
        types=INTS + FLOATS, values=small, shapes=sizes, arguments=places, ulps=4,
        scale=lambda x, values, **_: abs(values.astype(float)).sum() + greatest(x)),
    Row("ewm_mean", "ewm_mean", means, types=INTS[:4] + FLOATS, values=few, arguments=decay, ulps=8, scale=greatest,
        exact="same"),
]
