"""views.py - steps of a random program: views, and arrays made of others."""
import numpy as np

import kinds as K
from value import Value, cast

MODES = ("constant", "edge", "reflect", "symmetric", "wrap")


def of_axes(p, least=1):
    return p.operand(lambda x: x.ndim >= least)


def step(p, k, text, build, f, formula=None):
    p.take(text, (k,), build, p.value(k).view(f), formula)


def part_of(p, n):
    """One part of a slice: its text and NumPy's index."""
    chance = p.random.random()
    if chance < 0.25:
        return ":", slice(None)
    if chance < 0.4 and n:
        i = p.below(2 * n) - n
        return str(i), i
    start, stop = (None if p.chance(0.4) else p.below(2 * n + 3) - n - 1 for _ in range(2))
    by = p.one_of((None, 1, -1, 2, -2, 3))
    text = f"{'' if start is None else start}:{'' if stop is None else stop}" + ("" if by is None else f":{by}")
    return text, slice(start, stop, by)


def numbers(values):
    return "(" + ", ".join(map(str, values)) + ("," * (len(values) == 1)) + ")"


def sliced(p, k=None):
    k = of_axes(p) if k is None else k
    if k is None:
        return
    parts = [part_of(p, n) for n in p.value(k).shape]
    if p.chance(0.1):
        parts.insert(p.below(len(parts) + 1), ("new", None))
    text, index = ", ".join(t for t, _ in parts), tuple(i for _, i in parts)
    step(p, k, f"slice {text}", lambda r, x: r.slice(x, text), lambda v: v[index],
         "{0}[" + text.replace("new", "None") + "]")


def permuted(p):
    k = of_axes(p, 2)
    if k is not None:
        order = p.random.sample(range(p.value(k).ndim), p.value(k).ndim)
        step(p, k, f"permute {order}", lambda r, x: r.permute(x, r.ints(order)), lambda v: np.transpose(v, order),
             "permute({0}, " + numbers(order) + ")")


def broadcast(p):
    k = p.operand()
    shape = [p.one_of((1, 2, 3, 5)) if n == 1 else n for n in p.value(k).shape]
    shape = [p.one_of((1, 2, 3))] * p.below(2) + shape
    step(p, k, f"broadcast {shape}", lambda r, x: r.broadcast(x, r.ints(shape)), lambda v: np.broadcast_to(v, shape),
         "broadcast({0}, " + numbers(shape) + ")")


def flipped(p):
    k = of_axes(p)
    if k is not None:
        axes = tuple(p.random.sample(range(p.value(k).ndim), 1 + p.below(p.value(k).ndim)))
        step(p, k, f"flip {list(axes)}", lambda r, x: r.flip(x, r.dims(axes)), lambda v: np.flip(v, axes),
             "flip({0}, axis=" + numbers(axes) + ")")


def diagonal(p):
    k = of_axes(p, 2)
    if k is not None:
        a, b = p.random.sample(range(p.value(k).ndim), 2)
        offset = p.below(5) - 2
        step(p, k, f"diagonal {a} {b} {offset}", lambda r, x: r.diagonal(x, a, b, offset),
             lambda v: np.diagonal(v, offset, a, b), f"diagonal({{0}}, {a}, {b}, {offset})")


def window(p):
    k = of_axes(p)
    if k is None:
        return
    axis = p.below(p.value(k).ndim)
    n, by = 1 + p.below(4), 1 + p.below(2)
    if p.value(k).shape[axis] < n:
        return
    at = (slice(None),) * axis + (slice(None, None, by),)
    step(p, k, f"window {axis} {n} {by}", lambda r, x: r.window(x, axis, n, by),
         lambda v: np.lib.stride_tricks.sliding_window_view(v, n, axis)[at], f"window({{0}}, {n}, {by}, {axis})")


def reshaped(p):
    k = p.operand()
    n, shape = p.value(k).size, []
    while n > 1 and len(shape) < 3:
        d = p.one_of([d for d in range(2, n + 1) if n % d == 0])
        shape.append(d)
        n //= d
    shape.append(n)
    p.random.shuffle(shape)
    step(p, k, f"reshape {shape}", lambda r, x: r.reshape(x, r.ints(shape)), lambda v: v.reshape(shape),
         "reshape({0}, " + numbers(shape) + ")")


