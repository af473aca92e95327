"""Programs that do one job, in turn: their times, and whether they agree.

A process's own seconds are user and system time of it and of all that it waited for, as wait4() has them.  They hardly
change where other programs run beside, which wall time does.  Runs alternate, a, b, c, a, b, c, so that neighbours meet
the same machine; a ratio is the median of those of neighbours."""
import os
import shlex
import statistics
import subprocess
import time
from dataclasses import dataclass


@dataclass
class Run:
    wall: float
    cpu: float


def once(command, output):
    """One run of a command, a list, or a string for the shell; `output` is removed first."""
    if output and os.path.exists(output):
        os.remove(output)
    begin = time.perf_counter()
    with open("stdout", "wb") as out, open("stderr", "wb") as err:
        p = subprocess.Popen(command, shell=isinstance(command, str), stdin=subprocess.DEVNULL, stdout=out, stderr=err)
        _, status, used = os.wait4(p.pid, 0)
        wall = time.perf_counter() - begin
        p.returncode = os.waitstatus_to_exitcode(status)
    if p.returncode:
        with open("stderr", encoding="utf-8", errors="replace") as why:
            text = command if isinstance(command, str) else shlex.join(command)
            raise RuntimeError(f"failed with {p.returncode}: {text}\n{why.read()[:600]}")
    return Run(wall, used.ru_utime + used.ru_stime)


def race(commands, outputs, reps):
    """{name: its runs}, of {name: command} and {name: output}."""
    runs = {name: [] for name in commands}
    for _ in range(reps):
        for name, command in commands.items():
            runs[name].append(once(command, outputs[name]))
    return runs


def ratio(ours, theirs, what):
    """Ours by theirs: the median of neighbouring runs."""
    return statistics.median(getattr(a, what) / max(getattr(b, what), 1e-3) for a, b in zip(ours, theirs))


def median(runs, what):
    return statistics.median(getattr(r, what) for r in runs)
