"""One student's hand-in costs the class neither its run nor its time: whatever reading it raises, however much a zip claims."""

import io
import os
import struct
import zipfile
import zlib

import pytest

from autograder import collect as command
from autograder import handed_in
from autograder.collect import collect, summary
from autograder.files import Rejected
from autograder.handed_in import LOCAL_HEADER, MOST_FILES, MOST_LIST, read_handed_in
from course.hand_in import ASSIGNMENT, notebooks_to_hand_in
from tests.raw_zips import ZIP64, deflated, end, end_64, extra_field, listed, local_header, zip_of

NAMES = notebooks_to_hand_in()
FIRST = NAMES[0].encode()
CRC = zlib.crc32(b"{}")
MEMBER = local_header(FIRST, b"{}", size=2, checksum=CRC)
FARTHEST = 0xffffffff  # a place that ZIP64's extra field tells


def good() -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name in NAMES:
            archive.writestr(name, "{}")
    return buffer.getvalue()


@pytest.fixture
def downloads(tmp_path):
    """Of a class whose first and last student handed in all that they should."""
    (tmp_path / "downloads").mkdir()
    for name in ("a-good", "z-good"):
        (tmp_path / "downloads" / f"{name}.zip").write_bytes(good())
    return tmp_path / "downloads"


def the_others_and_m(downloads):
    """What is said of student m; the others must be collected, and nothing of m."""
    submitted = downloads.parent / "submitted"
    found = {one.student: one for one in collect(downloads, submitted)}
    assert {name: one.state for name, one in found.items()} == {"a-good": "collected", "m": "rejected", "z-good": "collected"}
    assert sorted(path.name for path in submitted.iterdir()) == ["a-good", "z-good"]
    assert found["m"].detail.isprintable() and len(found["m"].detail) < 250
    assert f"m: rejected: {found['m'].detail}\n" in summary([*found.values()])
    return found["m"].detail


def zip64(offset, size=2, packed_size=2):
    return zip_of(MEMBER, [listed(FIRST, FARTHEST, FARTHEST, FARTHEST, checksum=CRC,
                                  extra=extra_field(ZIP64, struct.pack("<3Q", size, packed_size, offset)))])


SPOILED = {
    "offset beyond a C integer": zip64(2**63 + 5),
    "offset beyond the file": zip64(2**62),
    "sizes beyond a C integer": zip64(0, 2**64 - 1, 2**64 - 1),
    "no name": zip_of(MEMBER, [listed(b"", 0, 2, 2, checksum=CRC)]),
    "a name that zipfile cuts to none": zip_of(MEMBER, [listed(b"\0x", 0, 2, 2, checksum=CRC)]),
    "a name in no encoding": zip_of(MEMBER, [listed(b"\xff", 0, 2, 2, checksum=CRC, flags=0x800)]),
    "a long name that differs": zip_of(MEMBER, [listed(b"\x1b" * 9000 + b"/" + FIRST, 0, 2, 2, checksum=CRC)]),
    "extra field cut": zip_of(MEMBER, [listed(FIRST, 0, 2, 2, checksum=CRC, extra=b"\1\0\xff\xff")]),
    "another format's version": zip_of(MEMBER, [listed(FIRST, 0, 2, 2, checksum=CRC, version=99)]),
    "no data in it": zip_of(b"", [listed(FIRST, 0, 2, 2, checksum=CRC)]),
}


@pytest.mark.parametrize("kind", SPOILED)
def test_a_spoiled_zip_costs_its_student_alone(downloads, kind):
    (downloads / "m.zip").write_bytes(SPOILED[kind])
    assert "ask for" in the_others_and_m(downloads)


@pytest.mark.parametrize("error", [
    MemoryError(), RecursionError("too\ndeep"), OverflowError("\x1b[2J" * 90), IndexError(),
    PermissionError(13, "Permission denied"), AssertionError(),
    UnicodeEncodeError("a", "b", 0, 1, "c")], ids=lambda error: type(error).__name__)
@pytest.mark.parametrize("path", ["m.zip", f"m/{NAMES[0]}", f"m/{ASSIGNMENT}.zip", f"m_{NAMES[0]}"])
def test_whatever_reading_raises_costs_one_student(downloads, monkeypatch, path, error):
    (downloads / path).parent.mkdir(exist_ok=True)
    (downloads / path).write_bytes(good())
    read = handed_in.read_file

    def broken(file, *limit):
        if downloads / path == file:
            raise error
        return read(file, *limit)
    monkeypatch.setattr(handed_in, "read_file", broken)
    assert "cannot be read" in (said := the_others_and_m(downloads)) and "ask for it again" in said


@pytest.mark.parametrize("error", [MemoryError(), RecursionError(), ValueError("x")], ids=lambda error: type(error).__name__)
@pytest.mark.parametrize("place, name", [(handed_in, "_read_member"), (command, "_lay")])
def test_whatever_unpacking_or_laying_raises_costs_one_student(downloads, monkeypatch, place, name, error):
    (downloads / "m.zip").write_bytes(copies(1, b"mmm"))
    whole = getattr(place, name)

    def broken(*arguments):
        if getattr(arguments[1], "file_size", 0) == 3 or arguments[0] == {NAMES[0]: b"mmm"}:
            raise error
        return whole(*arguments)
    monkeypatch.setattr(place, name, broken)
    assert "ask for it again" in the_others_and_m(downloads)


