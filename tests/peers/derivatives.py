"""derivatives.py [--build build/release] [--rows PATTERN] [--quiet]: derivatives beside those of JAX and PyTorch.

A row is an operation as text, in the words of each library.  At regular points its value, its gradient by each operand and
its change along a direction are compared, in f64; at special points, such as 0, ties, NaN and ends of domains, its
derivatives.  Where conventions differ a table of docs/derivatives.md has what each library gives, and this checks it: a
difference that is not there fails, and so does a row of the table that is not what is found.

Each operator with a derivative of src/core/ops.def and each reducer of src/core/reducers.def has a row, or a sentence that
says why it is compared with no one.  Without JAX and PyTorch, or without the package rdim, it exits with 77.
"""
import argparse
import itertools
import re
import sys
import warnings
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs/derivatives.md"
BOUND = 1e-10
LIBRARIES = ("JAX", "PyTorch")
SHAPE = (4, 5)


# ---- Rows ---------------------------------------------------------------------------------------------------------
class Row:
    """An operation: what each library calls it.  `at` are special points, tuples of a number for each operand, or arrays."""

    def __init__(self, name, ours, jax="", torch="", *, of=(-2.0, 2.0), at=(), of_def=None, shape=SHAPE, complex=False, loose=1):
        self.name, self.ours = name, ours
        self.text = {"JAX": jax or ours, "PyTorch": torch or jax or ours}
        self.low, self.high, self.at, self.of_def, self.shape, self.complex = of, of, at, of_def or name, shape, complex
        self.low, self.high = of
        self.bound = BOUND * loose
        self.operands = [one for one in "xyz" if re.search(rf"\b{one}\b", ours)]

    def words(self, library):
        """The text of a library; None where it has no such operation, which a text in brackets explains."""
        text = self.text[library]
        return None if text.startswith("(") and text.endswith(" )") else text


INF, NAN = float("inf"), float("nan")
ENDS = [(0.0,), (-0.0,), (INF,), (-INF,), (NAN,)]
UNIT = [(-1.0,), (0.0,), (1.0,), (2.0,), (NAN,)]
PAIRS = [(0.0, 0.0), (1.0, 1.0), (-1.0, -1.0), (NAN, 1.0), (1.0, NAN), (0.0, 1.0), (1.0, 0.0)]


def no(why):
    """Words for: the library has none."""
    return f"({why} )"


