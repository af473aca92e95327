"""Maps: every row of core/ops.def, and what is composed of them."""
import numpy as np
import scipy.special as sp

from rows import ALL, BOOL, FLOATS, INTS, NUMBERS, SIGNED, UNSIGNED, Row, anything, between, real_type, small

WIDE = ("float32", "float64")


def of_floats(name, theirs, low=None, high=None, ulps=1.0, exact=True, operands=1, scale=None, types=ALL, weight=1):
    """A float function: of ints f64.  Special values are drawn where no range is given."""
    values = anything if low is None else between(low, high)
    return Row(name, name, theirs, operands=operands, types=types, values=values, ulps=ulps, exact=exact, scale=scale,
               real=True, type=real_type, weight=weight)


def unsigned(x):
    return x.view(x.dtype.str.replace("i", "u"))


def twos(random, arrays):
    return {"rtol": float(random.choice([1e-5, 0.1])), "atol": float(random.choice([1e-8, 0.5]))}


def shifts(random, shape, dtype):
    """Operands, and counts beyond both ends among them."""
    info = np.iinfo(dtype)
    return random.integers(max(info.min, -90), min(info.max, 90), shape, dtype, endpoint=True)


def gelu(x):
    return x * sp.ndtr(x)


ROWS = [
    Row("neg", "neg", np.negative, types=NUMBERS),
    Row("abs", "abs", np.abs, types=NUMBERS),
    Row("sign", "sign", np.sign, types=NUMBERS),
    Row("square", "square", np.square, types=NUMBERS, ulps=0.5),
    of_floats("sqrt", np.sqrt, ulps=0.5),
    of_floats("reciprocal", np.reciprocal, ulps=0.5),
    of_floats("deg2rad", np.deg2rad, ulps=1.5),
    of_floats("rad2deg", np.rad2deg, ulps=1.5),
    of_floats("fraction", lambda x: np.where(np.isfinite(x), np.frexp(x)[0], x)),
    of_floats("exponent", lambda x: np.where(np.isfinite(x), np.frexp(x)[1], 0).astype(x.dtype)),
    of_floats("exp", np.exp), of_floats("expm1", np.expm1), of_floats("log", np.log), of_floats("log1p", np.log1p),
    of_floats("log2", np.log2), of_floats("log10", np.log10), of_floats("exp2", np.exp2),
    of_floats("exp10", lambda x: np.power(x.dtype.type(10), x)),
    of_floats("cbrt", np.cbrt),
    of_floats("sin", np.sin), of_floats("cos", np.cos), of_floats("tan", np.tan), of_floats("tanh", np.tanh),
    of_floats("asin", np.arcsin), of_floats("acos", np.arccos), of_floats("atan", np.arctan),
    of_floats("asin", np.arcsin, -1, 1), of_floats("acos", np.arccos, -1, 1), of_floats("atanh", np.arctanh, -1, 1),
    of_floats("acosh", np.arccosh, 1, 100),
    of_floats("sinh", np.sinh), of_floats("cosh", np.cosh), of_floats("asinh", np.arcsinh),
    of_floats("acosh", np.arccosh), of_floats("atanh", np.arctanh),
    of_floats("erf", sp.erf, ulps=3, exact=False), of_floats("erfc", sp.erfc, -5, 5, ulps=40, exact=False),
    of_floats("erfinv", sp.erfinv, -1, 1, ulps=16, exact=False),
    of_floats("tgamma", sp.gamma, 0.01, 30, ulps=30, exact=False),
    of_floats("lgamma", sp.gammaln, 0.01, 30, ulps=30, exact=False, scale=lambda x: np.maximum(abs(sp.gammaln(x)), 2)),
    of_floats("digamma", sp.digamma, 0.01, 30, ulps=30, exact=False, scale=lambda x: np.maximum(abs(sp.digamma(x)), 1)),
    of_floats("ndtr", sp.ndtr, -5, 5, ulps=40, exact=False),
    of_floats("gelu", gelu, -5, 9, ulps=40, exact=False),
    of_floats("sigmoid", sp.expit, ulps=2), of_floats("silu", lambda x: x * sp.expit(x), -30, 30, ulps=2),
    of_floats("softplus", lambda x: np.logaddexp(x.dtype.type(0), x), ulps=2),
    of_floats("sinc", np.sinc, -9, 9, ulps=4, scale=lambda x: np.ones_like(x)),
    Row("floor", "floor", np.floor, types=FLOATS), Row("ceil", "ceil", np.ceil, types=FLOATS),
    Row("round", "round", np.rint, types=FLOATS), Row("trunc", "trunc", np.trunc, types=FLOATS),
    Row("floor of ints", "floor", np.copy, types=BOOL + INTS),
    Row("round_to", "round_to", lambda x, decimals: np.round(x, decimals), types=WIDE, ulps=1,
        arguments=lambda random, _: {"decimals": int(random.integers(-2, 4))}, exact="same"),
    Row("relu", "relu", lambda x: np.maximum(x, 0), types=NUMBERS),
    Row("nan_to_num", "nan_to_num", np.nan_to_num, exact="same"),
    Row("not", "not", np.logical_not), Row("bit_not", "bit_not", np.invert, types=INTS),
    Row("popcount", "popcount", lambda x: np.bitwise_count(unsigned(x)).astype(unsigned(x).dtype), types=INTS),
    Row("isnan", "isnan", np.isnan), Row("isfinite", "isfinite", np.isfinite), Row("isinf", "isinf", np.isinf),
    Row("signbit", "signbit", np.signbit, types=NUMBERS),
    Row("isclose", "isclose", lambda x, y, rtol, atol: np.isclose(x, y, rtol, atol), operands=2, types=WIDE,
        arguments=twos, exact="same"),

    Row("add", "add", np.add, operands=2, types=NUMBERS, ulps=0.5, weight=3),
    Row("sub", "sub", np.subtract, operands=2, types=NUMBERS, ulps=0.5),
    Row("mul", "mul", np.multiply, operands=2, types=NUMBERS, ulps=0.5),
    of_floats("div", np.divide, operands=2, ulps=0.5),
    Row("floordiv", "floordiv", np.floor_divide, operands=2, types=NUMBERS, exact="same"),
    Row("remainder", "remainder", np.remainder, operands=2, types=NUMBERS, exact="same"),
    Row("pow", "pow", np.power, operands=2, types=FLOATS, ulps=1, values=between(0, 9)),
    Row("pow of ints", lambda r, x, y: r.pow(x, y), np.power, operands=2, types=UNSIGNED, values=anything),
    of_floats("atan2", np.arctan2, operands=2), of_floats("hypot", np.hypot, operands=2),
    of_floats("logaddexp", np.logaddexp, operands=2, ulps=4,
              scale=lambda x, y: np.maximum(np.maximum(abs(x), abs(y)), 1)),
    of_floats("copysign", np.copysign, operands=2),
    of_floats("nextafter", np.nextafter, operands=2, types=WIDE, exact="same"),
    of_floats("heaviside", np.heaviside, operands=2),
    Row("ldexp", lambda r, x: r.ldexp(x, r.int(3)), lambda x: np.ldexp(x, 3), types=FLOATS),
    Row("minimum", "minimum", np.minimum, operands=2), Row("maximum", "maximum", np.maximum, operands=2),
    Row("fmin", "fmin", np.fmin, operands=2), Row("fmax", "fmax", np.fmax, operands=2),
    Row("and", "and", np.logical_and, operands=2), Row("or", "or", np.logical_or, operands=2),
    Row("xor", "xor", np.logical_xor, operands=2),
    Row("bit_and", "bit_and", np.bitwise_and, operands=2), Row("bit_or", "bit_or", np.bitwise_or, operands=2),
    Row("bit_xor", "bit_xor", np.bitwise_xor, operands=2),
    Row("shift_left", "shift_left", np.left_shift, operands=2, types=INTS, values=shifts),
    Row("shift_right", "shift_right", np.right_shift, operands=2, types=INTS, values=shifts),
    Row("gcd", "gcd", np.gcd, operands=2, types=INTS), Row("lcm", "lcm", np.lcm, operands=2, types=INTS),
    Row("eq", "eq", np.equal, operands=2, values=small), Row("ne", "ne", np.not_equal, operands=2, values=small),
    Row("lt", "lt", np.less, operands=2, values=small), Row("le", "le", np.less_equal, operands=2, values=small),
    Row("gt", "gt", np.greater, operands=2, values=small), Row("ge", "ge", np.greater_equal, operands=2, values=small),
    Row("where", "where", np.where, operands=3, weight=2),
    Row("clip", "clip", lambda x, lo, hi: np.minimum(np.maximum(x, lo), hi), operands=3, types=NUMBERS),
    Row("cast", lambda r, x, to: r.cast(x, to), lambda x, to: x.astype(to), types=ALL, values=small, weight=3,
        arguments=lambda random, arrays: {"to": str(random.choice(
            ALL if arrays[0].dtype.kind != "f" else BOOL + SIGNED + FLOATS))}, exact="same"),
    Row("map_text", lambda r, x, y: r.map2_text(x, y, "x > y ? 2 * x - y / 4 : sqrt(abs(x * y))"),
        lambda x, y: np.where(x > y, 2 * x - y / 4, np.sqrt(abs(x * y))), operands=2, types=("float64",), ulps=4,
        scale=lambda x, y: abs(x) * 2 + abs(y), also=("float64",)),
]
