"""W12 in PyTorch on the CPU, as its users write it first."""
import torch
from common import MONTH_AXES, MONTHS, climate, index, sea, uniform

ALL = (0, 1, 2)


def tensor(which, shape, t):
    return torch.from_numpy(uniform(which, shape, t))


def plain(peer, dtype, x, name, axis, form=""):
    """x is all elements, or those left with 0 in place of the others."""
    dims = ALL if axis is None else axis
    peer("W12", f"sum{name}{form}", dtype, lambda: x().sum(dims))
    if axis is not None:
        peer("W12", f"cumsum{name}{form}", dtype, lambda: x().cumsum(axis))


def greatest(peer, dtype, x, name, axis, form=""):
    """The others are -inf."""
    dims = ALL if axis is None else axis
    peer("W12", f"max{name}{form}", dtype, lambda: x().amax(dims))
    peer("W12", f"argmax{name}{form}", dtype, lambda: x().argmax(axis))
    peer("W12", f"lse{name}{form}", dtype, lambda: torch.logsumexp(x(), dims))


def moments(peer, dtype, x, mask, name, axis, form):
    dims = ALL if axis is None else axis

    def mean():
        m = mask()
        return torch.where(m, x, 0).sum(dims, keepdim=True) / m.sum(dims, keepdim=True)

    def var():
        m = mask()
        n = m.sum(dims, keepdim=True)
        center = torch.where(m, x, 0).sum(dims, keepdim=True) / n
        return torch.where(m, (x - center) ** 2, 0).sum(dims, keepdim=True) / n

    peer("W12", f"mean{name}{form}", dtype, mean)
    peer("W12", f"var{name}{form}", dtype, var)


def masked(peer, dtype, x, mask, name, axis, form):
    plain(peer, dtype, lambda: torch.where(mask(), x, 0), name, axis, form)
    greatest(peer, dtype, lambda: torch.where(mask(), x, -torch.inf), name, axis, form)
    moments(peer, dtype, x, mask, name, axis, form)


def weighted(peer, dtype, x, w, name, axis):
    dims = ALL if axis is None else axis

    def mean(v):
        return (v * w).sum(dims, keepdim=True) / w.expand(MONTHS).sum(dims, keepdim=True)

    peer("W12", f"mean{name}.weights", dtype, lambda: mean(x))
    peer("W12", f"var{name}.weights", dtype, lambda: mean((x - mean(x)) ** 2))
    peer("W12", f"lse{name}.weights", dtype, lambda: torch.logsumexp(x + w.log(), dims))


def reducers(peer, dtype, x, name, axis):
    dims = ALL if axis is None else axis
    peer("W12", "mean" + name, dtype, lambda: x.mean(dims))
    peer("W12", "var" + name, dtype, lambda: x.var(dims, unbiased=False))
    peer("W12", "welford" + name, dtype, lambda: torch.var_mean(x, dims, unbiased=False))
    peer("W12", "top3" + name, dtype, lambda: (x.flatten() if axis is None else x).topk(3, axis or 0))
    peer("W12", "geometric" + name, dtype, lambda: (x + 1).log().mean(dims).exp())


def masks(peer, dtype, t):
    x, land = tensor(0, MONTHS, t), torch.from_numpy(climate(MONTHS, t))
    mask = torch.from_numpy(sea(MONTHS))
    for name, axis in MONTH_AXES.items():
        n = {0: (480, 1, 1), 2: (180,), None: (90, 1)}[axis]
        plain(peer, dtype, lambda: x, name, axis)
        greatest(peer, dtype, lambda: x, name, axis)
        masked(peer, dtype, land, lambda: ~land.isnan(), name, axis, ".skip_nan")
        masked(peer, dtype, x, lambda: mask, name, axis, ".where")
        masked(peer, dtype, x, lambda: x > 0.4, name, axis, ".where_gt")
        weighted(peer, dtype, x, tensor(1, n, t), name, axis)
        reducers(peer, dtype, x, name, axis)


def others(peer, dtype, t):
    for n, d in ((10000, 3), (2000, 50)):
        x = tensor(0, (n, d), t)
        peer("W12", f"other{d}", dtype, lambda: torch.cdist(x, x).fill_diagonal_(torch.inf).argmin(1))


def groups(peer, dtype, t):
    x, label = tensor(0, (1000000,), t), torch.from_numpy(index(1, 1000000, 10))
    rows, of = tensor(0, (100000, 16), t), torch.from_numpy(index(1, 100000, 10))
    peer("W12", "group", dtype, lambda: torch.bincount(label, x) / torch.bincount(label))
    peer("W12", "group16", dtype,
         lambda: torch.zeros(10, 16, dtype=x.dtype).index_add_(0, of, rows) / torch.bincount(of)[:, None])


def takes(peer, dtype, t):
    x, months = tensor(0, (200000, 20), t), tensor(0, MONTHS, t)
    row, column, latitude = (torch.from_numpy(index(1, *n)) for n in ((200000, 200000), (10, 20), (45, 90)))
    peer("W12", "take(0)", dtype, lambda: x.index_select(0, row))
    peer("W12", "take(1)", dtype, lambda: x.index_select(1, column))
    peer("W12", "take(1).3", dtype, lambda: months.index_select(1, latitude))


def losses(peer, dtype, t):
    z, label = tensor(0, (50000, 100), t), torch.from_numpy(index(1, 50000, 100))
    peer("W12", "loss.take", dtype, lambda: torch.nn.functional.cross_entropy(z, label))
    peer("W12", "loss.onehot", dtype,
         lambda: (torch.logsumexp(z, 1) - (z * torch.nn.functional.one_hot(label, 100)).sum(1)).mean())


def sums_of_vectors(peer, dtype, t):
    x, table = tensor(0, (4000, 3), t), tensor(0, (200000, 20), t)

    def force(potential):
        d = x[None] - x[:, None]
        e = (-(d ** 2).sum(2)).exp()
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
