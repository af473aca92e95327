"""The examples in Python run, with results that NumPy has, too."""

from __future__ import annotations

import copy
import pathlib
import sys

import pytest

np = pytest.importorskip("numpy")
sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "examples"))
import neighbours  # noqa: E402


def test_neighbours(capsys: pytest.CaptureFixture) -> None:
    pixels, labels = neighbours.digits()
    points, asked = pixels[:600].astype(float), pixels[600:700].astype(float)
    model = neighbours.NearestNeighbours(n_neighbors=4).fit(points, labels[:600])
    squares = ((asked[:, None] - points[None]) ** 2).sum(2)
    distances, indices = model.kneighbors(asked)
    np.testing.assert_allclose(distances, np.sqrt(np.sort(squares, axis=1)[:, :4]))
    np.testing.assert_array_equal(np.take_along_axis(squares, indices, 1), np.sort(squares, axis=1)[:, :4])
    votes = [np.bincount(row, minlength=10).argmax() for row in labels[:600][indices]]
    np.testing.assert_array_equal(model.predict(asked), votes)
    assert model.score(asked, labels[600:700]) > 0.9
    neighbours.main()
    assert capsys.readouterr().out == "0.963 of 899 digits are read as what they are\n"


def test_parameters() -> None:
    """What scikit-learn's clone() does."""
    model = neighbours.NearestNeighbours(n_neighbors=7)
    clone = type(model)(**copy.deepcopy(model.get_params(deep=False)))
    assert clone is not model and clone.n_neighbors is model.n_neighbors
    assert clone.set_params(n_neighbors=2).get_params() == {"n_neighbors": 2}
    with pytest.raises(ValueError, match="n_neighbours"):
        clone.set_params(n_neighbours=2)
    with pytest.raises(ValueError, match="labels"):
        clone.fit(np.zeros((3, 2)), [1])
