"""The tables of docs/keops.md: what stands there in Python and in C gives the same numbers, and where pykeops is installed
and RDIM_TESTS is all or every, KeOps' own."""

from __future__ import annotations

import importlib.util
import os
import pathlib
import shutil

import pytest

import rdim as rd

pytest.importorskip("numpy")
ROOT = pathlib.Path(__file__).parents[2]
BUILD = pathlib.Path(rd.__file__).absolute().parents[2]
spec = importlib.util.spec_from_file_location("peers_keops", ROOT / "tests/peers/keops.py")
assert spec and spec.loader
peers = importlib.util.module_from_spec(spec)
spec.loader.exec_module(peers)
TEXT = peers.PAGE.read_text()
ROWS = peers.rows_of(TEXT)


def test_rows_have_code() -> None:
    assert len(ROWS) > 100
    assert all(row.python or not row.keops for row in ROWS)


@pytest.mark.skipif(not shutil.which(os.environ.get("CC", "cc")) or not (BUILD / "librdim_parts.a").exists(),
                    reason="no C compiler, or no library beside the package")
def test_c_has_the_same_numbers(capsys: pytest.CaptureFixture[str]) -> None:
    assert peers.compare_c(TEXT, ROWS, peers.page_names(TEXT), BUILD) == 0, capsys.readouterr().out


def test_other_numbers_are_found(capsys: pytest.CaptureFixture[str]) -> None:
    if not (BUILD / "librdim_parts.a").exists():
        pytest.skip("no library beside the package")
    wrong = next(row for row in ROWS if row.python == "x_i + y_j")
    wrong.c, right = "rd_sub(x_i, y_j)", wrong.c
    try:
        assert peers.compare_c(TEXT, [wrong], peers.page_names(TEXT), BUILD) == 1
    finally:
        wrong.c = right


def plain_soft_dtw(a: list[float], b: list[float], gamma: float) -> float:
    """r[i, j] = (a[i] - b[j])^2 + the soft minimum of the three before it."""
    np = pytest.importorskip("numpy")
    r = np.full((len(a) + 1, len(b) + 1), np.inf)
    r[0, 0] = 0
    for i, j in np.ndindex(len(a), len(b)):
        before = np.array([r[i, j + 1], r[i + 1, j], r[i, j]])
        least = before.min()
        r[i + 1, j + 1] = (a[i] - b[j]) ** 2 + least - gamma * np.log(np.exp((least - before) / gamma).sum())
    return float(r[-1, -1])


@pytest.mark.parametrize("gamma", [0.5, 0.01])
def test_soft_dtw_is_the_recurrence(gamma: float) -> None:
    np = pytest.importorskip("numpy")
    names = peers.page_names(TEXT)
    found = names["soft_dtw"](names["x_i"], names["y_j"], gamma)
    want = [[plain_soft_dtw(a, b, gamma) for b in names["y"]] for a in names["x"]]
    np.testing.assert_allclose(found, want, rtol=1e-12)


def test_keops_has_the_same_numbers(capsys: pytest.CaptureFixture[str]) -> None:
    if os.environ.get("RDIM_TESTS") not in ("all", "every"):
        pytest.skip("KeOps compiles for a quarter of an hour: RDIM_TESTS is not all")
    pytest.importorskip("pykeops", reason="pykeops is not installed: KeOps is not compared")
    assert peers.compare_keops(TEXT, ROWS, peers.page_names(TEXT), 2) == 0, capsys.readouterr().out
