"""What users of NumPy, xarray, KeOps, OpenCV, scikit-learn, pandas and PyTorch write runs by vectors.

Each line of idioms.py is explained, and compared with NumPy where NumPy has it.  Operations that run element by element
are told by lines "scalar in stage .." of explain.  Some reasons nobody can mend, as C order, or memory, decides: FORBIDDEN.
What is left is listed here with its reason, so that the list can only shrink."""

import re
import warnings

import pytest

import rdim as rd

np = pytest.importorskip("numpy")
from idioms import data, idioms  # noqa: E402

# Beginnings of sentences of src/kernels/scalar_residue.def whose rows are `kept`.
FORBIDDEN = ("its steps follow each other in C order", "its results so far follow each other in C order",
             "the caller's function", "which cell takes an element", "memory says", "rows are put in order", "C's library",
             "processors divide ints", "64 times in all", "its operands and results lie in opposite orders")

# Each a line of idioms.py: why it is left.
LEFT = {
    "((X[:, None] - X[:200]) ** 2).sum(axis=2).min(axis=1).sum()": "rows are copied, which keeps strips from going over them",
    "N.sum(s * n, by=label, groups=30) / N.sum(n, by=label, groups=30)": "a cast beside a label costs less than an array",
    "N.ranks(s)": "a choice beside a scan costs less than an array",
    "N.ewm_mean(s, alpha=0.1)": "a choice a block, beside vectors of its elements",
    "-N.log(N.take_along_axis(N.exp(logits) / N.exp(logits).sum(axis=1, keepdims=True), target[:, None], axis=1)).mean()":
        "a logarithm a row, between two folds",
    "N.maximum(0, 1 - (2 * Y - 1) * (X @ beta)).mean()": "a step a row, beside vectors of its elements",
    "1 - ((X @ beta - Y) ** 2).sum() / ((Y - Y.mean()) ** 2).sum()": "a step a row, beside vectors of its elements",
    "N.average(t.mean(axis=2), axis=1, weights=area)": "a step a row, beside vectors of its elements",
    "W[target % 40]": "a remainder a row, beside vectors of its elements",
}
SHARE = 20  # percent of a stage's price from which on it counts


@pytest.fixture(scope="module")
def leaves():
    return data()


def residue(text):
    """Reasons of stages that are ours to mend, each with its share in percent."""
    found = []
    for share, reasons in re.findall(r"^scalar in stage \d+: (\d+) % of its price, about [^:]*: (.*)$", text, re.M):
        ours = [one for one in re.split(r"; (?=[^;]* \(\d+ of \d+ operations)", reasons)
                if not any(f"): {sentence}" in one for sentence in FORBIDDEN)]
        if ours and int(share) >= SHARE:
            found.append((int(share), ours))
    return found


def agree(mine, want):
    """As far as rounding allows: sums of f32 in another order are the coarsest."""
    assert mine.shape == want.shape
    if want.dtype.kind == "b":
        np.testing.assert_array_equal(mine, want)
        return
    near = 1e-3 if max(mine.dtype.itemsize, want.dtype.itemsize) <= 4 or want.dtype == np.float32 else 1e-6
    finite = np.abs(want[np.isfinite(want)].astype(float))
    np.testing.assert_allclose(mine.astype(float), want.astype(float), rtol=near, atol=near * finite.max(initial=1))


def test_there_are_many():
    lines = [line for _, line, _ in idioms()]
    assert len(lines) >= 300 and set(LEFT) <= set(lines)


@pytest.mark.parametrize("group", sorted({group for group, _, _ in idioms()}))
def test_idioms(group, leaves):
    lazy = {name: rd.asarray(values) for name, values in leaves.items()}
    for of, line, in_numpy in idioms():
        if of != group:
            continue
        mine = eval(line, {"N": rd, **lazy})
        left = residue(rd.explain(mine)) if isinstance(mine, rd.Array) else []
        assert not left or line in LEFT, f"{line}: {left}"
        if in_numpy:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                want = np.asarray(eval(in_numpy, {"N": np, **leaves}))
            try:
                agree(np.asarray(mine), want)
            except AssertionError as error:
                raise AssertionError(f"{line}: {error}") from None
