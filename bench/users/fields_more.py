"""Programs of audio, physics, inference, statistics and graphs, as new users would write them first."""

from __future__ import annotations

from typing import Any

import numpy as np

import fields_more_peers as peers
from hands import call, empty
from program import Arrays, Program

Generator = np.random.Generator


def f4(x: Any) -> np.ndarray:
    return np.ascontiguousarray(x, dtype=np.float32)


def results(function: Any, inputs: tuple, *outputs: Any) -> tuple:
    """The fresh results of a C function that writes several."""
    call(function, *inputs, *outputs)
    return outputs


# ---- Audio ------------------------------------------------------------------------------------------
def spectrogram(rng: Generator) -> Arrays:
    return {"m": f4(rng.exponential(1, (3000, 1025))), "f": f4(np.linspace(0, 22050, 1025))}


def spectral_centroid(rd: Any, a: Arrays) -> Any:
    m, f = a["m"], a["f"]
    total = rd.sum(m, axis=1)
    centroid = rd.sum(f * m, axis=1) / total
    bandwidth = rd.sqrt(rd.sum(m * (f - centroid[:, None]) ** 2, axis=1) / total)
    return centroid, bandwidth


def rms_envelope(rd: Any, a: Arrays) -> Any:
    frames = rd.sliding_window_view(a["x"], 2048)[::512]
    return 20 * rd.log10(rd.sqrt(rd.mean(frames ** 2, axis=-1)) + 1e-6)


def zero_crossings(rd: Any, a: Arrays) -> Any:
    positive = a["x"] >= 0
    return rd.mean(positive[:, 1:] != positive[:, :-1], axis=1)


def noise_gate(rd: Any, a: Arrays) -> Any:
    level = rd.rolling_max(rd.abs(a["x"]), 441)
    return rd.where(level > 1.5, a["x"][440:], 0)


def yin(rd: Any, a: Arrays) -> Any:
    """The difference function of a pitch detector by its running mean."""
    x = a["frames"]
    later = rd.sliding_window_view(x, 512, axis=1)[:, 1:256]
    d = rd.sum((x[:, None, :512] - later) ** 2, axis=-1)
    return d * rd.arange(1, 256, dtype="float32") / rd.cumsum(d, axis=1)


def stems(rng: Generator) -> Arrays:
    return {"stems": rng.integers(-8000, 8000, (16, 220_500)).astype(np.int16), "gains": f4(rng.uniform(0, 1, (16, 2)))}


def mix(rd: Any, a: Arrays) -> Any:
    both = a["gains"].T @ (a["stems"].astype("float32") / 32768)
    return (rd.tanh(both) * 32767).astype("int16")


# ---- Physics ----------------------------------------------------------------------------------------
def ising(rd: Any, a: Arrays) -> Any:
    s = a["s"]
    return -rd.sum(s * (rd.roll(s, 1, axis=0) + rd.roll(s, 1, axis=1))), rd.mean(s)


def chain(rng: Generator) -> Arrays:
    return {"x": np.arange(500) + 0.1 * rng.standard_normal(500), "v": rng.standard_normal(498)}


def leapfrog(rd: Any, a: Arrays) -> Any:
    def force(x: Any) -> Any:
        d = rd.diff(x) - 1
        f = d + 0.25 * d ** 2
        return f[1:] - f[:-1]
    x, dt = a["x"], 0.01
    half = a["v"] + dt / 2 * force(x)
    new = rd.concatenate((x[:1], x[1:-1] + dt * half, x[-1:]))
    return new, half + dt / 2 * force(new)


def charges(rng: Generator) -> Arrays:
    return {"x": f4(np.linspace(0, 4, 400)), "y": f4(np.linspace(0, 3, 300)), "p": f4(rng.uniform(0, 4, (150, 3))),
            "q": f4(rng.standard_normal(150))}


