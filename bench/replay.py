#!/usr/bin/env python3
"""replay.py: does a change of the emitters change the texts they print, and if so, the time?

    replay.py record BUILD FILE     what BUILD prints for each program, into FILE
    replay.py compare FILE FILE     which programs have another text in the second one
    replay.py time OLD NEW [SEED..] expressions of the sweep by two builds in turn: each ratio, and their mean

Programs are those of the sweep's seeds 1 to 400 (--count), of test_cases, and of test_cuda_schemes for a GPU that need not
be there.  Equal text needs no further look; other text is timed.  `time` without seeds takes 1 to --count.  `record`
compiles nothing, `time` does."""
import argparse
import json
import math
import os
import subprocess
import sys
import tempfile


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
        name, _, body = part.partition("\n")
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


def seconds(build, seed, args):
    """Of an expression, compiled, by one build; None where it is refused."""
    command = [os.path.join(build, "bench/rdim-sweep"), "--seed", str(seed), "--count", "1", "--json", "--no-numpy",
               "--seconds", str(args.seconds)]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    for line in done.stdout.decode().splitlines():
        if line.startswith("{"):
            return json.loads(line)["seconds"]
    return None


def time(args):
    ratios = []
    for seed in args.seeds or range(1, args.count + 1):
        least = {args.old: math.inf, args.new: math.inf}
        for turn in range(args.turns):
            for build in (args.old, args.new) if turn % 2 == 0 else (args.new, args.old):
                least[build] = min(least[build], seconds(build, seed, args) or math.inf)
        if math.isfinite(least[args.old]) and math.isfinite(least[args.new]):
            ratios.append((least[args.new] / least[args.old], seed))
            print(f"{seed:6} {least[args.old] * 1e6:12.2f} us {least[args.new] * 1e6:12.2f} us  {ratios[-1][0]:.3f}",
                  flush=True)
    if not ratios:
        sys.exit("replay.py: no expression has a time")
    mean = math.exp(sum(math.log(r) for r, _ in ratios) / len(ratios))
    print(f"{len(ratios)} expressions, new / old: geometric mean {mean:.3f}; above 1.10: "
          + (", ".join(f"{seed} ({r:.2f})" for r, seed in sorted(ratios, reverse=True) if r > 1.1) or "none"))


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
    part.add_argument("--count", type=int, default=400)
    part.add_argument("--turns", type=int, default=4)
    part.add_argument("--seconds", type=float, default=0.05)
    args = parser.parse_args()
    return {"record": record, "compare": compare, "time": time}[args.what](args)


if __name__ == "__main__":
    sys.exit(main())
