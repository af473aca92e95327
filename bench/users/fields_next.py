"""Programs of further fields, as new users would write them first."""

from __future__ import annotations

from typing import Any

import numpy as np

import fields_next_peers as peers
from hands import call, empty
from program import Arrays, Program

Generator = np.random.Generator


def f4(x: Any) -> np.ndarray:
    return np.ascontiguousarray(x, dtype=np.float32)


# ---- Earth and sky -----------------------------------------------------------------------------------
def phase_dispersion(rd: Any, a: Arrays) -> Any:
    phase = (a["t"] / a["p"][:, None]) % 1
    cell = (phase * 20).astype(int)
    y = rd.broadcast_to(a["y"], cell.shape)
    return rd.sum(rd.var(y, axis=1, by=cell, groups=20), axis=-1) / rd.var(a["y"])


def hillshade(rd: Any, a: Arrays) -> Any:
    dy, dx = rd.gradient(a["dem"], 30.0)
    slope = rd.arctan(rd.hypot(dx, dy))
    aspect = rd.arctan2(-dx, dy)
    azimuth, altitude = np.radians(315.0), np.radians(45.0)
    shade = np.sin(altitude) * rd.cos(slope) + np.cos(altitude) * rd.sin(slope) * rd.cos(azimuth - aspect)
    return rd.clip(255 * shade, 0, 255).astype("uint8"), rd.degrees(slope)


def ndvi_median(rd: Any, a: Arrays) -> Any:
    red, nir = a["red"].astype("float32"), a["nir"].astype("float32")
    cloud = (a["qa"] >> 3) & 3 != 0
    return rd.nanmedian(rd.where(cloud, np.nan, (nir - red) / (nir + red)), axis=0)


# ---- Scenes and points -------------------------------------------------------------------------------
def ray_boxes(rd: Any, a: Arrays) -> Any:
    o, inv = a["o"][:, None], 1 / a["d"][:, None]
    t0, t1 = (a["lo"] - o) * inv, (a["hi"] - o) * inv
    near = rd.max(rd.minimum(t0, t1), axis=-1)
    far = rd.min(rd.maximum(t0, t1), axis=-1)
    hit = (far >= near) & (far > 0)
    return rd.min(rd.where(hit, near, 100), axis=1), rd.sum(hit, axis=1)


def voxels(rd: Any, a: Arrays) -> Any:
    cell = rd.floor(a["p"] / 0.25).astype("int32")
    key = (cell[:, 0] * 32 + cell[:, 1]) * 32 + cell[:, 2]
    return rd.mean(a["p"], axis=0, by=key, groups=32 ** 3)


def local_covariance(rd: Any, a: Arrays) -> Any:
    near = a["p"][a["near"]]
    d = near - rd.mean(near, axis=1, keepdims=True)
    return rd.einsum("nki,nkj->nij", d, d) / 16


def kalman(rd: Any, a: Arrays) -> Any:
    f = np.array([[1, 0.1], [0, 1]])
    x = a["x"] @ f.T
    p = f @ a["p"] @ f.T + 0.01 * np.eye(2)
    k = p[:, :, 0] / (p[:, :1, 0] + 0.5)
    x = x + k * (a["z"] - x[:, 0])[:, None]
    return x, p - k[:, :, None] * p[:, :1, :]


# ---- Learning ----------------------------------------------------------------------------------------
def recommend(rd: Any, a: Arrays) -> Any:
    score = rd.sum(a["users"][a["u"]] * a["items"][a["i"]], axis=1) + a["bias"][a["i"]]
    return rd.sigmoid(score)


def smooth_loss(rd: Any, a: Arrays) -> Any:
    hot = a["y"][:, None] == rd.arange(100)
    target = rd.where(hot, 0.9 + 0.1 / 100, 0.1 / 100)
    return -rd.mean(rd.sum(target * rd.log_softmax(a["z"], axis=1), axis=1))


def ndcg(rd: Any, a: Arrays) -> Any:
    order = rd.argsort(-a["s"], axis=1)[:, :10]
    discount = 1 / np.log2(np.arange(2, 12))
    gain = rd.sum((2 ** rd.take_along_axis(a["rel"], order, axis=1) - 1) * discount, axis=1)
    best = rd.sum((2 ** rd.flip(rd.sort(a["rel"], axis=1), axis=1)[:, :10] - 1) * discount, axis=1)
    return rd.mean(gain / best)


def returns(rd: Any, a: Arrays) -> Any:
    g = 0.99 ** rd.arange(a["r"].shape[1])
    r = a["r"] * g
    return rd.flip(rd.cumsum(rd.flip(r, axis=1), axis=1), axis=1) / g


# ---- Bits and dates ----------------------------------------------------------------------------------
def tanimoto(rd: Any, a: Arrays) -> Any:
    p, q = a["p"][:, None], a["q"]
    both = rd.sum(rd.bitwise_count(p & q), axis=-1)
    either = rd.sum(rd.bitwise_count(p | q), axis=-1)
    return rd.max(both / either, axis=1)


