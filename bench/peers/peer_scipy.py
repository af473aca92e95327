"""Functions and filters of W14 in SciPy, and compressed rows of W13, by one thread."""
import numpy as np
import scipy.ndimage
import scipy.sparse
import scipy.special
from catalogue_numpy import LABELLED, SERIES
from common import Peer, patterns, uniform

peer = Peer("scipy")

if peer.wants("W14"):
    for dtype, t in (("f32", np.float32), ("f64", np.float64)):
        x = uniform(0, (LABELLED,), t)
        peer("W14", "sigmoid", dtype, lambda: scipy.special.expit(x))
        peer("W14", "erf", dtype, lambda: scipy.special.erf(x))
        peer("W14", "gelu", dtype, lambda: x * scipy.special.ndtr(x))
        x = uniform(0, (SERIES,), t)
        for n in (31, 500):
            peer("W14", f"rolling.mean{n}", dtype, lambda: scipy.ndimage.uniform_filter1d(x, n))
            peer("W14", f"rolling.max{n}", dtype, lambda: scipy.ndimage.maximum_filter1d(x, n))

for name, pos, crd, other in patterns() if peer.wants("W13") else ():
    n = len(pos) - 1
    for dtype, t in (("f32", np.float32), ("f64", np.float64)):
        a = scipy.sparse.csr_matrix((uniform(0, (len(crd),), t), crd, pos), shape=(n, n))
        links = scipy.sparse.csr_matrix((np.ones(len(crd), t), crd, pos), shape=(n, n))
        x, degree, columns = uniform(1, (n,), t), uniform(2, (n,), t), uniform(1, (n, 16), t)
        peer("W13", f"spmv.{name}", dtype, lambda: a @ x)
        peer("W13", f"spmv.turned.{name}", dtype, lambda: a.T @ x)
        peer("W13", f"spmm16.{name}", dtype, lambda: a @ columns)
        peer("W13", f"rowmax.{name}", dtype, lambda: a.max(axis=1))
        peer("W13", f"pagerank.{name}", dtype, lambda: t(0.85) * (links @ (x / degree)) + t(0.15 / n))
        if other:
            b = scipy.sparse.csr_matrix((uniform(1, (len(other[1]),), t), other[1], other[0]), shape=(n, n))
            peer("W13", f"times.new.{name}", dtype, lambda: a.multiply(b))
            peer("W13", f"plus.new.{name}", dtype, lambda: a + b)
        else:
            peer("W13", f"square.new.{name}", dtype, lambda: a @ a)
