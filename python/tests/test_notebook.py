"""The notebook of the climate example runs in a kernel, and its numbers are those of the C example."""

from __future__ import annotations

import os
import pathlib
import re

import pytest

import rdim as rd

np = pytest.importorskip("numpy")
nbformat = pytest.importorskip("nbformat", reason="nbformat is not installed: the notebook is not run")
nbclient = pytest.importorskip("nbclient", reason="nbclient is not installed: the notebook is not run")
pytest.importorskip("ipykernel", reason="ipykernel is not installed: the notebook is not run")

ROOT = pathlib.Path(__file__).parents[2]
NOTEBOOK = ROOT / "python/examples/climate.ipynb"

# What the C example does not have, by NumPy, in the notebook's own kernel.
ORACLE = """
data = np.load(root / "examples/data/coads_sst.npy").astype("f8")
weights = np.broadcast_to(np.cos(np.radians(latitude))[:, None], data.shape[1:])
def weighted(month, mask):
    here = mask & ~np.isnan(month)
    return np.average(month[here], weights=weights[here])
near = np.abs(latitude)[:, None] <= 23
want = [weighted(month, np.broadcast_to(near, month.shape)) for month in data]
np.testing.assert_allclose(tropics_c, want, rtol=1e-6)
slopes = np.tensordot(np.arange(12) - 5.5, data, 1) / np.sum((np.arange(12) - 5.5) ** 2)
np.testing.assert_allclose(trend_c, slopes, rtol=1e-5, atol=1e-6)
np.testing.assert_allclose(by_latitude[20:70], np.nanmean(mean_c[20:70], axis=1), rtol=1e-5)
np.testing.assert_allclose(anomaly_c, data - mean_c, atol=1e-5)
print("as NumPy")
"""


@pytest.fixture(scope="module")
def run():
    """The notebook after a run, with the oracle as its last cell."""
    book = nbformat.read(NOTEBOOK, as_version=4)
    book.cells.append(nbformat.v4.new_code_cell(ORACLE))
    here = str(pathlib.Path(rd.__file__).parents[1])  # the kernel finds the package that is tested
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, [here, os.environ.get("PYTHONPATH")]))}
    nbclient.NotebookClient(book, timeout=120, kernel_name="python3",
                            resources={"metadata": {"path": str(NOTEBOOK.parent)}}).execute(env=environment)
    return book


def printed(book) -> list[str]:
    """Lines of all cells.  On a busy machine a line may come in two pieces."""
    return [line for cell in book.cells if cell.cell_type == "code"
            for line in "".join(out.text for out in cell.outputs
                                if out.output_type == "stream" and out.name == "stdout").splitlines()]


def test_numbers_are_those_of_c(run):
    lines = printed(run)
    expected = (ROOT / "examples/expected/climate.txt").read_text().splitlines()
    months = {line.split()[0]: line.split()[1] for line in expected if re.match(r"  [A-Z]\w+ +\d", line)}
    assert len(months) == 12
    shown = {line.split()[0]: line.split()[1] for line in lines if line.startswith("  ") and len(line.split()) == 3}
    assert shown == months
    others = [line.strip() for line in expected if not re.match(r"  [A-Z]|Sea|Time mean along", line)]
    assert len(others) == 4 and [line for line in others if line not in lines] == []


def test_numbers_are_those_of_numpy(run):
    assert printed(run)[-1] == "as NumPy"


def test_expressions_are_shown_as_tables(run):
    shown = [out.data["text/html"] for cell in run.cells if cell.cell_type == "code" for out in cell.outputs
             if out.output_type == "execute_result"]
    assert len(shown) == 2
    for part in ("(90, 180)", "float32", "<svg"):
        assert part in shown[1]


def test_file_has_no_outputs():
    """They would be of another machine, and grow the repository with each run."""
    assert all(not cell.outputs and cell.execution_count is None
               for cell in nbformat.read(NOTEBOOK, as_version=4).cells if cell.cell_type == "code")
