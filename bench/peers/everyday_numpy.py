"""W12 in NumPy, as its users write it first."""
import warnings

import numpy as np
from common import MONTH_AXES, MONTHS, climate, index, sea, uniform

warnings.simplefilter("ignore")  # of slices that are all NaN


def logsumexp(x, axis, where=True, weights=1):
    m = x.max(axis, keepdims=True, where=where, initial=-np.inf)
    s = (weights * np.exp(x - m)).sum(axis, keepdims=True, where=where)
    return (m + np.log(s)).squeeze(axis)


def weighted_var(x, axis, w):
    mean = np.average(x, axis, w, keepdims=True)
    return np.average((x - mean) ** 2, axis, w)


def plain(peer, dtype, x, name, axis):
    peer("W12", "sum" + name, dtype, lambda: x.sum(axis))
    peer("W12", "mean" + name, dtype, lambda: x.mean(axis))
    peer("W12", "var" + name, dtype, lambda: x.var(axis))
    peer("W12", "max" + name, dtype, lambda: x.max(axis))
    peer("W12", "argmax" + name, dtype, lambda: x.argmax(axis))
    peer("W12", "lse" + name, dtype, lambda: logsumexp(x, axis))
    if axis is not None:
        peer("W12", "cumsum" + name, dtype, lambda: x.cumsum(axis))


def skip_nan(peer, dtype, x, name, axis):
    def argmax():
        at = np.where(np.isnan(x), -np.inf, x).argmax(axis)
        return np.where(np.isnan(x).all(axis), -1, at)

    peer("W12", f"sum{name}.skip_nan", dtype, lambda: np.nansum(x, axis))
    peer("W12", f"mean{name}.skip_nan", dtype, lambda: np.nanmean(x, axis))
    peer("W12", f"var{name}.skip_nan", dtype, lambda: np.nanvar(x, axis))
    peer("W12", f"max{name}.skip_nan", dtype, lambda: np.nanmax(x, axis))
    peer("W12", f"argmax{name}.skip_nan", dtype, argmax)
    peer("W12", f"lse{name}.skip_nan", dtype, lambda: logsumexp(x, axis, ~np.isnan(x)))
    if axis is not None:
        peer("W12", f"cumsum{name}.skip_nan", dtype, lambda: np.nancumsum(x, axis))


def where(peer, dtype, x, name, axis, form, mask):
    """mask() is the bool array, or makes it of a comparison."""
    peer("W12", f"sum{name}{form}", dtype, lambda: x.sum(axis, where=mask()))
    peer("W12", f"mean{name}{form}", dtype, lambda: x.mean(axis, where=mask()))
    peer("W12", f"var{name}{form}", dtype, lambda: x.var(axis, where=mask()))
    peer("W12", f"max{name}{form}", dtype, lambda: x.max(axis, where=mask(), initial=-np.inf))
    peer("W12", f"argmax{name}{form}", dtype, lambda: np.where(mask(), x, -np.inf).argmax(axis))
    peer("W12", f"lse{name}{form}", dtype, lambda: logsumexp(x, axis, mask()))
    if axis is not None:
        peer("W12", f"cumsum{name}{form}", dtype, lambda: np.where(mask(), x, 0).cumsum(axis))


def weights(peer, dtype, x, name, axis, w):
    peer("W12", f"mean{name}.weights", dtype, lambda: np.average(x, axis, w))
    peer("W12", f"var{name}.weights", dtype, lambda: weighted_var(x, axis, w))
    peer("W12", f"lse{name}.weights", dtype, lambda: logsumexp(x, axis, True, w))


def reducers(peer, dtype, x, name, axis):
    last = -1 if axis is None else axis
    peer("W12", "welford" + name, dtype, lambda: (x.mean(axis), x.var(axis)))
    peer("W12", "top3" + name, dtype, lambda: np.partition(x, -3, axis).take([-1, -2, -3], last))
    peer("W12", "geometric" + name, dtype, lambda: np.exp(np.log(x + 1).mean(axis)))


def masks(peer, dtype, t):
    x, land, mask = uniform(0, MONTHS, t), climate(MONTHS, t), sea(MONTHS)
    for name, axis in MONTH_AXES.items():
        n = {0: (480, 1, 1), 2: (180,), None: (90, 1)}[axis]
        w = np.broadcast_to(uniform(1, n, t), MONTHS)
        plain(peer, dtype, x, name, axis)
        skip_nan(peer, dtype, land, name, axis)
        where(peer, dtype, x, name, axis, ".where", lambda: mask)
        where(peer, dtype, x, name, axis, ".where_gt", lambda: x > 0.4)
        weights(peer, dtype, x, name, axis, w)
        reducers(peer, dtype, x, name, axis)


def others(peer, dtype, t):
    for n, d in ((10000, 3), (2000, 50)):
        x = uniform(0, (n, d), t)

        def nearest():
            s = x @ x.T
            s *= -2
            s += (x * x).sum(1)
            np.fill_diagonal(s, np.inf)
            return s.argmin(1)

        peer("W12", f"other{d}", dtype, nearest)


def groups(peer, dtype, t):
    x, label = uniform(0, (1000000,), t), index(1, 1000000, 10)
    rows, of = uniform(0, (100000, 16), t), index(1, 100000, 10)
    peer("W12", "group", dtype, lambda: np.bincount(label, x, 10) / np.bincount(label, minlength=10))
    peer("W12", "group16", dtype, lambda: np.stack([rows[of == k].mean(0) for k in range(10)]))


def takes(peer, dtype, t):
    x, months = uniform(0, (200000, 20), t), uniform(0, MONTHS, t)
    row, column, latitude = index(1, 200000, 200000), index(1, 10, 20), index(1, 45, 90)
    peer("W12", "take(0)", dtype, lambda: x.take(row, 0))
    peer("W12", "take(1)", dtype, lambda: x.take(column, 1))
    peer("W12", "take(1).3", dtype, lambda: months.take(latitude, 1))


def losses(peer, dtype, t):
    z, label = uniform(0, (50000, 100), t), index(1, 50000, 100)
    each, classes = np.arange(50000), np.arange(100)
    peer("W12", "loss.take", dtype, lambda: (logsumexp(z, 1) - z[each, label]).mean())
    peer("W12", "loss.onehot", dtype, lambda: (logsumexp(z, 1) - (z * (label[:, None] == classes)).sum(1)).mean())


def sums_of_vectors(peer, dtype, t):
    x, table = uniform(0, (4000, 3), t), uniform(0, (200000, 20), t)

    def force(potential):
        d = x[None] - x[:, None]
        e = np.exp(-(d ** 2).sum(2))
        f = (d * e[:, :, None]).sum(1)
        return (f, e.sum(1)) if potential else f

    def covariance():
        c = table - table.mean(0)
        return c.T @ c

    peer("W12", "force", dtype, lambda: force(False))
    peer("W12", "force+sum", dtype, lambda: force(True))
    peer("W12", "covariance", dtype, covariance)


def everyday(peer, dtype, t):
    for group in (masks, others, groups, takes, losses, sums_of_vectors):
        group(peer, dtype, t)
