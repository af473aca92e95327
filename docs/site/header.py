"""Reads include/rdim.h as the manual that it is: chapters, comments, and the names that each comment is about.

Tools for C's comments (Doxygen with Breathe, Hawkmoth) want one comment a name.  Here one comment is of several
functions of one declaration, of keyword macros, and chapters have texts of their own, which such tools leave out.
"""

from __future__ import annotations

import dataclasses
import pathlib
import re

__all__ = ["Chapter", "Item", "Name", "chapters", "kinds"]

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
    """A comment, without its marks, and what it is about; `code`: a type as the header has it."""

    comment: str = ""
    names: list[Name] = dataclasses.field(default_factory=list)
    code: str = ""


@dataclasses.dataclass
class Chapter:
    """A part of the header with a title."""

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
    """The branches that C compilers read."""
    kept, stack = [], [True]
    for line in re.sub(r"\\\n", "\\\\\0", text).split("\n"):
        word = re.match(r"\s*#\s*(ifdef|ifndef|if|else|elif|endif)\b(.*)", line)
        if word is None or not line.strip():
            if all(stack):
                kept.append(line.replace("\0", "\n"))
            continue
        if word[1] in ("if", "ifdef", "ifndef"):
            stack.append("__cplusplus" not in word[2] or word[1] == "ifndef")
        elif word[1] in ("else", "elif"):
            stack[-1] = not stack[-1]
        else:
            stack.pop()
        if all(stack) and "__cplusplus" in word[2] or word[1] == "endif":
            kept.append("#edge")
    return "\n".join(kept)


def _split(text: str) -> list[str]:
    """Parts between commas that no parentheses enclose."""
    parts, depth = [""], 0
    for c in text:
        depth += (c in "([{") - (c in ")]}")
        if c == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += c
    return [" ".join(part.split()) for part in parts]


def _functions(declaration: str) -> list[Name]:
    """Those of `RD_API T *f(...), *g(...)`."""
    first, *others = _split(declaration)
    found = re.match(r"(?P<type>.*?)(?P<first>\**\s*(?P<name>rd_\w+)\s*\(.*)", first)
    assert found, declaration
    texts = [first] + [f"{found['type']}{other}" for other in others]
    return [Name("func", re.findall(r"\b(rd_\w+)\s*\(", text)[0], text) for text in texts]


def _enumerators(body: str) -> list[Name]:
    """Each with the comment behind it."""
    found = re.findall(r"\b(RD_\w+)\s*(= *-?\w+)?[^,/]*(?:,|$)?\s*(/\*.*?\*/)?(?=\s*(?:RD_|$))", body.strip(), re.S)
    return [Name("enumerator", name, f"{name} {value}".strip(), _plain(remark)) for name, value, remark in found]


def _type(code: str) -> Item:
    """A typedef, a struct or an enum; its enumerators are names, too."""
    bare = re.sub(r"/\*.*?\*/", "", code, flags=re.S)
    body = re.search(r"\{(.*)\}", code, re.S)
    enum = re.match(r"(?:typedef )?enum", bare) is not None
    function = re.match(r"typedef .*?\b(rd_\w+)\s*\(", bare, re.S)
    if function:
        names = [Name("type", function[1], " ".join(bare.removeprefix("typedef").rstrip("; \n").split()))]
    else:
        tail = re.sub(r"\{.*\}", " ", bare, flags=re.S).rstrip("; \n")
        last = re.findall(r"\b(rd_\w+)(?=\s*(?:,|$))", tail)
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


def _macro(line: str) -> tuple[Name | None, str]:
    """A public macro, and the comment behind it."""
    found = re.match(r"#define (\w+)(\([^)]*\))?(.*)", line, re.S)
    if found is None or found[1].endswith("_") or not found[1].lower().startswith("rd_"):
        return None, ""
    remark = re.search(r"/\*.*?\*/", found[3], re.S)
    return Name("macro", found[1], found[1] + (found[2] or "")), _plain(remark[0]) if remark else ""


