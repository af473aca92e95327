"""The reductions of W12 that skip NaN and what is rolling in W14, in Bottleneck: one thread, one axis or all."""
import bottleneck
import numpy as np
from catalogue_numpy import SERIES
from common import MONTH_AXES, MONTHS, Peer, climate, uniform

peer = Peer("bottleneck")

if peer.wants("W12"):
    for dtype, t in (("f32", np.float32), ("f64", np.float64)):
        x = climate(MONTHS, t)
        for name, axis in MONTH_AXES.items():
            peer("W12", f"sum{name}.skip_nan", dtype, lambda: bottleneck.nansum(x, axis))
            peer("W12", f"mean{name}.skip_nan", dtype, lambda: bottleneck.nanmean(x, axis))
            peer("W12", f"var{name}.skip_nan", dtype, lambda: bottleneck.nanvar(x, axis))
            peer("W12", f"max{name}.skip_nan", dtype, lambda: bottleneck.nanmax(x, axis))
            if axis is None:  # it refuses slices that are all NaN
                peer("W12", f"argmax{name}.skip_nan", dtype, lambda: bottleneck.nanargmax(x, axis))

if peer.wants("W14"):
    for dtype, t in (("f32", np.float32), ("f64", np.float64)):
        x = uniform(0, (SERIES,), t)
        for n in (31, 500):
            peer("W14", f"rolling.mean{n}", dtype, lambda: bottleneck.move_mean(x, n))
            peer("W14", f"rolling.max{n}", dtype, lambda: bottleneck.move_max(x, n))
        square = uniform(0, (4096, 4096), t)
        for axis in (0, 1):
            peer("W14", f"order.median({axis})", dtype, lambda: bottleneck.median(square, axis))