def coulomb(rd: Any, a: Arrays) -> Any:
    p = a["p"]
    r = rd.sqrt((a["x"][None, :, None] - p[:, 0]) ** 2 + (a["y"][:, None, None] - p[:, 1]) ** 2 + p[:, 2] ** 2)
    return rd.sum(a["q"] / r, axis=-1)


def gas(rng: Generator) -> Arrays:
    n = 50_000
    return {"v": rng.standard_normal((n, 3)) + 1, "m": rng.choice([1.0, 4.0, 16.0], n), "z": rng.uniform(0, 10, n)}


def temperature(rd: Any, a: Arrays) -> Any:
    v, m, slab = a["v"], a["m"], (a["z"] / 10 * 40).astype(int)
    drift = rd.average(v, axis=0, weights=m)
    energy = m * rd.sum((v - drift) ** 2, axis=1) / 2
    return rd.mean(energy, by=slab, groups=40) / 1.5


def poisson_inputs(rng: Generator) -> Arrays:
    return {"u": rng.standard_normal((100, 120, 140)), "f": rng.standard_normal((100, 120, 140))}


def poisson(rd: Any, a: Arrays) -> Any:
    u, h = a["u"], 0.01
    laplace = (u[2:, 1:-1, 1:-1] + u[:-2, 1:-1, 1:-1] + u[1:-1, 2:, 1:-1] + u[1:-1, :-2, 1:-1] + u[1:-1, 1:-1, 2:]
               + u[1:-1, 1:-1, :-2] - 6 * u[1:-1, 1:-1, 1:-1]) / h ** 2
    r = a["f"][1:-1, 1:-1, 1:-1] - laplace
    return rd.sqrt(rd.mean(r ** 2)), rd.max(rd.abs(r))


def radial_distribution(rd: Any, a: Arrays) -> Any:
    x, box = a["x"], 12.0
    d = x[:, None] - x
    d = d - box * rd.round(d / box)
    r = rd.sqrt(rd.sum(d ** 2, axis=-1))
    return rd.histogram(r, bins=100, range=(0, 6))[0]


# ---- Inference --------------------------------------------------------------------------------------
def layer(rng: Generator) -> Arrays:
    return {"x": f4(rng.standard_normal((197, 384))), "w1": f4(rng.standard_normal((384, 1536)) / 20),
            "b1": f4(rng.standard_normal(1536)), "w2": f4(rng.standard_normal((1536, 384)) / 40),
            "b2": f4(rng.standard_normal(384)), "scale": f4(rng.uniform(0.5, 1.5, 384)), "shift": f4(rng.standard_normal(384))}


def mlp(rd: Any, a: Arrays) -> Any:
    h = rd.layer_norm(a["x"], eps=1e-5) * a["scale"] + a["shift"]
    return a["x"] + rd.gelu(h @ a["w1"] + a["b1"]) @ a["w2"] + a["b2"]


def rope_inputs(rng: Generator) -> Arrays:
    angle = np.arange(300)[:, None] * 10000.0 ** -(np.arange(64) / 64)
    return {"q": f4(rng.standard_normal((300, 12, 128))), "cos": f4(np.cos(angle)), "sin": f4(np.sin(angle))}


def rope(rd: Any, a: Arrays) -> Any:
    left, right = a["q"][..., :64], a["q"][..., 64:]
    cos, sin = a["cos"][:, None], a["sin"][:, None]
    return rd.concatenate((left * cos - right * sin, right * cos + left * sin), axis=-1)


def maps(rng: Generator) -> Arrays:
    c = {name: f4(rng.uniform(0.5, 1.5, 64)) for name in ("mean", "var", "scale", "shift")}
    return {"x": f4(rng.standard_normal((64, 112, 112))), **c}


def norm_relu_pool(rd: Any, a: Arrays) -> Any:
    mean, var, scale, shift = (a[name][:, None, None] for name in ("mean", "var", "scale", "shift"))
    y = rd.relu((a["x"] - mean) / rd.sqrt(var + 1e-5) * scale + shift)
    return y.reshape(64, 56, 2, 56, 2).max(axis=(2, 4))