MAPS = [
    Row("neg", "-x", at=ENDS),
    Row("abs", "abs(x)", at=ENDS),
    Row("sign", "sign(x)", at=ENDS),
    Row("square", "square(x)", at=ENDS),
    Row("sqrt", "sqrt(x)", of=(0.1, 2), at=[(0.0,), (-1.0,), (INF,), (NAN,)]),
    Row("reciprocal", "reciprocal(x)", of=(0.5, 2), at=ENDS),
    Row("deg2rad", "deg2rad(x)", at=ENDS),
    Row("rad2deg", "rad2deg(x)", at=ENDS),
    Row("fraction", "frexp(4 * x)[0]", of=(0.51, 0.99)),
    Row("exponent", "frexp(4 * x)[1] * x", of=(0.51, 0.99)),
    Row("exp", "exp(x)", at=ENDS),
    Row("expm1", "expm1(x)", at=ENDS),
    Row("log", "log(x)", of=(0.1, 2), at=[(0.0,), (-1.0,), (INF,), (NAN,)]),
    Row("log1p", "log1p(x)", of=(-0.5, 2), at=[(-1.0,), (-2.0,), (INF,), (NAN,)]),
    Row("log2", "log2(x)", of=(0.1, 2), at=[(0.0,), (-1.0,), (INF,)]),
    Row("log10", "log10(x)", of=(0.1, 2), at=[(0.0,), (-1.0,), (INF,)]),
    Row("exp2", "exp2(x)", at=ENDS),
    Row("exp10", "exp10(x)", "10.0 ** x", at=ENDS),
    Row("cbrt", "cbrt(x)", "cbrt(x)", "sign(x) * abs(x) ** (1 / 3)", at=[(0.0,), (INF,), (NAN,)]),
    Row("sin", "sin(x)", at=ENDS),
    Row("cos", "cos(x)", at=ENDS),
    Row("tan", "tan(x)", of=(-1, 1), at=ENDS),
    Row("tanh", "tanh(x)", at=ENDS),
    Row("asin", "arcsin(x)", of=(-0.9, 0.9), at=UNIT),
    Row("acos", "arccos(x)", of=(-0.9, 0.9), at=UNIT),
    Row("atan", "arctan(x)", at=ENDS),
    Row("sinh", "sinh(x)", at=ENDS),
    Row("cosh", "cosh(x)", at=ENDS),
    Row("asinh", "arcsinh(x)", at=ENDS),
    Row("acosh", "arccosh(x)", of=(1.2, 3), at=[(1.0,), (0.5,), (INF,), (NAN,)]),
    Row("atanh", "arctanh(x)", of=(-0.9, 0.9), at=UNIT),
    Row("erf", "erf(x)", at=ENDS),
    Row("erfc", "erfc(x)", at=ENDS),
    Row("erfinv", "erfinv(x)", of=(-0.9, 0.9), at=UNIT[:3]),
    Row("ndtr", "ndtr(x)", at=ENDS),
    Row("tgamma", "gamma(x)", "gamma(x)", "exp(lgamma(x))", of=(0.5, 3), at=[(0.0,), (INF,), (NAN,)]),
    Row("lgamma", "gammaln(x)", "gammaln(x)", "lgamma(x)", of=(0.5, 3), at=[(0.0,), (INF,), (NAN,)]),
    Row("gelu", "gelu(x)", "gelu(x, approximate=False)", "gelu(x)", at=ENDS),
    Row("sigmoid", "sigmoid(x)", at=ENDS),
    Row("silu", "silu(x)", at=ENDS),
    Row("softplus", "softplus(x)", at=[(0.0,), (40.0,), (-40.0,), (-INF,), (INF,), (NAN,)]),
    Row("floor", "floor(x) * x", of=(0.1, 0.9), at=[(1.0,), (0.0,)]),
    Row("ceil", "ceil(x) * x", of=(0.1, 0.9), at=[(1.0,), (0.0,)]),
    Row("round", "rint(x) * x", "rint(x) * x", "round(x) * x", of=(0.1, 0.45), at=[(0.5,), (1.5,)]),
    Row("trunc", "trunc(x) * x", of=(1.1, 1.9), at=[(1.0,), (0.0,)]),
    Row("add", "x + y", at=PAIRS),
    Row("sub", "x - y", at=PAIRS),
    Row("mul", "x * y", at=[*PAIRS, (0.0, INF)]),
    Row("div", "x / y", of=(0.5, 2), at=[*PAIRS, (1.0, INF)]),
    Row("floordiv", "floor_divide(x, y) * x", "floor_divide(x, y) * x", "floor(x / y) * x", of=(0.3, 0.9), at=[(1.0, 0.5), (0.0, 1.0)]),
    Row("remainder", "remainder(7 * x, y)", of=(0.3, 0.9), at=[(1.0, 1.0), (0.0, 1.0), (-1.0, 3.0), (1.0, -3.0), (1.0, 0.0), (NAN, 1.0)]),
    Row("pow", "x ** y", of=(0.3, 2), at=[(0.0, 0.0), (0.0, 1.0), (0.0, 2.0), (0.0, 0.5), (0.0, -1.0), (-1.0, 2.0), (-1.0, 0.5), (1.0, NAN), (NAN, 0.0), (2.0, 0.0), (INF, 0.0)]),
    Row("pow of a number", "x ** 3 + x ** -2 + x ** 1.5", of=(0.3, 2), at=[(NAN,), (INF,)], of_def="pow"),
    Row("power 2", "x ** 2", at=ENDS, of_def="pow"),
    Row("power 0", "x ** 0", at=ENDS, of_def="pow"),
    Row("a number to a power", "2.0 ** x", at=ENDS, of_def="pow"),
    Row("atan2", "arctan2(x, y)", of=(0.3, 2), at=[(0.0, 0.0), (0.0, -1.0), (-0.0, -1.0), (1.0, 0.0), (INF, INF), (NAN, 1.0)]),
    Row("hypot", "hypot(x, y)", at=[(0.0, 0.0), (0.0, 1.0), (INF, 1.0), (NAN, 1.0)]),
    Row("logaddexp", "logaddexp(x, y)", at=[(0.0, 0.0), (INF, 1.0), (-INF, 1.0), (-INF, -INF), (NAN, 1.0)]),
    Row("copysign", "copysign(x, y)", at=[(1.0, -1.0), (-1.0, -1.0), (0.0, 1.0), (1.0, 0.0), (1.0, -0.0)]),
    Row("nextafter", "nextafter(x, y)", no("JAX has no rule for it"), no("PyTorch has no derivative of it")),
    Row("ldexp", "ldexp(x, 3) + ldexp(x, -2)", "ldexp(x, 3) + ldexp(x, -2)", "ldexp(x, tensor(3)) + ldexp(x, tensor(-2))", at=ENDS),
    Row("heaviside", "heaviside(x, y)", "heaviside(x, y)", no("heaviside has no derivative"), at=[(0.0, 2.0), (1.0, 2.0), (NAN, 1.0)]),
    Row("fmod", "map(x, y, 'fmod(-7 * x, y)')", "fmod(-7 * x, y)", of=(0.3, 0.9), at=[(1.0, 1.0), (-1.0, 3.0), (1.0, -3.0), (1.0, 0.0)]),
    Row("minimum", "minimum(x, y)", at=PAIRS),
    Row("maximum", "maximum(x, y)", at=PAIRS),
    Row("fmin", "fmin(x, y)", at=PAIRS),
    Row("fmax", "fmax(x, y)", at=PAIRS),
    Row("relu", "relu(x)", at=ENDS, of_def="maximum"),
    Row("clip", "clip(x, -1, 1)", at=[(-1.0,), (1.0,), (2.0,), (NAN,)], of_def="minimum"),
    Row("sinc", "sinc(x)", at=[(0.0,), (1.0,)], of_def="sin"),
    Row("where", "where(x > y, x * y, x)", "where(x > y, x * y, x)", at=[(1.0, 1.0), (NAN, 1.0)]),
    Row("where of a masked NaN", "where(x > 0, log(x), x)", of=(0.3, 2), at=[(-1.0,), (0.0,)], of_def="where"),
    Row("function text", "map(x, y, 'x < y ? sin(x) * y : x / y')", "where(x < y, sin(x) * y, x / y)", of=(0.5, 2)),
]
REDUCERS = [
    Row("sum", "sum(x, axis=1)"),
    Row("sum2", "sum(x * y, axis=1, accuracy='compensated')", "sum(x * y, axis=1)"),
    Row("sum with a mask", "sum(x, axis=1, where=y > 0)", "sum(x, axis=1, where=y > 0)", "sum(where(y > 0, x, 0 * x), axis=1)", of_def="sum"),
    Row("dot", "vecdot(x, y)", "vecdot(x, y)", "linalg.vecdot(x, y)"),
    Row("prod", "prod(x, axis=1)", at=[[[1.0, 0.0, 3.0]], [[1.0, 0.0, 0.0]], [[2.0, NAN, 1.0]], [[INF, 2.0, 1.0]]]),
    Row("min", "min(x, axis=1)", "min(x, axis=1)", "amin(x, axis=1)", at=[[[1.0, 0.0, 0.0]], [[2.0, NAN, 1.0]], [[1.0, 1.0, 1.0]]]),
    Row("max", "max(x, axis=1)", "max(x, axis=1)", "amax(x, axis=1)", at=[[[1.0, 3.0, 3.0]], [[2.0, NAN, 1.0]], [[-0.0, 0.0, -1.0]]]),
    Row("moments", "var(x, axis=1)", "var(x, axis=1)", "var(x, axis=1, correction=0)", at=[[[1.0, 1.0, 1.0]], [[1.0, NAN, 2.0]]]),
    Row("var with ddof", "var(x, axis=1, ddof=1)", "var(x, axis=1, ddof=1)", "var(x, axis=1)", at=[[[1.0]]], of_def="moments"),
    Row("std", "std(x, axis=1)", "std(x, axis=1)", "std(x, axis=1, correction=0)", at=[[[1.0, 1.0, 1.0]]], of_def="moments"),
    Row("var with weights", "var(x, axis=1, weights=exp(y))", "weighted_var(x, exp(y))", of_def="moments"),
    Row("mean with weights", "mean(x, axis=1, weights=exp(y))", "sum(x * exp(y), axis=1) / sum(exp(y), axis=1)", of_def="sum"),
    Row("skewness", "skewness(x, axis=1)", "standard_moment(x, 3)"),
    Row("kurtosis", "kurtosis(x, axis=1)", "standard_moment(x, 4) - 3"),
    Row("covariance", "cov(x)", "cov(x)"),
    Row("correlation", "corrcoef(x)", "corrcoef(x)", of_def="covariance", loose=10),
    Row("logsumexp", "logsumexp(x, axis=1)", "logsumexp(x, axis=1)", "logsumexp(x, 1)", at=[[[0.0, 0.0]], [[-INF, 1.0]], [[-INF, -INF]], [[INF, 1.0]], [[NAN, 1.0]]]),
    Row("logsumexp with weights", "logsumexp(x, axis=1, weights=exp(y))", "log(sum(exp(y) * exp(x), axis=1))", of_def="logsumexp"),
    Row("norm", "norm(x, axis=1)", "linalg.norm(x, axis=1)", "linalg.norm(x, dim=1)", at=[[[0.0, 0.0]]], of_def="sum"),
    Row("root of a sum of squares", "sqrt(sum(x * x, axis=1))", "sqrt(sum(x * x, axis=1))", at=[[[0.0, 0.0]]], of_def="sqrt"),
    Row("norm 1", "norm(x, axis=1, p=1)", "linalg.norm(x, ord=1, axis=1)", "linalg.norm(x, ord=1, dim=1)", at=[[[0.0, 2.0]]], of_def="sum"),
    Row("norm inf", "norm(x, axis=1, p=inf)", "linalg.norm(x, ord=inf, axis=1)", "linalg.norm(x, ord=inf, dim=1)", at=[[[2.0, -2.0, 1.0]]], of_def="max"),
    Row("mean", "mean(x, axis=0)", of_def="sum"),
    Row("nanmean", "nanmean(x, axis=1)", at=[[[1.0, NAN, 2.0]]], of_def="sum"),
    Row("by label", "sum(x, axis=1, by=index, groups=4)", "segments(x, index, 4)", of_def="sum"),
]
OTHERS = [
    Row("slice", "x[1:, ::-2] * y[:3, 1:4]", "x[1:, ::-2] * y[:3, 1:4]", "flip(x[1:], (1,))[:, ::2] * y[:3, 1:4]"),
    Row("broadcast", "x[:, None] * y[None]"),
    Row("transpose", "x.T * y.T[:, :1]"),
    Row("reshape", "reshape(x, (2, 10)) * reshape(y, (2, 10))"),
    Row("concat", "concatenate([x, y * y], axis=1)", "concatenate([x, y * y], axis=1)", "cat([x, y * y], 1)"),
    Row("stack", "stack([x, x * y], axis=0)"),
    Row("pad", "pad(x, ((1, 2), (0, 3)))", "pad(x, ((1, 2), (0, 3)))", "pad(x, (0, 3, 1, 2))"),
    Row("pad by edges", "pad(x, ((0, 0), (2, 3)), mode='edge')", "pad(x, ((0, 0), (2, 3)), mode='edge')", "pad(x[None], (2, 3), mode='replicate')[0]"),
    Row("pad by mirrors", "pad(x, ((0, 0), (2, 3)), mode='reflect')", "pad(x, ((0, 0), (2, 3)), mode='reflect')", "pad(x[None], (2, 3), mode='reflect')[0]"),
    Row("pad by wrapping", "pad(x, ((0, 0), (2, 3)), mode='wrap')", "pad(x, ((0, 0), (2, 3)), mode='wrap')", "pad(x[None], (2, 3), mode='circular')[0]"),
    Row("roll", "roll(x, 2, 1) * y", "roll(x, 2, 1) * y"),
    Row("tile", "tile(x, (2, 3))"),
    Row("window", "sum(sliding_window_view(x, 3, axis=1) * y[:, :3, None], axis=-1)",
        "sum(stack([x[:, k:k + 3] for k in range(3)], axis=-1) * y[:, :3, None], axis=-1)", "sum(x.unfold(1, 3, 1) * y[:, :3, None], axis=-1)"),
    Row("diagonal", "diagonal(x) * diagonal(y)"),
    Row("trace", "trace(x)", "trace(x)", "sum(diagonal(x))"),
    Row("triangles", "tril(x) + triu(y, 1)"),
    Row("diff", "diff(x, axis=1)"),
    Row("matmul", "x @ y.T"),
    Row("einsum", "einsum('ij,kj->ik', x, y)"),
    Row("einsum of three", "einsum('ij,kj,il->kl', x, y, z)"),
    Row("einsum of a diagonal", "einsum('ii->i', x[:, :4]) * einsum('jj->', y[:, :4])"),
    Row("outer", "outer(x[0], y[1])"),
    Row("kron", "kron(x[:2, :2], y[:2, :3])", "kron(x[:2, :2], y[:2, :3])", "kron(x[:2, :2].contiguous(), y[:2, :3].contiguous())"),
    Row("cross", "cross(x[:, :3], y[:, :3])", "cross(x[:, :3], y[:, :3])", "cross(x[:, :3], y[:, :3], dim=1)"),
    Row("convolve", "convolve(x[0], y[0, :3], 'valid')", "convolve(x[0], y[0, :3], 'valid')", "conv1d(x[:1, None], flip(y[:1, None, :3], (2,)))[0, 0]"),
    Row("cdist", "cdist(x, y)", "sqrt(sum((x[:, None] - y) ** 2, axis=-1))", "cdist(x, y, compute_mode='donot_use_mm_for_euclid_dist')",
        at=[{"x": [[1.0, 2.0]], "y": [[1.0, 2.0]]}]),
    Row("cumsum", "cumsum(x, axis=1)", "cumsum(x, axis=1)", "cumsum(x, 1)"),
    Row("cumprod", "cumprod(x, axis=1)", "cumprod(x, axis=1)", "cumprod(x, 1)", of=(0.3, 2), at=[[[2.0, 0.0, 3.0]], [[2.0, 0.0, 0.0]]]),
    Row("cummax", "cummax(x, axis=1)", "lax.cummax(x, axis=1)", "cummax(x, 1)[0]", at=[[[1.0, 1.0, 0.0]], [[1.0, NAN, 0.0]]]),
    Row("cummin", "cummin(x, axis=1)", "lax.cummin(x, axis=1)", "cummin(x, 1)[0]", at=[[[1.0, 1.0, 2.0]]]),
    Row("cumsum from the end", "cumsum(x, axis=1, reverse=True)", "lax.cumsum(x, axis=1, reverse=True)", "flip(cumsum(flip(x, (1,)), 1), (1,))"),
    Row("sort", "sort(x, axis=1)", "sort(x, axis=1)", "sort(x, dim=1, stable=True)[0]", at=[[[2.0, 1.0, 1.0]], [[NAN, 1.0, 0.0]]]),
    Row("sort downwards", "sort(x, axis=1, descending=True)", "sort(x, axis=1, descending=True)", "sort(x, dim=1, stable=True, descending=True)[0]", at=[[[1.0, 2.0, 2.0]]]),
    Row("top_k", "top_k(x, 3, axis=1)", "lax.top_k(x, 3)[0]", "topk(x, 3, 1)[0]"),
    Row("median of an odd number", "median(x, axis=1)", "median(x, axis=1)", "median(x, 1)[0]", at=[[[1.0, 1.0, 1.0]]]),
    Row("median of an even number", "median(x, axis=0)", "median(x, axis=0)", "quantile(x, 0.5, 0)"),
    Row("quantile", "quantile(x, 0.3, axis=1)", "quantile(x, 0.3, axis=1)", "quantile(x, 0.3, 1)", at=[[[1.0, 1.0, 1.0]]]),
    Row("percentile", "percentile(x, 80, axis=1)", "percentile(x, 80, axis=1)", "quantile(x, 0.8, 1)"),
    Row("take", "take(x, index, axis=1) * y", "take(x, index, axis=1) * y", "index_select(x, 1, index) * y"),
    Row("take along an axis", "take_along_axis(x, places, axis=1)", "take_along_axis(x, places, axis=1)", "gather(x, 1, places)"),
    Row("an index of lists", "x[index[:4], places[:, 0]] * y[:, 0]"),
    Row("scatter_add", "scatter_add(x, index[:3], y[:, :3], axis=1)", "x.at[:, index[:3]].add(y[:, :3])", "index_add(x, 1, index[:3], y[:, :3])"),
    Row("assignment", "assigned(x, y[:2, 0])", "x.at[1:3, 2].set(y[:2, 0]) * 2", "assigned(x, y[:2, 0])"),
    Row("softmax", "softmax(x, axis=1)", "softmax(x, axis=1)", "softmax(x, 1)", at=[[[0.0, -INF]]]),
    Row("log_softmax", "log_softmax(x, axis=1)", "log_softmax(x, axis=1)", "log_softmax(x, 1)"),
    Row("softmax_sum", "softmax_sum(x, y, axis=1)", "sum(softmax(x, axis=1) * y, axis=1)", "sum(softmax(x, 1) * y, axis=1)"),
    Row("layer_norm", "layer_norm(x)", "standardised(x, 1e-5)", "layer_norm(x, (5,))"),
    Row("interp", "interp(x, arange(5) - 2.0, y[0])", "interp(x, arange(5) - 2.0, y[0])", no("PyTorch has no interp")),
    Row("triangular product", "matmul(triu(x[:, :4]), y[:, :4])"),
    Row("gradient along an axis", "gradient(x, axis=1)", "gradient(x, axis=1)", "gradient(x, dim=1)[0]"),
    Row("trapezoid", "trapezoid(x, axis=1)", "trapezoid(x, axis=1)", "trapezoid(x, dim=1)"),
]
COMPLEX = [
    Row("complex product", "x * y * conj(x)", complex=True),
    Row("complex quotient", "x / (y + 3)", complex=True),
    Row("complex abs", "abs(x)", complex=True, at=[(0j,)]),
    Row("complex angle", "angle(x)", complex=True),
    Row("complex exp", "exp(x) * y", complex=True),
    Row("complex log", "log(x)", complex=True),
    Row("complex sqrt", "sqrt(x)", complex=True),
    Row("complex sin", "sin(x) + cos(y)", complex=True),
    Row("complex tanh", "tanh(x)", complex=True),
    Row("complex real and imag", "real(x) * imag(y)", complex=True),
    Row("complex sum", "sum(x * x, axis=1)", complex=True),
    Row("complex matmul", "x @ conj(y.T)", complex=True),
    Row("complex power", "x ** 3", complex=True),
    Row("complex cumsum", "cumsum(x, axis=1)", "cumsum(x, axis=1)", "cumsum(x, 1)", complex=True),
]
# Operators and reducers that are compared with no one.
ALONE = {
    "fma": "no call of Python makes it: the library joins products and sums itself; test_grad compares it with differences",
    "complex prod": "rdim has no derivative of it, and says so",
    "pow_half": "pow of 16-bit floats, whose row is that of pow; test_grad compares it with differences",
}


