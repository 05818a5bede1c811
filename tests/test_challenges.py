"""The open lab's challenges: every answer of the bank, and that what they call proven is."""

import math

import pytest

from course import schedules, simulate
from course.challenges import CHALLENGES, judge_challenge
from course.checks.outcome import Message
from course.floors import memory_floor
from course.frontier import shortest
from course.lessons.open_lab_challenges import challenge, challenges, judged_answer
from tests.bank_7_challenges import ANSWERS, warmed


@pytest.mark.parametrize("answer", ANSWERS, ids=str)
def test_every_answer_of_the_bank(answer):
    outcome, _ = judged_answer(answer.key, answer.make())
    assert "".join(str(int(step.share)) for step in outcome.steps) == answer.reached, outcome.messages
    assert set(answer.codes) <= set(outcome.codes), outcome.messages
    assert all(isinstance(message, Message) and 5 < len(message.text) < 600 and "Traceback" not in message.text
               for message in outcome.messages)
    full = all(step.share for step in outcome.steps)
    assert full == ("right" in outcome.codes) == all(message.good for message in outcome.messages), outcome.messages
    shown = challenge(answer.key, answer.make())
    assert str(shown).startswith(f"{'✓' if full else '✗'} {CHALLENGES[answer.key].title}: ")


def test_the_smallest_memory_is_proven_and_reached():
    asked = CHALLENGES["smallest-memory"]
    step = asked.floor(split=False)
    assert (step, memory_floor(asked.homes, 8, asked.costs, step=step)) == (22, 4)
    assert [shortest(asked.homes, 8, asked.costs, room=room).step for room in (3, 4)] == [26, 22]


def test_with_slow_links_gpipe_is_as_short_as_can_be():
    asked = CHALLENGES["beat-1f1b"]
    assert simulate(schedules.one_f_one_b(4, 8), asked.costs).makespan == 41
    assert simulate(schedules.gpipe(4, 8), asked.costs).makespan == asked.floor(split=False) == 36


def test_zb_h1_is_as_short_as_can_be():
    asked = CHALLENGES["zb-h1"]
    assert simulate(schedules.zb_h1(4, 6), asked.costs).makespan == asked.floor(split=True) == 21
    assert shortest(asked.homes, 6, asked.costs, split=True, room=3).step > 21  # with less held it takes longer


def test_a_floor_in_a_message_is_that_of_the_schedules_kind():
    said = "\n".join(message.text for message in judge_challenge("beat-1f1b", schedules.zb_h1(4, 8)).messages)
    assert "No order with split backwards is shorter than 28.5 slots" in said
    assert CHALLENGES["beat-1f1b"].floor(split=True) == 28.5 and CHALLENGES["beat-1f1b"].floor(True, room=1) < math.inf


@pytest.mark.parametrize("key", CHALLENGES)
def test_what_is_asked_is_shown_and_no_answer_is_none_yet(key):
    for nothing in (challenge(key), challenge(key, ...), challenge(key, "..."), challenge(key, "\n")):
        assert CHALLENGES[key].task in str(nothing) and "No answer yet" in str(nothing)
    assert CHALLENGES[key].task in str(challenges())


@pytest.mark.parametrize("key", ["zb_h1", 3, None, []])
def test_another_name_is_one_line(key):
    assert f"there is no challenge {key!r}; there are smallest-memory, beat-1f1b, zb-h1" in str(challenge(key, "F0"))


def test_what_a_stage_lacks_is_named_as_the_challenge_asks_for_it():
    asked = CHALLENGES["zb-h1"]
    rows = [list(map(str, rank)) for rank in schedules.zb_h1(asked.ranks, asked.micro_batches).ranks]
    rows[1] = [cell for cell in rows[1] if cell not in ("1I2", "1W2", "1W3", "I2", "W2", "W3")]
    outcome, _ = judged_answer("zb-h1", rows)
    (said,) = (message.text for message in outcome.messages if message.code == "missing")
    assert said.startswith("Stage 1 lacks I2, W2, W3:")


def test_a_circle_is_drawn_as_far_as_it_goes():
    text = str(challenge("smallest-memory", warmed(4, 8, lambda stage: stage)))
    assert "Deadlock: stage 0 is at" in text and "As far as it goes" in text
