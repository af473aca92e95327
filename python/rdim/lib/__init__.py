"""Modules of NumPy's numpy.lib that other libraries ask a namespace of arrays for."""

from __future__ import annotations

from . import stride_tricks

__all__ = ["stride_tricks"]
