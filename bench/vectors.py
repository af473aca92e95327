#!/usr/bin/env python3
"""vectors.py BUILD: of which loops does gcc make vectors, and which does the library expect to be vectors?

Texts of compiled nests are those of the sweep's seeds (--first, --count).  `rdim-nests --scalar` writes them with a mark
at each vector loop, and says what is expected of it (src/kernels/print/tree_residue.c).  gcc tells by -fopt-info-vec of which
lines it has made vectors.  Printed are the loops that are something else than expected; the last line counts them.
Loops that only move elements are left out: whether these are vectors says nothing of operations."""
import argparse
import concurrent.futures
import os
import re
import subprocess
import sys
import tempfile

# As src/kernels/cpu/jit/compiler.c has them.
FLAGS = """-std=gnu11 -O3 -ffp-contract=off -fno-math-errno -fno-trapping-math -fvisibility=hidden -fPIC -w
    -fno-thread-jumps -fdisable-tree-cunrolli -fno-loop-unroll-and-jam -fschedule-insns -fsched-pressure
    -fno-tree-loop-distribute-patterns -falign-loops=32""".split()
SETS = {"baseline": [], "avx2": ["-mavx2", "-mfma"],
        "avx512": ["-mavx2", "-mfma", "-mavx512f", "-mavx512bw", "-mavx512dq", "-mavx512vl",
                   "-mprefer-vector-width=512"]}
VECTORS = re.compile(r":(\d+):\d+: optimized: *(?:loop|basic block part) vectorized")
MISSED = re.compile(r":(\d+):\d+: missed: *couldn't vectorize loop")


def vectors_in(path, cc, isa):
    """Numbers of lines of which gcc made vectors; of loops that it left as they are.  Others it has removed."""
    info = path + ".info"
    done = subprocess.run([cc, *FLAGS, *SETS[isa], f"-fopt-info-vec-optimized-missed={info}", "-S", "-o", os.devnull, path],
                          stderr=subprocess.PIPE, check=False)
    if done.returncode:
        sys.exit(f"vectors.py: {cc} does not compile {path}, or has no -fopt-info-vec:\n{done.stderr.decode()[:400]}")
    with open(info, encoding="utf-8") as lines:
        said = lines.read()
    return {int(line) for line in VECTORS.findall(said)}, {int(line) for line in MISSED.findall(said)}


def loops_in(path):
    """Of each copy of a marked loop: its number, its first line and its last one, and its text."""
    with open(path, encoding="utf-8") as file:
        text = file.read().split("\n")
    for first, line in enumerate(text, 1):
        mark = re.search(r"/\* loop (\d+) \*/$", line)
        if mark:
            close = " " * (len(line) - len(line.lstrip())) + "}"
            last = next(k for k in range(first, len(text)) if text[k].startswith(close)) + 1
            yield int(mark.group(1)), first, last, "\n".join(text[first - 1:last])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--isa", choices=SETS, default="avx512")
    parser.add_argument("--cc", default="gcc")
    args = parser.parse_args()
    loops = wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([os.path.join(args.build, "bench/rdim-nests"), "--scalar", str(args.first), str(args.count), folder],
                       env={**os.environ, "RDIM_ISA": args.isa, "RDIM_CODEGEN": "always", "XDG_CACHE_HOME": folder},
                       stdout=subprocess.DEVNULL, check=True)
        expected = {}
        with open(os.path.join(folder, "loops"), encoding="utf-8") as lines:
            for line in lines:
                name, loop, operations, why = line.split()
                expected[name, int(loop)] = int(operations), why
        names = sorted({name for name, _ in expected})
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            found = list(pool.map(lambda name: vectors_in(os.path.join(folder, name), args.cc, args.isa), names))
        for name, (vectors, missed) in zip(names, found):
            for loop, first, last, text in loops_in(os.path.join(folder, name)):
                operations, why = expected[name, loop]
                taken, left = (any(first <= line <= last for line in lines) for lines in (vectors, missed))
                if not operations or not (taken or left):
                    continue
                loops += 1
                if taken != (why == "vectors"):
                    wrong += 1
                    print(f"{name}, loop {loop}, {operations} operations, expected: {why}\n{text}")
    print(f"{loops} loops with operations, {wrong} of them not as expected")


if __name__ == "__main__":
    main()
