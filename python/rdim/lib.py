"""NumPy's place of windows: rdim.lib.stride_tricks.sliding_window_view."""

from __future__ import annotations

from types import SimpleNamespace

from ._core import broadcast_to
from ._manipulation import broadcast_arrays, broadcast_shapes, sliding_window_view

__all__ = ["stride_tricks"]

stride_tricks = SimpleNamespace(broadcast_arrays=broadcast_arrays, broadcast_shapes=broadcast_shapes,
                                broadcast_to=broadcast_to, sliding_window_view=sliding_window_view)
