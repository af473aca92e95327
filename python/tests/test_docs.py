"""The Python code of the pages runs, one page after the other in a fresh namespace."""

import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).parents[2]
PAGES = ["README.md", "docs/python.md", "python/README.md"]


def blocks(page: str) -> list[str]:
    return re.findall(r"^```python\n(.*?)^```", (ROOT / page).read_text(), re.M | re.S)


@pytest.mark.parametrize("page", PAGES)
def test_blocks_run(page: str) -> None:
    found = blocks(page)
    assert found, f"{page} has no Python"
    names: dict = {}
    for block in found:
        exec(compile(block, page, "exec"), names)
