"""W14 in NumPy, as its users write it."""
import numpy as np
from common import index, uniform

SERIES = 8388608
LABELLED = 10_000_000


def rolling_mean(x, n):
    s = np.cumsum(x, dtype=np.float64)
    s[n:] = s[n:] - s[:-n]
    return (s[n - 1:] / n).astype(x.dtype)


def complex_numbers(which, t):
    pairs = uniform(which, (4194304, 2), t)
    return pairs.view(np.complex64 if t is np.float32 else np.complex128)[:, 0]


def catalogue(peer, dtype, t):
    def row(case, f):
        peer("W14", case, dtype, f)

    drawn = np.random.Generator(np.random.Philox(1))
    row("random.uniform", lambda: drawn.random(SERIES, dtype=t))
    row("random.normal", lambda: drawn.standard_normal(SERIES, dtype=t))
    x = uniform(0, (SERIES,), t)
    for n in (31, 500):
        row(f"rolling.mean{n}", lambda: rolling_mean(x, n))
    row("rolling.max31", lambda: np.lib.stride_tricks.sliding_window_view(x, 31).max(1))
    y, z = complex_numbers(0, t), complex_numbers(1, t)
    row("complex.sum", lambda: y.sum())
    row("complex.dot", lambda: y @ z)
    row("complex.product", lambda: y * z)
    row("complex.abs", lambda: np.abs(y))
    x, y = uniform(0, (4096, 4096), t), uniform(1, (4096, 4096), t)
    for axis in (0, 1):
        row(f"order.median({axis})", lambda: np.median(x, axis))
        row(f"order.top10({axis})", lambda: np.partition(x, -10, axis).take(range(-10, 0), axis))
        row(f"order.sort({axis})", lambda: np.sort(x, axis))
    row("einsum3", lambda: x @ (y @ x[0]))
    x, both = x.ravel(), (x + y).ravel()
    row("cov", lambda: np.cov(x, both, ddof=0)[0, 1])
    x = uniform(0, (LABELLED,), t)
    row("sigmoid", lambda: 1 / (1 + np.exp(-x)))
    row("histogram256", lambda: np.histogram(x, 256, (0, 1)))
    for name, groups in (("10", 10), ("1000", 1000), ("1e6", 1000000)):
        label = index(1, LABELLED, groups)
        row("label.sum" + name, lambda: np.bincount(label, x, groups))
        if groups == 1000:
            row("label.count", lambda: np.bincount(label, minlength=groups))