def beams(rng: Generator) -> Arrays:
    return {"logits": f4(rng.standard_normal((8, 32_000)) * 3), "score": f4(rng.standard_normal(8))}


def beam_search(rd: Any, a: Arrays) -> Any:
    total = (a["score"][:, None] + rd.log_softmax(a["logits"], axis=1)).reshape(-1)
    best = rd.arg_top_k(total, 8)
    return total[best], best // 32_000, best % 32_000


def quantised(rng: Generator) -> Arrays:
    return {"x": f4(rng.standard_normal((30, 1024))), "w": rng.integers(-127, 128, (1024, 1000)).astype(np.int8),
            "scale": f4(rng.uniform(0.001, 0.01, 1000))}


def int8_matmul(rd: Any, a: Arrays) -> Any:
    return a["x"] @ (a["w"].astype("float32") * a["scale"])


def photo(rng: Generator) -> Arrays:
    def places(n: int, size: int) -> tuple:
        at = np.clip((np.arange(n) + 0.5) * size / n - 0.5, 0, size - 1)
        low = np.minimum(at.astype(np.int64), size - 2)
        return low, f4(at - low)
    y, fy = places(224, 480)
    x, fx = places(224, 640)
    return {"image": rng.integers(0, 256, (480, 640, 3), dtype=np.uint8), "y": y, "fy": fy, "x": x, "fx": fx,
            "mean": f4([0.485, 0.456, 0.406]), "std": f4([0.229, 0.224, 0.225])}


def resize(rd: Any, a: Arrays) -> Any:
    image, y, x = a["image"].astype("float32"), a["y"], a["x"]
    fy, fx = a["fy"][:, None, None], a["fx"][:, None]
    top = image[y][:, x] * (1 - fx) + image[y][:, x + 1] * fx
    low = image[y + 1][:, x] * (1 - fx) + image[y + 1][:, x + 1] * fx
    small = top * (1 - fy) + low * fy
    return ((small / 255 - a["mean"]) / a["std"]).transpose(2, 0, 1)


# ---- Statistics -------------------------------------------------------------------------------------
def resamples(rng: Generator) -> Arrays:
    return {"x": rng.standard_normal(500), "places": rng.integers(0, 500, (2000, 500)).astype(np.int32)}


def bootstrap(rd: Any, a: Arrays) -> Any:
    return rd.quantile(rd.mean(a["x"][a["places"]], axis=1), [0.025, 0.975])


def two_samples(rng: Generator) -> Arrays:
    return {"p": rng.standard_normal(40_000), "q": rng.standard_normal(30_000) * 1.02}


def kolmogorov_smirnov(rd: Any, a: Arrays) -> Any:
    both = rd.concatenate((a["p"], a["q"]))
    p = rd.searchsorted(rd.sort(a["p"]), both, side="right") / 40_000
    q = rd.searchsorted(rd.sort(a["q"]), both, side="right") / 30_000
    return rd.max(rd.abs(p - q))


def density_inputs(rng: Generator) -> Arrays:
    return {"x": rng.standard_normal(25_000), "at": np.linspace(-4, 4, 401)}


def density(rd: Any, a: Arrays) -> Any:
    """Epanechnikov's kernel."""
    u = (a["at"][:, None] - a["x"]) / 0.3
    return rd.mean(rd.maximum(1 - u ** 2, 0), axis=1) * 0.75 / 0.3


def survey(rng: Generator) -> Arrays:
    return {"x": rng.lognormal(10, 1, 100_000), "w": rng.uniform(0.1, 5, 100_000), "q": np.array([0.1, 0.5, 0.9])}


def weighted_quantile(rd: Any, a: Arrays) -> Any:
    order = rd.argsort(a["x"])
    below = rd.cumsum(a["w"][order])
    return a["x"][order][rd.searchsorted(below, a["q"] * below[-1])]


