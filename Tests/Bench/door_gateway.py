# SPDX-License-Identifier: Apache-2.0
"""A gateway with every door of a client that asks, and a second one beside it without calls."""
from .door_requests import HOST, ZONE
from .subjects import Herald

CORE, OTHER_CORE = 0, 1
# Above every rate of a run: all requests come from one source.
RATE = 100_000


class DoorHerald(Herald):
    """The gateway of calls with its doors at their usual ports."""

    # Between these ports and the usual ones.
    distance = 0

    def __init__(self, name, folder, binary, data, laboratory):
        super().__init__(name, folder, binary, data)
        self.laboratory = laboratory

    def source(self):
        def at(port):
            return f'trunk: carrier, listen: "{HOST}:{port + self.distance}"'
        return super().source() + (
            f"\ndoors:\n  names: {{{at(9482)}}}\n  redirect: {{{at(9484)}, rate: {RATE}}}\n"
            f"  enum: {{{at(9483)}, zone: {ZONE}, rate: {RATE}}}\n  verification: {{{at(9485)}}}")


class OtherHerald(DoorHerald):
    """The same program with ports of its own. Requests to it show the effect of the machine alone on calls of the first one."""

    distance = 100

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.runtime += "-other"
        self.port, self.admin = self.port + self.distance, f"{HOST}:9570"
