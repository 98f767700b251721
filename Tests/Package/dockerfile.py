# SPDX-License-Identifier: Apache-2.0
"""Reads a Dockerfile: its stages, the rules of hadolint that apply here, and the steps of a stage for a chroot.

    python3 -m Package.dockerfile steps herald     # lines KIND<TAB>JSON of the stage and of the stages it begins with
"""
import json
import os
import re
import sys
from typing import NamedTuple

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PATH = os.path.join(ROOT, "Deploy", "Dockerfile")
INSTRUCTIONS = {
    "FROM", "RUN", "CMD", "COPY", "ENTRYPOINT", "ENV", "EXPOSE", "HEALTHCHECK", "LABEL", "SHELL", "STOPSIGNAL", "USER",
    "VOLUME", "WORKDIR", "ARG", "ADD"}


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


def shell_remarks(step):
    """Remarks on the shell text of a RUN."""
    text = step.text
    if re.search(r"\bsudo\b", text):
        yield "DL3004", "do not use sudo"
    if re.search(r"(^|&&|;)\s*cd\s", text):
        yield "DL3003", "use WORKDIR instead of cd"
    if re.search(r"\bapt (install|update|get)", text):
        yield "DL3027", "use apt-get, apt is for people"
    for install in re.findall(r"apt-get install[^&;|]*", text):
        if " -y" not in install:
            yield "DL3014", "apt-get install needs -y"
        if "--no-install-recommends" not in install:
            yield "DL3015", "apt-get install needs --no-install-recommends"
        if "rm -rf /var/lib/apt/lists/*" not in text:
            yield "DL3009", "delete the lists of apt in the same RUN"
        if "apt-get update" not in text:
            yield "DL3009", "apt-get update belongs into the same RUN"


def remarks(text):
    """(rule, line, text) of each breach: hadolint's rules, and those of Herald's images."""
    found = stages(text)
    names, result = set(), []

    def add(rule, line, what):
        result.append((rule, line, what))

    for step in instructions(text):
        if step.name not in INSTRUCTIONS:
            add("DL1000", step.line, f"unknown instruction {step.name}")
    for stage in found:
        if stage.image not in names and not re.search(r":(?!latest$)[\w.-]+$", stage.image):
            add("DL3006", 0, f"{stage.image} needs a tag, and not latest")
        if stage.name in names:
            add("DL3024", 0, f"two stages are named {stage.name}")
        names.add(stage.name)
        shell = last(stage.steps, "SHELL")
        for step in stage.steps:
            if step.name == "ADD":
                add("DL3020", step.line, "use COPY")
            if step.name == "WORKDIR" and not step.text.startswith("/"):
                add("DL3000", step.line, "WORKDIR needs an absolute path")
            if step.name in ("CMD", "ENTRYPOINT") and step.words() is None:
                add("DL3025", step.line, f"{step.name} needs the JSON form, else signals go to a shell")
            if step.name == "RUN":
                for rule, what in shell_remarks(step):
                    add(rule, step.line, what)
                if re.search(r"[^|]\|[^|]", step.text) and not (shell and "pipefail" in shell.text):
                    add("DL4006", step.line, "a pipe needs SHELL with pipefail")
            for other in re.findall(r"(?:--from|,from)=([\w-]+)", step.text):
                if other not in names:
                    add("DL3022", step.line, f"there is no stage {other} above")
    for stage in (stage for stage in found if last(stage.steps, "ENTRYPOINT")):
        steps = inherited(found, stage.name)
        user, health = last(steps, "USER"), last(steps, "HEALTHCHECK")
        if user is None or user.text.split(":")[0] in ("root", "0"):
            add("DL3002", 0, f"{stage.name} runs as root")
        elif not user.text.split(":")[0].isdigit():
            add("numeric-user", user.line, "a number, so that a cluster can see that it is not root")
        if health is None or health.words() is None:
            add("DL3057", 0, f"{stage.name} has no HEALTHCHECK in the JSON form")
    return result


def main():
    kind, name = sys.argv[1:]
    with open(PATH, encoding="utf-8") as file:
        steps = inherited(stages(file.read()), name)
    if kind == "steps":
        for step in (step for step in steps if step.name == "RUN"):
            print(re.sub(r"--mount=\S+\s+", "", step.text))
    elif kind == "environment":
        print("\n".join(step.text for step in steps if step.name == "ENV"))
    elif kind == "USER":
        print(last(steps, kind).text)
    else:
        print("\n".join(last(steps, kind).words()))


if __name__ == "__main__":
    main()
