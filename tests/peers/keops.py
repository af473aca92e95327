"""keops.py [--build build/release] [--rows TEXT] [--jobs N]: the tables of docs/keops.md as tests.

A row has a cell for KeOps, one for Python and one for C.  All code in them is evaluated on the same numbers, which the
page makes; what they give is compared, KeOps' last: it compiles for each formula, so those of pairs are joined to a few.
Without pykeops Python and C are compared.  Without the package rdim or a C compiler it exits with 77.
"""
import argparse
import concurrent.futures
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs/keops.md"
JOINED = 14  # formulas that are compiled as one
# KeOps computes these with variables of its type float, or literals of that type.
LOOSE = ("bspline", "angle", "x_i ** y_j")
ALONE = ("trace_operator", "bspline", ".grad(", ".diff(", "grad_matrix", "divergence", "laplacian")  # KeOps does not join what it makes of these
BOUND, LOOSE_BOUND = 1e-11, 2e-6


class Row:
    """The codes of a line of a table; None where a cell has none."""

    def __init__(self, line, cells):
        self.line = line
        self.keops, self.python, self.c = (self.code(one) for one in cells)

    @staticmethod
    def code(cell):
        found = re.match(r"`([^`]+)`", cell)
        return found.group(1).replace("\\|", "|") if found else None


def rows_of(text):
    found, inside = [], False
    for number, line in enumerate(text.splitlines(), 1):
        cells = [one.strip() for one in re.split(r"(?<!\\)\|", line)[1:-1]]
        inside = line.startswith("| KeOps | Python") or inside and bool(cells)
        if inside and cells and cells[1].startswith("`"):
            found.append(Row(number, cells))
    return found


def blocks(text, kind):
    return re.findall(rf"^```{kind}\n(.*?)^```", text, re.M | re.S)


# ---- Python -------------------------------------------------------------------------------------------------------
def page_names(text):
    names = {}
    for block in blocks(text, "python"):
        exec(compile(block, str(PAGE), "exec"), names)
    return names


def values(made):
    """Results as floats, several of them side by side."""
    import numpy as np

    parts = made if isinstance(made, tuple) else (made,)
    return np.concatenate([np.asarray(one, float).ravel() for one in parts]), [np.shape(one) for one in parts]


# ---- C ------------------------------------------------------------------------------------------------------------
EMIT = """
#include <stdio.h>
static void emit(int line, rd_ctx *ctx, rd_expr *x)
{
    static double memory[100000];
    const rd_shape shape = rd_shape_of(x);
    rd_array out = { .data = memory, .type = RD_F64, .shape = shape };
    int64_t  n = 1;

    for (int a = 0; a < shape.n; a++)
        n *= shape.at[a];
    if (rd_eval(ctx, rd_cast(x, RD_F64), &out) != RD_OK) {
        printf("%d failed %s\\n", line, rd_error_text(ctx));
        return;
    }
    printf("%d", line);
    for (int64_t k = 0; k < n; k++)
        printf(" %.17g", memory[k]);
    printf("\\n");
}
"""


def in_c(text, rows, build, folder):
    """The numbers of each cell of C, by lines of the page."""
    source, program = folder / "rows.c", folder / "rows"
    prologue = "".join(blocks(text, "c prologue"))
    parts = ["".join(blocks(text, "c file")), EMIT]
    for row in rows:
        parts.append(f"static void row_{row.line}(void)\n{{\n{prologue}\n#line {row.line} \"docs/keops.md\"\n"
                     f"emit({row.line}, ctx, {row.c});\nrd_ctx_free(ctx);\n}}\n")
    parts.append("int main(void)\n{\n" + "".join(f"row_{row.line}();\n" for row in rows) + "return 0;\n}\n")
    source.write_text("\n".join(parts))
    subprocess.run([os.environ.get("CC", "cc"), "-std=c11", "-w", "-I", ROOT / "include", "-I", build / "include", source,
                    build / "librdim_parts.a", "-fopenmp", "-lm", "-ldl", "-lpthread", "-o", program], check=True)
    said = subprocess.run([program], capture_output=True, text=True, check=True).stdout
    return {int(line.split()[0]): line.split()[1:] for line in said.splitlines()}


