"""The programs of fields_next.py in NumPy, SciPy, PyTorch, JAX, OpenCV and bottleneck.

Where NumPy's and JAX's spelling is rdim's, `alike` hands the program itself to them.
"""

from __future__ import annotations

from typing import Any, Callable

import numpy as np

LIBRARIES = ("numpy", "scipy", "torch", "jax", "opencv", "bottleneck")


def of(name: str, program: Any = None, alike: str = "") -> dict[str, Callable[[Any, Any], Any]]:
    found: dict[str, Callable[[Any, Any], Any]] = {}
    both = globals().get(f"{name}_both")
    if both or "numpy" in alike:
        found["numpy"] = both or program
    if both or "jax" in alike:
        found["jax"] = lambda jax, a: (both or program)(jax.numpy, a)
    if "torch" in alike:
        found["torch"] = program
    return found | {lib: globals()[f"{name}_{lib}"] for lib in LIBRARIES if f"{name}_{lib}" in globals()}


def windows(np: Any, x: Any, n: int) -> Any:
    return np.lib.stride_tricks.sliding_window_view(x, n)


def seg(jax: Any, x: Any, z: Any, n: int) -> Any:
    return jax.ops.segment_sum(x, z, n)


# ---- Earth and sky -----------------------------------------------------------------------------------
def phase_dispersion_numpy(np: Any, a: Any) -> Any:
    cell = ((a["t"] / a["p"][:, None]) % 1 * 20).astype(int) + 20 * np.arange(len(a["p"]))[:, None]
    n, y = 20 * len(a["p"]), np.broadcast_to(a["y"], cell.shape).ravel()
    c = np.bincount(cell.ravel(), minlength=n)
    m = np.bincount(cell.ravel(), y, minlength=n) / c
    v = np.bincount(cell.ravel(), (y - m[cell.ravel()]) ** 2, minlength=n) / c
    return v.reshape(-1, 20).sum(1) / a["y"].var()


def phase_dispersion_jax(jax: Any, a: Any) -> Any:
    np = jax.numpy
    cell = ((a["t"] / a["p"][:, None]) % 1 * 20).astype(int) + 20 * np.arange(len(a["p"]))[:, None]
    n, cell, y = 20 * len(a["p"]), cell.ravel(), np.broadcast_to(a["y"] - a["y"].mean(), cell.shape).ravel()
    c = seg(jax, np.ones(y.shape), cell, n)
    v = seg(jax, y * y, cell, n) / c - (seg(jax, y, cell, n) / c) ** 2
    return v.reshape(-1, 20).sum(1) / a["y"].var()


# ---- Scenes and points -------------------------------------------------------------------------------
def voxels_numpy(np: Any, a: Any) -> Any:
    c = np.floor(a["p"] / np.float32(0.25)).astype("i4")
    key = (c[:, 0] * 32 + c[:, 1]) * 32 + c[:, 2]
    n = np.bincount(key, minlength=32768)
    with np.errstate(invalid="ignore"):
        return np.stack([np.bincount(key, a["p"][:, k], minlength=32768) for k in range(3)], 1) / n[:, None]


def voxels_jax(jax: Any, a: Any) -> Any:
    np = jax.numpy
    c = np.floor(a["p"] / np.float32(0.25)).astype("i4")
    key = (c[:, 0] * 32 + c[:, 1]) * 32 + c[:, 2]
    return seg(jax, a["p"], key, 32768) / seg(jax, np.ones(key.shape), key, 32768)[:, None]


def voxels_torch(torch: Any, a: Any) -> Any:
    c = torch.floor(a["p"] / 0.25).int()
    key = (c[:, 0] * 32 + c[:, 1]) * 32 + c[:, 2]
    s = torch.zeros(32768, 3).index_add(0, key, a["p"])
    return s / torch.bincount(key, minlength=32768)[:, None]


# ---- Learning ----------------------------------------------------------------------------------------
def recommend_numpy(np: Any, a: Any) -> Any:
    s = np.einsum("ij,ij->i", a["users"][a["u"]], a["items"][a["i"]]) + a["bias"][a["i"]]
    return 1 / (1 + np.exp(-s))


def recommend_torch(torch: Any, a: Any) -> Any:
    return torch.sigmoid((a["users"][a["u"]] * a["items"][a["i"]]).sum(1) + a["bias"][a["i"]])


def recommend_jax(jax: Any, a: Any) -> Any:
    return jax.nn.sigmoid((a["users"][a["u"]] * a["items"][a["i"]]).sum(1) + a["bias"][a["i"]])


def smooth_loss_torch(torch: Any, a: Any) -> Any:
    return torch.nn.functional.cross_entropy(a["z"], a["y"], label_smoothing=0.1)


