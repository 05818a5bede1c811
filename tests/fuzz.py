"""Whatever a stranger's bytes are, reading them gives data or a reason: python -m tests.fuzz intake --minutes 10

Properties, tried on what hypothesis makes of real notebooks, zips and frames. With --minutes it goes on for so long, each round
with a new seed; it stops at a failure and prints the smallest example.
"""

import argparse
import contextlib
import functools
import io
import json
import math
import os
import secrets
import shutil
import tempfile
import threading
import time
import zipfile
from fractions import Fraction
from pathlib import Path

import hypothesis
import nbformat
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from autograder.autograded import autograded_notebook
from autograder.cells import without_magics
from autograder.files import Rejected
from autograder.handed_in import read_handed_in
from autograder.intake import MAX_EXTRA, MAX_SOURCE, read_submission
from autograder.release import is_answer, read_releases
from autograder.results import Result
from autograder.session import Session
from autograder.submissions import solved
from autograder.worker import HEADER, frame_of
from course.answers import Raised
from course.hand_in import ASSIGNMENT
from course.wire import WireError, from_wire
from tests.raw_zips import raw_zips

NAME = "3_bubble_fraction"
ROUND = 500  # examples with one seed
LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20)
KEYS = st.sampled_from(["cells", "metadata", "nbgrader", "grade_id", "source", "cell_type", "worksheets"]) | st.text(max_size=8)
JSON = st.recursive(LEAVES, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4), max_leaves=12)
TAGS = st.sampled_from(["dict", "fraction", "raised", "record"])
WIRE = st.recursive(LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TAGS, inner, max_size=2) | st.builds(
    lambda tag, pairs: {tag: pairs}, TAGS, st.lists(st.lists(inner, min_size=2, max_size=2), max_size=3)), max_leaves=12)
CUTS = st.lists(st.tuples(st.floats(0, 1), st.integers(0, 300), st.binary(max_size=12)), max_size=4)
STEPS = st.lists(st.integers(0, 400), min_size=1, max_size=7)
EDITS = st.lists(st.tuples(STEPS, st.sampled_from(["put", "delete", "repeat", "swap"]), JSON), min_size=1, max_size=5)
ENCODINGS = st.sampled_from(["utf-8", "utf-16", "utf-32", "utf-8-sig", "utf-16-le", "latin-1"])


@functools.cache
def release():
    return read_releases()[NAME]


@functools.cache
def original() -> str:
    return json.dumps(solved()[f"{NAME}.ipynb"])


@contextlib.contextmanager
def folder():
    place = Path(tempfile.mkdtemp(prefix="fuzz-"))
    try:
        yield place
    finally:
        shutil.rmtree(place)


def cut(data: bytes, cuts) -> bytes:
    """The bytes with some taken out and others put in, at places given as shares of the whole."""
    for share, length, new in cuts:
        place = int(share * len(data))
        data = data[:place] + new + data[place + length:]
    return data


def edited(tree, edits):
    """A notebook with values in it put, deleted, repeated or swapped, at places that the steps lead to."""
    for steps, action, value in edits:
        at = tree
        for step in steps[:-1]:
            below = [item for item in (at.values() if isinstance(at, dict) else at) if isinstance(item, list | dict) and item]
            if not below:
                break
            at = below[step % len(below)]
        if not at:
            continue
        keys = list(at) if isinstance(at, dict) else range(len(at))
        key, other = keys[steps[-1] % len(keys)], keys[steps[0] % len(keys)]
        if action == "put":
            at[key] = value
        elif action == "delete":
            del at[key]
        elif action == "repeat" and isinstance(at, list):
            at.append(at[key])
        else:
            at[key], at[other] = at[other], at[key]
    return tree


def look_at(data: bytes):
    """What must hold of any file in the place of a notebook; the cells where it is taken, None where it is rejected."""
    with folder() as place:
        (place / ASSIGNMENT).mkdir()
        (place / ASSIGNMENT / f"{NAME}.ipynb").write_bytes(data)
        try:
            submission = read_submission(place, {NAME: release()})
        except Rejected as error:
            assert str(error)
            return None
    cells = submission.notebooks[NAME]
    assert [cell.grade_id for cell in cells if cell.grade_id] == list(release().cells)
    assert sum(not cell.grade_id for cell in cells) <= MAX_EXTRA and all(len(cell.source) <= MAX_SOURCE for cell in cells)
    for cell in cells:
        cell.source.encode()
        without_magics(cell.source)
        ours = release().cells.get(cell.grade_id)
        assert ours is None or is_answer(ours) or cell.source == ours.source
    notebook = autograded_notebook(release(), cells, {}, {"seed": 1})
    nbformat.validate(nbformat.reads(nbformat.v4.writes(notebook), 4))
    assert all(note.isprintable() for note in Result("one", 1, submission, {}, True).notes)
    return cells


FILE = (st.builds(lambda encoding, cuts: cut(original().encode(encoding), cuts), ENCODINGS, CUTS) | st.binary(max_size=200)
        | st.builds(lambda value, encoding, cuts: cut(json.dumps(value).encode(encoding), cuts), JSON, ENCODINGS, CUTS))


def intake(data):
    """Any file in the place of a notebook."""
    look_at(data)


def notebooks(edits):
    """A notebook of which values were changed, wherever they are."""
    look_at(json.dumps(edited(json.loads(original()), edits)).encode())


