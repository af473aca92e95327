"""Settings of Sphinx for the site that script/site builds."""

from __future__ import annotations

import inspect
import pathlib
import re
import sys
from typing import Any

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import header  # noqa: E402
import python_pages  # noqa: E402

project = "rdim"
html_show_copyright = False
extensions = ["sphinx.ext.autodoc", "sphinx.ext.napoleon", "myst_nb"]
exclude_patterns = ["_build"]
html_theme = "furo"
html_title = "rdim"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_theme_options = {"source_repository": "", "navigation_with_keys": True}
highlight_language = "none"
nitpicky = False
# Pages link to headings of each other by the names that other readers of Markdown give them.
myst_heading_anchors = 4
myst_enable_extensions = ["dollarmath"]
# The notebook is run for the site; it takes a second.
nb_execution_mode = "force"
nb_execution_timeout = 120
nb_execution_raise_on_error = True
nb_merge_streams = True
autodoc_typehints = "signature"
autodoc_member_order = "alphabetical"
napoleon_google_docstring = False
napoleon_use_rtype = False

_CALLS = python_pages.c_calls()
_KINDS = header.kinds(header.chapters()[1])


def _plain(app: Any, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    """Docstrings of Python are plain text: their stars and bars are no marks.  Those of the tables have marks."""
    if not inspect.isbuiltin(thing) and not inspect.ismethoddescriptor(thing):
        lines[:] = [re.sub(r"([*|`]|(?<=\w)_(?!\w))", r"\\\1", line) for line in lines]


def _link_to_c(app: Any, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    """The functions of C that a function makes nodes by."""
    links = [f":c:{_KINDS[one]}:`{one}`" for one in _CALLS.get(name, ()) if one in _KINDS]
    if links:
        lines += ["", f"In C: {', '.join(links)}.", ""]


def setup(app: Any) -> None:
    app.connect("autodoc-process-docstring", _plain, priority=100)
    app.connect("autodoc-process-docstring", _link_to_c)
