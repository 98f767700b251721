# SPDX-License-Identifier: Apache-2.0
"""Background work beside a measurement."""
import threading


class Meanwhile(threading.Thread):
    """Runs during its `with`. `run` checks `over` and then has `patience` seconds to finish."""

    def __init__(self, patience):
        super().__init__(daemon=True)
        self.over, self.patience = threading.Event(), patience

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        self.join(self.patience)
