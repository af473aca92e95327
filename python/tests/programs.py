"""Programs as text: what each line is in Python, and random ones.  programs.c has what it is in C, and says how
lines are written."""

import inspect
import operator

import numpy as np

import rdim as rd

TYPES = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32",
         "float64", "complex64", "complex128"]


# ---- Words --------------------------------------------------------------------------------------------------------
def ints(word):
    return () if word == "()" else tuple(int(k) for k in word.split(","))


def axes(word):
    return None if word == "*" else ints(word)


def operand(values, word):
    kind, _, rest = word.partition(":")
    if kind == "int":
        return int(rest)
    if kind == "num":
        return float.fromhex(rest)
    if kind == "bool":
        return rest == "1"
    if kind == "cnum":
        return complex(*(float.fromhex(part) for part in rest.split(":")))
    return None if word == "_" else values[int(word[1:])]


def some(values, word):
    return [operand(values, one) for one in word.split(",")]


# ---- Lines in Python: the same names as in programs.def, but what a user of the package writes --------------------------
def at(axis, key):
    return (slice(None),) * axis + (key,)


def bound(k):
    return None if k == -2**63 else k


def padded(x, axis, before, after, mode):
    """rd.pad takes a pair for each axis, so it cannot be told of one that is not there."""
    if axis >= x.ndim:
        raise ValueError(f"axis {axis} of {x.ndim}")
    return rd.pad(x, [(before, after) if k == axis else (0, 0) for k in range(x.ndim)], mode)


def rounded(x, decimals):
    """rd.round() also rounds ints to tens, which the library has no call for."""
    if x is not None and decimals < 0 and x.dtype.kind in "iu":
        raise TypeError("ints have no decimals")
    return rd.round(x, decimals)


def windowed(x, axis, n, step):
    """Of longer windows than there are elements the library makes none; the package refuses them, as NumPy."""
    short = x is not None and -x.ndim <= axis < x.ndim and 0 < n and x.shape[axis] < n
    if not short:
        return rd.sliding_window_view(x, n, axis, step=step)
    if step < 1:
        raise ValueError(f"a step of {step}")
    windows = rd.sliding_window_view(rd.pad(x, [(0, n * (k == axis % x.ndim)) for k in range(x.ndim)]), n, axis)
    return windows[at(axis % x.ndim, slice(0, 0))]


def joined(function):
    return lambda axis, parts: function(parts, axis=axis)


def along(function, *names):
    """f(x, axis, ...) of the text as f(x, ..., axis=axis) of Python, where the rest goes by these names."""
    return lambda x, axis, *rest: function(x, axis=axis, **dict(zip(names, rest)))


MAPS = {name: getattr(rd, {"tgamma": "gamma", "lgamma": "gammaln", "round": "rint", "not": "logical_not", "arg": "angle",
                           "popcount": "bitwise_count"}.get(name, name)) for name in """
    sign square sqrt cbrt exp exp2 exp10 expm1 log log1p log2 log10 sin cos tan asin acos atan sinh cosh tanh asinh acosh
    atanh erf erfc erfinv tgamma lgamma digamma ndtr reciprocal deg2rad rad2deg sigmoid silu softplus gelu relu sinc floor
    ceil round trunc not isnan isfinite isinf signbit real imag conj arg popcount nan_to_num""".split()}
MAPS |= {"neg": operator.neg, "abs": abs, "bit_not": operator.invert, "neg_": rd.negative, "abs_": rd.abs}
OPERATORS = {"add": operator.add, "sub": operator.sub, "mul": operator.mul, "div": operator.truediv,
             "floordiv": operator.floordiv, "remainder": operator.mod, "pow": operator.pow, "bit_and": operator.and_,
             "bit_or": operator.or_, "bit_xor": operator.xor, "shift_left": operator.lshift,
             "shift_right": operator.rshift, "eq": operator.eq, "ne": operator.ne, "lt": operator.lt, "le": operator.le,
             "gt": operator.gt, "ge": operator.ge}
FUNCTIONS = {"add_": rd.add, "sub_": rd.subtract, "mul_": rd.multiply, "div_": rd.divide, "floordiv_": rd.floor_divide,
             "remainder_": rd.remainder, "pow_": rd.power, "eq_": rd.equal, "lt_": rd.less, "ge_": rd.greater_equal,
             "atan2": rd.arctan2, "hypot": rd.hypot, "logaddexp": rd.logaddexp, "copysign": rd.copysign,
             "nextafter": rd.nextafter, "heaviside": rd.heaviside, "ldexp": rd.ldexp, "minimum": rd.minimum,
             "maximum": rd.maximum, "fmin": rd.fmin, "fmax": rd.fmax, "and": rd.logical_and, "or": rd.logical_or,
             "xor": rd.logical_xor, "gcd": rd.gcd, "lcm": rd.lcm, "complex": rd.complex}
