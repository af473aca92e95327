"""Lazy arrays: expressions that are evaluated, fused, when their elements are asked for.

Functions have the names, the arguments and the results of NumPy's and of the Array API's; pages of the documentation
say what differs.  Each of the modules below is one theme.
"""

from __future__ import annotations

from . import _dtypes, _sentences
from ._core import (
    abs, acos, acosh, add, all, allclose, amax, amin, angle, any, arctan2, arg_top_k, argmax, argmin, argsort,
    ArgumentError, around, Array, asin, asinh, astype, atan, atanh, AxisError, bfill, bits_and, bits_or, bits_xor,
    bitwise_and, bitwise_count, bitwise_not, bitwise_or, bitwise_xor, broadcast_to, CallbackError, Cancelled, cbrt,
    cdist, ceil, clip, complex, concat, concatenate, conj, ConvergenceError, convolve, copysign, correlate, cos, cosh,
    cosine_distance, count_nonzero, cummax, cummean, cummin, cumprod, cumsum, cumulative_prod, cumulative_sum,
    deg2rad, dense, DeviceError, diagonal, diff, divide, dot, digamma, divergence, DTypeError, empty, empty_like, EmptyError, equal, erf,
    erfc, erfinv, Error, ewm_mean, exp, exp10, exp2, expand_dims, expm1, eye, ffill, FileError, first, flip, floor,
    floor_divide, fmax, fmin, full, full_like, gamma, gammaln, gcd, gelu, greater, greater_equal, heaviside, hypot,
    imag, isclose, isfinite, isinf, isnan, jacobi, kron, kurtosis, laplacian, last, layer_norm, lcm, ldexp, left_shift, less,
    less_equal, LimitError, log, log10, log1p, log2, log_softmax, logaddexp, logical_and, logical_not, logical_or,
    logical_xor, logsumexp, matmul, matrix_transpose, max, maximum, mean, median, min, minimum, minmax, mode,
    mode_count, moveaxis, multiply, nan_to_num, nanargmax, nanargmin, nancumprod, nancumsum, nanmax, nanmean,
    nanmin, nanprod, nanstd, nansum, nanvar, ndtr, negative, nextafter, norm, normalise, not_equal, ones, ones_like,
    outer, OutOfMemory, permute_dims, power, prod, rad2deg, ranks, ravel, real, reciprocal, relu, remainder,
    reshape, right_shift, rint, rms_norm, roll, rolling_max, rolling_mean, rolling_median, rolling_min,
    rolling_quantile, rolling_std, rolling_sum, rolling_var, round, scatter_add, searchsorted, ShapeError, sigmoid,
    sign, signbit, silu, sin, sinc, sinh, skewness, sliding_window_view, softmax, softmax_sum, softplus, sort, sqrt, square,
    squeeze, stack, standardise, std, stored, subtract, sum, swapaxes, take, take_along_axis, tan, tanh, TextError,
    tile, top_k, trace, transpose, tril, triu, trunc, var, vecdot, where, zeros, zeros_like, explain, explain_svg,
    graphviz,
)
from ._formulas import formula, formulas
from ._leaves import array, asarray, from_dlpack, frombuffer, pairs
from ._options import options, progress
from ._reducers import reducer
from ._results import compute, persist
from ._user import block, function, map
from ._array_api import can_cast, finfo, iinfo, isdtype, promote_types, result_type
from ._creation import (
    arange, diag, diagflat, fromfunction, geomspace, identity, indices, linspace, logspace, meshgrid, tri, vander,
)
from ._derivatives import grad, hvp, jvp
from ._edges import delete, insert, pad, repeat, resize
from ._linear import cross, einsum, inner, matvec, multi_dot, tensordot, vdot, vecmat
from ._manipulation import (
    append, array_split, atleast_1d, atleast_2d, atleast_3d, atleast_nd, broadcast_arrays, broadcast_shapes,
    column_stack, copy, dsplit, dstack, fliplr, flipud, hsplit, hstack, ndim, rollaxis, rot90, shape, size, split,
    unstack, vsplit, vstack,
)
from ._numeric import (
    array_equal, array_equiv, bincount, digitize, divmod, ediff1d, fix, fmod, frexp, gradient, histogram,
    histogram_bin_edges, interp, iscomplex, iscomplexobj, isneginf, isposinf, isreal, isrealobj, modf, polyval, select,
    trapezoid, unwrap,
)
from ._histograms import histogram2d, histogramdd
from ._solves import (
    eigsh, estimate_logdet, estimate_trace, input, nystroem, power_iteration, solve, solve_grad,
)
from ._sorting import (
    argpartition, argwhere, compress, extract, flatnonzero, in1d, intersect1d, isin, lexsort, nonzero, partition,
    setdiff1d, setxor1d, union1d, unique, unique_all, unique_counts, unique_inverse, unique_values,
)
from ._statistics import (
    average, corr, corrcoef, cov, mad, nanmedian, nanpercentile, nanquantile, percentile, ptp, quantile,
)
from ._torch import torch
from ._changes import copyto, fill_diagonal, place, put, put_along_axis, putmask
from ._grids import (
    c_, diag_indices, diag_indices_from, index_exp, ix_, mgrid, ogrid, r_, ravel_multi_index, s_, tril_indices,
    tril_indices_from, triu_indices, triu_indices_from, unravel_index,
)
from . import _numpys
from . import fft, lib, linalg, random, sparse
from . import _methods
from ._array_api import VERSION as __array_api_version__, Info as __array_namespace_info__
from ._dtypes import CLASSES as _CLASSES