# ---- Libraries ----------------------------------------------------------------------------------------------------
class Ours:
    name = "rdim"

    def __init__(self):
        import rdim as rd

        self.rd, self.words = rd, {name: getattr(rd, name) for name in rd.__all__}
        self.words.update(index=INDEX(), places=PLACES(), assigned=self.assigned, inf=INF)

    def assigned(self, x, y):
        z = x[...]
        z[1:3, 2] = y
        return z * 2

    def run(self, text, arrays, seed_of, moves):
        """Value, gradients and the change along `moves`."""
        import numpy as np

        rd = self.rd
        operands = {name: rd.asarray(one) for name, one in arrays.items()}
        y = eval(text, {**self.words, **operands})
        by = list(operands.values())
        gradients = rd.grad(y, by, seed=seed_of(y.shape))
        along = rd.jvp(y, by, [moves[name] for name in operands])
        return np.asarray(y), [np.asarray(one) for one in gradients], np.asarray(along)


class Jax:
    name = "JAX"

    def __init__(self):
        import jax

        jax.config.update("jax_enable_x64", True)
        jnp = jax.numpy
        self.jax, self.version = jax, jax.__version__
        self.words = {**vars(jax.scipy.special), **vars(jax.nn), **vars(jnp), "lax": jax.lax, "inf": INF,
                      "gelu": jax.nn.gelu, "relu": jax.nn.relu, "softmax": jax.nn.softmax, "index": jnp.asarray(INDEX()),
                      "places": jnp.asarray(PLACES()), "abs": jnp.abs, "sum": jnp.sum, "segments": self.segments,
                      **moments(jnp, axis="axis", keep="keepdims")}

    def segments(self, x, index, n):
        return self.jax.ops.segment_sum(x.T, index, n).T

    def run(self, text, arrays, seed_of, moves):
        import numpy as np

        names = list(arrays)
        operands = [self.jax.numpy.asarray(arrays[name]) for name in names]

        def f(*given):
            return eval(text, {**self.words, **dict(zip(names, given))})

        y, pull = self.jax.vjp(f, *operands)
        gradients = pull(self.jax.numpy.asarray(np.conj(seed_of(y.shape))).astype(y.dtype))
        along = self.jax.jvp(f, operands, [self.jax.numpy.asarray(moves[name]) for name in names])[1]
        return np.asarray(y), [np.conj(np.asarray(one)) for one in gradients], np.asarray(along)


