"""The seed of what is drawn: the same for the same submission, another one for another."""

from types import SimpleNamespace

from autograder import grade as module
from autograder.intake import Cell, Submission
from autograder.release import read_releases
from autograder.seeds import BITS, new_seed, seed_of
from tests.asked import BEST, INVERSE, USE
from tests.submissions import answer, hand_in


def handed(*cells, name="3_bubble_fraction"):
    return Submission({name: cells})


def test_it_is_of_the_kept_number_and_of_every_cell():
    one = handed(USE, INVERSE)
    assert seed_of(5, one) == seed_of(5, Submission({**one.notebooks}, notes=("late",)))
    changed = [handed(USE), handed(INVERSE, USE), handed(USE, INVERSE, BEST), handed(USE, INVERSE, name="2_1f1b_phases"),
               handed(USE, INVERSE._replace(source=f"{INVERSE.source} ")), handed(USE, INVERSE._replace(kind="markdown")),
               handed(USE, INVERSE, Cell(None, "\ud800"))]
    found = [seed_of(5, one), seed_of(6, one), *(seed_of(5, other) for other in changed)]
    assert len(set(found)) == len(found)


def test_a_kept_number_is_whole_for_every_reader_of_json_and_hardly_to_be_guessed():
    found = {new_seed() for _ in range(50)}
    assert len(found) == 50 and max(found) < 2**BITS <= 2**53 and max(found) > 2**45


def test_grading_draws_by_it_and_keeps_the_number(tmp_path, monkeypatch):
    seeds, releases = [], read_releases()
    monkeypatch.setattr(module, "grade", lambda submission, sessions, seed, *_: seeds.append(seed) or {})
    for name in ("one", "two"):
        folder = hand_in(tmp_path, name, "notebooks")
    answer(folder, "ex3-use-answer", "bubble_4_8 = 1")
    means = SimpleNamespace(boxed=True), SimpleNamespace(for_submission=lambda: None), None
    kept = [module._grade_one(student, 5, tmp_path, releases, means).seed for student in ("one", "one", "two")]
    assert kept == [5, 5, 5] and seeds[0] == seeds[1] != seeds[2] and 5 not in seeds
