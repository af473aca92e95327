"""Functions that are NumPy's: they evaluate their arguments when they are called, and results become Arrays.

They are fits, texts and files, functions of the program's own along an axis: nothing that fuses with what is around."""

from __future__ import annotations

from typing import Any

from ._evaluated import _arrays, _values, evaluated

__all__ = [
    "apply_along_axis", "apply_over_axes", "array2string", "array_repr", "array_str", "bartlett", "blackman", "choose",
    "common_type", "einsum_path", "fromiter", "fromstring", "genfromtxt", "hamming", "hanning",
    "i0", "isscalar", "kaiser", "loadtxt", "may_share_memory", "min_scalar_type", "packbits",
    "piecewise", "poly", "polyadd", "polyder", "polydiv", "polyfit", "polyint", "polymul", "polysub", "real_if_close", "roots", "save",
    "savetxt", "savez", "savez_compressed", "shares_memory", "sort_complex", "trim_zeros", "unpackbits",
]

globals().update({name: evaluated("", name) for name in __all__})


def foreign(ufunc: Any, method: str, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A universal function that is not NumPy's, such as those of scipy.special, of the elements."""
    inputs = tuple(map(_values, inputs))
    found = getattr(ufunc, method)(*inputs, **{key: _values(one) for key, one in kwargs.items()})
    if found is None or kwargs.get("out") is not None:
        return found
    return _arrays(found)
