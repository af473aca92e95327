"""Sparse matrices beside scipy.sparse's: products, sums, extremes, maps of two, of all three formats.

SciPy's products and multiply() visit what is stored alone, and so does rdim with .stored; its sums, extremes, + and
maximum() mean the zeros elsewhere, too.
"""
import numpy as np
import scipy.sparse

from rows import COMPLEX, INTS, Row, small
from rows_products import extent, magnitude, wrong

TYPES = INTS + ("float32", "float64")
FORMATS = ("csr", "csc", "coo")


# ---- Cases ----------------------------------------------------------------------------------------------------------
def sparse_values(random, shape, dtype):
    """Some rows empty, some full."""
    x = small(random, shape, dtype)
    if len(shape) < 2:
        return x
    chance = random.choice([0, 0.1, 0.5, 1], shape[:1], p=[.2, .4, .3, .1])
    return np.where(random.random(shape) < chance[:, None], x, 0).astype(dtype)


def places(random, arrays):
    """Where each matrix has elements, zeros among them, and its format."""
    masks = [(x != 0) | (random.random(x.shape) < 0.1 * random.integers(0, 2)) for x in arrays]
    if len(masks) > 1 and masks[0].shape == masks[1].shape and random.random() < 0.3:
        masks = [masks[0] | masks[1]] * 2
    return {"masks": masks, "formats": [str(random.choice(FORMATS)) for _ in arrays]}


def with_axis(random, arrays):
    return {**places(random, arrays), "axis": [0, 1, None][random.integers(3)]}


def matrix(random):
    return [[extent(random), extent(random)]]


def of_some(random):
    return [[1 + extent(random), 1 + extent(random)]]


def alike(random):
    return matrix(random) * 2


def with_matrix(random):
    m, n, k = (extent(random) for _ in range(3))
    return [[m, k], [wrong(random, k), n]]


def with_vector(random):
    m, k = (extent(random) for _ in range(2))
    return [[m, k], [wrong(random, k)]]


def behind_vector(random):
    m, k = (extent(random) for _ in range(2))
    return [[m, k], [wrong(random, m)]]


# ---- Both sides -----------------------------------------------------------------------------------------------------
def sparse(r, x, mask, form, stored):
    """x, a dense node, as a sparse one with elements where the mask is true."""
    at = np.nonzero(mask.T)[::-1] if form == "csc" else np.nonzero(mask)
    index = r.leaf(np.ascontiguousarray(at[0] * mask.shape[1] + at[1]))
    lines, others = (at[1], at[0]) if form == "csc" else at
    first = lines if form == "coo" else np.searchsorted(lines, np.arange(mask.shape[form == "csc"] + 1))
    crd, pos = (r.leaf(np.ascontiguousarray(i, np.int32)) for i in (others, first))
    values = r.take(r.reshape(x, r.ints([mask.size])), 0, index)
    return getattr(r, f"{form}_of")(r.keywords("rd_matrix_opts", shape=r.ints(mask.shape), pos=pos, crd=crd,
                                               values=values, stored=stored))


def ours(call, count=1, stored=False):
    """The call with the first `count` operands sparse."""
    def run(r, *x, masks, formats, **more):
        x = [sparse(r, a, m, f, stored) if k < count else a for k, (a, m, f) in enumerate(zip(x, masks, formats))]
        return call(r, *x, **more)
    return run


def theirs(call, count=1):
    def run(*x, masks, formats, **more):
        made = []
        for k, (a, mask, form) in enumerate(zip(x, masks, formats)):
            at = np.nonzero(mask)
            made.append(scipy.sparse.coo_array((a[at], at), a.shape).asformat(form) if k < count else a)
        y = call(*made, **more)
        return y.toarray() if scipy.sparse.issparse(y) else y
    return run


def product(name, ours_call, theirs_call, shapes, count=1, types=TYPES + COMPLEX, stored=True):
    exact = theirs(theirs_call, count)
    return Row(name, ours(ours_call, count, stored), exact, operands=2, types=types, also="first", values=sparse_values,
               shapes=shapes, arguments=places, ulps=4, scale=magnitude(exact))


def of_two(name, ours_call, theirs_call, count=2, types=TYPES, stored=False, ulps=0.5):
    return Row(name, ours(ours_call, count, stored), theirs(theirs_call, count), operands=2, types=types, also="first",
               values=sparse_values, shapes=alike, arguments=places, ulps=ulps)


def fold(name, call, **more):
    exact = theirs(call)
    return Row(f"sparse {name}", ours(lambda r, x, axis: getattr(r, name)(x, axis)), exact, values=sparse_values,
               arguments=with_axis, **{"types": TYPES, "shapes": matrix, **more})


ROWS = [
    product("sparse @ vector", lambda r, a, x: r.matmul(a, x), lambda a, x: np.reshape(a @ x, a.shape[0]), with_vector),
    product("sparse @ matrix", lambda r, a, x: r.matmul(a, x), lambda a, x: a @ x, with_matrix),
    product("vector @ sparse", lambda r, a, x: r.matmul(x, a), lambda a, x: np.reshape(x @ a, a.shape[1]),
            behind_vector),
    product("sparse @ sparse", lambda r, a, b: r.matmul(a, b), lambda a, b: a @ b, with_matrix, count=2, stored=False,
            types=TYPES),
    of_two("sparse multiply dense", lambda r, a, x: r.mul(a, x), lambda a, x: a.multiply(x), count=1, stored=True),
    of_two("sparse multiply", lambda r, a, b: r.mul(a, b), lambda a, b: a.multiply(b)),
    of_two("sparse add", lambda r, a, b: r.add(a, b), lambda a, b: a + b),
    of_two("sparse add dense", lambda r, a, x: r.add(a, x), lambda a, x: a + x, count=1),
    of_two("sparse maximum", lambda r, a, b: r.maximum(a, b), lambda a, b: a.maximum(b)),
    fold("sum", lambda a, axis: a.sum(axis), types=TYPES + COMPLEX, ulps=4,
         scale=magnitude(theirs(lambda a, axis: a.sum(axis)))),
    fold("mean", lambda a, axis: a.mean(axis), types=("float32", "float64"), ulps=4, shapes=of_some,
         scale=magnitude(theirs(lambda a, axis: a.mean(axis)))),
    fold("max", lambda a, axis: a.max(axis)),
    fold("min", lambda a, axis: a.min(axis)),
    Row("sparse transpose", ours(lambda r, a: r.transpose(a)), theirs(lambda a: a.T), types=TYPES + COMPLEX,
        values=sparse_values, shapes=matrix, arguments=places),
]
