# SPDX-License-Identifier: Apache-2.0
"""Allocations and instructions of a call, by thread: 2 and 3 minutes.

Allocations are counted by a preloaded library at 500 calls/s, instructions under emulation at 10 calls/s. Both are
compared with the kept figures of docs/performance.md; a figure more than 2 % above them is an error.
"""
import copy
import os

from heraldtest.child import Failed
from . import allocations, instructions, kept, machine, report
from .clustered import Clustered
from .dataset import Data
from .subjects import Herald

ALLOCATIONS, INSTRUCTIONS = "allocations", "instructions"
# Calls a second and calls that are counted, where the options give none.
USUAL = {ALLOCATIONS: (500, 5000), INSTRUCTIONS: (10, 300)}


def add_options(words):
    words.add_argument("--only", choices=list(USUAL), help="one of the two counts")
    words.add_argument("--rate", type=int, help="calls a second (500; 10 under emulation)")
    words.add_argument("--calls", type=int, help="calls that are counted (5000; 300 under emulation)")
    words.add_argument("--warm", type=int, default=5000, help="calls before the allocations are counted (%(default)s)")
    words.add_argument("--stacks", type=int, default=0, metavar="N",
                       help="prints the callers of every Nth allocation; with 1 use --only allocations --rate 100")
    words.add_argument("--top", type=int, default=25, help="how many callers (%(default)s)")
    words.add_argument("--depth", type=int, default=4, help="functions of each stack that are compared (%(default)s)")
    words.add_argument("--functions", type=int, default=0, metavar="N",
                       help="the N functions with most instructions; of two gateways those that differ most")
    words.add_argument("--cluster", action="store_true",
                       help="counts instructions also with a sibling and a shared ledger")
    words.add_argument("--order", metavar="FILE", help="writes the functions of a call there, for Deploy/release")


def with_load(options, part):
    """The options with the load of one of the two counts."""
    own = copy.copy(options)
    rate, calls = USUAL[part]
    own.rate, own.calls = options.rate or rate, options.calls or calls
    return own


def count_allocations(options):
    options.data.make()
    results = []
    for name, binary in options.herald:
        results.append(allocations.measure(name, binary, options))
        allocations.print_callers(results[-1])
    whole = [(one["name"], sum(row[0] for row in one["threads"].values())) for one in results]
    return results, whole, [("Allocations in the whole process", allocations.rows(results))]


def count_instructions(options):
    if options.order and len(options.herald) > 1:
        raise Failed("--order takes the functions of one program; give --herald once")
    data = Data(os.path.join(options.cache, "data-small"), instructions.NUMBERS).make()
    kinds = [Herald, Clustered] if options.cluster else [Herald]
    results = [instructions.measure(kind(name, options.cache, binary, data), options, data)
               for name, binary in options.herald for kind in kinds]
    # A cluster has no kept figure.
    whole = [(one["name"], one["instructions"]) for one in results[::len(kinds)]]
    tables = instructions.largest(results, options.functions) if options.functions else []
    return results, whole, [("Instructions in user space", instructions.rows(results))] + tables


def run(options):
    found, tables = {"machine": machine.description(), "errors": []}, []
    for part, count in ((ALLOCATIONS, count_allocations), (INSTRUCTIONS, count_instructions)):
        if options.only in (None, part):
            found[part], whole, made = count(with_load(options, part))
            tables += made
            found["errors"] += kept.compare(part, whole)
    report.write(options, "profile", found, tables)
