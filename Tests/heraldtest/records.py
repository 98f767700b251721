# SPDX-License-Identifier: Apache-2.0
"""JSON output of the programs, and the events of the directory in it."""
import json


def read_json(text):
    """Reads a JSON array, or one object a line. Names lose underscores and capitals, so that both spellings match."""
    text = text.strip()
    items = json.loads(text) if text.startswith("[") else [json.loads(line) for line in text.splitlines()]
    return [{name.replace("_", "").lower(): value for name, value in item.items()} for item in items]


class Event:
    """One event as the directory recorded it."""

    def __init__(self, item):
        self.meta = item.get("meta") or {}
        self.number = item.get("phonenumbere164") or item.get("phonenumber") or item.get("number")
        self.outcome = item["outcome"]
        self.key = item.get("eventkey") or item.get("key")

    @property
    def story(self):
        """The outcome, with call_outcome if the event has one."""
        result = self.meta.get("call_outcome")
        return self.outcome if self.outcome == "displayed" or not result else f"{self.outcome} {result}"
