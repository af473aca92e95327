"""The same programs in Python and in C have the same bits, and fail alike.

RDIM_BITS is how many random programs are tried, RDIM_BITS_SEED the first one.  What differs is printed as a program
of the fewest lines that still differs."""

import os
import pathlib
import subprocess

import pytest

import rdim as rd

np = pytest.importorskip("numpy")
programs = pytest.importorskip("programs")
from random_programs import random_program  # noqa: E402

BUILDER = pathlib.Path(rd.__file__).absolute().parents[1] / "rdim_programs"
STATUS = [(rd.ShapeError, "RD_ERR_SHAPE"), (rd.AxisError, "RD_ERR_AXIS"), (rd.DTypeError, "RD_ERR_TYPE"),
          (rd.TextError, "RD_ERR_TEXT"), (rd.EmptyError, "RD_ERR_EMPTY"), (rd.LimitError, "RD_ERR_LIMIT"),
          (rd.ArgumentError, "RD_ERR_ARGUMENT"), (rd.ConvergenceError, "RD_ERR_CONVERGENCE")]
ANY = "a failure before the library's"  # Python has looked at the arguments itself


def status_of(error):
    return next((status for kind, status in STATUS if isinstance(error, kind)), ANY)


# ---- Both sides ---------------------------------------------------------------------------------------------------
def in_python(lines, data):
    """What the lines print in the other program: statuses of failures, elements of results."""
    values, said = [], []
    for line in lines:
        words = line.split()
        try:
            if words[0] != "out":
                values.append(None)
                values[-1] = programs.run(data, values, line)
                continue
            with rd.options(threads=int(words[1])):
                results = rd.compute(*(programs.operand(values, word) for word in words[2:]))
            for result in results if len(words) > 3 else [results]:
                said.append((result.dtype.name, result.shape, result.tobytes()))
        except (ValueError, TypeError, IndexError, OverflowError, rd.Error) as error:
            said.append(status_of(error))
    return said


def in_c(written, folder):
    """The same of several programs, by one run of the C program."""
    text, data, results = (folder / name for name in ("programs", "data", "results"))
    place, lines_of_all, memory = 0, [], b""
    for lines, own in written:
        lines_of_all.append("program")
        for line in lines:
            if line.startswith("leaf"):
                *front, at = line.split()
                line = " ".join([*front, str(int(at) + place)])
            lines_of_all.append(line)
        memory += own
        place += len(own)
    text.write_text("\n".join(lines_of_all) + "\n")
    data.write_bytes(memory)
    subprocess.run([BUILDER, text, data, results], check=True, timeout=600)
    return results.read_bytes()


def said_in_c(raw, at, n):
    """n results from a place on, and the place behind them."""
    said = []
    for _ in range(n):
        end = raw.find(b"\n", at)
        words = raw[at:end].decode().split()
        at = end + 1
        if not words or words[0].startswith("RD_"):
            said.append(words[0] if words else "nothing")
            continue
        shape = tuple(int(word) for word in words[1:])
        size = int(np.prod(shape, dtype=object)) * np.dtype(words[0]).itemsize
        said.append((words[0], shape, raw[at:at + size]))
        at += size
    return said, at


def same(a, b):
    return a == b or (a == ANY and isinstance(b, str) and b.startswith("RD_"))


def differs(lines, data, folder):
    ours = in_python(lines, data)
    theirs, _ = said_in_c(in_c([(lines, data)], folder), 0, len(ours))
    return not all(same(a, b) for a, b in zip(ours, theirs, strict=True))


# ---- Fewer lines ----------------------------------------------------------------------------------------------------
def without(lines, k):
    """The program without line k, if no other line needs it: values are numbered anew."""
    def renamed(word):
        parts = word.split("=")
        names = [f"%{int(one[1:]) - (int(one[1:]) > k)}" if one.startswith("%") else one for one in parts[-1].split(",")]
        return "=".join([*parts[:-1], ",".join(names)])

    needed = {one for line in lines for word in line.split()[1:] for one in word.split("=")[-1].split(",")}
    if f"%{k}" in needed and not lines[k].startswith("out"):
        return None
    return [" ".join([line.split()[0], *map(renamed, line.split()[1:])]) if not lines[k].startswith("out") else line
            for i, line in enumerate(lines) if i != k]


def shrunk(lines, data, folder):
    k = len(lines) - 1
    while k >= 0:
        fewer = without(lines, k)
        if fewer and differs(fewer, data, folder):
            lines = fewer
        k -= 1
    return lines


# ---- Tests ----------------------------------------------------------------------------------------------------------
@pytest.mark.skipif(not BUILDER.exists(), reason=f"no {BUILDER}: it is built by the target rdim_programs")
def test_random_programs_in_python_and_in_c(tmp_path):
    first, count = int(os.environ.get("RDIM_BITS_SEED", 0)), int(os.environ.get("RDIM_BITS", 200))
    written = [random_program(seed) for seed in range(first, first + count)]
    raw, at, results, failures = in_c(written, tmp_path), 0, 0, 0
    for seed, (lines, data) in enumerate(written, first):
        ours = in_python(lines, data)
        theirs, at = said_in_c(raw, at, len(ours))
        if not all(same(a, b) for a, b in zip(ours, theirs, strict=True)):
            fewer = shrunk(lines, data, tmp_path)
            pytest.fail(f"program {seed} differs:\n" + "\n".join(fewer) + f"\nPython: {in_python(fewer, data)}\n"
                        f"C: {said_in_c(in_c([(fewer, data)], tmp_path), 0, len(in_python(fewer, data)))[0]}")
        results += sum(not isinstance(one, str) for one in ours)
        failures += sum(isinstance(one, str) for one in ours)
    assert at == len(raw) and results > count
    print(f"{count} programs, {sum(len(lines) for lines, _ in written)} lines, {results} results, {failures} refusals")


def test_every_kind_of_line_is_drawn():
    drawn = {line.split()[0] for seed in range(400) for line in random_program(seed)[0]}
    assert set(programs.LINES) <= drawn, set(programs.LINES) - drawn
