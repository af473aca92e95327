"""Complex numbers: maps, reductions, scans, products.

Special values are C's annex G here, and not always NumPy's: they have their own tables (test_complex), and operands are
finite.
"""
import numpy as np

from rows import COMPLEX, FLOATS, Row, at, axes, axis, keeping
from rows_products import Einsum, einsum, magnitude, matrices, pairs, tensors, vectors

MIXED = COMPLEX + ("float32", "float64", "int16", "int64", "bool")


def plain(random, shape, dtype):
    """Finite numbers about 1, some of them whole."""
    if dtype == bool:
        return random.random(shape) < 0.5
    if dtype.kind in "iu":
        return random.integers(-3, 4, shape).astype(dtype)
    x = random.standard_normal(shape) * random.choice([0.1, 1, 3])
    if dtype.kind == "c":
        x = x + 1j * random.standard_normal(shape)
    return np.where(random.random(shape) < 0.1, np.round(x), x).astype(dtype)


def not_0(random, shape, dtype):
    x = plain(random, shape, dtype)
    return np.where(x == 0, 1, x).astype(dtype)


def near_0(random, shape, dtype):
    return plain(random, shape, dtype) * 0.1


def map_of(name, theirs, ulps, values=plain, exact=True):
    return Row(name + " of complex", name, theirs, types=COMPLEX, values=values, ulps=ulps, exact=exact)


def of_two(name, theirs, ulps, values=plain):
    return Row(name + " of complex", name, theirs, operands=2, types=COMPLEX, also=MIXED, values=values, ulps=ulps)


def sizes(theirs):
    """What is added, without its directions."""
    return lambda x, **k: theirs(np.abs(x), **k)


def about_any(x, axis=None, keepdims=False):
    """The most that squared distances from one of the elements are in the mean: a variance is made of those from the
    first of a block, less what this one is off (core/reducers.def, moments)."""
    apart = np.abs(x - x.mean(axis, keepdims=True)) ** 2
    return apart.mean(axis, keepdims=keepdims) + apart.max(axis, keepdims=keepdims, initial=0)


def keywords(random, arrays):
    return {"axis": axes(random, arrays[0]), "keepdims": bool(random.random() < 0.3)}


def fold(name, theirs, ulps=4, scale=None):
    return Row(name + " of complex", name, theirs, types=COMPLEX, values=plain, arguments=keywords, ulps=ulps,
               scale=scale, exact=True)


def along(random, arrays):
    return {"axis": axis(random, arrays[0])}


def half(random, shape, dtype):
    return plain(random, shape, dtype) / 2


def cumulative(x, axis):
    return np.cumsum(x, at(axis, x))


def labels(random):
    n = int(random.integers(1, 30))
    return [[n], [n]]


def by_label(x, label):
    y = np.zeros(4, x.dtype)
    inside = (label >= 0) & (label < 4)
    np.add.at(y, label[inside].astype(int), x[inside])
    return y


def ours_by_label(r, x, label):
    nodes = r.exprs([label])
    return r.sum(x, by=nodes, groups=r.ints([4]))


def covariance(x, y, axis=None, keepdims=False):
    """Not np.cov, which takes rows of variables."""
    x, y = np.broadcast_arrays(x, y)
    apart = (x - x.mean(axis, keepdims=True)) * np.conj(y - y.mean(axis, keepdims=True))
    return apart.mean(axis, keepdims=keepdims)


def two_keywords(random, arrays):
    return keywords(random, [max(arrays, key=np.ndim)])