def outliers(rng: Generator) -> Arrays:
    x = rng.standard_normal((3000, 6)) @ rng.standard_normal((6, 6))
    return {"x": x, "inverse": np.linalg.inv(np.cov(x, rowvar=False))}


def mahalanobis(rd: Any, a: Arrays) -> Any:
    d = a["x"] - rd.mean(a["x"], axis=0)
    return rd.sqrt(rd.sum((d @ a["inverse"]) * d, axis=1))


def answers(rng: Generator) -> Arrays:
    return {"p": rng.integers(0, 12, 1_000_000, dtype=np.uint8), "q": rng.integers(0, 7, 1_000_000, dtype=np.uint8)}


def contingency(rd: Any, a: Arrays) -> Any:
    table = rd.sum(rd.ones(1_000_000, dtype=int), by=(a["p"], a["q"]), groups=(12, 7))
    expected = rd.sum(table, axis=1)[:, None] * rd.sum(table, axis=0) / 1_000_000
    return rd.sum((table - expected) ** 2 / expected), table


# ---- Graphs -----------------------------------------------------------------------------------------
def edges(rng: Generator, n: int, m: int, k: int = 1) -> Arrays:
    ends = (n * rng.power(0.7, (2, m))).astype(np.int32) % n
    return {"src": np.ascontiguousarray(ends[0]), "dst": np.ascontiguousarray(ends[1]), "n": n,
            "w": f4(rng.uniform(0.1, 2, m)), "group": rng.integers(0, k, n).astype(np.int32)}


def neighbour_degree(rd: Any, a: Arrays) -> Any:
    degree = rd.bincount(a["src"], minlength=a["n"])
    total = rd.bincount(a["src"], weights=degree[a["dst"]], minlength=a["n"])
    return total / rd.maximum(degree, 1)


def links(rng: Generator) -> Arrays:
    n = 20_000
    degree = np.minimum(rng.zipf(1.8, n), 300)
    pos = np.concatenate([[0], np.cumsum(degree)])
    crd = np.concatenate([np.sort(rng.choice(n, d, replace=False)) for d in degree])
    return {"pos": pos.astype(np.int64), "crd": crd.astype(np.int64), "one": np.ones(len(crd)), "n": n,
            "hub": rng.uniform(0, 1, n), "label": rng.integers(0, 16, n)}


def hits(rd: Any, a: Arrays) -> Any:
    matrix = rd.sparse.csr(a["one"], a["crd"], a["pos"], shape=(a["n"], a["n"]))
    authority = matrix.T @ a["hub"]
    authority = authority / rd.norm(authority)
    hub = matrix @ authority
    return authority, hub / rd.norm(hub)


def bellman_ford_inputs(rng: Generator) -> Arrays:
    return {**edges(rng, 50_000, 400_000), "dist": f4(rng.uniform(0, 20, 50_000))}


def bellman_ford(rd: Any, a: Arrays) -> Any:
    reached = rd.min(a["dist"][a["src"]] + a["w"], by=a["dst"], groups=a["n"], initial=np.inf)
    return rd.minimum(a["dist"], reached)


def pairs_of_nodes(rng: Generator) -> Arrays:
    return {"adjacent": (rng.random((1500, 1500)) < 0.05).astype(np.uint8), "u": rng.integers(0, 1500, 4000),
            "v": rng.integers(0, 1500, 4000)}


def common_neighbours(rd: Any, a: Arrays) -> Any:
    """How many neighbours two nodes share, of those that any of them has."""
    u, v = a["adjacent"][a["u"]], a["adjacent"][a["v"]]
    return rd.sum(u & v, axis=1) / rd.sum(u | v, axis=1)


def label_propagation(rd: Any, a: Arrays) -> Any:
    matrix = rd.sparse.csr(a["one"], a["crd"], a["pos"], shape=(a["n"], a["n"]))
    return rd.argmax(matrix @ rd.eye(16)[a["label"]], axis=1)


