"""steps.py - what steps of a random program are drawn from: maps, reductions, scans, products, order."""
import numpy as np

import folds
import kinds as K
import maps
import scans
from kinds import LONG
from value import Value, cast, corners, finish
from views import VIEWS

SIGNS = {"add": "+", "sub": "-", "mul": "*", "div": "/", "floordiv": "//", "remainder": "%", "pow": "^", "bit_and": "&",
         "bit_or": "|", "eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">=", "and": "and", "or": "||"}
IN_TEXT = {K.F16: "float16", K.BF16: "bfloat16", K.F32: "float32", K.F64: "float64", K.C64: "complex64",
           K.C128: "complex128", **{kind: str(kind.memory) for kind in (K.BOOL, *K.INTS)}}
LARGE = 20000  # elements, more than the blocks of a combine tree and the rows of a tile
ACCURACY = ("pairwise", "compensated", "wide", "serial")


def one_map(p):
    row = p.weighted(maps.ONE)
    k = p.operand()
    p.take(row.name, (k,), lambda r, x: getattr(r, row.name)(x), maps.mapped(row, p.value(k)), row.name + "({0})")


def two_map(p):
    row = p.weighted(maps.TWO)
    a = p.operand()
    b = p.partner(a)
    x, y = p.value(a), p.value(b)
    formula = f"{{0}} {SIGNS[row.name]} {{1}}" if row.name in SIGNS else row.name + "({0}, {1})"
    if "c" in (x.kind.letter, y.kind.letter):
        if row.name in ("add", "sub", "mul"):
            p.take(row.name, (a, b), lambda r, x, y: getattr(r, row.name)(x, y), maps.of_complex(row.name, x, y),
                   formula)
        return
    p.take(row.name, (a, b), lambda r, x, y: getattr(r, row.name)(x, y), maps.mapped(row, x, y), formula)


def test(p):
    name = p.one_of([*maps.COMPARE, *maps.LOGIC, "isnan", "isfinite", "isinf"])
    a = p.operand()
    if name.startswith("is"):
        p.take(name, (a,), lambda r, x: getattr(r, name)(x), maps.tested(name, p.value(a)), name + "({0})")
        return
    b = p.partner(a)
    f = maps.compared if name in maps.COMPARE else maps.joined
    p.take(name, (a, b), lambda r, x, y: getattr(r, name)(x, y), f(name, p.value(a), p.value(b)),
           f"{{0}} {SIGNS[name]} {{1}}" if name in SIGNS else name + "({0}, {1})")


def choose(p):
    a = p.operand()
    b = p.partner(a)
    shape = np.broadcast_shapes(p.value(a).shape, p.value(b).shape)
    c = mask(p, shape)
    p.take("where", (c, a, b), lambda r, c, x, y: r.where(c, x, y),
           maps.chosen(p.value(c), p.value(a), p.value(b)),
           "{0} ? {1} : {2}" if p.chance(0.5) else "where({0}, {1}, {2})")


def mask(p, shape):
    """A bool step that broadcasts to shape."""
    def fits(x):
        return x.kind is K.BOOL and x.unsure is None and x.ndim <= len(shape) and all(
            n in (1, m) for n, m in zip(x.shape[::-1], shape[::-1]))
    k = p.operand(fits)
    return p.leaf(K.BOOL, tuple(n if p.chance(0.8) else 1 for n in shape)) if k is None else k


def convert(p):
    k = p.operand()
    x = p.value(k)
    kind = p.one_of(K.ALL) if x.kind.letter != "c" else p.one_of((K.BOOL, K.C64, K.C128))
    if x.kind.letter != "c" and p.chance(0.06):
        kind = p.one_of((K.C64, K.C128))
    p.take(f"cast to {kind}", (k,), lambda r, x: r.library.rd_cast(x, kind.code) or r.fail(), cast(x, kind),
           IN_TEXT[kind] + "({0})")


def parts(p):
    k = p.operand(lambda x: x.kind.letter == "c")
    if k is not None:
        name = p.one_of(("real", "imag", "conj", "abs"))
        p.take(name, (k,), lambda r, x: getattr(r, name)(x), maps.part(name, p.value(k)), name + "({0})")


# ---- Reductions ------------------------------------------------------------------------------------------------------
def axes_of(p, x):
    return tuple(sorted(p.random.sample(range(x.ndim), p.below(x.ndim + 1)))) if p.chance(0.8) else tuple(range(x.ndim))


def reduce(p):
    k = p.operand()
    x = p.value(k)
    name = p.one_of(("sum", "sum", "sum", "mean", "mean", "prod", "min", "max", "min", "max", "var", "std", "argmin",
                     "argmax", "any", "all", "count", "norm", "logsumexp"))
    axes, keep = axes_of(p, x), p.chance(0.3)
    options, keywords, operands, text = {}, {}, [k], f"{name} over {list(axes)}{' kept' * keep}"
    if p.chance(0.25):
        operands.append(mask(p, x.shape))
        options["mask"] = p.value(operands[1])
    if x.kind.bits and p.chance(0.2):
        options["skip_nan"] = keywords["skip_nan"] = True
    if name in ("var", "std") and p.chance(0.4):
        options["ddof"] = p.below(3)
        keywords["ddof"] = float(options["ddof"])
    if name == "norm" and p.chance(0.6):
        options["p"] = keywords["p"] = p.one_of((1.0, 2.0, np.inf))
    if name in ("sum", "mean") and x.kind.bits and p.chance(0.2):
        options["accuracy"] = keywords["accuracy"] = p.below(4)
    if name in ("sum", "min", "max") and p.chance(0.15):
        options["initial"] = p.below(9) - (0 if x.kind.letter in "ub" else 4)
    text += "".join(f" {key}={value}" for key, value in {**keywords, **options}.items() if key != "mask")

    def build(r, x, *where):
        more = {"where": w for w in where}
        if "initial" in options:
            more["initial"] = r.int(options["initial"])
        return r.reduce(name, x, axes, keep, **keywords, **more)
    p.take(text, tuple(operands), build, folds.reduced(name, x, axes, keep, **options),
           reduction_text(name, axes, keep, len(operands) > 1, options))


def axes_text(axes):
    return ", axis=(" + ", ".join(map(str, axes)) + ")" if len(axes) > 1 else f", axis={axes[0]}"


def reduction_text(name, axes, keep, masked, options):
    """As a formula has it; None where it has no words for it."""
    if not axes:
        return None
    text = f"{name}({{0}}{axes_text(axes)}" + ", keepdims=true" * keep + ", where={1}" * masked
    text += ", skip_nan=true" * ("skip_nan" in options)
    text += f", p={options['p']}" if "p" in options else ""
    text += f", ddof={options['ddof']}" if "ddof" in options else ""
    text += f", accuracy={ACCURACY[options['accuracy']]}" if "accuracy" in options else ""
    return text + (f", initial={options['initial']})" if "initial" in options else ")")


def group(p):
    k = p.operand(lambda x: x.ndim > 0 and x.kind.letter != "c")
    if k is None:
        return
    x, name, n = p.value(k), p.one_of(("sum", "count", "mean", "min", "max", "any", "all")), 1 + p.below(4)
    axes = axes_of(p, x) or (0,)
    label = p.leaf(p.one_of((K.I32, K.I64, K.I8)), tuple(e if p.chance(0.7) else 1 for e in x.shape),
                   lambda size: p.numbers.integers(-1, n + 1, size))

    def build(r, x, label):
        return r.reduce(name, x, axes, by=r.exprs([label]), groups=r.ints([n]))
    p.take(f"{name} over {list(axes)} by label of {n}", (k, label), build,
           folds.by_label(name, x, axes, Value(K.I64, np.broadcast_to(p.value(label).lo, x.shape)), n))


def scan(p):
    k = p.operand(lambda x: x.ndim > 0)
    if k is None:
        return
    x, name = p.value(k), p.one_of(("sum", "sum", "min", "max", "prod", "count"))
    axis, reverse, exclusive = p.below(x.ndim), p.chance(0.4), p.chance(0.3)
    options, operands = {}, [k]
    if p.chance(0.25):
        operands.append(mask(p, x.shape))
        options["mask"] = p.value(operands[1])
    if x.kind.bits and p.chance(0.25):
        options["skip_nan"] = True
    words = (", where={1}" if "mask" in options else "") + ", skip_nan=true" * ("skip_nan" in options)
    if name in ("min", "max") and (exclusive or not x.kind.bits and len(operands) > 1):
        options["initial"] = p.below(5)
        words += f", initial={options['initial']}"
    words += ", reverse=true" * reverse + ", exclusive=true" * exclusive

    def build(r, x, *where):
        more = {"where": w for w in where}
        if "initial" in options:
            more["initial"] = r.int(options["initial"])
        return r.scan(name, x, axis, reverse=reverse, exclusive=exclusive, skip_nan="skip_nan" in options, **more)
    p.take(f"scan {name} along {axis}{words}", tuple(operands), build,
           scans.scanned(name, x, axis, reverse, exclusive, **options),
           f"cum{name}({{0}}, axis={axis}{words})")


# ---- Products --------------------------------------------------------------------------------------------------------
def product(p):
    a = p.operand(lambda x: 1 <= x.ndim <= 3 and x.kind.letter != "c")
    if a is None:
        return
    x = p.value(a)
    text, shape = p.one_of({1: [("i,i->", "i"), ("i,j->ij", "j"), ("i,ij->j", "ij")],
                            2: [("ik,kj->ij", "kj"), ("ij,ij->i", "ij"), ("ik,jk->ij", "jk"), ("ij,j->i", "j"),
                                ("ki,kj->ij", "kj"), ("ij,ij->", "ij")],
                            3: [("aik,akj->aij", "akj"), ("aij,a->ij", "a"), ("aik,ka->i", "ka")]}[x.ndim])
    letters = dict(zip(text.split(",")[0], x.shape))
    extents = tuple(letters.get(c, 1 + p.below(6)) for c in shape)
    b = p.operand(lambda y: y.shape == extents and y.kind.letter != "c")
    if np.prod(extents) > p.most:
        return
    if b is None:
        b = p.leaf(x.kind if p.chance(0.7) and x.kind in K.ALL else p.one_of(K.FLOATS), extents)
    letters.update(zip(shape, extents))
    n = int(np.prod([letters[c] for c in letters if c not in text.split("->")[1]], dtype=int))
    p.take(f"einsum {text}", (a, b), lambda r, x, y: r.einsum_text(text, r.exprs([x, y])),
           folds.product(text, x, p.value(b), n), f"einsum('{text}', {{0}}, {{1}})")


# ---- Order -----------------------------------------------------------------------------------------------------------
def sort(p):
    k = p.operand(lambda x: x.ndim > 0 and x.kind.letter != "c" and x.unsure is None)
    if k is None:
        return
    x = p.value(k)
    axis = p.below(x.ndim)
    if p.chance(0.4) and x.exact:
        p.take(f"argsort along {axis}", (k,), lambda r, x: r.argsort_by(x, r.keywords("rd_sort_opts", axis=axis)),
               Value(K.I64, np.argsort(x.lo, axis, kind="stable").astype(np.int64)), f"argsort({{0}}, axis={axis})")
        return
    lo = np.sort(x.lo, axis, kind="stable")
    p.take(f"sort along {axis}", (k,), lambda r, x: r.sort_by(x, r.keywords("rd_sort_opts", axis=axis)),
           Value(x.kind, lo, lo if x.lo is x.hi else np.sort(x.hi, axis, kind="stable")), f"sort({{0}}, axis={axis})")


def quantile(p):
    k = p.operand(lambda x: x.ndim > 0 and x.kind.letter != "c" and x.unsure is None and x.size > 0)
    if k is None:
        return
    x, q = p.value(k), p.one_of((0, 0.25, 0.5, 0.5, 0.9, 1))
    axes, keep, kind = axes_of(p, x), p.chance(0.3), K.of_function(x.kind)
    x = folds.last(cast(x, kind), axes)
    h = (x.shape[-1] - 1) * q
    j = min(int(np.floor(h)), x.shape[-1] - 1)
    if 0 < abs(h - round(h)) < 1e-9:
        return

    def along(v):
        """On the line between two in order; an infinity on one side is all of the line."""
        v = np.sort(v, -1)
        low, high = v[..., j], v[..., min(j + 1, v.shape[-1] - 1)]
        line = low * LONG(1 - (h - j)) + high * LONG(h - j)
        y = np.where((low == high) | (h == j), low, np.where(np.isinf(low) | np.isinf(high), low + high, line))
        return np.where(np.isnan(v).any(-1), LONG(np.nan), y)
    lo, hi, unsure = corners(along, x)
    slack = np.maximum(abs(lo), abs(hi)) * LONG(2.0) ** (1 - kind.bits) + (
        folds.finite(x.largest()).max(-1, initial=0) * LONG(2.0) ** -52 * x.shape[-1])
    y, _ = finish(kind, lo, hi, unsure, slack=np.where(np.isfinite(slack), slack, 0))
    if keep:
        y = y.view(lambda a: np.expand_dims(a, axes))
    p.take(f"quantile {q} over {list(axes)}{' kept' * keep}", (k,), lambda r, x: r.quantile_by(
        x, float(q), r.keywords("rd_quantile_opts", dims=r.dims(axes, keep))), y,
           f"quantile({{0}}, {q}{axes_text(axes)}{', keepdims=true' * keep})" if axes else None)


def view(p):
    VIEWS[p.below(len(VIEWS))](p)


STEPS = ((one_map, 14), (two_map, 22), (test, 6), (choose, 4), (convert, 6), (parts, 2), (reduce, 16), (group, 3),
         (scan, 6), (product, 5), (sort, 3), (quantile, 2), (view, 26))


def draw(p):
    """Three to fifteen steps on one to three leaves of one shape."""
    if p.chance(0.02):
        p.most = LARGE
    first = p.shape()
    for _ in range(1 + p.below(3)):
        kind = p.one_of((*K.FLOATS, K.F32, K.F64, K.F64, *K.INTS, K.BOOL) if p.chance(0.94) else (K.C64, K.C128))
        p.leaf(kind, first if p.chance(0.8) else tuple(n if p.chance(0.6) else 1 for n in first))
    goal = len(p.steps) + 2 + p.below(12)
    makers, weights = zip(*STEPS)
    for maker in p.random.choices(makers, weights, k=2 * goal):
        if len(p.steps) >= goal:
            break
        maker(p)
