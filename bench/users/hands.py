"""Calls of the loops written by hand in C."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from program import pointer


def call(function: Any, *arguments: Any) -> Any:
    """Calls a C function: arrays go as addresses, ints as long, floats as double.  Returns the last argument."""
    function(*(pointer(value) if isinstance(value, np.ndarray) else
               ctypes.c_long(value) if isinstance(value, int) else ctypes.c_double(value) for value in arguments))
    return arguments[-1]


def empty(shape: Any, dtype: str = "f4") -> np.ndarray:
    """A fresh result, as a call of the library makes one."""
    return np.empty(shape, dtype=dtype)
