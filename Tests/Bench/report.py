# SPDX-License-Identifier: Apache-2.0
"""Writes results as tables on the terminal, and as Markdown, JSON and SVG into the folder `results` of the cache."""
import json
import os
import time


def text_table(rows):
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for number, row in enumerate(rows):
        yield "  ".join(cell.ljust(width) if column == 0 else cell.rjust(width)
                        for column, (cell, width) in enumerate(zip(row, widths))).rstrip()
        if number == 0:
            yield "  ".join("-" * width for width in widths)


def markdown_table(rows):
    yield "| " + " | ".join(rows[0]) + " |"
    yield "|---|" + "--:|" * (len(rows[0]) - 1)
    for row in rows[1:]:
        yield "| " + " | ".join(row) + " |"


def write(options, name, results, tables, drawing=None):
    """Prints the tables, and writes everything."""
    folder = os.path.join(options.cache, "results")
    os.makedirs(folder, exist_ok=True)
    results["taken"] = time.strftime("%Y-%m-%d")
    markdown = []
    for title, rows in tables:
        print(f"\n{title}\n")
        print("\n".join(text_table(rows)), flush=True)
        markdown += [f"{title}:", "", *markdown_table(rows), ""]
    markdown += [f"Measured on {results['machine']}, {results['taken']}, by `Deploy/bench{options.words}`.", ""]
    files = {"md": "\n".join(markdown), "json": json.dumps(results, indent=1) + "\n", "svg": drawing}
    for ending, content in files.items():
        if content:
            with open(os.path.join(folder, f"{name}.{ending}"), "w", encoding="utf-8") as file:
                file.write(content)
    for error in results.get("errors", []):
        print(f"error: {error}")
    print(f"\nwritten: {folder}/{name}." + ", .".join(ending for ending, content in files.items() if content))
    if results.get("errors"):
        raise SystemExit(1)
