# SPDX-License-Identifier: Apache-2.0
"""Allocations and instructions of a branded, an unbranded, a signed and a refused call: 4 and 5 minutes.

Each kind has its own round in one run of the gateway. Allocations are counted by a preloaded library at 200 calls/s,
instructions under emulation at 10 calls/s. Both are compared with the kept figures of docs/performance.md. A figure more
than 2 % above them is an error, with the functions that grew. A signed call is a branded one with a token of its own,
whose signer the gateway knows. A refused call is the INVITE of an unknown peer, its 403 and its ACK.
"""
import copy
import os

from heraldtest.child import Failed
from heraldtest.signing import Laboratory
from . import allocations, instructions, kept, kinds, machine, report
from .clustered import Clustered
from .dataset import Data
from .kept import ALLOCATIONS, INSTRUCTIONS
from .subjects import ADMIN, Herald

# Calls a second and calls of each kind, where the options give none.
USUAL = {ALLOCATIONS: (200, 2000), INSTRUCTIONS: (10, 200)}


def add_options(words):
    words.add_argument("--only", choices=list(USUAL), help="one of the two counts")
    words.add_argument("--kind", choices=[kind.name for kind in kinds.KINDS], 
                       help="one kind of call; signed ones come with the branded ones that they are compared with")
    words.add_argument("--without-trust", action="store_true",
                       help="a gateway that verifies nothing, without signed calls; also for builds that cannot verify")
    words.add_argument("--rate", type=int, help="calls a second (200; 10 under emulation)")
    words.add_argument("--calls", type=int, help="calls of each kind (2000; 200 under emulation)")
    words.add_argument("--warm", type=int, help="calls before the count (as many as are counted)")
    words.add_argument("--stacks", type=int, metavar="N",
                       help="prints the callers of every Nth allocation; with 1 use --only allocations --rate 100")
    words.add_argument("--top", type=int, default=25, help="how many callers (%(default)s)")
    words.add_argument("--depth", type=int, default=4, help="functions of each stack that are compared (%(default)s)")
    words.add_argument("--functions", type=int, default=0, metavar="N",
                       help="the N functions with most instructions; of two gateways those that differ most")
    words.add_argument("--cluster", action="store_true",
                       help="counts instructions also with a sibling and a shared ledger")
    words.add_argument("--keep", action="store_true", help="writes the figures that later runs are compared with")
    words.add_argument("--reason", default="", metavar="TEXT", help="with --keep: why a figure rose")
    words.add_argument("--if-built", action="store_true",
                       help="exit status 77 and a reason where no release is built, or there is no emulator")
    words.add_argument("--order", metavar="FILE", help="writes the functions of a call there, for Deploy/release")


def check(options):
    """Refuses options that exclude each other, before anything is counted."""
    if options.reason and not options.keep:
        raise Failed("--reason belongs to --keep")
    if options.without_trust and options.kind == kinds.SIGNED.name:
        raise Failed("--without-trust has no signed calls; leave out one of the two")
    if options.order and (len(options.herald) > 1 or options.kind or options.without_trust):
        raise Failed("--order takes the functions of one program and of every kind; leave out --kind, --without-trust and a "
                     "second --herald")
    others = ("only", "kind", "rate", "calls", "warm", "stacks", "cluster", "without-trust")
    if options.keep and (len(options.herald) > 1 or any(getattr(options, name.replace("-", "_")) for name in others)):
        raise Failed("--keep needs every figure of one program; leave out a second --herald, --" + ", --".join(others))


def with_load(options, part):
    """The options with the load of one of the two counts."""
    own = copy.copy(options)
    rate, calls = USUAL[part]
    own.rate, own.calls = options.rate or rate, options.calls or calls
    own.warm = own.calls if options.warm is None else options.warm
    return own


def count_allocations(options):
    options.data.make()
    results = [one for name, binary in options.herald for one in allocations.measure(name, binary, options)]
    for one in results:
        allocations.print_callers(one)
    return results, [("Allocations in the whole process", allocations.rows(results))]


def count_instructions(options):
    data = Data(os.path.join(options.cache, "data-small"), instructions.NUMBERS).make()
    subjects = [Herald, Clustered] if options.cluster else [Herald]
    results = [one for name, binary in options.herald for subject in subjects
               for one in instructions.measure(subject(name, options.cache, binary, data), options, data)]
    tables = instructions.largest(results, options.functions) if options.functions else []
    return results, [("Instructions in user space", instructions.rows(results))] + tables


def run(options):
    check(options)
    expected = None if options.keep else kept.Kept()
    options.laboratory = None if options.without_trust else Laboratory(
        os.path.join(options.cache, "signers"), ADMIN).make()
    options.kinds = kinds.chosen(options.kind, options.laboratory)
    found, tables = {"machine": machine.description()}, []
    for part, count in ((ALLOCATIONS, count_allocations), (INSTRUCTIONS, count_instructions)):
        if options.only in (None, part):
            found[part], made = count(with_load(options, part))
            tables += made
    # A cluster has no kept figures.
    results = [one for part in USUAL for one in found.get(part, []) if one["name"] in dict(options.herald)]
    found["errors"] = expected.compare(results) if expected else kept.keep(results, options.reason)
    report.write(options, "profile", found, tables)
