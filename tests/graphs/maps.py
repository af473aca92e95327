"""maps.py - steps of a random program: maps, a row each, and casts.

A row says how rdim's call is named, what NumPy has for it, how exact it is, and where that function of intervals is the
hull of its values at their ends; elsewhere (`sure` is false) a value that is not exact is unsure.
"""
import math
from dataclasses import dataclass
from typing import Callable

import numpy as np

import kinds as K
from kinds import LONG
from value import Value, cast, corners, either, finish, with_signs

REFUSED = None


@dataclass
class Map:
    name: str
    theirs: Callable
    ulps: float = 0.5
    sure: Callable | None = None    # (lo, hi of each operand ...) -> mask: monotone between the ends
    slack: Callable | None = None   # (lo, hi of each operand ...) -> what is added to the bound
    signs: bool = False             # the sign of a zero counts
    rule: str = "float"             # float: a float function; arith, same, bits: by promotion
    narrow: bool = True             # of f16 and bf16, too
    weight: float = 1


def away_from_0(lo, hi):
    return (lo > 0) | (hi < 0)


def around_0(lo, hi):
    return (lo <= 0) & (hi >= 0)


def infinite(lo, hi):
    return np.isinf(lo) | np.isinf(hi)


def small(lo, hi):
    return hi - lo < 1e-3


def width(lo, hi):
    return np.asarray(hi - lo)


def of_math(f):
    """A function of Python's math, of f64."""
    def one(x):
        try:
            return f(x)
        except OverflowError:
            return math.inf
        except ValueError:
            return math.nan
    call = np.frompyfunc(one, 1, 1)
    return lambda x: np.asarray(call(x.astype(float)), float).astype(LONG) if x.size else x


def where_flat(limit):
    return lambda lo, hi: small(lo, hi) & (np.maximum(abs(lo), abs(hi)) < limit)


ONE = [
    Map("neg", np.negative, rule="arith", weight=2), Map("abs", np.abs, sure=lambda lo, hi: (lo >= 0) | (hi <= 0),
                                                        rule="arith", signs=True),
    Map("square", np.square, sure=lambda lo, hi: (lo >= 0) | (hi <= 0), rule="arith"),
    Map("sign", lambda x: np.where(x == 0, x, np.sign(x)), sure=lambda lo, hi: np.sign(lo) == np.sign(hi),
        rule="arith"),
    Map("sqrt", np.sqrt, weight=2), Map("reciprocal", np.reciprocal, sure=away_from_0, signs=True),
    Map("deg2rad", np.deg2rad, ulps=1.5), Map("rad2deg", np.rad2deg, ulps=1.5),
    Map("exp", np.exp, ulps=1, weight=2), Map("expm1", np.expm1, ulps=1), Map("exp2", np.exp2, ulps=1),
    Map("log", np.log, ulps=1), Map("log1p", np.log1p, ulps=1), Map("log2", np.log2, ulps=1),
    Map("log10", np.log10, ulps=1), Map("cbrt", np.cbrt, ulps=1),
    Map("sin", np.sin, ulps=1, sure=small, slack=width), Map("cos", np.cos, ulps=1, sure=small, slack=width),
    Map("tan", np.tan, ulps=1, sure=where_flat(1)), Map("tanh", np.tanh, ulps=1), Map("atan", np.arctan, ulps=1),
    Map("asin", np.arcsin, ulps=1), Map("acos", np.arccos, ulps=1), Map("sinh", np.sinh, ulps=1),
    Map("cosh", np.cosh, ulps=1, sure=lambda lo, hi: (lo >= 0) | (hi <= 0)), Map("asinh", np.arcsinh, ulps=1),
    Map("acosh", np.arccosh, ulps=1), Map("atanh", np.arctanh, ulps=1),
    Map("erf", of_math(math.erf), ulps=5), Map("erfc", of_math(math.erfc), ulps=40),
    Map("floor", np.floor, rule="same"), Map("ceil", np.ceil, rule="same"), Map("round", np.rint, rule="same"),
    Map("trunc", np.trunc, rule="same"), Map("relu", lambda x: np.maximum(x, 0), rule="same", signs=True),
]
TWO = [
    Map("add", np.add, rule="arith", weight=6, signs=True), Map("sub", np.subtract, rule="arith", weight=5, signs=True),
    Map("mul", np.multiply, sure=lambda a, b, lo, hi: ~(around_0(a, b) & infinite(lo, hi)) &
        ~(around_0(lo, hi) & infinite(a, b)), rule="arith", weight=6),
    Map("div", np.divide, sure=lambda a, b, lo, hi: away_from_0(lo, hi), signs=True, weight=2),
    Map("floordiv", None, rule="ints"), Map("remainder", None, rule="ints"),
    Map("pow", np.power, ulps=1, sure=lambda a, b, lo, hi: (a > 0) & ~((a <= 1) & (b >= 1) & np.isnan(lo)),
        rule="float"),  # 1 to the power of NaN is 1
    Map("atan2", np.arctan2, ulps=1, sure=lambda a, b, lo, hi: lo > 0, signs=True),
    Map("hypot", np.hypot, ulps=1, sure=lambda a, b, lo, hi: ((a >= 0) | (b <= 0)) & ((lo >= 0) | (hi <= 0))),
    Map("copysign", np.copysign, sure=lambda a, b, lo, hi: away_from_0(lo, hi) & ((a >= 0) | (b <= 0)), signs=True),
    Map("minimum", np.minimum, rule="same", weight=2, signs=True),
    Map("maximum", np.maximum, rule="same", weight=2, signs=True),
    Map("fmin", np.fmin, rule="same", signs=True), Map("fmax", np.fmax, rule="same", signs=True),
    Map("bit_and", np.bitwise_and, rule="bits"), Map("bit_or", np.bitwise_or, rule="bits"),
    Map("bit_xor", np.bitwise_xor, rule="bits"), Map("gcd", np.gcd, rule="bits"), Map("lcm", np.lcm, rule="bits"),
]
COMPARE = {"eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal, "gt": np.greater,
           "ge": np.greater_equal}
