"""The rows of pairs of points in KeOps, on the CPU, as it is built by default.  It compiles each formula when it first runs."""
import os
import sys

from common import POINTS, Peer, uniform

# KeOps and its compiler say what they do on stdout, which is for our lines.
lines = os.dup(1)
os.dup2(2, 1)
import numpy as np  # noqa: E402
import pykeops  # noqa: E402
from pykeops.numpy import LazyTensor  # noqa: E402

pykeops.set_verbose(False)
sys.stdout = os.fdopen(lines, "w")
peer = Peer("keops")


def pairs(x, y):
    return ((LazyTensor(x[:, None, :]) - LazyTensor(y[None])) ** 2).sum(-1)


def gauss(x, y, w):
    return ((-pairs(x, y)).exp() * LazyTensor(w[None])).sum(1)


def compiled(case, dtype, f):
    f()
    peer("W5", case, dtype, f)


def measure(dtype, t):
    for case, n in POINTS.items():
        if n > 10000 and dtype == "f64":
            continue
        x, y, w = uniform(0, (n, 3), t), uniform(1, (n, 3), t), uniform(2, (n, 1), t)
        compiled(case, dtype, lambda: gauss(x, y, w))
    for d in (3, 50):
        x, y = uniform(0, (10000, d), t), uniform(1, (10000, d), t)
        compiled(f"nn{d}", dtype, lambda: pairs(x, y).argmin(1))
        compiled(f"near{d}", dtype, lambda: pairs(x, y).Kmin_argKmin(5, dim=1))


if peer.wants("W5"):
    for dtype, t in (("f32", np.float32), ("f64", np.float64)):
        measure(dtype, t)