class Torch:
    name = "PyTorch"

    def __init__(self):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            import torch
        self.torch, self.version = torch, torch.__version__
        self.words = {**vars(torch.special), **vars(torch.nn.functional), **vars(torch), "index": torch.tensor(INDEX()), "inf": INF,
                      "places": torch.tensor(PLACES()), "assigned": self.assigned, "segments": self.segments,
                      "gelu": torch.nn.functional.gelu, "pad": torch.nn.functional.pad, "softplus": torch.nn.functional.softplus,
                      "silu": torch.nn.functional.silu, "layer_norm": torch.nn.functional.layer_norm,
                      **moments(torch, axis="dim", keep="keepdim")}

    def assigned(self, x, y):
        z = x.clone()
        z[1:3, 2] = y
        return z * 2

    def segments(self, x, index, n):
        return self.torch.zeros(x.shape[0], n, dtype=x.dtype).index_add(1, index, x)

    def run(self, text, arrays, seed_of, moves):
        import numpy as np

        names = list(arrays)
        operands = [self.torch.tensor(arrays[name], requires_grad=True) for name in names]
        y = eval(text, {**self.words, **dict(zip(names, operands))})
        seed = self.torch.tensor(seed_of(tuple(y.shape))).to(y.dtype)
        found = self.torch.autograd.grad(y, operands, seed, allow_unused=True)
        zero = [np.zeros_like(arrays[name]) for name in names]
        return y.detach().resolve_conj().numpy(), [none if one is None else one.resolve_conj().numpy() for one, none in zip(found, zero)], None


