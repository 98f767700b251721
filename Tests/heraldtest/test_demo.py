# SPDX-License-Identifier: Apache-2.0
"""The words of the demo: its next steps are those of README.md, and a logo is found in an INVITE.

Run it in Tests by `python3 -m unittest heraldtest.test_demo`.
"""
import contextlib
import io
import os
import unittest
from unittest import mock

from . import ROOT, demo

INVITE = "INVITE sip:+1@127.0.0.1 SIP/2.0\r\n{}From: \"Acme\" <sip:+2@127.0.0.1>;tag=1\r\n\r\n"


class Next(unittest.TestCase):
    def test_each_command_is_one_of_the_readme(self):
        with open(os.path.join(ROOT, "README.md"), encoding="utf-8") as file:
            page = file.read()
        for command, _ in demo.NEXT:
            self.assertIn(command.removesuffix(" NUMBER"), page)

    def test_a_kept_demo_does_not_advise_to_keep_it(self):
        for keep in (True, False):
            with contextlib.redirect_stdout(io.StringIO()) as said:
                demo.show_next(keep)
            self.assertEqual("--keep" in said.getvalue(), not keep)


class Logo(unittest.TestCase):
    def address(self, lines):
        call = mock.Mock()
        call.sides = [mock.Mock(**{"sent_and_received.return_value": [("received", INVITE.format(lines))]})]
        return demo.logo_address(call)

    def test_the_address_is_that_of_the_icon(self):
        for lines, address in (
                ("Call-Info: <http://a.example/b.png>;purpose=icon;call-reason=\"x, y\"\r\n", "http://a.example/b.png"),
                ("Call-Info: <http://a.example/card>;purpose=card\r\n", ""), ("", "")):
            self.assertEqual(self.address(lines), address)

    def test_a_sample_logo_is_known_by_its_bytes(self):
        path = os.path.join(demo.LOGOS, sorted(os.listdir(demo.LOGOS))[0])
        with open(path, "rb") as file:
            self.assertEqual(demo.same_file(file.read()), path)
        self.assertEqual(demo.same_file(b"other"), "")


if __name__ == "__main__":
    unittest.main()
