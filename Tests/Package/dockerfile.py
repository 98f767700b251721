# SPDX-License-Identifier: Apache-2.0
"""The rules of hadolint that apply to Deploy/Dockerfile, and those of Herald's images."""
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PATH = os.path.join(ROOT, "Deploy", "Dockerfile")
INSTRUCTIONS = {
    "FROM", "RUN", "CMD", "COPY", "ENTRYPOINT", "ENV", "EXPOSE", "HEALTHCHECK", "LABEL", "SHELL", "STOPSIGNAL", "USER",
    "VOLUME", "WORKDIR", "ARG", "ADD"}

sys.path.insert(0, os.path.join(ROOT, "Deploy", "oci"))
from dockerfile_reader import inherited, instructions, last, stages  # noqa: E402  (Deploy has programs, no package)


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
