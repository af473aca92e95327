#!/usr/bin/env python3
"""replay.py: does a change of the emitters change the texts they print, and if so, the time?

    replay.py record BUILD FILE     what BUILD prints for each program, into FILE
    replay.py compare FILE FILE     which programs have another text in the second one
    replay.py time OLD NEW [SEED..] expressions of the sweep and rows of rdim-bench by two builds: each ratio, and means

Programs are those of the sweep's seeds 1 to 400 (--count), of test_cases, and of test_cuda_schemes for a GPU that need not
be there.  Equal text needs no further look; other text is timed.  `record` compiles nothing, `time` does.

`time` without seeds takes 1 to --count, then W1 to W14 (--rows W3,W6; none).  A process of each build has the same work
ready, on one thread; they run it in turn, --turns times, in both orders.  Where memory lies makes a factor of two for the
life of a process, so lines that differ by more than 4 % are timed again by up to --doubts other pairs of processes.
The least times count, of the processor, as other programs may run beside."""
import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
from time import monotonic

ROWS = ",".join(f"W{k}" for k in range(1, 15))


def printed(build, command, extra):
    """What a program of the build writes to stderr as it makes plans, with texts of code, and no object to load."""
    with tempfile.TemporaryDirectory() as cache:
        env = {**os.environ, "RDIM_DEBUG": "program,code", "RDIM_TIER1": "cache", "XDG_CACHE_HOME": cache,
               "CK_FORK": "no", **extra}
        done = subprocess.run([os.path.join(build, command[0]), *command[1:]], env=env, stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, check=False)
    if done.returncode:
        sys.exit(f"replay.py: {command[0]} of {build} ended with {done.returncode}")
    return done.stderr.decode(errors="replace")


def pairs(text):
    """Each program and the code that follows it: "" where there is none.  A stage may print a program again."""
    program, found = None, []
    for part in ("\n" + text).split("\n-- ")[1:]:
        head, _, body = part.partition("\n")
        name = head.split()[0]  # "program 0", "code"
        if name == "program":
            program = body
            found.append([program, ""])
        elif name == "code" and program is not None:
            found[-1][1] += body
    return found


def record(args):
    always = {"RDIM_CODEGEN": "always"}
    runs = {
        "sweep": (["bench/rdim-sweep", "--seed", "1", "--count", str(args.count), "--hash-only", "--no-numpy"], always),
        "cases": (["tests/test_cases"], always),
        "gpu": (["tests/test_cuda_schemes"], {}),
    }
    texts = {}
    for name, (command, extra) in runs.items():
        of = texts[name] = {}
        for program, code in pairs(printed(args.build, command, extra)):
            of.setdefault(program, [])
            if code not in of[program]:
                of[program].append(code)
        print(f"{name}: {len(of)} programs, {sum(1 for codes in of.values() if any(codes))} with code")
    with open(args.file, "w", encoding="utf-8") as to:
        json.dump(texts, to)


def compare(args):
    with open(args.old, encoding="utf-8") as old, open(args.new, encoding="utf-8") as new:
        a, b = json.load(old), json.load(new)
    differ = 0
    for name in a:
        both = a[name].keys() & b[name].keys()
        other = [p for p in both if sorted(a[name][p]) != sorted(b[name][p])]
        print(f"{name}: {len(both) - len(other)} texts equal, {len(other)} not; "
              f"{len(a[name].keys() - both)} programs are gone, {len(b[name].keys() - both)} are new")
        differ += len(other) + len(a[name].keys() ^ b[name].keys())
        for program in other[:args.show]:
            print(program)
    return 1 if differ else 0


class Process:
    """A program of the benchmark, with the library of a build.  It runs the work at hand when it is told."""

    def __init__(self, program, options, library):
        env = {**os.environ, "RDIM_TIER1": "sync",
               "LD_LIBRARY_PATH": os.pathsep.join([os.path.abspath(library), os.environ.get("LD_LIBRARY_PATH", "")])}
        self.process = subprocess.Popen([program, "--by-turns", "--threads", "1", *options], env=env,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)

    def line(self):
        return self.process.stdout.readline().decode().strip()

    def tell(self, command):
        self.process.stdin.write(command)
        self.process.stdin.flush()

    def seconds(self):
        self.tell(b"t")
        return float(self.line())