# ---- KeOps --------------------------------------------------------------------------------------------------------
def keops_names(names):
    """The page's operands as LazyTensors."""
    import numpy as np
    from pykeops.numpy import Genred, LazyTensor, Vi

    n = {key: names[key] for key in "x y b s t g h u v X Y knots label M N D".split()}
    made = {
        "np": np, "LazyTensor": LazyTensor, "Vi": Vi, "x": n["x"], "b": n["b"],
        "x_i": LazyTensor(n["x"][:, None]), "y_j": LazyTensor(n["y"][None]), "b_j": LazyTensor(n["b"][None]),
        "s_i": LazyTensor(n["s"][:, None, None]), "t_j": LazyTensor(n["t"][None, :, None]),
        "g": LazyTensor(n["g"]), "h": LazyTensor(n["h"].ravel()), "knots": LazyTensor(n["knots"]),
        "u_i": LazyTensor(n["u"].reshape(n["M"], 1, -1)), "v_j": LazyTensor(n["v"][None]),
        "X_i": LazyTensor(n["X"][:, :, None]), "Y_j": LazyTensor(n["Y"][:, None]),
        "label_i": LazyTensor(n["label"].astype(float)[:, None, None]),
        "places_j": LazyTensor(np.arange(float(n["N"]))[None, :, None]),
    }
    made["K_jj"] = (-LazyTensor(n["y"][:, None]).sqdist(made["y_j"])).exp()
    made["D_ij"] = made["x_i"].sqdist(made["y_j"])
    made["K_ij"] = (-made["D_ij"]).exp()
    kinds = ["x=Vi(3)", "y=Vj(3)", "b=Vj(2)", "t=Vj(1)"]
    arrays = n["x"], n["y"], n["b"], n["t"][:, None]

    def reduced(reduction, weight=None):
        used = 3 if weight else 2
        run = Genred("SqDist(x,y)", kinds[:used], reduction_op=reduction, axis=1, **({"formula2": weight} if weight else {}))
        return run(*arrays[:used])

    def formula(text):
        kind = [one for one in kinds if one[0] == re.search(r"\((\w)", text).group(1)]
        return ("formula", Genred(f"{text}", kind, reduction_op="Sum", axis=1), [arrays["xybt".index(kind[0][0])]])

    def ranged(lazy):
        rows, columns, pair = (np.asarray(names[key]) for key in ("rows", "columns", "pair"))
        def side(borders, others, pair):
            ends = np.cumsum(pair.sum(axis=1)).astype("int32")
            kept = np.concatenate([np.stack([others[:-1], others[1:]], 1)[one] for one in pair]).astype("int32")
            return np.stack([borders[:-1], borders[1:]], 1).astype("int32"), ends, kept
        lazy.ranges = (*side(rows, columns, pair), *side(columns, rows, pair.T))
        return lazy

    return {**made, "reduced": reduced, "formula": formula, "ranged": ranged}


def run_keops(task):
    """What KeOps has for some rows: of pair formulas their sums over j with weights."""
    import numpy as np

    codes, text = task
    names = page_names(text)
    kind = "f4" if "bspline" in codes[0] else "f8"  # KeOps 2.3 has no splines of doubles
    names.update((key, names[key].astype(kind)) for key in "x y b s t g h u v X Y knots".split())
    lazy = keops_names(names)
    weight = np.linspace(0.5, 1.5, names["N"]).astype(kind)
    w_j = lazy["LazyTensor"](weight[None, :, None])
    made = [eval(code, dict(lazy)) for code in codes]
    for one in made:  # trace_operator() leaves a list, which KeOps cannot add to the tuples of others
        if hasattr(one, "symbolic_variables"):
            one.symbolic_variables = tuple(one.symbolic_variables)
    if isinstance(made[0], tuple) and isinstance(made[0][0], str):
        return [("sums of one", made[0][1](*made[0][2]))]
    if hasattr(made[0], "formula"):
        dims = [one.ndim for one in made]
        if len(made) > 1:
            joined = lazy["LazyTensor"].cat(tuple(made), -1)
        else:
            joined = made[0]
        sums = np.asarray((joined * w_j).sum(axis=1)).reshape(-1, sum(dims))
        sums = np.broadcast_to(sums, (names["M"], sum(dims)))  # one row where no point i is left in the formula
        return [("sums", one) for one in np.split(sums, np.cumsum(dims)[:-1], axis=1)]
    return [("result", one) for one in made]


def ends(code):
    """Whether the code ends in a reduction over points."""
    return bool(re.search(r"axis=|@|reduced\(|solve", code)) or code.startswith("formula(")


def tasks_of(rows):
    def alone(row):
        return ends(row.keops) or any(word in row.keops for word in ALONE)

    pairs = [row for row in rows if not alone(row)]
    groups = [pairs[k:k + JOINED] for k in range(0, len(pairs), JOINED)]
    return groups + [[row] for row in rows if alone(row)]


