"""Operators in place, bools, ints that round, types that are cast: by NumPy's rules."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
import pytest

import rdim as rd
from test_names import same

IN_PLACE = ["iadd", "isub", "imul", "itruediv", "ifloordiv", "imod", "ipow", "iand", "ior", "ixor", "ilshift", "irshift",
            "imatmul"]
TYPES = ["?", "i1", "u2", "i4", "u8", "f4", "f8", "c16"]


def outcome(call: Any, a: Any, b: Any) -> Any:
    """The array after the operator, or the built-in exception."""
    with np.errstate(all="ignore"):
        try:
            made = call(a, b)
        except (TypeError, ValueError, OverflowError) as error:
            return next(one for one in type(error).__mro__ if one.__module__ == "builtins")
    assert made is a
    return np.asarray(a)


@pytest.mark.parametrize("name", IN_PLACE)
def test_in_place(name: str) -> None:
    call, rng = getattr(operator, name), np.random.default_rng(IN_PLACE.index(name))
    shape = (3, 3)
    for one in TYPES:
        values: list[Any] = [rng.integers(0, 4, shape).astype(other) for other in TYPES]
        for b in [*values, rng.integers(0, 4, 3), rng.integers(0, 4, (2, 3, 3)), 2, 1.5, 1j, True]:
            if name == "imatmul" and not isinstance(b, np.ndarray):
                continue
            a = rng.integers(1, 4, shape).astype(one)
            x = rd.asarray(a.copy())
            other, view = x, x[0]
            want = outcome(call, a.copy(), b)
            have = outcome(call, x, rd.asarray(b) if isinstance(b, np.ndarray) else b)
            if isinstance(want, type) or isinstance(have, type):
                if name in ("iand", "ior", "ixor", "imod", "ifloordiv") and "c" in one:
                    continue  # NumPy's exception is of another class
                assert want == have or issubclass(have, want), (name, one, b, want, have)
                same(x, a, "unchanged")
                continue
            same(have, want, f"{name} {one} {b}")
            same(other, want, "another name of the same")
            same(view, a[0], "a view keeps its elements")


def test_memory_is_not_written_to() -> None:
    a = np.ones(3)
    x = rd.asarray(a)
    x += 1
    x[0] = 9
    assert a.tolist() == [1, 1, 1] and x.tolist() == [9, 2, 2]
    y = +x
    y[1] = 7
    assert x.tolist() == [9, 2, 2] and y.tolist() == [9, 7, 2]


def test_bools() -> None:
    a, b = np.array([True, True, False, False]), np.array([True, False, True, False])
    x, y = rd.asarray(a), rd.asarray(b)
    for name in ("add", "multiply", "maximum", "outer", "kron", "dot", "matmul", "left_shift", "right_shift"):
        same(getattr(rd, name)(x, y), getattr(np, name)(a, b), name)
    for name in ("power", "floor_divide", "remainder"):
        same(getattr(rd, name)(x, True), getattr(np, name)(a, True), name)
    same(rd.square(x), np.square(a), "square")
    same(abs(x), abs(a), "abs")
    same(sum([x, y]), sum([a, b]), "Python's sum starts with an int")  # type: ignore[list-item]
    for refused in (lambda: x - y, lambda: -x, lambda: rd.sign(x)):
        with pytest.raises(TypeError, match="bools"):
            refused()


def test_comparisons_with_none_and_text() -> None:
    a = np.arange(6).reshape(2, 3)
    x = rd.asarray(a)
    for other in (None, "a"):
        same(x == other, np.zeros((2, 3), bool), "equal")
        same(x != other, np.ones((2, 3), bool), "not equal")


def test_truth() -> None:
    for shape in ((2,), (0,), (1, 2)):
        with pytest.raises(ValueError, match="any"):
            bool(rd.zeros(shape))
    assert not rd.zeros((1, 1)) and rd.ones(())


def test_negative_powers() -> None:
    with pytest.raises(ValueError, match="power -1"):
        rd.asarray([2, 3]) ** -1
    same(rd.asarray([2.0]) ** -1, np.array([2.0]) ** -1, "floats")


@pytest.mark.parametrize("dtype", ["i1", "u1", "i2", "i4", "i8", "u8"])
def test_rounded_ints(dtype: str) -> None:
    rng = np.random.default_rng(3)
    info = np.iinfo(dtype)
    a = rng.integers(max(info.min, -5000), min(info.max, 5000), 200).astype(dtype)
    for decimals in (2, 0, -1, -2, -3):
        want = np.round(a, decimals)
        fits = np.abs(np.round(a.astype("f8"), decimals)) <= info.max
        same(np.asarray(rd.round(rd.asarray(a), decimals))[fits], want[fits], f"{dtype} {decimals}")
    exact = 2**60 + 12345
    assert rd.round(rd.asarray(np.array([exact])), -1).item() == (exact + 5) // 10 * 10
    with pytest.raises(ValueError, match="19"):
        rd.round(rd.asarray(a), -19)


def test_sign_of_zero() -> None:
    for a in (np.array([-0.0, 0.0, -2.0, np.nan, np.inf]), np.array([-0.0 - 0.0j, 3 + 4j])):
        got = np.asarray(rd.sign(rd.asarray(a)))
        same(got, np.sign(a), "sign")
        assert np.signbit(got.real).tolist() == np.signbit(np.sign(a).real).tolist()


def test_casting() -> None:
    a = np.array([1.5, 2.5])
    x = rd.asarray(a)
    assert x.astype(None).dtype == np.float64
    for rule in ("no", "equiv", "safe", "same_kind", "unsafe"):
        for one in TYPES:
            for other in TYPES:
                b = np.ones(2, one)
                assert can(rd.asarray(b), other, rule) == can(b, other, rule), (rule, one, other)
    for function, numpys in ((rd.concatenate, np.concatenate), (rd.stack, np.stack), (rd.vstack, np.vstack),
                             (rd.hstack, np.hstack)):
        with pytest.raises(TypeError, match="same_kind"):
            function([x, x], dtype="int64")
        same(function([x, x], dtype="int64", casting="unsafe"), numpys([a, a], dtype="int64", casting="unsafe"), "unsafe")


def can(x: Any, dtype: str, rule: str) -> bool:
    if x.dtype.kind == "c" and np.dtype(dtype).kind != "c" and rule == "unsafe":
        return True  # rdim wants a word for what becomes of the imaginary part
    try:
        x.astype(dtype, casting=rule)
    except TypeError:
        return False
    return True


def test_keywords() -> None:
    rng = np.random.default_rng(9)
    a, holes = rng.normal(size=(4, 5)), np.where(rng.random((4, 5)) < 0.3, np.nan, rng.normal(size=(4, 5)))
    mask = rng.random((4, 5)) < 0.7
    for name, given in (("std", a), ("var", a), ("nanstd", holes), ("nanvar", holes), ("std", a + 1j), ("var", (a * 9).astype(int))):
        mean = (np.nanmean if name[0] == "n" else np.mean)(given, axis=1, keepdims=True)
        for named in ({}, {"ddof": 1}, {"keepdims": True}, {"where": mask}):
            want = getattr(np, name)(given, axis=1, mean=mean, **named)
            same(getattr(rd, name)(rd.asarray(given), axis=1, mean=mean, **named), want, f"{name} {named}")
    with pytest.raises(TypeError, match="no keyword 'mean'"):
        rd.sum(rd.asarray(a), mean=0)
    labels = rng.integers(0, 3, (4, 5))
    for q in (0.3, [0.1, 0.9]):
        got = np.asarray(rd.quantile(rd.asarray(a), q, by=labels, groups=3))
        want = np.stack([np.quantile(a[labels == k], q) for k in range(3)], axis=-1)
        same(got, want, "quantile by labels")
        same(rd.nanpercentile(rd.asarray(holes), 40, by=labels, groups=3),
             np.array([np.nanpercentile(holes[labels == k], 40) for k in range(3)]), "nanpercentile by labels")


def test_clip_beyond_a_type() -> None:
    for dtype in ("i1", "u2", "i4"):
        a = np.arange(-3, 100, 7).astype(dtype)
        for low, high in ((-(2**40), 2**40), (5, 2**70), (-(2**70), 50), (None, 2**40), (-(2**40), None)):
            same(rd.clip(rd.asarray(a), low, high), np.clip(a, low, high), f"{dtype} {low} {high}")
        for low, high in ((2**40, None), (None, -(2**40))):
            with pytest.raises(OverflowError, match="rdim.clip"):
                rd.clip(rd.asarray(a), low, high)


def test_types_of_quantiles() -> None:
    a = np.random.default_rng(1).integers(0, 100, (5, 7))
    for method in ("linear", "lower", "higher", "nearest", "midpoint", "inverted_cdf", "averaged_inverted_cdf",
                   "closest_observation", "interpolated_inverted_cdf", "hazen", "weibull", "median_unbiased"):
        for dtype in ("i1", "u4", "i8", "f4"):
            b = a.astype(dtype)
            for q in (0.3, [0.0, 0.5, 1.0]):
                want = np.quantile(b, q, axis=1, method=method)
                same(rd.quantile(rd.asarray(b), q, axis=1, method=method), want, f"{method} {dtype}")


def test_output_is_an_array() -> None:
    """An Array as out= has the result from then on."""
    a = np.arange(6.0).reshape(2, 3)
    x, out = rd.asarray(a), rd.zeros(3)
    other = out
    assert rd.sum(x, axis=0, out=out) is out and np.mean(x, axis=0, out=out) is out
    same(other, a.mean(axis=0), "mean")
    assert rd.add(x[0], 1, out) is out
    np.multiply(x[1], 2, out=out, where=np.array([True, False, True]))
    same(out, np.array([6.0, 2.0, 10.0]), "where")
    with pytest.raises(ValueError, match=r"shape \(3,\) does not go"):
        rd.sum(x, axis=0, out=rd.zeros(2))
    with pytest.raises(TypeError, match="float64 does not go"):
        rd.sum(x, axis=0, out=rd.zeros(3, int))
    with pytest.raises(TypeError, match="out= is 3"):
        rd.sum(x, out=3)


def test_what_numpy_refuses() -> None:
    x = rd.asarray(np.ones((2, 3)))
    for call, error in (
        (lambda: rd.rot90(x, axes=(1, 1)), ValueError), (lambda: rd.rot90(x[0]), ValueError),
        (lambda: rd.rollaxis(x, 0, -5), ValueError), (lambda: rd.gradient(x, np.arange(3.0)), TypeError),
        (lambda: rd.delete(x[0], [True, False]), ValueError), (lambda: rd.cov(x, fweights=[1, 2]), RuntimeError),
        (lambda: rd.nanmean(x, dtype=int), TypeError), (lambda: rd.nanvar(x, dtype=int), TypeError),
    ):
        with pytest.raises(error):
            call()
    same(rd.insert(x, [1], [1, 2, 3], axis=1), np.insert(np.ones((2, 3)), [1], [1, 2, 3], axis=1), "insert")
    same(rd.nansum(x, dtype=int), np.nansum(np.ones((2, 3)), dtype=int), "nansum")


def test_indices_have_no_axes() -> None:
    for a in (np.array([1]), np.array(True), np.array(1.0), np.array([[2]])):
        for x in (a, rd.asarray(a)):
            with pytest.raises(TypeError):
                operator.index(x)
    assert operator.index(rd.asarray(np.array(3, "u1"))) == 3
    with pytest.raises(TypeError):
        rd.reshape(rd.zeros(4), (rd.asarray([2]), -1))
