# SPDX-License-Identifier: Apache-2.0
"""Readers of a gateway's traffic beside its calls: a collector of HEP, `herald trace`, an open page.

Each is a process of its own, outside the session of the gateway, so its own CPU does not count.
"""
import os
import subprocess
import sys

from heraldtest import probes
from .subjects import ADMIN, HOST, Herald

COLLECTOR = (HOST, 9060)
# The first page's live part, read as a browser reads it.
PAGE = f"import urllib.request\nfor line in urllib.request.urlopen('http://{ADMIN}/live', timeout=600): pass\n"
KINDS = ("none", "hep", "trace", "number", "page")


class Watched(Herald):
    """A gateway with one reader, which begins with it and ends with it."""

    def __init__(self, kind, name, folder, binary, data, workers=1):
        super().__init__(name if kind == "none" else f"{name}-{kind}", folder, binary, data, workers)
        self.kind, self.cache, self.reader = kind, folder, None

    def source(self):
        """The usual source of brands, and the export to the collector."""
        if self.kind != "hep":
            return super().source()
        return super().source() + f'\ntrace: {{hep: {{collector: "{COLLECTOR[0]}:{COLLECTOR[1]}"}}}}'

    def reading(self):
        """The command of the reader; nil without one."""
        trace = [self.binary, "trace", "--for", "1h", "--config", os.path.join(self.folder, "herald.yaml")]
        return {
            "none": None,
            "hep": [os.path.join(self.cache, "sink"), COLLECTOR[0], str(COLLECTOR[1])],
            "trace": [*trace, "--trunk", "carrier"],
            # Nobody has the number: the cost of calls that are not shown.
            "number": [*trace, "--number", "+61299999999"],
            "page": [sys.executable, "-c", PAGE],
        }[self.kind]

    def start(self, fresh=True):
        super().start(fresh)
        if self.reading():
            self.wait_until_up()
            self.end_reader()
            self.reader = subprocess.Popen(
                self.reading(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL,
                start_new_session=True)

    def left_out(self):
        """Messages that the trace or the export has left out since the start."""
        series = probes.metrics(ADMIN, 10)
        return (probes.families(series).get("herald_trace_dropped_total", 0)
                + series.get('herald_hep_messages_total{result="dropped"}', 0))

    def has_reader(self):
        """Whether the reader still reads; true for none."""
        return self.reader is None or self.reader.poll() is None

    def end_reader(self):
        if self.reader:
            self.reader.kill()
            self.reader.wait()
            self.reader = None

    def stop(self):
        self.end_reader()
        super().stop()
