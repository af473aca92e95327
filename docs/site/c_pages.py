"""The C header as pages of reStructuredText, a page for each chapter."""

from __future__ import annotations

import pathlib
import re
import textwrap

from header import Chapter, Item, Name, chapters, kinds, parts

__all__ = ["write"]

DIRECTIVES = {"func": "function"}
BEFORE, AFTER = " \n'\"([{-/:", " \n'\")]}-/:.,;!?"
WORD = re.compile(r"\b(?:rd|RD)_\w+(?:\(\))?|\bdocs/([\w-]+)\.md|`[^`\n]+`|(?<![\w.)\]])\.[a-z_]\w+|[\\*`_|<>]")


class Writer:
    """Texts of comments as reStructuredText; names that the header has are links."""

    def __init__(self, kind: dict[str, str]) -> None:
        self.kind = kind
        self.declared: set[str] = set()

    def _marked(self, word: str, page: str | None) -> str:
        name = word.removesuffix("()")
        if page:
            return f":doc:`docs/{page}.md </{page}>`"
        if name in self.kind:
            return f":c:{self.kind[name]}:`{word}`"
        return f"``{word.strip('`')}``"

    def _word(self, found: re.Match[str]) -> str:
        """Marks that touch a word need a space that is not seen."""
        if len(found[0]) == 1:
            return "\\" + found[0]
        before, after = found.string[: found.start()][-1:], found.string[found.end() :][:1]
        return (("" if before in BEFORE or not before else "\\ ") + self._marked(found[0], found[1])
                + ("" if after in AFTER or not after else "\\ "))

    def inline(self, text: str) -> str:
        return WORD.sub(self._word, text)

    def paragraphs(self, text: str) -> list[str]:
        """Lines that stand further in are shown as they are; @param and @return are fields."""
        blocks: list[str] = []
        for part in re.split(r"\n\s*\n", textwrap.dedent(text)):
            blocks += self._part(part.split("\n"))
        return blocks

    def _part(self, lines: list[str]) -> list[str]:
        blocks: list[str] = []
        while lines:
            n = 1
            if lines[0].startswith("@"):
                while n < len(lines) and lines[n].startswith(" "):
                    n += 1
                blocks.append(self._field(lines[:n]))
            elif lines[0].startswith("  "):
                while n < len(lines) and lines[n].startswith("  "):
                    n += 1
                language = "c" if any(line.rstrip().endswith(";") for line in lines[:n]) else "text"
                blocks.append(code_block(language, textwrap.dedent("\n".join(lines[:n]))))
            elif lines[0].startswith("- "):
                while n < len(lines) and lines[n].startswith(("  ", "- ")):
                    n += 1
                blocks.append(self.inline("\n".join(lines[:n])))
            else:
                while n < len(lines) and not lines[n].startswith(("  ", "@", "- ")):
                    n += 1
                blocks.append(self.inline("\n".join(lines[:n])))
            lines = lines[n:]
        return blocks

    def _field(self, lines: list[str]) -> str:
        text = " ".join(line.strip() for line in lines)
        found = re.match(r"@(param|return)\s+(?:(?<=param )(\w+)\s+|(?<=param  )(\w+)\s+)?(.*)", text, re.S)
        assert found, text
        name, rest = found[2] or found[3], found[4]
        if found[1] == "param" and name is None:
            name, _, rest = rest.partition(" ")
        head = f":param {name}:" if found[1] == "param" else ":returns:"
        return f"{head} {self.inline(rest.strip())}"

    # ---- Items --------------------------------------------------------------------------------------------------
    def _directives(self, names: list[Name]) -> list[str]:
        """A directive for neighbours of one kind; a second declaration of a name is shown as code."""
        found: list[str] = []
        for name in names:
            head = f".. c:{DIRECTIVES.get(name.kind, name.kind)}:: "
            if name.name in self.declared:
                found.append(code_block("c", name.text))
            elif name.remark:
                found.append(f"{head}{name.text}\n\n   {self.inline(' '.join(name.remark.split()))}")
            elif found and found[-1].startswith(head) and "\n\n" not in found[-1]:
                found[-1] += f"\n{' ' * len(head)}{name.text}"
            else:
                found.append(f"{head}{name.text}")
            self.declared.add(name.name)
        return found

    def item(self, item: Item) -> str:
        if item.title:
            return f"{item.title}\n{'-' * len(item.title)}"
        body = self.paragraphs(item.comment) if item.comment else []
        if item.code and "{" in item.code and not any(one.kind == "enumerator" for one in item.names):
            body.append(code_block("c", item.code))
        elif item.code and not item.comment and "{" not in item.code:
            body.append(code_block("c", item.code))
        if not item.names:
            return "\n\n".join(body)
        enumerators = [one for one in item.names if one.kind == "enumerator"]
        heads = self._directives([one for one in item.names if one.kind != "enumerator"])
        inner = self._directives(enumerators)
        if not heads or not heads[-1].startswith(".. c:"):
            return "\n\n".join([*heads, *inner, *body])
        fields = [one for one in body if one.startswith(":") and not one.startswith(":c:")]
        body = [one for one in body if one not in fields] + (["\n".join(fields)] if fields else [])
        inside = textwrap.indent("\n\n".join(body + inner), "   ")
        return "\n\n".join([*heads[:-1], f"{heads[-1]}\n\n{inside}"]) if inside.strip() else "\n\n".join(heads)

    def chapter(self, chapter: Chapter) -> str:
        blocks = [f"{chapter.title}\n{'=' * len(chapter.title)}"]
        blocks += self.paragraphs(chapter.text) if chapter.text else []
        return "\n\n".join(blocks + [self.item(one) for one in chapter.items]) + "\n"


def code_block(language: str, text: str) -> str:
    return f".. code-block:: {language}\n\n" + textwrap.indent(text, "   ")


def write(folder: pathlib.Path) -> None:
    """Pages into the folder, index.rst among them."""
    overview, found = chapters()
    writer = Writer(kinds(found))
    folder.mkdir(parents=True, exist_ok=True)
    names = []
    for part, chapter in zip(parts(), found):
        names.append(part.stem)
        (folder / f"{names[-1]}.rst").write_text(writer.chapter(chapter))
    first, _, rest = overview.partition("\n")
    listed = "\n".join(f"   {name}" for name in names)
    (folder / "index.rst").write_text(
        f"The C library\n=============\n\n{writer.inline(first)}\n\nThese are the parts of ``include/rdim.h``, a page for each.\n\n"
        + code_block("text", rest.strip("\n")) + f"\n\n.. toctree::\n   :maxdepth: 1\n\n{listed}\n")
