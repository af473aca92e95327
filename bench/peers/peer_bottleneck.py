"""The reductions of W12 that skip NaN, in Bottleneck: one thread, one axis or all."""
import bottleneck
import numpy as np
from common import MONTH_AXES, MONTHS, Peer, climate

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
