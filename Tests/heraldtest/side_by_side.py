# SPDX-License-Identifier: Apache-2.0
"""One SIP message before and after the gateway, in two columns, with changes marked."""
import difflib
import textwrap

GREEN, YELLOW, RED, PLAIN = "\033[32m", "\033[33m", "\033[31m", "\033[0m"


def header_name(line):
    return line.split(":", 1)[0].lower()


def pairs(before, after):
    """(mark, left, right) lines: ' ' same, '~' changed, '+' added by the gateway, '-' removed by it."""
    matcher = difflib.SequenceMatcher(a=before, b=after, autojunk=False)
    for tag, a1, a2, b1, b2 in matcher.get_opcodes():
        if tag == "equal":
            for left, right in zip(before[a1:a2], after[b1:b2]):
                yield " ", left, right
            continue
        yield from changes(before[a1:a2], after[b1:b2])


def changes(lefts, rights):
    """One run of differing lines; a changed line pairs with the most similar line of the same header."""
    partner_of = {}
    for left in lefts:
        alike = [
            (difflib.SequenceMatcher(a=left, b=right, autojunk=False).ratio(), number)
            for number, right in enumerate(rights)
            if header_name(left) == header_name(right) and number not in partner_of]
        if alike:
            partner_of[max(alike)[1]] = left
    for left in lefts:
        if left not in partner_of.values():
            yield "-", left, ""
    for number, right in enumerate(rights):
        yield ("~", partner_of[number], right) if number in partner_of else ("+", "", right)


def wrapped(text, width):
    return textwrap.wrap(text, width, subsequent_indent="    ", break_on_hyphens=False) or [""]


def render(before, after, width, coloured):
    """The two messages as lines of at most `width` columns."""
    column = (width - 5) // 2
    colours = {"~": YELLOW, "+": GREEN, "-": RED, " ": ""}
    yield f"  {'from the trunk'.ljust(column)}   to the PBX".rstrip()
    yield f"  {'-' * column}   {'-' * column}"
    for mark, left, right in pairs(before.splitlines(), after.splitlines()):
        lefts, rights = wrapped(left, column), wrapped(right, column)
        for number in range(max(len(lefts), len(rights))):
            one = lefts[number] if number < len(lefts) else ""
            two = rights[number] if number < len(rights) else ""
            line = f"{mark if left else ' '} {one.ljust(column)} {mark if right else ' '} {two}".rstrip()
            yield f"{colours[mark]}{line}{PLAIN}" if coloured and mark != " " else line


def table(rows, width):
    """Rows of texts as aligned columns; the first row is the heading."""
    sizes = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for number, row in enumerate(rows):
        yield "  ".join(cell.ljust(size) for cell, size in zip(row, sizes)).rstrip()[:width]
        if number == 0:
            yield "  ".join("-" * size for size in sizes)[:width]
