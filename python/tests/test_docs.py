"""The Python code of the pages runs, one page after the other in a fresh namespace, and prints what its comments say.

A comment behind print(...) that begins with a bracket, a digit or a sign is what is printed.
"""

import ast
import contextlib
import io
import pathlib
import re
import warnings

import pytest

ROOT = pathlib.Path(__file__).parents[2]
RECIPES = "docs/python-recipes.md"
PAGES = ["README.md", "docs/python.md", "docs/python-from.md", "docs/keops.md", RECIPES, "docs/python-xarray.md", "python/README.md"]


def blocks(page: str) -> list[tuple[int, str]]:
    """Each block of Python, and the number of the line before it."""
    text = (ROOT / page).read_text()
    found = re.finditer(r"^```python\n(.*?)^```", text, re.M | re.S)
    return [(text.count("\n", 0, match.start(1)), match.group(1)) for match in found]


def said(line: str) -> str | None:
    """What a comment at the end of a line says that is printed."""
    comment = re.match(r"\s*print\(.*\s# ([\[(<\d-].*)$", line)
    return comment.group(1) if comment else None


def run_statement(statement: ast.stmt, line: str, page: str, names: dict) -> None:
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(ast.Module([statement], []), page, "exec"), names)
    if said(line) is not None:
        assert printed.getvalue().strip() == said(line), f"{page}:{statement.lineno}"


def run(page: str) -> dict:
    names: dict = {}
    for above, block in blocks(page):
        lines = block.splitlines()
        for statement in ast.parse(block).body:
            line = lines[statement.end_lineno - 1]
            ast.increment_lineno(statement, above)      # so that a traceback names the line of the page
            run_statement(statement, line, page, names)
    return names


@pytest.fixture(autouse=True)
def at_root(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages read examples/data, and NumPy warns of what is all NaN."""
    pytest.importorskip("numpy")
    monkeypatch.chdir(ROOT)
    warnings.simplefilter("ignore")


@pytest.mark.parametrize("page", PAGES)
def test_blocks_run(page: str) -> None:
    assert blocks(page), f"{page} has no Python"
    run(page)


def test_recipes_are_checked() -> None:
    """Each recipe compares its results with NumPy's, or prints what its comment says."""
    recipes = re.split(r"^###? ", (ROOT / RECIPES).read_text(), flags=re.M)[1:]
    checked = 0
    for recipe in recipes:
        code = "".join(re.findall(r"^```python\n(.*?)^```", recipe, re.M | re.S))
        compares = "same(" in code or any(said(line) for line in code.splitlines())
        assert compares or not code, recipe.splitlines()[0]
        checked += compares
    assert checked >= 60


@pytest.mark.parametrize("wrong", ["print(2)  # 1", "print([1, 3])    # [1, 2]", "x = 1\nprint(-x)  # -2"])
def test_what_is_said_is_compared(wrong: str, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "page.md").write_text(f"```python\n{wrong}\n```\n")
    monkeypatch.setitem(globals(), "ROOT", tmp_path)
    with pytest.raises(AssertionError, match="page.md:[23]"):
        run("page.md")
