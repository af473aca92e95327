#!/usr/bin/env python3
"""Names of the house: files and folders of src, types and functions, rooms and their suites, the table of changes.

Each part prints what is wrong and where.  The script fails if a part found anything.
"""

import collections
import glob
import os
import re
import sys

WORDS = ["/usr/share/dict/american-english", "/usr/share/dict/british-english"]  # of Debian's wamerican, wbritish
FOLDERS = 2  # a base name may serve so many folders
# Short forms that every C programmer knows, and names of other software; no house words here: those go to the glossary.
KNOWN = set("""
    api avx avx2 avx512 blas bool cblas cc conv cpu csv ctx cublas cuda cxx def dlpack dtype dtypes einsum eval expr f32 f64
    fma gemm gpu grib hdf5 https init insts interp io ir isa jit json lse math netcdf npy npz nvrtc opencl op ops openmp
    rdim runtime simd sse2 stdin svg tsan zarr ewm graphviz png erf erfc dtoa ieee inline io2 lexer utf8 xarray alloc arg args
    async config ctrl enum env exp exps func idx iter len lib matmul max min mod mul num param params pow ptr rand ref
    softmax sqrt struct sub sum sync sys tmp trig var vec digamma gamma xdr zlib zstd udunits affine callback codec convolve
    metadata preprocess quantile radix reshape unswitch concat recompute micro nontemporal prefetch strided
""".split())


def files_of(folder, *endings):
    found = []
    for place, _, names in os.walk(folder):
        found += [os.path.join(place, name) for name in names if name.endswith(endings)]
    return sorted(found)


def base_names():
    """A base name that serves more than two folders says too little of what is in each."""
    folders = collections.defaultdict(set)
    for path in files_of("src", ""):
        folders[os.path.splitext(os.path.basename(path))[0]].add(os.path.dirname(path))
    for name, places in sorted(folders.items()):
        if len(places) > FOLDERS:
            yield f"file name in {len(places)} folders: {name}: {' '.join(sorted(places))}"


def words_of_names():
    """Each word of a file's or a folder's name is English, a known short form, or a term of the glossary."""
    english = set()
    for path in WORDS:
        with open(path, encoding="utf-8") as file:
            english |= {word.strip().lower() for word in file}
    with open("docs/glossary.md", encoding="utf-8") as file:
        terms = set(re.findall(r"[a-z0-9]+", " ".join(line.split("|")[1] for line in file if line.startswith("|")).lower()))
    known = english | terms | KNOWN
    for path in files_of("src", "") + files_of("include", ""):
        for word in re.split(r"[_./-]", path)[1:]:
            singular = re.sub(r"(?<=..)s$", "", word)
            if word and not word.isdigit() and not {word.lower(), singular.lower()} & known and word not in ENDINGS:
                yield f"{path}: \"{word}\" is neither English nor a term of docs/glossary.md"


ENDINGS = {"c", "h", "def", "cuh", "cl", "hpp", "md", "txt", "py"}


def text_without_comments(path):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    return re.sub(r"/\*.*?\*/", lambda match: "\n" * match.group().count("\n"), text, flags=re.S)


# Each backend defines these for itself; the evaluator has pointers to them alone (kernels/program.h).
OF_EACH_BACKEND = {"rd_queue", "rd_submission"}


def types_and_functions():
    """A type is defined once in src, and its name is no function's."""
    types, functions = collections.defaultdict(set), collections.defaultdict(set)
    for path in files_of("src", ".c", ".h"):
        text = text_without_comments(path)
        for name in re.findall(r"^(?:typedef\s+)?(?:struct|enum|union)\s+(rd_\w+)\s*\{", text, re.M):
            types[name].add(path)
        for name in re.findall(r"^\}\s*(rd_\w+);", text, re.M):
            types[name].add(path)
        for name in re.findall(r"^[\w *]*?\b(rd_\w+)\([^;{}#]*\)\s*\{", text, re.M):
            functions[name].add(path)
    for name, places in sorted(types.items()):
        if len(places) > 1 and name not in OF_EACH_BACKEND:
            yield f"type defined in {len(places)} files: {name}: {' '.join(sorted(places))}"
        if name in functions:
            yield f"a type and a function: {name}: {' '.join(sorted(places | functions[name]))}"


def suites():
    """Names that ctest knows: programs of tests, and what the build's files add by hand."""
    names = {os.path.basename(path)[5:-2] for path in glob.glob("tests/**/test_*.c", recursive=True)}
    for path in glob.glob("cmake/*.cmake") + ["CMakeLists.txt"]:
        with open(path, encoding="utf-8") as file:
            text = file.read()
        names |= set(re.findall(r"add_test\(NAME (\w+)", text))
        names |= set(re.findall(r"\b((?:header|fuzz|refused)_\w+)", text))
    return names | {f"fuzz_{name}" for name in "npy npz csv zarr grib classic dlpack einsum function slice sparse".split()}


def rooms():
    """Each folder of src has a line in tests/rooms.txt, and its suites are there."""
    known, listed = suites(), set()
    with open("tests/rooms.txt", encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            if line.startswith("#") or not line.strip():
                continue
            room, *names = line.split()
            listed.add(room)
            if not os.path.isdir(room) and not os.path.isdir(f"src/{room}"):
                yield f"tests/rooms.txt:{number}: no folder {room}"
            for name in names:
                if name not in known:
                    yield f"tests/rooms.txt:{number}: no suite {name}"
    for path in {os.path.dirname(path) for path in files_of("src", "")}:
        if path[4:] not in listed:
            yield f"tests/rooms.txt: no line for {path}"


def changes():
    """Paths of docs/changes.md exist; what it says to test with is a room or a suite."""
    with open("tests/rooms.txt", encoding="utf-8") as file:
        listed = {line.split()[0] for line in file if line.strip()}
    known = suites()
    with open("docs/changes.md", encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            for text in re.findall(r"`([^`]*)`", line):
                if text.startswith("script/test "):
                    if text.split()[1] not in listed | {"python", "all"}:
                        yield f"docs/changes.md:{number}: no room: {text}"
                elif re.fullmatch(r"test_\w+", text):
                    if text[5:] not in known:
                        yield f"docs/changes.md:{number}: no suite: {text}"
                elif re.fullmatch(r"[\w.-]+(/[\w.*-]*)+", text):
                    if not any(glob.glob(start + text) for start in ("", "src/", "src/kernels/")):
                        yield f"docs/changes.md:{number}: no file: {text}"


def main():
    wrong = 0
    for part in (base_names, words_of_names, types_and_functions, rooms, changes):
        for sentence in part():
            print(sentence)
            wrong += 1
    print(f"names: {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