def race(job, turn, args):
    """Of each expression or case of a job: its name, and the least times of both builds."""
    _, program, options = job
    pair = [Process(program, options, library) for library in (args.old, args.new)]
    while True:
        name, other = pair[0].line(), pair[1].line()
        if name != other:
            sys.exit(f"replay.py: one build is at '{name}', the other at '{other}': which does one of them refuse?")
        if not name:
            return
        least, begun = [math.inf, math.inf], monotonic()
        for k in range(turn, turn + args.turns):
            if k > turn and monotonic() - begun > args.patience:
                break
            for side in (0, 1) if k % 2 == 0 else (1, 0):
                least[side] = min(least[side], pair[side].seconds())
        yield name, least
        for process in pair:
            process.tell(b"n")


def jobs_of(args):
    """What to run: a name for the table, a program of the new build, its options."""
    sweep, bench = (os.path.join(args.new, "bench", name) for name in ("rdim-sweep", "rdim-bench"))
    if args.seeds:
        jobs = [("sweep", sweep, ["--seed", str(seed), "--count", "1"]) for seed in args.seeds]
    else:
        jobs = [("sweep", sweep, ["--seed", "1", "--count", str(args.count)])] if args.count else []
    rows = args.rows or ("none" if args.seeds else ROWS)
    cases = ["--cases", args.cases] if args.cases else []
    return jobs + [(row, bench, ["--rows", row, *cases]) for row in rows.split(",") if row != "none"]


def narrowed(job, names):
    """Jobs of these names alone."""
    what, program, options = job
    if what == "sweep":
        return [(what, program, ["--seed", name.split()[1], "--count", "1"]) for name in names]
    return [(what, program, ["--rows", what, "--cases", ",".join(sorted({name.split()[1] for name in names}))])]


def take(job, turn, found, args):
    for name, least in race(job, turn, args):
        old, new = found.setdefault((job[0], name), least)
        found[job[0], name] = [min(old, least[0]), min(new, least[1])]


def differs(times, share):
    return abs(math.log(times[1] / times[0])) > math.log(1 + share)


def report(what, rows):
    mean = math.exp(sum(math.log(new / old) for _, (old, new) in rows) / len(rows))
    above = sorted(((new / old, name) for name, (old, new) in rows if new / old > 1.1), reverse=True)
    below = sum(1 for _, (old, new) in rows if old / new > 1.1)
    print(f"{what}: {len(rows)}, new / old: geometric mean {mean:.3f}; {below} below 0.91; above 1.10: "
          + (", ".join(f"{name} ({r:.2f})" for r, name in above) or "none"))


def time(args):
    """The programs are those of the new build, for both libraries."""
    jobs, found = jobs_of(args), {}
    for turn in range(args.rounds):
        for job in jobs:
            take(job, turn, found, args)
    for turn in range(args.doubts):
        for job in jobs:
            names = [name for (what, name), times in found.items() if what == job[0] and differs(times, 0.04)]
            for part in narrowed(job, names) if names else []:
                take(part, turn, found, args)
    if not found:
        sys.exit("replay.py: nothing has a time")
    for (_, name), (old, new) in found.items():
        print(f"{name:40} {old * 1e6:12.2f} us {new * 1e6:12.2f} us  {new / old:.3f}")
    groups = {job[0]: [(name, times) for (what, name), times in found.items() if what == job[0]] for job in jobs}
    for what, rows in groups.items():
        if rows:
            report(what, rows)
    if len(groups) > 1:
        report("all", [row for rows in groups.values() for row in rows])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parts = parser.add_subparsers(dest="what", required=True)
    part = parts.add_parser("record")
    part.add_argument("build")
    part.add_argument("file")
    part.add_argument("--count", type=int, default=400)
    part = parts.add_parser("compare")
    part.add_argument("old")
    part.add_argument("new")
    part.add_argument("--show", type=int, default=3, help="programs that are printed of each kind")
    part = parts.add_parser("time")
    part.add_argument("old")
    part.add_argument("new")
    part.add_argument("seeds", type=int, nargs="*")
    part.add_argument("--count", type=int, default=200)
    part.add_argument("--rows", help="of rdim-bench, with commas between; none; W1 to W14 if no seeds are named")
    part.add_argument("--cases", help="of these rows, as rdim-bench knows them")
    part.add_argument("--turns", type=int, default=3)
    part.add_argument("--rounds", type=int, default=1)
    part.add_argument("--doubts", type=int, default=8)
    part.add_argument("--patience", type=float, default=4, help="seconds for a line in a round")
    args = parser.parse_args()
    return {"record": record, "compare": compare, "time": time}[args.what](args)


if __name__ == "__main__":
    sys.exit(main())