def zipped(names, method) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as archive:
        for name, text in names:
            archive.writestr(name or "x", text)
    return file.getvalue()


MEMBER = st.sampled_from([f"{NAME}.ipynb", f"{ASSIGNMENT}/{NAME}.ipynb", "../x", "C:\\x", "a/"]) | st.text(
    st.characters(codec="utf-8", exclude_characters="\0"), max_size=12)
ZIP = st.builds(lambda members, method, cuts: cut(zipped(members.items(), method), cuts),
                st.dictionaries(MEMBER, st.text(max_size=50), max_size=4),
                st.sampled_from([zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_LZMA]), CUTS)
RAW_NAME = st.just(f"{NAME}.ipynb".encode()) | MEMBER.map(str.encode) | st.sampled_from(
    [b"", b"\0x", b"/", b"a/\xff", f"{NAME}.ipynb\0".encode()])
RAW_ZIP = raw_zips(RAW_NAME) | st.builds(cut, raw_zips(RAW_NAME), CUTS)


def zips(data):
    """Any file that is called a zip."""
    with folder() as place:
        (place / "one.zip").write_bytes(data)
        try:
            found = read_handed_in([place / "one.zip"])
        except Rejected as error:
            assert str(error).isprintable() and 0 < len(str(error)) < 300
            return
        assert set(found.notebooks) <= {f"{NAME}.ipynb"} and all(type(data) is bytes for data in found.notebooks.values())
        assert [path.name for path in place.iterdir()] == ["one.zip"]


def is_plain(value) -> bool:
    """Whether it is data of exact types, with finite numbers, and no question's Record."""
    if type(value) is dict:
        return all(is_plain(part) for pair in value.items() for part in pair)
    if type(value) in (list, tuple):
        return all(map(is_plain, value))
    return type(value) in (int, str, bool, type(None), Fraction, Raised) or (type(value) is float and math.isfinite(value))


ANSWER = st.builds(lambda value, cuts: cut(json.dumps(value).encode(), cuts), WIRE, CUTS) | st.binary(max_size=80)


def wire(data):
    """Any text of an answer."""
    with contextlib.suppress(WireError):
        assert is_plain(from_wire(data.decode(errors="replace")))


class Liar:
    """In the place of a learner's process: it has sent these bytes, whatever it is asked, and closes the pipe."""

    def __init__(self, data: bytes):
        (self._given, self.requests), (self.replies, taken), (self.output, printed) = (os.pipe() for _ in range(3))
        for descriptor, content in ((taken, data), (printed, data)):
            threading.Thread(target=self._send, args=(descriptor, content), daemon=True).start()

    @staticmethod
    def _send(descriptor, content):
        with contextlib.suppress(OSError), open(descriptor, "wb") as pipe:
            pipe.write(content)

    def kill(self):
        if self._given is not None:
            os.close(self._given)
            self._given = None

    def wait(self):
        pass

    def why(self):
        return "its process has ended"


REPLY = st.builds(lambda number, answer: frame_of({"id": number, "answer": answer}), st.integers(0, 4) | JSON,
                  st.sampled_from(["null", "1", '{"raised": ["a", "b"]}', "[1, 2]", "NaN"]) | JSON | WIRE.map(json.dumps))
FRAME = REPLY | JSON.map(lambda value: frame_of({"id": 1, "answer": value})) | st.builds(
    lambda size, data: HEADER.pack(size) + data, st.integers(0, 2**32 - 1) | st.integers(0, 90), st.binary(max_size=90))
SENT = st.builds(lambda frames, cuts: cut(b"".join(frames), cuts), st.lists(FRAME, max_size=5), CUTS)


def frames(data):
    """Any bytes in the place of a learner's replies."""
    with Session(2.0, 20.0, process=Liar(data)) as session:
        ran = session.run("x = 1")
        assert ran is None or type(ran) is Raised
        for reply in (session.answer("x").value(), session.answer("x").call(1)):
            assert is_plain(reply)
            assert not session.ended or type(session.ended) is str
    assert session.run("x = 1") == Raised("Ended", session.ended) and type(session.output) is str


TARGETS = {"intake": (intake, FILE), "notebooks": (notebooks, EDITS), "zips": (zips, ZIP | RAW_ZIP), "wire": (wire, ANSWER),
           "frames": (frames, SENT)}


def fuzz(name: str, examples: int, seed: int):
    """So many examples; raises at the first that fails."""
    target, drawn = TARGETS[name]
    settings = hypothesis.settings(max_examples=examples, database=None, deadline=None, print_blob=True,
                                   suppress_health_check=list(HealthCheck))
    hypothesis.seed(seed)(settings(given(drawn)(lambda value: target(value))))()


def main(arguments: list[str] | None = None):
    """Go on for the minutes that were asked for; a failure is raised."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("target", choices=TARGETS)
    parser.add_argument("--minutes", type=float, default=10)
    options, rounds, begin = parser.parse_args(arguments), 0, time.monotonic()
    while time.monotonic() - begin < 60 * options.minutes:
        seed = secrets.randbelow(2**32)
        print(f"{options.target}: {rounds * ROUND} examples in {time.monotonic() - begin:.0f} s; next seed {seed}", flush=True)
        fuzz(options.target, ROUND, seed)
        rounds += 1
    print(f"{options.target}: {rounds * ROUND} examples, none failed")


if __name__ == "__main__":
    main()
