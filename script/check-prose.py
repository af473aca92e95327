#!/usr/bin/env python3
"""How long the sentences of the pages are: words in the mean, of nine in ten, and of the longest.

script/check-prose.py [PAGE...] prints a line a page and the longest sentences, and fails if one has more than 45
words.  Without pages it reads README.md, CONTRIBUTING.md, CHANGELOG.md and docs/*.md.  Code, tables and headings are no
sentences; an item of a list ends at its end.
"""

import glob
import re
import sys

LONGEST = 45  # words; the aim is 22 in the mean and 35 at most
SHOWN = 10


def prose(text):
    """Paragraphs: lines of prose that follow each other, each as one string with its first line's number."""
    paragraphs, lines, first, fenced = [], [], 0, False
    for number, line in enumerate(text.split("\n") + [""], 1):
        if line.lstrip().startswith("```"):
            fenced = not fenced
            line = ""
        item = re.match(r"\s*([-*]|\d+\.)\s+", line)
        ends = fenced or not line.strip() or line.startswith(("|", "#", "    ", "<", ":::", "- [", "![")) or item
        if ends and lines:
            paragraphs.append((first, " ".join(lines)))
            lines = []
        if item and not fenced:
            line = line[item.end():]
        elif ends:
            continue
        if not lines:
            first = number
        lines.append(line.strip())
    return paragraphs


def sentences(text):
    """Each sentence with the line of the paragraph it stands in."""
    for line, paragraph in prose(text):
        paragraph = re.sub(r"`[^`]*`", "code", paragraph)
        paragraph = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", paragraph)
        paragraph = re.sub(r"\b(e\.g|i\.e|etc|vs|cf)\.", r"\1", paragraph)
        for sentence in re.split(r"(?<=[.!?])\s+(?=[A-Z0-9*_(\"'a-z])", paragraph):
            words = re.findall(r"[\w'%-]*\w[\w'%-]*", sentence)
            if words:
                yield line, len(words), sentence


def main(pages):
    pages = pages or sorted(glob.glob("docs/*.md")) + ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"]
    every = []
    print(f"{'page':32} sentences  mean  of nine in ten  longest")
    for page in pages:
        with open(page, encoding="utf-8") as file:
            found = list(sentences(file.read()))
        counts = sorted(count for _, count, _ in found)
        if not counts:
            continue
        print(f"{page:32} {len(counts):9} {sum(counts) / len(counts):5.1f} {counts[len(counts) * 9 // 10]:15} {counts[-1]:8}")
        every += [(count, page, line, sentence) for line, count, sentence in found]
    every.sort(reverse=True)
    for count, page, line, sentence in every[:SHOWN]:
        print(f"{page}:{line}: {count} words: {sentence}")
    if every and every[0][0] > LONGEST:
        print(f"sentences of more than {LONGEST} words: {sum(count > LONGEST for count, *_ in every)}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
