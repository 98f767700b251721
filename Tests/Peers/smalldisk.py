# SPDX-License-Identifier: Apache-2.0
"""A small file system that a step fills up."""
import os
import subprocess


class SmallDisk:
    """A file system of its own, in the step's mount namespace."""

    def __init__(self, folder, size):
        self.folder = folder
        self.filler = os.path.join(folder, "filler")
        os.makedirs(folder, exist_ok=True)
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", folder], check=True)

    def fill(self):
        """Fills every free byte, also those that a checkpoint frees meanwhile."""
        with open(self.filler, "ab", buffering=0) as file:
            for piece in (65536, 4096, 1):
                try:
                    while True:
                        file.write(bytes(piece))
                except OSError:
                    pass

    def free(self):
        os.remove(self.filler)

    def unmount(self):
        subprocess.run(["umount", "--lazy", self.folder], check=False)
