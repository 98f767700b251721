# SPDX-License-Identifier: Apache-2.0
"""A wall clock that is wrong for one program alone, by a number of seconds that may change while it runs."""
import contextlib
import os
import struct
import subprocess


class WrongClock:
    """Compiles the clock with gcc; `applied()` starts programs on it."""

    def __init__(self, folder):
        os.makedirs(folder, exist_ok=True)
        self.library = os.path.join(folder, "clock_offset.so")
        self.file = os.path.join(folder, "clock_offset")
        source = os.path.join(os.path.dirname(__file__), "clock_offset.c")
        subprocess.run(["gcc", "-shared", "-fPIC", "-O1", "-Wall", "-Werror", "-o", self.library, source], check=True)
        self.set(0)

    def set(self, seconds):
        """Seconds before (negative) or after the right time, from now on."""
        with open(self.file, "r+b" if os.path.exists(self.file) else "wb") as file:
            file.write(struct.pack("=q", seconds))

    @contextlib.contextmanager
    def applied(self):
        """Programs that start inside have this clock."""
        values = {"LD_PRELOAD": self.library, "CLOCK_OFFSET_FILE": self.file}
        os.environ.update(values)
        try:
            yield
        finally:
            for name in values:
                del os.environ[name]
