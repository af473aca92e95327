"""Dask's arrays and rdim's: one becomes the other, and chunks may be rdim's."""

from __future__ import annotations

import numpy as np
import pytest

import rdim as rd

da = pytest.importorskip("dask.array", reason="Dask is not installed: it is not tested")
A = np.random.default_rng(3).random((7, 11))


def test_asarray_computes_once() -> None:
    calls: list[int] = []
    chunks = da.from_array(A, chunks=(3, 5))
    d = chunks.map_blocks(lambda block: calls.append(1) or block, dtype=float, meta=np.empty((0, 0)))
    x = rd.asarray(d)
    made = len(calls)
    assert made == 9, "each chunk once, when asarray() is called"
    np.testing.assert_array_equal((x * 2).compute(), A * 2)
    assert len(calls) == made
    assert isinstance(x + d, rd.Array) and isinstance(d + x, rd.Array)
    np.testing.assert_array_equal((d + x).compute(), A + A)


CHUNKED = {
    "blocks": (lambda e: e, A * 2),
    "sum": (lambda e: e.sum(axis=0), (A * 2).sum(0)), "mean": (lambda e: e.mean(), (A * 2).mean()),
    "std": (lambda e: e.std(axis=1), (A * 2).std(1)), "part": (lambda e: (e + 1)[2:5, ::-1], (A * 2 + 1)[2:5, ::-1]),
}


@pytest.mark.parametrize("name", CHUNKED)
def test_chunks_are_arrays(name: str) -> None:
    function, want = CHUNKED[name]
    e = da.from_array(A, chunks=(3, 5)).map_blocks(lambda block: rd.asarray(block) * 2, dtype=float)
    got = function(e).compute()
    assert isinstance(got, rd.Array)
    np.testing.assert_allclose(np.asarray(got), want, rtol=1e-14)


def test_array_in_chunks() -> None:
    d = da.from_array(rd.asarray(A) * 2, chunks=(3, 5))
    np.testing.assert_allclose(np.asarray(d.sum(axis=1).compute()), (A * 2).sum(1), rtol=1e-14)