VIEWS = {
    "slice_axis": ("xiiii", lambda x, a, start, stop, step: x[at(a, slice(bound(start), bound(stop), step))]),
    "select": ("xii", lambda x, a, i: x[at(a, i)]),
    "expand": ("xi", lambda x, a: x[at(a, None)]),
    "expand_": ("xi", lambda x, a: rd.expand_dims(x, a)),
    "squeeze": ("xd", rd.squeeze),
    "permute": ("xs", rd.transpose),
    "transpose": ("x", rd.matrix_transpose),
    "reshape": ("xs", lambda x, shape: x.reshape(shape)),
    "broadcast": ("xs", rd.broadcast_to),
    "flip": ("xd", rd.flip),
    "diagonal": ("xiii", lambda x, a, b, offset: rd.diagonal(x, offset, a, b)),
    "window": ("xiii", windowed),
    "cast": ("xt", lambda x, kind: x.astype(kind)),
    "where": ("xxx", rd.where),
    "clip": ("xxx", rd.clip),
    "round_to": ("xi", rounded),
    "isclose": ("xxff", rd.isclose),
    "concat": ("il", joined(rd.concat)),
    "stack": ("il", joined(rd.stack)),
    "roll": ("xii", lambda x, a, n: rd.roll(x, n, a)),
    "tile": ("xs", rd.tile),
    "repeat": ("xii", lambda x, a, n: rd.repeat(x, n, a)),
    "pad": ("xiiin", padded),
    "tril": ("xi", rd.tril),
    "triu": ("xi", rd.triu),
    "take": ("xix", lambda x, a, index: rd.take(x, index, a)),
    "take_along": ("xix", lambda x, a, index: rd.take_along_axis(x, index, a)),
    "scatter_add": ("xixx", lambda x, a, index, values: rd.scatter_add(x, index, values, a)),
    "full": ("sxt", rd.full),
    "diff": ("xii", lambda x, a, n: rd.diff(x, n, a)),
}
PRODUCTS = {
    "matmul": ("xx", operator.matmul),
    "dot": ("xx", rd.dot),
    "outer": ("xx", rd.outer),
    "kron": ("xx", rd.kron),
    "vecdot": ("xxi", lambda a, b, axis: rd.vecdot(a, b, axis=axis)),
    "tensordot": ("xxss", lambda a, b, of_a, of_b: rd.tensordot(a, b, (of_a, of_b))),
    "einsum": ("nl", lambda text, parts: rd.einsum(text, *parts)),
    "trace": ("xiii", lambda x, a, b, offset: rd.trace(x, offset, a, b)),
    "convolve": ("xxin", lambda x, k, a, mode: rd.convolve(x, k, mode, axis=a)),
    "correlate": ("xxin", lambda x, k, a, mode: rd.correlate(x, k, mode, axis=a)),
    "cdist": ("xxf", rd.cdist),
    "cosine_distance": ("xx", rd.cosine_distance),
}
ORDER = {
    "sort": ("xii", lambda x, a, falls: rd.sort(x, a, descending=bool(falls))),
    "argsort": ("xii", lambda x, a, falls: x.argsort(a, descending=bool(falls))),
    "top_k": ("xiii", lambda x, k, a, least: rd.top_k(x, k, a, smallest=bool(least))),
    "arg_top_k": ("xiii", lambda x, k, a, least: rd.arg_top_k(x, k, a, smallest=bool(least))),
    "ranks": ("xin", rd.ranks),
    "median": ("xdi", lambda x, a, skips: rd.nanmedian(x, a) if skips else rd.median(x, a)),
    "quantile": ("xfdn", lambda x, q, a, method: rd.quantile(x, q, a, method=method)),
    "quantiles": ("xffd", lambda x, p, q, a: rd.quantile(x, [p, q], a)),
    "searchsorted": ("xxn", rd.searchsorted),
    "interp": ("xxxi", lambda x, xp, fp, a: rd.interp(x, xp, fp, axis=a)),
    "bins": ("xiff", lambda x, n, low, high: rd._core._bins(x, n, low, high)),
}
NEAR = {
    "rolling_sum": ("xii", along(rd.rolling_sum, "n")),
    "rolling_mean": ("xii", along(rd.rolling_mean, "n")),
    "rolling_min": ("xii", along(rd.rolling_min, "n")),
    "rolling_max": ("xii", along(rd.rolling_max, "n")),
    "rolling_var": ("xiif", along(rd.rolling_var, "n", "ddof")),
    "rolling_std": ("xiif", along(rd.rolling_std, "n", "ddof")),
    "rolling_median": ("xii", along(rd.rolling_median, "n")),
    "rolling_quantile": ("xfii", lambda x, q, a, n: rd.rolling_quantile(x, n, q, axis=a)),
    "ewm_mean": ("xifi", along(rd.ewm_mean, "alpha", "adjust")),
    "ffill": ("xii", along(rd.ffill, "limit")),
    "bfill": ("xii", along(rd.bfill, "limit")),
    "softmax": ("xd", rd.softmax),
    "log_softmax": ("xd", rd.log_softmax),
    "standardise": ("xdf", rd.standardise),
    "layer_norm": ("xdxx", rd.layer_norm),
    "rms_norm": ("xdx", rd.rms_norm),
    "normalise": ("xdf", rd.normalise),
}
# NumPy's rules, which the package has, and the library has not: arithmetic of bools, signs of zeros, ints to a
# negative power, quantiles' types, labels of one axis.  Here the package is told what the library does by itself.
OF_BOOLS = """sign square neg neg_ abs abs_ add sub mul floordiv remainder pow shift_left shift_right add_ sub_ mul_
    floordiv_ remainder_ pow_ outer kron""".split()


