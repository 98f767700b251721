#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints the commands of a section of a page, as a reader would paste them.

    Tests/Package/readme.py README.md "Your own trunk and PBX" "**2." "**3."

Only the paragraphs that begin with one of the marks count, each to the next paragraph that begins with `**`.
"""
import re
import sys


def section(text, title):
    """The lines below a heading."""
    found = re.search(rf"^## {re.escape(title)}\n(.*?)(?=^## |\Z)", text, re.M | re.S)
    if not found:
        raise SystemExit(f"error: there is no heading '{title}'")
    return found[1].splitlines()


def commands(lines, marks):
    """Indented lines and lines of fenced shell blocks of the marked paragraphs."""
    wanted = not marks
    fenced = shell = False
    for line in lines:
        if line.startswith("**") and not fenced and marks:
            wanted = any(line.startswith(mark) for mark in marks)
        if line.startswith("```"):
            fenced, shell = not fenced, line[3:].strip() in ("", "sh")
        elif fenced:
            if wanted and shell:
                yield line
        elif wanted and line.startswith("    "):
            yield line[4:]


def main():
    path, title, *marks = sys.argv[1:]
    with open(path, encoding="utf-8") as page:
        found = list(commands(section(page.read(), title), marks))
    if not found:
        raise SystemExit(f"error: '{title}' of {path} has no commands")
    print("\n".join(found))


if __name__ == "__main__":
    main()
