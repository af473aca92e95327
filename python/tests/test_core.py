"""What the extension does by itself: handles, errors, results."""

import numpy as np
import pytest

import rdim as rd


def test_power_of_a_half_is_the_root_as_numpys():
    """numpy.power() is not: -0 and -infinity tell them apart."""
    for dtype in ("f2", "f4", "f8"):
        x = np.array([4, 2, 0.0, -0.0, np.inf, -np.inf, np.nan, -1], dtype)
        with np.errstate(invalid="ignore"):
            want, power = x ** 0.5, np.power(x.astype("f8"), 0.5)
        got = np.asarray(rd.asarray(x) ** 0.5)
        assert got.dtype == want.dtype and np.array_equal(got, want, equal_nan=True)
        assert np.signbit(got[3]) and np.isnan(got[5])
        assert float(rd.power(rd.asarray(x), 0.5)[5]) == power[5] == np.inf
    assert np.array_equal(np.asarray(rd.asarray([4, 9]) ** 0.5), [2.0, 3.0])


def test_operators_and_reductions_as_numpy():
    rng = np.random.default_rng(1)
    for _ in range(200):
        shape = tuple(rng.integers(0, 5, rng.integers(1, 4)))
        x, y = rng.standard_normal(shape), rng.standard_normal(shape)
        a, b = rd.asarray(x), rd.asarray(y)
        axis = int(rng.integers(-len(shape), len(shape)))
        np.testing.assert_allclose(np.asarray(rd.compute(rd.sum((a + 1) * b - a, axis=axis))),
                                   ((x + 1) * y - x).sum(axis=axis), atol=1e-12)


def test_errors_are_the_librarys_sentences():
    x = rd.asarray(np.zeros((2, 3)))
    with pytest.raises(rd.AxisError, match=r"rdim.sum: no axis 3 in an operand of rank 2, shape \(2, 3\)") as caught:
        rd.sum(x, axis=3)
    assert isinstance(caught.value, IndexError) and isinstance(caught.value, rd.Error)
    with pytest.raises(rd.ShapeError):
        x + rd.asarray(np.zeros(2))


@pytest.mark.parametrize("call", [
    lambda x, k: rd.sort(x, axis=k), lambda x, k: rd.take(x, [0], axis=k), lambda x, k: rd.diff(x, axis=k),
    lambda x, k: rd.concat([x, x], axis=k), lambda x, k: rd.stack([x, x], axis=k), lambda x, k: rd.diagonal(x, axis1=k),
    lambda x, k: rd.vecdot(x, x, axis=k), lambda x, k: rd.cumulative_sum(x, axis=k), lambda x, k: rd.repeat(x, 2, axis=k),
    lambda x, k: rd.compress([True, False], x, axis=k), lambda x, k: rd._core.compress(x, [True, False], k)])
def test_an_axis_of_more_than_32_bits_is_no_other_axis(call):
    for axis in (1 << 32, -(1 << 32), (1 << 32) + 1, 1 << 31):
        with pytest.raises(rd.AxisError, match=str(axis)):
            call(rd.asarray(np.zeros((2, 3))), axis)


def test_decimals_of_more_than_32_bits_are_refused():
    with pytest.raises(OverflowError, match="round.*decimals is 4294967296"):
        rd.round(rd.asarray([1.5]), 1 << 32)


@pytest.mark.parametrize("call", [
    lambda x, k: rd.full(2, k), lambda x, k: rd.nan_to_num(x, neginf=k), lambda x, k: rd.sum(x, initial=k),
    lambda x, k: rd.clip(x, k, 2), lambda x, k: rd.where(x > 0, k, x)])
def test_an_int_that_no_type_holds_is_an_error_and_not_ignored(call):
    for number in (-(1 << 63) - 1, 1 << 64, -10 ** 30):
        with pytest.raises(OverflowError, match=f"Python int {number}"):
            call(rd.asarray([1.0, -np.inf]), number)


def test_none_is_no_array_and_absent_arguments_are_named():
    for reduction in (rd.sum, rd.mean, rd.cumsum, rd.argmax):
        with pytest.raises(TypeError, match="no array can be made of"):
            reduction(None)
    with pytest.raises(TypeError, match=r'rdim.swapaxes\(\): argument "axis1" is missing'):
        rd.swapaxes(rd.asarray([1.0]))


def test_a_reducer_has_four_addresses():
    x = rd.asarray(np.arange(3.0))
    codes = ("double s;", "", "", "", "")
    with pytest.raises(TypeError, match="a tuple of 4 addresses is wanted"):
        rd._core.reduce_user(x, None, ("short", 1, "float64", "float64", 8, False, codes, (1, 2)), None, False, False,
                             None)
