"""Functions and filters of W14 in SciPy."""
import numpy as np
import scipy.ndimage
import scipy.special
from catalogue_numpy import LABELLED, SERIES
from common import Peer, uniform

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
