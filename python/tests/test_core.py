"""What the extension does by itself: handles, errors, results."""

import numpy as np
import pytest

import rdim as rd


def test_operators_and_reductions_as_numpy():
    rng = np.random.default_rng(1)
    for _ in range(200):
        shape = tuple(rng.integers(0, 5, rng.integers(1, 4)))
        x, y = rng.standard_normal(shape), rng.standard_normal(shape)
        a, b = rd.asarray(x), rd.asarray(y)
        axis = int(rng.integers(-len(shape), len(shape)))
        np.testing.assert_allclose(np.asarray(rd.compute(rd.sum((a + 1) * b - a, axis=axis))),
                                   ((x + 1) * y - x).sum(axis=axis), atol=1e-12)


def test_errors_are_the_librarys_sentences():
    x = rd.asarray(np.zeros((2, 3)))
    with pytest.raises(rd.AxisError, match=r"rdim.sum: no axis 3 in an operand of rank 2, shape \(2, 3\)") as caught:
        rd.sum(x, axis=3)
    assert isinstance(caught.value, IndexError) and isinstance(caught.value, rd.Error)
    with pytest.raises(rd.ShapeError):
        x + rd.asarray(np.zeros(2))
