"""Some of W12 and W14 as loops compiled by Numba.  Reductions are of (rows, n) over either axis; sums may be reordered, as
the library's are."""
import math
import os

os.environ.setdefault("NUMBA_NUM_THREADS", os.environ.get("OMP_NUM_THREADS", "1"))
import numba  # noqa: E402
import numpy as np  # noqa: E402
from catalogue_numpy import LABELLED, SERIES  # noqa: E402
from common import MONTHS, THREADS, Peer, climate, index, sea, uniform  # noqa: E402

numba.set_num_threads(THREADS)
peer = Peer("numba")
compiled = numba.njit(parallel=THREADS > 1, fastmath={"reassoc", "contract", "nsz"}, error_model="numpy")
TAKES = {  # is the element x of one of these forms left?  m is the mask's.
    ".skip_nan": "v == v", ".where": "m[i, j]", ".where_gt": "v > 0.4", "": "True"}
FOLDS = {  # start, step, result
    "sum": ("s = n = zero", "s += v", "s"),
    "mean": ("s = n = zero", "s += v; n += one", "s / n"),
    "max": ("s = n = least", "s = max(s, v)", "s"),
    "lse": ("s = n = zero", "s += math.exp(v)", "math.log(s)")}


def loops(fold, form):
    """Functions of x (rows, n), mask, and the result: over axis 1, and over axis 0 row by row."""
    start, step, result = FOLDS[fold]
    test = TAKES[form]
    over_rows = f"""
def over_rows(x, m, zero, one, least, out):
    for i in numba.prange(x.shape[0]):
        {start}
        for j in range(x.shape[1]):
            v = x[i, j]
            if {test}:
                {step}
        out[i] = {result}
"""
    arrays = step.replace("s ", "s[j] ").replace("n ", "n[j] ").replace("(s,", "(s[j],")
    ends = result.replace("log(s)", "log(s[j])") if "(" in result else result.replace("s", "s[j]").replace("n", "n[j]")
    over_columns = f"""
def over_columns(x, m, zero, one, least, out):
    s, n = np.full(x.shape[1], {start.split()[-1]}), np.full(x.shape[1], zero)
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            v = x[i, j]
            if {test}:
                {arrays}
    for j in range(x.shape[1]):
        out[j] = {ends}
"""
    made = {"numba": numba, "np": np, "math": math}
    exec(over_rows + over_columns, made)  # pylint: disable=exec-used
    return compiled(made["over_rows"]), compiled(made["over_columns"])


def run(case, dtype, f, row="W12"):
    f()
    peer(row, case, dtype, f)


def masks(dtype, t):
    x, land, mask = uniform(0, MONTHS, t), climate(MONTHS, t), sea(MONTHS)
    constants = (t(0), t(1), t(-np.inf))
    for fold in FOLDS:
        for form in TAKES:
            rows, columns = loops(fold, form)
            of = land if form == ".skip_nan" else x
            for name, f, shape in (("(0)", columns, (480, -1)), ("(2)", rows, (-1, 180)), ("(all)", rows, (1, -1))):
                v, m = of.reshape(shape), mask.reshape(shape)
                out = np.empty(v.shape[1 if name == "(0)" else 0], t)
                run(fold + name + form, dtype, lambda: f(v, m, *constants, out))


@compiled
def nearest_other(x, out):
    for i in numba.prange(x.shape[0]):
        least, at = np.inf, -1
        for j in range(x.shape[0]):
            d = x[i, 0] * 0
            for k in range(x.shape[1]):
                d += (x[i, k] - x[j, k]) ** 2
            if i != j and d < least:
                least, at = d, j
        out[i] = at


@compiled
def group_mean(x, label, s, n):
    for i in range(x.shape[0]):
        n[label[i]] += 1
        for k in range(x.shape[1]):
            s[label[i], k] += x[i, k]
    return s / n[:, None]


@compiled
def force(x, out, potential):
    for i in numba.prange(x.shape[0]):
        a = b = c = s = x[i, 0] * 0
        for j in range(x.shape[0]):
            p, q, r = x[j, 0] - x[i, 0], x[j, 1] - x[i, 1], x[j, 2] - x[i, 2]
            e = math.exp(-(p * p + q * q + r * r))
            a, b, c, s = a + p * e, b + q * e, c + r * e, s + e
        out[i, 0], out[i, 1], out[i, 2], potential[i] = a, b, c, s


@compiled
def loss(z, label):
    total = 0.0
    for i in numba.prange(z.shape[0]):
        most = z[i].max()
        s = most * 0
        for k in range(z.shape[1]):
            s += math.exp(z[i, k] - most)
        total += most + math.log(s) - z[i, label[i]]
    return total / z.shape[0]


def softsign(x):
    return x / (1 + abs(x))


@compiled
def softsign_sum(x):
    s = x[0] * 0
    for i in numba.prange(x.shape[0]):
        s += x[i] / (1 + abs(x[i]))
    return s


def rest(dtype, t):
    for n, d in ((10000, 3), (2000, 50)):
        x, at = uniform(0, (n, d), t), np.empty(n, np.int64)
        run(f"other{d}", dtype, lambda: nearest_other(x, at))
    for case, shape in (("group", (1000000, 1)), ("group16", (100000, 16))):
        x, label = uniform(0, shape, t), index(1, shape[0], 10)
        run(case, dtype, lambda: group_mean(x, label, np.zeros((10, shape[1])), np.zeros(10)))
    x, f, s = uniform(0, (4000, 3), t), np.empty((4000, 3), t), np.empty(4000, t)
    run("force", dtype, lambda: force(x, f, s))
    run("force+sum", dtype, lambda: force(x, f, s))
    z, label = uniform(0, (50000, 100), t), index(1, 50000, 100)
    run("loss.take", dtype, lambda: loss(z, label))
    long, out = uniform(0, (4194304,), t), np.empty(4194304, t)
    call = numba.vectorize(softsign)
    run("call", dtype, lambda: call(long, out))
    run("call.sum", dtype, lambda: softsign_sum(long))


@numba.njit
def label_sum(x, label, s):
    for i in range(x.shape[0]):
        s[label[i]] += x[i]
    return s


@numba.njit
def histogram(x, counts):
    for v in x:
        if 0 <= v <= 1:
            counts[min(int(v * 256), 255)] += 1
    return counts


@numba.njit
def rolling_mean(x, n, out):
    s = 0.0
    for i in range(n - 1):
        s += x[i]
    for i in range(n - 1, x.shape[0]):
        s += x[i]
        out[i - n + 1] = s / n
        s -= x[i - n + 1]


def catalogue(dtype, t):
    x, out = uniform(0, (SERIES,), t), np.empty(SERIES, t)
    for n in (31, 500):
        run(f"rolling.mean{n}", dtype, lambda: rolling_mean(x, n, out), "W14")
    x = uniform(0, (LABELLED,), t)
    run("histogram256", dtype, lambda: histogram(x, np.zeros(256, np.int64)), "W14")
    for name, groups in (("10", 10), ("1000", 1000), ("1e6", 1000000)):
        label = index(1, LABELLED, groups)
        run("label.sum" + name, dtype, lambda: label_sum(x, label, np.zeros(groups)), "W14")


if peer.wants("W12"):
    for dtype, t in (("f32", np.float32), ("f64", np.float64)):
        masks(dtype, t)
        rest(dtype, t)
if peer.wants("W14"):
    for dtype, t in (("f32", np.float32), ("f64", np.float64)):
        catalogue(dtype, t)
