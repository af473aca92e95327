"""The programs of fields_more.py in NumPy, SciPy, PyTorch, JAX, OpenCV and bottleneck.

A function is named for its program and its library, and `of` collects those of one program.  Where NumPy's and JAX's
spelling is the same, `both` has it.
"""

from __future__ import annotations

import warnings
from typing import Any, Callable

import numpy as np

warnings.filterwarnings("ignore", message="Sparse")  # PyTorch's, of each sparse tensor

LIBRARIES = ("numpy", "scipy", "torch", "jax", "opencv", "bottleneck")


def of(program: str) -> dict[str, Callable[[Any, Any], Any]]:
    found = {name: globals()[f"{program}_{name}"] for name in LIBRARIES if f"{program}_{name}" in globals()}
    both = globals().get(f"{program}_both")
    if both:
        found["numpy"] = both
        found["jax"] = lambda jax, a: both(jax.numpy, a)
    return found


# ---- Audio ------------------------------------------------------------------------------------------
def spectral_centroid_both(np: Any, a: Any) -> Any:
    m, f = a["m"], a["f"]
    total = m.sum(1)
    centroid = m @ f / total
    return centroid, np.sqrt((m * (f - centroid[:, None]) ** 2).sum(1) / total)


def spectral_centroid_torch(torch: Any, a: Any) -> Any:
    return spectral_centroid_both(torch, a)


def rms_envelope_numpy(np: Any, a: Any) -> Any:
    frames = np.lib.stride_tricks.sliding_window_view(a["x"], 2048)[::512]
    return 20 * np.log10(np.sqrt(np.einsum("ij,ij->i", frames, frames) / 2048) + np.float32(1e-6))


def rms_envelope_torch(torch: Any, a: Any) -> Any:
    return 20 * torch.log10((a["x"].unfold(0, 2048, 512) ** 2).mean(1).sqrt() + 1e-6)


def rms_envelope_jax(jax: Any, a: Any) -> Any:
    parts = (a["x"][:2_645_504].reshape(-1, 512) ** 2).sum(1)
    return 20 * jax.numpy.log10(jax.numpy.sqrt((parts[:-3] + parts[1:-2] + parts[2:-1] + parts[3:]) / 2048) + 1e-6)


def zero_crossings_both(np: Any, a: Any) -> Any:
    positive = a["x"] >= 0
    return (positive[:, 1:] != positive[:, :-1]).mean(1)


def zero_crossings_torch(torch: Any, a: Any) -> Any:
    positive = a["x"] >= 0
    return (positive[:, 1:] != positive[:, :-1]).double().mean(1)


def noise_gate_scipy(sp: Any, a: Any) -> Any:
    level = sp.ndimage.maximum_filter1d(np.abs(a["x"]), 441)[220:-220]
    return np.where(level > 1.5, a["x"][440:], np.float32(0))


def noise_gate_bottleneck(bn: Any, a: Any) -> Any:
    return np.where(bn.move_max(np.abs(a["x"]), 441)[440:] > 1.5, a["x"][440:], np.float32(0))


def noise_gate_torch(torch: Any, a: Any) -> Any:
    level = torch.nn.functional.max_pool1d(a["x"].abs()[None], 441, stride=1)[0]
    return torch.where(level > 1.5, a["x"][440:], 0.0)


def noise_gate_jax(jax: Any, a: Any) -> Any:
    level = jax.lax.reduce_window(abs(a["x"]), -np.float32(np.inf), jax.lax.max, (441,), (1,), "VALID")
    return jax.numpy.where(level > 1.5, a["x"][440:], np.float32(0))


def yin_numpy(np: Any, a: Any) -> Any:
    x = a["frames"]
    later = np.lib.stride_tricks.sliding_window_view(x, 512, axis=1)[:, 1:256]
    d = ((x[:, None, :512] - later) ** 2).sum(-1)
    return d * np.arange(1, 256, dtype="f4") / np.cumsum(d, 1)


def yin_torch(torch: Any, a: Any) -> Any:
    x = a["frames"]
    d = ((x[:, None, :512] - x.unfold(1, 512, 1)[:, 1:256]) ** 2).sum(-1)
    return d * torch.arange(1, 256) / d.cumsum(1)