class _Reader:
    """Goes through the header from one comment or statement to the next."""

    def __init__(self, text: str) -> None:
        self.text, self.at = text, 0
        self.found = [Chapter("Version and limits", "", [])]
        self.start()

    def start(self, comment: str = "") -> None:
        self.item = Item(comment)
        self.found[-1].items.append(self.item)

    def comment(self, text: str) -> None:
        title = re.match(r"/\* ---- (.*?) -+ *\*", text)
        after = self.text[self.at :].lstrip()
        if title:
            name, _, rest = title[1].partition(": ")
            body = _plain(text[title.end() :] if not title[0].endswith("*/") and len(text) > title.end() + 1 else "")
            self.found.append(Chapter(name, "\n\n".join(filter(None, [(rest[:1].upper() + rest[1:] + ".") if rest else "", body])), []))
            self.start()
        elif text.startswith("/**"):
            self.start(_plain(text))
        elif re.match(r"#define \w+_\b|#define RD_(REDUCE|MATRIX|ROLLING)", after):
            if self.item.names:  # a remark on what is private
                self.start()
        elif not (self.item.comment and not self.item.names) or re.match(r"/\*\*|typedef|enum", after):
            self.start(_plain(text))

    def statement(self) -> None:
        end = _statement_end(self.text, self.at)
        code = self.text[self.at : end].strip()
        self.at = end
        behind = re.match(r"[ \t]*(/\*.*?\*/)[ \t]*(?=\n)", self.text[end:], re.S)
        if code.startswith("RD_API"):
            self.item.names += _functions(re.sub(r"/\*.*?\*/", "", code.removeprefix("RD_API").rstrip(";"), flags=re.S))
        elif re.match(r"typedef\b|enum\b|struct rd_\w+ \{", code):
            made = _type(code)
            if self.item.names or (behind and not self.item.comment):
                self.start()
            self.item.names, self.item.code = made.names, made.code
            if behind and "{" not in code:
                self.item.comment = self.item.comment or _plain(behind[1])
                self.at += behind.end()

    def directive(self, end: int) -> None:
        line = self.text[self.at : end]
        self.at = end
        name, remark = _macro(line)
        if line == "#edge":
            if self.item.names:
                self.start()
        elif name:
            if self.item.code or (remark and (self.item.names or self.item.comment)):
                self.start()
            self.item.names.append(name)
            self.item.comment = self.item.comment or remark

    def read(self) -> list[Chapter]:
        while self.at < len(self.text):
            rest = self.text[self.at :]
            blank = re.match(r"[ \t]*\n([ \t]*\n)*", rest)
            if blank:
                self.at += blank.end()
                if blank[0].count("\n") > 1 and self.item.names:
                    self.start()
            elif rest.startswith("/*"):
                end = self.at + rest.index("*/") + 2
                text, self.at = self.text[self.at : end], end
                self.comment(text)
            elif rest.startswith("#"):
                found = re.match(r"#(?:\\\n|/\*.*?\*/|[^\n])*", rest, re.S)
                assert found
                self.directive(self.at + found.end())
            elif re.match(r"RD_API|typedef|enum\b|struct\b", rest):
                self.statement()
            else:
                self.at += rest.find("\n") + 1 or len(rest)
        return self.found


def chapters() -> tuple[str, list[Chapter]]:
    """The header's first comment, and its chapters."""
    text = HEADER.read_text()
    overview, _, rest = text.partition("*/")
    found = _Reader(_of_c(rest)).read()
    for chapter in found:
        chapter.items = [item for item in chapter.items if item.names or item.comment]
    return _plain(overview + "*/"), found


def kinds(found: list[Chapter]) -> dict[str, str]:
    """What each public name is."""
    return {name.name: name.kind for chapter in found for item in chapter.items for name in item.names}
