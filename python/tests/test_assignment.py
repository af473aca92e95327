"""x[key] = value beside NumPy, with random keys; what else holds x does not change."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import rdim as rd


def part(rng: np.random.Generator, n: int) -> Any:
    kind = rng.integers(4)
    if kind == 0:
        return int(rng.integers(-n, n))
    if kind == 1:
        return slice(None)
    start, stop = (None if rng.random() < 0.3 else int(rng.integers(-n - 1, n + 2)) for _ in range(2))
    return slice(start, stop, [None, 1, 2, -1, -2, 3][rng.integers(6)])


def basic(rng: np.random.Generator, shape: tuple[int, ...]) -> Any:
    parts: list[Any] = [part(rng, n) for n in shape[: rng.integers(len(shape) + 1)]]
    if rng.random() < 0.3:
        parts.insert(int(rng.integers(len(parts) + 1)), Ellipsis)
    if rng.random() < 0.3:
        parts.insert(int(rng.integers(len(parts) + 1)), None)
    return tuple(parts)


def advanced(rng: np.random.Generator, shape: tuple[int, ...]) -> Any:
    kind = rng.integers(4)
    if kind == 0:
        return rng.random(shape) < 0.4
    if kind == 1:
        return rng.random(shape[0]) < 0.5
    index = rng.integers(-shape[0], shape[0], rng.integers(0, 6))  # places that are named again
    return index if kind == 2 else (index, part(rng, shape[1]))


@pytest.mark.parametrize("seed", range(150))
def test_assignment(seed: int) -> None:
    rng = np.random.default_rng(seed)
    shape = tuple(int(n) for n in rng.integers(1, 6, 3))
    a = rng.integers(-9, 9, shape).astype(rng.choice(["f8", "i4", "c16", "u1", "?"]))
    before = a.copy()
    x = rd.asarray(a.copy())
    view, same = x[0], x
    for _ in range(3):
        key = basic(rng, shape) if rng.random() < 0.6 else advanced(rng, shape)
        try:
            target = a[key].shape
        except IndexError:  # "..." in front of a number
            with pytest.raises(IndexError):
                x[key] = 0
            continue
        value: Any = 3 if rng.random() < 0.3 else rng.integers(0, 9, target[int(rng.integers(len(target) + 1)):])
        a[key] = value
        x[key] = value
    np.testing.assert_array_equal(np.asarray(x), a)
    np.testing.assert_array_equal(np.asarray(same), a)
    np.testing.assert_array_equal(np.asarray(view), before[0])
    assert x.dtype == a.dtype


def test_what_is_refused() -> None:
    x = rd.asarray(np.arange(6))
    for key, value, error in ((9, 1, IndexError), (slice(0, 2), [1, 2, 3], ValueError), (0, 1j, TypeError),
                              (0, 2**70, OverflowError), ("a", 1, IndexError)):
        with pytest.raises(error):
            x[key] = value
    assert x.tolist() == [0, 1, 2, 3, 4, 5]


def test_memory_of_others_stays() -> None:
    a = np.zeros(4)
    x = rd.asarray(a)
    x[1] = 5.0
    x[rd.asarray(a) == 0] = x + 1
    assert a.tolist() == [0, 0, 0, 0]
    x += 1
    assert x.tolist() == [2, 7, 2, 2]
