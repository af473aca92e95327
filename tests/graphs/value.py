"""value.py - what NumPy says of an expression: for each element the least and the greatest number that is right.

A Value of floats is an interval for each element, in long double.  An operation of intervals is the hull of what it
makes of their ends, rounded to the type, and widened by the operation's own bound.  So a bound of a composition needs
no estimate of derivatives, and what an operation makes of exact operands, if it is rounded rightly, is one number.

Where NaN is right both ends are NaN.  Where an end decides between different answers (an int, a bool, NaN or a number)
the element is unsure, and nothing is compared there; a step that makes many such elements is not taken.
"""
import itertools

import numpy as np

import kinds as K
from kinds import LONG


def either(*masks):
    """The union of masks of which None is empty."""
    masks = [m for m in masks if m is not None]
    if not masks:
        return None
    result = masks[0]
    for m in masks[1:]:
        result = result | m
    return result if result.any() else None


class Value:
    """lo, hi: floats' intervals, one array if all are exact; others have their elements in both.
    raw: what a product was before it was rounded, as an addition may take it so.
    Complex numbers: lo are they, in NumPy's complex long double, and hi is how far off they may be."""
    __slots__ = ("kind", "lo", "hi", "unsure", "raw")

    def __init__(self, kind, lo, hi=None, unsure=None, raw=None):
        self.kind, self.lo, self.hi, self.raw = kind, lo, lo if hi is None else hi, raw
        if unsure is not None and not unsure.any():
            unsure = None
        self.unsure = None if unsure is None else np.broadcast_to(unsure, lo.shape)

    @property
    def shape(self):
        return self.lo.shape

    @property
    def ndim(self):
        return self.lo.ndim

    @property
    def size(self):
        return self.lo.size

    @property
    def exact(self):
        return self.lo is self.hi and self.unsure is None and self.kind.letter != "c"

    def view(self, f):
        """The same of a view; f takes an array."""
        lo = f(self.lo)
        return Value(self.kind, lo, lo if self.lo is self.hi else f(self.hi),
                     None if self.unsure is None else f(self.unsure),
                     self.raw and (f(self.raw[0]), f(self.raw[1])))

    def hull(self):
        """As an operand of an addition: a product may be not rounded."""
        if self.raw is None:
            return self
        return Value(self.kind, np.minimum(self.lo, self.raw[0]), np.maximum(self.hi, self.raw[1]), self.unsure)

    def largest(self):
        return np.maximum(np.abs(self.lo), np.abs(self.hi))


def with_signs(x):
    """An inexact value's ends where they are 0, so that both signs are between them."""
    if x.lo is x.hi and x.unsure is None:
        return x
    return Value(x.kind, np.where(x.lo == 0, LONG(-0.0), x.lo), np.where(x.hi == 0, LONG(0), x.hi), x.unsure)


def cast(x, kind):
    """rd_cast()."""
    if x.kind is kind:
        return x
    if kind.letter == "c":
        return to_complex(x, kind)
    if x.kind.letter == "c":
        sure = np.abs(x.lo) > x.hi
        return Value(kind, sure, None, either(x.unsure, ~sure & (x.hi > 0)))
    if kind.bits:
        if not x.kind.bits:
            return Value(kind, K.once(x.lo.astype(LONG), kind), None, x.unsure)
        lo = K.once(x.lo, kind)
        return Value(kind, lo, lo if x.lo is x.hi else K.once(x.hi, kind), x.unsure)
    if not x.kind.bits:
        return Value(kind, x.lo.astype(kind.memory), None, x.unsure)
    whole = K.U64 if kind.letter == "u" else K.I64  # ends that only wrap to the same int have others between them
    lo = to_int(x.lo, kind if kind is K.BOOL else whole)
    wide = lo != to_int(x.hi, kind if kind is K.BOOL else whole)
    if kind is K.BOOL and x.lo is not x.hi:
        wide = (x.lo <= 0) & (x.hi >= 0)
    return Value(kind, lo.astype(kind.memory), None, either(x.unsure, wide))


