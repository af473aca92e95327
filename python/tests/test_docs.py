"""The Python code of the pages runs, one page after the other in a fresh namespace."""

import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).parents[2]
PAGES = ["README.md", "docs/python.md", "docs/python-recipes.md", "docs/python-xarray.md", "python/README.md"]


def blocks(page: str) -> list[str]:
    return re.findall(r"^```python\n(.*?)^```", (ROOT / page).read_text(), re.M | re.S)


@pytest.mark.parametrize("page", PAGES)
def test_blocks_run(page: str) -> None:
    found = blocks(page)
    assert found, f"{page} has no Python"
    run(page)


def run(page: str) -> dict:
    names: dict = {}
    for block in blocks(page):
        exec(compile(block, page, "exec"), names)
    return names


def printed(page: str) -> list[tuple[str, str]]:
    """What each print(...) with a comment of one line says, and what the comment says."""
    found = []
    for block in blocks(page):
        for line in block.splitlines():
            shown = re.match(r"print\((.*)\)\s+# ([\[(].*)$", line)
            if shown:
                found.append(shown.groups())
    return found


def test_recipes_print_what_they_say(capsys: pytest.CaptureFixture) -> None:
    page = "docs/python-recipes.md"
    run(page)
    said = [comment for _, comment in printed(page)]
    assert len(said) > 15
    assert capsys.readouterr().out.splitlines() == said


def test_xarray_prints_what_it_says(capsys: pytest.CaptureFixture) -> None:
    page = "docs/python-xarray.md"
    run(page)
    said = re.findall(r"^print\(.*\)\s+# (.*)$", "".join(blocks(page)), re.M)
    assert len(said) > 6 and capsys.readouterr().out.splitlines() == said


def test_recipes_are_as_numpy() -> None:
    np = pytest.importorskip("numpy")
    r = run("docs/python-recipes.md")

    def distances(x, y):
        return ((x[:, None] - y[None]) ** 2).sum(2)

    scores = np.exp(r["q"] @ r["k"].T / np.sqrt(8))
    squares, land, field = distances(r["points"], r["centres"]), r["land"], r["field"]
    climate = r["tas"].reshape(3, 12, 4, 5).mean(0)
    counts, edges = np.histogram(r["values"], bins=8, range=(-4, 4))
    pairs = [
        (r["climate"], climate), (r["anomaly"], r["tas"] - np.tile(climate, (3, 1, 1))),
        (r["attention"], scores / scores.sum(1, keepdims=True) @ r["v"]),
        (r["nearest"], squares.argmin(1)), (r["how_far"], np.sqrt(squares.min(1))),
        (r["convolved"], np.exp(-distances(r["x"], r["y"])) @ r["b"]), (r["counts"], counts), (r["edges"], edges),
        (r["smooth"], np.convolve(r["series"], np.ones(3) / 3, "valid")),
        (r["scaled"], (r["table"] - r["table"].mean(0)) / r["table"].std(0)),
        (r["mean"], np.mean(field, where=land)), (r["spread"], np.std(field, axis=1, where=land)),
        (r["product"], np.einsum("bij,bjk->bik", r["left"], r["right"])),
        (r["upper"], [np.quantile(r["size"][r["kind"] == k], 0.75) for k in (0, 1)]), (r["back"], r["series"] * 2),
    ]
    for got, want in pairs:
        np.testing.assert_allclose(np.asarray(got), want, rtol=1e-12, atol=1e-13)
