"""The functions of numpy.lib.stride_tricks that are safe on lazy arrays; xarray's rolling() asks for them here."""

from __future__ import annotations

from .._core import broadcast_to, sliding_window_view
from .._manipulation import broadcast_arrays, broadcast_shapes

__all__ = ["broadcast_arrays", "broadcast_shapes", "broadcast_to", "sliding_window_view"]
