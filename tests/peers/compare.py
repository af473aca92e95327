"""compare.py LIBRARY [--cases N] [--seed S] [--first K] [--row NAME] [--seconds T]: random cases of every operation in
rdim, and in NumPy and SciPy: the same shapes, types, refusals, and values within each row's bound.

Case k of a seed is always the same: --first K --cases 1 runs one again.  Without NumPy 2 or SciPy it exits with 77, and
so it does as a test where not all cases are asked for (script/test all).
"""
import argparse
import importlib
import os
import sys
import time
import warnings
from collections import Counter
from pathlib import Path

if "--test" in sys.argv and os.environ.get("RDIM_TESTS") not in ("all", "every"):
    print("skipped: run by script/test all")
    sys.exit(77)
try:
    import numpy as np
    import scipy.special  # noqa: F401
    from numpy.lib.array_utils import normalize_axis_tuple  # noqa: F401
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

sys.dont_write_bytecode = True
from rdim import Rdim, Refused  # noqa: E402
from rows import real_type  # noqa: E402

THEIR_REFUSALS = (ValueError, TypeError, IndexError, np.exceptions.AxisError)


# ---- Cases ----------------------------------------------------------------------------------------------------------
def one_shape(random):
    shape = [int(n) for n in random.choice([0, 1, 2, 3, 4, 7], random.integers(0, 4), p=[.03, .12, .2, .25, .2, .2])]
    if random.random() < 0.25:
        shape.insert(int(random.integers(len(shape) + 1)), int(random.choice([65, 130, 300])))
    return tuple(shape)


def shapes(random, operands):
    """Shapes that broadcast, but for one case in fifty."""
    full = one_shape(random)
    made = [full]
    for _ in range(operands - 1):
        other = tuple(n if random.random() < 0.75 else 1 for n in full)
        if full and random.random() < 0.02:
            other = (full[0] + 2,) + full[1:]
        made.append(other[random.integers(0, len(other) + 1) if random.random() < 0.3 else 0:])
    return [made[k] for k in random.permutation(operands)]


def layout(random, x):
    """x as a view of other memory: transposed, with gaps, backwards, or repeated."""
    for axis in range(x.ndim):
        chance = random.random()
        if chance < 0.15:
            x = np.repeat(x, 2, axis)[(slice(None),) * axis + (slice(None, None, 2),)]
        elif chance < 0.3:
            x = np.flip(np.ascontiguousarray(np.flip(x, axis)), axis)
        elif chance < 0.35 and x.shape[axis]:
            x = np.broadcast_to(x.take([0], axis), x.shape)
    if x.ndim > 1 and random.random() < 0.3:
        order = random.permutation(x.ndim)
        x = np.transpose(np.ascontiguousarray(np.transpose(x, order)), np.argsort(order))
    return x


def make_case(row, random):
    dtypes = [np.dtype(str(random.choice(row.types)))]
    sizes = row.shapes(random) if row.shapes else shapes(random, row.operands)
    for _ in sizes[1:]:
        if row.also == "first":
            dtypes.append(dtypes[0])
        elif row.also != "same":
            dtypes.append(np.dtype(str(random.choice(row.also))))
        else:
            dtypes.append(dtypes[0] if random.random() < 0.6 else np.dtype(str(random.choice(row.types))))
    arrays = [layout(random, np.asarray(row.values(random, shape, dtype), dtype))
              for shape, dtype in zip(sizes, dtypes)]
    return arrays, row.arguments(random, arrays) if row.arguments else {}


# ---- Both sides -----------------------------------------------------------------------------------------------------
def run_ours(r, row, arrays, arguments, random):
    """The result, or what was refused; in one case of four written to strided memory."""
    call = getattr(r, row.ours) if isinstance(row.ours, str) else lambda *x, **k: row.ours(r, *x, **k)
    with r.expressions():
        try:
            nodes = [r.leaf(x) for x in arrays]
            fold = isinstance(row.ours, str) and row.ours in r.folds
            y = call(*nodes, **arguments) if fold or not isinstance(row.ours, str) else call(*nodes,
                                                                                           *arguments.values())
            out = None
            if random.random() < 0.25:
                shape, dtype = r.shape(y), r.dtype(y)
                out = np.empty(tuple(2 * n for n in shape), dtype)[(..., *(slice(None, None, 2) for _ in shape))]
            return r.eval(y, out)
        except Refused as refused:
            return refused


def wider(row, x):
    """In a type whose roundings do not count."""
    if row.exact == "same" or x.dtype == bool:
        return x
    if x.dtype.kind == "c":
        return x.astype(complex).astype(np.clongdouble) if row.exact else x.astype(complex)
    if x.dtype == np.float64 or x.dtype.kind != "f":
        return x.astype(float).astype(np.longdouble) if row.exact else x
    return x.astype(float)


