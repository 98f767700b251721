# SPDX-License-Identifier: Apache-2.0
"""The import graph between the targets of Sources, and the graph of files inside each target.

A file depends on another one of its target if it names a type that the other declares. A cycle of more than three
files needs a reason in ALLOWED: nobody can read one of its files alone.
"""
import argparse
import collections
import os
import re
import sys

from . import ROOT

SOURCES = os.path.join(ROOT, "Sources")
LARGEST_CYCLE = 3
# State machines whose files name each other: {target: [(a file of the cycle, reason)]}.
ALLOWED = {
    "GatewayStore": [
        ("Cluster/ClusterJournal.swift",
         "the journal has what several gateways add as one optional part, which changes its calls in its transaction")],
}

IMPORT = re.compile(r"^\s*(?:@testable\s+|@preconcurrency\s+)*(?:package\s+|internal\s+|public\s+|private\s+)?"
                    r"import\s+(?:(?:struct|class|enum|protocol|func)\s+)?(\w+)", re.MULTILINE)
# A declaration at the left margin; nested types belong to the file of the type around them.
DECLARATION = re.compile(r"^(?:@[\w()., ]+\s+)*"
                         r"(?:(?:package|internal|public|private|fileprivate|final|indirect|nonisolated)(?:\(\w+\))?\s+)*"
                         r"(?:struct|class|enum|actor|protocol|typealias)\s+(\w+)", re.MULTILINE)
PRIVATE = re.compile(r"\b(?:private|fileprivate)\b")
# Comments and texts name no types; code inside a text's \(…) is lost with it.
NO_CODE = re.compile(r'//[^\n]*|/\*.*?\*/|"""(?:.*?)"""|"(?:\\.|[^"\\\n])*"', re.DOTALL)
WORD = re.compile(r"(?<![.\w])[A-Z]\w*")


def code_of(path):
    """The text of a Swift file without comments and string literals."""
    with open(path, encoding="utf-8") as file:
        return NO_CODE.sub(lambda found: '""' if found[0][0] == '"' else "", file.read())


def swift_files(folder):
    """Paths of the Swift files below a folder, relative to it."""
    return sorted(
        os.path.relpath(os.path.join(place, name), folder)
        for place, _, names in os.walk(folder) for name in names if name.endswith(".swift"))


def file_graph(texts):
    """{file: {other file: the types it names of it}} from {file: code}."""
    owner = {}
    for file, text in texts.items():
        for found in DECLARATION.finditer(text):
            if not PRIVATE.search(found[0]):
                owner.setdefault(found[1], file)
    graph = {file: collections.defaultdict(set) for file in texts}
    for file, text in texts.items():
        for word in set(WORD.findall(text)):
            other = owner.get(word)
            if other and other != file:
                graph[file][other].add(word)
    return graph


def cycles(graph):
    """The strongly connected components with more than one member, largest first (Tarjan 1972)."""
    index, low, on_stack, stack, found = {}, {}, set(), [], []

    def visit(node):
        index[node] = low[node] = len(index)
        stack.append(node)
        on_stack.add(node)
        for other in graph[node]:
            if other not in index:
                visit(other)
                low[node] = min(low[node], low[other])
            elif other in on_stack:
                low[node] = min(low[node], index[other])
        if low[node] == index[node]:
            component = set()
            while node not in component:
                component.add(stack.pop())
            on_stack.difference_update(component)
            found.append(sorted(component))

    for node in graph:
        if node not in index:
            visit(node)
    return sorted((one for one in found if len(one) > 1), key=lambda one: (-len(one), one))


def cheapest_cut(graph, members):
    """(largest cycle left, from, to, types) for the edge whose removal shrinks a cycle most, fewest types first."""
    inside = {one: {other for other in graph[one] if other in members} for one in members}
    best = None
    for one in members:
        for other in sorted(inside[one]):
            rest = {node: others - {other} if node == one else others for node, others in inside.items()}
            left = max((len(cycle) for cycle in cycles(rest)), default=0)
            choice = (left, len(graph[one][other]), one, other)
            best = min(best, choice) if best else choice
    left, _, one, other = best
    return left, one, other, sorted(graph[one][other])


def print_targets(imports):
    """One line a target: the targets of this package that it imports."""
    print("Imports between targets:")
    for target in sorted(imports):
        if not imports[target] and target.startswith("C"):
            continue
        print(f"  {target}: {', '.join(sorted(imports[target])) or '-'}")


def print_cycle(target, graph, members, reason):
    """A cycle of files with its edges, and the edge whose removal shrinks it most."""
    print(f"{target}: a cycle of {len(members)} files{f' (allowed: {reason})' if reason else ''}")
    for one in members:
        used = [f"{os.path.basename(other)} ({', '.join(sorted(graph[one][other]))})"
                for other in sorted(graph[one]) if other in members]
        print(f"  {one} -> {'; '.join(used)}")
    left, one, other, types = cheapest_cut(graph, members)
    print(f"  cut {os.path.basename(one)} -> {os.path.basename(other)} ({', '.join(types)}): "
          f"{f'a cycle of {left} is left' if left else 'no cycle is left'}")


def reason_for(target, members):
    """Why a cycle is allowed; None if it is not."""
    return next((reason for file, reason in ALLOWED.get(target, ()) if file in members), None)


def main():
    parser = argparse.ArgumentParser(
        prog="Deploy/import-graph", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--report", action="store_true", help="always exit 0")
    parser.add_argument("--files", metavar="TARGET", help="also print every edge between the files of one target")
    options = parser.parse_args()
    targets = sorted(name for name in os.listdir(SOURCES) if os.path.isdir(os.path.join(SOURCES, name)))
    graphs, imports = {}, {}
    for target in targets:
        folder = os.path.join(SOURCES, target)
        texts = {file: code_of(os.path.join(folder, file)) for file in swift_files(folder)}
        imports[target] = {name for text in texts.values() for name in IMPORT.findall(text)} & set(targets)
        graphs[target] = file_graph(texts)
    print_targets(imports)
    bad = [cycle for cycle in cycles(imports)]
    for cycle in bad:
        print(f"error: targets import each other: {', '.join(cycle)}")
    for target, graph in graphs.items():
        if options.files == target:
            for one in graph:
                for other in sorted(graph[one]):
                    print(f"  {one} -> {other} ({', '.join(sorted(graph[one][other]))})")
        for members in cycles(graph):
            if len(members) > LARGEST_CYCLE:
                reason = reason_for(target, members)
                print_cycle(target, graph, members, reason)
                if not reason:
                    bad.append(members)
    print(f"{len(targets)} targets, {sum(map(len, graphs.values()))} files, {len(bad)} cycles without a reason")
    sys.exit(1 if bad and not options.report else 0)


if __name__ == "__main__":
    main()
