#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The images of Deploy/Dockerfile without a container engine; Deploy/image runs it.

    image.py stages IMAGE                   the stages of an image, the lowest first, and the name of the system below them
    image.py steps STAGE                    the shell text of the RUN instructions of one stage
    image.py write VERSION ARCHITECTURE FOLDER OUTPUT IMAGE...
        writes OUTPUT/IMAGE_VERSION_ARCHITECTURE.oci.tar of each image: an OCI layout (image-spec 1.0) that is also an archive
        of `docker save`. FOLDER has `base` and the upper folder of each stage. Times end at SOURCE_DATE_EPOCH.
"""
import datetime
import hashlib
import io
import json
import os
import re
import sys
import tarfile

import dockerfile_reader as dockerfile
import layer

PATH = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "Dockerfile")
MANIFEST = "application/vnd.oci.image.manifest.v1+json"
SECOND = 1_000_000_000


def read_stages():
    with open(PATH, encoding="utf-8") as file:
        return dockerfile.stages(file.read())


def base_of(found, name):
    """The image below the lowest stage, such as debian:bookworm-slim."""
    lowest = dockerfile.chain(found, name)[0]
    return next(stage.image for stage in found if stage.name == lowest)


def run_steps(stage):
    """The shell text of each RUN, without its mounts."""
    return [re.sub(r"--mount=\S+\s+", "", step.text) for step in stage.steps if step.name == "RUN"]


def health(step):
    """Docker's form of a HEALTHCHECK; OCI has the field for it, and no form."""
    options = dict(re.findall(r"--([a-z-]+)=(\d+)s", step.text))
    names = {"interval": "Interval", "timeout": "Timeout", "start-period": "StartPeriod"}
    return {"Test": ["CMD", *step.words()], **{names[name]: int(value) * SECOND for name, value in options.items()}}


def run_options(steps, name, version):
    """The options of a container, from the last instruction of each kind."""
    def text(kind):
        return dockerfile.last(steps, kind).text

    def words(kind):
        return dockerfile.last(steps, kind).words()

    return {
        "User": text("USER"),
        "Env": ["PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
                *(step.text for step in steps if step.name == "ENV")],
        "Entrypoint": words("ENTRYPOINT"), "Cmd": words("CMD"),
        "Volumes": {path: {} for path in words("VOLUME")},
        "StopSignal": text("STOPSIGNAL"),
        "Healthcheck": health(dockerfile.last(steps, "HEALTHCHECK")),
        "Labels": {"org.opencontainers.image.title": name, "org.opencontainers.image.version": version,
                   "org.opencontainers.image.licenses": "Apache-2.0"},
    }


def configuration(options, architecture, layers, origins, created):
    """The image's configuration (config.md): options of a container, digests of the layers, and where each comes from."""
    return {
        "created": created, "architecture": architecture, "os": "linux", "config": options,
        "rootfs": {"type": "layers", "diff_ids": [each.diff_id for each in layers]},
        "history": [{"created": created, "created_by": origin} for origin in origins],
    }


def packed(document):
    return json.dumps(document, separators=(",", ":"), sort_keys=True).encode()


def digest(data):
    return "sha256:" + hashlib.sha256(data).hexdigest()


def blob(name):
    """The path of a blob in the layout."""
    return "blobs/" + name.replace(":", "/")


class Archive:
    """A tar of small files and of layers."""

    def __init__(self, path, epoch):
        self.epoch, self.names = epoch, set()
        self.tar = tarfile.open(path, "w", format=tarfile.USTAR_FORMAT)

    def entry(self, name, size, file):
        if name in self.names:
            return
        self.names.add(name)
        entry = tarfile.TarInfo(name)
        entry.size, entry.mtime, entry.mode = size, self.epoch, 0o644
        self.tar.addfile(entry, file)

    def add(self, name, data):
        self.entry(name, len(data), io.BytesIO(data))

    def add_blob(self, data):
        self.add(blob(digest(data)), data)
        return {"digest": digest(data), "size": len(data)}

    def add_layer(self, each):
        with open(each.path, "rb") as file:
            self.entry(blob(each.digest), each.size, file)
        return {"mediaType": "application/vnd.oci.image.layer.v1.tar+gzip", "digest": each.digest, "size": each.size}


def write_archive(path, name, config, layers, epoch):
    """One image: the layout that OCI describes, and manifest.json of `docker save`, which names the same blobs."""
    archive = Archive(path, epoch)
    with archive.tar:
        archive.add("oci-layout", packed({"imageLayoutVersion": "1.0.0"}))
        descriptors = [archive.add_layer(each) for each in layers]
        described = archive.add_blob(packed(config))
        manifest = archive.add_blob(packed({
            "schemaVersion": 2, "mediaType": MANIFEST, "layers": descriptors,
            "config": {"mediaType": "application/vnd.oci.image.config.v1+json", **described}}))
        # One entry: an archive of several images needs a name at each use.
        archive.add("index.json", packed({
            "schemaVersion": 2, "mediaType": "application/vnd.oci.image.index.v1+json",
            "manifests": [{
                "mediaType": MANIFEST, **manifest,
                "annotations": {"org.opencontainers.image.ref.name": name, "io.containerd.image.name": name},
                "platform": {"architecture": config["architecture"], "os": "linux"}}]}))
        archive.add("manifest.json", packed([{
            "Config": blob(described["digest"]), "RepoTags": [name], "Layers": [blob(each.digest) for each in layers]}]))


def tag(version):
    """A version as a tag, which has no '~' and no '+'."""
    return re.sub(r"[^A-Za-z0-9_.-]", "-", version)


def write_images(version, architecture, folder, output, images):
    epoch = int(os.environ["SOURCE_DATE_EPOCH"])
    created = datetime.datetime.fromtimestamp(epoch, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    found, written = read_stages(), {}
    for name in images:
        parts = ["base", *dockerfile.chain(found, name)]
        folders = [os.path.join(folder, part) for part in parts]
        for number, part in enumerate(parts):
            if part not in written:
                written[part] = layer.write(folders[number], folders[:number], folders[number] + ".layer", epoch)
        layers = [written[part] for part in parts]
        origins = [base_of(found, name), *(f"Deploy/Dockerfile, stage {part}" for part in parts[1:])]
        options = run_options(dockerfile.inherited(found, name), name, version)
        path = os.path.join(output, f"{name}_{version}_{architecture}.oci.tar")
        config = configuration(options, architecture, layers, origins, created)
        write_archive(path, f"localhost/{name}:{tag(version)}", config, layers, epoch)
        print(path)


def main():
    match sys.argv[1:]:
        case ["stages", name]:
            found = read_stages()
            print(*dockerfile.chain(found, name), base_of(found, name))
        case ["steps", name]:
            print("\n".join(run_steps(next(stage for stage in read_stages() if stage.name == name))))
        case ["write", version, architecture, folder, output, *images] if images:
            write_images(version, architecture, folder, output, images)
        case _:
            sys.exit(__doc__)


if __name__ == "__main__":
    main()
