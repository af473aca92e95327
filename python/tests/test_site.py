"""The pages that script/site gives to Sphinx have every public name of the C header and of the package."""

from __future__ import annotations

import pathlib
import re
import sys

import pytest

pytest.importorskip("numpy")

import rdim as rd

ROOT = pathlib.Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "docs/site"))
import c_pages  # noqa: E402
import header  # noqa: E402
import python_pages  # noqa: E402

TEXT = "\n".join(part.read_text() for part in header.parts())
HEADER = re.sub(r"/\*.*?\*/", "", TEXT, flags=re.S)


def text_of(folder: pathlib.Path) -> str:
    return "\n".join(page.read_text() for page in sorted(folder.glob("*.rst")))


@pytest.fixture(scope="module")
def c(tmp_path_factory):
    folder = tmp_path_factory.mktemp("c")
    c_pages.write(folder)
    return text_of(folder)


@pytest.fixture(scope="module")
def python(tmp_path_factory):
    folder = tmp_path_factory.mktemp("python")
    python_pages.write(folder)
    return text_of(folder)


def declared(page: str) -> list[str]:
    """Names of C that have a target."""
    heads = re.findall(r"^ *\.\. c:\w+:: (.*(?:\n {8,}\w.*)*)", page, re.M)
    return [re.findall(r"\b(?:rd|RD)_\w+(?=\(|$| =)", line.strip())[0] for head in heads for line in head.split("\n")]


def test_c_functions(c):
    functions = {name for one in re.findall(r"RD_API\b[^;]*;", HEADER) for name in re.findall(r"\b(rd_\w+)\(", one)}
    assert len(functions) > 250
    assert functions - set(declared(c)) == set()


def test_c_macros_types_and_enumerators(c):
    macros = set(re.findall(r"^ *#define ((?:rd|RD)_\w*[a-zA-Z0-9])\b", HEADER, re.M))
    types = set(re.findall(r"^\} (rd_\w+);", HEADER, re.M)) | set(re.findall(r"^typedef [^;(]*\b(rd_\w+);", HEADER, re.M))
    enumerators = {name for body in re.findall(r"enum(?: rd_\w+)? \{(.*?)\}", HEADER, re.S) for name in re.findall(r"RD_\w+", body)}
    assert len(macros) > 80 and len(types) > 30 and len(enumerators) > 60
    assert (macros | types | enumerators) - set(declared(c)) == set()


def test_each_c_name_has_one_target(c):
    names = declared(c)
    assert sorted(name for name in set(names) if names.count(name) > 1) == []


def test_c_comments_are_all_there(c):
    """Words of comments that say what a function is, in the order of the header."""
    overview, chapters = header.chapters()
    assert "Keywords." in overview and len(chapters) > 20
    plain = re.sub(r"\s+", " ", re.sub(r"\\ |[`\\]|:c:\w+:|:doc:| </[\w-]+>", "", c))
    for comment in re.findall(r"^/\*\* (.*?)[.:;\n]", TEXT, re.M):
        words = " ".join(re.sub(r"[`\\]", "", comment).split())
        assert words in plain, words


def test_python_names(python):
    aliases = {one for found in re.findall(r"Other names: (.*)\.$", python, re.M) for one in re.findall(r"``(\w+)``", found)}
    shown = set(re.findall(r"^\.\. (?:autofunction|autoclass|py:data|py:exception|py:module):: rdim\.([\w.]+)", python, re.M)) | aliases
    assert set(rd.__all__) - shown == set()
    for name in python_pages.MODULES:
        assert {f"{name}.{one}" for one in getattr(rd, name).__all__} - shown == set()


def test_links_to_c(c):
    """Functions of the tables that call the library directly link to names that the pages have."""
    calls = python_pages.c_calls()
    assert calls["rdim.mean"] == ("rd_mean",) and calls["rdim.sqrt"] == ("rd_sqrt",) and len(calls) > 120
    there = set(declared(c))
    assert {one for found in calls.values() for one in found} - there == set()
