"""What a program of a user is, and how it is timed beside a hand-written loop and other libraries."""

from __future__ import annotations

import ctypes
import statistics
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Callable

import numpy as np

Arrays = dict[str, Any]


@dataclass
class Program:
    """One program as a user would write it first.

    `inputs` makes the arrays, `rdim` returns lazy expressions or a tuple of them, `peers` holds the same program for other
    libraries by name ("numpy", "scipy", "torch", "jax", "bottleneck"), and `hand` calls a function of the C file of the set
    with the arrays and a fresh result.
    """

    name: str
    field: str
    inputs: Callable[[np.random.Generator], Arrays]
    rdim: Callable[[Any, Arrays], Any]
    peers: dict[str, Callable[[Any, Arrays], Any]]
    hand: Callable[[ctypes.CDLL, Arrays], Any] | None = None
    tolerance: float = 1e-4
    notes: str = ""
    tags: list[str] = field(default_factory=list)


def pointer(array: np.ndarray) -> ctypes.c_void_p:
    """The address of an array for a call of a C function."""
    return ctypes.c_void_p(array.ctypes.data)


def compiled(source: Path, folder: Path) -> ctypes.CDLL:
    """The library of the hand-written loops of one set, compiled for this machine."""
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / (source.stem + ".so")
    newest = max(path.stat().st_mtime for path in (source, *source.parent.glob("*.h")))
    if not target.exists() or target.stat().st_mtime < newest:
        flags = ["-O3", "-march=native", "-ffast-math", "-fopenmp", "-fPIC", "-shared"]
        subprocess.run(["cc", *flags, str(source), "-o", str(target), "-lm"], check=True)
    return ctypes.CDLL(str(target))


def seconds(run: Callable[[], Any], budget: float, clock: Callable[[], float] = time.perf_counter) -> float:
    """The least time of a call, over calls that take `budget` seconds together, and at least three."""
    best, spent, calls = float("inf"), 0.0, 0
    while spent < budget or calls < 3:
        start = clock()
        run()
        taken = clock() - start
        best, spent, calls = min(best, taken), spent + taken, calls + 1
    return best


def geometric_mean(values: list[float]) -> float:
    return statistics.geometric_mean(values) if values else float("nan")
