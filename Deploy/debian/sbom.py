#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints the parts of the built programs as a CycloneDX 1.5 document in JSON: Swift packages with their Git revisions,
Swift's own libraries, and the Debian packages of the libraries that the programs load.

    sbom.py VERSION RESOLVED CHECKOUTS PROGRAM...

VERSION is the number of the release, RESOLVED the file Package.resolved, CHECKOUTS the folder of the packages' sources. The
time of the document is SOURCE_DATE_EPOCH, so two runs over the same parts print the same text.
"""
import datetime
import glob
import json
import os
import re
import subprocess
import sys
import uuid

# First words of licence texts, with the identifiers of SPDX.
LICENCES = (
    (r"Apache License\s+Version 2\.0", "Apache-2.0"),
    (r"Permission is hereby granted, free of charge", "MIT"),
    (r"Redistribution and use in source and binary forms", "BSD-3-Clause"),
)


def licence(folder):
    """The SPDX identifier of the licence file in a folder; None for an unknown text."""
    for path in sorted(glob.glob(os.path.join(folder, "LICEN[SC]E*"))):
        with open(path, encoding="utf-8", errors="replace") as file:
            text = file.read()
        for pattern, name in LICENCES:
            if re.search(pattern, text):
                return name
    return None


def package_url(location, version):
    """The package URL of a Swift package (purl-spec, type swift): pkg:swift/github.com/apple/swift-nio@2.101.2."""
    path = re.sub(r"^(https?://|ssh://|git@)", "", location).replace(":", "/")
    return f"pkg:swift/{re.sub(r'[.]git$', '', path)}@{version}"


def swift_component(pin, checkouts):
    """A package of Package.resolved."""
    state, location = pin["state"], pin["location"]
    version = state.get("version") or state["revision"]
    purl = package_url(location, version)
    component = {
        "type": "library", "bom-ref": purl, "name": pin["identity"], "version": version, "purl": purl,
        "pedigree": {"commits": [{"uid": state["revision"], "url": location}]},
        "externalReferences": [{"type": "vcs", "url": location}],
    }
    folder = os.path.join(checkouts, re.sub(r"[.]git$", "", location.rstrip("/").rsplit("/", 1)[-1]))
    if found := licence(folder):
        component["licenses"] = [{"license": {"id": found}}]
    return component


def output(*command):
    """The output of a command; '' where there is no such program."""
    try:
        return subprocess.run(command, check=False, capture_output=True, text=True).stdout
    except FileNotFoundError:
        return ""


def loaded_packages(programs):
    """The Debian packages of the libraries that programs load: sorted (package, version, architecture)."""
    names = {name for program in programs for name in re.findall(r"NEEDED +(\S+)", output("objdump", "-p", program))}
    paths = dict(re.findall(r"^\s*(\S+) .*=> (\S+)$", output("ldconfig", "-p"), re.M))
    found = set()
    for name in names & paths.keys():
        owner = output("dpkg-query", "-S", paths[name]) or output("dpkg-query", "-S", os.path.realpath(paths[name]))
        if package := owner.partition(":")[0].strip():
            about = output("dpkg-query", "-W", "-f", "${Version} ${Architecture}\n", package).split("\n")[0].split()
            if len(about) == 2:
                found.add((package, *about))
    return sorted(found)


def debian_component(package, version, architecture):
    """A package of the system; its version may be another where the programs are installed."""
    purl = f"pkg:deb/debian/{package}@{version.replace(':', '%3A').replace('+', '%2B')}?arch={architecture}"
    return {"type": "library", "bom-ref": purl, "name": package, "version": version, "purl": purl, "scope": "required"}


def runtime_version(said):
    """The version that `swift --version` prints; None without one."""
    found = re.search(r"Swift version (\d+(?:\.\d+)+)", said)
    return found[1] if found else None


def runtime_component(version):
    """Swift's libraries, Dispatch and Foundation, which are linked into the programs."""
    purl = f"pkg:github/swiftlang/swift@swift-{version}-RELEASE"
    return {"type": "library", "bom-ref": purl, "name": "swift", "version": version, "purl": purl,
            "licenses": [{"license": {"id": "Apache-2.0"}}]}


def document(version, pins, checkouts, libraries, epoch, runtime=None):
    """The whole document. `runtime` is the version of Swift, if it is known."""
    components = [swift_component(pin, checkouts) for pin in sorted(pins, key=lambda pin: pin["identity"])]
    components += [runtime_component(runtime)] if runtime else []
    components += [debian_component(*library) for library in libraries]
    own = f"pkg:deb/herald@{version}"
    parts = json.dumps([version, components], sort_keys=True)
    return {
        "bomFormat": "CycloneDX", "specVersion": "1.5",
        "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, parts)}", "version": 1,
        "metadata": {
            "timestamp": datetime.datetime.fromtimestamp(epoch, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "component": {
                "type": "application", "bom-ref": own, "name": "herald", "version": version,
                "licenses": [{"license": {"id": "Apache-2.0"}}]},
        },
        "components": components,
        "dependencies": [{"ref": own, "dependsOn": [component["bom-ref"] for component in components]}],
    }


def main():
    if len(sys.argv) < 5:
        sys.exit(__doc__)
    version, resolved, checkouts, *programs = sys.argv[1:]
    with open(resolved, encoding="utf-8") as file:
        pins = json.load(file)["pins"]
    epoch = int(os.environ.get("SOURCE_DATE_EPOCH", "0"))
    runtime = runtime_version(output("swift", "--version"))
    json.dump(document(version, pins, checkouts, loaded_packages(programs), epoch, runtime), sys.stdout, indent=2)
    print()


if __name__ == "__main__":
    main()