def moments(m, axis, keep):
    """Compositions of what JAX and PyTorch have no function for."""
    def mean(x, weight=1.0):
        total = m.sum(weight * x, **{axis: 1, keep: True})
        return total / m.sum(weight + 0 * x, **{axis: 1, keep: True})

    def standard_moment(x, p):
        d = x - mean(x)
        return (mean(d ** p) / mean(d ** 2) ** (p / 2))[:, 0]

    return {"weighted_var": lambda x, w: mean((x - mean(x, w)) ** 2, w)[:, 0], "standard_moment": standard_moment,
            "standardised": lambda x, eps: (x - mean(x)) / m.sqrt(mean((x - mean(x)) ** 2) + eps)}


def INDEX():
    import numpy as np

    return np.array([3, 0, 3, 1, 2])


def PLACES():
    import numpy as np

    return np.array([[3, 0, 3], [1, 1, 2], [4, 0, 0], [2, 3, 1]])


# ---- Comparing ----------------------------------------------------------------------------------------------------
def numbers(row, rng):
    def one():
        found = rng.uniform(row.low, row.high, row.shape)
        return found + 1j * rng.uniform(0.3, 1.5, row.shape) if row.complex else found

    return {name: one() for name in row.operands}


def apart(one, other):
    """The greatest difference, relative to 1 and the element; NaN is equal to NaN."""
    import numpy as np

    one, other = np.asarray(one), np.asarray(other)
    if one.shape != other.shape:
        return INF
    with np.errstate(all="ignore"):
        found = np.abs(one - other) / (1 + np.abs(other))
    found = np.where((one == other) | (np.isnan(one) & np.isnan(other)), 0, found)
    return float(np.max(np.where(np.isnan(found), INF, found), initial=0))