def yin_jax(jax: Any, a: Any) -> Any:
    np, x = jax.numpy, a["frames"]
    d = np.stack([((x[:, :512] - x[:, t:t + 512]) ** 2).sum(-1) for t in range(1, 256)], axis=1)
    return d * np.arange(1, 256, dtype="f4") / np.cumsum(d, 1)


def mix_numpy(np: Any, a: Any) -> Any:
    return (np.tanh(a["gains"].T @ (a["stems"].astype("f4") / 32768)) * 32767).astype("i2")


def mix_torch(torch: Any, a: Any) -> Any:
    return (torch.tanh(a["gains"].T @ (a["stems"].float() / 32768)) * 32767).short()


def mix_jax(jax: Any, a: Any) -> Any:
    return mix_numpy(jax.numpy, a)


# ---- Physics ----------------------------------------------------------------------------------------
def ising_both(np: Any, a: Any) -> Any:
    s = a["s"]
    return -(s * (np.roll(s, 1, 0) + np.roll(s, 1, 1))).sum(), s.mean()


def ising_torch(torch: Any, a: Any) -> Any:
    s = a["s"]
    return -(s * (torch.roll(s, 1, 0) + torch.roll(s, 1, 1))).sum(), s.sum() / s.numel()


def chain_step(np: Any, a: Any, join: Any) -> Any:
    def force(x: Any) -> Any:
        d = x[1:] - x[:-1] - 1
        f = d + 0.25 * d * d
        return f[1:] - f[:-1]
    x, dt = a["x"], 0.01
    half = a["v"] + dt / 2 * force(x)
    new = join((x[:1], x[1:-1] + dt * half, x[-1:]))
    return new, half + dt / 2 * force(new)


def leapfrog_both(np: Any, a: Any) -> Any:
    return chain_step(np, a, np.concatenate)


def leapfrog_torch(torch: Any, a: Any) -> Any:
    return chain_step(torch, a, torch.cat)


def coulomb_both(np: Any, a: Any) -> Any:
    p = a["p"]
    r = np.sqrt((a["x"][None, :, None] - p[:, 0]) ** 2 + (a["y"][:, None, None] - p[:, 1]) ** 2 + p[:, 2] ** 2)
    return (a["q"] / r).sum(-1)


def coulomb_torch(torch: Any, a: Any) -> Any:
    return coulomb_both(torch, a)


def temperature_numpy(np: Any, a: Any) -> Any:
    slab = (a["z"] / 10 * 40).astype(int)
    energy = a["m"] * ((a["v"] - np.average(a["v"], axis=0, weights=a["m"])) ** 2).sum(1) / 2
    return np.bincount(slab, energy, 40) / np.bincount(slab, minlength=40) / 1.5


def temperature_torch(torch: Any, a: Any) -> Any:
    slab = (a["z"] / 10 * 40).long()
    energy = a["m"] * ((a["v"] - a["m"] @ a["v"] / a["m"].sum()) ** 2).sum(1) / 2
    return torch.bincount(slab, energy, 40) / torch.bincount(slab, minlength=40) / 1.5


def temperature_jax(jax: Any, a: Any) -> Any:
    np = jax.numpy
    slab = (a["z"] / 10 * 40).astype(int)
    energy = a["m"] * ((a["v"] - a["m"] @ a["v"] / a["m"].sum()) ** 2).sum(1) / 2
    return np.bincount(slab, energy, length=40) / np.bincount(slab, length=40) / 1.5


def poisson_both(np: Any, a: Any) -> Any:
    u = a["u"]
    laplace = (u[2:, 1:-1, 1:-1] + u[:-2, 1:-1, 1:-1] + u[1:-1, 2:, 1:-1] + u[1:-1, :-2, 1:-1] + u[1:-1, 1:-1, 2:]
               + u[1:-1, 1:-1, :-2] - 6 * u[1:-1, 1:-1, 1:-1]) / 0.01 ** 2
    r = a["f"][1:-1, 1:-1, 1:-1] - laplace
    return np.sqrt((r ** 2).mean()), abs(r).max()


def poisson_torch(torch: Any, a: Any) -> Any:
    return poisson_both(torch, a)


