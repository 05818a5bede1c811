"""Whose an entry of what an LMS gives is, by its name."""

import re

import pytest

from autograder.downloads import student_of
from course.hand_in import ASSIGNMENT, notebooks_to_hand_in

NAMES = notebooks_to_hand_in()
FIRST = NAMES[0]
MOODLE, ATTEMPT = "assignsubmission_file_", "attempt_2030-01-31-10-00-00"


@pytest.mark.parametrize("name, student", [
    ("Some Name_1234_assignsubmission_file_", "1234"),
    ("Some_Name_1234_assignsubmission_file_pipeline_parallelism.zip", "1234"),
    ("lastnamefirst_12345_67890_pipeline_parallelism.zip", "12345"),
    ("lastnamefirst_LATE_12345_67890_pipeline_parallelism-1.zip", "12345"),
    ("lastnamefirst_12345_67890_1_gpipe_diagram-2.ipynb", "12345"),
    ("Task 1_s123_attempt_2030-01-31-10-00-00_work.zip", "s123"),
    ("student-1.zip", "student-1"),
    ("student 1", "student 1"),
    ("s_1_1_gpipe_diagram.ipynb", "s_1"),
    ("s-1_2_1f1b_phases (1).ipynb", "s-1"),
    ("x@example.org.ZIP", "x@example.org"),
    ("s-1_0_start_here.ipynb", "s-1"), ("s-1_7_open_lab.ipynb", "s-1"),
])
def test_whose_a_name_is(name, student):
    assert student_of(name) == student


@pytest.mark.parametrize("name", [FIRST, f"{ASSIGNMENT}.zip", ASSIGNMENT, "=1+1.zip", "a,b.zip", "-x", "a\nb", "x" * 80])
def test_a_name_that_says_no_student(name):
    with pytest.raises(ValueError, match="student"):
        student_of(name)


@pytest.mark.parametrize("name, both", [
    ("mallory_666_67892_x_777_assignsubmission_file_.zip", ["'666' (Canvas)", "'777' (Moodle)"]),
    ("mallory_666_67891_x_12345_assignsubmission_file_1_gpipe_diagram.ipynb", ["'666' (Canvas)", "'12345' (Moodle)"]),
    ("Name_12_assignsubmission_file_x_s9_attempt_2030-01-31-10-00-00_y.zip", ["'12' (Moodle)", "'s9' (Blackboard)"]),
])
def test_the_end_of_a_name_which_its_student_chooses_claims_nobody_elses_id(name, both):
    with pytest.raises(ValueError) as error:
        student_of(name)
    assert all(part in str(error.value) for part in both) and "--pattern" in str(error.value)


@pytest.mark.parametrize("name, both", [
    (f"Eve_42_{MOODLE} Smith_1234_{MOODLE}", ["'42'", "'1234'"]),  # chosen for display
    (f"Eve_42_assignsubmission_1234_{MOODLE}", ["'42'", "'1234'"]),  # one begins where the other ends
    (f"Name_12_{MOODLE}x_13_{MOODLE}.zip", ["'12'", "'13'"]),  # the name of a file
    (f"Task_s666_{ATTEMPT}_x_s123_{ATTEMPT}_y.zip", ["'s666'", "'s123'"]),
    (f"Task_a_b_{ATTEMPT}_x_c_b_{ATTEMPT}_y.zip", ["'b'"]),
    ("eve_5512_1234_67890_x.zip", ["'5512'", "'1234'"]), ("eve_5512_699_x_1234_67890_x.zip", ["'5512'", "'1234'"]),
])
def test_a_name_in_which_an_id_can_stand_at_several_places_is_nobodys(name, both):
    with pytest.raises(ValueError, match="rename it") as error:
        student_of(name)
    assert all(part in str(error.value) for part in both)


def test_a_file_of_ones_own_that_was_downloaded_before_says_no_other_id():
    assert student_of(f"Name_12_{MOODLE}Name_12_{MOODLE}work.zip") == "12"


def test_a_pattern_that_finds_several_ids_is_refused():
    with pytest.raises(ValueError, match=r"'77' and '42'.*\^ or \$"):
        student_of("week - 77 - x - 42 -.zip", re.compile(r"- (\d+) -"))
    assert student_of("week - 77 - x - 42 -.zip", re.compile(r"^week - (\d+) -")) == "77"
    assert student_of("77 - 77.zip", re.compile(r"\d+")) == "77"


@pytest.mark.parametrize("task, name, student", [
    ("Task", f"Task_jo_doe_{ATTEMPT}_x.zip", "jo_doe"), ("Task", f"Task_al_doe_{ATTEMPT}.txt", "al_doe"),
    ("Week_3", f"Week_3_eve_s123_{ATTEMPT}_{FIRST}", "eve_s123"), ("Week_3", f"Week_3_s1_{ATTEMPT}_x.zip", "s1"),
])
def test_an_underscore_in_blackboards_names_needs_the_tasks_name(task, name, student):
    with pytest.raises(ValueError, match="--task NAME"):
        student_of(name)
    assert student_of(name, task=task) == student
    with pytest.raises(ValueError, match="'Other_', the --task"):
        student_of(name, task="Other")