def base64(rd: Any, a: Arrays) -> Any:
    b = a["b"].astype("uint32")
    n = (b[:, 0] << 16) | (b[:, 1] << 8) | b[:, 2]
    return a["table"][(n[:, None] >> np.array([18, 12, 6, 0], dtype="uint32")) & 63]


def calendar(rd: Any, a: Arrays) -> Any:
    z = a["day"] + 719468
    era = z // 146097
    doe = z - era * 146097
    yoe = (doe - doe // 1460 + doe // 36524 - doe // 146096) // 365
    doy = doe - (365 * yoe + yoe // 4 - yoe // 100)
    mp = (5 * doy + 2) // 153
    day = doy - (153 * mp + 2) // 5 + 1
    month = rd.where(mp < 10, mp + 3, mp - 9)
    return yoe + era * 400 + (month <= 2), month, day


def adler(rd: Any, a: Arrays) -> Any:
    b = a["b"].astype("int64")
    n = b.shape[1]
    low = (1 + rd.sum(b, axis=1)) % 65521
    high = (n + rd.sum(b * rd.arange(n, 0, -1), axis=1)) % 65521
    return (high << 16) | low


def value_noise(rd: Any, a: Arrays) -> Any:
    x, y = a["x"], a["y"][:, None]
    i, j = rd.floor(x), rd.floor(y)

    def corner(u: Any, v: Any) -> Any:
        h = u.astype("int64").astype("uint32") * np.uint32(374761393)
        h = h + v.astype("int64").astype("uint32") * np.uint32(668265263)
        h = (h ^ (h >> 13)) * np.uint32(1274126177)
        return (h ^ (h >> 16)).astype("float32") / 4294967295.0
    fx, fy = x - i, y - j
    fx, fy = fx * fx * (3 - 2 * fx), fy * fy * (3 - 2 * fy)
    top = corner(i, j) * (1 - fx) + corner(i + 1, j) * fx
    low = corner(i, j + 1) * (1 - fx) + corner(i + 1, j + 1) * fx
    return top * (1 - fy) + low * fy


# ---- Signals -----------------------------------------------------------------------------------------
def coils(rd: Any, a: Arrays) -> Any:
    return rd.sqrt(rd.sum(rd.abs(a["k"]) ** 2, axis=0)), rd.angle(rd.sum(a["k"] * rd.conj(a["s"]), axis=0))


def hampel(rd: Any, a: Arrays) -> Any:
    w = rd.sliding_window_view(a["x"], 11)
    middle = rd.median(w, axis=-1)
    spread = 1.4826 * rd.median(rd.abs(w - middle[:, None]), axis=-1)
    x = a["x"][5:-5]
    return rd.where(rd.abs(x - middle) > 3 * spread, middle, x)


# ---- Numbers -----------------------------------------------------------------------------------------
def julia(rd: Any, a: Arrays) -> Any:
    z = a["z"]
    count = rd.zeros(z.shape, dtype="int32")
    for _ in range(20):
        z = rd.where(rd.abs(z) < 2, z * z + (-0.4 + 0.6j), z)
        count = count + (rd.abs(z) < 2)
    return count


def survival(rd: Any, a: Arrays) -> Any:
    left = rd.sum(a["n"], axis=1, keepdims=True) - rd.cumsum(a["n"], axis=1) + a["n"]
    s = rd.cumprod(1 - a["d"] / rd.maximum(left, 1), axis=1)
    return s, rd.sum(s, axis=1)


def larger_life(rd: Any, a: Arrays) -> Any:
    s = a["s"]
    n = rd.sum(rd.sliding_window_view(rd.pad(s, 2, mode="wrap"), (5, 5)), axis=(-2, -1))
    return (((s == 1) & (n >= 7) & (n <= 11)) | ((s == 0) & (n >= 8) & (n <= 10))).astype("uint8")


# ---- Inputs and loops ----------------------------------------------------------------------------------
def ints(rng: Generator, low: int, high: int, shape: Any, dtype: str) -> np.ndarray:
    return rng.integers(low, high, shape).astype(dtype)


def scores(rng: Generator, rows: int, columns: int) -> Arrays:
    return {"z": f4(rng.standard_normal((rows, columns))), "y": rng.integers(0, columns, rows)}


def rays(rng: Generator) -> Arrays:
    lo = rng.uniform(-10, 10, (300, 3))
    return {"o": f4(rng.uniform(-12, 12, (2000, 3))), "d": f4(rng.standard_normal((2000, 3))), "lo": f4(lo),
            "hi": f4(lo + rng.uniform(0.5, 3, (300, 3)))}


def satellite(rng: Generator) -> Arrays:
    shape = (12, 200, 300)
    return {"red": ints(rng, 100, 4000, shape, "u2"), "nir": ints(rng, 100, 6000, shape, "u2"),
            "qa": ints(rng, 0, 64, shape, "u2")}


def filters(rng: Generator) -> Arrays:
    n = 50_000
    return {"x": rng.standard_normal((n, 2)), "p": rng.standard_normal((n, 2, 2)) + 3 * np.eye(2), "z": rng.standard_normal(n)}


def factors(rng: Generator) -> Arrays:
    n = 100_000
    return {"users": f4(rng.standard_normal((3000, 32))), "items": f4(rng.standard_normal((2000, 32))),
            "bias": f4(rng.standard_normal(2000)), "u": rng.integers(0, 3000, n), "i": rng.integers(0, 2000, n)}


def survivors(rng: Generator) -> Arrays:
    n = rng.integers(1, 9, (1000, 365))
    return {"n": n, "d": rng.binomial(n, 0.3)}


def c8(rng: Generator, shape: Any) -> np.ndarray:
    return (rng.standard_normal(shape) + 1j * rng.standard_normal(shape)).astype("c8")


def results(function: Any, inputs: tuple, *outputs: Any) -> tuple:
    """The fresh results of a C function that writes several."""
    call(function, *inputs, *outputs)
    return outputs


HANDS = {
    "ray_boxes": lambda c, a: results(c.ray_boxes, (a["o"], a["d"], a["lo"], a["hi"], 2000, 300), empty(2000),
                                      empty(2000, "i8")),
    "tanimoto": lambda c, a: call(c.tanimoto, a["p"], a["q"], 500, 700, empty(500, "f8")),
    "calendar": lambda c, a: results(c.calendar, (a["day"], 500_000), *(empty(500_000, "i8") for _ in range(3))),
    "survival": lambda c, a: results(c.survival, (a["n"], a["d"], 1000, 365), empty((1000, 365), "f8"), empty(1000, "f8")),
    "larger_life": lambda c, a: call(c.larger_life, a["s"], 800, 1000, empty((800, 1000), "u1")),
    "recommend": lambda c, a: call(c.recommend, *(a[k] for k in ("users", "items", "bias", "u", "i")), 100_000, empty(100_000)),
}


def row(name: str, field: str, inputs: Any, alike: str = "", tolerance: float = 1e-4) -> Program:
    """`alike`: the libraries that take the program as it stands."""
    function = globals()[name]
    return Program(name, field, inputs, function, peers.of(name, function, alike), HANDS.get(name), tolerance=tolerance)


BOTH = "numpy jax"
PROGRAMS = [
    row("phase_dispersion", "astronomy",
        lambda g: {"t": np.sort(g.uniform(0, 100, 3000)), "y": g.standard_normal(3000), "p": np.linspace(0.5, 9, 150)}),
    row("hillshade", "rasters", lambda g: {"dem": f4(np.cumsum(g.standard_normal((700, 900)), axis=1))}, BOTH, 2e-2),
    row("ndvi_median", "rasters", satellite, BOTH),
    row("ray_boxes", "geometry", rays, BOTH),
    row("voxels", "points", lambda g: {"p": f4(g.uniform(0, 8, (200_000, 3)))}),
    row("local_covariance", "points",
        lambda g: {"p": f4(g.standard_normal((20_000, 3))), "near": ints(g, 0, 20_000, (20_000, 16), "i8")}, BOTH),
    row("kalman", "control", filters, BOTH),
    row("recommend", "recommenders", factors),
    row("smooth_loss", "learning", lambda g: scores(g, 8000, 100)),
    row("ndcg", "learning",
        lambda g: {"s": f4(g.standard_normal((3000, 120))), "rel": ints(g, 0, 5, (3000, 120), "i8")}, BOTH),
    row("returns", "control", lambda g: {"r": g.standard_normal((128, 1000))}, BOTH),
    row("tanimoto", "chemistry",
        lambda g: {"p": ints(g, 0, 1 << 62, (500, 16), "u8"), "q": ints(g, 0, 1 << 62, (700, 16), "u8")}, "numpy"),
    row("base64", "bits", lambda g: {"b": ints(g, 0, 256, (200_000, 3), "u1"), "table": ints(g, 43, 123, 64, "u1")}, BOTH),
    row("calendar", "dates", lambda g: {"day": ints(g, -100_000, 100_000, 500_000, "i8")}, BOTH),
    row("adler", "bits", lambda g: {"b": ints(g, 0, 256, (500, 4096), "u1")}, BOTH),
    row("value_noise", "graphics", lambda g: {"x": f4(np.linspace(0, 40, 700)), "y": f4(np.linspace(0, 30, 500))}, BOTH),
    row("coils", "scanners", lambda g: {"k": c8(g, (12, 256, 256)), "s": c8(g, (12, 256, 256))}, BOTH, 2e-3),
    row("hampel", "sensors", lambda g: {"x": g.standard_normal(60_000)}),
    row("julia", "graphics",
        lambda g: {"z": np.linspace(-1.5, 1.5, 300) + 1j * np.linspace(-1, 1, 200)[:, None]}, BOTH, 1e-2),
    row("survival", "medicine", survivors, BOTH),
    row("larger_life", "automata", lambda g: {"s": ints(g, 0, 2, (800, 1000), "u1")}),
]
