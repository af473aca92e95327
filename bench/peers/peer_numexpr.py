"""The rows that numexpr can do: its reductions take one axis or all."""
import numexpr
import numpy as np
from common import CUBE, LONG, POINTS, ROW_SHAPES, THREADS, Peer, uniform

numexpr.set_num_threads(THREADS)
peer = Peer("numexpr")
CASES = {"sum(0)": "sum(x, axis=0)", "sum(1)": "sum(x, axis=1)", "sum(2)": "sum(x, axis=2)", "sum(all)": "sum(x)"}


def evaluate(text, **operands):
    return numexpr.evaluate(text, local_dict=operands)


def sums(dtype, t):
    x, small, hundred = uniform(0, CUBE, t), uniform(0, (64, 64, 64), t), uniform(0, (100,), t)
    for case, text in CASES.items():
        peer("W1", case, dtype, lambda: evaluate(text, x=x))
        peer("W2", case, dtype, lambda: evaluate(text, x=small))
    row = x[:, 256, :]
    peer("W2", "eval100", dtype, lambda: evaluate("sum(x)", x=hundred))
    peer("W10", "onerow", dtype, lambda: evaluate("sum(x, axis=0)", x=row))


def logsumexp(x, axis):
    m = evaluate(f"max(x, axis={axis})", x=x)
    s = evaluate(f"sum(exp(x - m), axis={axis})", x=x, m=np.expand_dims(m, axis))
    return np.log(s) + m


def maps(dtype, t):
    x, y = uniform(0, (8192, 8192), t), uniform(1, (8192, 8192), t)
    half = np.float32(0.5)
    for axis in (0, 1):
        peer("W3", f"sqdiff({axis})", dtype, lambda: evaluate(f"sum((x - y) * (x - y), axis={axis})", x=x, y=y))
        peer("W3", f"lse({axis})", dtype, lambda: logsumexp(x, axis))
        peer("W3", f"max({axis})", dtype, lambda: evaluate(f"max(x, axis={axis})", x=x))
    peer("W3", "sumexp", dtype, lambda: evaluate("sum(exp(x))", x=x))
    peer("W3", "count", dtype, lambda: evaluate("sum(where(abs(x) > h, 1, 0))", x=x, h=half))
    peer("W4", "A+BT(0)", dtype, lambda: evaluate("sum(x + y, axis=0)", x=x, y=y.T))
    peer("W4", "A*BT(0)", dtype, lambda: evaluate("sum(x * y, axis=0)", x=x, y=y.T))


def pairs(dtype, t):
    square = "(a - d) * (a - d) + (b - e) * (b - e) + (c - f) * (c - f)"
    for case, n in POINTS.items():
        if n > 10000 and dtype == "f64":
            continue
        x, y, w = uniform(0, (n, 3), t), uniform(1, (n, 3), t), uniform(2, (n,), t)[None, :]
        o = {name: np.ascontiguousarray(x[:, k])[:, None] for k, name in enumerate("abc")}
        o.update({name: np.ascontiguousarray(y[:, k])[None, :] for k, name in enumerate("def")})
        peer("W5", case, dtype, lambda: evaluate(f"sum(exp(-({square})) * w, axis=1)", w=w, **o))
        if n == 10000:
            peer("W5", "nn3", dtype, lambda: evaluate(square, **o).argmin(1))


def softmax(x):
    m = evaluate("max(x, axis=1)", x=x)[:, None]
    s = evaluate("sum(exp(x - m), axis=1)", x=x, m=m)[:, None].astype(x.dtype)
    return evaluate("exp(x - m) / s", x=x, m=m, s=s)


def rows(dtype, t):
    for name, shape in ROW_SHAPES.items():
        x = uniform(0, shape, t)
        peer("W6", "softmax" + name, dtype, lambda: softmax(x))


for dtype, t in (("f32", np.float32), ("f64", np.float64)):
    for wanted, group in ((("W1", "W2", "W10"), sums), (("W3", "W4"), maps), (("W5",), pairs), (("W6",), rows)):
        if any(map(peer.wants, wanted)):
            group(dtype, t)
if peer.wants("ACC"):
    long = uniform(0, (LONG,), np.float32)
    peer("ACC", "sum1e8", "f32", lambda: evaluate("sum(x)", x=long))