def pair_distances(np: Any, x: Any) -> Any:
    d = x[:, None] - x
    d = d - 12.0 * np.round(d / 12.0)
    return np.sqrt((d * d).sum(-1))


def radial_distribution_numpy(np: Any, a: Any) -> Any:
    return np.histogram(pair_distances(np, a["x"]), bins=100, range=(0, 6))[0]


def radial_distribution_torch(torch: Any, a: Any) -> Any:
    return torch.histc(pair_distances(torch, a["x"]), 100, 0, 6)


def radial_distribution_jax(jax: Any, a: Any) -> Any:
    return jax.numpy.histogram(pair_distances(jax.numpy, a["x"]), bins=100, range=(0, 6))[0]


# ---- Inference --------------------------------------------------------------------------------------
def mlp_scipy(sp: Any, a: Any) -> Any:
    x = a["x"]
    h = (x - x.mean(1)[:, None]) / np.sqrt(x.var(1)[:, None] + np.float32(1e-5)) * a["scale"] + a["shift"]
    t = h @ a["w1"] + a["b1"]
    return x + (t * (1 + sp.special.erf(t * np.float32(0.5**0.5))) * np.float32(0.5)) @ a["w2"] + a["b2"]


def mlp_torch(torch: Any, a: Any) -> Any:
    h = torch.nn.functional.layer_norm(a["x"], (384,), a["scale"], a["shift"], 1e-5)
    return a["x"] + torch.nn.functional.gelu(h @ a["w1"] + a["b1"]) @ a["w2"] + a["b2"]


def mlp_jax(jax: Any, a: Any) -> Any:
    h = jax.nn.standardize(a["x"], axis=1, epsilon=1e-5) * a["scale"] + a["shift"]
    return a["x"] + jax.nn.gelu(h @ a["w1"] + a["b1"], approximate=False) @ a["w2"] + a["b2"]


def rotated(a: Any, join: Any) -> Any:
    left, right, cos, sin = a["q"][..., :64], a["q"][..., 64:], a["cos"][:, None], a["sin"][:, None]
    return join((left * cos - right * sin, right * cos + left * sin), -1)


def rope_both(np: Any, a: Any) -> Any:
    return rotated(a, np.concatenate)


def rope_torch(torch: Any, a: Any) -> Any:
    return rotated(a, torch.cat)


def normalised(np: Any, a: Any) -> Any:
    mean, var, scale, shift = (a[name][:, None, None] for name in ("mean", "var", "scale", "shift"))
    return (a["x"] - mean) / np.sqrt(var + 1e-5) * scale + shift


def norm_relu_pool_both(np: Any, a: Any) -> Any:
    return np.maximum(normalised(np, a), 0).reshape(64, 56, 2, 56, 2).max((2, 4))


def norm_relu_pool_torch(torch: Any, a: Any) -> Any:
    y = torch.nn.functional.batch_norm(a["x"][None], a["mean"], a["var"], a["scale"], a["shift"], eps=1e-5)
    return torch.nn.functional.max_pool2d(torch.relu(y), 2)[0]


def beam_search_numpy(np: Any, a: Any) -> Any:
    z = a["logits"]
    top = z.max(1)
    total = (z + (a["score"] - top - np.log(np.exp(z - top[:, None]).sum(1)))[:, None]).ravel()
    best = np.argpartition(total, -8)[-8:]
    best = best[np.argsort(-total[best])]
    return total[best], best // 32_000, best % 32_000


def beam_search_torch(torch: Any, a: Any) -> Any:
    value, best = torch.topk((a["score"][:, None] + torch.log_softmax(a["logits"], 1)).ravel(), 8)
    return value, best // 32_000, best % 32_000


def beam_search_jax(jax: Any, a: Any) -> Any:
    value, best = jax.lax.top_k((a["score"][:, None] + jax.nn.log_softmax(a["logits"], 1)).ravel(), 8)
    return value, best // 32_000, best % 32_000


def int8_matmul_numpy(np: Any, a: Any) -> Any:
    return a["x"] @ (a["w"].astype("f4") * a["scale"])


def int8_matmul_torch(torch: Any, a: Any) -> Any:
    return a["x"] @ (a["w"].float() * a["scale"])