# ---- Names that NumPy or the Array API have besides --------------------------------------------------------------
absolute = abs
fabs = abs
arccos = acos
arccosh = acosh
arcsin = asin
arcsinh = asinh
arctan = atan
arctanh = atanh
atan2 = arctan2
bitwise_invert = bitwise_not
invert = bitwise_not
bitwise_left_shift = left_shift
bitwise_right_shift = right_shift
conjugate = conj
degrees = rad2deg
radians = deg2rad
mod = remainder
pow = power
true_divide = divide
asanyarray = ascontiguousarray = asfortranarray = asarray


def positive(x, /):  # type: ignore[no-untyped-def]
    """The elements of x, as numpy.positive."""
    return +asarray(x)


# ---- What is NumPy's, of evaluated arguments ---------------------------------------------------------------------
globals().update({_name: getattr(_numpys, _name) for _name in _numpys.__all__})


# ---- Types and constants -----------------------------------------------------------------------------------------
(bool, int8, int16, int32, int64, uint8, uint16, uint32, uint64, float16, bfloat16, float32, float64, complex64,
 complex128, float8_e4m3fn) = _CLASSES
newaxis = None
e = 2.718281828459045
pi = 3.141592653589793
euler_gamma = 0.5772156649015329
inf = float("inf")
nan = float("nan")

