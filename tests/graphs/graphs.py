"""graphs.py MODULE [--count N] [--first K] [--ways N|all] [--show]: random programs of rdim beside NumPy.

Program k is always the same: --first K --count 1 --show runs one again and prints it.  Each is evaluated plainly, its
results are compared with what NumPy says of them, and then in some of the other ways of ways.c, whose bits must agree.
Without NumPy 2 it exits with 77.
"""
import argparse
import os
import random
import sys
import time
import warnings
from collections import Counter
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")
try:
    import numpy as np
    from numpy.lib.array_utils import normalize_axis_tuple  # noqa: F401
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)
if np.finfo(np.longdouble).nmant < 63:
    print("skipped: long double holds no 64 bits here")
    sys.exit(77)

sys.dont_write_bytecode = True
import kinds as K  # noqa: E402
from ours import Ours, Refused  # noqa: E402
from program import Program, described, formula_of  # noqa: E402
from steps import draw  # noqa: E402
from value import wrong_at  # noqa: E402
from views import sliced  # noqa: E402

RARE = {"measured": 300, "compiled": 0}  # one program in so many; 0: where it is asked for alone
WAYS, SLICED, FORMULAS = 2, 5, 6


def program_of(number):
    p = Program(random.Random(number), np.random.default_rng(number))
    draw(p)
    return p


# ---- Beside NumPy ---------------------------------------------------------------------------------------------------
def compare(ours, program, chosen, plain, stats):
    """What is wrong with the results, or None."""
    for i, k in enumerate(chosen):
        value = program.steps[k].value
        shape = tuple(plain[i].shape.at[: plain[i].shape.n])
        if shape != value.shape or plain[i].type != value.kind.code:
            return f"step {k}: {K.OF_CODE[plain[i].type]}{list(shape)}, not {value.kind}{list(value.shape)}"
        found = ours.elements(plain[i], value.kind, shape)
        wrong = wrong_at(value, found)
        stats["results"] += 1
        stats["elements"] += found.size
        stats["exact"] += found.size * (value.lo is value.hi)
        stats["unsure"] += 0 if value.unsure is None else int(value.unsure.sum())
        if wrong.any():
            at = tuple(int(n) for n in np.argwhere(wrong)[0])
            element = K.loaded(found, value.kind)[at]
            return f"step {k} at {at}: {element!r}, not {value.lo[at]!r} to {value.hi[at]!r} ({wrong.sum()} wrong)"
    return None


def limited(ours, program, chosen, plain, choose):
    """With little memory it is refused, or the same."""
    try:
        other = ours.within(choose.choice((8192, 20000, 40000, 80000, 200000)))
    except Refused:
        return None
    try:
        again = other.plain([(nodes := other.build(program))[k] for k in chosen])
        for i in range(len(chosen)):
            at = ours.library.graph_differ(plain[i], again[i])
            if at >= 0:
                return f"with little memory result {i} differs at {at}"
    except Refused as refused:
        return None if refused.status == "RD_ERR_MEMORY" else f"with little memory: {refused.status} {refused}"
    finally:
        ours.library.rd_ctx_free(other.ctx)
    return None


def by_formula(ours, program, chosen, nodes, stats):
    """The same steps as a formula's text give the same bits."""
    formulas = [formula_of(program, k) for k in chosen]
    if None in formulas:
        return None
    stats["formulas"] += len(formulas)
    for i, (text, given) in enumerate(formulas):
        try:
            node = ours.from_text(text, [(f"s{k}", nodes[k]) for k in given])
            if node == nodes[chosen[i]]:
                continue  # equal nodes are one node
            alone = ours.plain([node]), ours.plain([nodes[chosen[i]]])  # beside others parts of sums may differ
            at = ours.library.graph_differ(alone[0][0], alone[1][0])
        except Refused as refused:
            return f"as a formula: {refused.status} {refused}\n{text}"
        if at >= 0:
            return f"as a formula result {i} differs at {at}:\n{text}"
    return None


def one(ours, number, asked, stats):
    """Runs a program: what is wrong, or None, and the program."""
    program, choose = program_of(number), random.Random(~number)
    whole = len(program.steps) - 1
    if choose.randrange(SLICED) == 0 and program.steps[whole].value.ndim:
        sliced(program, whole)  # a slice of the result, asked for alone: the part of the program behind it
    last = len(program.steps) - 1
    also = choose.sample(range(last + 1), min(last + 1, choose.randrange(3)))
    chosen = [last] if last != whole else sorted({last, *also})
    stats["steps"] += len(program.steps)
    stats["dropped"] += program.dropped
    ours.library.graph_begin(number)
    with ours.expressions():
        try:
            ours.place_leaves(program)
            nodes = ours.build(program)
            results = [nodes[k] for k in chosen]
            plain = ours.plain(results)
        except Refused as refused:
            return f"{refused.status} {refused}", program
        wrong = compare(ours, program, chosen, plain, stats)
        for way, name in ways_of(ours, asked, choose):
            if wrong:
                break
            leaf = choose.randrange(len(program.leaves))
            wrong = ours.other_way(results, plain, way, choose.getrandbits(60), leaf)
            wrong = wrong and f"{name}: {wrong}"
            stats["ways"] += 1
        if not wrong and choose.randrange(FORMULAS) == 0:
            wrong = by_formula(ours, program, chosen, nodes, stats)
        if not wrong and asked.limited and choose.randrange(asked.limited) == 0:
            wrong = limited(ours, program, chosen, plain, choose)
    return wrong, program


def ways_of(ours, asked, choose):
    if asked.ways not in ("all", None) and not asked.ways.isdigit():
        return [way for way in ours.ways if way[1] == asked.ways]
    usual = [way for way in ours.ways if way[1] not in RARE]
    rare = [way for way in ours.ways if RARE.get(way[1]) and choose.randrange(RARE[way[1]]) == 0]
    return (usual if asked.ways == "all" else choose.sample(usual, int(asked.ways or WAYS))) + rare


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("module")
    parser.add_argument("--count", type=int, default=5000)
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--ways", default=None, help="how many of each program, all, or the name of one")
    parser.add_argument("--limited", type=int, default=25, help="one in so many has little memory, too; 0: none has")
    parser.add_argument("--show", action="store_true", help="print each program")
    parser.add_argument("--failures", type=int, default=20)
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    os.environ.setdefault("RDIM_TIER1", "off")
    ours, stats, failed, start = Ours(Path(asked.module).resolve()), Counter(), 0, time.time()
    for number in range(asked.first, asked.first + asked.count):
        wrong, program = one(ours, number, asked, stats)
        if asked.show:
            print(described(program))
        if wrong:
            failed += 1
            print(f"{wrong}\n{described(program)}\n    --first {number} --count 1", flush=True)
            if failed == asked.failures:
                break
    print(f"NumPy {np.__version__}: programs {asked.first} to {number}: {failed} failed, {stats['results']} results, "
          f"{stats['elements']} elements ({stats['exact']} exact, {stats['unsure']} unsure), {stats['steps']} steps "
          f"({stats['dropped']} dropped), {stats['ways']} other ways, {stats['formulas']} formulas, "
          f"{time.time() - start:.1f} s")
    if stats["unsure"] * 10 > stats["elements"]:
        print("too much is unsure to call this a test")
        return 1
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
