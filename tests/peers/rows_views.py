"""Views and rearrangements."""
import numpy as np

from rows import INTS, Row, at, axis


def along(random, arrays):
    return {"axis": axis(random, arrays[0])}


def element(random, arrays):
    a = axis(random, arrays[0])
    n = arrays[0].shape[a] if -arrays[0].ndim <= a < arrays[0].ndim else 1
    outside = arrays[0].size > 0  # NumPy takes any element of nothing
    return {"axis": a, "i": int(random.integers(-n - outside, max(n, 1) + outside))}


def parts(random, arrays):
    """Text of a slice, with NumPy's index."""
    shape, text, index = arrays[0].shape, [], []
    hole = random.random() < 0.3
    for n in shape:
        chance = random.random()
        if hole and chance < 0.2 and Ellipsis not in index:
            text.append("..."), index.append(Ellipsis)
        elif chance < 0.35:
            i = int(random.integers(-n - 1, n + 1))
            text.append(str(i)), index.append(i)
        else:
            bounds = [None if random.random() < 0.4 else int(random.integers(-n - 2, n + 3)) for _ in range(2)]
            step = int(random.choice([1, 1, 2, 3, -1, -2]))
            text.append(":".join("" if b is None else str(b) for b in [*bounds, step]))
            index.append(slice(*bounds, step))
        if random.random() < 0.15:
            text.append("new"), index.append(None)
    return {"text": ", ".join(text) or "...", "index": tuple(index)}


def bounds(random, arrays):
    made = along(random, arrays)
    n = max(arrays[0].shape, default=1)
    return {**made, "start": int(random.integers(-n - 1, n + 2)), "stop": int(random.integers(-n - 1, n + 2)),
            "step": int(random.choice([1, 2, -1, -3, 0], p=[0.4, 0.2, 0.2, 0.15, 0.05]))}


def slice_axis(x, axis, start, stop, step):
    return x[(slice(None),) * at(axis, x) + (slice(start, stop, step),)]


def order(random, arrays):
    chosen = [int(a) for a in random.permutation(arrays[0].ndim)]
    if random.random() < 0.05:
        chosen = chosen + [0] if random.random() < 0.5 else chosen[:-1] + chosen[:1]
    return {"order": chosen}


def other_shape(random, arrays):
    n, shape = arrays[0].size, []
    for p in (2, 3, 5, 7):
        while n and n % p == 0 and random.random() < 0.8:
            shape.append(p)
            n //= p
    shape = [int(k) for k in random.permutation(shape + [n])]
    if random.random() < 0.3:
        shape[int(random.integers(len(shape)))] = -1
    return {"shape": shape}


def indices(random, arrays):
    """Ints within the axis, of any shape."""
    made = along(random, arrays)
    if not -arrays[0].ndim <= made["axis"] < arrays[0].ndim:
        return {**made, "index": np.zeros(1, int)}
    n = max(arrays[0].shape[made["axis"]], 1)
    shape = tuple(int(k) for k in random.integers(0, 5, random.integers(0, 3)))
    return {**made, "index": random.integers(-n, n, shape).astype(str(random.choice(INTS[:4])))}


def take_along_indices(random, arrays):
    made = along(random, arrays)
    x = arrays[0]
    if not -x.ndim <= made["axis"] < x.ndim:
        return {**made, "index": np.zeros(1, int)}
    shape = list(x.shape)
    shape[made["axis"]] = int(random.integers(0, 4))
    n = max(x.shape[made["axis"]], 1)
    return {**made, "index": random.integers(-n, n, shape)}


def windows(random, arrays):
    return {**along(random, arrays), "n": int(random.integers(0, 5)), "step": int(random.integers(1, 4))}


def sliding(x, axis, n, step):
    a = at(axis, x)
    if n < 1:
        raise ValueError("no window")
    if n > x.shape[a]:
        return np.empty(x.shape[:a] + (0,) + x.shape[a + 1:] + (n,), x.dtype)
    return np.lib.stride_tricks.sliding_window_view(x, n, axis=a)[(slice(None),) * a + (slice(None, None, step),)]


def two_axes(random, arrays):
    return {"axis1": axis(random, arrays[0]), "axis2": axis(random, arrays[0]), "offset": int(random.integers(-3, 4))}


def some(random, arrays):
    x = arrays[0]
    chosen = random.permutation(x.ndim)[: random.integers(0, x.ndim + 1)]
    return {"axis": tuple(int(a) for a in chosen)}


def wider(random, arrays):
    x = arrays[0]
    shape = [int(n) if n != 1 or random.random() < 0.5 else 3 for n in x.shape]
    if random.random() < 0.05 and shape:
        shape[0] += 1
    return {"shape": [2] * int(random.integers(0, 2)) + shape}


def joinable(random):
    shape = [int(n) for n in random.choice([0, 1, 2, 3, 9], random.integers(1, 4))]
    joinable.axis = a = int(random.integers(len(shape)))
    return [tuple(shape[:a] + [int(n)] + shape[a + 1:]) for n in random.choice([0, 1, 2, 9], 3)]


ROWS = [
    Row("slice", lambda r, x, text, index: r.slice(x, text), lambda x, text, index: x[index], arguments=parts,
        weight=4),
    Row("select", "select", lambda x, axis, i: np.take(x, i, at(axis, x)), arguments=element),
    Row("slice_axis", "slice_axis", slice_axis, arguments=bounds),
    Row("take", lambda r, x, axis, index: r.take(x, axis, r.leaf(index)), lambda x, axis, index: np.take(
        x, index, at(axis, x)), arguments=indices, weight=2),
    Row("take_along", lambda r, x, axis, index: r.take_along(x, axis, r.leaf(index)),
        lambda x, axis, index: np.take_along_axis(x, index, axis), arguments=take_along_indices),
    Row("permute", lambda r, x, order: r.permute(x, r.ints(order)), lambda x, order: np.transpose(x, order),
        arguments=order),
    Row("transpose", "transpose", lambda x: np.swapaxes(x, -1, -2) if x.ndim > 1 else x),
    Row("reshape", lambda r, x, shape: r.reshape(x, r.ints(shape)), lambda x, shape: np.reshape(x, shape),
        arguments=other_shape, weight=2),
    Row("broadcast", lambda r, x, shape: r.broadcast(x, r.ints(shape)), lambda x, shape: np.broadcast_to(x, shape),
        arguments=wider),
    Row("expand", "expand", np.expand_dims, arguments=lambda random, arrays: {
        "axis": int(random.integers(-arrays[0].ndim - 2, arrays[0].ndim + 2))}),
    Row("squeeze", lambda r, x, axis: r.squeeze(x, r.dims(axis)), np.squeeze, arguments=some),
    Row("flip", lambda r, x, axis: r.flip(x, r.dims(axis)), np.flip, arguments=some),
    Row("diagonal", lambda r, x, axis1, axis2, offset: r.diagonal(x, axis1, axis2, offset),
        lambda x, axis1, axis2, offset: np.diagonal(x, offset, axis1, axis2), arguments=two_axes),
    Row("window", "window", sliding, arguments=windows),
    Row("concat", lambda r, *x, axis: r.concat(axis, r.exprs(x)), lambda *x, axis: np.concatenate(x, axis),
        operands=3, shapes=joinable, arguments=lambda random, arrays: {"axis": joinable.axis if random.random() < 0.95
                                                                       else axis(random, arrays[0])}),
    Row("coord", "coord", lambda x, axis: np.arange(x.shape[axis]).reshape([x.shape[axis] if a == at(axis, x) else 1
                                                                       for a in range(x.ndim)]), arguments=along),
]
