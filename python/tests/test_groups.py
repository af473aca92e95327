"""Statistics by label, and windows of several axes: beside loops of NumPy on random cases."""

from __future__ import annotations

import numpy as np
import pytest

import rdim as rd

GROUPS = 4


def case(seed: int, *shape: int) -> tuple[np.ndarray, np.ndarray]:
    """Values, and labels along their first axis of which each occurs."""
    rng = np.random.default_rng(seed)
    labels = rng.permutation(np.concatenate([np.arange(GROUPS), rng.integers(0, GROUPS, shape[0] - GROUPS)]))
    return np.round(rng.normal(size=shape) * 4, 1), labels


def each(x: np.ndarray, labels: np.ndarray, function) -> np.ndarray:  # type: ignore[no-untyped-def]
    return np.stack([function(x[labels == k]) for k in range(GROUPS)])


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("shape", [(15,), (15, 3), (15, 2, 3)])
def test_a_row_of_labels(shape: tuple[int, ...], seed: int) -> None:
    """One label a step goes along the axis that is reduced, as weights of numpy.average."""
    x, labels = case(seed, *shape)
    for name in ("mean", "max", "median", "ptp", "std"):
        got = getattr(rd, name)(x, axis=0, by=labels, groups=GROUPS)
        np.testing.assert_allclose(np.asarray(got), each(x, labels, lambda part: getattr(np, name)(part, axis=0)))
    for q in (0.3, [0.1, 0.9]):
        for name, scale in (("quantile", 1), ("percentile", 100)):
            wanted = np.multiply(q, scale)
            got = getattr(rd, name)(x, wanted if np.ndim(q) else float(wanted), axis=0, by=labels, groups=GROUPS)
            want = each(x, labels, lambda part: getattr(np, name)(part, wanted, axis=0))
            np.testing.assert_allclose(np.asarray(got), np.moveaxis(want, 0, 1) if np.ndim(q) else want)


def test_nan_by_label() -> None:
    x, labels = case(1, 30, 2)
    x[::5] = np.nan
    for name, args in (("nanquantile", (0.4,)), ("nanpercentile", (70,)), ("nanmedian", ()), ("nanmean", ())):
        got = getattr(rd, name)(x, *args, axis=0, by=labels, groups=GROUPS)
        want = each(x, labels, lambda part: getattr(np, name)(part, *args, axis=0))
        np.testing.assert_allclose(np.asarray(got), want)


def test_a_row_of_weights() -> None:
    rng = np.random.default_rng(2)
    x, w = rng.random((6, 3, 4)), rng.random(6)
    np.testing.assert_allclose(rd.mean(x, axis=0, weights=w).compute(), np.average(x, axis=0, weights=w))
    np.testing.assert_allclose(rd.mean(x, axis=-3, weights=w).compute(), np.average(x, axis=0, weights=w))
    np.testing.assert_allclose(rd.mean(x, axis=-1, weights=w[:4]).compute(), np.average(x, axis=2, weights=w[:4]))


def test_a_row_that_fits_two_axes() -> None:
    """Neither axis is meant silently: the sentence says what to write."""
    x, w = np.ones((4, 2, 4)), np.arange(4)
    for call in (lambda: rd.mean(x, axis=0, weights=w), lambda: rd.sum(x, axis=0, by=w, groups=4),
                 lambda: rd.median(x, axis=0, by=w, groups=4), lambda: rd.quantile(x, 0.5, axis=0, by=w, groups=4)):
        with pytest.raises(ValueError, match="a row of 4 (labels|weights) fits axis 0 and the last axis: give it 3 axes"):
            call()
    assert rd.sum(x, axis=0, by=w[:, None, None], groups=4).shape == (4, 2, 4)
    assert rd.sum(x, axis=0, by=w[None, None, :], groups=4).shape == (4, 2, 4)


def test_how_many_groups() -> None:
    labels = np.array([0, 1, 1])
    for call in (rd.mean, rd.ptp, rd.median, lambda x, by: rd.quantile(x, 0.5, by=by)):
        with pytest.raises(ValueError, match="by= is given, and groups= is not"):
            call(np.ones(3), by=labels)


