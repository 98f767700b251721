# SPDX-License-Identifier: Apache-2.0
"""A gateway that verifies signatures, with signed calls or with unsigned ones."""
import os
import statistics

from heraldtest.signing import Laboratory
from .readers import Watched
from .subjects import ADMIN

UNSIGNED, SIGNED = KINDS = ("unsigned", "signed")


class Verifying(Watched):
    """Knows the signer of a laboratory of its own. Without a reader, as the gateway `none` that verifies nothing."""

    def __init__(self, kind, name, folder, binary, data, workers=1):
        super().__init__("none", name, folder, binary, data, workers)
        self.name = f"{name}-{kind}"
        self.folder = os.path.join(folder, "run", self.name)
        self.signs = kind == SIGNED
        self.laboratory = Laboratory(os.path.join(folder, f"signers-{self.name}"), ADMIN)

    def start(self, fresh=True):
        if fresh:
            self.laboratory.make()
        super().start(fresh)

    def signer(self):
        return self.laboratory if self.signs else None


def added(rows, name, rate):
    """µs that a signature adds to a call: (median, lowest, highest) of the differences within a round; None without them."""
    of = {kind: {row["round"]: row["microseconds"] for row in rows
                 if row["what"] == "cost" and row["rate"] == rate and row["subject"] == f"{name}-{kind}"}
          for kind in KINDS}
    found = [of[SIGNED][number] - of[UNSIGNED][number] for number in of[SIGNED] if number in of[UNSIGNED]]
    return (statistics.median(found), min(found), max(found)) if found else None


def table(rows, rates):
    """A row for each program with signed calls: what a signature adds at each rate."""
    found = [["", *(f"µs a signature at {rate}/s" for rate in rates)]]
    for name in dict.fromkeys(row["subject"].removesuffix(f"-{SIGNED}") for row in rows):
        spans = [added(rows, name, rate) for rate in rates]
        if any(spans):
            found.append([name, *(f"{span[0]:+.0f} ({span[1]:+.0f} to {span[2]:+.0f})" if span else "–" for span in spans)])
    return found
