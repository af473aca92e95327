#!/usr/bin/env python3
"""circles.py [BUILD]: circles of calls between the files of each folder of src, and the lines of each folder of kernels.

A file is x.c and x.h.  It calls another one of its folder if its object wants a function that the other's object defines;
the address of a function in a table counts as a call.  A circle is a strongly connected component: files of which each
reaches each other one.  Nobody can read one of them without the rest.  BUILD is build/release if it is not said; its
library must be built, and its command if that is to be measured, as `nm` reads the objects."""
import argparse
import collections
import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def objects(build):
    """Each file of the library and of the command, as src/folder/x, and its object.  Kernels that are compiled for several instruction
    sets count once."""
    found = {}
    for target in ("rdim_parts", "simd_baseline", "rdim_command_parts"):
        top = os.path.join(build, "CMakeFiles", target + ".dir")
        for folder, _, names in os.walk(top):
            for name in names:
                if name.endswith(".c.o"):
                    path = os.path.join(folder, name)
                    found.setdefault(os.path.relpath(path, top)[:-len(".c.o")], path)
    return {name: path for name, path in found.items() if name.startswith("src/")}


def symbols(path):
    """The functions that an object defines for others, and what it wants."""
    done = subprocess.run(["nm", "--format=posix", path], stdout=subprocess.PIPE, check=True)
    rows = [line.split() for line in done.stdout.decode().splitlines()]
    return {r[0] for r in rows if r[1] in "TW"}, {r[0] for r in rows if r[1] == "U"}


def calls(build):
    """File -> files of the same folder that it calls."""
    defined, wanted = {}, {}
    for name, path in objects(build).items():
        defined[name], wanted[name] = symbols(path)
    if not defined:
        sys.exit(f"circles.py: {build} has no objects of the library")
    homes = collections.defaultdict(set)
    for name, functions in defined.items():
        for function in functions:
            homes[function].add(name)
    home = {function: min(names) for function, names in homes.items() if len(names) == 1}
    return {name: {home[f] for f in wants if f in home and os.path.dirname(home[f]) == os.path.dirname(name)} - {name}
            for name, wants in wanted.items()}


def reached(edges, start):
    """All files that the calls of one lead to, itself only by a circle."""
    found, left = set(), [start]
    while left:
        for name in edges[left.pop()] - found:
            found.add(name)
            left.append(name)
    return found


def circles(edges):
    """Sets of several files that reach each other, the largest first."""
    reach = {name: reached(edges, name) for name in edges}
    rings = {frozenset(other for other in reach[name] if name in reach[other]) for name in edges if name in reach[name]}
    return sorted(rings, key=lambda ring: (-len(ring), min(ring)))


def source_of(build):
    """Where the sources are that were built there."""
    with open(os.path.join(build, "CMakeCache.txt"), encoding="utf-8") as cache:
        return next(line.split("=", 1)[1].strip() for line in cache if line.startswith("CMAKE_HOME_DIRECTORY:"))


def lines_by_folder(root):
    """Folder of kernels -> files and lines of all sources in it, not in folders below."""
    counts = {}
    for folder, _, names in os.walk(os.path.join(root, "src/kernels")):
        names = [name for name in names if name.endswith((".c", ".h", ".def", ".cuh"))]
        total = 0
        for name in names:
            with open(os.path.join(folder, name), encoding="utf-8") as text:
                total += sum(1 for _ in text)
        if names:
            counts[os.path.relpath(folder, root)] = (len(names), total)
    return counts


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", nargs="?", default=os.path.join(ROOT, "build/release"))
    parser.add_argument("--files", action="store_true", help="name the files of each circle")
    args = parser.parse_args()
    edges = calls(args.build)
    rings = circles(edges)
    for ring in rings:
        print(f"{len(ring):4}  {os.path.dirname(min(ring))}")
        if args.files:
            print("      " + " ".join(sorted(os.path.basename(name) for name in ring)))
    print(f"{sum(map(len, rings)):4}  of {len(edges)} files, in {len(rings)} circles\n")
    counts = lines_by_folder(source_of(args.build))
    for folder, (files, total) in sorted(counts.items()):
        print(f"{total:6} lines {files:4} files  {folder}")
    print(f"{sum(n for _, n in counts.values()):6} lines {sum(n for n, _ in counts.values()):4} files")


if __name__ == "__main__":
    main()
