#!/usr/bin/env python3
"""Times the command beside CDO, NCO and Python on climate files and on what else people have.

usage: command.py [--rdim FILE] [--folder FOLDER] [--rows W15,W16] [--cases WORD,...] [--kinds deflated,packed,classic]
                  [--scale S] [--reps N] [--json]

W15 are jobs on climate files, W16 parts of the command; docs/benchmark.md has them.  Results are compared before anything
is timed.  A peer that is not installed is left out, and said so.  Files are made in FOLDER (build/beside) once, and take
12 GB; making and comparing them needs NumPy and netCDF4.  The exit status is 1 where results differ."""
import argparse
import fnmatch
import json
import math
import os
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
TOOLS = {"cdo": ["cdo"], "nco": ["ncra", "ncwa", "ncbo", "ncks", "nces", "ncap2"]}
try:
    import netCDF4
    import numpy as np
    import climate
    import files
    import parts
    import race
except ImportError as why:
    sys.exit(f"command.py cannot run: {why}; Debian has python3-numpy and python3-netcdf4")


def installed(peer):
    if peer in TOOLS:
        return all(shutil.which(tool) for tool in TOOLS[peer])
    return subprocess.run([sys.executable, "-c", f"import {peer}"], capture_output=True, check=False).returncode == 0


def field(path, name):
    """A variable without axes of one element; what is missing is NaN."""
    with netCDF4.Dataset(path) as f:
        return np.ma.filled(f[name][...].astype("f8"), np.nan).squeeze()


def farthest(a, b, false_is_known):
    """The greatest difference; infinite where one is missing and the other is not."""
    if a.shape != b.shape:
        return math.inf
    if false_is_known:
        b = np.where(np.isnan(b) & (a == 0), 0, b)
    if not (np.isnan(a) == np.isnan(b)).all():
        return math.inf
    return float(np.nanmax(np.abs(a - b), initial=0))


def numbers(path):
    """What a program printed, without names in a first line."""
    with open(path, encoding="utf-8") as f:
        words = f.read().replace(",", " ").split()
    out = []
    for word in words:
        try:
            out.append(float(word))
        except ValueError:
            pass
    return np.array(out)


class Bench:
    def __init__(self, options, peers):
        self.options, self.peers, self.wrong, self.lines = options, peers, 0, []

    def wants(self, name):
        return any(fnmatch.fnmatch(name, p) for p in self.options.cases.split(","))

    def differs(self, row, case, peer, far, allowed):
        if not far <= allowed:
            self.wrong += 1
            print(f"WRONG {row} {case}: differs from {peer}'s by {far:g}, allowed is {allowed:g}", file=sys.stderr)

    def report(self, row, case, kind, runs, far):
        line = {"row": row, "case": case, "dtype": kind, "threads": os.cpu_count(), "seconds": race.median(runs["rdim"], "wall"),
                "cpu": race.median(runs["rdim"], "cpu"),
                "peers": {peer: {"seconds": race.median(them, "wall"), "cpu": race.median(them, "cpu"),
                                 "ratio": race.ratio(runs["rdim"], them, "wall"),
                                 "cpu_ratio": race.ratio(runs["rdim"], them, "cpu"), "error": far[peer]}
                          for peer, them in runs.items() if peer != "rdim"}}
        self.lines.append(line)
        if self.options.json:
            print(json.dumps(line), flush=True)
        else:
            print(row_of_table(line), flush=True)

    @staticmethod
    def warm_up(commands, outputs):
        """One run of each, whose results are compared; a peer that fails is left out, and said so."""
        for name in list(commands):
            try:
                race.once(commands[name], outputs[name])
            except RuntimeError as why:
                if name == "rdim":
                    raise
                print(f"{name} is left out: it {why}", file=sys.stderr)
                del commands[name]

    def climate(self, job, kind):
        case = f"{job.name}"
        options = (climate.PARTS if job.part else climate.OPTIONS)[kind]
        commands = {"rdim": [self.options.rdim] + [a.format(kind) if a.endswith((".nc", ":tas")) else a for a in job.rdim]
                    + ["-o", "rdim.nc"]}
        for peer, words in job.peers.items():
            if peer in self.peers and (peer, kind) not in job.wrong:
                commands[peer] = words.replace("{options}", options).replace(
                    "{output}", peer + ".nc").replace("{}", kind)
        outputs = {name: name + ".nc" for name in commands}
        self.warm_up(commands, outputs)
        ours = field("rdim.nc", job.variable)
        far = {}
        for peer in job.peers:
            if peer in commands:
                far[peer] = farthest(ours, field(peer + ".nc", job.variable), "frost" in job.name)
                self.differs("W15", f"{case} ({kind})", peer, far[peer], job.far)
        self.report("W15", case, kind, race.race(commands, outputs, self.options.reps), far)

    def part(self, part):
        commands = {"rdim": f"{self.options.rdim} {part.rdim}"}
        commands.update((peer, words) for peer, words in part.peers.items() if peer in self.peers)
        printed, far = {}, {}
        for name in list(commands):
            works = {name: commands[name]}
            self.warm_up(works, {name: None})
            if name in works:
                printed[name] = numbers("stdout")
            else:
                del commands[name]
        for peer in commands:
            if peer == "rdim":
                continue
            n = len(printed[peer])
            far[peer] = farthest(printed["rdim"][-n:], printed[peer], False) if n else math.inf
            self.differs("W16", part.name, peer, far[peer], part.far)
        self.report("W16", part.name, "", race.race(commands, dict.fromkeys(commands), self.options.reps), far)


def row_of_table(line):
    peers = ", ".join(f"{peer} {p['seconds']:.2f} / {p['cpu']:.2f} s: **{p['ratio']:.2f}** / **{p['cpu_ratio']:.2f}**"
                      for peer, p in line["peers"].items())
    return f"| {line['row']} | {line['case']} | {line['dtype']} | {line['seconds']:.3f} / {line['cpu']:.3f} | {peers} |"


def read_options():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    root = os.path.dirname(os.path.dirname(HERE))
    p.add_argument("--rdim", default=os.path.join(root, "build/release/bin/rdim"))
    p.add_argument("--folder", default=os.path.join(root, "build/beside"))
    p.add_argument("--rows", default="W15,W16")
    p.add_argument("--cases", default="*")
    p.add_argument("--kinds", default="deflated,packed,classic")
    p.add_argument("--scale", type=float, default=1.0, help="of days; use a folder of its own")
    p.add_argument("--reps", type=int, default=3)
    p.add_argument("--json", action="store_true")
    options = p.parse_args()
    options.rdim = os.path.abspath(options.rdim)
    return options


def main():
    options = read_options()
    os.makedirs(options.folder, exist_ok=True)
    os.chdir(options.folder)
    peers = set()
    for peer in ("cdo", "nco", "numpy", "pandas", "xarray"):
        if installed(peer):
            peers.add(peer)
        else:
            print(f"{peer} is left out: it is not installed here", file=sys.stderr)
    bench = Bench(options, peers)
    rows, kinds = options.rows.split(","), options.kinds.split(",")
    if "W15" in rows:
        files.climate_files(kinds, options.scale)
        for kind in kinds:
            for job in climate.JOBS:
                if bench.wants(job.name):
                    bench.climate(job, kind)
    if "W16" in rows:
        files.other_files()
        for part in parts.PARTS:
            if bench.wants(part.name):
                bench.part(part)
    return 1 if bench.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
