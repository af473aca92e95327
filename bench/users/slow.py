"""Programs that were slow once, in the spelling of a user who writes them first."""

from __future__ import annotations

from typing import Any

import numpy as np

from program import Arrays, Program, pointer

Generator = np.random.Generator


def f4(x: Any) -> np.ndarray:
    return np.ascontiguousarray(x, dtype=np.float32)


# ---- Pairs ------------------------------------------------------------------------------------------
def two_clouds(rng: Generator, n: int, d: int) -> Arrays:
    return {"x": f4(rng.standard_normal((n, d))), "y": f4(rng.standard_normal((n, d)))}


def hausdorff(rd: Any, a: Arrays) -> Any:
    d = rd.sum((a["x"][:, None] - a["y"][None]) ** 2, -1)
    return rd.sqrt(rd.maximum(rd.max(rd.min(d, 1)), rd.max(rd.min(d, 0))))


def sinkhorn_inputs(rng: Generator) -> Arrays:
    return {**two_clouds(rng, 4000, 3), "f": f4(rng.standard_normal(4000)), "g": f4(rng.standard_normal(4000))}


def sinkhorn(rd: Any, a: Arrays) -> Any:
    c = rd.sum((a["x"][:, None] - a["y"][None]) ** 2, -1) * np.float32(0.5)
    eps = np.float32(0.1)
    f = -eps * rd.logsumexp((a["g"] - c) / eps, axis=1)
    g = -eps * rd.logsumexp((a["f"][:, None] - c) / eps, axis=0)
    return f, g


def min_plus(rd: Any, a: Arrays) -> Any:
    return rd.min(a["a"][:, :, None] + a["a"][None], axis=1)


def lennard_jones(rd: Any, a: Arrays) -> Any:
    x, box = a["x"], np.float32(18.0)
    d = x[:, None] - x[None]
    d = d - box * rd.round(d / box)
    r2 = rd.sum(d * d, -1)
    near = (r2 < np.float32(6.25)) & (r2 > 0)
    s6 = rd.pow(1 / r2, 3)
    return rd.sum(4 * (s6 * s6 - s6), where=near) / 2


def lattice(rng: Generator) -> Arrays:
    grid = np.stack(np.meshgrid(*[np.arange(18)] * 3, indexing="ij"), -1).reshape(-1, 3)
    return {"x": f4(grid + rng.uniform(-0.1, 0.1, grid.shape))}


def gravity(rd: Any, a: Arrays) -> Any:
    d = a["x"][None] - a["x"][:, None]
    r3 = rd.pow(rd.sum(d * d, -1) + np.float32(0.01), np.float32(-1.5))
    return rd.sum(d * r3[:, :, None] * a["m"][None, :, None], 1)


def five_nearest(rd: Any, a: Arrays) -> Any:
    d = rd.sum((a["x"][:, None] - a["y"][None]) ** 2, -1)
    return rd.arg_top_k(d, 5, axis=1, smallest=True)


# ---- Maps -------------------------------------------------------------------------------------------
def options_inputs(rng: Generator) -> Arrays:
    n = 2_000_000
    return {"s": rng.uniform(50, 150, n), "k": rng.uniform(50, 150, n), "t": rng.uniform(0.1, 2, n)}


def black_scholes(rd: Any, a: Arrays) -> Any:
    s, k, t = a["s"], a["k"], a["t"]
    d1 = (rd.log(s / k) + (0.03 + 0.5 * 0.2 * 0.2) * t) / (0.2 * rd.sqrt(t))
    d2 = d1 - 0.2 * rd.sqrt(t)
    phi1, phi2 = 0.5 * (1 + rd.erf(d1 / 2**0.5)), 0.5 * (1 + rd.erf(d2 / 2**0.5))
    return s * phi1 - k * rd.exp(-0.03 * t) * phi2


# ---- Contractions -----------------------------------------------------------------------------------
def logistic_inputs(rng: Generator) -> Arrays:
    return {"X": f4(rng.standard_normal((200_000, 50))), "w": f4(rng.standard_normal(50)),
            "y": f4(rng.integers(0, 2, 200_000))}


def logistic(rd: Any, a: Arrays) -> Any:
    p = rd.sigmoid(a["X"] @ a["w"])
    return a["X"].T @ (p - a["y"]) / np.float32(200_000)


def convolution_inputs(rng: Generator) -> Arrays:
    return {"x": f4(rng.standard_normal((64, 58, 58))), "w": f4(rng.standard_normal((64, 64, 3, 3)))}


def convolution(rd: Any, a: Arrays) -> Any:
    windows = rd.sliding_window_view(a["x"], (3, 3), axis=(1, 2))
    return rd.einsum("chwij,ocij->ohw", windows, a["w"])


def correlations(rd: Any, a: Arrays) -> Any:
    return rd.corr(a["r"][:, :, None], a["r"][:, None, :], axis=0)


# ---- Images and small ints --------------------------------------------------------------------------
def stereo_inputs(rng: Generator) -> Arrays:
    return {"left": rng.integers(0, 256, (480, 640), dtype=np.uint8), "right": rng.integers(0, 256, (480, 640), dtype=np.uint8)}


def stereo(rd: Any, a: Arrays) -> Any:
    left, right = a["left"].astype("int16"), a["right"].astype("int16")
    windows = rd.sliding_window_view(right, 609, axis=1)  # (480, 32, 609): one row a disparity
    cost = rd.abs(left[:, None, 31:] - windows)
    summed = rd.rolling_sum(rd.rolling_sum(cost, 7, axis=0), 7, axis=2)
    return rd.argmin(summed, axis=1)