def test_a_folder_of_a_thousand_levels_costs_one_student(downloads, monkeypatch):
    (downloads / "m").mkdir()
    monkeypatch.chdir(downloads / "m")
    levels = 1200
    for _ in range(levels):
        os.mkdir("d")
        os.chdir("d")
    try:
        the_others_and_m(downloads)
    finally:
        for _ in range(levels):
            os.chdir("..")
            os.rmdir("d")


def rejected(tmp_path, data):
    (tmp_path / "one.zip").write_bytes(data)
    with pytest.raises(Rejected) as error:
        read_handed_in([tmp_path / "one.zip"])
    return str(error.value)


@pytest.fixture
def unpacked(monkeypatch):
    """The sizes of the members that are unpacked."""
    sizes, whole = [], zipfile.ZipFile.open

    def open_counted(archive, member, *arguments):
        sizes.append(member.file_size)
        return whole(archive, member, *arguments)
    monkeypatch.setattr(zipfile.ZipFile, "open", open_counted)
    return sizes


def _inside():
    """A member whose data is another whole member, and this other one."""
    return zip_of(local_header(b"a/" + FIRST, MEMBER), [
        listed(b"a/" + FIRST, 0, len(MEMBER), len(MEMBER), checksum=zlib.crc32(MEMBER)),
        listed(FIRST, LOCAL_HEADER + 2 + len(FIRST), 2, 2, checksum=CRC)])


@pytest.mark.parametrize("data", [
    zip_of(MEMBER, [listed(FIRST, 0, 2, 2, checksum=CRC)] * 2),
    zip_of(MEMBER, [listed(FIRST, 0, 2, 2, checksum=CRC)] * MOST_FILES),
    zip_of(MEMBER * 2, [listed(FIRST, len(MEMBER), 2, 2, checksum=CRC), listed(FIRST, 0, 2, 2, checksum=CRC)] * 2),
    _inside(),
], ids=["twice", "a thousand times", "not in order", "one inside the other"])
def test_members_that_share_bytes_are_refused_before_any_is_unpacked(tmp_path, unpacked, data):
    assert "share the same bytes" in rejected(tmp_path, data) and unpacked == []


def copies(count, data):
    """A zip with a notebook in so many folders."""
    packed, about = deflated(data), {"checksum": zlib.crc32(data), "method": 8}
    members, entries = b"", []
    for number in range(count):
        entries.append(listed(b"%d/%s" % (number, FIRST), len(members), len(packed), len(data), **about))
        members += local_header(b"%d/%s" % (number, FIRST), packed, size=len(data), **about)
    return zip_of(members, entries)


def test_copies_of_a_notebook_count_each_time(tmp_path, monkeypatch, unpacked):
    monkeypatch.setattr(handed_in, "MOST_TOTAL", 10_000)
    data = b"{" + b" " * 2998 + b"}"
    (tmp_path / "nested.zip").write_bytes(copies(3, data))
    assert read_handed_in([tmp_path / "nested.zip"]).notebooks == {NAMES[0]: data} and len(unpacked) == 3
    unpacked.clear()
    assert "copies count" in rejected(tmp_path, copies(200, data)) and len(unpacked) == 4
    for number in range(9):
        (tmp_path / "folder" / str(number)).mkdir(parents=True)
        (tmp_path / "folder" / str(number) / NAMES[0]).write_bytes(data)
    with pytest.raises(Rejected, match="copies count"):
        read_handed_in([tmp_path / "folder"])


def many(count, said, with_64):
    """A zip with a list of `count` members, of which its end says there are `said`."""
    entry = listed(b"", 0)
    last = end_64(said, count * len(entry), 0, count * len(entry)) + end(0xffff, FARTHEST, FARTHEST) if with_64 else end(
        said & 0xffff, count * len(entry), 0)
    return entry * count + last


@pytest.mark.parametrize("with_64", [False, True])
@pytest.mark.parametrize("said", [1, 200_000])
def test_a_list_of_many_members_is_not_taken_apart(tmp_path, monkeypatch, said, with_64):
    made = []

    class Counted(zipfile.ZipInfo):
        __slots__ = ()

        def __init__(self, *arguments):
            made.append(1)
            super().__init__(*arguments)
    monkeypatch.setattr(zipfile, "ZipInfo", Counted)
    assert "list of files is longer" in rejected(tmp_path, many(200_000, said, with_64)) and not made
    assert f"more than {MOST_FILES} files" in rejected(tmp_path, many(MOST_FILES + 1, said, with_64))
    assert len(made) == MOST_FILES + 1


def test_as_many_files_as_are_allowed_with_long_names_and_a_comment(tmp_path):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.comment = b"c" * 65_535
        archive.writestr(f"{ASSIGNMENT}/{NAMES[0]}", "{}")
        for number in range(MOST_FILES - 1):
            archive.writestr(f"{ASSIGNMENT}/{number:0250}/{'n' * 250}.png", b"")
    (tmp_path / "one.zip").write_bytes(buffer.getvalue())
    assert read_handed_in([tmp_path / "one.zip"]).notebooks == {NAMES[0]: b"{}"} and len(buffer.getvalue()) > MOST_LIST
