#!/usr/bin/env python3
"""nests.py BUILD [BUILD..]: what compiled nests cost until they run: the time to make their text, the compiler's time,
and memory of the process that plans them.

Expressions are those of the sweep's seeds 1 to 200 (--first, --count), all compiled (RDIM_CODEGEN=always), with an empty
cache.  The time for a text is the least of --reps in each of --processes.  Of the compiler, `RDIM_CC` names a program that starts `cc` and writes
down what it took; the processor's time (`cpu`) changes less than that on the clock where other programs run beside.
Several builds are measured in turn, --turns times, and the least counts; then the last lines compare the last build with
the first.  On a busy machine two runs of one build differ by a tenth."""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile

# Python without its modules starts in a hundredth of a second, which is not counted.
TIMER = """#!{python} -IS
import os, time
begun = time.perf_counter()
pid = os.posix_spawn({cc!r}, [{cc!r}] + __import__("sys").argv[1:], os.environ)
_, status, used = os.wait4(pid, 0)
taken = time.perf_counter() - begun
with open({log!r}, "a") as log:
    log.write("%d %.6f %.6f %d\\n" % (status, used.ru_utime + used.ru_stime, taken, used.ru_maxrss))
os._exit(os.waitstatus_to_exitcode(status) if os.WIFEXITED(status) else 1)
"""


def nests(build, args, reps, extra):
    """Lines of rdim-nests: those of nests, and that of the process."""
    command = [os.path.join(build, "bench/rdim-nests"), str(args.first), str(args.count), str(reps)]
    with tempfile.TemporaryDirectory() as cache:
        env = {**os.environ, "RDIM_CODEGEN": "always", "XDG_CACHE_HOME": cache, **extra}
        done = subprocess.run(command, env=env, stdout=subprocess.PIPE, check=False)
    if done.returncode:
        sys.exit(f"nests.py: {command[0]} ended with {done.returncode}")
    rows = [json.loads(line) for line in done.stdout.decode().splitlines()]
    return rows[:-1], rows[-1]


def texts(build, args):
    """Microseconds of each nest.  Nothing is compiled."""
    rows, process = nests(build, args, args.reps, {"RDIM_TIER1": "cache"})
    return [row["text_us"] for row in rows], process["peak_kib"]


def compilations(build, args):
    """Of each run of the compiler, in the order of plans: seconds of the processor, and on the clock; its KiB."""
    with tempfile.TemporaryDirectory() as folder:
        timer, log = os.path.join(folder, "cc"), os.path.join(folder, "log")
        with open(timer, "w", encoding="utf-8") as to:
            to.write(TIMER.format(python=sys.executable, cc=args.cc, log=log))
        os.chmod(timer, 0o700)
        open(log, "w", encoding="utf-8").close()
        _, process = nests(build, args, 0, {"RDIM_TIER1": "sync", "RDIM_CC": timer})
        with open(log, encoding="utf-8") as lines:
            rows = [[float(x) for x in line.split()] for line in lines]
    return rows, process["peak_kib"]


def least(turns):
    """Of each nest the least of all turns."""
    if len({len(turn) for turn in turns}) != 1:
        sys.exit("nests.py: the numbers of nests differ from turn to turn")
    return [min(values) for values in zip(*turns)]


def measure(args):
    """Of each build: the rows of its table, and how many texts the compiler refused."""
    sides = range(len(args.builds))
    text, compiled = [[] for _ in sides], [[] for _ in sides]
    for turn in range(max(args.processes, args.turns)):
        for side in sides if turn % 2 == 0 else reversed(sides):
            text[side].append(texts(args.builds[side], args))
            if turn < args.turns:
                compiled[side].append(compilations(args.builds[side], args))
    for side in sides:
        runs = [rows for rows, _ in compiled[side]]
        refused = sum(1 for row in runs[0] if row[0] != 0)
        yield {
            "text, us": least([t for t, _ in text[side]]),
            "compiler, cpu ms": least([[1e3 * row[1] for row in rows] for rows in runs]),
            "compiler, clock ms": least([[1e3 * row[2] for row in rows] for rows in runs]),
            "compiler, MiB": least([[row[3] / 1024 for row in rows] for rows in runs]),
            "process, text only, MiB": [min(kib for _, kib in text[side]) / 1024],
            "process, all loaded, MiB": [min(kib for _, kib in compiled[side]) / 1024],
        }, refused


def p90(values):
    return sorted(values)[int(0.9 * (len(values) - 1))]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("builds", nargs="+", metavar="BUILD")
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--reps", type=int, default=25)
    parser.add_argument("--processes", type=int, default=8)
    parser.add_argument("--turns", type=int, default=1)
    parser.add_argument("--cc", default="/usr/bin/cc")
    args = parser.parse_args()
    found = list(measure(args))
    for build, (rows, refused) in zip(args.builds, found):
        print(f"{build}: seeds {args.first} to {args.first + args.count - 1}; the compiler refused {refused} texts")
        print(f"{'':26} {'number':>6} {'median':>10} {'p90':>10} {'sum':>10}")
        for name, values in rows.items():
            print(f"{name:26} {len(values):6} {statistics.median(values):10.2f} {p90(values):10.2f} {sum(values):10.1f}")
    for name in found[0][0] if len(found) > 1 else []:
        old, new = found[0][0][name], found[-1][0][name]
        print(f"{name:26} medians, new / old: {statistics.median(new) / statistics.median(old):.3f}")


if __name__ == "__main__":
    main()
