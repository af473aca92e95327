"""The rows in NumPy, as its users write them."""
import numpy as np
from catalogue_numpy import catalogue
from common import AXES, CUBE, LONG, POINTS, ROW_SHAPES, Peer, halves, image, uniform
from everyday_numpy import everyday

peer = Peer("numpy")


def sums(dtype, t):
    x, small, hundred = uniform(0, CUBE, t), uniform(0, (64, 64, 64), t), uniform(0, (100,), t)
    for case, axes in AXES.items():
        peer("W1", case, dtype, lambda: x.sum(axis=axes))
        peer("W2", case, dtype, lambda: small.sum(axis=axes))
    peer("W2", "eval100", dtype, lambda: hundred.sum())
    peer("W10", "onerow", dtype, lambda: x[:, 256, :].sum(0))
    peer("W4", "perm201", dtype, lambda: np.ascontiguousarray(x.transpose(2, 0, 1)))


def logsumexp(x, axis):
    m = x.max(axis, keepdims=True)
    return np.log(np.exp(x - m).sum(axis)) + m.squeeze(axis)


def maps(dtype, t):
    x, y = uniform(0, (8192, 8192), t), uniform(1, (8192, 8192), t)
    for axis in (0, 1):
        peer("W3", f"sqdiff({axis})", dtype, lambda: ((x - y) ** 2).sum(axis))
        peer("W3", f"meanvar({axis})", dtype, lambda: (x.mean(axis), x.var(axis)))
        peer("W3", f"lse({axis})", dtype, lambda: logsumexp(x, axis))
        peer("W3", f"max({axis})", dtype, lambda: x.max(axis))
        peer("W3", f"argmax({axis})", dtype, lambda: x.argmax(axis))
        peer("W11", f"cumsum({axis})", dtype, lambda: x.cumsum(axis))
    peer("W3", "sumexp", dtype, lambda: np.exp(x).sum())
    peer("W3", "count", dtype, lambda: np.count_nonzero(np.abs(x) > 0.5))
    peer("W4", "A+BT(0)", dtype, lambda: (x + y.T).sum(0))
    peer("W4", "A*BT(0)", dtype, lambda: np.einsum("ij,ji->j", x, y))
    peer("W7", "mmmv(0)", dtype, lambda: (x.min(0), x.max(0), x.mean(0), x.var(0)))


def distances(x, y):
    """The usual idiom: |x|^2 + |y|^2 - 2 x.y, stored."""
    d = x @ y.T
    d *= -2
    d += (x * x).sum(1)[:, None]
    d += (y * y).sum(1)
    return d


def gauss(x, y, w):
    parts = []
    for start in range(0, len(x), 500):  # a matrix of pairs that stays in cache
        d = distances(x[start:start + 500], y)
        np.exp(np.negative(d, d), d)
        parts.append(d @ w)
    return np.concatenate(parts)


def pairs(dtype, t):
    for case, n in POINTS.items():
        x, y, w = uniform(0, (n, 3), t), uniform(1, (n, 3), t), uniform(2, (n,), t)
        if n == 10000 or dtype == "f32":
            peer("W5", case, dtype, lambda: gauss(x, y, w))
    for d in (3, 50):
        x, y = uniform(0, (10000, d), t), uniform(1, (10000, d), t)
        peer("W5", f"nn{d}", dtype, lambda: distances(x, y).argmin(1))


def softmax(x):
    e = x - x.max(1, keepdims=True)
    np.exp(e, e)
    e /= e.sum(1, keepdims=True)
    return e


def rows(dtype, t):
    for name, shape in ROW_SHAPES.items():
        x = uniform(0, shape, t)
        peer("W6", "softmax" + name, dtype, lambda: softmax(x))
        peer("W6", "layernorm" + name, dtype, lambda: (x - x.mean(1, keepdims=True)) / x.std(1, keepdims=True))


def products(dtype, t):
    a, b = uniform(0, (2048, 2048), t), uniform(1, (2048, 2048), t)
    p, q = uniform(0, (10000, 16, 16), t), uniform(1, (10000, 16, 16), t)
    peer("W9", "gemm2048", dtype, lambda: a @ b)
    peer("W9", "bmm16", dtype, lambda: p @ q)


for dtype, t in (("f32", np.float32), ("f64", np.float64)):
    for wanted, group in ((("W1", "W2", "W4", "W10"), sums), (("W3", "W4", "W7", "W11"), maps), (("W5",), pairs),
                          (("W6",), rows), (("W9",), products), (("W12",), lambda *of: everyday(peer, *of)),
                          (("W14",), lambda *of: catalogue(peer, *of))):
        if any(map(peer.wants, wanted)):
            group(dtype, t)
if peer.wants("W8"):
    u8 = image((4096, 4096, 3))
    peer("W8", "u8mean", "u8", lambda: u8.mean((0, 1)))
    f16 = halves((4096, 4096, 3))
    peer("W8", "f16mean", "f16", lambda: f16.mean((0, 1), dtype=np.float32))
if peer.wants("ACC"):
    long = uniform(0, (LONG,), np.float32)
    peer("ACC", "sum1e8", "f32", lambda: long.sum())
