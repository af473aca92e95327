"""folds.py - steps of a random program: reductions, by label, products.

Sums in rdim add by a tree of positions.  Whatever its form, the error of one is at most (steps) u times the sum of
absolute values (Higham, Accuracy and Stability, 4.2), where steps are the additions that an element goes through: n - 1
at most, and with blocks of 64 elements of 64 lanes 64 + 6 + log2 n.
"""
import numpy as np

import kinds as K
from kinds import LONG
from maps import REFUSED, complex_value
from value import Value, cast, either, finish

BLOCK = 80


def steps(n, serial=False):
    return n if serial else min(n, BLOCK + int(np.ceil(np.log2(max(n, 1)))))


def last(x, axes):
    """x with the axes to be reduced as one, the last."""
    kept = [a for a in range(x.ndim) if a not in axes]
    n = int(np.prod([x.shape[a] for a in axes], dtype=int))
    shape = [x.shape[a] for a in kept]
    return x.view(lambda v: np.transpose(v, kept + sorted(axes)).reshape(shape + [n]))


def finite(x):
    return np.where(np.isfinite(x), x, 0)


def left_out(x, mask, identity):
    """x with a number in place of what a mask leaves out."""
    if mask is None:
        return x
    lo = np.where(mask, x.lo, identity)
    return Value(x.kind, lo, lo if x.lo is x.hi and x.kind.letter != "c" else
                 np.where(mask, x.hi, 0 if x.kind.letter == "c" else identity),
                 None if x.unsure is None else x.unsure & mask,
                 x.raw and tuple(np.where(mask, r, identity) for r in x.raw))


def total(x, kind, n=None, serial=False, along=np.sum, axis=-1):
    """A sum along the last axis, or those so far: the exact interval of each, and what it is off by."""
    u = LONG(2.0) ** -K.work(kind).bits
    lo = along(x.lo, axis)
    hi = lo if x.lo is x.hi else along(x.hi, axis)
    mag = along(finite(x.largest()), axis)
    return lo, hi, mag * u * steps(x.shape[axis] if n is None else n, serial), mag > kind.largest / 4


def sums(x, kind, **more):
    """A sum of floats."""
    x = cast(x.hull(), kind)
    lo, hi, error, lost = total(x, kind, **more)
    unsure = unsure_of(x) if more.get("along", np.sum) is np.sum else so_far(x.unsure)
    y, _ = finish(kind, lo, hi, either(lost, unsure), slack=error)
    y.lo, y.hi = np.where(y.lo == 0, LONG(-0.0), y.lo), np.where(y.hi == 0, LONG(0), y.hi)
    return y


def so_far(mask):
    return None if mask is None else np.logical_or.accumulate(mask, -1)


def unsure_of(x):
    return None if x.unsure is None else x.unsure.any(-1)


def sum_(x, mask, o):
    kind = K.of_sum(x.kind)
    x = left_out(x, mask, 0)
    if kind.letter == "c":
        eps = np.finfo(kind.memory).eps
        x = cast(x, kind)
        return complex_value(kind, x.lo.sum(-1), x.hi.sum(-1) + 2 * steps(x.shape[-1]) * eps * np.abs(x.lo).sum(-1),
                             Value(K.BOOL, x.lo.sum(-1) == 0, None, unsure_of(x)))
    if kind.bits:
        return sums(x, kind, serial=o.get("accuracy") == 3)
    return Value(kind, cast(x, kind).lo.sum(-1, dtype=kind.memory), None, unsure_of(x))


def mean(x, mask, o):
    if x.kind.letter == "c":
        return REFUSED
    kind = K.of_function(x.kind)
    n = LONG(x.shape[-1]) if mask is None else mask.sum(-1).astype(LONG)
    x = cast(left_out(x.hull(), mask, 0), kind)
    lo, hi, error, lost = total(x, kind, serial=o.get("accuracy") == 3)
    error = error + np.maximum(abs(lo), abs(hi)) * LONG(2.0) ** (1 - K.work(kind).bits)
    return finish(kind, lo / n, hi / n, either(lost, unsure_of(x)), slack=finite(error / n))[0]


def prod(x, mask, o):
    kind = K.of_sum(x.kind)
    if x.kind.letter == "c" or (x.kind.bits and not x.exact):
        return REFUSED
    x = left_out(x, mask, 1)
    if not kind.bits:
        return Value(kind, cast(x, kind).lo.prod(-1, dtype=kind.memory), None, unsure_of(x))
    y, size = x.lo.prod(-1), np.abs(x.lo)
    u = LONG(2.0) ** -K.work(kind).bits
    w = K.work(kind)
    lost = (np.where(np.isfinite(size), np.maximum(size, 1), 1).prod(-1) > w.largest / 4) | (
        np.where(size > 0, np.minimum(size, 1), 1).prod(-1) < LONG(2.0) ** (w.least + w.bits + 2))
    return finish(kind, y, y.copy(), lost, slack=finite(np.abs(y)) * u * x.shape[-1])[0]


