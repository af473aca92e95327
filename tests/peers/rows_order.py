"""What puts elements in order, and what is found there; random permutations."""
import numpy as np
import scipy.special as sp
import scipy.stats

from rows import BOOL, NUMBERS, Row, anything, axis, keeping, small
from rows_folds import beside, inclusive, scan, which


def along(random, arrays):
    return {"axis": axis(random, arrays[0])}


def ordered(random, shape, dtype):
    """A row in order, and elements of which some stand in it."""
    return np.sort(anything(random, shape, dtype), -1)


def row_and_more(random):
    return [(int(random.choice([0, 1, 2, 3, 8, 65, 300])),), beside(random)[0]]


def searched(side):
    return Row(f"searchsorted {side}", lambda r, row, x: r.searchsorted(row, x, int(side == "right")),
               lambda row, x: np.searchsorted(row, x, side), operands=2, types=NUMBERS, shapes=row_and_more,
               values=ordered, weight=2)


def few(random, shape, dtype):
    return small(random, shape, dtype).round() if dtype.kind == "f" else small(random, shape, dtype)


def mode(which):
    def call(x):
        if not x.shape[-1] and 0 not in x.shape[:-1]:
            raise ValueError("no element")
        if not x.size:
            return np.empty(x.shape[:-1], x.dtype if which == 0 else int)
        y = scipy.stats.mode(x.astype(np.uint8) if x.dtype == bool else x, -1)[which]
        return y.astype(x.dtype) if which == 0 else y.astype(int)
    return keeping(call)


def places(f):
    """Where the best so far is."""
    def call(x, axis, exclusive, reverse):
        y = np.moveaxis(x, axis, 0)
        n = len(y)
        each = [f(y[k:], 0) + k if reverse else f(y[: k + 1], 0) for k in range(n)]
        return np.moveaxis(np.stack(each) if n else np.empty(y.shape, int), 0, axis)
    return call


def runs(ufunc):
    """Prefixes of runs that begin where the mask is true."""
    def call(x, mask, axis):
        x, y = np.broadcast_arrays(np.moveaxis(x, axis, 0), np.moveaxis(np.broadcast_to(mask, x.shape), axis, 0))
        so_far = [x[0]] if len(x) else []
        for k in range(1, len(x)):
            so_far.append(np.where(y[k], x[k], ufunc(so_far[-1], x[k])))
        return np.moveaxis(np.stack(so_far) if so_far else x, 0, axis)
    return call


def summed(x):
    return x.astype(np.result_type(x, np.uint64 if x.dtype.kind == "u" else np.int64)) if x.dtype.kind in "biu" else x


def anew(name, theirs, **more):
    return Row(f"scan {name} restart", lambda r, x, mask, axis: r.scan(name, x, axis, restart=mask), theirs, operands=2,
               types=NUMBERS, also=BOOL, shapes=beside, arguments=lambda random, arrays: {"axis": int(
                   random.integers(arrays[0].ndim))}, **more)


def alike(random):
    return [beside(random)[0]] * 2


def weighed(s, v, axis, keepdims):
    s = np.asarray(s, np.result_type(s, float))
    return np.sum(sp.softmax(s, axis) * v, axis, keepdims=keepdims)


def signed(x, w, axis, keepdims):
    return np.stack(sp.logsumexp(x.astype(float), axis, b=w.astype(float), keepdims=keepdims, return_sign=True))


ROWS = [
    Row("sort", lambda r, x, axis: r.sort_by(x, r.keywords("rd_sort_opts", axis=axis)), lambda x, axis: np.sort(
        x, axis), arguments=along),
    Row("argsort", lambda r, x, axis: r.argsort_by(x, r.keywords("rd_sort_opts", axis=axis)),
        lambda x, axis: np.argsort(x, axis, stable=True), arguments=along, shapes=lambda random: beside(random)[:1]),
    searched("left"), searched("right"),
    Row("mode", lambda r, x, axis, keepdims: r.mode(x, r.dims(axis, keepdims)), mode(0), values=few, arguments=which),
    Row("mode_count", lambda r, x, axis, keepdims: r.mode_count(x, r.dims(axis, keepdims)), mode(1), values=few,
        arguments=which),
    Row("minmax", lambda r, x, axis, keepdims: r.fold_by("rd_minmax_of", (x,), axis, keepdims), lambda x, **k: np.stack(
        [np.min(x, **k), np.max(x, **k)]), arguments=which),
    scan("argmin", places(np.argmin), **inclusive), scan("argmax", places(np.argmax), **inclusive),
    anew("sum", lambda x, mask, axis: runs(np.add)(summed(x), mask, axis), ulps=16, scale=lambda x, mask, axis: np.
         broadcast_to(np.sum(abs(x.astype(float)), axis, keepdims=True), x.shape)),
    anew("min", runs(np.minimum)), anew("max", runs(np.maximum)),
    Row("softmax_sum", lambda r, s, v, axis, keepdims: r.softmax_sum(s, v, r.dims(axis, keepdims)), weighed, operands=2,
        types=("float32", "float64"), also="first", shapes=alike, values=small, exact=False, ulps=60,
        scale=lambda s, v, **k: np.float64(4), arguments=which, type=lambda types: types[0]),
    Row("signed_logsumexp", lambda r, x, w, axis, keepdims: r.signed_logsumexp(x, w, r.dims(axis, keepdims)), signed,
        operands=2, types=("float64",), also="first", shapes=alike, values=small, exact=False, ulps=1e5,
        scale=lambda x, w, **k: np.float64(8), arguments=which),
]
