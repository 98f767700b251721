# SPDX-License-Identifier: Apache-2.0
"""A gateway in the foreground for load of your own, on the network of the machine; it ends on SIGTERM.

On 127.0.0.1 it listens on UDP port 5070 and, for metrics, on TCP port 9470. The trunk is at 5060, the PBX at 5080.
"""
import os
import shutil

from .dataset import Data
from .subjects import Herald


class ForeignBrands(Data):
    """Brands from a file of the user."""

    def __init__(self, path):
        super().__init__(os.path.dirname(path))
        self.brands = os.path.abspath(path)


def add_options(words):
    words.add_argument("--brands", metavar="FILE", help="lines of number|brand|logo (the million of the bench's own)")
    words.add_argument("--runtime", metavar="FOLDER", help="folder of the ring, for example /dev/shm")


def run(options):
    name, program = options.herald[0]
    data = ForeignBrands(options.brands) if options.brands else options.data.make()
    herald = Herald(name, options.cache, program, data)
    herald.folder = os.path.join(options.cache, "run", "gateway")
    herald.runtime = options.runtime or herald.folder
    shutil.rmtree(herald.folder, ignore_errors=True)
    os.makedirs(herald.folder)
    # The gateway replaces this process and gets its signals.
    os.execv(herald.binary, herald.command())
