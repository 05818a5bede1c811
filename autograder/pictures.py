"""Pictures that were pasted into a text: attachments of its cell, kept where they are really small PNG or JPEG files."""

import base64
import binascii
from collections.abc import Mapping
from typing import NamedTuple

PNG, JPEG = b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff"
MOST_BYTES = 3_000_000  # of a picture
MOST_PIXELS = 40_000_000  # of a picture: a browser unpacks 4 bytes for each
MOST, MOST_TOGETHER = 10, 6_000_000  # pictures of a notebook, and their bytes together
_SIZES = {*range(0xC0, 0xD0)} - {0xC4, 0xC8, 0xCC}  # the segments of a JPEG file that say its size


class Picture(NamedTuple):
    """A picture by its name in the text: `kind` is image/png or image/jpeg by its first bytes, `data` is base64."""

    name: str
    kind: str
    data: str


class Album:
    """The pictures of one notebook, as many as are kept."""

    def __init__(self):
        self._count, self._bytes = 0, 0

    def take(self, attachments, source: str) -> tuple[Picture, ...]:
        """The pictures among a cell's attachments that its text may name; whatever else is there is left."""
        found = []
        for name, bundle in attachments.items() if isinstance(attachments, Mapping) and "attachment:" in source else ():
            for data in bundle.values() if isinstance(bundle, Mapping) else ():
                if self._count < MOST and (picture := _picture(name, data)) and self._bytes + len(picture.data) <= MOST_TOGETHER:
                    self._count, self._bytes = self._count + 1, self._bytes + len(picture.data)
                    found.append(picture)
                    break
        return tuple(found)


def _picture(name, data):
    data = "".join(part for part in data if isinstance(part, str)) if isinstance(data, list) else data
    if not isinstance(data, str) or not isinstance(name, str) or len(data) > 1.4 * MOST_BYTES:
        return None
    try:
        data = base64.b64decode("".join(data.split()), validate=True)
    except (ValueError, binascii.Error):
        return None
    kind, pixels = kind_and_pixels(data)
    if not kind or len(data) > MOST_BYTES or not 0 < pixels <= MOST_PIXELS:
        return None
    return Picture(name, kind, base64.b64encode(data).decode())


def kind_and_pixels(data: bytes) -> tuple[str, int]:
    """What a file is by its first bytes, image/png, image/jpeg or "", and how many pixels it says that it has.

    >>> kind_and_pixels(b"<svg/>")
    ('', 0)
    """
    if data.startswith(PNG) and data[12:16] == b"IHDR":
        return "image/png", int.from_bytes(data[16:20], "big") * int.from_bytes(data[20:24], "big")
    if not data.startswith(JPEG):
        return "", 0
    place = 2
    while data[place:place + 1] == b"\xff" and len(data) >= place + 9:
        if data[place + 1] in _SIZES:
            height, width = data[place + 5:place + 7], data[place + 7:place + 9]
            return "image/jpeg", int.from_bytes(height, "big") * int.from_bytes(width, "big")
        place += 2 + max(2, int.from_bytes(data[place + 2:place + 4], "big"))
    return "image/jpeg", 0
