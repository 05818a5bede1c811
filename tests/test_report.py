"""The class as the gradebook has it: its numbers, what waits for a person, what was said most often, and the CSV."""

import csv
import json

import pytest
from nbgrader.api import Gradebook

from autograder.__main__ import main
from autograder.gradebook import COURSE, open_gradebook, url_of
from autograder.release import read_releases
from autograder.report import BINS, class_table, common_messages, part_bins, parts_table, waiting_text
from autograder.standings import most, notebooks, read_standings
from course.exercises import EXERCISES
from course.hand_in import ASSIGNMENT

# of each part: share of its points, None where a person has yet to mark it
SHARES = {"student-1": 1.0, "student-2": 0.0, "student-3": 0.4, "student-10": 0.5}
RESULTS = {
    "student-1": {"status": "graded", "notes": [], "messages": {"ex3-use": []}},
    "student-2": {"status": "rejected", "notes": ["rejected: not a notebook", "\x1b[2J" + "x" * 900], "messages": {}},
    "student-3": {"status": "graded", "notes": ["shared note"],
                  "messages": {"ex3-use": [["over-ideal", "3/8 is idle over ideal"], ["over-ideal", "again"]]}},
    "student-10": {"status": "graded", "notes": ["shared note"], "messages": {
        "ex3-use": [["over-ideal", "3/8 is idle over ideal"]], "ex1-diagram": [["early", "too early"]],
        "ex1-bubbles": [["unanswered", "no answer yet"]]}},
}


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A gradebook with four submissions and a student without one, and what `grade --json` wrote."""
    folder = tmp_path_factory.mktemp("class")
    book = str(folder / "gradebook.db")
    with open_gradebook(book, read_releases(), folder / "autograded"):
        pass
    with Gradebook(url_of(book), COURSE) as opened:
        opened.add_student("absent")
        for student, share in SHARES.items():
            opened.add_student(student)
            for notebook in opened.add_submission(ASSIGNMENT, student).notebooks:
                for grade in notebook.grades:
                    entry = EXERCISES[grade.name]
                    open_text = entry.manual and share > 0
                    grade.auto_score = None if open_text else share * entry.points
                    grade.needs_manual_grade = open_text
                    if student == "student-1" and grade.name == "ex2-explain":
                        grade.manual_score, grade.needs_manual_grade = 3.5, False
        opened.db.commit()
    (folder / "out.json").write_text(json.dumps(RESULTS))
    return folder


@pytest.fixture(scope="module")
def standings(place):
    return read_standings(str(place / "gradebook.db"), RESULTS)


def test_students_come_in_order_with_their_points(standings):
    assert [one.student for one in standings] == ["absent", "student-1", "student-2", "student-3", "student-10"]
    checked = sum(entry.points for entry in EXERCISES.values() if not entry.manual)
    assert [one.total() for one in standings] == pytest.approx([0, checked + 3.5, 0, 0.4 * checked, 0.5 * checked])
    assert standings[1].total("2_1f1b_phases") == most("2_1f1b_phases") - 0.5
    assert sum(map(most, notebooks())) == most() == sum(entry.points for entry in EXERCISES.values())


def test_what_waits_for_a_person(standings):
    texts = tuple(grade_id for grade_id, entry in EXERCISES.items() if entry.manual)
    assert [one.waiting for one in standings] == [(), texts[1:], (), texts, texts]
    said = waiting_text(standings)
    assert "ex2-explain in 2_1f1b_phases: a text: student-3, student-10" in said and "absent" not in said
    assert waiting_text([standings[2]]) == "Everything is marked."


def test_each_submission_is_once_in_the_histogram_of_a_part(standings):
    assert part_bins(standings, "ex1-diagram") == [1, 1, 1, 1, 0]
    assert part_bins(standings, "ex2-explain") == [1, 0, 1, 0, 2]
    assert all(sum(part_bins(standings, grade_id)) == 4 for grade_id in EXERCISES)
    line = next(line for line in parts_table(standings).splitlines() if line.startswith("ex1-diagram"))
    assert line.split() == ["ex1-diagram", "10", "4.75", "1", "1", "1", "1", "0", "|████", "|"]
    assert all(name in parts_table(standings) for name in BINS)


def test_the_commonest_message_comes_first_and_counts_students(standings):
    assert [line[:3] for line in common_messages(standings)] == [(2, "ex3-use", "over-ideal"), (1, "ex1-diagram", "early")]


def test_the_table_has_a_line_for_everyone(standings):
    lines = class_table(standings).splitlines()
    assert [line.split()[0] for line in lines[2:]] == ["of", *(one.student for one in standings)]
    assert "nothing handed in" in lines[3] and "rejected" in lines[5] and "3 to mark" in lines[6]


def test_the_command_prints_all_of_it_and_writes_the_csv(place, capsys):
    assert main(["report", "--gradebook", str(place / "gradebook.db"), "--json", str(place / "out.json"),
                 "--csv", str(place / "class.csv")]) == 0
    said = capsys.readouterr().out
    assert "student-3, student-10: shared note" in said and "over-ideal" in said and "\x1b" not in said
    assert max(map(len, said.splitlines())) < 320
    with open(place / "class.csv", newline="", encoding="utf-8") as file:
        rows = {row["student"]: row for row in csv.DictReader(file)}
    assert {student: row["status"] for student, row in rows.items()} == {
        "absent": "missing", "student-1": "graded", "student-2": "rejected", "student-3": "graded", "student-10": "graded"}
    assert float(rows["student-1"]["total"]) == sum(float(rows["student-1"][name]) for name in notebooks())
    assert (rows["student-3"]["to_mark"], rows["student-3"]["maximum"]) == ("3", "120")


def test_without_the_grades_of_a_run_it_still_reports(place, capsys):
    assert main(["report", "--gradebook", str(place / "gradebook.db")]) == 0
    said = capsys.readouterr().out
    assert "student-10" in said and "Notes" not in said and "Commonest" not in said


@pytest.mark.parametrize("arguments, said", [
    (["--gradebook", "nowhere.db"], "no gradebook nowhere.db"),
    (["--gradebook", "text.db"], "no gradebook that can be read"),
    (["--gradebook", "gradebook.db", "--json", "nowhere.json"], "nowhere.json cannot be read"),
    (["--gradebook", "gradebook.db", "--json", "text.db"], "text.db cannot be read"),
    (["--gradebook", "gradebook.db", "--csv", "no/class.csv"], "no/class.csv cannot be written"),
])
def test_a_start_that_is_refused(place, capsys, monkeypatch, arguments, said):
    monkeypatch.chdir(place)
    (place / "text.db").write_text("no database " * 100)
    assert main(["report", *arguments]) == 2
    error = capsys.readouterr().err
    assert said in error and error.count("\n") == 1 and not (place / "nowhere.db").exists()