def expanded(p):
    k = p.operand()
    axis = p.below(p.value(k).ndim + 1)
    step(p, k, f"expand {axis}", lambda r, x: r.expand(x, axis), lambda v: np.expand_dims(v, axis),
         f"expand({{0}}, {axis})")


def taken(p):
    k = of_axes(p)
    if k is None or not p.value(k).size:
        return
    axis = p.below(p.value(k).ndim)
    n = p.value(k).shape[axis]
    shape = tuple(p.one_of((1, 2, 3, 5)) for _ in range(p.below(3)))
    at = p.leaf(p.one_of((K.I64, K.I32, K.I8 if n < 100 else K.I16)), shape,
                lambda size: p.numbers.integers(-n, n, size))
    index = p.value(at).lo.astype(np.int64)
    x = p.value(k)
    p.take(f"take along {axis}", (k, at), lambda r, x, at: r.take(x, axis, at),
           x.view(lambda v: np.take(v, index, axis)), f"take({{0}}, {{1}}, {axis})")


def joined(p):
    k = of_axes(p)
    if k is None:
        return
    shape = p.value(k).shape
    axis = p.below(len(shape))
    other = p.operand(lambda x: x.ndim == len(shape) and all(
        a == axis or n == m for a, (n, m) in enumerate(zip(x.shape, shape))))
    if other is None:
        return
    x, y = p.value(k), p.value(other)
    kind = K.promoted(x.kind, y.kind)
    x, y = cast(x, kind), cast(y, kind)
    lo = np.concatenate([x.lo, y.lo], axis)
    hi = lo if x.lo is x.hi and y.lo is y.hi and kind.letter != "c" else np.concatenate([x.hi, y.hi], axis)
    unsure = np.concatenate([np.zeros(v.shape, bool) if v.unsure is None else v.unsure for v in (x, y)], axis)
    p.take(f"concat {axis}", (k, other), lambda r, a, b: r.concat(axis, r.exprs([a, b])), Value(kind, lo, hi, unsure),
           f"concat(({{0}}, {{1}}), {axis})")


def padded(p):
    k = of_axes(p)
    if k is None:
        return
    x = p.value(k)
    axis, mode, before, after = p.below(x.ndim), p.below(5), p.below(4), p.below(4)
    if mode and x.shape[axis] < (2 if mode == 2 else 1):
        return
    widths = [(before, after) if a == axis else (0, 0) for a in range(x.ndim)]
    step(p, k, f"pad {axis} {before} {after} {MODES[mode]}", lambda r, x: r.pad(x, axis, before, after, mode, None),
         lambda v: np.pad(v, widths, MODES[mode]), f"pad({{0}}, {before}, {after}, axis={axis}, mode={MODES[mode]})")


def rolled(p):
    k = of_axes(p)
    if k is not None:
        axis, shift = p.below(p.value(k).ndim), p.below(13) - 6
        step(p, k, f"roll {axis} {shift}", lambda r, x: r.roll(x, axis, shift), lambda v: np.roll(v, shift, axis),
             f"roll({{0}}, {shift}, {axis})")


def repeated(p):
    k = of_axes(p)
    if k is not None:
        axis, times = p.below(p.value(k).ndim), p.below(3) + (0 if p.chance(0.1) else 1)
        step(p, k, f"repeat {axis} {times}", lambda r, x: r.repeat(x, axis, times), lambda v: np.repeat(v, times, axis),
             f"repeat({{0}}, {times}, {axis})")


def triangle(p):
    k = p.operand(lambda x: x.ndim >= 2 and x.kind.letter != "c")
    if k is not None:
        name, at = p.one_of(("tril", "triu")), p.below(5) - 2
        step(p, k, f"{name} {at}", lambda r, x: getattr(r, name)(x, at), lambda v: getattr(np, name)(v, at),
             f"{name}({{0}}, {at})")


VIEWS = (sliced, sliced, sliced, permuted, permuted, broadcast, flipped, diagonal, window, reshaped, reshaped, expanded,
         taken, joined, joined, padded, padded, rolled, repeated, triangle)
