"""A classifier by nearest neighbours with the methods that scikit-learn expects; it needs NumPy and rdim alone.

The matrix of distances is part of an expression: it is never stored as a whole."""

from __future__ import annotations

import inspect
import pathlib
from typing import Any

import numpy as np

import rdim as rd


class NearestNeighbours:
    """Votes of the `n_neighbors` nearest points, like sklearn.neighbors.KNeighborsClassifier(algorithm="brute")."""

    def __init__(self, n_neighbors: int = 5) -> None:
        self.n_neighbors = n_neighbors

    # ---- What clone() and Pipeline of scikit-learn ask ----
    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The arguments of the constructor."""
        return {name: getattr(self, name) for name in inspect.signature(type(self)).parameters}

    def set_params(self, **params: Any) -> "NearestNeighbours":
        """Changes arguments of the constructor."""
        known = self.get_params()
        for name, value in params.items():
            if name not in known:
                raise ValueError(f"NearestNeighbours has no parameter {name!r}; it has {', '.join(known)}")
            setattr(self, name, value)
        return self

    def __sklearn_tags__(self) -> Any:
        """What kind of estimator this is; scikit-learn calls it, so its modules are there."""
        from sklearn.utils import ClassifierTags, Tags, TargetTags

        wanted = TargetTags(required=True)
        return Tags(estimator_type="classifier", target_tags=wanted, classifier_tags=ClassifierTags())

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "X_")

    # ---- Points ----
    def fit(self, X: Any, y: Any) -> "NearestNeighbours":
        """Keeps the points and their labels."""
        self.X_ = np.ascontiguousarray(X, dtype=float)
        self.classes_, self.labels_ = np.unique(y, return_inverse=True)
        if len(self.labels_) != len(self.X_) or not 1 <= self.n_neighbors <= len(self.X_):
            raise ValueError(f"{len(self.X_)} points, {len(self.labels_)} labels, n_neighbors={self.n_neighbors}")
        return self

    def kneighbors(self, X: Any) -> tuple[np.ndarray, np.ndarray]:
        """Distances of the nearest points and which ones they are, the nearest one first."""
        x, y = rd.asarray(np.asarray(X, dtype=float)), rd.asarray(self.X_)
        squares = rd.sum((rd.pairs(x)[:, None] - rd.pairs(y)[None]) ** 2, axis=2)
        least = rd.top_k(squares, self.n_neighbors, smallest=True)
        places = rd.arg_top_k(squares, self.n_neighbors, smallest=True)
        distances, indices = rd.compute(rd.sqrt(least), places)
        return distances, indices

    def predict(self, X: Any) -> np.ndarray:
        """The label that most neighbours have, the first one of several."""
        votes = self.labels_[self.kneighbors(X)[1]]
        counts = rd.sum(rd.asarray(votes)[:, :, None] == np.arange(len(self.classes_)), axis=1)
        return self.classes_[rd.argmax(counts, axis=1).compute()]

    def score(self, X: Any, y: Any) -> float:
        """The share of labels that are predicted."""
        return float(np.mean(self.predict(X) == np.asarray(y)))


def digits() -> tuple[np.ndarray, np.ndarray]:
    """1,797 handwritten digits as images of 64 pixels, and which digits they are."""
    data = pathlib.Path(__file__).parents[2] / "examples/data"
    pixels, labels = np.load(data / "digits_pixels.npy"), np.load(data / "digits_labels.npy")
    return pixels.reshape(len(labels), -1), labels


def main() -> None:
    pixels, labels = digits()
    half = len(labels) // 2
    model = NearestNeighbours(n_neighbors=3).fit(pixels[:half], labels[:half])
    print(f"{model.score(pixels[half:], labels[half:]):.3f} of {len(labels) - half} digits are read as what they are")


if __name__ == "__main__":
    main()