LOGIC = {"and": np.logical_and, "or": np.logical_or, "xor": np.logical_xor}


def unclear(row, operands):
    """Where ends that differ say nothing of what is between them."""
    if row.sure is None or all(x.lo is x.hi for x in operands):
        return None
    differ = either(*(np.asarray((x.lo != x.hi) | (np.signbit(x.lo) != np.signbit(x.hi))) & ~np.isnan(x.lo)
                      for x in operands if x.lo is not x.hi))
    if differ is None:
        return None
    return differ & ~row.sure(*(end for x in operands for end in (x.lo, x.hi)))


def directly(f):
    """f of f64, rounded once: long double would be rounded twice."""
    return lambda *x: np.asarray(f(*(np.asarray(a, np.float64) for a in x))).astype(LONG)


def of_floats(row, kind, operands):
    contracts = row.name in ("add", "sub") and any(x.raw for x in operands)
    operands = [cast(x.hull() if row.name in ("add", "sub") and x.kind is kind else x, kind) for x in operands]
    if row.signs:
        operands = [with_signs(x) for x in operands]
    direct = kind is K.F64 and row.ulps <= 0.5 and not contracts
    lo, hi, unsure = corners(directly(row.theirs) if direct else row.theirs, *operands)
    slack = row.slack(operands[0].lo, operands[0].hi) if row.slack and operands[0].lo is not operands[0].hi else None
    if kind is K.F64 and contracts:
        slack = LONG(2.0) ** -62 * sum(x.largest() for x in operands)
        slack = np.where(np.isfinite(slack), slack, 0)
    if row.name == "copysign":  # which sign a NaN has is not promised
        unsure = either(unsure, np.broadcast_to(np.isnan(operands[1].lo), lo.shape))
    y, raw = finish(kind, lo, hi, either(unsure, unclear(row, operands)), row.ulps, slack)
    if row.name in ("mul", "square") and kind is K.F64:
        raw = corners(row.theirs, *operands)[:2]
    if row.name in ("mul", "square"):
        y.raw = raw
    if row.name in ("minimum", "maximum", "fmin", "fmax", "relu") and y.lo is y.hi:
        y.hi = y.lo.copy()                      # which zero it is, of two that are equal, is not said
    return y


def of_ints(row, kind, operands):
    operands = [cast(x, kind) for x in operands]
    f = {"square": lambda x: x * x, "sign": np.sign, "relu": lambda x: np.maximum(x, kind.memory.type(0)),
         "floor": np.copy, "ceil": np.copy, "round": np.copy, "trunc": np.copy, "fmin": np.minimum, "fmax": np.maximum,
         "floordiv": np.floor_divide, "remainder": np.remainder}.get(row.name, row.theirs)
    lo = np.asarray(f(*(x.lo for x in operands))).astype(kind.memory)
    return Value(kind, lo, None, either(*(np.broadcast_to(x.unsure, lo.shape) for x in operands
                                          if x.unsure is not None)))


