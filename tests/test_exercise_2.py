import itertools
import re

import pytest

from autograder.session import Session
from course import Costs, Operation, Schedule, schedules, simulate, violations
from course.answers import LocalAnswer
from course.checks import one_f_one_b, phases
from course.checks.one_f_one_b_claims import CLAIMS
from course.checks.room import first_over, judge_within_room
from course.exercises import EXERCISES, judge
from course.formulas import peak_in_flight, total_slots
from tests import bank_2_1f1b_phases as bank
from tests import bank_2_orders
from tests.bank import bank_tests, judged_locally
from tests.bank_2_orders import LOOP
from tests.headless import outputs, run_notebook

CASES = bank.RIGHT + bank.WRONG
NOTEBOOK = "2_1f1b_phases"
SIZES = [(p, m) for p in (1, 2, 3, 4, 8) for m in (1, 2, 3, 4, 8, 16)]


@pytest.fixture(scope="module")
def session():
    with Session() as session:
        yield session


test_bank_in_the_notebook, test_bank_from_outside = bank_tests(CASES)


@pytest.mark.parametrize("grade_id", [entry.grade_id for entry in EXERCISES.values() if entry.notebook == NOTEBOOK])
def test_a_function_that_never_ends_is_stopped_once(grade_id):
    entry = EXERCISES[grade_id]
    if entry.manual or grade_id == "ex2-claims":
        return

    def endless(*_):
        while True:
            pass

    verdict = judge(grade_id, LocalAnswer(endless, seconds=0.2))
    assert verdict.points == 0 and [message.code for message in verdict.messages] == ["too-slow"]


def test_a_function_that_fails_at_one_size_is_right_at_the_others():
    def once(p, m, stage):
        return [] if (p, m) == (12, 48) else [operation.short for operation in schedules.one_f_one_b(p, m).ranks[stage]]

    verdict = judge("ex2-order", LocalAnswer(once))
    assert verdict.points == 7 * 3 / 4
    assert [message.code for message in verdict.messages] == ["right-at", "missing"]


def said_of(source, *codes):
    """The texts of one verdict, of these codes."""
    grade_id = next(entry.grade_id for entry in EXERCISES.values() if entry.answers and f"def {entry.answers[0]}(" in source)
    return " ".join(message.text for message in judged_locally(bank.Case(grade_id, source, 0)).messages if message.code in codes)


def test_a_hint_about_few_micro_batches_asks_about_the_stage_that_fails():
    gpipe_below = "if m < p:\n    return [k + str(i) for k in 'FB' for i in range(m)]\n" + LOOP.strip() + "\nreturn order"
    said = said_of(bank_2_orders.order(gpipe_below, 0).source, "m-below-p")
    assert "only 2 micro-batches: what does the warm-up of stage 3 consist of" in said
    one_lost = bank_2_orders.order("if m == 1:\n    return ['F0']\n" + LOOP.strip() + "\nreturn order", 0).source
    assert said_of(one_lost, "missing").startswith("`one_f_one_b(3, 1, 0)` lacks B0:") and not said_of(one_lost, "m-below-p")


def test_what_is_there_twice_is_said_with_its_stage():
    twice = bank_2_orders.order(LOOP + "return order + order[-1:]", 0).source
    assert said_of(twice, "repeated") == "p=4, m=8: B7 is there more than once, again on stage 0. Each operation runs once."


def test_lengths_that_fit_in_one_way_to_count_are_not_called_wrong():
    said = said_of("def phase_lengths(p, m, stage):\n    return 3, 5, 3", "phases-wrong")
    assert said.startswith("`phase_lengths(4, 8, 2)` returned 3, 5, 3: the sums are right, the warm-up is not.")


def test_a_list_kept_between_calls_is_named():
    said = said_of("kept = []\ndef one_f_one_b(p, m, stage):\n    kept.extend([f'F{i}' for i in range(m)])\n    return kept",
                   "changed")
    assert "`one_f_one_b(4, 8, 0)` returned 8 items at first, and " in said and "kept between the calls" in said