__all__ = [
    "abs", "absolute", "acos", "acosh", "add", "all", "allclose", "amax", "amin", "angle", "any", "append",
    "arange", "arccos", "arccosh", "arcsin", "arcsinh", "arctan", "arctan2", "arctanh", "arg_top_k", "argmax",
    "argmin", "argpartition", "argsort", "ArgumentError", "argwhere", "around", "Array", "array", "array_equal",
    "array_equiv", "array_split", "asanyarray", "asarray", "ascontiguousarray", "asfortranarray", "asin",
    "asinh", "astype", "atan", "atan2", "atanh", "atleast_1d", "atleast_2d", "atleast_3d", "atleast_nd",
    "average", "AxisError", "bfill", "bfloat16", "bincount", "bits_and", "bits_or", "bits_xor", "bitwise_and",
    "bitwise_count", "bitwise_invert", "bitwise_left_shift", "bitwise_not", "bitwise_or", "bitwise_right_shift",
    "bitwise_xor", "block", "bool", "broadcast_arrays", "broadcast_shapes", "broadcast_to", "c_",
    "CallbackError", "can_cast", "Cancelled", "cbrt", "cdist", "ceil", "clip", "column_stack", "complex",
    "complex128", "complex64", "compress", "compute", "concat", "concatenate", "conj", "conjugate",
    "ConvergenceError", "convolve",
    "copy", "copysign", "copyto", "corr", "corrcoef", "correlate", "cos", "cosh", "cosine_distance",
    "count_nonzero", "cov", "cross", "cummax", "cummean", "cummin", "cumprod", "cumsum", "cumulative_prod",
    "cumulative_sum", "deg2rad", "degrees", "delete", "dense", "DeviceError", "diag", "diag_indices",
    "diag_indices_from", "diagflat", "diagonal", "diff", "digamma", "digitize", "divergence", "divide", "divmod", "dot",
    "dsplit", "dstack", "DTypeError", "e", "ediff1d", "eigsh", "einsum", "empty", "empty_like", "EmptyError", "equal",
    "erf", "erfc", "erfinv", "Error", "estimate_logdet", "estimate_trace", "euler_gamma", "ewm_mean", "exp", "exp10", "exp2", "expand_dims",
    "explain", "explain_svg", "expm1", "extract", "eye", "fabs", "ffill", "fft", "FileError", "fill_diagonal",
    "finfo", "first", "fix", "flatnonzero", "flip", "fliplr", "flipud", "float16", "float32", "float64",
    "float8_e4m3fn", "floor", "floor_divide", "fmax", "fmin", "fmod", "formula", "formulas", "frexp", "from_dlpack",
    "frombuffer", "fromfunction", "full", "full_like", "function", "gamma", "gammaln", "gcd", "gelu",
    "geomspace", "grad", "gradient", "graphviz", "greater", "greater_equal", "heaviside", "histogram", "histogram2d",
    "histogram_bin_edges", "histogramdd", "hsplit", "hstack", "hvp", "hypot", "identity", "iinfo", "imag", "in1d",
    "index_exp", "indices", "inf", "inner", "input", "insert", "int16", "int32", "int64", "int8", "interp",
    "intersect1d", "invert", "isclose", "iscomplex", "iscomplexobj", "isdtype", "isfinite", "isin", "isinf",
    "isnan", "isneginf", "isposinf", "isreal", "isrealobj", "ix_", "jacobi", "jvp", "kron", "kurtosis", "laplacian", "last", "layer_norm",
    "lcm", "ldexp", "left_shift", "less", "less_equal", "lexsort", "lib", "LimitError", "linalg", "linspace",
    "log", "log10", "log1p", "log2", "log_softmax", "logaddexp", "logical_and", "logical_not", "logical_or",
    "logical_xor", "logspace", "logsumexp", "mad", "map", "matmul", "matrix_transpose", "matvec", "max",
    "maximum", "mean", "median", "meshgrid", "mgrid", "min", "minimum", "minmax", "mod", "mode", "mode_count",
    "modf", "moveaxis", "multi_dot", "multiply", "nan", "nan_to_num", "nanargmax", "nanargmin", "nancumprod",
    "nancumsum", "nanmax", "nanmean", "nanmedian", "nanmin", "nanpercentile", "nanprod", "nanquantile",
    "nanstd", "nansum", "nanvar", "ndim", "ndtr", "negative", "newaxis", "nextafter", "nonzero", "norm",
    "normalise", "not_equal", "nystroem", "ogrid", "ones", "ones_like", "options", "outer", "OutOfMemory", "pad", "pairs",
    "partition", "percentile", "permute_dims", "persist", "pi", "place", "polyval", "positive", "pow", "power", "power_iteration",
    "prod", "progress", "promote_types", "ptp", "put", "put_along_axis", "putmask", "quantile", "r_", "rad2deg",
    "radians", "random", "ranks", "ravel", "ravel_multi_index", "real", "reciprocal", "reducer", "relu",
    "remainder", "repeat", "reshape", "resize", "result_type", "right_shift", "rint", "rms_norm", "roll",
    "rollaxis", "rolling_max", "rolling_mean", "rolling_median", "rolling_min", "rolling_quantile",
    "rolling_std", "rolling_sum", "rolling_var", "rot90", "round", "s_", "scatter_add", "searchsorted",
    "select", "setdiff1d", "setxor1d", "shape", "ShapeError", "sigmoid", "sign", "signbit", "silu", "sin",
    "sinc", "sinh", "size", "skewness", "sliding_window_view", "softmax", "softmax_sum", "softplus", "solve", "solve_grad", "sort", "sparse", "split",
    "sqrt", "square", "squeeze", "stack", "standardise", "std", "stored", "subtract", "sum", "swapaxes", "take",
    "take_along_axis", "tan", "tanh", "tensordot", "TextError", "tile", "top_k", "torch", "trace", "transpose",
    "trapezoid", "tri", "tril", "tril_indices", "tril_indices_from", "triu", "triu_indices",
    "triu_indices_from", "true_divide", "trunc", "uint16", "uint32", "uint64", "uint8", "union1d", "unique",
    "unique_all", "unique_counts", "unique_inverse", "unique_values", "unravel_index", "unstack", "unwrap",
    "vander", "var", "vdot", "vecdot", "vecmat", "vsplit", "vstack", "where", "zeros", "zeros_like",
]
__all__ += _numpys.__all__
