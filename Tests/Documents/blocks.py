# SPDX-License-Identifier: Apache-2.0
"""The code blocks of README.md and docs: fenced and indented, with page, line, heading, language and file name."""
import os
import re
from dataclasses import dataclass

from heraldtest import ROOT

# The file that a block is meant for, in a comment of its first two lines: "; /etc/asterisk/pjsip.conf, in [carrier]".
TITLE = re.compile(r"^(?:;|#|//|<!--)\s*(/[^\s,]+)(?:,\s*(.*?))?\s*(?:-->)?$")
LIST_ITEM = re.compile(r"^ {0,3}(?:[-*]|\d+\.) ")


@dataclass(frozen=True)
class Block:
    """One block. `language` is the word behind the fence, "indented" without a fence."""

    page: str
    line: int
    heading: str
    language: str
    lines: tuple

    @property
    def text(self):
        return "\n".join(self.lines) + "\n"

    @property
    def place(self):
        return f"{self.page}:{self.line}"

    @property
    def title(self):
        """(file, which part or variant of it), or ("", "")."""
        for line in self.lines[:2]:
            if found := TITLE.match(line):
                return found.group(1), found.group(2) or ""
        return "", ""


def pages():
    """README.md, and every page below docs."""
    found = ["README.md"]
    for folder, _, names in os.walk(os.path.join(ROOT, "docs")):
        found += [os.path.relpath(os.path.join(folder, name), ROOT) for name in names if name.endswith(".md")]
    return sorted(found)


def of_page(page):
    """The blocks of one page, in order."""
    with open(os.path.join(ROOT, page), encoding="utf-8") as file:
        return list(read(page, file.read().split("\n")))


def everywhere():
    return [block for page in pages() for block in of_page(page)]


def read(page, lines):
    """Yields the blocks of a page's lines."""
    heading, number, in_list = "", 0, False
    while number < len(lines):
        line = lines[number]
        if fence := re.match(r"^(\s*)(```+)\s*([\w+-]*)", line):
            start, indent, marks, language = number, len(fence[1]), fence[2], fence[3]
            number += 1
            while number < len(lines) and not lines[number].lstrip().startswith(marks):
                number += 1
            yield Block(page, start + 2, heading, language, tuple(
                text[indent:] if not text[:indent].strip() else text for text in lines[start + 1:number]))
        elif line.startswith("    ") and not in_list:
            start = number
            while number < len(lines) and (lines[number].startswith("    ") or (
                    not lines[number].strip() and number + 1 < len(lines) and lines[number + 1].startswith("    "))):
                number += 1
            yield Block(page, start + 1, heading, "indented", tuple(text[4:] for text in lines[start:number]))
            continue
        elif line.startswith("#"):
            heading = line.lstrip("#").strip()
        # Indented lines below an item are its text, up to the next line without indentation.
        if LIST_ITEM.match(line):
            in_list = True
        elif line.strip() and not line.startswith(" "):
            in_list = False
        number += 1
