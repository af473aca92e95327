#!/usr/bin/env python3
"""Gradients of pair programs that users would write first, beside their own forward passes.

    PYTHONPATH=build/release/python python3 bench/users/gradients.py [--points 5000] [--only NAME,..]

One thread, f32, processor time; compilers are awaited.  Prints a row a program: milliseconds of the value and of the
gradient by all that it depends on, their ratio, and the bytes that the gradient keeps between stages.
"""

from __future__ import annotations

import argparse
import os
import re
import time
from typing import Callable

os.environ["OMP_NUM_THREADS"] = "1"
os.environ.setdefault("RDIM_TIER1", "sync")

import numpy as np  # noqa: E402
import rdim as rd  # noqa: E402

PROGRAMS: list[Callable[[int], tuple[rd.Array, list[rd.Array]]]] = []
rng = np.random.default_rng(0)


def program(make: Callable[[int], tuple[rd.Array, list[rd.Array]]]) -> Callable[[int], tuple[rd.Array, list[rd.Array]]]:
    PROGRAMS.append(make)
    return make


def normal(*shape: int) -> rd.Array:
    return rd.asarray(rng.standard_normal(shape).astype(np.float32))


def squares(x: rd.Array, y: rd.Array) -> rd.Array:
    return ((x[:, None] - y[None]) ** 2).sum(axis=-1)


@program
def maximum_mean_discrepancy(n: int) -> tuple[rd.Array, list[rd.Array]]:
    x, y = normal(n, 3), normal(n, 3)

    def kernel(a: rd.Array, b: rd.Array) -> rd.Array:
        return rd.exp(-squares(a, b) / 2).mean()

    return kernel(x, x) + kernel(y, y) - 2 * kernel(x, y), [x]


@program
def energy_distance(n: int) -> tuple[rd.Array, list[rd.Array]]:
    x, y = normal(n, 3), normal(n, 3)
    return 2 * rd.sqrt(squares(x, y) + 1e-6).mean() - rd.sqrt(squares(x, x) + 1e-6).mean(), [x]


@program
def gravity(n: int) -> tuple[rd.Array, list[rd.Array]]:
    x, m = normal(n, 3), abs(normal(n))
    return -(m[:, None] * m[None] / rd.sqrt(squares(x, x) + 0.01)).sum() / 2, [x]


@program
def tsne(n: int) -> tuple[rd.Array, list[rd.Array]]:
    data, x = normal(n, 32), normal(n, 2)
    p = rd.exp(-squares(data, data) / 64)
    q = 1 / (1 + squares(x, x))
    return rd.log(q.sum()) - (p / p.sum() * rd.log(q)).sum(), [x]


@program
def info_nce(n: int) -> tuple[rd.Array, list[rd.Array]]:
    x, y = normal(n, 32), normal(n, 32)
    return (rd.logsumexp(x @ y.T / 8, axis=1) - (x * y).sum(axis=-1) / 8).mean(), [x, y]