@pytest.mark.parametrize(("p", "m"), SIZES)
def test_a_cut_fits_where_it_gives_the_order_and_nowhere_else(p, m):
    for stage in range(p):
        for pair in phases.WAYS:
            cuts = {(w, n, c) for w, n, c in itertools.product(range(m + 1), repeat=3)
                    if phases.fits([w, n, c], p, m, stage, pair)}
            right = phases.WAYS[pair](p, m, stage)
            other = (m - 1, 1, m - 1) if pair == "FB" else right
            assert right in cuts and cuts <= {right, other, (m, 0, m)}, (p, m, stage, pair, cuts)


def test_each_kind_of_wrong_answer_has_its_own_message():
    assert len({code for case in bank.WRONG for code in case.codes}) >= 45
    texts = {}
    for case in bank.WRONG:
        for message in judged_locally(case).messages:
            if not message.good:
                texts.setdefault(message.text, set()).add(message.code)
    assert all(len(codes) == 1 for codes in texts.values())


def test_no_message_for_a_wrong_function_prints_the_formula():
    for case in bank.WRONG_ORDERS + bank.WRONG_PHASES + bank.WRONG_FLIGHTS:
        for message in judged_locally(case).messages:
            assert not re.search(r"min\(|p ?- ?(1 ?- ?)?stage|4, 3, 2, 1", message.text.split("returned")[0]), message


def test_points_of_the_table():
    parts = [entry for entry in EXERCISES.values() if entry.notebook == NOTEBOOK]
    assert {entry.grade_id: entry.points for entry in parts} == {
        "ex2-order": 8, "ex2-phases": 3, "ex2-in-flight": 4, "ex2-claims": 1, "ex2-explain": 4}
    assert [entry.grade_id for entry in parts if entry.manual] == ["ex2-explain"]
    for case in bank.RIGHT:
        assert sum(step.points for step in judged_locally(case).steps) == EXERCISES[case.grade_id].points


# --- the numbers ------------------------------------------------------------------------------------------


def test_the_numbers_in_the_text_are_the_formulas():
    assert total_slots(4, 8) == 22 and total_slots(4, 8, backward=2) == 33 and total_slots(2, 4) == 10
    assert [peak_in_flight("1f1b", 4, 8, stage) for stage in range(4)] == [4, 3, 2, 1]


@pytest.mark.parametrize(("p", "m"), SIZES)
def test_phases_and_peaks_are_those_of_the_schedule(p, m):
    schedule = schedules.one_f_one_b(p, m)
    for stage, row in enumerate(schedule.ranks):
        kinds = "".join(operation.kind for operation in row)
        assert kinds == one_f_one_b.pattern(p, m, stage)
        for way, pair in ((phases.forward_first, "FB"), (phases.backward_first, "BF")):
            warm_up, pairs, cooldown = way(p, m, stage)
            assert kinds == "F" * warm_up + pair * pairs + "B" * cooldown and min(warm_up, pairs, cooldown) >= 0
    for name, make in (("gpipe", schedules.gpipe), ("1f1b", schedules.one_f_one_b)):
        for backward in (1, 2):
            assert simulate(make(p, m), Costs(1, backward)).peak_activations == tuple(
                peak_in_flight(name, p, m, stage) for stage in range(p))


def orders_that_hold(stage, m, most):
    """Every order of a stage's m forwards and m backwards, each in turn, that never holds more than `most`."""
    for places in itertools.combinations(range(2 * m), m):
        kinds = ["F" if place in places else "B" for place in range(2 * m)]
        held = list(itertools.accumulate(1 if kind == "F" else -1 for kind in kinds))
        if min(held) >= 0 and max(held) <= most:
            numbers = {"F": itertools.count(), "B": itertools.count()}
            yield tuple(Operation(stage, kind, next(numbers[kind])) for kind in kinds)


