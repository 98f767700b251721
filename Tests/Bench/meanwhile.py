# SPDX-License-Identifier: Apache-2.0
"""What is done beside that which is measured."""
import threading


class Meanwhile(threading.Thread):
    """Runs from the beginning of its `with` to the end; `run` looks at `over` and then has `patience` seconds to finish."""

    def __init__(self, patience):
        super().__init__(daemon=True)
        self.over, self.patience = threading.Event(), patience

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        self.join(self.patience)
