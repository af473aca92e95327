"""Random numbers that are made where they are read: they take no memory until they are computed.

Names are those of numpy.random.Generator; the numbers are rdim's own, of Philox 4x32-10."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from . import _core
from ._core import Array
from ._leaves import asarray
from ._whole import is_whole

__all__ = ["Generator", "default_rng"]

_Size = int | Sequence[int] | None
_MASK = (1 << 64) - 1


def _mixed(z: int) -> int:
    """One step of SplitMix64 (Steele, Lea and Flood, 2014): draws in a row have keys far apart."""
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & _MASK
    z = (z ^ z >> 27) * 0x94D049BB133111EB & _MASK
    return z ^ z >> 31


def _shape(size: _Size, *parameters: Any) -> tuple[int, ...]:
    """What is asked for, or without it the shape that parameters have together."""
    if size is not None:
        return tuple(size) if isinstance(size, Sequence) else (size,)
    arrays = [x for x in parameters if not isinstance(x, (int, float))]
    if not arrays:
        return ()
    total = asarray(arrays[0])
    for x in arrays[1:]:
        total = total + asarray(x)
    return tuple(total.shape)


class Generator:
    """Draws in a row, each with numbers of its own; equal seeds give equal rows of draws."""

    def __init__(self, seed: int | None = None) -> None:
        if seed is None:
            seed = int.from_bytes(os.urandom(8), "little")
        if not isinstance(seed, int) or not 0 <= seed <= _MASK:
            raise ValueError(f"rdim.random: seed is {seed!r}, it is 0 to 2**64 - 1, or None for any")
        self._seed, self._drawn = seed, 0

    def _key(self) -> int:
        self._drawn += 1
        return _mixed(_mixed(self._seed) + self._drawn * 0x9E3779B97F4A7C15 & _MASK)

    def random(self, size: _Size = None, dtype: Any = "float64") -> Array:
        """From 0 to below 1."""
        return _core.random_numbers("uniform", self._key(), _shape(size), dtype)

    def uniform(self, low: Any = 0.0, high: Any = 1.0, size: _Size = None) -> Array:
        """From low to below high."""
        made: Array = self.random(_shape(size, low, high)) * (high - low) + low
        return made

    def standard_normal(self, size: _Size = None, dtype: Any = "float64") -> Array:
        """Of a normal distribution, with mean 0 and standard deviation 1."""
        return _core.random_numbers("normal", self._key(), _shape(size), dtype)

    def normal(self, loc: Any = 0.0, scale: Any = 1.0, size: _Size = None) -> Array:
        """Of a normal distribution, with mean loc and standard deviation scale."""
        made: Array = self.standard_normal(_shape(size, loc, scale)) * scale + loc
        return made

    def standard_exponential(self, size: _Size = None, dtype: Any = "float64") -> Array:
        """Of an exponential distribution, with mean 1."""
        return _core.random_numbers("exponential", self._key(), _shape(size), dtype)

    def exponential(self, scale: Any = 1.0, size: _Size = None) -> Array:
        """Of an exponential distribution, with mean scale."""
        made: Array = self.standard_exponential(_shape(size, scale)) * scale
        return made

    def integers(self, low: int, high: int | None = None, size: _Size = None, dtype: Any = "int64",
                 endpoint: bool = False) -> Array:
        """Whole numbers from low to below high, of one argument from 0 to below it; with endpoint, to high."""
        if high is None:
            low, high = 0, low
        if endpoint:
            high += 1
        made = _core.random_integers(self._key(), _shape(size), low, high)
        return made if dtype in ("int64", int) else _core.astype(made, dtype)

    def bits(self, size: _Size = None) -> Array:
        """64 random bits each, uint64."""
        return _core.random_numbers("bits", self._key(), _shape(size), "uint64")

    def permutation(self, x: Any, axis: int = 0) -> Array:
        """0 to x - 1 in random order; of an array its parts along an axis, all rows alike."""
        if is_whole(x):
            return _core.permutation(self._key(), int(x))
        array = asarray(x)
        if not -array.ndim <= axis < array.ndim:
            raise _core.AxisError(f"rdim.random.permutation: no axis {axis} in an array of {array.ndim} axes")
        return _core.take(array, _core.permutation(self._key(), array.shape[axis]), axis % array.ndim)

    def choice(self, a: Any, size: _Size = None, replace: bool = True, axis: int = 0) -> Array:
        """Parts of a, or of 0 to a - 1, drawn with or without putting them back."""
        n = int(a) if is_whole(a) else asarray(a).shape[axis]
        shape = _shape(size)
        if replace:
            places = self.integers(0, n, shape)
        else:
            wanted = 1
            for extent in shape:
                wanted *= extent
            if wanted > n:
                raise ValueError(f"rdim.random.choice: {wanted} of {n} without putting them back")
            places = _core.reshape(_core.permutation(self._key(), n)[:wanted], shape)
        return places if is_whole(a) else _core.take(asarray(a), places, axis)


def default_rng(seed: int | None = None) -> Generator:
    """A Generator, like numpy.random.default_rng."""
    return Generator(seed)