@pytest.mark.parametrize("seed", range(8))
def test_windows(seed: int) -> None:
    rng = np.random.default_rng(seed)
    x = rng.random((5, 6, 7))
    view = np.lib.stride_tricks.sliding_window_view
    for window, axis in (((2, 3, 4), None), ((2, 3), (0, 2)), ((2, 3), (-1, 0)), (3, 1), ((2,), (2,)), ((2, 2), (1, 1))):
        want = view(x, window, axis)
        np.testing.assert_array_equal(rd.sliding_window_view(x, window, axis).compute(), want)
        np.testing.assert_array_equal(np.asarray(view(rd.asarray(x), window, axis)), want)
    for window, axis in (((2, 3), None), ((2, 3), 0), (2, (0, 1)), ((2, 2, 2, 2), None)):
        with pytest.raises(ValueError):
            rd.sliding_window_view(x, window, axis)


@pytest.mark.parametrize("axis", [None, 0, (0, 2), -1])
def test_correlation(axis: object) -> None:
    rng = np.random.default_rng(3)
    x, y, where = rng.random((4, 5, 6)), rng.random((4, 5, 6)), rng.random((4, 5, 6)) > 0.2

    def want(x: np.ndarray, y: np.ndarray, **keywords: object) -> np.ndarray:
        a, b = (one - one.mean(axis=axis, keepdims=True, **keywords) for one in (x, y))
        return (a * b).mean(axis=axis, **keywords) / (x.std(axis=axis, **keywords) * y.std(axis=axis, **keywords))

    np.testing.assert_allclose(rd.corr(x, y, axis).compute(), want(x, y))
    np.testing.assert_allclose(rd.corr(x, y, axis, where=where).compute(), want(x, y, where=where))
    x[~where] = np.nan
    np.testing.assert_allclose(rd.corr(x, y, axis, skipna=True).compute(), want(x, y, where=where))


# ---- Counts and bins ------------------------------------------------------------------------------------------------
def test_counts_of_labels_that_are_computed() -> None:
    """Labels are stored beside their ends, but where an operator says that none is beyond the length."""
    rng = np.random.default_rng(5)
    a, w = rng.integers(-50, 50, 4000).astype("int32"), rng.random(4000)
    x = rd.asarray(a)
    for lazy, plain, least in ((x % 8, a % 8, 8), (x % 8, a % 8, 3), (abs(x) + 2, abs(a) + 2, 0), (x > 0, (a > 0) * 1, 2),
                               (rd.asarray(abs(a)), abs(a), 60), (rd.asarray(abs(a))[::-2], abs(a)[::-2], 0)):
        np.testing.assert_array_equal(rd.bincount(lazy, minlength=least), np.bincount(plain, minlength=least))
        of = w[: plain.size]
        np.testing.assert_allclose(rd.bincount(lazy, weights=of), np.bincount(plain, weights=of), rtol=1e-13)
    np.testing.assert_array_equal(rd.bincount(x[:0] % 8, minlength=8), np.zeros(8, int))
    for below in (x, x - 3, x % 8 - 1):
        with pytest.raises(ValueError, match="below 0"):
            rd.bincount(below, minlength=8)


def test_equal_bins_are_those_of_a_search() -> None:
    """A quotient finds the bin, also of edges themselves and of their neighbours."""
    rng = np.random.default_rng(6)
    for k in range(60):
        n, low = int(rng.integers(1, 300)), float(rng.normal() * 10.0 ** rng.integers(-5, 6))
        high = low + float(rng.random() + 0.01) * 10.0 ** rng.integers(-3, 4)
        edges = np.asarray(rd.histogram_bin_edges([], n, (low, high)))
        x = np.concatenate([rng.uniform(2 * low - high, 2 * high - low, 300), edges, np.nextafter(edges, -np.inf),
                            np.nextafter(edges, np.inf), [np.nan, np.inf, -np.inf]])
        with np.errstate(all="ignore"):
            x = x.astype(("f8", "f4", "f2", "i8", "u1")[k % 5])
        label = np.asarray(rd._core._bins_between(rd.asarray(x), rd.asarray(edges)))
        np.testing.assert_array_equal(rd.histogram(x, n, (low, high))[0], np.bincount(label[label >= 0], minlength=n))
    narrow = 1e9 + np.spacing(1e9) * np.arange(5)  # bins of less than the distance of neighbouring floats
    counts, edges = rd.histogram(narrow, 100, (narrow[0], narrow[-1]))
    label = np.asarray(rd._core._bins_between(rd.asarray(narrow), edges))
    np.testing.assert_array_equal(counts, np.bincount(label, minlength=100))
