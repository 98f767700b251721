#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes Debian's changelog of a package from CHANGELOG.md on standard input.

    Deploy/debian/changelog.py herald 0.2.0-1 "Herald <herald@example.org>" <CHANGELOG.md

A heading of a version is `## 0.2.0, 27 November 2026`; its bullets become the entry. VERSION replaces the first number.
With --date the output is the date of the first entry alone.
"""
import re
import sys
import textwrap
from datetime import datetime, timezone

HEADING = re.compile(r"^## (\d+\.\d+\.\d+), (\d{1,2} \w+ \d{4})$")


def versions(text):
    """(number, date, bullets) of each version, the newest first.

    Changes without a version belong to the build, so they are those of the newest one.
    """
    found, unreleased = [], []
    bullets = unreleased
    for line in text.splitlines():
        if match := HEADING.match(line):
            bullets = [] if found else unreleased
            found.append((match[1], datetime.strptime(match[2], "%d %B %Y").replace(tzinfo=timezone.utc), bullets))
        elif line.startswith("## ") and (found or line != "## Unreleased"):
            raise SystemExit(f"error: CHANGELOG.md: '{line}' is no heading of a version; write '## 1.2.3, 1 January 2026'")
        elif line.startswith("- "):
            bullets.append(line[2:])
        elif line.startswith("  ") and bullets:
            bullets[-1] += " " + line.strip()
    if not found:
        raise SystemExit("error: CHANGELOG.md has no version")
    return found


def entry(package, version, date, bullets, maintainer):
    """One entry of debian/changelog."""
    lines = [f"{package} ({version}) unstable; urgency=medium", ""]
    for bullet in bullets:
        lines += textwrap.wrap(
            bullet, 78, initial_indent="  * ", subsequent_indent="    ", break_long_words=False, break_on_hyphens=False)
    return "\n".join([*lines, "", f" -- {maintainer}  {date.strftime('%a, %d %b %Y %H:%M:%S +0000')}", ""])


def main():
    found = versions(sys.stdin.read())
    if sys.argv[1:] == ["--date"]:
        print(found[0][1].strftime("%-d %B %Y"))
        return
    package, first, maintainer = sys.argv[1:]
    numbers = [first] + [f"{number}-1" for number, _, _ in found[1:]]
    print("\n".join(
        entry(package, number, date, bullets, maintainer) for number, (_, date, bullets) in zip(numbers, found)))


if __name__ == "__main__":
    main()
