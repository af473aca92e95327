"""C source that is compiled while a program runs, by the system's compiler."""

from __future__ import annotations

import ctypes
import functools
import os
import shlex
import shutil
import subprocess
import tempfile
from typing import Any

from . import _core

__all__ = ["address", "library"]


def address(pointer: Any) -> int:
    """Of a ctypes function."""
    return ctypes.cast(pointer, ctypes.c_void_p).value or 0


def _command() -> list[str]:
    command = shlex.split(os.environ.get("RDIM_CC") or "cc")
    if not command or not shutil.which(command[0]):
        raise RuntimeError(f"rdim: there is no C compiler {' '.join(command)!r}, which statements in C need; an "
                           'expression, "return ...;", or text for rdim.map() needs none')
    return command


@functools.lru_cache(maxsize=None)
def library(what: str, source: str) -> Any:
    """The source as a library, which stays loaded, as nodes may call it; `what` is for the sentence of an error."""
    with tempfile.TemporaryDirectory(prefix="rdim-") as folder:
        file, made = os.path.join(folder, "f.c"), os.path.join(folder, "f.so")
        with open(file, "w", encoding="utf-8") as written:
            written.write(source)
        command = [*_command(), "-O2", "-fPIC", "-shared", "-ffp-contract=off", "-w", "-o", made, file, "-lm"]
        ran = subprocess.run(command, capture_output=True, text=True, check=False)
        if ran.returncode:
            raise _core.TextError(f"rdim: {what} does not compile:\n{ran.stderr.strip()}")
        return ctypes.CDLL(made)
