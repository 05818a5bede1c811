"""What an LMS gives, collected: whose it is, what is taken of it, what is refused and why, and that nothing earlier is lost."""

import argparse
import io
import json
import os
import random
import re
import stat
import zipfile

import pytest

from autograder import collect as command
from autograder.collect import collect
from autograder.files import MAX_BYTES
from autograder.handed_in import MOST_FILES
from course.hand_in import ASSIGNMENT, notebooks_to_hand_in, write_zip

NAMES = notebooks_to_hand_in()
FIRST = NAMES[0]
MOODLE, ATTEMPT = "assignsubmission_file_", "attempt_2030-01-31-10-00-00"
NOTEBOOKS = {name: json.dumps({"cells": [], "of": name}).encode() for name in NAMES}
MOODLE, ATTEMPT = "assignsubmission_file_", "attempt_2030-01-31-10-00-00"


def zipped(files, compression=zipfile.ZIP_DEFLATED, **attributes):
    """A zip of (name -> bytes); `attributes` are set on each member."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression) as archive:
        for name, data in files.items():
            member = zipfile.ZipInfo(name)
            member.compress_type = compression
            for key, value in attributes.items():
                setattr(member, key, value)
            archive.writestr(member, data)
    return buffer.getvalue()


@pytest.fixture
def place(tmp_path):
    (tmp_path / "downloads").mkdir()
    return tmp_path


def lay(place, files):
    for name, data in files.items():
        path = place / "downloads" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def collected(place, **options):
    found = collect(place / "downloads", place / "submitted", **options)
    assert not [path for path in (place / "submitted").iterdir() if path.name.startswith(".")]
    return {one.student: (one.state, one.detail) for one in found}


def submission(place, student):
    return {path.name: path.read_bytes() for path in (place / "submitted" / student / ASSIGNMENT).iterdir()}


def halves(names):
    """The notebooks in two parts, each under the next of the names."""
    parts = zip(names, (NAMES[:3], NAMES[3:]), strict=True)
    return {f"{name}/{file}": NOTEBOOKS[file] for name, files in parts for file in files}


@pytest.mark.parametrize("names, student", [
    ((f"Vic_42_{MOODLE}", f"Eve_42_{MOODLE}"), "42"), (("last_42_91_a", "other_42_92_a"), "42"),
    ((f"Task_s1_{ATTEMPT}_a", f"Task_s1_{ATTEMPT.replace('01-31', '02-01')}_a"), "s1"), (("s1", f"Task_s1_{ATTEMPT}_a"), "s1"),
])
def test_two_entries_that_claim_one_id_are_both_named_and_never_merged(place, names, student):
    lay(place, {**halves(names), "good.zip": zipped(NOTEBOOKS)})
    found = collected(place)
    assert found.pop("good") == ("collected", "")
    state, detail = found.pop(student)
    assert state == "rejected" and all(repr(name) in detail for name in names) and "leave the one" in detail and not found
    assert [path.name for path in (place / "submitted").iterdir()] == ["good"]


@pytest.mark.parametrize("names, options", [
    ((f"Vic_42_{MOODLE}a", f"Vic_42_{MOODLE}b"), {}), ((f"Vic_42_{MOODLE}", "Vic_42_assignsubmission_onlinetext_"), {}),
    (("last_LATE_42_91_a", "last_LATE_42_92_b"), {}), (("42", f"42/{ASSIGNMENT}"), {}),
    ((f"Task_42_{ATTEMPT}_a", f"Task_42_{ATTEMPT}_b"), {}),
    (("week3 - 42 - a", "week3 - 42 - b"), {"pattern": re.compile(r"- (\d+) -")}),
    ((f"{NAMES[0]}-42", f"{NAMES[1]}-42"), {"pattern": re.compile(r"-(\d+)$")}),
])
def test_several_files_of_one_submission_are_put_together(place, names, options):
    lay(place, halves(names))
    assert collected(place, **options) == {"42": ("collected", "")} and submission(place, "42") == NOTEBOOKS


def test_ids_that_look_alike_are_said(place):
    lay(place, {"s1.zip": zipped(NOTEBOOKS), "s2.zip": zipped(NOTEBOOKS)})
    assert collected(place)["s1"] == ("collected", "")
    lay(place, {"s\uff11.zip": zipped(NOTEBOOKS), "S2.zip": zipped(NOTEBOOKS)})
    found = collected(place)
    assert found["s\uff11"][0] == "collected" and "looks like 's1'" in found["s\uff11"][1]
    assert "looks like 's\\uff11'" in found["s1"][1] and "looks like 's2'" in found["S2"][1]


def test_every_form_of_a_whole_class(place):
    lay(place, {
        "Some Name_11_assignsubmission_file_/work.zip": zipped({f"work/{name}": data for name, data in NOTEBOOKS.items()}),
        "last_12_99_work.zip": zipped({f"deep/er/{name}": data for name, data in NOTEBOOKS.items()}),
        "s-13.zip": zipped(NOTEBOOKS),
        **{f"s-14/{ASSIGNMENT}/{name}": data for name, data in NOTEBOOKS.items()},
        **{f"last_LATE_15_99_{name}": data for name, data in NOTEBOOKS.items()},
        "s-16.zip": zipped({**NOTEBOOKS, f"__MACOSX/._{FIRST}": b"x", f".ipynb_checkpoints/{FIRST}": b"old", "notes.txt": b"x"}),
        ".DS_Store": b"x",
    })
    assert collected(place) == dict.fromkeys(("11", "12", "s-13", "s-14", "15", "s-16"), ("collected", ""))
    assert all(submission(place, path.name) == NOTEBOOKS for path in (place / "submitted").iterdir())


def test_the_zip_of_hand_in(place):
    folder = place / "downloads" / "s-1"
    lay(place, {f"s-1/{name}": data for name, data in NOTEBOOKS.items()})
    os.rename(write_zip(folder), place / "downloads" / "s-2.zip")
    assert collected(place) == {"s-1": ("collected", ""), "s-2": ("collected", "")}
    assert submission(place, "s-2") == submission(place, "s-1") == NOTEBOOKS


def test_missing_notebooks_are_named(place):
    lay(place, {"s-1.zip": zipped({FIRST: b"{}"})})
    state, detail = collected(place)["s-1"]
    assert state == "collected" and all(name in detail for name in NAMES[1:]) and FIRST not in detail and "holds" not in detail


@pytest.mark.parametrize("name", ["1_gpipe_diagram-Copy1.ipynb", "Kopie von 1_gpipe_diagram (neu).ipynb"])
def test_a_notebook_under_another_name_is_named_where_one_is_missing(place, name):
    lay(place, {"s-1.zip": zipped({name: b"{}", "essay.docx": b"", ".hidden.ipynb": b""} |
                                  dict.fromkeys(NAMES[1:], b"{}")),
                "s-2.zip": zipped({name: b"{}"} | NOTEBOOKS)})
    found = collected(place)
    assert f"without {FIRST}; it also holds {name!r}, which is none of the course's: rename" in found["s-1"][1]
    assert "docx" not in found["s-1"][1] and "hidden" not in found["s-1"][1] and found["s-2"] == ("collected", "")


def test_what_was_typed_into_moodle_is_said_not_to_be_read(place):
    lay(place, {f"A_12_assignsubmission_file_/{FIRST}": b"{}", "A_12_assignsubmission_onlinetext_/onlinetext.html": b"<p>",
                **{f"B_13_assignsubmission_file_/{name}": data for name, data in NOTEBOOKS.items()}})
    found = collected(place)
    assert "typed into Moodle is not read: 'onlinetext.html'" in found["12"][1]
    assert found["13"] == ("collected", "")


@pytest.mark.parametrize("bad, good", [("1_2_a.zip", "1_2_b.zip"), ("1_2_b.zip", "1_2_a.zip")])
def test_of_two_zips_of_one_student_the_one_at_fault_and_the_other_are_named(place, bad, good):
    lay(place, {f"name_{bad}": b"", f"name_{good}": zipped(NOTEBOOKS), f"other_2_3_{FIRST}": b"{}"})
    (downloads := place / "downloads").joinpath(f"other_2_3_{NAMES[1]}").symlink_to(downloads / f"name_{good}")
    found = collected(place)
    state, detail = found["1"]
    assert state == "rejected" and detail.startswith(f"'name_{bad}': it is no zip")
    assert detail.endswith(f"; there is 'name_{good}' of the same student: delete the one that should not count")
    assert found["2"][0] == "rejected" and "delete" not in found["2"][1], "loose notebooks belong together"


def test_a_folder_too_high_is_named(place):
    lay(place, {f"Course-Task-7/{student}_assignsubmission_file_/{FIRST}": student.encode() for student in ("A_12", "B_13")})
    state, detail = collected(place)["Course-Task-7"]
    assert state == "rejected" and detail.endswith("'Course-Task-7' holds submissions as an LMS names them: is it the folder to "
                                                   "collect from?")
    lay(place, {f"s-1/{folder}/{FIRST}": folder.encode() for folder in ("a", "b")})
    assert collected(place)["s-1"][0] == "rejected" and "LMS" not in collected(place)["s-1"][1]


def test_of_two_sound_zips_that_differ_both_are_named(place):
    lay(place, {"name_1_2_a.zip": zipped(NOTEBOOKS), "name_1_2_b.zip": zipped(NOTEBOOKS | {FIRST: b"[]"})})
    assert collected(place)["1"] == ("rejected", f"'name_1_2_b.zip' and 'name_1_2_a.zip' hold different {FIRST}: "
                                     "delete the one that should not count")


def test_an_earlier_submission_stays_unless_told(place):
    lay(place, {"s-1.zip": zipped(NOTEBOOKS)})
    assert collected(place) == {"s-1": ("collected", "")}
    assert collected(place) == {"s-1": ("unchanged", "")}
    changed = NOTEBOOKS | {FIRST: b"changed"}
    lay(place, {"s-1.zip": zipped(changed)})
    assert collected(place)["s-1"][0] == "kept" and submission(place, "s-1") == NOTEBOOKS
    assert collected(place, again=True) == {"s-1": ("collected", "")} and submission(place, "s-1") == changed
    lay(place, {"s-1.zip": b"broken"})
    lay(place, {"s-2.zip": b"broken"})
    found = collected(place, again=True)
    assert found["s-1"][0] == found["s-2"][0] == "rejected" and submission(place, "s-1") == changed
    assert found["s-1"][1].endswith("; what was collected before stays") and "stays" not in found["s-2"][1]


LINK = (stat.S_IFLNK | 0o777) << 16
BAD = {
    "broken": (b"PK\x03\x04 no zip at all", "no zip"),
    "empty": (b"", "no zip"),
    "cut": (zipped(NOTEBOOKS)[:-40], "no zip"),
    "damaged": (zipped(NOTEBOOKS, zipfile.ZIP_STORED).replace(b'"cells"', b'"CELLS"', 1), "no zip"),
    "encrypted": (zipped(NOTEBOOKS).replace(b"PK\x01\x02\x14\x03\x14\x00\x00", b"PK\x01\x02\x14\x03\x14\x00\x01"), "encrypted"),
    "link": (zipped({FIRST: b"/etc/passwd"}, external_attr=LINK), "link"),
    "outside": (zipped({f"../../{FIRST}": b"{}"}), "outside|leads out"),
    "absolute": (zipped({f"/tmp/{FIRST}": b"{}"}), "leads out"),
    "drive": (zipped({f"C:\\{FIRST}": b"{}"}), "leads out"),
    "nested": (zipped({"inner.zip": zipped(NOTEBOOKS)}), "another zip"),
    "bomb": (zipped({FIRST: bytes(MAX_BYTES)}), "to 1"),
    "large": (zipped({FIRST: bytes(MAX_BYTES + 1)}), "20 MB"),
    "many": (zipped({f"{n}.txt": b"" for n in range(MOST_FILES + 1)}), "more than"),
    "twice": (zipped({f"a/{FIRST}": b"{}", f"b/{FIRST}": b"[]"}), "twice"),
    "lzma": (zipped(NOTEBOOKS, zipfile.ZIP_LZMA), "method"),
    "none": (zipped({"essay.docx": b"x"}), "no notebook"),
}


def test_a_bad_zip_costs_one_student_and_leaves_nothing(place):
    lay(place, {"a-good.zip": zipped(NOTEBOOKS), "z-good.zip": zipped(NOTEBOOKS), "s.rar": b"Rar!", "t/u.rar": b"Rar!",
                **{f"{name}.zip": data for name, (data, _) in BAD.items()}})
    found = collected(place)
    assert found.pop("a-good") == found.pop("z-good") == ("collected", "")
    for name, (_, reason) in BAD.items():
        state, detail = found.pop(name)
        assert state == "rejected" and any(part in detail for part in reason.split("|")), (name, detail)
    assert {state for state, _ in found.values()} == {"rejected"} and len(found) == 2
    assert sorted(path.name for path in (place / "submitted").iterdir()) == ["a-good", "z-good"]
    assert sorted(path.name for path in place.iterdir()) == ["downloads", "submitted"]


def test_links_pipes_and_what_cannot_be_read_cost_one_student(place):
    lay(place, {"good.zip": zipped(NOTEBOOKS), f"inside/{FIRST}": b"{}", "pipe/other.txt": b""})
    downloads = place / "downloads"
    (downloads / "link.zip").symlink_to(downloads / "good.zip")
    (downloads / "folder").symlink_to(downloads / "inside")
    (downloads / "inside" / "more").symlink_to("/etc")
    os.mkfifo(downloads / "pipe" / FIRST)
    found = collected(place)
    assert found.pop("good") == ("collected", "")
    assert {state for state, _ in found.values()} == {"rejected"}
    assert all("link" in found[name][1] for name in ("link", "folder", "inside"))
    assert "pipe" in found["pipe"][1]


def test_damaged_bytes_never_stop_the_class(place):
    seed = random.randrange(1 << 32)
    print(f"seed {seed}")
    draw, whole = random.Random(seed), zipped(NOTEBOOKS)
    for number in range(300):
        data = bytearray(whole)
        for _ in range(draw.randint(1, 8)):
            data[draw.choice([draw.randrange(len(data)), len(data) - 1 - draw.randrange(900)])] = draw.randrange(256)
        (place / "downloads" / f"s{number}.zip").write_bytes(data)
    assert {state for state, _ in collected(place).values()} <= {"collected", "rejected"}


def test_a_full_disk_costs_nothing_that_was_there(place, monkeypatch):
    lay(place, {"s-1.zip": zipped(NOTEBOOKS)})
    collected(place)
    lay(place, {"s-1.zip": zipped({FIRST: b"changed"}), "s-2.zip": zipped(NOTEBOOKS)})

    def full(self, data):
        raise OSError(28, "No space left on device", str(self))
    monkeypatch.setattr(type(place), "write_bytes", full)
    assert {state for state, _ in collected(place, again=True).values()} == {"rejected"}
    assert submission(place, "s-1") == NOTEBOOKS and [path.name for path in (place / "submitted").iterdir()] == ["s-1"]


def call(*arguments):
    parser = argparse.ArgumentParser()
    command.add(parser)
    return command.run(parser.parse_args([str(argument) for argument in arguments]))


def test_the_command_says_what_became_of_everyone(place, capsys):
    lay(place, {"week3 - 77 - x.zip": zipped(NOTEBOOKS), "week3 - 78 - x.zip": b""})
    arguments = [place / "downloads", "--into", place / "submitted", "--pattern", r"- (\d+) -"]
    assert call(*arguments) == 1
    said = capsys.readouterr().out.splitlines()
    assert said[0].startswith("78: rejected: 'week3 - 78 - x.zip'") and said[1:] == ["1 collected, 1 rejected"]
    (place / "downloads" / "week3 - 78 - x.zip").unlink()
    assert call(*arguments) == 0 and capsys.readouterr().out == "1 unchanged\n"


@pytest.mark.parametrize("arguments, said", [(["nowhere"], "nowhere"), (["file"], "no folder"),
                                             (["downloads", "--pattern", "("], "regular expression")])
def test_a_start_that_is_refused(place, capsys, monkeypatch, arguments, said):
    monkeypatch.chdir(place)
    (place / "file").write_text("")
    assert call(*arguments) == 2
    assert said in capsys.readouterr().err and not (place / "autograder").exists()