def modularity(rd: Any, a: Arrays) -> Any:
    src, dst = a["group"][a["src"]], a["group"][a["dst"]]
    one = rd.ones(400_000)
    out, into = (rd.sum(one, by=label, groups=40) / 400_000 for label in (src, dst))
    return rd.mean(src == dst) - rd.sum(out * into)


PROGRAMS = [
    Program("spectral_centroid", "audio", spectrogram, spectral_centroid, peers.of("spectral_centroid"),
            lambda c, a: results(c.spectral_centroid, (a["m"], a["f"], 3000, 1025), empty(3000), empty(3000))),
    Program("rms_envelope", "audio", lambda rng: {"x": f4(rng.standard_normal(2_646_000))}, rms_envelope,
            peers.of("rms_envelope"), lambda c, a: call(c.rms_envelope, a["x"], 5164, empty(5164))),
    Program("zero_crossings", "audio", lambda rng: {"x": rng.integers(-3000, 3000, (200, 1103)).astype(np.int16)},
            zero_crossings, peers.of("zero_crossings"), lambda c, a: call(c.zero_crossings, a["x"], 200, 1103, empty(200, "f8"))),
    Program("noise_gate", "audio", lambda rng: {"x": f4(rng.standard_normal(500_000) / 3)}, noise_gate, peers.of("noise_gate"),
            lambda c, a: call(c.noise_gate, a["x"], 500_000, empty(499_560))),
    Program("yin", "audio", lambda rng: {"frames": f4(rng.standard_normal((200, 1024)))}, yin, peers.of("yin"),
            lambda c, a: call(c.yin, a["frames"], 200, empty((200, 255)))),
    Program("mix", "audio", stems, mix, peers.of("mix"),
            lambda c, a: call(c.mix, a["stems"], a["gains"], 220_500, empty((2, 220_500), "i2"))),

    Program("ising", "physics", lambda rng: {"s": rng.choice([-1, 1], (1000, 1200)).astype(np.int8)}, ising, peers.of("ising"),
            lambda c, a: results(c.ising, (a["s"], 1000, 1200), empty((), "i8"), empty((), "f8"))),
    Program("leapfrog", "physics", chain, leapfrog, peers.of("leapfrog"),
            lambda c, a: results(c.leapfrog, (a["x"], a["v"], 500), empty(500, "f8"), empty(498, "f8"))),
    Program("coulomb", "physics", charges, coulomb, peers.of("coulomb"),
            lambda c, a: call(c.coulomb, a["x"], a["y"], a["p"], a["q"], 400, 300, 150, empty((300, 400)))),
    Program("temperature", "physics", gas, temperature, peers.of("temperature"),
            lambda c, a: call(c.temperature, a["v"], a["m"], a["z"], 50_000, empty(40, "f8"))),
    Program("poisson", "physics", poisson_inputs, poisson, peers.of("poisson"),
            lambda c, a: results(c.poisson, (a["u"], a["f"], 100, 120, 140), empty((), "f8"), empty((), "f8"))),
    Program("radial_distribution", "physics", lambda rng: {"x": f4(rng.uniform(0, 12, (1500, 3)))}, radial_distribution,
            peers.of("radial_distribution"), lambda c, a: call(c.radial_distribution, a["x"], 1500, empty(100, "i8"))),

    Program("mlp", "inference", layer, mlp, peers.of("mlp"),
            lambda c, a: call(c.mlp, *(a[name] for name in ("x", "w1", "b1", "w2", "b2", "scale", "shift")), empty((197, 384)))),
    Program("rope", "inference", rope_inputs, rope, peers.of("rope"),
            lambda c, a: call(c.rope, a["q"], a["cos"], a["sin"], 300, 12, empty((300, 12, 128)))),
    Program("norm_relu_pool", "inference", maps, norm_relu_pool, peers.of("norm_relu_pool"),
            lambda c, a: call(c.norm_relu_pool, *(a[name] for name in ("x", "mean", "var", "scale", "shift")),
                              empty((64, 56, 56)))),
    Program("beam_search", "inference", beams, beam_search, peers.of("beam_search"),
            lambda c, a: results(c.beam_search, (a["logits"], a["score"], 8, 32_000), empty(8), empty(8, "i8"), empty(8, "i8"))),
    Program("int8_matmul", "inference", quantised, int8_matmul, peers.of("int8_matmul"),
            lambda c, a: call(c.int8_matmul, a["x"], a["w"], a["scale"], 30, 1000, 1024, empty((30, 1000)))),
    Program("resize", "inference", photo, resize, peers.of("resize"),
            lambda c, a: call(c.resize, *(a[name] for name in ("image", "y", "fy", "x", "fx", "mean", "std")),
                              empty((3, 224, 224)))),

    Program("bootstrap", "statistics", resamples, bootstrap, peers.of("bootstrap"),
            lambda c, a: call(c.bootstrap, a["x"], a["places"], 2000, 500, empty(2, "f8"))),
    Program("kolmogorov_smirnov", "statistics", two_samples, kolmogorov_smirnov, peers.of("kolmogorov_smirnov"),
            lambda c, a: call(c.kolmogorov_smirnov, a["p"], a["q"], 40_000, 30_000, empty((), "f8"))),
    Program("density", "statistics", density_inputs, density, peers.of("density"),
            lambda c, a: call(c.density, a["at"], a["x"], 401, 25_000, empty(401, "f8"))),
    Program("weighted_quantile", "statistics", survey, weighted_quantile, peers.of("weighted_quantile"),
            lambda c, a: call(c.weighted_quantile, a["x"], a["w"], 100_000, a["q"], 3, empty(3, "f8"))),
    Program("mahalanobis", "statistics", outliers, mahalanobis, peers.of("mahalanobis"),
            lambda c, a: call(c.mahalanobis, a["x"], a["inverse"], 3000, empty(3000, "f8"))),
    Program("contingency", "statistics", answers, contingency, peers.of("contingency"),
            lambda c, a: results(c.contingency, (a["p"], a["q"], 1_000_000), empty((), "f8"), empty((12, 7), "i8"))),

    Program("neighbour_degree", "graphs", lambda rng: edges(rng, 60_000, 500_000), neighbour_degree, peers.of("neighbour_degree"),
            lambda c, a: call(c.neighbour_degree, a["src"], a["dst"], 500_000, a["n"], empty(60_000, "f8"))),
    Program("hits", "graphs", links, hits, peers.of("hits"),
            lambda c, a: results(c.hits, (a["pos"], a["crd"], a["hub"], a["n"]), empty(20_000, "f8"), empty(20_000, "f8"))),
    Program("bellman_ford", "graphs", bellman_ford_inputs, bellman_ford, peers.of("bellman_ford"),
            lambda c, a: call(c.bellman_ford, a["src"], a["dst"], a["w"], a["dist"], 400_000, a["n"], empty(50_000))),
    Program("common_neighbours", "graphs", pairs_of_nodes, common_neighbours, peers.of("common_neighbours"),
            lambda c, a: call(c.common_neighbours, a["adjacent"], a["u"], a["v"], 1500, 4000, empty(4000, "f8"))),
    Program("label_propagation", "graphs", links, label_propagation, peers.of("label_propagation"),
            lambda c, a: call(c.label_propagation, a["pos"], a["crd"], a["label"], a["n"], empty(20_000, "i8"))),
    Program("modularity", "graphs", lambda rng: edges(rng, 50_000, 400_000, 40), modularity, peers.of("modularity"),
            lambda c, a: call(c.modularity, a["src"], a["dst"], a["group"], 400_000, empty((), "f8"))),
]