def extreme(which):
    f, none = (np.min, np.inf) if which == "min" else (np.max, -np.inf)

    def call(x, mask, o):
        if x.kind.letter == "c":
            return REFUSED
        n = x.shape[-1]
        if not x.kind.bits:
            return REFUSED if mask is not None or not n else Value(x.kind, f(x.lo, -1), None, unsure_of(x))
        if not n:
            return REFUSED
        if mask is not None:
            x = left_out(x, mask, LONG(none))
        lo, hi = f(x.lo, -1), f(x.hi, -1)
        if mask is not None:  # of nothing that is left, the first value, or NaN
            lo, hi = (np.where(mask.any(-1), y, LONG(np.nan if o.get("initial") is None else none)) for y in (lo, hi))
        return Value(x.kind, lo, hi.copy(), unsure_of(x))
    return call


def place(which):
    def call(x, mask, o):
        if x.kind.letter == "c" or (x.kind.bits and not x.exact) or not x.shape[-1] or mask is not None:
            return REFUSED
        return Value(K.I64, np.asarray(getattr(np, which)(x.lo, -1)).astype(np.int64), None, unsure_of(x))
    return call


def truth(which):
    def call(x, mask, o):
        x = cast(x, K.BOOL)
        lo = x.lo if mask is None else np.where(mask, x.lo, which == "all")
        if which == "count":
            return Value(K.I64, np.asarray(lo.sum(-1, dtype=np.int64)), None, unsure_of(x))
        return Value(K.BOOL, getattr(np, which)(lo, -1), None, unsure_of(x))
    return call


def var(x, mask, o):
    """With (mean, sum of squares about it) as its state the error is (steps) u times a condition of
    sqrt(1 + mean^2 / var) (Chan, Golub, LeVeque 1983)."""
    if x.kind.letter == "c" or (x.kind.bits and not x.exact):
        return REFUSED
    kind = K.of_function(x.kind)
    x, n = cast(x, kind), LONG(x.shape[-1])
    if mask is not None:
        n = mask.sum(-1).astype(LONG)
    v = left_out(x, mask, LONG(0)).lo
    size = np.abs(finite(v)).max(-1, initial=0)
    m = v.sum(-1) / np.where(n > 0, n, np.nan)
    d = v - m[..., None]
    if mask is not None:
        d = np.where(mask, d, 0)
    free = n - o.get("ddof", 0)
    y = np.where((free > 0) & (n > 0), np.square(d).sum(-1) / np.where(free > 0, free, 1), LONG(np.nan))
    c = LONG(2.0) ** -K.work(kind).bits * (steps(v.shape[-1]) + 8)
    spread = np.abs(d).max(-1, initial=0)
    error = finite((c * (y * 4 + 4 * np.sqrt(np.abs(y)) * size) + np.square(c * size) + c * spread * spread)
                   * np.where(free > 0, n / np.where(free > 0, free, 1), 1))
    error = np.where(np.isfinite(size), error, 0) + LONG(2.0) ** (K.work(kind).least + 2)
    lo, hi = np.where(np.isfinite(y), np.maximum(y - error, 0), y), np.where(np.isfinite(y), y + error, y)
    lost = (size > np.sqrt(K.work(kind).largest) / 64) & np.isfinite(v).all(-1)
    lost &= ~((y > 2 * K.work(kind).largest) & (size < K.work(kind).largest / 128))  # these are infinite
    if o["name"] == "std":
        lo, hi = np.sqrt(lo), np.sqrt(hi)
    return finish(kind, lo, hi, either(lost, unsure_of(x)), ulps=2)[0]


