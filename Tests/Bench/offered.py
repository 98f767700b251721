# SPDX-License-Identifier: Apache-2.0
"""Calls by offer.c: carrier and PBX in one light process, for rates and numbers of calls that SIPp cannot reach."""
import json
import os
import subprocess

from heraldtest.child import Failed
from .subjects import CARRIER, PBX, SUBJECT


class Offer:
    """Steps of (calls a second, seconds, milliseconds of talk); `lines` has a dictionary for each tenth of a second."""

    def __init__(self, options, steps, core=None, over="udp"):
        pinned = ["taskset", "-c", str(core)] if core is not None else []
        self.seconds = sum(seconds for _, seconds, _ in steps)
        self.path = os.path.join(options.cache, "offer.log")
        ports = [str(port) for port in (SUBJECT, CARRIER, PBX)]
        with open(self.path, "w", encoding="ascii") as log:
            self.process = subprocess.Popen(
                [*pinned, os.path.join(options.cache, "offer"), options.data.callers, over, *ports,
                 *(f"{rate}:{seconds}:{talk}" for rate, seconds, talk in steps)], stdout=log)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    def stop(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()

    def wait(self):
        """Waits until 5 s after the last step; (the line of each tenth of a second, the calls that are still open)."""
        try:
            status = self.process.wait(self.seconds + 60)
        except subprocess.TimeoutExpired:
            raise Failed("the offered calls never came to their end") from None
        if status:
            raise Failed(f"offer ended with {status}")
        *lines, left = self.so_far()
        return lines, left

    def so_far(self):
        with open(self.path, encoding="ascii") as file:
            return [json.loads(line) for line in file if line.endswith("\n")]


def sums(lines, step=None):
    """The counts of one step, or of all."""
    chosen = [line for line in lines if step is None or line["step"] == step]
    found = {key: sum(line[key] for line in chosen)
             for key in ("offered", "answered", "refused", "ended", "resent", "other")}
    found["seconds"] = len(chosen) / 10
    found["slowest_bye_us"] = max((line["slowest_bye_us"] for line in chosen), default=0)
    return found
