"""A small program that test_types.py runs mypy on: what a user's editor is told about arrays."""

from __future__ import annotations

from typing import Any

import rdim as rd


def spread(x: rd.Array, axis: int) -> rd.Array:
    return rd.max(x, axis=axis) - rd.min(x, axis=axis)


def softmax_of_pairs(x: rd.Array, y: rd.Array) -> rd.Array:
    distances = ((x[:, None] - y[None]) ** 2).sum(axis=2)
    weights: rd.Array = rd.softmax(-distances, axis=1)
    return weights


def main() -> None:
    x = rd.asarray([[1.0, 2.0], [3.0, 5.0]])
    shape: tuple[int, ...] = x.shape
    total: float = float(rd.sum(x))
    elements: Any = spread(x, 0).compute()
    x[0] = 7
    draws: rd.Array = rd.random.default_rng(1).normal(0, 2, size=(3, 2))
    first, second = rd.compute(x + 1, softmax_of_pairs(x, draws))
    named: dict[str, rd.Array] = rd.formulas("m[i] = mean[j] x[i, j]; s = sum[i] m[i]", x=x)
    matrix: rd.Array = rd.sparse.csr([1.0, 2.0], [0, 1], [0, 1, 2], (2, 2))
    try:
        with rd.options(threads=1):
            print(shape, total, elements, first, second, sorted(named), (matrix @ x).tolist())
    except (rd.ShapeError, rd.OutOfMemory) as error:
        print(error)


if __name__ == "__main__":
    main()