def at_regular_points(row, ours, peer, seed=1):
    """The greatest difference of values, gradients and changes at random points."""
    import numpy as np

    rng = np.random.default_rng(seed)
    arrays = numbers(row, rng)
    moves = numbers(Row("", row.ours, of=(-1, 1), complex=row.complex, shape=row.shape), rng)

    def seed_of(shape):
        made = np.random.default_rng(7).standard_normal(shape)
        return made

    mine, theirs = ours.run(row.ours, arrays, seed_of, moves), peer.run(row.words(peer.name), arrays, seed_of, moves)
    found = [apart(mine[0], theirs[0]), *(apart(a, b) for a, b in zip(mine[1], theirs[1]))]
    return max(found + ([apart(mine[2], theirs[2])] if theirs[2] is not None else []))


def shown(arrays):
    """Derivatives as the page has them: 0, -1, inf, nan; several of them behind each other."""
    import numpy as np

    def one(value):
        value = complex(value) if isinstance(value, complex) else float(value)
        if isinstance(value, complex):
            return f"{one(value.real)}+{one(value.imag)}i"
        if value != value or abs(value) == INF:
            return "NaN" if value != value else "inf" if value > 0 else "-inf"
        return f"{value + 0.0:.4g}" if value else "0"

    return ", ".join(one(value) for array in arrays for value in np.asarray(array).ravel().tolist())


