"""mypy --strict passes for the package, and for a user's program beside it."""

import os
import pathlib
import re
import subprocess
import sys

import pytest

import test_docs

pytest.importorskip("mypy", reason="mypy is not installed: types are not checked")

HERE = pathlib.Path(__file__).parent
ROOT = HERE.parents[1]


def mypy(cache: pathlib.Path, *paths: pathlib.Path) -> subprocess.CompletedProcess:
    environment = {**os.environ, "MYPYPATH": str(ROOT / "python")}
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(cache), *map(str, paths)]
    return subprocess.run(command, cwd=cache, env=environment, capture_output=True, text=True)


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    return tmp_path_factory.mktemp("mypy")


def test_package_program_and_pages(cache):
    """The package, a user's program, and the code of the pages, which people copy."""
    pages = []
    for page in test_docs.PAGES:
        pages.append(cache / (re.sub(r"\W", "_", page) + "_page.py"))
        # Libraries that a page shows beside rdim need not be installed, nor have types.
        lines = "\n".join(block for _, block in test_docs.blocks(page)).split("\n")
        pages[-1].write_text("# mypy: allow-untyped-defs, allow-untyped-calls, allow-redefinition-new, local-partial-types\n" + "\n".join(
            f"{line}  # type: ignore[import-not-found,import-untyped,unused-ignore]"
            if re.match(r"\s*(import|from) (?!numpy|rdim)", line) and "#" not in line else line for line in lines))
    found = mypy(cache, ROOT / "python/rdim", HERE / "typed_program.py", *pages)
    assert found.returncode == 0, found.stdout + found.stderr


def test_wrong_program(cache):
    """The types that a program sees are not all Any: mistakes are found."""
    program = cache / "wrong.py"
    program.write_text("import rdim as rd\nx: str = rd.sum(rd.asarray([1.0]))\ny: int = rd.asarray([1]).shape\nrd.options(1)\n")
    found = mypy(cache, program)
    assert re.findall(r"wrong\.py:(\d+): error", found.stdout) == ["2", "3", "4"], found.stdout + found.stderr


def test_what_an_editor_knows(cache):
    """The stub has each function's own parameters, and methods are no Any."""
    program = cache / "editor.py"
    program.write_text("""import rdim as rd
x = rd.asarray([1.0])
reveal_type(x.mean(axis=0))
rd.mean(x, axis=0, keepdims=True)
rd.mean(x, axes=0)
rd.mean(x, axis="rows")
x.reshape(2, -1).sum(keepdim=True)
x.reshape((2, -1)).absent()
""")
    found = mypy(cache, program)
    assert 'editor.py:3: note: Revealed type is "rdim._core.Array"' in found.stdout
    assert re.findall(r"editor\.py:(\d+): error", found.stdout) == ["5", "6", "7", "8"], found.stdout + found.stderr


def test_stub_names_what_is_there():
    """Each function of the stub is one of the extension."""
    from rdim import _core

    stub = (ROOT / "python/rdim/_core.pyi").read_text()
    names = re.findall(r"^(?:def|class) (\w+)", stub, re.M)
    assert len(names) > 200
    hints = ("_HasArray", "_HasDLPack", "_IsSparse")
    assert [name for name in names if name not in hints and not hasattr(_core, name)] == []
    methods = re.findall(r"^    def (\w+)\(", stub, re.M)
    assert [name for name in methods if name != "tocsr" and not hasattr(_core.Array, name)] == []
