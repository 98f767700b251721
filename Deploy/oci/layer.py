# SPDX-License-Identifier: Apache-2.0
"""Writes a layer of an image (OCI image-spec, layer.md) from a folder: a tree, or the upper folder of an overlay.

Equal trees make equal layers: entries are sorted, times end at a given second, owners are numbers, gzip has no time.
"""
import gzip
import hashlib
import os
import stat
import tarfile
from typing import NamedTuple

WHITEOUT = ".wh."
OPAQUE = WHITEOUT + WHITEOUT + ".opq"


class Layer(NamedTuple):
    """A compressed layer. `digest` and `size` are those of the file, `diff_id` is the digest of the tar inside."""

    path: str
    digest: str
    size: int
    diff_id: str


class Hashing:
    """A file to write to, with the SHA-256 of what was written."""

    def __init__(self, file):
        self.file, self.sum, self.size = file, hashlib.sha256(), 0

    def write(self, data):
        self.sum.update(data)
        self.size += len(data)
        return self.file.write(data)

    def flush(self):
        self.file.flush()

    @property
    def digest(self):
        return "sha256:" + self.sum.hexdigest()


def is_whiteout(status):
    """True for the device by which an overlay hides a file of the layer below."""
    return stat.S_ISCHR(status.st_mode) and status.st_rdev == 0


def is_opaque(path):
    """True for a folder that hides all that the layer below has in it."""
    try:
        return os.getxattr(path, "trusted.overlay.opaque", follow_symlinks=False) == b"y"
    except OSError:
        return False


def empty(name, epoch):
    """An empty file, as a mark of something that is gone."""
    entry = tarfile.TarInfo(name)
    entry.mtime = epoch
    return entry


class Writer:
    """Adds a folder to a tar. `lower` are the folders of the layers below."""

    def __init__(self, tar, folder, lower, epoch):
        self.tar, self.folder, self.lower, self.epoch = tar, folder, lower, epoch

    def children(self, inside):
        """The entries of one folder: marks of removed names first, as layer.md advises."""
        folder = os.path.join(self.folder, inside)
        names = sorted(os.listdir(folder), key=os.fsencode)
        gone = [name for name in names if is_whiteout(os.lstat(os.path.join(folder, name)))]
        # A new folder has the mark too, with nothing below to hide.
        if inside and is_opaque(folder) and any(os.path.isdir(os.path.join(each, inside)) for each in self.lower):
            self.tar.addfile(empty(os.path.join(inside, OPAQUE), self.epoch))
        for name in gone:
            self.tar.addfile(empty(os.path.join(inside, WHITEOUT + name), self.epoch))
        for name in names:
            if name not in gone:
                self.entry(os.path.join(inside, name))

    def entry(self, name):
        path = os.path.join(self.folder, name)
        if stat.S_ISSOCK(os.lstat(path).st_mode):
            return
        # The second name of a file is a link to the first.
        entry = self.tar.gettarinfo(path, arcname=name)
        entry.uname = entry.gname = ""
        entry.mtime = min(int(entry.mtime), self.epoch)
        if entry.isfile():
            with open(path, "rb") as file:
                self.tar.addfile(entry, file)
        else:
            self.tar.addfile(entry)
        if entry.isdir():
            self.children(name)


def write(folder, lower, path, epoch):
    """Writes the layer of a folder, above those of the folders `lower`, into a file."""
    with open(path, "wb") as file:
        packed = Hashing(file)
        with gzip.GzipFile(filename="", mode="wb", compresslevel=6, fileobj=packed, mtime=0) as zipped:
            plain = Hashing(zipped)
            with tarfile.open(mode="w|", fileobj=plain, format=tarfile.PAX_FORMAT) as tar:
                Writer(tar, folder, lower, epoch).children("")
    return Layer(path, packed.digest, packed.size, plain.digest)