def point_of(row, at):
    """A special point as arrays, and as the page has it."""
    import numpy as np

    if isinstance(at, dict):
        arrays = {name: np.array(one) for name, one in at.items()}
        return arrays, "; ".join(shown([one]) for one in arrays.values())
    if isinstance(at, tuple):
        arrays = {name: np.array([value]) for name, value in zip(row.operands, at)}
        return arrays, shown(at) if not any(value == 0 and str(value)[0] == "-" for value in at if not isinstance(value, complex)) else ", ".join("-0" if str(value) == "-0.0" else shown([value]) for value in at)
    return {row.operands[0]: np.array(at)}, shown([at])


def at_special_points(row, ours, peers):
    """[(point, {library: derivatives})] where not all of them are the same."""
    import numpy as np

    found = []
    for at in row.at:
        arrays, text = point_of(row, at)
        ones = {name: np.ones_like(one) for name, one in arrays.items()}
        seed_of = np.ones
        gradients = {"rdim": ours.run(row.ours, arrays, seed_of, ones)[1]}
        for peer in peers:
            if row.words(peer.name):
                gradients[peer.name] = peer.run(row.words(peer.name), arrays, seed_of, ones)[1]
        if any(apart(a, b) > 1e-9 for other in gradients.values() for a, b in zip(gradients["rdim"], other)):
            found.append((text, {name: shown(one) for name, one in gradients.items()}))
    return found


