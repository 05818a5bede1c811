"""Zips written record by record (PKWARE's APPNOTE, 4.3), so that each field can say anything."""

import struct
import zlib

from hypothesis import strategies as st

ZIP64, UNICODE_PATH = 0x0001, 0x7075  # kinds of extra fields
STORED, DEFLATED = 0, 8


def deflated(data: bytes) -> bytes:
    """The data packed without zlib's header, as in a zip."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    return packer.compress(data) + packer.flush()


def extra_field(kind: int, content: bytes, length: int | None = None) -> bytes:
    """An extra field; `length` is what it says of itself."""
    return struct.pack("<HH", kind, len(content) if length is None else length) + content


def local_header(name: bytes, packed: bytes, *, size: int = 0, checksum: int = 0, flags: int = 0, method: int = STORED,
                 extra: bytes = b"") -> bytes:
    """A member as it stands in the file: header, name, extra field, packed data."""
    return struct.pack("<4s5H3L2H", b"PK\3\4", 20, flags, method, 0, 0, checksum, len(packed), size, len(name), len(extra)
                       ) + name + extra + packed


def listed(name: bytes, offset: int, packed_size: int = 0, size: int = 0, *, checksum: int = 0, flags: int = 0,
           method: int = STORED, extra: bytes = b"", comment: bytes = b"", version: int = 20, attributes: int = 0) -> bytes:
    """A member as the list at the end (the central directory) has it."""
    return struct.pack("<4s6H3L5H2L", b"PK\1\2", 0x300 | 20, version, flags, method, 0, 0, checksum, packed_size, size, len(name),
                       len(extra), len(comment), 0, 0, attributes, offset) + name + extra + comment


def end(count: int, list_size: int, list_offset: int, comment: bytes = b"", comment_size: int | None = None) -> bytes:
    """The end-of-central-directory record."""
    return struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, count, count, list_size, list_offset,
                       len(comment) if comment_size is None else comment_size) + comment


def end_64(count: int, list_size: int, list_offset: int, place: int, disks: int = 1) -> bytes:
    """ZIP64's end-of-central-directory record and its locator, which stand before the other; `place` is where they begin."""
    return (struct.pack("<4sQ2H2L4Q", b"PK\6\6", 44, 45, 45, 0, 0, count, count, list_size, list_offset)
            + struct.pack("<4sLQL", b"PK\6\7", 0, place, disks))


def zip_of(members: bytes, entries: list[bytes]) -> bytes:
    """A zip of these members and this list, with a true end."""
    directory = b"".join(entries)
    return members + directory + end(min(len(entries), 0xffff), len(directory), len(members))


def _numbers(bits):
    edges = {0, 1, 2, 30, 46, 0x7fff, 0xffff, 2**31 - 1, 2**31, 2**32 - 1, 2**62, 2**63 - 1, 2**63, 2**63 + 5, 2**64 - 1}
    return st.sampled_from(sorted(number for number in edges if number < 2**bits)) | st.integers(0, 300)


_EXTRAS = st.lists(st.builds(
    extra_field, st.sampled_from([ZIP64, UNICODE_PATH, 0x7855]) | _numbers(16),
    st.lists(_numbers(64), max_size=4).map(lambda numbers: struct.pack(f"<{len(numbers)}Q", *numbers)) | st.binary(max_size=12),
    st.none() | st.none() | _numbers(16)), max_size=3).map(b"".join)
_METHODS = st.sampled_from([STORED, DEFLATED, 9, 12, 14, 99])
_FLAGS = st.sampled_from([0, 1, 8, 0x20, 0x40, 0x800, 0x2000, 0xffff])


@st.composite
def raw_zips(draw, names: st.SearchStrategy[bytes]) -> bytes:
    """Zips of a few members in which most fields are true, and the others say anything."""
    def mostly(true, other):
        return draw(other) if draw(st.integers(0, 29)) == 29 else true

    def field(true, bits, other=1):
        return draw(_numbers(bits)) if draw(st.integers(1, 30)) > 30 - other else min(true, 2**bits - 1)

    members, known, entries = mostly(b"", st.binary(max_size=9)), [], []
    for _ in range(draw(st.integers(1, 4))):
        name, data = draw(names), draw(st.sampled_from([b"{}", b"{}", bytes(5000)]) | st.binary(max_size=60))
        method = draw(st.sampled_from([STORED, DEFLATED]))
        packed = deflated(data) if method == DEFLATED else data
        told = {"checksum": zlib.crc32(data), "method": method, "flags": mostly(0, _FLAGS)}
        known.append((name, len(members), len(packed), len(data), told))
        members += local_header(mostly(name, names), packed, size=field(len(data), 32), extra=mostly(b"", _EXTRAS), **told)
    for true in known + mostly([], st.lists(st.sampled_from(known), max_size=3)):
        name, offset, packed_size, size, told = mostly(true, st.sampled_from(known))
        extra = mostly(b"", _EXTRAS)
        if draw(st.integers(0, 7)) == 7:  # the true values, or what stands for them, are in ZIP64's extra field
            extra += extra_field(ZIP64, struct.pack("<3Q", *(field(one, 64, 6) for one in (size, packed_size, offset))))
            size = packed_size = offset = 2**32 - 1
        told = told | {"flags": mostly(told["flags"], _FLAGS), "method": mostly(told["method"], _METHODS)}
        entries.append(listed(mostly(name, names), field(offset, 32), field(packed_size, 32), field(size, 32),
                              extra=extra, comment=mostly(b"", st.binary(max_size=5)), version=field(20, 16),
                              attributes=field(0, 32), **told | {"checksum": field(told["checksum"], 32)}))
    directory, place, zip64 = b"".join(entries), len(members), b""
    if draw(st.integers(0, 3)) == 3:
        zip64 = end_64(field(len(entries), 64), field(len(directory), 64), field(place, 64), field(place + len(directory), 64),
                       field(1, 32))
    return members + directory + zip64 + end(field(len(entries), 16), field(len(directory), 32), field(place, 32),
                                             mostly(b"", st.binary(max_size=9)), mostly(None, _numbers(16)))