def norm(x, mask, o):
    """The p-th root of a sum; of elements that are exact."""
    if x.kind.letter == "c" or (x.kind.bits and not x.exact):
        return REFUSED
    kind = K.of_function(x.kind)
    v, p = np.abs(left_out(cast(x, kind), mask, LONG(0)).lo), o.get("p", 2.0)
    n, top, w = v.shape[-1], finite(v).max(-1, initial=0), K.work(kind)
    if p == np.inf:
        y, error = v.max(-1, initial=0), None
    else:
        y = v.sum(-1) if p == 1 else np.sqrt(np.square(v).sum(-1))
        error = finite(y) * LONG(2.0) ** -w.bits * (steps(n) + 2)
    far = (np.sqrt(w.largest) / (n + 1) < top) | ((top > 0) & (top < LONG(2.0) ** (w.least // 2 + w.bits)))
    lost = far & np.isfinite(y) if p == 2 else top > w.largest / (n + 1)
    return finish(kind, y, y.copy(), either(lost, unsure_of(x)), slack=error)[0]


def logsumexp(x, mask, o):
    """A number within 8 of the largest plus a logarithm; exp and log are off by an ulp."""
    if x.kind.letter == "c" or not x.shape[-1] or (x.kind.bits and not x.exact):
        return REFUSED
    kind = K.of_function(x.kind)
    v = left_out(cast(x, kind), mask, LONG(-np.inf)).lo
    top = v.max(-1)
    far = np.where(np.isfinite(top), top, 0)
    y = np.log(np.exp(v - far[..., None]).sum(-1)) + far
    y = np.where(np.isnan(v).any(-1), LONG(np.nan), y)
    size = np.maximum(np.abs(finite(far)), np.abs(finite(y))) + 8
    error = LONG(2.0) ** -K.work(kind).bits * (steps(x.shape[-1]) + 4 + 2 * size)
    return finish(kind, y, y.copy(), either(finite(np.abs(v)).max(-1) > kind.largest / 4, unsure_of(x)), slack=error)[0]


REDUCERS = {"sum": sum_, "mean": mean, "prod": prod, "min": extreme("min"), "max": extreme("max"), "var": var,
            "std": var, "norm": norm, "logsumexp": logsumexp, "argmin": place("argmin"),
            "argmax": place("argmax"), "any": truth("any"), "all": truth("all"),
            "count": truth("count")}


def reduced(name, x, axes, keepdims, mask=None, skip_nan=False, initial=None, **options):
    """rd_reduce_name().  mask broadcasts to x; initial is a number."""
    if mask is not None and mask.unsure is not None:
        return REFUSED
    v = last(x, axes)
    part = None
    if mask is not None:
        part = last(Value(K.BOOL, np.broadcast_to(mask.lo, x.shape)), axes).lo
    if skip_nan:
        if x.kind.letter == "c":
            return REFUSED
        number = ~np.isnan(v.lo) if v.kind.bits else np.ones(v.shape, bool)
        part = number if part is None else part & number
    y = REDUCERS[name](v, part, {**options, "name": name, "initial": initial})
    if y is REFUSED:
        return y
    if skip_nan and v.unsure is not None:  # what is left out is unsure, too
        y.unsure = either(y.unsure, v.unsure.any(-1))
    if initial is not None:
        y = began(name, y, initial)
    if keepdims and y is not REFUSED:
        y = y.view(lambda a: np.expand_dims(a, tuple(axes)))
    return y


def began(name, y, initial):
    """With one more element, of floats' sums and extremes."""
    if name in ("min", "max") and y.kind.bits:
        f = np.minimum if name == "min" else np.maximum
        return Value(y.kind, f(y.lo, LONG(initial)), f(y.hi, LONG(initial)), y.unsure)
    if name == "sum" and not y.kind.bits and y.kind.letter != "c":
        return Value(y.kind, y.lo + y.kind.memory.type(initial), None, y.unsure)
    return REFUSED


# ---- By label -------------------------------------------------------------------------------------------------------
def by_label(name, x, axes, label, groups, **options):
    """A reduction of each group, along an axis in place of the first reduced one."""
    parts = []
    for g in range(groups):
        y = reduced(name, x, axes, False, Value(K.BOOL, label.lo == g), **options)
        if y is REFUSED or (name == "sum" and y.kind.letter == "c"):
            return REFUSED
        parts.append(y)
    at = min(axes) if axes else x.ndim
    stack = [np.stack([getattr(y, end) for y in parts], at) for end in ("lo", "hi")]
    unsure = np.stack([np.zeros(y.shape, bool) if y.unsure is None else y.unsure for y in parts], at)
    return Value(parts[0].kind, stack[0], stack[1] if parts[0].kind.bits else None, unsure)


# ---- Products -------------------------------------------------------------------------------------------------------
def product(text, a, b, n):
    """A sum of products by einsum's text; n of them for each element."""
    kind = K.promoted(a.kind, b.kind)
    if kind.letter == "c" or kind is K.BOOL or a.unsure is not None or b.unsure is not None:
        return REFUSED
    a, b = cast(a, kind), cast(b, kind)
    exact = a.lo is a.hi and b.lo is b.hi  # what is near 0 times an infinity is anything
    if not exact and not all(np.isfinite(x.largest()).all() for x in (a, b)):
        return REFUSED
    if not kind.bits:
        return Value(kind, np.asarray(np.einsum(text, a.lo, b.lo, dtype=kind.memory)))
    if n == 0:  # NumPy's einsum of long double has left-over memory then
        zero = np.zeros(np.einsum(text, a.lo.astype(np.float64), b.lo.astype(np.float64)).shape, LONG)
        return Value(kind, zero, zero.copy())
    middle = [x.lo if x.lo is x.hi else (x.lo + x.hi) / 2 for x in (a, b)]
    apart = [np.zeros_like(x.lo) if x.lo is x.hi else finite(x.hi - x.lo) / 2 for x in (a, b)]
    size = [np.abs(finite(m)) for m in middle]
    y = np.asarray(np.einsum(text, *middle))
    mag = np.einsum(text, size[0] + apart[0], size[1] + apart[1])
    error = mag * LONG(2.0) ** -K.work(kind).bits * (steps(n) + 1) + (mag - np.einsum(text, *size)) + n * LONG(
        2.0) ** K.work(kind).least
    lost = np.asarray(mag > kind.largest / 4)
    return finish(kind, y, y.copy(), lost, slack=np.asarray(error))[0]