einsums = Einsum()
products = {"operands": 2, "values": plain, "types": COMPLEX, "also": MIXED}
ROWS = [
    map_of("neg", np.negative, 0), map_of("square", np.square, 2), map_of("reciprocal", np.reciprocal, 4, not_0),
    Row("abs of complex", "abs", np.abs, types=COMPLEX, values=plain, ulps=1.5),
    Row("arg", "arg", np.angle, types=COMPLEX + FLOATS[1:], values=plain, ulps=2),
    Row("real", "real", np.real, types=COMPLEX, values=plain),
    Row("imag", "imag", np.imag, types=COMPLEX, values=plain),
    map_of("conj", np.conj, 0), map_of("sign", np.sign, 4), map_of("round", np.rint, 0),
    map_of("sqrt", np.sqrt, 3), map_of("exp", np.exp, 4), map_of("expm1", np.expm1, 6), map_of("log", np.log, 4),
    map_of("exp2", np.exp2, 20), map_of("log2", np.log2, 6), map_of("log10", np.log10, 6), map_of("log1p", np.log1p, 6),
    map_of("sin", np.sin, 4), map_of("cos", np.cos, 4), map_of("tan", np.tan, 8), map_of("sinh", np.sinh, 4),
    map_of("cosh", np.cosh, 4), map_of("tanh", np.tanh, 8), map_of("asin", np.arcsin, 5), map_of("acos", np.arccos, 5),
    map_of("atan", np.arctan, 5), map_of("asinh", np.arcsinh, 5), map_of("acosh", np.arccosh, 5),
    map_of("atanh", np.arctanh, 5), map_of("expm1", np.expm1, 6, near_0), map_of("log1p", np.log1p, 6, near_0),
    map_of("isnan", np.isnan, 0), map_of("isinf", np.isinf, 0), map_of("isfinite", np.isfinite, 0),
    map_of("not", np.logical_not, 0), map_of("nan_to_num", np.nan_to_num, 0, exact="same"),
    of_two("add", np.add, 1), of_two("sub", np.subtract, 1), of_two("mul", np.multiply, 3),
    of_two("div", np.divide, 6, not_0), of_two("pow", np.power, 60, not_0),
    of_two("eq", np.equal, 0), of_two("ne", np.not_equal, 0), of_two("and", np.logical_and, 0),
    Row("where of complex", "where", lambda c, x, y: np.where(c, x, y), operands=3, types=("bool",), also=MIXED,
        values=plain),
    fold("sum", np.sum, scale=sizes(np.sum)), fold("mean", np.mean, scale=sizes(np.mean)),
    fold("any", np.any), fold("all", np.all), fold("count", np.count_nonzero),
    fold("var", np.var, 16, about_any),
    fold("norm", keeping(lambda x: np.sqrt(np.sum(np.abs(x) ** 2, -1))), 4),
    Row("prod of complex", "prod", np.prod, types=COMPLEX, values=half, arguments=keywords, ulps=300),
    Row("cumulative sum of complex", lambda r, x, axis: r.scan("sum", x, axis), cumulative, types=COMPLEX, values=plain,
        arguments=along, ulps=32, scale=sizes(cumulative)),  # columns: 64 additions a block, one after the other
    Row("sum of complex by label", ours_by_label, by_label, operands=2, types=COMPLEX, also=("int8", "int64"),
        values=plain, shapes=labels, ulps=6, scale=lambda x, label: by_label(np.abs(x), label)),
    Row("cov of complex", "cov", covariance, operands=2, types=COMPLEX, also=COMPLEX + ("float32", "float64"),
        values=plain, arguments=two_keywords, ulps=12, scale=lambda x, y, axis, keepdims: np.sqrt(
            np.mean(np.broadcast_arrays(np.abs(x) ** 2, y)[0], axis, keepdims=keepdims) *
            np.mean(np.broadcast_arrays(np.abs(y) ** 2, x)[0], axis, keepdims=keepdims))),
    Row("matmul of complex", "matmul", np.matmul, shapes=matrices, ulps=6, scale=magnitude(np.matmul), weight=2,
        **products),
    Row("vecdot of complex", lambda r, x, y: r.vecdot(x, y, -1), np.vecdot, shapes=vectors, ulps=6,
        scale=magnitude(np.vecdot), **products),
    Row("tensordot of complex", lambda r, x, y, of_a, of_b: r.tensordot(x, y, r.ints(of_a), r.ints(of_b)),
        lambda x, y, of_a, of_b: np.tensordot(x, y, (of_a, of_b)), shapes=tensors, arguments=pairs, ulps=6,
        scale=magnitude(lambda x, y, of_a, of_b: np.tensordot(x, y, (of_a, of_b))), **products),
    Row("einsum of complex", lambda r, *x, text: r.einsum_text(text, r.exprs(x)), einsum, shapes=einsums.shapes,
        types=COMPLEX, also=MIXED, arguments=einsums.arguments, scale=magnitude(einsum), values=plain, ulps=16,
        operands=0, weight=2),
]
