#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How long a person types the commands of pages.

    Tests/Package/typing_effort.py COMMANDS [FILE...]

COMMANDS has command lines as pages print them, FILE... are printed configurations. A person types command lines, but not
their comments. A person pastes configurations, also those in a here-document, and then replaces the example addresses by
their own. Ends with 1 above ten minutes of typing.
"""
import re
import sys
from dataclasses import dataclass

WORDS_A_MINUTE = 40
# A word of typing speed has five characters, its space included.
CHARACTERS_A_MINUTE = WORDS_A_MINUTE * 5
LIMIT = 10

HERE_DOCUMENT = re.compile(r"<<-?\s*['\"]?(\w+)['\"]?")
# The addresses that pages use as examples (RFC 5737).
EXAMPLE_ADDRESS = re.compile(r"\b(?:192\.0\.2|198\.51\.100|203\.0\.113)\.\d+\b")


@dataclass
class Effort:
    """What a person types and pastes. Characters include the end of each line."""

    lines: int = 0
    characters: int = 0
    pasted: int = 0
    pasted_characters: int = 0
    replaced: int = 0
    replaced_characters: int = 0

    def type_line(self, line):
        """Counts a command line without its comment."""
        line = re.sub(r"\s+#\s.*$", "", line).strip()
        if line and not line.startswith("#"):
            self.lines += 1
            self.characters += len(line) + 1

    def paste_line(self, line):
        """Counts a line of a configuration, and the addresses in it."""
        self.pasted += 1
        self.pasted_characters += len(line) + 1
        # Comments name addresses too, and work as printed.
        for address in EXAMPLE_ADDRESS.findall(re.split(r"[#;]\s", line)[0]):
            self.replaced += 1
            self.replaced_characters += len(address)

    @property
    def minutes(self):
        """Minutes of typing: command lines, and replaced addresses."""
        return (self.characters + self.replaced_characters) / CHARACTERS_A_MINUTE

    @property
    def minutes_without_paste(self):
        """Minutes for somebody who types the configurations too."""
        return (self.characters + self.pasted_characters) / CHARACTERS_A_MINUTE


def effort(commands, files):
    """The effort for the text of command lines and the texts of configurations."""
    found = Effort()
    end = None
    for line in commands.splitlines():
        if end is None:
            found.type_line(line)
            opening = HERE_DOCUMENT.search(line)
            end = opening[1] if opening else None
        elif line == end:
            found.type_line(line)
            end = None
        else:
            found.paste_line(line)
    for text in files:
        for line in text.splitlines():
            found.paste_line(line)
    return found


def main():
    texts = []
    for path in sys.argv[1:]:
        with open(path, encoding="utf-8") as file:
            texts.append(file.read())
    found = effort(texts[0], texts[1:])
    print(f"      typed: {found.lines} lines, {found.characters} characters; {found.replaced} addresses replaced in "
          f"{found.pasted} pasted lines, {found.replaced_characters} characters")
    print(f"      {found.minutes:.1f} minutes of typing at {WORDS_A_MINUTE} words a minute, "
          f"{found.minutes_without_paste:.1f} without pasting")
    sys.exit(0 if found.minutes <= LIMIT else 1)


if __name__ == "__main__":
    main()
