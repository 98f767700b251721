# SPDX-License-Identifier: Apache-2.0
"""Deploy/sign with keys of its own: gpgv of Debian and sha256sum judge what it writes.

Run it in Tests by `python3 -m unittest Package.test_sign`.
"""
import hashlib
import os
import shutil
import subprocess
import tempfile
import unittest

from . import dockerfile

SIGN = os.path.join(dockerfile.ROOT, "Deploy", "sign")
DIST = os.path.join(dockerfile.ROOT, "Deploy", "dist")
ADDRESS = "release@herald.example"


@unittest.skipUnless(shutil.which("gpg") and shutil.which("gpgv"), "this machine has no gpg")
class Signature(unittest.TestCase):
    """One release of one file, and one key that can sign."""

    @classmethod
    def setUpClass(cls):
        # A short path: gpg-agent has its sockets there.
        cls.home = tempfile.mkdtemp(prefix="gpg-", dir="/tmp")
        cls.environment = {**os.environ, "GNUPGHOME": cls.home}
        cls.add_key(ADDRESS, "1d")

    @classmethod
    def tearDownClass(cls):
        subprocess.run(["gpgconf", "--kill", "all"], env=cls.environment, check=False)
        shutil.rmtree(cls.home, ignore_errors=True)

    @classmethod
    def run_command(cls, *command, folder=None):
        return subprocess.run(command, cwd=folder, env=cls.environment, check=False, capture_output=True, text=True,
                              stdin=subprocess.DEVNULL, timeout=120)

    @classmethod
    def add_key(cls, address, expires):
        made = cls.run_command("gpg", "--batch", "--quiet", "--passphrase", "", "--quick-generate-key", address, "ed25519",
                               "sign", expires)
        if made.returncode:
            raise AssertionError(made.stderr)

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.put("herald.deb", b"a package")
        sum_of_file = hashlib.sha256(b"a package").hexdigest()
        self.put("SHA256SUMS", f"{sum_of_file}  herald.deb\n".encode())

    def put(self, name, data):
        with open(os.path.join(self.folder, name), "wb") as file:
            file.write(data)

    def read(self, name):
        with open(os.path.join(self.folder, name), "rb") as file:
            return file.read()

    def has(self, name):
        return os.path.exists(os.path.join(self.folder, name))

    def sign(self, key=ADDRESS):
        return self.run_command(SIGN, key, self.folder)

    def check(self, printed, signature_only=False):
        """The command that a person copies, with the key of the release alone; gpgv alone on wish."""
        key = subprocess.run(["gpg", "--batch", "--export", ADDRESS], env=self.environment, check=True, capture_output=True)
        self.put("herald-release.gpg", key.stdout)
        lines = [line.strip() for line in printed.splitlines() if line.strip().startswith("gpgv ")]
        self.assertEqual(len(lines), 1, printed)
        command = lines[0].split(" && ")[0] if signature_only else lines[0]
        return self.run_command("bash", "-c", command, folder=self.folder)

    def test_the_printed_command_accepts_the_release(self):
        signed = self.sign()
        self.assertEqual(signed.returncode, 0, signed.stderr)
        checked = self.check(signed.stdout)
        self.assertEqual(checked.returncode, 0, checked.stderr)
        self.assertIn("herald.deb: OK", checked.stdout)

    def test_the_printed_command_rejects_other_sums_and_other_files(self):
        printed = self.sign().stdout
        self.put("herald.deb", b"another package")
        self.assertNotEqual(self.check(printed).returncode, 0)
        # Sums that fit the file again, as an attacker of the download place writes them.
        self.put("SHA256SUMS", f"{hashlib.sha256(b'another package').hexdigest()}  herald.deb\n".encode())
        self.assertNotEqual(self.check(printed).returncode, 0)

    def test_the_printed_command_rejects_the_signature_of_another_key(self):
        self.add_key("other@herald.example", "1d")
        signed = self.sign("other@herald.example")
        self.assertEqual(signed.returncode, 0, signed.stderr)
        self.assertNotEqual(self.check(signed.stdout).returncode, 0)

    def test_gpgv_ends_with_0_only_for_this_key_and_these_checksums(self):
        self.add_key("third@herald.example", "1d")
        sums = self.read("SHA256SUMS")
        for key, text, is_good in ((ADDRESS, sums, True), (ADDRESS, sums + b"\n", False),
                                   ("third@herald.example", sums, False)):
            self.put("SHA256SUMS", sums)
            printed = self.sign(key).stdout
            self.put("SHA256SUMS", text)
            self.assertEqual(self.check(printed, signature_only=True).returncode == 0, is_good, (key, text))
        signature = self.read("SHA256SUMS.asc")
        self.put("SHA256SUMS.asc", signature[:len(signature) // 2])
        self.assertNotEqual(self.check(printed, signature_only=True).returncode, 0)

    def test_the_check_of_a_key_prints_no_line_of_an_installation(self):
        tools = os.path.join(self.folder, "tools")
        os.mkdir(tools)
        for name, text in (("dpkg-query", "exit 1"), ("apt-get", "exit 0"), ("sudo", 'exec "$@"')):
            self.put(f"tools/{name}", f"#!/bin/sh\n{text}\n".encode())
            os.chmod(os.path.join(tools, name), 0o755)
        path = f"{tools}:{os.environ['PATH']}"
        checked = self.run_command("env", f"PATH={path}", SIGN, "--check", ADDRESS)
        self.assertRegex(checked.stdout, "^[0-9A-F]{40}\n$")
        self.assertIn("installing gpg", checked.stderr)

    def test_a_file_that_differs_from_its_sum_is_never_signed(self):
        self.put("herald.deb", b"damaged")
        signed = self.sign()
        self.assertEqual(signed.returncode, 1)
        self.assertIn("differs from SHA256SUMS; build the release again", signed.stderr)
        self.assertFalse(self.has("SHA256SUMS.asc"))

    def test_a_folder_without_a_release_has_its_remedy(self):
        os.remove(os.path.join(self.folder, "SHA256SUMS"))
        self.assertIn(f"build the release first: Deploy/dist --output {self.folder}", self.sign().stderr)

    def test_an_unknown_key_has_its_remedy(self):
        signed = self.sign("nobody@herald.example")
        self.assertEqual(signed.returncode, 1)
        self.assertIn("gpg has no secret key 'nobody@herald.example' here", signed.stderr)

    def test_a_name_of_two_keys_is_refused_with_both(self):
        self.add_key("First of two <two@herald.example>", "1d")
        self.add_key("Second of two <two@herald.example>", "1d")
        signed = self.sign("two@herald.example")
        self.assertEqual(signed.returncode, 1)
        self.assertRegex(signed.stderr, r"names several keys; give the fingerprint of one:\n +[0-9A-F]{40}\n +[0-9A-F]{40}")

    def test_an_expired_key_is_found_before_the_work(self):
        self.add_key("expired@herald.example", "seconds=1")
        subprocess.run(["sleep", "2"], check=True)
        checked = self.run_command(SIGN, "--check", "expired@herald.example")
        self.assertEqual(checked.returncode, 1)
        self.assertIn("cannot sign; see the reason of gpg above", checked.stderr)

    def test_the_check_of_a_key_prints_its_fingerprint_and_writes_nothing(self):
        checked = self.run_command(SIGN, "--check", ADDRESS, folder=self.folder)
        self.assertRegex(checked.stdout, "^[0-9A-F]{40}\n$")
        self.assertFalse(self.has("SHA256SUMS.asc"))

    def test_a_release_without_a_key_for_sign_is_an_error_of_usage(self):
        for command in ([SIGN], [SIGN, "--nonsense"], [SIGN, "a", "b", "c"], [DIST, "--sign"]):
            self.assertEqual(self.run_command(*command).returncode, 2, command)


if __name__ == "__main__":
    unittest.main()