def life(rd: Any, a: Arrays) -> Any:
    x = a["x"]
    n = sum((rd.roll(rd.roll(x, i, 0), j, 1) for i in (-1, 0, 1) for j in (-1, 0, 1) if i or j), start=rd.asarray(np.uint8(0)))
    return (n == 3) | ((x == 1) & (n == 2))


def bright(rd: Any, a: Arrays) -> Any:
    r, g, b = a["rgb"][..., 0], a["rgb"][..., 1], a["rgb"][..., 2]
    return rd.count_nonzero(np.float32(0.299) * r + np.float32(0.587) * g + np.float32(0.114) * b > 128)


# ---- Small matrices ---------------------------------------------------------------------------------
def bones(rng: Generator) -> Arrays:
    n = 200_000
    w = rng.uniform(0, 1, (n, 4))
    return {"p": f4(rng.standard_normal((n, 3))), "bones": f4(rng.standard_normal((64, 3, 4))),
            "index": rng.integers(0, 64, (n, 4)), "w": f4(w / w.sum(1, keepdims=True))}


def skinning(rd: Any, a: Arrays) -> Any:
    blended = rd.sum(a["bones"][a["index"]] * a["w"][:, :, None, None], axis=1)  # (n, 3, 4)
    h = rd.concatenate((a["p"], rd.ones((200_000, 1), dtype="float32")), axis=1)
    return rd.sum(blended * h[:, None, :], axis=-1)


# ---- Attention and labels ---------------------------------------------------------------------------
def attention_inputs(rng: Generator) -> Arrays:
    return {name: f4(rng.standard_normal((8, 512, 64))) for name in "qkv"}


def attention(rd: Any, a: Arrays) -> Any:
    scores = a["q"] @ rd.matrix_transpose(a["k"]) / np.float32(8)
    i, j = rd.arange(512)[:, None], rd.arange(512)[None]
    return rd.softmax(rd.where(j <= i, scores, np.float32(-np.inf)), axis=-1) @ a["v"]


def ticks(rng: Generator) -> Arrays:
    n = 5_000_000
    return {"price": 100 + np.cumsum(rng.standard_normal(n)) * 0.01, "bar": np.sort(rng.integers(0, 5000, n)), "bars": 5000}


def bars(rd: Any, a: Arrays) -> Any:
    p, by = a["price"], {"by": a["bar"], "groups": a["bars"]}
    return rd.first(p, **by), rd.max(p, **by), rd.min(p, **by), rd.last(p, **by), rd.sum(p, **by)


# ---- Sparse -----------------------------------------------------------------------------------------
def graph(rng: Generator) -> Arrays:
    n, edges = 16384, 200_000
    ends = (n * rng.power(0.4, (edges, 2))).astype(np.int64) % n
    both = np.unique(np.concatenate([ends, ends[:, ::-1]]), axis=0)
    both = both[both[:, 0] != both[:, 1]]
    pos = np.searchsorted(both[:, 0], np.arange(n + 1))
    return {"pos": pos, "crd": np.ascontiguousarray(both[:, 1]), "ones": np.ones(len(both), dtype=np.int64), "n": n}


def triangles(rd: Any, a: Arrays) -> Any:
    matrix = rd.sparse.csr(a["ones"], a["crd"], a["pos"], shape=(a["n"], a["n"]))
    return rd.sum((matrix @ matrix) * matrix)


PROGRAMS = [
    Program("hausdorff", "geometry", lambda rng: two_clouds(rng, 10_000, 2), hausdorff, {}),
    Program("sinkhorn", "transport", sinkhorn_inputs, sinkhorn, {}),
    Program("min_plus", "graphs", lambda rng: {"a": f4(rng.uniform(0, 1, (1024, 1024)))}, min_plus, {}),
    Program("black_scholes", "finance", options_inputs, black_scholes, {}),
    Program("logistic", "statistics", logistic_inputs, logistic, {}),
    Program("lennard_jones", "physics", lattice, lennard_jones, {}),
    Program("gravity", "physics", lambda rng: {"x": f4(rng.standard_normal((8000, 3))), "m": f4(rng.uniform(0, 1, 8000))},
            gravity, {}),
    Program("convolution", "inference", convolution_inputs, convolution, {}),
    Program("correlations", "finance", lambda rng: {"r": f4(rng.standard_normal((2520, 300)))}, correlations, {}),
    Program("triangles", "graphs", graph, triangles, {}),
    Program("stereo", "images", stereo_inputs, stereo, {}),
    Program("life", "images", lambda rng: {"x": rng.integers(0, 2, (2048, 2048), dtype=np.uint8)}, life, {}),
    Program("bright", "images", lambda rng: {"rgb": rng.integers(0, 256, (2160, 3840, 3), dtype=np.uint8)}, bright, {}),
    Program("skinning", "geometry", bones, skinning, {}),
    Program("five_nearest", "statistics",
            lambda rng: {"x": f4(rng.standard_normal((20_000, 8))), "y": f4(rng.standard_normal((2_000, 8)))}, five_nearest, {}),
    Program("attention", "inference", attention_inputs, attention, {}),
    Program("bars", "finance", ticks, bars, {}),
]
