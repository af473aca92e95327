"""Fourier transforms belong to libraries for them: these evaluate their arguments and are NumPy's."""

from __future__ import annotations

from typing import Any, TYPE_CHECKING

from ._evaluated import evaluated

__all__ = ["fft", "fft2", "fftfreq", "fftn", "fftshift", "hfft", "ifft", "ifft2", "ifftn", "ifftshift", "ihfft",
           "irfft", "irfft2", "irfftn", "rfft", "rfft2", "rfftfreq", "rfftn"]

globals().update({name: evaluated("fft", name) for name in __all__ if not name.endswith("freq")})


def _frequencies(name: str, n: int, d: float, dtype: Any, device: Any) -> Any:
    from . import _core

    _core.zeros((), device=device)
    found = evaluated("fft", name)(n, d)
    return found if dtype is None else _core.astype(found, dtype)


def fftfreq(n: int, d: float = 1.0, *, dtype: Any = None, device: Any = None) -> Any:
    """The frequencies of fft(), as numpy.fft.fftfreq."""
    return _frequencies("fftfreq", n, d, dtype, device)


def rfftfreq(n: int, d: float = 1.0, *, dtype: Any = None, device: Any = None) -> Any:
    """The frequencies of rfft(), as numpy.fft.rfftfreq."""
    return _frequencies("rfftfreq", n, d, dtype, device)


if TYPE_CHECKING:  # names that are made above in a loop

    def __getattr__(name: str) -> Any: ...