def is_bool(x):
    return isinstance(x, bool) or isinstance(x, rd.Array) and x.dtype == "bool"


def in_ints(function):
    """Bools counted as int64."""
    def call(*args):
        given = args
        if all(is_bool(x) for x in args):
            given = [x.astype("int64") if isinstance(x, rd.Array) else x for x in args]
        return function(*given)
    return call


def sign(x):
    return rd.copysign(rd.sign(x), x) if isinstance(x, rd.Array) and x.dtype.kind == "f" and x.dtype != "bfloat16" else rd.sign(x)


def power(function):
    def call(x, y):
        if type(y) is int and y < 0 and isinstance(x, rd.Array) and x.dtype.kind in "bi":
            y = rd.full((), y, x.dtype if x.dtype.kind == "i" else "int64")
        return function(x, y)
    return call


def of_floats(x):
    return x.astype("float64") if isinstance(x, rd.Array) and x.dtype.kind in "biu" else x


MAPS["sign"] = sign
OPERATORS["pow"], FUNCTIONS["pow_"] = power(operator.pow), power(rd.power)
ORDER["quantile"] = ("xfdn", lambda x, q, a, method: rd.quantile(of_floats(x), q, a, method=method))
ORDER["quantiles"] = ("xffd", lambda x, p, q, a: rd._core._quantile(x, [p, q], a))
for rows in (MAPS, OPERATORS, FUNCTIONS):
    rows |= {name: in_ints(rows[name]) for name in OF_BOOLS if name in rows}
PRODUCTS |= {name: (kinds, in_ints(f)) for name, (kinds, f) in PRODUCTS.items() if name in OF_BOOLS}

LINES = {name: ("x", f) for name, f in MAPS.items()} | {name: ("xx", f) for name, f in (OPERATORS | FUNCTIONS).items()}
LINES |= VIEWS | PRODUCTS | ORDER | NEAR

KEYWORDS = {"axis": axes, "keepdims": lambda word: True, "ddof": float.fromhex, "p": float.fromhex, "groups": ints,
            "skipna": lambda word: True, "exclusive": lambda word: True, "reverse": lambda word: True, "dtype": str,
            "accuracy": str}


def row(label, x):
    """A row goes along the last axis."""
    return label.reshape((1,) * (x.ndim - 1) + label.shape) if isinstance(label, rd.Array) and label.ndim == 1 < x.ndim else label


def fold(values, name, x, words, scan, skips):
    keywords, of = {}, operand(values, x)
    for word in words:
        key, value = word.split("=")
        if key == "by":
            keywords[key] = tuple(row(one, of) for one in some(values, value))
        else:
            keywords[key] = KEYWORDS[key](value) if key in KEYWORDS else operand(values, value)
    if scan and keywords["axis"]:
        keywords["axis"] = keywords["axis"][0]
    names = {"count": "count_nonzero"} if not scan else {one: "cum" + one for one in ("sum", "prod", "min", "max", "mean")}
    function = getattr(rd, ("nan" if skips else "") + names.get(name, name))
    if keywords.get("accuracy") == "pairwise" and "accuracy" not in inspect.signature(function).parameters:
        del keywords["accuracy"]  # what all others have
    if "weights" in keywords:
        keywords["weights"] = row(keywords["weights"], of)
    return function(of, **keywords)


def leaf(data, kind, shape, strides, place):
    return rd.asarray(np.ndarray(ints(shape), kind, data, int(place), ints(strides)))


def run(data, values, line):
    """The value of a line, built by calls of the package."""
    name, *words = line.split()
    if name == "leaf":
        return leaf(data, *words)
    skips = name.startswith("nan") and name != "nan_to_num"
    if name[3 * skips:] in ("reduce", "scan"):
        return fold(values, words[0], words[1], words[2:], name.endswith("scan"), skips)
    kinds, function = LINES[name]
    read = {"x": lambda word: operand(values, word), "i": int, "f": float.fromhex, "s": ints, "d": axes, "t": str,
            "n": str, "l": lambda word: some(values, word)}
    return function(*(read[kind](word) for kind, word in zip(kinds, words, strict=True)))