# ---- The page -----------------------------------------------------------------------------------------------------
def table_of(page):
    """{(operation, point): {library: derivatives}} from the table of the page."""
    found, inside = {}, False
    for line in page.splitlines():
        cells = [one.strip() for one in line.split("|")[1:-1]]
        inside = line.startswith("| operation | at | rdim") or inside and bool(cells)
        if inside and len(cells) >= 5 and not set(cells[0]) <= {"-", " "} and cells[0] != "operation":
            for name, point in itertools.product(*(re.findall(r"`([^`]+)`", cell) for cell in cells[:2])):
                found[name, point] = dict(zip(("rdim", *LIBRARIES), (cell.strip("`") for cell in cells[2:5])))
    return found


def derived_rows():
    """Names of operators and reducers that have a derivative."""
    ops = re.findall(r"^RD_DERIVATIVE\((\w+)", (ROOT / "src/core/ops.def").read_text(), re.M)
    return ops + re.findall(r"^RD_REDUCER_DERIVATIVE\((\w+)", (ROOT / "src/core/reducers.def").read_text(), re.M)


def missing_rows():
    have = {row.of_def for row in MAPS + REDUCERS}
    return [name for name in derived_rows() if name not in have and name not in ALONE]


# ---- All ----------------------------------------------------------------------------------------------------------
def compare_row(row, ours, peers, table, used):
    """[what is wrong] of a row, and what is said of it."""
    wrong, said = [], []
    for peer in peers:
        if not row.words(peer.name):
            said.append(f"{peer.name}: none, {row.text[peer.name][1:-2]}")
            continue
        far = at_regular_points(row, ours, peer)
        said.append(f"{peer.name} {far:.0e}")
        if far > row.bound:
            wrong.append(f"{row.name}: {peer.name} is {far:.2g} apart\n    {row.ours}\n    {row.words(peer.name)}")
    for point, found in at_special_points(row, ours, peers):
        used.add((row.name, point))
        expected = table.get((row.name, point))
        said.append(f"differs at {point}")
        if expected is None or any(expected.get(name) != one for name, one in found.items()):
            cells = " | ".join(f"`{found[name]}`" if name in found else "none" for name in ("rdim", *LIBRARIES))
            wrong.append(f"{row.name}: docs/derivatives.md says {expected}, found\n| `{row.name}` | `{point}` | {cells} |")
    return wrong, said


def compare(pattern="", quiet=False):
    """What is wrong, as sentences; None where there is no other library."""
    peers = []
    for make in (Jax, Torch):
        try:
            peers.append(make())
        except ImportError:
            print(f"{make.name} is not installed and not compared")
    if not peers:
        return None
    ours, table, used = Ours(), table_of(PAGE.read_text()), set()
    wrong = [f"{name}: has a derivative and no row in tests/peers/derivatives.py" for name in missing_rows()]
    rows = [row for row in MAPS + REDUCERS + OTHERS + COMPLEX if re.search(pattern, row.name)]
    for row in rows:
        try:
            bad, said = compare_row(row, ours, peers, table, used)
        except Exception as error:  # of a library
            bad, said = [f"{row.name}: {type(error).__name__}: {error}"], ["failed"]
        wrong += bad
        if not quiet:
            print(f"{row.name:28} {'; '.join(said)}", flush=True)
    if not pattern and len(peers) == len(LIBRARIES):
        wrong += [f"{key}: docs/derivatives.md has a difference that is none" for key in table if key not in used]
    print(f"{len(rows)} rows beside {', '.join(f'{peer.name} {peer.version}' for peer in peers)}, {len(wrong)} wrong")
    for name, why in ALONE.items():
        print(f"{name}: compared with no one: {why}")
    return wrong


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", type=Path, default=ROOT / "build/release")
    parser.add_argument("--rows", default="", help="rows alone whose name has this pattern")
    parser.add_argument("--quiet", action="store_true")
    asked = parser.parse_args()
    sys.path.insert(0, str(asked.build / "python"))
    try:
        import rdim  # noqa: F401
    except ImportError as missing:
        print(f"skipped: {missing}")
        return 77
    wrong = compare(asked.rows, asked.quiet)
    if wrong is None:
        print("skipped: neither JAX nor PyTorch is here")
        return 77
    print("\n".join(wrong))
    return len(wrong) > 0


if __name__ == "__main__":
    sys.exit(main())