def int8_matmul_jax(jax: Any, a: Any) -> Any:
    return int8_matmul_numpy(jax.numpy, a)


def resized(image: Any, a: Any) -> Any:
    y, x, fy, fx = a["y"], a["x"], a["fy"][:, None, None], a["fx"][:, None]
    top = image[y][:, x] * (1 - fx) + image[y][:, x + 1] * fx
    low = image[y + 1][:, x] * (1 - fx) + image[y + 1][:, x + 1] * fx
    return ((top * (1 - fy) + low * fy) / 255 - a["mean"]) / a["std"]


def resize_both(np: Any, a: Any) -> Any:
    return resized(a["image"].astype("f4"), a).transpose(2, 0, 1)


def resize_torch(torch: Any, a: Any) -> Any:
    planes = a["image"].permute(2, 0, 1)[None].float()
    small = torch.nn.functional.interpolate(planes, (224, 224), mode="bilinear")[0]
    return (small / 255 - a["mean"][:, None, None]) / a["std"][:, None, None]


def resize_opencv(cv2: Any, a: Any) -> Any:
    small = cv2.resize(a["image"].astype("f4"), (224, 224), interpolation=cv2.INTER_LINEAR)
    return ((small / 255 - a["mean"]) / a["std"]).transpose(2, 0, 1)


# ---- Statistics -------------------------------------------------------------------------------------
def bootstrap_both(np: Any, a: Any) -> Any:
    return np.quantile(a["x"][a["places"]].mean(1), np.array([0.025, 0.975]))


def bootstrap_torch(torch: Any, a: Any) -> Any:
    return torch.quantile(a["x"][a["places"]].mean(1), torch.tensor([0.025, 0.975], dtype=torch.float64))


def kolmogorov_smirnov_both(np: Any, a: Any) -> Any:
    both = np.concatenate((a["p"], a["q"]))
    return abs(np.searchsorted(np.sort(a["p"]), both, side="right") / 40_000
               - np.searchsorted(np.sort(a["q"]), both, side="right") / 30_000).max()


def kolmogorov_smirnov_torch(torch: Any, a: Any) -> Any:
    both = torch.cat((a["p"], a["q"]))
    p, q = (torch.searchsorted(torch.sort(a[name])[0], both, right=True).double() / len(a[name]) for name in "pq")
    return (p - q).abs().max()


def kolmogorov_smirnov_scipy(sp: Any, a: Any) -> Any:
    return sp.stats.ks_2samp(a["p"], a["q"], method="asymp").statistic


def density_both(np: Any, a: Any) -> Any:
    return np.maximum(1 - ((a["at"][:, None] - a["x"]) / 0.3) ** 2, 0).mean(1) * 0.75 / 0.3


def density_torch(torch: Any, a: Any) -> Any:
    return (1 - ((a["at"][:, None] - a["x"]) / 0.3) ** 2).clamp(min=0).mean(1) * 0.75 / 0.3


def weighted_quantile_both(np: Any, a: Any) -> Any:
    order = np.argsort(a["x"])
    below = np.cumsum(a["w"][order])
    return a["x"][order[np.searchsorted(below, a["q"] * below[-1])]]


def weighted_quantile_torch(torch: Any, a: Any) -> Any:
    x, order = torch.sort(a["x"])
    below = a["w"][order].cumsum(0)
    return x[torch.searchsorted(below, a["q"] * below[-1])]


def mahalanobis_both(np: Any, a: Any) -> Any:
    d = a["x"] - a["x"].mean(0)
    return np.sqrt(((d @ a["inverse"]) * d).sum(1))


def mahalanobis_torch(torch: Any, a: Any) -> Any:
    return mahalanobis_both(torch, a)


def chi_square(table: Any) -> Any:
    expected = table.sum(1)[:, None] * table.sum(0) / 1_000_000
    return ((table - expected) ** 2 / expected).sum(), table


def contingency_numpy(np: Any, a: Any) -> Any:
    return chi_square(np.bincount(a["p"].astype("i8") * 7 + a["q"], minlength=84).reshape(12, 7))


def contingency_torch(torch: Any, a: Any) -> Any:
    return chi_square(torch.bincount(a["p"] * 7 + a["q"], minlength=84).reshape(12, 7))