@program
def radial_basis_network(n: int) -> tuple[rd.Array, list[rd.Array]]:
    x, t, centre, weight, width = normal(n, 3), normal(n), normal(n // 10, 3), normal(n // 10), normal(n // 10)
    f = (rd.exp(-(width**2)[None] * squares(x, centre)) * weight[None]).sum(axis=1)
    return ((f - t) ** 2).mean(), [centre, weight, width]


@program
def gaussian_mixture(n: int) -> tuple[rd.Array, list[rd.Array]]:
    x, mean, weight, scale = normal(n, 3), normal(100, 3), normal(100), normal(100, 3)
    apart = (x[:, None] - mean[None]) * rd.exp(scale)[None]
    return -rd.logsumexp(weight + scale.sum(axis=1) - (apart**2).sum(axis=-1) / 2, axis=1).mean(), [mean, weight, scale]


@program
def sinkhorn_step(n: int) -> tuple[rd.Array, list[rd.Array]]:
    x, y, g = normal(n, 3), normal(n, 3), normal(n)
    return -0.1 * rd.logsumexp((g[None] - squares(x, y) / 2) / 0.1, axis=1).mean(), [x, y, g]


@program
def ten_nearest(n: int) -> tuple[rd.Array, list[rd.Array]]:
    x, y = normal(n, 3), normal(n, 3)
    return rd.sort(squares(x, y), axis=1)[:, :10].mean(), [x]


@program
def chamfer(n: int) -> tuple[rd.Array, list[rd.Array]]:
    x, y = normal(n, 3), normal(n, 3)
    d = squares(x, y)
    return d.min(axis=1).mean() + d.min(axis=0).mean(), [x, y]


@program
def attention(n: int) -> tuple[rd.Array, list[rd.Array]]:
    q, k, v = normal(n, 32), normal(n, 32), normal(n, 32)
    return ((rd.softmax(q @ k.T / 6, axis=1) @ v) ** 2).mean(), [q, k, v]


@program
def cauchy_regression(n: int) -> tuple[rd.Array, list[rd.Array]]:
    x, y, b, t = normal(n, 3), normal(n, 3), normal(n, 4), normal(n, 4)
    f = ((1 / (1 + squares(x, y)))[:, :, None] * b[None]).sum(axis=1)
    return ((f - t) ** 2).mean(), [x, y, b]


@program
def matern_regression(n: int) -> tuple[rd.Array, list[rd.Array]]:
    x, y, b = normal(n, 3), normal(n, 3), normal(n)
    r = rd.sqrt(3 * squares(x, y) + 1e-9)
    return ((((1 + r) * rd.exp(-r)) @ b) ** 2).mean(), [x, y, b]


def number(value: float) -> rd.Array:
    return rd.asarray(np.float32(value)).persist()


@program
def ard_regression(n: int) -> tuple[rd.Array, list[rd.Array]]:
    x, y, b, t, scale = normal(n, 5), normal(n, 5), normal(n), normal(n), normal(5)
    d = (x[:, None] - y[None]) * rd.exp(-scale)
    f = (rd.exp(-(d**2).sum(axis=-1) / 2) * b).sum(axis=1)
    return ((f - t) ** 2).mean(), [scale, b, y]


@program
def lennard_jones(n: int) -> tuple[rd.Array, list[rd.Array]]:
    x, i = normal(n, 3) * 10, rd.arange(n)
    r2 = squares(x, x)
    near = (r2 < 9) & (i[:, None] != i[None])
    s6 = 1 / rd.where(near, r2, 1) ** 3
    return rd.where(near, 4 * (s6**2 - s6), 0).sum() / 2, [x]


@program
def charges_in_a_box(n: int) -> tuple[rd.Array, list[rd.Array]]:
    x, q = normal(n, 3) * 10, normal(n)
    d = x[:, None] - x[None]
    d = d - 20 * rd.round(d / 20)
    r = rd.sqrt((d**2).sum(axis=-1) + 0.01)
    return (q[:, None] * q[None] * rd.exp(-r) / r).sum() / 2, [x, q]


@program
def hawkes_process(n: int) -> tuple[rd.Array, list[rd.Array]]:
    t = rd.asarray(np.sort(rng.random(n).astype(np.float32)) * n)
    base, jump, decay, i = number(0.5), number(0.3), number(1.2), rd.arange(n)
    before = i[None] < i[:, None]
    since = rd.where(before, t[:, None] - t[None], 0)
    rate = base + jump * rd.where(before, rd.exp(-decay * since), 0).sum(axis=1)
    return rd.log(rate).sum() - base * n, [base, jump, decay]


@program
def independence(n: int) -> tuple[rd.Array, list[rd.Array]]:
    x, y = normal(n, 3), normal(n, 2)

    def centred(k: rd.Array) -> rd.Array:
        return k - k.mean(axis=0) - k.mean(axis=1)[:, None] + k.mean()

    return (centred(rd.exp(-squares(x, x) / 2)) * centred(rd.exp(-squares(y, y) / 2))).mean(), [x]


@program
def soft_neighbours(n: int) -> tuple[rd.Array, list[rd.Array]]:
    x, w, label, i = normal(n, 16), normal(16, 2), rd.asarray(rng.integers(0, 4, n)), rd.arange(n)
    z = x @ w
    p = rd.softmax(-rd.where(i[:, None] == i[None], np.inf, squares(z, z)), axis=1)
    return -rd.log((p * (label[:, None] == label[None])).sum(axis=1) + 1e-6).mean(), [w]


@program
def weighted_distances(n: int) -> tuple[rd.Array, list[rd.Array]]:
    y, w = normal(n, 2), abs(normal(n, n))
    return (w * squares(y, y)).sum(), [y]


@program
def coordinates_one_by_one(n: int) -> tuple[rd.Array, list[rd.Array]]:
    x = normal(n, 3)
    d = x[:, None] - x[None]
    return rd.exp(-(d[..., 0] ** 2 + 2 * d[..., 1] ** 2 + d[..., 2] ** 2)).sum(), [x]


@program
def triplets(n: int) -> tuple[rd.Array, list[rd.Array]]:
    a, p, i = normal(n, 8), normal(n, 8), rd.arange(n)
    own = rd.sqrt(((a - p) ** 2).sum(axis=1) + 1e-6)
    other = rd.sqrt(squares(a, p) + 1e-6)
    return rd.where(i[:, None] != i[None], rd.maximum(0, own[:, None] - other + 1), 0).mean(), [a, p]


@program
def hinge_of_pairs(n: int) -> tuple[rd.Array, list[rd.Array]]:
    score, label = normal(n), rd.asarray(rng.integers(0, 2, n))
    mask = (label[:, None] == 1) & (label[None] == 0)
    return (rd.maximum(0, 1 - (score[:, None] - score[None])) * mask).mean(), [score]


@program
def pairs_once(n: int) -> tuple[rd.Array, list[rd.Array]]:
    x, m, i = normal(n, 3), abs(normal(n)), rd.arange(n)
    r = rd.sqrt(squares(x, x) + 0.01)
    return -rd.where(i[:, None] < i[None], m[:, None] * m[None] / r, 0).sum(), [x, m]


@program
def accelerations(n: int) -> tuple[rd.Array, list[rd.Array]]:
    x, m, v = normal(n, 3), abs(normal(n)), normal(n, 3)
    d = x[None] - x[:, None]
    pull = m[None] * ((d**2).sum(axis=-1) + 0.01) ** -1.5
    return ((v + 0.01 * (pull[:, :, None] * d).sum(axis=1)) ** 2).sum(), [x, m]


@program
def mahalanobis(n: int) -> tuple[rd.Array, list[rd.Array]]:
    x, y, factor = normal(n, 4), normal(n, 4), normal(4, 4)
    return rd.exp(-squares(x @ factor, y @ factor) / 8).mean(), [x, factor]


@program
def soft_ranks(n: int) -> tuple[rd.Array, list[rd.Array]]:
    score, target, i = normal(n), normal(n), rd.arange(n)
    above = 1 / (1 + rd.exp((score[None] - score[:, None]) / 0.1))
    rank = rd.where(i[:, None] != i[None], above, 0).sum(axis=1)
    return ((rank - target) ** 2).mean(), [score]


@program
def density_of_others(n: int) -> tuple[rd.Array, list[rd.Array]]:
    x, width, i = normal(n, 2), number(0.5), rd.arange(n)
    d = (x[:, None] - x[None]) / width
    k = rd.where(i[:, None] == i[None], 0, rd.exp(-0.5 * (d * d).sum(axis=-1)))
    return rd.log(k.sum(axis=1) / (n - 1) / width**2 + 1e-9).mean(), [width, x]


@program
def oscillators(n: int) -> tuple[rd.Array, list[rd.Array]]:
    phase, coupling, own, target = normal(n), number(1.5), normal(n), normal(n)
    speed = own + coupling / n * rd.sin(phase[None] - phase[:, None]).sum(axis=1)
    return ((phase + 0.1 * speed - target) ** 2).mean(), [phase, coupling, own]


@program
def stress(n: int) -> tuple[rd.Array, list[rd.Array]]:
    x, wanted = normal(n, 2), abs(normal(n, n))
    return ((rd.sqrt(squares(x, x) + 1e-9) - wanted) ** 2 / (wanted + 1e-3)).sum(), [x]


def milliseconds(results: list[rd.Array]) -> float:
    least = float("inf")
    rd.compute(*results)
    for _ in range(7):
        start = time.process_time()
        rd.compute(*results)
        least = min(least, time.process_time() - start)
    return 1000 * least


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--points", type=int, default=5000)
    parser.add_argument("--only", default="")
    options = parser.parse_args()

    print("| program | value, ms | gradient, ms | ratio | stored by the gradient, MB |\n|---|---|---|---|---|")
    for make in PROGRAMS:
        if options.only and make.__name__ not in options.only.split(","):
            continue
        value, by = make(options.points)
        gradients = list(rd.grad(value, by))
        stored = re.search(r"arrays between stages: (\d+)", rd.explain(*gradients))
        of_value, of_gradient = milliseconds([value]), milliseconds(gradients)
        print(
            f"| {make.__name__} | {of_value:.3g} | {of_gradient:.3g} | {of_gradient / of_value:.2g}"
            f" | {int(stored[1]) / 1e6 if stored else 0:.3g} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
