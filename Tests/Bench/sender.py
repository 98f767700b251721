# SPDX-License-Identifier: Apache-2.0
"""A program of requests in C, which ends by itself with one line of JSON."""
import json
import os
import subprocess

from heraldtest.child import Failed


class Sender:
    """One run of a sender in the background; it ends with its `with` at the latest."""

    def __init__(self, program, *words):
        self.process = subprocess.Popen([program, *map(str, words)], stdout=subprocess.PIPE)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    def stop(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()

    def result(self):
        """Waits for its end; its figures, and its CPU time."""
        text = self.process.stdout.read()
        _, status, usage = os.wait4(self.process.pid, 0)
        self.process.returncode = os.waitstatus_to_exitcode(status)
        if status:
            raise Failed(f"the sender ended with {self.process.returncode}")
        return {**json.loads(text), "sender_cpu_s": round(usage.ru_utime + usage.ru_stime, 2)}
