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