def smooth_loss_jax(jax: Any, a: Any) -> Any:
    np = jax.numpy
    t = np.where(a["y"][:, None] == np.arange(100), np.float32(0.901), np.float32(0.001))
    return -(t * jax.nn.log_softmax(a["z"], axis=1)).sum(1).mean()


def smooth_loss_numpy(np: Any, a: Any) -> Any:
    z = a["z"] - a["z"].max(1, keepdims=True)
    z = z - np.log(np.exp(z).sum(1, keepdims=True))
    t = np.where(a["y"][:, None] == np.arange(100), np.float32(0.901), np.float32(0.001))
    return -(t * z).sum(1).mean()


def ndcg_torch(torch: Any, a: Any) -> Any:
    order = torch.topk(a["s"], 10, dim=1).indices
    d = 1 / torch.log2(torch.arange(2, 12).double())
    gain = ((2.0 ** a["rel"].gather(1, order) - 1) * d).sum(1)
    return (gain / ((2.0 ** torch.topk(a["rel"], 10, dim=1).values - 1) * d).sum(1)).mean()


def returns_torch(torch: Any, a: Any) -> Any:
    g = 0.99 ** torch.arange(a["r"].shape[1]).double()
    return (a["r"] * g).flip(1).cumsum(1).flip(1) / g


def returns_scipy(sp: Any, a: Any) -> Any:
    return sp.signal.lfilter([1.0], [1.0, -0.99], a["r"][:, ::-1], axis=1)[:, ::-1]


# ---- Bits and dates ----------------------------------------------------------------------------------
def tanimoto_jax(jax: Any, a: Any) -> Any:
    np, p, q = jax.numpy, a["p"][:, None], a["q"]
    both = np.bitwise_count(p & q).sum(-1, dtype="i4")
    return (both / np.bitwise_count(p | q).sum(-1, dtype="i4")).max(1)


# ---- Signals -----------------------------------------------------------------------------------------
def hampel_numpy(np: Any, a: Any) -> Any:
    w = windows(np, a["x"], 11)
    m = np.median(w, axis=-1)
    s = 1.4826 * np.median(np.abs(w - m[:, None]), axis=-1)
    x = a["x"][5:-5]
    return np.where(np.abs(x - m) > 3 * s, m, x)


def hampel_torch(torch: Any, a: Any) -> Any:
    w = a["x"].unfold(0, 11, 1)
    m = w.median(1).values
    s = 1.4826 * (w - m[:, None]).abs().median(1).values
    x = a["x"][5:-5]
    return torch.where((x - m).abs() > 3 * s, m, x)


def hampel_jax(jax: Any, a: Any) -> Any:
    np, n = jax.numpy, len(a["x"]) - 10
    w = np.stack([a["x"][k:k + n] for k in range(11)])
    m = np.median(w, axis=0)
    s = 1.4826 * np.median(np.abs(w - m), axis=0)
    x = a["x"][5:-5]
    return np.where(np.abs(x - m) > 3 * s, m, x)


# ---- Numbers -----------------------------------------------------------------------------------------
def survival_torch(torch: Any, a: Any) -> Any:
    left = a["n"].sum(1, keepdim=True) - a["n"].cumsum(1) + a["n"]
    s = torch.cumprod(1 - a["d"] / left.clamp(min=1), 1)
    return s, s.sum(1)


def larger_life_numpy(np: Any, a: Any) -> Any:
    s = a["s"]
    p = np.pad(s, 2, mode="wrap")
    h, w = s.shape
    r = p[:h] + p[1:h + 1] + p[2:h + 2] + p[3:h + 3] + p[4:h + 4]
    n = r[:, :w] + r[:, 1:w + 1] + r[:, 2:w + 2] + r[:, 3:w + 3] + r[:, 4:w + 4]
    return (((s == 1) & (n >= 7) & (n <= 11)) | ((s == 0) & (n >= 8) & (n <= 10))).astype("u1")


def larger_life_jax(jax: Any, a: Any) -> Any:
    return larger_life_numpy(jax.numpy, a)


def larger_life_torch(torch: Any, a: Any) -> Any:
    s = a["s"]
    p = torch.cat((s[-2:], s, s[:2]))
    p = torch.cat((p[:, -2:], p, p[:, :2]), 1)
    h, w = s.shape
    r = p[:h] + p[1:h + 1] + p[2:h + 2] + p[3:h + 3] + p[4:h + 4]
    n = r[:, :w] + r[:, 1:w + 1] + r[:, 2:w + 2] + r[:, 3:w + 3] + r[:, 4:w + 4]
    return (((s == 1) & (n >= 7) & (n <= 11)) | ((s == 0) & (n >= 8) & (n <= 10))).byte()
