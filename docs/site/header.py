"""Reads include/rdim.h and its parts as the manual that they are: chapters, comments, and what each comment is about.

Each part is a chapter: its first comment has the title and the chapter's text, and a comment `/** */` stands above each
name.  Tools for C's comments (Doxygen with Breathe, Hawkmoth) leave out the chapters' texts and take plain text for markup.
"""

from __future__ import annotations

import dataclasses
import pathlib
import re

__all__ = ["Chapter", "Item", "Name", "chapters", "kinds", "parts"]

HEADER = pathlib.Path(__file__).parents[2] / "include/rdim.h"


@dataclasses.dataclass
class Name:
    """A public name: func, macro, type, struct, enum or enumerator, and how it is declared."""

    kind: str
    name: str
    text: str
    remark: str = ""


@dataclasses.dataclass
class Item:
    """A comment, without its marks, and what it is about; `code`: a type as the header has it; `title`: of a section."""

    comment: str = ""
    names: list[Name] = dataclasses.field(default_factory=list)
    code: str = ""
    title: str = ""


@dataclasses.dataclass
class Chapter:
    """A part of the header."""

    title: str
    text: str
    items: list[Item]


def _plain(comment: str) -> str:
    """A comment's text: lines without the stars, the first one indented as the others are."""
    body = re.sub(r"^/\*+ ?|\s*\*+/$", "", comment)
    lines = [re.sub(r"^\s*\* ?", "", line) for line in body.split("\n")]
    margin = min((len(line) - len(line.lstrip()) for line in lines[1:] if line.strip()), default=0)
    return "\n".join([lines[0].strip(), *(line[margin:].rstrip() for line in lines[1:])]).strip("\n")


def _of_c(text: str) -> str:
    """The branches that C compilers read, without the directives of branches."""
    kept, stack = [], [True]
    for line in re.sub(r"\\\n", "\\\\\0", text).split("\n"):
        word = re.match(r"\s*#\s*(ifdef|ifndef|if|else|elif|endif)\b(.*)", line)
        if word is None:
            if all(stack):
                kept.append(line.replace("\0", "\n"))
        elif word[1] in ("if", "ifdef", "ifndef"):
            stack.append("__cplusplus" not in word[2] or word[1] == "ifndef")
        elif word[1] in ("else", "elif"):
            stack[-1] = not stack[-1]
        else:
            stack.pop()
    return "\n".join(kept)


def _enumerators(body: str) -> list[Name]:
    """Each with the comment above it, or the one behind it."""
    found, above = [], ""
    for part in re.finditer(r"/\*.*?\*/|\b(RD_\w+)\s*(= *-?\w+)?", body, re.S):
        if part[1]:
            found.append(Name("enumerator", part[1], f"{part[1]} {part[2] or ''}".strip(), above))
            above = ""
        elif part[0].startswith("/**"):
            above = _plain(part[0])
        elif found:
            found[-1].remark = _plain(part[0])
    return found


def _type(code: str) -> Item:
    """A typedef, a struct or an enum; its enumerators are names, too."""
    bare = re.sub(r"/\*.*?\*/", "", code, flags=re.S)
    body = re.search(r"\{(.*)\}", code, re.S)
    enum = re.match(r"(?:typedef )?enum", bare) is not None
    function = re.match(r"typedef .*?\b(rd_\w+)\s*\(", bare, re.S)
    if function:
        names = [Name("type", function[1], " ".join(bare.removeprefix("typedef").rstrip("; \n").split()))]
    else:
        last = re.findall(r"\b(rd_\w+)\s*$", re.sub(r"\{.*\}", " ", bare, flags=re.S).rstrip("; \n"))
        names = [Name("enum" if enum else "struct" if body else "type", name, name) for name in last]
    if enum and body:
        names += _enumerators(body[1])
    return Item("", names, code)


def _statement_end(text: str, at: int) -> int:
    """Behind the `;` that ends a statement: comments and braces within it do not count."""
    depth = 0
    while at < len(text):
        if text.startswith("/*", at):
            at = text.index("*/", at) + 2
            continue
        depth += (text[at] in "{(") - (text[at] in "})")
        at += 1
        if text[at - 1] == ";" and depth == 0:
            break
    return at


def _item(code: str) -> Item:
    """What a declaration or a directive makes public."""
    if code.startswith("RD_API"):
        text = " ".join(code.removeprefix("RD_API").rstrip(";").split())
        return Item("", [Name("func", re.findall(r"\b(rd_\w+)\s*\(", text)[0], text)])
    if not code.startswith("#"):
        return _type(code)
    found = re.match(r"#define (\w+)(\([^)]*\))?", code)
    if found is None or found[1].endswith("_") or not found[1].startswith(("rd_", "RD_")):
        return Item()
    return Item("", [Name("macro", found[1], found[1] + (found[2] or ""))])


def _items(text: str) -> list[Item]:
    """Those of a part in their order, each with the comment right above it."""
    found: list[Item] = []
    comment, at = "", 0
    while at < len(text):
        rest = text[at:]
        if rest.startswith("/*"):
            end = at + rest.index("*/") + 2
            title = re.match(r"/\* ---- (.*?) -+ \*/", text[at:end])
            comment = _plain(text[at:end]) if rest.startswith("/**") else ""
            if title:
                found.append(Item(title=title[1]))
        elif rest.startswith("#"):
            end = at + len(re.match(r"#(?:\\\n|/\*.*?\*/|[^\n])*", rest, re.S)[0])  # type: ignore[index]
        elif re.match(r"RD_API|typedef|enum\b|struct\b", rest):
            end = _statement_end(text, at)
        else:
            at += rest.find("\n") + 1 or len(rest)
            continue
        item = Item() if rest.startswith("/*") else _item(text[at:end].strip())
        if item.names:
            item.comment, comment = comment, ""
            found.append(item)
        at = end
        at += len(re.match(r"\s*", text[at:])[0])  # type: ignore[index]
    return found


def parts() -> list[pathlib.Path]:
    """The files that the header includes, in its order, each after those that it needs."""
    return [HEADER.parent / name for name in re.findall(r'^#include "(rdim/\w+\.h)"', HEADER.read_text(), re.M)]


def chapters() -> tuple[str, list[Chapter]]:
    """The header's first comment, and its chapters."""
    found = []
    for part in parts():
        head, _, rest = part.read_text().partition("*/")
        title, _, text = _plain(head + "*/").partition(" - ")[2].partition("\n\n")
        title = " ".join(title.split()).rstrip(".")
        found.append(Chapter(title[:1].upper() + title[1:], text, _items(_of_c(rest))))
    return _plain(HEADER.read_text().partition("*/")[0] + "*/"), found


def kinds(found: list[Chapter]) -> dict[str, str]:
    """What each public name is."""
    return {name.name: name.kind for chapter in found for item in chapter.items for name in item.names}