@pytest.mark.parametrize(("p", "m"), [(1, 3), (2, 2), (2, 4), (3, 2), (3, 3), (4, 2)])
def test_no_other_order_is_as_short_and_holds_as_little(p, m):
    """Exhaustive: what decides in the check leaves the order of 1F1B alone, micro-batches in turn."""
    rows = [list(orders_that_hold(stage, m, peak_in_flight("1f1b", p, m, stage))) for stage in range(p)]
    found = [ranks for ranks in itertools.product(*rows) if (schedule := Schedule(ranks, tuple(range(p)), m))
             and not violations(schedule) and simulate(schedule).makespan <= total_slots(p, m)]
    assert found == [schedules.one_f_one_b(p, m).ranks]


@pytest.mark.parametrize("renumber", list(itertools.permutations(range(3))))
def test_any_numbering_is_right_when_all_stages_agree(renumber):
    def numbered(p, m, stage, turn=0):
        new = {old: renumber[old] if old < 3 <= m else old for old in range(m)}
        return [f"{op.kind}{(new[op.micro_batch] + turn * stage) % m}" for op in schedules.one_f_one_b(p, m).ranks[stage]]

    assert judge("ex2-order", LocalAnswer(numbered)).points == 8
    assert judge("ex2-order", LocalAnswer(lambda p, m, stage: numbered(p, m, stage, turn=1))).points == 2


def test_claims_answer_the_misconceptions_of_this_notebook():
    assert list(EXERCISES["ex2-claims"].statements) == list(CLAIMS) == list("abcdef")
    assert 2 <= sum(claim.true for claim in CLAIMS.values()) <= 4
    assert {"smaller-bubble", "same-on-all", "divided-by-p", "warm-up-same"} <= {claim.code for claim in CLAIMS.values()}


@pytest.mark.parametrize("called", [True, False])
def test_a_wrong_verdict_is_not_told_in_words_nor_its_reason(called):
    messages = judge("ex2-claims", LocalAnswer(dict.fromkeys("abcdef", called))).messages
    for (key, claim), message in zip(CLAIMS.items(), messages, strict=True):
        assert message.good == (claim.true == called) == (claim.why in message.text)
        start = f"Statement {key}, {called}, right: " if message.good else f"Statement {key}: look again. "
        assert message.text.startswith(start)
        assert message.good or claim.look in message.text


# --- room -------------------------------------------------------------------------------------------------

FITTING = "F0 F1 .  B0 F2 B1 F3 B2 .  B3\n.  F0 B0 F1 B1 F2 B2 F3 B3 ."


def judged_room(text, room=(2, 2)):
    return judge_within_room(LocalAnswer(text), "the drawing", 2, 4, room)


@pytest.mark.parametrize(("text", "codes", "shares"), [
    (FITTING, {"right"}, [1, 1, 1, 1]),
    (FITTING.replace("F", "f"), {"right", "lower-case"}, [1, 1, 1, 1]),
    (FITTING.replace("B3", "B4").replace("F3", "F4").replace("B2", "B3").replace("F2", "F3").replace("B1", "B2").replace(
        "F1", "F2").replace("B0", "B1").replace("F0", "F1"), {"right", "numbered-from-one"}, [1, 1, 1, 1]),
    ("F0 F1 F2 F3 . . B0 B1 B2 B3\n. F0 F1 F2 F3 B0 B1 B2 B3 .", {"over-room"}, [1, 1, 0, 1]),
    ("F0 F1 . . B0 B1 F2 F3 . . B2 B3\n. F0 F1 B0 B1 . . F2 F3 B2 B3", {"in-rounds"}, [1, 1, 1, 0]),
    ("F0 . . B0 F1 . . B1 F2 . . B2 F3 . . B3\n. F0 B0 . . F1 B1 . . F2 B2 . . F3 B3", {"too-long"}, [1, 1, 1, 0]),
    ("F0 F1 . . B0 F2 B1 F3 B2 . B3\n. F0 F1 B0 B1 . F2 B2 F3 B3 .", {"too-long"}, [1, 1, 1, 0]),
    (FITTING.replace(".  B0", "B0 . "), {"backward-too-early"}, [1, 0, 1, 0]),
    ("F0 F1 ?\n. F0 ?", {"missing"}, [0, 0, 1, 0]), ("...", {"unanswered"}, [0, 0, 0, 0]), (3, {"drawing-not-text"}, [0] * 4),
])
def test_a_drawing_for_stages_with_room(text, codes, shares):
    outcome = judged_room(text)
    assert codes <= set(outcome.codes) and [step.share for step in outcome.steps] == shares, outcome