def contingency_jax(jax: Any, a: Any) -> Any:
    return chi_square(jax.numpy.bincount(a["p"] * 7 + a["q"], length=84).reshape(12, 7))


# ---- Graphs -----------------------------------------------------------------------------------------
def neighbour_degree_numpy(np: Any, a: Any) -> Any:
    degree = np.bincount(a["src"], minlength=a["n"])
    return np.bincount(a["src"], degree[a["dst"]], a["n"]) / np.maximum(degree, 1)


def neighbour_degree_torch(torch: Any, a: Any) -> Any:
    degree = torch.bincount(a["src"], minlength=a["n"])
    return torch.bincount(a["src"], degree[a["dst"]].double(), a["n"]) / degree.clamp(min=1)


def neighbour_degree_jax(jax: Any, a: Any) -> Any:
    degree = jax.numpy.bincount(a["src"], length=a["n"])
    return jax.numpy.bincount(a["src"], degree[a["dst"]], length=a["n"]) / jax.numpy.maximum(degree, 1)


def matrix_scipy(sp: Any, a: Any) -> Any:
    return sp.sparse.csr_array((a["one"], a["crd"], a["pos"]), shape=(a["n"], a["n"]))


def hits_scipy(sp: Any, a: Any) -> Any:
    matrix = matrix_scipy(sp, a)
    authority = matrix.T @ a["hub"]
    authority = authority / np.linalg.norm(authority)
    hub = matrix @ authority
    return authority, hub / np.linalg.norm(hub)


def hits_torch(torch: Any, a: Any) -> Any:
    matrix = torch.sparse_csr_tensor(a["pos"], a["crd"], a["one"], (a["n"], a["n"]))
    authority = matrix.transpose(0, 1) @ a["hub"]
    authority = authority / authority.norm()
    hub = matrix @ authority
    return authority, hub / hub.norm()


def bellman_ford_numpy(np: Any, a: Any) -> Any:
    new = a["dist"].copy()
    np.minimum.at(new, a["dst"], a["dist"][a["src"]] + a["w"])
    return new


def bellman_ford_torch(torch: Any, a: Any) -> Any:
    return a["dist"].scatter_reduce(0, a["dst"].long(), a["dist"][a["src"]] + a["w"], "amin")


def bellman_ford_jax(jax: Any, a: Any) -> Any:
    return a["dist"].at[a["dst"]].min(a["dist"][a["src"]] + a["w"])


def common_neighbours_both(np: Any, a: Any) -> Any:
    u, v = a["adjacent"][a["u"]], a["adjacent"][a["v"]]
    return (u & v).sum(1) / (u | v).sum(1)


def common_neighbours_torch(torch: Any, a: Any) -> Any:
    u, v = a["adjacent"][a["u"]], a["adjacent"][a["v"]]
    return (u & v).sum(1).double() / (u | v).sum(1)


def label_propagation_scipy(sp: Any, a: Any) -> Any:
    return (matrix_scipy(sp, a) @ np.eye(16)[a["label"]]).argmax(1)


def label_propagation_torch(torch: Any, a: Any) -> Any:
    matrix = torch.sparse_csr_tensor(a["pos"], a["crd"], a["one"], (a["n"], a["n"]))
    return (matrix @ torch.eye(16, dtype=torch.float64)[a["label"]]).argmax(1)


def modularity_numpy(np: Any, a: Any) -> Any:
    src, dst = a["group"][a["src"]], a["group"][a["dst"]]
    return (src == dst).mean() - (np.bincount(src, minlength=40) / 400_000) @ (np.bincount(dst, minlength=40) / 400_000)


def modularity_torch(torch: Any, a: Any) -> Any:
    src, dst = a["group"][a["src"]], a["group"][a["dst"]]
    out, into = (torch.bincount(label, minlength=40).double() / 400_000 for label in (src, dst))
    return (src == dst).double().mean() - out @ into


def modularity_jax(jax: Any, a: Any) -> Any:
    np, src, dst = jax.numpy, a["group"][a["src"]], a["group"][a["dst"]]
    return (src == dst).mean() - (np.bincount(src, length=40) / 400_000) @ (np.bincount(dst, length=40) / 400_000)
