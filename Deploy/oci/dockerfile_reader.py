# SPDX-License-Identifier: Apache-2.0
"""Reads a Dockerfile: its stages and their instructions."""
import json
import re
from typing import NamedTuple


class Instruction(NamedTuple):
    """One instruction, with its continuation lines joined, and the number of its first line."""

    line: int
    name: str
    text: str

    def words(self):
        """The words of the JSON form, or None for the shell form."""
        match = re.search(r"\[.*\]\s*$", self.text)
        try:
            return json.loads(match[0]) if match else None
        except ValueError:
            return None


class Stage(NamedTuple):
    """One FROM with its instructions."""

    image: str
    name: str
    steps: list


def instructions(text):
    """The instructions of a Dockerfile, without comments."""
    found, pending, start = [], "", 0
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        start = start if pending else number
        if line.rstrip().endswith("\\"):
            pending += line.rstrip()[:-1] + " "
            continue
        name, _, rest = (pending + line).strip().partition(" ")
        found.append(Instruction(start, name, rest.strip()))
        pending = ""
    return found


def stages(text):
    """The stages of a Dockerfile, in its order."""
    found = []
    for step in instructions(text):
        if step.name == "FROM":
            image, _, name = step.text.partition(" AS ")
            found.append(Stage(image.strip(), name.strip() or str(len(found)), []))
        elif found:
            found[-1].steps.append(step)
    return found


def inherited(found, name):
    """The steps of a stage after those of the stages it begins with."""
    stage = next(stage for stage in found if stage.name == name)
    parent = any(each.name == stage.image for each in found)
    return (inherited(found, stage.image) if parent else []) + stage.steps


def last(steps, name):
    """The last instruction of a name, which is the one that holds."""
    return next((step for step in reversed(steps) if step.name == name), None)


def chain(found, name):
    """The names of a stage and of the stages that it begins with, the lowest first."""
    stage = next(stage for stage in found if stage.name == name)
    return (chain(found, stage.image) if any(each.name == stage.image for each in found) else []) + [name]