def to_int(x, kind):
    """Floats truncated, and cut to 64 bits; NaN is 0."""
    if kind is K.BOOL:
        return x != 0
    low, high = (0, 2**64 - 1) if kind.letter == "u" else (-2**63, 2**63 - 1)
    x = np.clip(np.trunc(np.where(np.isnan(x), LONG(0), x)), LONG(low), LONG(high))
    if kind.letter == "u":
        upper = x >= LONG(2**63)
        x = np.where(upper, x - LONG(2**63), x).astype(np.uint64) + np.where(upper, np.uint64(2**63), np.uint64(0))
    else:
        x = np.where(x >= LONG(2**63), LONG(2**63 - 1), x).astype(np.int64)
    return x


def to_complex(x, kind):
    if x.kind.letter == "c":
        part = np.float32 if kind is K.C64 else np.float64
        narrow = x.kind is not kind
        error = x.hi + (np.abs(x.lo) * np.finfo(part).eps + np.finfo(part).smallest_subnormal if narrow else 0)
        lost = None if x.kind is kind else ~(np.abs(x.lo) < float(np.finfo(part).max) / 4)
        return Value(kind, x.lo, error, either(x.unsure, lost))
    part = cast(x, K.F32 if kind is K.C64 else K.F64)
    lost = ~np.isfinite(part.lo) | ~np.isfinite(part.hi)
    return Value(kind, part.lo.astype(np.clongdouble), np.asarray(part.hi - part.lo), either(part.unsure, lost))


def operand(x):
    """Arrays between which x is: one if it is exact."""
    return (x.lo,) if x.lo is x.hi else (x.lo, x.hi)


def corners(f, *operands):
    """The hull of f over the ends of its operands, and where one end gives NaN and another does not."""
    made = [np.asarray(f(*ends)) for ends in itertools.product(*map(operand, operands))]
    unsure = either(*(np.broadcast_to(x.unsure, made[0].shape) for x in operands if x.unsure is not None))
    if len(made) == 1:
        return made[0], made[0], unsure
    nans = [np.isnan(y) for y in made]
    some, every = np.logical_or.reduce(nans), np.logical_and.reduce(nans)
    return np.fmin.reduce(made), np.fmax.reduce(made), either(unsure, some & ~every)


def finish(kind, lo, hi, unsure, ulps=0.5, slack=None):
    """A result of an operation: the exact interval, rounded; `ulps` is the operation's bound in units of what it is
    computed in, slack an absolute one."""
    one = lo is hi and ulps <= 0.5 and slack is None
    raw = lo, hi
    if ulps > 0.5 or slack is not None:
        w = K.work(kind)
        room = slack if slack is not None else 0
        if ulps > 0.5:
            room = room + LONG(ulps) * np.maximum(K.unit(lo, w), K.unit(hi, w))
        lo, hi = np.where(np.isfinite(lo), lo - room, lo), np.where(np.isfinite(hi), hi + room, hi)
    lo, hi = K.rounded(lo, kind), None if one else K.rounded(hi, kind)
    if not one:  # ends that say nothing: one is NaN, or all numbers are between them, and perhaps NaN
        unsure = either(unsure, (np.isnan(lo) != np.isnan(hi)) | (np.isneginf(lo) & np.isposinf(hi)))
    return Value(kind, lo, lo if one else hi, unsure), raw


# ---- The verdict ----------------------------------------------------------------------------------------------------
def vague(x):
    """Does a value say too little to be worth a step?"""
    if x.unsure is not None and x.unsure.mean() > 0.3:
        return True
    if x.kind.letter == "c":
        return bool((x.hi > 1e-2 * np.abs(x.lo) + 1e-30).mean() > 0.5)
    if not x.kind.bits or x.lo is x.hi or not x.size:
        return False
    return bool((x.hi - x.lo > max(0.02, 2.0 ** (5 - x.kind.bits)) * x.largest() + 1e-30).mean() > 0.3)


def wrong_at(x, found):
    """A mask of what is not as expected; `found` is memory of x's type."""
    if x.kind.letter == "c":
        wrong = ~(np.abs(found.astype(np.clongdouble) - x.lo) <= x.hi)
    elif not x.kind.bits:
        wrong = found != x.lo
    else:
        found = K.loaded(found, x.kind)
        wrong = ~((found >= x.lo) & (found <= x.hi)) & ~(np.isnan(found) & np.isnan(x.lo) & np.isnan(x.hi))
        if x.lo is x.hi:
            wrong |= (found == 0) & (x.lo == 0) & (np.signbit(found) != np.signbit(x.lo))
    return wrong if x.unsure is None else wrong & ~x.unsure
