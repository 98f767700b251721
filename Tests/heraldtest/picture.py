# SPDX-License-Identifier: Apache-2.0
"""A PNG picture as coloured half blocks of a terminal. Reads 8-bit RGB and RGBA, and palettes, without interlacing."""
import os
import struct
import sys
import zlib

SIGNATURE = b"\x89PNG\r\n\x1a\n"
# Bytes of a pixel by colour type: RGB, palette, RGBA.
CHANNELS = {2: 3, 3: 1, 6: 4}
LARGEST_SIDE = 2048


def chunks(data):
    """(name, content) of each chunk."""
    place = len(SIGNATURE)
    while place + 12 <= len(data):
        length, name = struct.unpack_from(">I4s", data, place)
        yield name, data[place + 8:place + 8 + length]
        place += length + 12


def size_of(data):
    """(width, height) of a PNG; None for anything else."""
    if data[:8] != SIGNATURE or data[12:16] != b"IHDR" or len(data) < 24:
        return None
    return struct.unpack_from(">II", data, 16)


def paeth(left, above, corner):
    """The neighbour that is nearest to left + above - corner (PNG, 9.4)."""
    nearest = left + above - corner
    return min((abs(nearest - left), 0, left), (abs(nearest - above), 1, above), (abs(nearest - corner), 2, corner))[2]


def unfiltered(packed, stride, step):
    """The rows of a picture without the filter of each row (PNG, 9)."""
    above = bytes(stride)
    for place in range(0, len(packed), stride + 1):
        kind, row = packed[place], bytearray(packed[place + 1:place + 1 + stride])
        for index, value in enumerate(row):
            left, corner = (row[index - step], above[index - step]) if index >= step else (0, 0)
            added = (0, left, above[index], (left + above[index]) // 2, paeth(left, above[index], corner))[kind]
            row[index] = (value + added) & 255
        yield bytes(row)
        above = row


def pixels(data):
    """Rows of (red, green, blue) above white; None for a PNG of another kind."""
    if (size := size_of(data)) is None or max(size) > LARGEST_SIDE:
        return None
    (width, height), (depth, kind, _, _, interlaced) = size, struct.unpack_from("BBBBB", data, 24)
    if kind not in CHANNELS or interlaced or (depth != 8 and kind != 3) or depth > 8:
        return None
    parts = {}
    for name, content in chunks(data):
        parts[name] = parts.get(name, b"") + content
    if b"IDAT" not in parts or (kind == 3 and b"PLTE" not in parts):
        return None
    step = CHANNELS[kind]
    stride = (width * step * depth + 7) // 8
    rows = list(unfiltered(zlib.decompressobj().decompress(parts[b"IDAT"], (stride + 1) * height), stride, step))
    if kind == 3:
        palette, mask = parts[b"PLTE"], (1 << depth) - 1

        def colour(row, column):
            index = row[column * depth // 8] >> (8 - depth - column * depth % 8) & mask
            return tuple(palette[3 * index:3 * index + 3])
    else:
        def colour(row, column):
            red, green, blue, *alpha = row[column * step:column * step + step]
            part = alpha[0] / 255 if alpha else 1
            return tuple(round(value * part + 255 * (1 - part)) for value in (red, green, blue))
    return [[colour(row, column) for column in range(width)] for row in rows]


def drawn(data, columns=32):
    """Lines of a terminal with the picture: each block has two pixels, one above the other. [] for a PNG of another kind."""
    rows = pixels(data)
    if not rows:
        return []
    step = max(1, -(-len(rows[0]) // columns))
    rows = [row[step // 2::step] for row in rows[step // 2::step]]
    rows += [rows[-1]] * (len(rows) % 2)
    lines = []
    for upper, lower in zip(rows[::2], rows[1::2]):
        blocks = (f"\033[38;2;{a};{b};{c}m\033[48;2;{d};{e};{f}m▀" for (a, b, c), (d, e, f) in zip(upper, lower))
        lines.append("".join(blocks) + "\033[0m")
    return lines


def terminal_has_colours():
    """True for a terminal that states 24-bit colours and has UTF-8."""
    encoding = (sys.stdout.encoding or "").lower().replace("-", "")
    return sys.stdout.isatty() and encoding == "utf8" and os.environ.get("COLORTERM", "") in ("truecolor", "24bit")
