"""Types by the rules of NumPy 2 (NEP 50): all pairs of types, and numbers of Python beside each type.

DIFFERENCES is the whole list of where rdim's types are others; docs/python.md has it in words.
"""

from __future__ import annotations

import itertools
import operator
from typing import Any

import numpy as np
import pytest

import rdim as rd

TYPES = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32",
         "float64", "complex64", "complex128"]
NUMBERS = [True, 0, 3, -2, 200, 2**40, 1.5, 1j]
OPERATORS = {name: getattr(operator, name)
             for name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "and_", "or_", "xor", "lshift",
                          "eq", "lt", "ge")}
FUNCTIONS = ["maximum", "minimum", "hypot", "arctan2", "logaddexp", "copysign", "logical_and", "fmax", "gcd"]
SMALL = {"bool", "int8", "int16", "uint8", "uint16"}
INTS = {name for name in TYPES if "int" in name}


def expected(call: Any, *operands: Any) -> Any:
    """The type of NumPy's result, or TypeError and its kin as such."""
    with np.errstate(all="ignore"):
        try:
            return call(*operands).dtype
        except (TypeError, ValueError, OverflowError) as error:
            return type(error)


def agree(have: Any, want: Any) -> bool:
    """The same type, or an exception of the kind of NumPy's."""
    if isinstance(want, type) and issubclass(want, Exception):
        kind = next(one for one in want.__mro__ if one.__module__ == "builtins")
        return isinstance(have, type) and issubclass(have, kind)
    return have == want


def got(call: Any, *operands: Any) -> Any:
    try:
        return call(*operands).dtype
    except (TypeError, ValueError, OverflowError) as error:
        return type(error)


def array(name: str) -> np.ndarray:
    return np.ones(2, name)


FLOAT_FUNCTIONS = ("truediv", "hypot", "arctan2", "logaddexp", "copysign")


def is_difference(name: str, types: tuple[Any, ...], want: Any) -> bool:
    """The differences, each a rule."""
    kinds = [np.dtype(one).kind if isinstance(one, str) else np.result_type(one).kind for one in types]
    if name == "gcd" and all(kind == "b" for kind in kinds):
        return True  # int64, where NumPy has a TypeError
    if name in FLOAT_FUNCTIONS and all(kind in "biu" for kind in kinds):
        return True  # float64, where NumPy has 16 or 32 bits for short ints
    if "c" in kinds:  # no order: TypeError, where NumPy goes by the real, then by the imaginary part
        return name in ("maximum", "minimum", "fmax", "lt", "ge")
    return name in ("pow",) and want is ValueError  # negative powers of ints are known when they are computed


CALLS = {**OPERATORS, **{name: name for name in FUNCTIONS}}


def calls(name: str) -> tuple[Any, Any]:
    call = CALLS[name]
    return (getattr(np, call), getattr(rd, call)) if isinstance(call, str) else (call, call)


@pytest.mark.parametrize("name", CALLS)
def test_pairs_of_types(name: str) -> None:
    of_numpy, of_rdim = calls(name)
    wrong = []
    for one, other in itertools.product(TYPES, repeat=2):
        want = expected(of_numpy, array(one), array(other))
        have = got(of_rdim, rd.asarray(array(one)), rd.asarray(array(other)))
        if not agree(have, want) and not is_difference(name, (one, other), want):
            wrong.append((one, other, have, want))
    assert not wrong


@pytest.mark.parametrize("name", CALLS)
def test_numbers_of_python(name: str) -> None:
    of_numpy, of_rdim = calls(name)
    wrong = []
    for one, number, turned in itertools.product(TYPES, NUMBERS, (False, True)):
        want = expected(of_numpy, *((number, array(one)) if turned else (array(one), number)))
        x = rd.asarray(array(one))
        have = got(of_rdim, *((number, x) if turned else (x, number)))
        if not agree(have, want) and not is_difference(name, (one, number), want):
            wrong.append((one, number, turned, have, want))
    assert not wrong


@pytest.mark.parametrize("one", ["int32", "float16", "float32", "float64"])
def test_fmod_beside_numbers(one: str) -> None:
    a = np.array([7, -7, 5, -1], one)
    for number, turned in itertools.product([3, -2, 1.5], (False, True)):
        want = np.fmod(number, a) if turned else np.fmod(a, number)
        have = np.asarray(rd.fmod(number, a) if turned else rd.fmod(a, number))
        assert have.dtype == want.dtype and have.tolist() == want.tolist(), (number, turned)


def test_fmod_of_the_least_int() -> None:
    a = np.array([-128, -3, 0, 5, 127], "i1")
    for number in (-128, 3, 1.5):
        assert np.asarray(rd.fmod(a, number)).tolist() == np.fmod(a, number).tolist(), number


def test_edges_of_small_ints() -> None:
    for edges in (np.array([9, 5, 1], "u1"), np.array([-128, 0, 127], "i1")):
        assert np.asarray(rd.digitize([0, 6], edges)).tolist() == np.digitize([0, 6], edges).tolist()


def test_ints_beyond_a_type_compare() -> None:
    for one, number in itertools.product(INTS, [-(2**70), -(2**63) - 1, -129, -1, 127, 128, 255, 2**32, 2**64, 2**70]):
        a = np.array([np.iinfo(one).min, 1, np.iinfo(one).max], one)
        for call in (operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge):
            for want, have in ((call(a, number), call(rd.asarray(a), number)),
                               (call(number, a), call(number, rd.asarray(a)))):
                assert np.asarray(have).tolist() == want.tolist(), (one, number, call)


def test_result_type() -> None:
    for one, other in itertools.product(TYPES, repeat=2):
        assert rd.result_type(one, other) == np.result_type(one, other), (one, other)
        assert rd.can_cast(one, other) == np.can_cast(one, other), (one, other)
        assert rd.can_cast(one, other, "same_kind") == np.can_cast(one, other, "same_kind"), (one, other)
    for one, number in itertools.product(TYPES, [True, 3, 1.5, 1j]):
        want = np.result_type(array(one), number)
        assert rd.result_type(rd.asarray(array(one)), number) == want, (one, number)


@pytest.mark.parametrize("name", ["sum", "prod", "mean", "var", "std", "max", "argmax", "any", "cumsum", "median",
                                  "sqrt", "exp", "sin", "negative", "square", "floor", "sign",
                                  "abs", "isnan", "reciprocal"])
def test_one_operand(name: str) -> None:
    wrong = []
    for one in TYPES:
        want, have = expected(getattr(np, name), array(one)), got(getattr(rd, name), rd.asarray(array(one)))
        short = name in ("sqrt", "exp", "sin") and one in SMALL
        known = want == TypeError or (one.startswith("complex") and have is rd.DTypeError) or \
            (one in INTS | {"bool"} and name == "reciprocal")
        if not agree(have, want) and not short and not known:
            wrong.append((one, have, want))
    assert not wrong
