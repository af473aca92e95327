"""How evaluations run: threads, the same bits everywhere, measuring, and who is told of progress."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from types import TracebackType
from typing import Any, TextIO

from . import _core

__all__ = ["options", "progress"]

_Told = Callable[[float, float], object]
_NAMES = ("threads", "deterministic", "measure", "progress")


class options:
    """Options of this thread's evaluations, within a with statement, like numpy.errstate.

    threads: how many run at most, 0: as many as there are.  deterministic: no BLAS, so that all bits are the same
    on every machine.  measure: try several ways of running first, and keep the fastest.  progress: is called with
    how much is done, 0 to 1, and the seconds that are left, about ten times a second; None: nobody is told."""

    def __init__(self, **given: Any) -> None:
        for name in given:
            if name not in _NAMES:
                raise TypeError(f"rdim.options: there is no option {name}; there are {', '.join(_NAMES)}")
        threads, told = given.get("threads", 0), given.get("progress")
        if not isinstance(threads, int) or not 0 <= threads < 1 << 31:
            raise ValueError(f"rdim.options: threads is {threads!r}, it is 0 or how many")
        if told is not None and not callable(told):
            raise TypeError(f"rdim.options: progress is {told!r}, it is called with two numbers")
        self._given = given
        self._old: list[tuple[Any, ...]] = []

    def __enter__(self) -> options:
        old = _core.set_options(0, False, False, None)
        self._old.append(old)
        _core.set_options(*(self._given.get(name, value) for name, value in zip(_NAMES, old)))
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        _core.set_options(*self._old.pop())


class _Line:
    """A bar of characters on one line, where there is no tqdm."""

    def __init__(self, file: TextIO) -> None:
        self.file = file

    def tell(self, done: float, left: float) -> None:
        bar = "#" * int(40 * done)
        rest = f"{left:.0f} s left" if left == left and left < 1e9 else ""
        self.file.write(f"\r{done:4.0%} |{bar:<40}| {rest:<14}")
        self.file.flush()

    def close(self) -> None:
        self.file.write("\n")


class _Tqdm:
    def __init__(self, tqdm: Any, file: TextIO) -> None:
        self.bar = tqdm(total=1.0, file=file, bar_format="{percentage:3.0f}%|{bar}| {elapsed}<{postfix}", leave=True)

    def tell(self, done: float, left: float) -> None:
        self.bar.set_postfix_str(f"{left:.0f} s left", refresh=False)
        self.bar.n = done
        self.bar.refresh()

    def close(self) -> None:
        self.bar.close()


class progress(options):
    """A bar for each long evaluation within a with statement, by tqdm where that is installed."""

    def __init__(self, file: TextIO | None = None) -> None:
        super().__init__(progress=self._tell)
        self._file = file or sys.stderr
        self._bar: _Line | _Tqdm | None = None

    def _new_bar(self) -> _Line | _Tqdm:
        try:
            tqdm: Any = importlib.import_module("tqdm.auto")
        except ImportError:
            return _Line(self._file)
        return _Tqdm(tqdm.tqdm, self._file)

    def _tell(self, done: float, left: float) -> None:
        self._bar = self._bar or self._new_bar()
        self._bar.tell(done, left)
        if done >= 1:
            self._close()

    def _close(self) -> None:
        if self._bar:
            self._bar.close()
        self._bar = None

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        super().__exit__(kind, error, trace)
        self._close()