def expected(kind, made, names):
    """What KeOps' cell should give, from Python's."""
    import numpy as np

    if kind == "result":
        return made
    full = np.asarray(made, float)
    wide = (1, 1) + full.shape[2:] if kind == "sums of one" else (names["M"], names["N"]) + full.shape[2:]
    if kind == "sums of one":
        full = np.broadcast_to(full, (1, names["N"]) + full.shape[2:]).reshape(names["N"], -1)
        return full.sum(axis=0)
    full = np.broadcast_to(full, wide).reshape(names["M"], names["N"], -1)
    return np.einsum("ijk,j->ik", full, np.linspace(0.5, 1.5, names["N"]))


def difference(one, other):
    import numpy as np

    if one.shape != other.shape:
        return f"{one.size} numbers, not {other.size}"
    return float(np.max(np.abs(one - other) / (1 + np.abs(other)), initial=0))


# ---- All ----------------------------------------------------------------------------------------------------------
def compare_c(text, rows, names, build):
    with tempfile.TemporaryDirectory() as folder:
        numbers = in_c(text, [row for row in rows if row.c and row.python], build, Path(folder))
    import numpy as np

    wrong = 0
    for row in rows:
        if not (row.c and row.python):
            continue
        found = numbers.get(row.line, ["failed", "no output"])
        if found[0] == "failed":
            apart = " ".join(found)
        else:
            apart = difference(np.array(found, float), values(eval(row.python, dict(names)))[0])
        if isinstance(apart, str) or apart > BOUND:
            wrong += 1
            print(f"docs/keops.md:{row.line}: C and Python differ: {apart}\n    {row.c}\n    {row.python}")
    return wrong


def compare_keops(text, rows, names, jobs):
    rows, wrong, worst = [row for row in rows if row.keops and row.python], 0, 0.0
    tasks = tasks_of(rows)
    with concurrent.futures.ProcessPoolExecutor(jobs) as pool:
        running = {pool.submit(run_keops, ([row.keops for row in group], text)): group for group in tasks}
        for done in concurrent.futures.as_completed(running):
            group = running[done]
            try:
                results = done.result()
            except ImportError:  # two processes compiled one formula at a time, and this one read half a file
                results = None
            except Exception as error:
                wrong += len(group)
                print(f"docs/keops.md:{[row.line for row in group]}: KeOps: {type(error).__name__}: {error}", flush=True)
                continue
            for row, (kind, theirs) in zip(group, results or run_keops(([row.keops for row in group], text))):
                ours = values(expected(kind, eval(row.python, dict(names)), names))[0]
                apart = difference(ours, values(theirs)[0])
                bound = LOOSE_BOUND if any(word in row.keops for word in LOOSE) else BOUND
                if isinstance(apart, str) or apart > bound:
                    wrong += 1
                    print(f"docs/keops.md:{row.line}: KeOps and Python differ: {apart}\n    {row.keops}\n    {row.python}", flush=True)
                else:
                    worst = max(worst, apart if bound == BOUND else 0)
    print(f"KeOps and Python: {len(rows)} rows, {wrong} differ, the others by {worst:.2g} at most", flush=True)
    return wrong


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", type=Path, default=ROOT / "build/release")
    parser.add_argument("--rows", default="", help="rows alone whose KeOps cell has this pattern")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--without-keops", action="store_true")
    asked = parser.parse_args()
    sys.path.insert(0, str(asked.build / "python"))
    try:
        import rdim  # noqa: F401
    except ImportError as missing:
        print(f"skipped: {missing}")
        return 77
    if not shutil.which(os.environ.get("CC", "cc")):
        print("skipped: no C compiler")
        return 77
    text = PAGE.read_text()
    rows = [row for row in rows_of(text) if re.search(asked.rows, row.keops or "")]
    names = page_names(text)
    wrong = compare_c(text, rows, names, asked.build)
    print(f"C and Python: {sum(bool(row.c and row.python) for row in rows)} rows, {wrong} differ", flush=True)
    if asked.without_keops:
        return wrong > 0
    try:
        import pykeops
    except ImportError as missing:
        print(f"KeOps is not compared: {missing}")
        return wrong > 0
    pykeops.set_verbose(False)
    return wrong + compare_keops(text, rows, names, asked.jobs) > 0


if __name__ == "__main__":
    sys.exit(main())
