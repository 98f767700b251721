# SPDX-License-Identifier: Apache-2.0
"""Pictures in a terminal: PNG of each filter, palette and depth (PNG, third edition).

Run it in Tests by `python3 -m unittest heraldtest.test_picture`.
"""
import struct
import unittest
import zlib

from . import picture

ROWS = [[(10, 200, 30), (250, 3, 90), (7, 7, 7)], [(10, 201, 31), (0, 0, 255), (99, 120, 1)],
        [(255, 255, 255), (1, 2, 3), (10, 200, 30)]]


def chunk(name, content):
    return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))


def png(width, height, depth, kind, rows, *more, interlaced=0):
    """A PNG of filtered rows; `more` are chunks before the data."""
    header = struct.pack(">IIBBBBB", width, height, depth, kind, 0, 0, interlaced)
    packed = zlib.compress(b"".join(rows))
    # Two pieces, as a writer may split the data.
    return b"".join((picture.SIGNATURE, chunk(b"IHDR", header), *more, chunk(b"IDAT", packed[:5]), chunk(b"IDAT", packed[5:]),
                     chunk(b"IEND", b"")))


def filtered(kind, row, above, step):
    """A row by one filter, as an encoder writes it (PNG, 9.2)."""
    def at(values, index):
        return values[index] if index >= 0 else 0

    guesses = {
        0: lambda i: 0, 1: lambda i: at(row, i - step), 2: lambda i: above[i],
        3: lambda i: (at(row, i - step) + above[i]) // 2,
        4: lambda i: picture.paeth(at(row, i - step), above[i], at(above, i - step))}
    return bytes([kind, *((value - guesses[kind](index)) & 255 for index, value in enumerate(row))])


class Pictures(unittest.TestCase):
    def test_every_filter_is_undone(self):
        plain = [bytes(value for pixel in row for value in pixel) for row in ROWS]
        for kind in range(5):
            rows = [filtered(kind, row, above, 3) for row, above in zip(plain, [bytes(9), *plain])]
            self.assertEqual(picture.pixels(png(3, 3, 8, 2, rows)), ROWS, kind)

    def test_paeth_prefers_left_then_above(self):
        for (left, above, corner), nearest in (
                ((5, 5, 5), 5), ((10, 20, 15), 15), ((1, 9, 1), 9), ((9, 1, 1), 9), ((4, 6, 5), 5), ((4, 7, 5), 7), ((3, 6, 5), 3)):
            self.assertEqual(picture.paeth(left, above, corner), nearest, (left, above, corner))

    def test_palettes_of_each_depth_are_read(self):
        palette = chunk(b"PLTE", bytes(range(12)))
        for depth, row in ((1, b"\x40"), (2, b"\x1b"), (4, b"\x01\x23"), (8, b"\x00\x01\x02\x03")):
            width = 2 if depth == 1 else 4
            found = picture.pixels(png(width, 1, depth, 3, [b"\0" + row], palette))
            self.assertEqual(found, [[(3 * i, 3 * i + 1, 3 * i + 2) for i in range(width)]], depth)

    def test_transparent_parts_are_white(self):
        self.assertEqual(picture.pixels(png(2, 1, 8, 6, [b"\0\x09\x08\x07\xff\x09\x08\x07\x00"])), [[(9, 8, 7), (255,) * 3]])

    def test_a_block_has_two_pixels(self):
        plain = [b"\0" + bytes(value for pixel in row for value in pixel) for row in ROWS]
        lines = picture.drawn(png(3, 3, 8, 2, plain))
        self.assertEqual(len(lines), 2)
        self.assertTrue(lines[0].startswith("\033[38;2;10;200;30m\033[48;2;10;201;31m▀"))
        self.assertTrue(lines[1].endswith("\033[0m"))
        self.assertEqual(len(picture.drawn(png(3, 3, 8, 2, plain), columns=2)), 1)

    def test_other_files_are_no_picture(self):
        grey = png(1, 1, 8, 0, [b"\0\0"])
        for data in (b"", b"GIF89a", grey, png(1, 1, 8, 2, [b"\0\0\0\0"], interlaced=1), png(9999, 1, 8, 2, [b"\0"]),
                     png(1, 1, 8, 3, [b"\0\0"])):
            self.assertEqual(picture.drawn(data), [])
        self.assertIsNone(picture.size_of(b"GIF89a"))
        self.assertEqual(picture.size_of(grey), (1, 1))


if __name__ == "__main__":
    unittest.main()
