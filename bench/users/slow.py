"""Programs that were slow once, in the spelling of a user who writes them first."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from hands import call, empty
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


def masses(rng: Generator) -> Arrays:
    return {"x": f4(rng.standard_normal((8000, 3))), "m": f4(rng.uniform(0, 1, 8000))}


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


# ---- The same for others ----------------------------------------------------------------------------
def hausdorff_of(d: Any, maximum: Any) -> Any:
    return maximum(d.amin(1).amax(), d.amin(0).amax())


def sinkhorn_of(squares: Any, a: Arrays, logsumexp: Any) -> Any:
    c, eps = squares * 0.5, 0.1
    return -eps * logsumexp((a["g"] - c) / eps, 1), -eps * logsumexp((a["f"][:, None] - c) / eps, 0)


def sinkhorn_numpy(_: Any, a: Arrays) -> Any:
    def sums(t: np.ndarray, axis: int) -> np.ndarray:
        top = t.max(axis, keepdims=True)
        return np.log(np.exp(t - top).sum(axis)) + top.squeeze(axis)
    c = sum((a["x"][:, None, k] - a["y"][None, :, k]) ** 2 for k in range(3))
    return sinkhorn_of(c, a, sums)


def sinkhorn_hand(c: Any, a: Arrays) -> Any:
    f, g = empty(4000), empty(4000)
    call(c.sinkhorn, a["x"], a["y"], a["f"], a["g"], 4000, f, g)
    return f, g


def black_scholes_of(xp: Any, erf: Any, a: Arrays) -> Any:
    s, k, t = a["s"], a["k"], a["t"]
    d1 = (xp.log(s / k) + (0.03 + 0.5 * 0.2 * 0.2) * t) / (0.2 * xp.sqrt(t))
    d2 = d1 - 0.2 * xp.sqrt(t)
    return s * (0.5 * (1 + erf(d1 / 2**0.5))) - k * xp.exp(-0.03 * t) * (0.5 * (1 + erf(d2 / 2**0.5)))


def lennard_jones_of(xp: Any, x: Any) -> Any:
    d = x[:, None] - x[None]
    d = d - 18.0 * xp.round(d / 18.0)
    r2 = (d * d).sum(-1)
    near = (r2 < 6.25) & (r2 > 0)
    s6 = 1 / xp.where(near, r2, 1.0) ** 3
    return xp.where(near, 4 * (s6 * s6 - s6), 0.0).sum() / 2


def lennard_jones_hand(c: Any, a: Arrays) -> Any:
    out = empty(())
    c.lennard_jones(pointer(a["x"]), ctypes.c_long(len(a["x"])), ctypes.c_float(18), pointer(out))
    return out


def gravity_of(x: Any, m: Any) -> Any:
    d = x[None] - x[:, None]
    return (d * (((d * d).sum(-1) + 0.01) ** -1.5 * m)[:, :, None]).sum(1)


def convolution_numpy(np: Any, a: Arrays) -> Any:
    windows = np.lib.stride_tricks.sliding_window_view(a["x"], (3, 3), axis=(1, 2))
    columns = windows.transpose(0, 3, 4, 1, 2).reshape(576, 56 * 56)
    return (a["w"].reshape(64, 576) @ columns).reshape(64, 56, 56)


def triangles_scipy(sp: Any, a: Arrays) -> Any:
    matrix = sp.sparse.csr_array((a["ones"], a["crd"], a["pos"]), shape=(a["n"], a["n"]))
    return (matrix @ matrix).multiply(matrix).sum()


def stereo_scipy(sp: Any, a: Arrays) -> Any:
    left, right = a["left"].astype(np.int16), a["right"].astype(np.int16)
    windows = np.lib.stride_tricks.sliding_window_view(right, 609, axis=1)
    cost = np.abs(left[:, None, 31:] - windows)
    for axis in (0, 2):
        cost = sp.ndimage.correlate1d(cost, np.ones(7, dtype=np.int16), axis=axis)
    return cost[3:-3, :, 3:-3].argmin(1)


def stereo_torch(torch: Any, a: Arrays) -> Any:
    left, right = a["left"].float(), a["right"].float()
    cost = (left[:, None, 31:] - right.unfold(1, 609, 1)).abs().permute(1, 0, 2)
    return torch.nn.functional.avg_pool2d(cost[None], 7, stride=1)[0].argmin(0)


def stereo_jax(jax: Any, a: Arrays) -> Any:
    left, right = a["left"].astype("int16"), a["right"].astype("int16")
    cost = abs(left[None, :, 31:] - jax.numpy.stack([right[:, d:d + 609] for d in range(32)]))
    summed = jax.lax.reduce_window(cost, np.int16(0), jax.lax.add, (1, 7, 7), (1, 1, 1), "VALID")
    return summed.argmin(0)


def stereo_opencv(cv2: Any, a: Arrays) -> Any:
    low = np.full((474, 603), 1e9, dtype=np.float32)
    best = np.zeros((474, 603), dtype=np.int64)
    for d in range(32):
        cost = cv2.absdiff(np.ascontiguousarray(a["left"][:, 31:]), np.ascontiguousarray(a["right"][:, d:d + 609]))
        summed = cv2.boxFilter(cost, cv2.CV_32F, (7, 7), normalize=False)[3:-3, 3:-3]
        less = summed < low
        low[less], best[less] = summed[less], d
    return best


def life_of(roll: Any, x: Any) -> Any:
    n = sum(roll(x, (i, j), (0, 1)) for i in (-1, 0, 1) for j in (-1, 0, 1) if i or j)
    return (n == 3) | ((x == 1) & (n == 2))


def life_opencv(cv2: Any, a: Arrays) -> Any:
    around = cv2.copyMakeBorder(a["x"], 1, 1, 1, 1, cv2.BORDER_WRAP)
    n = cv2.boxFilter(around, cv2.CV_8U, (3, 3), normalize=False)[1:-1, 1:-1]  # with the cell itself
    return (n == 3) | ((a["x"] == 1) & (n == 4))


def grey_of(rgb: Any, number: Any) -> Any:
    return number(0.299) * rgb[..., 0] + number(0.587) * rgb[..., 1] + number(0.114) * rgb[..., 2]


def skinning_of(xp: Any, a: Arrays, ones: Any) -> Any:
    blended = xp.einsum("nkij,nk->nij", a["bones"][a["index"]], a["w"])
    return xp.einsum("nij,nj->ni", blended, xp.concatenate((a["p"], ones), axis=1))


def attention_numpy(np: Any, a: Arrays) -> Any:
    scores = a["q"] @ a["k"].transpose(0, 2, 1) / np.float32(8)
    scores[:, ~np.tri(512, dtype=bool)] = -np.inf
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    return weights / weights.sum(-1, keepdims=True) @ a["v"]


def attention_jax(jax: Any, a: Arrays) -> Any:
    turned = {name: a[name].transpose(1, 0, 2)[None] for name in "qkv"}
    return jax.nn.dot_product_attention(turned["q"], turned["k"], turned["v"], is_causal=True)[0].transpose(1, 0, 2)


def bars_numpy(np: Any, a: Arrays) -> Any:
    p = a["price"]
    start = np.searchsorted(a["bar"], np.arange(5000))
    end = np.append(start[1:], len(p)) - 1
    return p[start], np.maximum.reduceat(p, start), np.minimum.reduceat(p, start), p[end], np.add.reduceat(p, start)


def bars_torch(torch: Any, a: Arrays) -> Any:
    p = a["price"]
    length = torch.bincount(a["bar"], minlength=5000)
    end = length.cumsum(0)
    by = {name: torch.segment_reduce(p, name, lengths=length) for name in ("max", "min", "sum")}
    return p[end - length], by["max"], by["min"], p[end - 1], by["sum"]


def bars_jax(jax: Any, a: Arrays) -> Any:
    p, ops, by = a["price"], jax.ops, {"segment_ids": a["bar"], "num_segments": 5000, "indices_are_sorted": True}
    start = jax.numpy.searchsorted(a["bar"], jax.numpy.arange(5001))
    return p[start[:-1]], ops.segment_max(p, **by), ops.segment_min(p, **by), p[start[1:] - 1], ops.segment_sum(p, **by)


def bars_hand(c: Any, a: Arrays) -> Any:
    out = tuple(empty(5000, "f8") for _ in range(5))
    call(c.bars, a["price"], a["bar"], 5_000_000, *out)
    return out


PROGRAMS = [
    Program("hausdorff", "geometry", lambda rng: two_clouds(rng, 10_000, 2), hausdorff, {
        "scipy": lambda sp, a: np.float32(max(sp.spatial.distance.directed_hausdorff(a["x"], a["y"])[0],
                                              sp.spatial.distance.directed_hausdorff(a["y"], a["x"])[0])),
        "torch": lambda torch, a: hausdorff_of(torch.cdist(a["x"], a["y"]), torch.maximum),
        "jax": lambda jax, a: hausdorff(jax.numpy, a),
    }, lambda c, a: call(c.hausdorff, a["x"], a["y"], 10_000, empty(()))),
    Program("sinkhorn", "transport", sinkhorn_inputs, sinkhorn, {
        "numpy": sinkhorn_numpy,
        "torch": lambda torch, a: sinkhorn_of(torch.cdist(a["x"], a["y"]) ** 2, a, torch.logsumexp),
        "jax": lambda jax, a: sinkhorn_of(((a["x"][:, None] - a["y"][None]) ** 2).sum(-1), a, jax.nn.logsumexp),
    }, lambda c, a: sinkhorn_hand(c, a)),
    Program("min_plus", "graphs", lambda rng: {"a": f4(rng.uniform(0, 1, (1024, 1024)))}, min_plus, {
        "jax": lambda jax, a: (a["a"][:, :, None] + a["a"][None]).min(1),
    }, lambda c, a: call(c.min_plus, a["a"], 1024, empty((1024, 1024)))),
    Program("black_scholes", "finance", options_inputs, black_scholes, {
        "scipy": lambda sp, a: black_scholes_of(np, sp.special.erf, a),
        "torch": lambda torch, a: black_scholes_of(torch, torch.erf, a),
        "jax": lambda jax, a: black_scholes_of(jax.numpy, jax.scipy.special.erf, a),
    }, lambda c, a: call(c.black_scholes, a["s"], a["k"], a["t"], 2_000_000, empty(2_000_000, "f8"))),
    Program("logistic", "statistics", logistic_inputs, logistic, {
        "scipy": lambda sp, a: a["X"].T @ (sp.special.expit(a["X"] @ a["w"]) - a["y"]) / np.float32(200_000),
        "torch": lambda torch, a: a["X"].T @ (torch.sigmoid(a["X"] @ a["w"]) - a["y"]) / 200_000,
        "jax": lambda jax, a: a["X"].T @ (jax.nn.sigmoid(a["X"] @ a["w"]) - a["y"]) / 200_000,
    }, lambda c, a: call(c.logistic, a["X"], a["w"], a["y"], 200_000, empty(50))),
    Program("lennard_jones", "physics", lattice, lennard_jones, {
        "numpy": lambda np, a: lennard_jones_of(np, a["x"]),
        "torch": lambda torch, a: lennard_jones_of(torch, a["x"]),
        "jax": lambda jax, a: lennard_jones_of(jax.numpy, a["x"]),
    }, lambda c, a: lennard_jones_hand(c, a)),
    Program("gravity", "physics", masses, gravity, {
        "numpy": lambda np, a: gravity_of(a["x"], a["m"]),
        "torch": lambda torch, a: gravity_of(a["x"], a["m"]),
        "jax": lambda jax, a: gravity_of(a["x"], a["m"]),
    }, lambda c, a: call(c.gravity, a["x"], a["m"], 8000, empty((8000, 3)))),
    Program("convolution", "inference", convolution_inputs, convolution, {
        "numpy": convolution_numpy,
        "torch": lambda torch, a: torch.nn.functional.conv2d(a["x"][None], a["w"])[0],
        "jax": lambda jax, a: jax.lax.conv(a["x"][None], a["w"], (1, 1), "VALID")[0],
    }, lambda c, a: call(c.convolution, a["x"], a["w"], empty((64, 56, 56)))),
    Program("correlations", "finance", lambda rng: {"r": f4(rng.standard_normal((2520, 300)))}, correlations, {
        "numpy": lambda np, a: np.corrcoef(a["r"], rowvar=False, dtype="f4"),
        "torch": lambda torch, a: torch.corrcoef(a["r"].T),
        "jax": lambda jax, a: jax.numpy.corrcoef(a["r"], rowvar=False),
    }, lambda c, a: call(c.correlations, a["r"], 2520, 300, empty((300, 300)))),
    Program("triangles", "graphs", graph, triangles, {"scipy": triangles_scipy},
            lambda c, a: call(c.triangles, a["pos"], a["crd"], a["n"], empty((), "i8"))),
    Program("stereo", "images", stereo_inputs, stereo, {
        "scipy": stereo_scipy,
        "torch": stereo_torch,
        "jax": stereo_jax,
        "opencv": stereo_opencv,
    }, lambda c, a: call(c.stereo, a["left"], a["right"], empty((474, 603), "i8"))),
    Program("life", "images", lambda rng: {"x": rng.integers(0, 2, (2048, 2048), dtype=np.uint8)}, life, {
        "numpy": lambda np, a: life_of(np.roll, a["x"]),
        "torch": lambda torch, a: life_of(torch.roll, a["x"]),
        "jax": lambda jax, a: life_of(jax.numpy.roll, a["x"]),
        "opencv": life_opencv,
    }, lambda c, a: call(c.life, a["x"], 2048, 2048, empty((2048, 2048), "?"))),
    Program("bright", "images", lambda rng: {"rgb": rng.integers(0, 256, (2160, 3840, 3), dtype=np.uint8)}, bright, {
        "numpy": lambda np, a: np.count_nonzero(grey_of(a["rgb"], np.float32) > 128),
        "torch": lambda torch, a: (grey_of(a["rgb"], float) > 128).sum(),
        "jax": lambda jax, a: jax.numpy.count_nonzero(grey_of(a["rgb"], jax.numpy.float32) > 128),
    }, lambda c, a: call(c.bright, a["rgb"], 2160 * 3840, empty((), "i8"))),
    Program("skinning", "geometry", bones, skinning, {
        "numpy": lambda np, a: skinning_of(np, a, np.ones((200_000, 1), dtype="f4")),
        "torch": lambda torch, a: skinning_of(torch, a, torch.ones((200_000, 1))),
        "jax": lambda jax, a: skinning_of(jax.numpy, a, jax.numpy.ones((200_000, 1), dtype="f4")),
    }, lambda c, a: call(c.skinning, a["p"], a["bones"], a["index"], a["w"], 200_000, 64, empty((200_000, 3)))),
    Program("five_nearest", "statistics",
            lambda rng: {"x": f4(rng.standard_normal((20_000, 8))), "y": f4(rng.standard_normal((2_000, 8)))}, five_nearest, {
                "scipy": lambda sp, a: sp.spatial.KDTree(a["y"]).query(a["x"], 5)[1],
                "torch": lambda torch, a: torch.topk(torch.cdist(a["x"], a["y"]), 5, dim=1, largest=False)[1],
                "jax": lambda jax, a: jax.lax.top_k(-((a["x"][:, None] - a["y"][None]) ** 2).sum(-1), 5)[1],
            }, lambda c, a: call(c.five_nearest, a["x"], a["y"], 20_000, 2_000, empty((20_000, 5), "i8"))),
    Program("attention", "inference", attention_inputs, attention, {
        "numpy": attention_numpy,
        "torch": lambda torch, a: torch.nn.functional.scaled_dot_product_attention(a["q"], a["k"], a["v"], is_causal=True),
        "jax": attention_jax,
    }, lambda c, a: call(c.attention, a["q"], a["k"], a["v"], empty((8, 512, 64)))),
    Program("bars", "finance", ticks, bars, {
        "numpy": bars_numpy,
        "torch": bars_torch,
        "jax": bars_jax,
    }, lambda c, a: bars_hand(c, a)),
]
