# SPDX-License-Identifier: Apache-2.0
"""Layers and archives of images, compared with the OCI image-spec (layer.md, config.md, image-layout.md).

Run it in Tests by `python3 -m unittest Package.test_image`.
"""
import gzip
import hashlib
import io
import json
import os
import sys
import tarfile
import tempfile
import unittest
from unittest import mock

from . import dockerfile

sys.path.insert(0, os.path.join(dockerfile.ROOT, "Deploy", "oci"))
import image  # noqa: E402  (Deploy has programs, no package)
import layer  # noqa: E402

EPOCH = 1_700_000_000


def sha256(data):
    return "sha256:" + hashlib.sha256(data).hexdigest()


class Folders(unittest.TestCase):
    """A folder for each test, and a layer of a part of it."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, *parts):
        return os.path.join(self.folder, *parts)

    def put(self, name, text="", time=EPOCH - 5):
        os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)
        os.utime(self.path(name), (time, time))

    def layer(self, name="tree", lower=()):
        return layer.write(self.path(name), [self.path(each) for each in lower], self.path(name + ".layer"), EPOCH)

    def entries(self, written):
        with tarfile.open(written.path) as tar:
            return tar.getmembers()


class Layers(Folders):
    def test_digests_are_those_of_the_file_and_of_the_tar_inside(self):
        self.put("tree/a", "text")
        written = self.layer()
        with open(written.path, "rb") as file:
            data = file.read()
        self.assertEqual((written.digest, written.size), (sha256(data), len(data)))
        self.assertEqual(written.diff_id, sha256(gzip.decompress(data)))

    def test_equal_trees_make_equal_layers(self):
        for tree, names, time in (("one", ("b", "a", "c/d"), EPOCH + 7), ("two", ("c/d", "a", "b"), EPOCH + 900)):
            for name in names:
                self.put(f"{tree}/{name}", name, time)
        self.assertEqual(self.layer("one").digest, self.layer("two").digest)

    def test_entries_are_sorted_with_numbers_as_owners_and_no_later_time(self):
        self.put("tree/b", time=EPOCH + 100)
        self.put("tree/a/x", time=EPOCH - 100)
        found = self.entries(self.layer())
        self.assertEqual([entry.name for entry in found], ["a", "a/x", "b"])
        self.assertEqual([found[1].mtime, found[2].mtime], [EPOCH - 100, EPOCH])
        self.assertEqual({entry.uname + entry.gname for entry in found}, {""})

    def test_a_second_name_of_a_file_is_a_link(self):
        self.put("tree/a", "text")
        os.link(self.path("tree/a"), self.path("tree/b"))
        os.symlink("a", self.path("tree/c"))
        first, second, third = self.entries(self.layer())
        self.assertTrue(first.isreg() and second.islnk() and third.issym())
        self.assertEqual((second.linkname, third.linkname), ("a", "a"))

    def test_a_removed_file_is_a_whiteout_before_its_siblings(self):
        self.put("tree/etc/a")
        try:
            os.mknod(self.path("tree/etc/gone"), 0o020000)
        except PermissionError:
            self.skipTest("this user makes no device")
        names = [entry.name for entry in self.entries(self.layer())]
        self.assertEqual(names, ["etc", "etc/.wh.gone", "etc/a"])

    def test_a_folder_hides_only_what_is_below_it(self):
        self.put("tree/old/new-file")
        self.put("tree/new/file")
        self.put("base/old/hidden")
        with mock.patch.object(layer, "is_opaque", lambda path: True):
            names = [entry.name for entry in self.entries(self.layer(lower=["base"]))]
        self.assertEqual(names, ["new", "new/file", "old", "old/.wh..wh..opq", "old/new-file"])


class Archives(Folders):
    def write(self, version="1.2.3~rc1-1"):
        for part in ("base", "system", "herald", "herald-directory"):
            self.put(f"{part}/etc/{part}", part)
        with mock.patch.dict(os.environ, {"SOURCE_DATE_EPOCH": str(EPOCH)}), mock.patch("sys.stdout", io.StringIO()) as said:
            image.write_images(version, "amd64", self.folder, self.folder, ["herald", "herald-directory"])
        return [self.contents(path) for path in said.getvalue().splitlines()]

    @staticmethod
    def contents(path):
        with tarfile.open(path) as tar:
            return {entry.name: tar.extractfile(entry).read() for entry in tar}

    def test_every_blob_has_the_digest_and_size_that_names_it(self):
        for files in self.write():
            self.assertEqual(json.loads(files["oci-layout"]), {"imageLayoutVersion": "1.0.0"})
            index = json.loads(files["index.json"])
            manifest = json.loads(files[image.blob(index["manifests"][0]["digest"])])
            for descriptor in (*index["manifests"], manifest["config"], *manifest["layers"]):
                data = files[image.blob(descriptor["digest"])]
                self.assertEqual((sha256(data), len(data)), (descriptor["digest"], descriptor["size"]))
            config = json.loads(files[image.blob(manifest["config"]["digest"])])
            self.assertEqual(
                [sha256(gzip.decompress(files[image.blob(each["digest"])])) for each in manifest["layers"]],
                config["rootfs"]["diff_ids"])
            self.assertEqual(len(config["history"]), len(manifest["layers"]))

    def test_the_form_of_docker_names_the_same_blobs(self):
        files = self.write()[0]
        manifest = json.loads(files[image.blob(json.loads(files["index.json"])["manifests"][0]["digest"])])
        self.assertEqual(json.loads(files["manifest.json"]), [{
            "Config": image.blob(manifest["config"]["digest"]), "RepoTags": ["localhost/herald:1.2.3-rc1-1"],
            "Layers": [image.blob(each["digest"]) for each in manifest["layers"]]}])

    def test_both_images_share_their_lower_layers(self):
        gateway, directory = (json.loads(files["manifest.json"])[0]["Layers"] for files in self.write())
        self.assertEqual(gateway[:2], directory[:2])
        self.assertNotEqual(gateway[2:], directory[2:])

    def test_the_same_trees_make_the_same_archive(self):
        self.assertEqual(self.write(), self.write())

    def test_a_container_runs_as_the_dockerfile_states(self):
        with open(dockerfile.PATH, encoding="utf-8") as file:
            steps = dockerfile.inherited(dockerfile.stages(file.read()), "herald")
        options = image.run_options(steps, "herald", "1.2.3-1")
        self.assertEqual(options["User"], "990:990")
        self.assertEqual([*options["Entrypoint"], *options["Cmd"]],
                         ["/usr/bin/herald", "run", "--config", "/etc/herald/herald.yaml"])
        self.assertEqual(options["Volumes"], {"/var/lib/herald": {}, "/run/herald": {}})
        self.assertEqual(options["StopSignal"], "SIGTERM")
        self.assertIn("SWIFT_BACKTRACE=enable=no", options["Env"])
        health = options["Healthcheck"]
        self.assertEqual((health["Interval"], health["Timeout"], health["StartPeriod"]), (10**10, 3 * 10**9, 3 * 10**10))
        self.assertEqual(health["Test"][0], "CMD")


if __name__ == "__main__":
    unittest.main()
