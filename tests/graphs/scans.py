"""scans.py - steps of a random program: scans, whose element i is the reduction of elements 0 to i."""
import numpy as np

import kinds as K
from folds import left_out, so_far, sums
from kinds import LONG
from maps import REFUSED
from value import Value, cast


def scanned(name, x, axis, reverse, exclusive, mask=None, skip_nan=False, initial=None):
    """rd_scan_name().  mask broadcasts to x; of floats' extremes nothing so far is NaN."""
    if x.kind.letter == "c" or (mask is not None and mask.unsure is not None):
        return REFUSED
    if skip_nan and x.unsure is not None:  # what is left out is unsure, too
        return REFUSED
    turn = (lambda v: np.flip(v, axis)) if reverse else (lambda v: v)
    v = x.view(lambda a: np.moveaxis(turn(a), axis, -1))
    part = None
    if mask is not None:
        part = np.moveaxis(turn(np.broadcast_to(mask.lo, x.shape)), axis, -1)
    if skip_nan:
        part = ~np.isnan(v.lo) if part is None else part & ~np.isnan(v.lo)
    if name in ("min", "max"):
        y = extremes_so_far(name, v, exclusive, part, initial)
    else:
        y = scan_last(name, left_out(v if name != "count" else cast(v, K.BOOL), part, 1 if name == "prod" else 0),
                      exclusive)
    return y if y is REFUSED else y.view(lambda a: turn(np.moveaxis(a, -1, axis)))


def extremes_so_far(name, x, exclusive, part, initial):
    """initial is one more element in front, which exclusive scans need, and those of ints under a mask."""
    f, none = (np.minimum, np.inf) if name == "min" else (np.maximum, -np.inf)
    if initial is None and (exclusive or part is not None and not x.kind.bits):
        return REFUSED
    one = x.kind.memory.type(initial or 0) if not x.kind.bits else LONG(none if initial is None else initial)
    seen = None if part is None or initial is not None else so_far(part)
    x = left_out(x, part, one)
    unsure = x.unsure
    ends = [x.lo] if x.lo is x.hi else [x.lo, x.hi]
    if exclusive:
        ends, unsure = [behind(end, one) for end in ends], None if unsure is None else behind(unsure, False)
    ends = [f.accumulate(end if initial is None else f(end, one), -1) for end in ends]
    if seen is not None:
        ends = [np.where(seen, end, LONG(np.nan)) for end in ends]
    return Value(x.kind, ends[0], ends[-1].copy() if x.kind.bits else None, so_far(unsure))


def behind(x, identity):
    """Shifted by one, for exclusive scans."""
    return np.concatenate([np.full_like(x[..., :1], identity), x[..., :-1]], -1)


def scan_last(name, x, exclusive):
    """Of sums, products and counts, along the last axis."""
    kind = K.I64 if name == "count" else K.of_sum(x.kind)
    if name == "count":
        x, name = cast(cast(x, K.BOOL), K.I64), "sum"
    identity = 0 if name == "sum" else 1
    if exclusive:
        x = Value(x.kind, behind(x.lo, identity), behind(x.hi, identity) if x.lo is not x.hi else None,
                  None if x.unsure is None else behind(x.unsure, False),
                  x.raw and tuple(behind(r, identity) for r in x.raw))
    if not kind.bits:
        f = np.cumsum if name == "sum" else np.cumprod
        return Value(kind, f(cast(x, kind).lo, -1, dtype=kind.memory), None, so_far(x.unsure))
    if name == "prod":
        return REFUSED
    return sums(x, kind, along=np.cumsum)