def mapped(row, *operands):
    """The value of a map, or REFUSED where it is not taken."""
    kind = operands[0].kind
    for x in operands[1:]:
        kind = K.promoted(kind, x.kind)
    if kind.letter == "c":
        return REFUSED
    if row.rule == "float":
        kind = K.of_function(kind)
    elif row.rule == "arith" and kind is K.BOOL:
        kind = K.I64
    elif row.rule == "bits" and (kind.bits or (kind is K.BOOL and row.name in ("gcd", "lcm"))):
        return REFUSED
    elif row.rule == "ints":
        if kind.bits:
            return REFUSED
        kind = K.I64 if kind is K.BOOL else kind
    elif row.name in ("floor", "ceil", "round", "trunc") and not kind.bits:
        return operands[0]
    if row.name == "pow" and any(not x.kind.bits for x in operands):
        return REFUSED
    return (of_floats if kind.bits else of_ints)(row, kind, operands)


def compared(name, a, b):
    kind = K.promoted(a.kind, b.kind)
    if a.kind.letter == "c" or b.kind.letter == "c":
        return REFUSED
    if a.kind.bits or b.kind.bits:  # ints are compared exactly, u64 beside signed ones too
        a, b = cast(a, kind), cast(b, kind)
    f = COMPARE[name]
    y = np.asarray(f(a.lo, b.lo))
    unsure = [np.broadcast_to(x.unsure, y.shape) for x in (a, b) if x.unsure is not None]
    if not (a.lo is a.hi and b.lo is b.hi):
        unsure.append(np.broadcast_to((a.lo != a.hi) | (b.lo != b.hi), y.shape) & (a.lo <= b.hi) & (b.lo <= a.hi))
    return Value(K.BOOL, y, None, either(*unsure))


def joined(name, a, b):
    a, b = cast(a, K.BOOL), cast(b, K.BOOL)
    y = np.asarray(LOGIC[name](a.lo, b.lo))
    return Value(K.BOOL, y, None, either(*(np.broadcast_to(x.unsure, y.shape) for x in (a, b)
                                           if x.unsure is not None)))


def chosen(cond, a, b):
    """rd_where()."""
    kind = K.promoted(a.kind, b.kind)
    cond, a, b = cast(cond, K.BOOL), cast(a, kind), cast(b, kind)
    if cond.unsure is not None:
        return REFUSED
    lo = np.where(cond.lo, a.lo, b.lo)
    hi = lo if a.lo is a.hi and b.lo is b.hi and kind.letter != "c" else np.where(cond.lo, a.hi, b.hi)
    none = np.zeros((), bool)
    unsure = np.where(cond.lo, none if a.unsure is None else a.unsure, none if b.unsure is None else b.unsure)
    return Value(kind, lo, hi, unsure)


def tested(name, x):
    f = {"isnan": np.isnan, "isfinite": np.isfinite, "isinf": np.isinf}[name]
    if x.kind.letter == "c":
        return REFUSED
    if not x.kind.bits:
        return Value(K.BOOL, np.full(x.shape, name == "isfinite"), None, x.unsure)
    y = f(x.lo)
    return Value(K.BOOL, y, None, either(x.unsure, y != f(x.hi)))


# ---- Complex numbers: a value and how far off it may be -------------------------------------------------------------
def of_complex(name, a, b):
    kind = K.promoted(a.kind, b.kind)
    a, b = cast(a, kind), cast(b, kind)
    eps = np.finfo(kind.memory).eps
    with np.errstate(all="ignore"):
        if name == "mul":
            lo = a.lo * b.lo
            error = np.abs(a.lo) * b.hi + a.hi * np.abs(b.lo) + a.hi * b.hi + 4 * eps * np.abs(a.lo) * np.abs(b.lo)
        else:
            lo = a.lo + b.lo if name == "add" else a.lo - b.lo
            error = a.hi + b.hi + 2 * eps * (np.abs(a.lo) + np.abs(b.lo))  # a product may be not rounded
    return complex_value(kind, lo, error, a, b)


def complex_value(kind, lo, error, *operands):
    """What leaves the range, or is near the smallest numbers, is unsure."""
    most, least = float(np.finfo(kind.memory).max) / 4, float(np.finfo(kind.memory).tiny)
    lost = ~(np.abs(lo) < most) | ~(error < most)
    return Value(kind, lo, np.asarray(error + 4 * least, LONG), either(
        lost, *(np.broadcast_to(x.unsure, lo.shape) for x in operands if x.unsure is not None)))


def part(name, x):
    kind = K.F32 if x.kind is K.C64 else K.F64
    eps = np.finfo(kind.memory).eps
    if name == "conj":
        return Value(x.kind, np.conj(x.lo), x.hi, x.unsure)
    y = {"real": np.real, "imag": np.imag, "abs": np.abs}[name](x.lo)
    error = x.hi + (2 * eps * y if name == "abs" else 0)
    return Value(kind, K.once(y - error, kind), K.once(y + error, kind), x.unsure)