def test_the_room_may_differ_from_stage_to_stage():
    assert judged_room(FITTING, (2, 1)).codes == ("right",)
    outcome = judged_room(FITTING, (1, 1))
    assert "over-room" in outcome.codes and outcome.marks == ((0, 1),)


def test_an_idle_cell_that_only_more_room_would_fill_is_not_named():
    text = "F0 F1 . .  B0 F2 B1 F3 .  B2 B3\n.  . F0 B0 F1 B1 F2 B2 F3 B3 ."
    (said,) = [message.text for message in judged_room(text).messages if message.code == "too-long"]
    assert "slot 1 on stage 1: F0 could run there" in said


def test_where_no_cell_can_be_filled_the_order_is_the_reason():
    text = "F0 F1 .  .  B0 F2 B1 F3 B2 .  B3\n.  F0 F1 B0 B1 .  F2 B2 F3 B3 ."
    (said,) = [message.text for message in judged_room(text).messages if message.code == "too-long"]
    assert "an order has to change" in said


def test_where_a_schedule_first_holds_too_much():
    timeline = simulate(schedules.gpipe(4, 8))
    assert first_over(timeline, [4] * 4)[1:] == (0, 4, 5) and first_over(timeline, [8] * 4) is None
    assert first_over(timeline, [8, 8, 8, 7])[1:] == (3, 10, 8)
    assert first_over(simulate(schedules.one_f_one_b(4, 8)), [4, 3, 2, 1]) is None


# --- the notebook -----------------------------------------------------------------------------------------


def test_the_released_notebook_gives_nothing_away(tmp_path):
    notebook = run_notebook("notebooks", f"{NOTEBOOK}.ipynb", tmp_path)
    shown = "\n".join(text for cell in notebook.cells if cell.cell_type == "code" for text in outputs(cell))
    shown += "\n".join(cell.source for cell in notebook.cells)
    for secret in ("bridges the way", "one micro-batch less", "as many micro-batches in flight", "closed form"):
        assert secret not in shown, secret
    shown = "\n".join(text for cell in notebook.cells if cell.cell_type == "code" for text in outputs(cell))
    for secret in ("F0 F1 F2 F3 .  .  .  B0 F4", "4, 3, 2, 1", "same.", "48", "27.3%", "3/11", "bytes of one"):
        assert secret not in shown, secret
    assert "stops at F4, in slot 4" in shown


def test_the_solved_notebook_measures_what_it_says(tmp_path):
    notebook = run_notebook("solutions", f"{NOTEBOOK}.ipynb", tmp_path)
    shown = {cell.source: outputs(cell) for cell in notebook.cells if cell.cell_type == "code"}
    (text,) = next(text for source, text in shown.items() if "bytes_beside(" in source and "import" not in source)
    rows = [re.split(r"\s{2,}", line) for line in text.splitlines() if " stage " in line]
    assert [int(row[-4]) for row in rows] == [8, 8, 8, 8, 4, 3, 2, 1]
    assert all(row[-2] == row[-1] for row in rows)
    (text,) = next(text for source, text in shown.items() if "same_step(" in source and "import" not in source)
    measured = next(line for line in text.splitlines() if line.startswith("slots, measured")).split()[-2:]
    assert "took longer" in text or all(abs(float(slots) - 22) < 1 for slots in measured)
    explorer = next(text for source, text in shown.items() if "explore(" in source and "import" not in source)
    assert "bubble, idle over total: 3/11" in explorer[0] and "closed form" not in "".join(explorer)
    (text,) = next(text for source, text in shown.items() if "fewer_stages(" in source and "import" not in source)
    two, four = (int(line.split()[-1].replace(",", "")) for line in text.splitlines()[-2:])
    assert abs(two - four) < 0.01 * four
