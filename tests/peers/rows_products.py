"""Products of vectors and matrices, and einsum."""
import numpy as np

from rows import ALL, NUMBERS, Row, axis, small

SIZES = [1, 2, 3, 5, 9]


def extent(random, most=40):
    return min(most, int(random.choice(SIZES + [0, 40], p=[.1, .2, .2, .2, .2, .03, .07])))


def wrong(random, n):
    """n, but in one case of thirty."""
    return n + 1 if random.random() < 0.03 else n


def batch(random):
    full = [extent(random, 4) for _ in range(random.choice([0, 0, 1, 2]))]
    return full, [n if random.random() < 0.7 else 1 for n in full][random.integers(0, len(full) + 1):]


def matrices(random):
    m, n, k = (extent(random) for _ in range(3))
    first, second = batch(random)
    a, b = [*first, m, k], [*second, wrong(random, k), n]
    chance = random.random()
    return [a[-1:] if chance < 0.15 else a, b[-2:-1] if 0.1 < chance < 0.25 else b]


def vectors(random):
    k = extent(random)
    first, second = batch(random)
    return [[*first, k], [*second, wrong(random, k)]]


def tensors(random):
    """Shapes whose axes can be paired."""
    shape = [extent(random, 7) for _ in range(random.integers(1, 4))]
    return [[*shape, extent(random)], [wrong(random, shape[k]) for k in random.permutation(len(shape))]]


def short(random):
    return [[extent(random) for _ in range(random.integers(0, 3))] for _ in range(2)]


def pairs(random, arrays):
    """Axes of equal extents, and sometimes others."""
    a, b = arrays
    of_a, of_b = [], []
    for i in random.permutation(a.ndim):
        fits = [j for j in range(b.ndim) if b.shape[j] == a.shape[i] and j not in of_b]
        if fits and random.random() < 0.7:
            of_a.append(int(i) - (a.ndim if random.random() < 0.3 else 0))
            of_b.append(int(random.choice(fits)))
    if random.random() < 0.03:
        of_a.append(0), of_b.append(0)
    return {"of_a": of_a, "of_b": of_b}


def vecdot(x, y, axis=-1):
    """NumPy's takes no bools."""
    a, b = np.broadcast_arrays(x, y) if x.ndim and y.ndim and x.shape[axis] == y.shape[axis] else (x, y)
    if not x.ndim or not y.ndim or x.shape[axis] != y.shape[axis]:
        raise ValueError("extents")
    return np.sum(a * b, axis, dtype=np.result_type(a, b))


def einsum_case(random):
    """Text and shapes: letters with extents of their own, some operands with an ellipsis, mistakes now and then."""
    letters = list("abcdiJ")
    sizes = {c: extent(random, 9) for c in letters}
    dots = [extent(random) for _ in range(random.integers(0, 3))] if random.random() < 0.3 else []
    terms, shapes = [], []
    for _ in range(random.choice([1, 2, 2, 3, 4])):
        term = [str(c) for c in random.choice(letters, random.integers(0, 4))]
        shape = [wrong(random, sizes[c]) if random.random() < 0.2 else sizes[c] for c in term]
        if dots and random.random() < 0.7:
            at, some = int(random.integers(len(term) + 1)), int(random.integers(len(dots) + 1))
            shape[at:at] = [n if random.random() < 0.8 else 1 for n in dots[some:]]
            term.insert(at, "...")
        terms.append("".join(term)), shapes.append(shape)
    text = ",".join(terms)
    if random.random() < 0.7:
        used = sorted({c for c in text if c.isalpha()})
        chosen = [str(c) for c in random.permutation(used)[: random.integers(0, min(len(used), 4) + 1)]]
        if "..." in text and random.random() < 0.95:
            chosen.insert(int(random.integers(len(chosen) + 1)), "...")
        if random.random() < 0.03:
            chosen.append("z")
        text += "->" + "".join(chosen)
    return text, shapes


class Einsum:
    """A row whose operands and text are drawn together."""
    text = ""

    def shapes(self, random):
        self.text, shapes = einsum_case(random)
        return shapes

    def arguments(self, random, arrays):
        return {"text": self.text}


def magnitude(theirs):
    """What the products come to without their signs, and at least what one rounding of the largest is."""
    return lambda *arrays, **k: theirs(*(np.abs(x) for x in arrays), **k)


def einsum(*arrays, text):
    return np.einsum(text, *arrays)


einsums = Einsum()
common = {"operands": 2, "values": small, "ulps": 4, "also": "same"}
ROWS = [
    Row("matmul", "matmul", np.matmul, shapes=matrices, types=ALL, scale=magnitude(np.matmul), weight=3, **common),
    Row("dot", "dot", np.dot, shapes=matrices, types=ALL, scale=magnitude(np.dot), **common),
    Row("vecdot", lambda r, x, y: r.vecdot(x, y, -1), vecdot, shapes=vectors, types=NUMBERS, scale=magnitude(vecdot),
        **common),
    Row("tensordot", lambda r, x, y, of_a, of_b: r.tensordot(x, y, r.ints(of_a), r.ints(of_b)),
        lambda x, y, of_a, of_b: np.tensordot(x, y, (of_a, of_b)), shapes=tensors, types=NUMBERS, arguments=pairs,
        scale=magnitude(lambda x, y, of_a, of_b: np.tensordot(x, y, (of_a, of_b))), weight=2, **common),
    Row("outer", "outer", np.outer, types=NUMBERS, shapes=short, **{**common, "ulps": 0.5}),
    Row("trace", lambda r, x, offset, axis1, axis2: r.trace(x, axis1, axis2, offset), np.trace, types=ALL, values=small,
        arguments=lambda random, arrays: {"offset": int(random.integers(-3, 4)), "axis1": axis(random, arrays[0]),
                                          "axis2": axis(random, arrays[0])}, ulps=4, scale=magnitude(np.trace)),
    Row("einsum", lambda r, *x, text: r.einsum_text(text, r.exprs(x)), einsum, shapes=einsums.shapes, types=NUMBERS,
        arguments=einsums.arguments, scale=magnitude(einsum), values=small, ulps=6, operands=0, weight=8),
]
