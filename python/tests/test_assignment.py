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


CHANGES: dict[str, Any] = {
    "fill": lambda x: x.fill(3), "sort": lambda x: x.sort(), "sort along 0": lambda x: x.sort(axis=0),
    "put": lambda x: np.put(x, [0, -1, 0], [7, 8]), "put wrap": lambda x: np.put(x, [99, -3], 5, mode="wrap"),
    "put clip": lambda x: np.put(x, [99, -3], [5, 6], mode="clip"), "method put": lambda x: x.put([2], 4),
    "putmask": lambda x: np.putmask(x, x > 3, [1, 2, 3]), "place": lambda x: np.place(x, x > 3, [1, 2, 3]),
    "copyto": lambda x: np.copyto(x, [[1], [2], [3]]), "copyto where": lambda x: np.copyto(x, 7, where=x < 4),
    "fill_diagonal": lambda x: np.fill_diagonal(x, [1, 2]), "wrap": lambda x: np.fill_diagonal(x, 9, wrap=True),
    "put_along_axis": lambda x: np.put_along_axis(x, np.argmax(x, axis=1, keepdims=True), 0, axis=1),
    "put_along_axis None": lambda x: np.put_along_axis(x, np.array([1, 2]), 6, axis=None),
    "flat": lambda x: x.flat.__setitem__(slice(1, 5), [1, 2]), "flat index": lambda x: x.flat.__setitem__(-1, 42),
    "all of flat": lambda x: setattr(x, "flat", [1, 2, 3]),
    "add.at": lambda x: np.add.at(x, ([0, 0, 1], 1), [10, 20, 30]), "subtract.at": lambda x: np.subtract.at(x, 0, 1),
    "multiply.at": lambda x: np.multiply.at(x, ([2, 2], [0, 0]), 3), "maximum.at": lambda x: np.maximum.at(x, [0, 0, 2], 5),
    "minimum.at": lambda x: np.minimum.at(x, [1, 1], [[2], [-3]]),
}


@pytest.mark.parametrize("name", CHANGES)
def test_functions_that_change_an_array(name: str) -> None:
    rng = np.random.default_rng(len(name))
    for shape in ((3, 4), (4, 4), (5, 2)):
        if shape != (3, 4) and name not in ("fill_diagonal", "wrap", "sort", "flat"):
            continue
        for dtype in ("i4", "f8"):
            a = rng.integers(-9, 9, shape).astype(dtype)
            x, want = rd.asarray(a.copy()), a.copy()
            other, view = x, x[0]
            CHANGES[name](x)
            CHANGES[name](want)
            np.testing.assert_array_equal(np.asarray(x), want, name)
            np.testing.assert_array_equal(np.asarray(other), want, name)
            np.testing.assert_array_equal(np.asarray(view), a[0], name)
            assert x.dtype == a.dtype


def test_changes_of_numpys_memory() -> None:
    """Where the array is NumPy's, NumPy writes into it."""
    a = np.zeros(4)
    np.copyto(a, rd.asarray(np.arange(4.0)))
    np.add.at(a, [0, 0], rd.asarray(np.array([1.0, 2.0])))
    np.putmask(a, rd.asarray(a) > 2.5, 9.0)
    assert a.tolist() == [9, 1, 2, 9]
    with pytest.raises(TypeError, match="same_kind"):
        np.copyto(rd.zeros(3, "i4"), rd.asarray([1.5]))
    with pytest.raises(IndexError, match="outside"):
        np.put(rd.zeros(3), [7], 1)