def run_theirs(row, arrays, arguments):
    """Their result, and the exact one as far as theirs is; or what was refused."""
    if row.real:
        arrays = [x.astype(real_type([x.dtype for x in arrays])) for x in arrays]
    try:
        result = np.asarray(row.theirs(*arrays, **arguments))
        if result.dtype.kind not in "fc":
            return result, result, None
        wide = [wider(row, x) for x in arrays]
        return result, np.asarray(row.theirs(*wide, **arguments)), row.scale and row.scale(*wide, **arguments)
    except THEIR_REFUSALS as refused:
        return refused


# ---- Comparison -----------------------------------------------------------------------------------------------------
def parts(x):
    """Real and imaginary parts along a new last axis."""
    return np.stack([x.real, x.imag], -1)


def complex_difference(ours, theirs, exact, scale, ulps):
    """The same of both parts, in units of the larger one."""
    exact = parts(exact)
    scale = np.max(np.abs(exact), -1, keepdims=True) if scale is None else np.abs(scale)[..., None]
    return difference(parts(ours), parts(theirs), exact, np.broadcast_to(scale, exact.shape), ulps)


def difference(ours, theirs, exact, scale, ulps):
    """What is wrong with the values, or None."""
    if theirs.dtype.kind == "c":
        return complex_difference(ours, theirs, exact, scale, ulps)
    if theirs.dtype.kind != "f":
        wrong = ours != theirs
    else:
        rounded = exact.astype(ours.dtype)
        unit = np.abs(exact if scale is None else scale).astype(ours.dtype)
        unit = np.spacing(np.maximum(np.where(np.isfinite(unit), unit, np.finfo(ours.dtype).max),
                                     np.finfo(ours.dtype).tiny)).astype(exact.dtype)
        apart = np.abs(ours.astype(exact.dtype) - exact)
        near = apart <= (ulps + 1e-3) * unit if ulps else ours == rounded
        wrong = ~np.where(np.isfinite(rounded), near | (ours == rounded), (ours == rounded) |
                          (np.isnan(ours) & np.isnan(rounded)))
    if not np.any(wrong):
        return None
    at = tuple(int(k) for k in np.argwhere(wrong)[0])
    return f"at {at}: {ours[at]!r}, not {exact[at]!r}" + (
        f", {apart[at] / unit[at]:.3g} ulp of {ulps}" if theirs.dtype.kind == "f" else "")


def compare(row, ours, theirs, dtypes):
    """A sentence about what differs, or None."""
    if isinstance(ours, Refused) or isinstance(theirs, Exception):
        if isinstance(ours, Refused) and isinstance(theirs, Exception):
            return None
        return f"refused by one: ours {ours!r:.200}, theirs {theirs!r:.200}"
    result, exact, scale = theirs
    dtype = np.dtype(row.type(dtypes)) if row.type else result.dtype
    if ours.shape != result.shape:
        return f"shape {ours.shape}, not {result.shape}"
    if ours.dtype != dtype:
        return f"type {ours.dtype}, not {dtype}"
    return difference(ours, result, exact, scale, row.ulps)


def all_rows():
    rows = []
    for file in sorted(Path(__file__).parent.glob("rows_*.py")):
        rows += importlib.import_module(file.stem).ROWS
    return rows


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("library")
    parser.add_argument("--cases", type=int, default=20000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--row", default=None)
    parser.add_argument("--test", action="store_true", help="skip unless RDIM_TESTS=all")
    parser.add_argument("--failures", type=int, default=20, help="how many are printed")
    asked = parser.parse_args()
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    rows, r = all_rows(), Rdim(asked.library)
    if asked.row:
        rows = [row for row in rows if row.name == asked.row]
    chances = np.array([row.weight for row in rows], float)
    chances /= chances.sum()
    failed, refused, start = Counter(), 0, time.time()
    for k in range(asked.first, asked.first + asked.cases):
        random = np.random.default_rng([asked.seed, k])
        row = rows[random.choice(len(rows), p=chances)]
        arrays, arguments = make_case(row, random)
        theirs = run_theirs(row, arrays, arguments)
        ours = run_ours(r, row, arrays, arguments, random)
        refused += isinstance(theirs, Exception)
        wrong = compare(row, ours, theirs, [x.dtype for x in arrays])
        if wrong:
            failed[row.name] += 1
            if sum(failed.values()) <= asked.failures:
                what = ", ".join(f"{x.dtype}{list(x.shape)}" for x in arrays)
                print(f"{row.name}: {wrong}\n    of {what} {arguments}, --seed {asked.seed} --first {k} --cases 1"
                      + (f" --row '{asked.row}'" if asked.row else ""))
    print(f"NumPy {np.__version__}: {asked.cases} cases of {len(rows)} rows, {refused} refused by both or one, "
          f"{sum(failed.values())} differ, {time.time() - start:.1f} s")
    if failed:
        print(dict(failed.most_common()))
    return failed.total() > 0


if __name__ == "__main__":
    sys.exit(main())
