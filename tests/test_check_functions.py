"""The questions that all exercises with functions share: asked through both kinds of answers."""

from fractions import Fraction

import pytest

from autograder.session import Session
from course.answers import LocalAnswer
from course.checks import functions
from course.checks.functions import Named, Slip, ask, call, close, first_wrong, judge_replies, no_reply, rounded, same, slip_of
from course.checks.orders import NoOrder, ask_schedule, read_order
from course.legality import violations
from course.schedule import Operation
from course.schedules import interleaved_1f1b, one_f_one_b

POINTS = [(4, 8), (1, 1), (8, 4)]
SLIPS = [Slip("over-ideal", "that is over ideal time.", lambda p, m: Fraction(p - 1, m)),
         Slip("minus", "off by one.", lambda p, m: Fraction(p - 1, m + p - 2))]


def truth(p, m):
    return Fraction(p - 1, m + p - 1)


@pytest.fixture(scope="module")
def session():
    with Session(seconds=5) as session:  # an import of numpy on a busy machine is in it
        yield session


@pytest.mark.parametrize(("source", "code"), [
    ("from fractions import Fraction\ndef f(p, m): return Fraction(p - 1, m + p - 1)", "f-right"),
    ("f = lambda p, m: (p - 1) / (m + p - 1)", "f-right"),
    ("import numpy as np\ndef f(p, m): return np.float64(p - 1) / np.int64(m + p - 1)", "f-right"),
    ("def f(p, m): return (p - 1) / m", "over-ideal"),
    ("def f(p, m): return (p - 1) / (m + p - 2)", "minus"),
    ("def f(p, m): return 0.3", "f-wrong"),
    ("def f(p, m): return '3/11'", "f-wrong"),
    ("def f(p, m): ...", "unanswered"),
    ("def f(p, m): return ...", "unanswered"),
    ("f = ...", "unanswered"),
    ("f = 3 / 11", "not-a-function"),
    ("def f(p, m): return float('nan')", "refused"),
    ("def f(p, m): return {1, 2}", "f-wrong"),
    ("def f(p, m): return {'1', '2'}", "refused"),
    ("def f(p, m): return 1 / 0", "raised"),
    ("def f(p): return p", "raised"),
    ("def f(p, m): return (x for x in [1])", "list-of-one"),
    ("def f(p, m): return (p - 1) / (m + p - 1),", "list-of-one"),
    ("def f(p, m): return p > 1", "truth-value"),
    ("def f(p, m): return '1e999999999'", "f-wrong"),
    ("def f(p, m): raise SystemExit", "raised"),
    ("def f(p, m):\n    while True: pass", "too-slow"),
])
def test_one_message_through_both_kinds_of_answers(source, code, session):
    namespace = {}
    exec(source, namespace)
    assert session.run(source) is None
    for answer in (LocalAnswer(namespace["f"], seconds=1), session.answer("f")):
        message = judge_replies("f", ask(answer, POINTS), truth, "It is a number.", "Idle over total.", SLIPS)
        assert message.code == code, message
        assert message.good == (code == "f-right") and "Traceback" not in message.text
        if session.ended:
            return


def test_a_function_that_fails_at_one_point_keeps_the_others():
    replies = ask(LocalAnswer(lambda p, m: (p - 1) / (m + p - 1) if p > 1 else 1 / 0), POINTS)
    assert first_wrong(replies, truth) == (1, 1)
    assert [point for point in POINTS if same(replies[point], truth(*point))] == [(4, 8), (8, 4)]
    message = no_reply("f", (1, 1), replies[1, 1], "A number.")
    assert message.text == "`f(1, 1)` raised ZeroDivisionError: division by zero. A number."


def test_it_asks_no_more_after_what_would_only_repeat():
    asked = []
    ask(LocalAnswer(lambda p, m: asked.append(1) or ...), POINTS)
    assert len(asked) == 1
    assert len(ask(LocalAnswer(3), POINTS)) == 1


def test_calls_that_take_too_long_together_are_not_all_made(monkeypatch):
    hours = iter(range(99))
    monkeypatch.setattr(functions.time, "monotonic", lambda: 15 * next(hours))
    replies = ask(LocalAnswer(lambda p, m: 0.0), POINTS)
    assert list(replies) == POINTS[:2] and replies[POINTS[0]] == 0
    message = judge_replies("f", replies, lambda p, m: 0, "A number.", "")
    assert message.code == "too-slow" and "1 call before it took more than 20 s together" in message.text, message


KEEPS = [
    ("kept = []\ndef f(p, m):\n    kept.append(p)\n    return kept", "1 item at first, and 4 items"),
    ("def f(p, m, kept=[]):\n    kept.append(p)\n    return len(kept)", "1 at first, and 4 when it was asked the same again"),
    ("numbers = iter(range(9))\nf = lambda p, m: numbers", "9 items at first, and 0 items"),
    ("calls = []\ndef f(p, m):\n    calls.append(p)\n    return 'x' * 50 * len(calls)", "… characters long"),
    ("left = [1]\nf = lambda p, m: left.pop()", "1 at first, and IndexError: pop from empty list"),
]


@pytest.mark.parametrize(("source", "words"), KEEPS)
def test_what_is_kept_between_calls_is_said(source, words, session):
    namespace = {}
    exec(source, namespace)
    assert session.run(source) is None
    for answer in (LocalAnswer(namespace["f"]), session.answer("f")):
        message = judge_replies("f", ask(answer, POINTS), truth, "It is a number.", "", SLIPS)
        assert message.code == "changed" and "kept between the calls" in message.text
        assert all(part in message.text for part in words.split("… ")), message.text


def test_the_same_error_again_is_no_change():
    assert ask(LocalAnswer(lambda p, m: object()), POINTS)[4, 8].type == "Refused"


def test_a_message_about_an_error_reads_without_guessing():
    message = no_reply("f", (1, 1), LocalAnswer(lambda: n).call(), "It is a number.")  # noqa: F821
    assert message.text == "`f(1, 1)` raised NameError: name 'n' is not defined. Wanted: `f` returns a number."


def test_a_learner_cannot_change_the_questions():
    def greedy(sizes):
        sizes.clear()
        return 0

    point = ([1, 2],)
    LocalAnswer(greedy).call(*point)
    assert point == ([1, 2],)


def test_a_slip_that_is_right_wherever_it_was_asked_is_none():
    assert slip_of({(1, 1): 0}, truth, SLIPS) is None
    assert slip_of({(4, 8): Fraction(3, 8)}, truth, SLIPS).code == "over-ideal"


def test_what_is_the_same():
    assert same(0.1 + 0.2, Fraction(3, 10)) and same(2, 2.0) and same([1, [2.0]], (1, (2,))) and same(True, True)
    for value, target in [("3/8", Fraction(3, 8)), (" 37.5 %", 0.375), (["1", 2.0], [1, 2]), (1, [1]), (10 ** 99, 10 ** 99)]:
        assert same(value, target), (value, target)
    for value, target in [(True, 1), (1, True), ("x", 1), (None, 0), ([1], (1, 2)), ([1], 1), (0.3001, 0.3), (1, "1"),
                          ([1, 2], 1), (10 ** 1000, 0.5)]:
        assert not same(value, target), (value, target)


def test_what_is_close():
    for value in (0.273, 0.27, 0.2727, Fraction(3, 11), "27.3%", "0.27"):
        assert close(value, Fraction(3, 11)), value
    for value in (0.25, 0.3, 0.28, "27", True, None, "three"):
        assert not close(value, Fraction(3, 11)), value


def test_rounded_values_are_right_and_get_a_note():
    replies = ask(LocalAnswer(lambda p, m: round((p - 1) / (m + p - 1), 2)), POINTS)
    assert judge_replies("f", replies, truth, "", "", like=close).good and rounded(replies, truth)[0].code == "rounded"
    assert not judge_replies("f", replies, truth, "", "").good
    assert not rounded({(4, 8): 0.27272728085517883}, truth)  # single precision
    assert not rounded(ask(LocalAnswer(truth), POINTS), truth) and not rounded({(4, 8): 0.5}, truth)


def test_a_missing_return_is_named_only_where_no_reply_has_a_value():
    def nothing(p, m):
        p + m

    def runs_out(p, m):
        best = None
        for stage in range(p):
            best = stage if p == 1 else best
        return best

    found = judge_replies("f", ask(LocalAnswer(nothing), POINTS), truth, "A number.", "")
    assert found.code == "unanswered" and "its `return` is missing" in found.text
    found = judge_replies("f", ask(LocalAnswer(runs_out), POINTS), truth, "A number.", "")
    assert found.text == "`f(4, 8)` returned None here, and something else for other arguments. A number."


@pytest.mark.parametrize(("reply", "words"), [
    ((3, 11), "returned a list, [3, 11]: not right"), (Fraction(1, 2), "returned 1/2: not right"), ("3/8", "returned '3/8': not"),
    ([Fraction(1, 2), 3], "returned a list, [1/2, 3]: not right"), (Fraction(4), "returned 4: not right"),
    ({"a": Fraction(-1, 2)}, "returned {'a': -1/2}: not"),
])
def test_what_was_returned_is_shown_as_it_was_meant(reply, words):
    assert words in judge_replies("f", ask(LocalAnswer(lambda p, m: reply), POINTS), truth, "", "").text


def test_an_error_that_ends_with_a_full_stop_gets_no_second_one():
    for error in (ValueError("No."), ValueError("No")):
        def raising(p, m, error=error):
            raise error

        found = judge_replies("f", ask(LocalAnswer(raising), POINTS), truth, "A number.", "")
        assert found.text.endswith("raised ValueError: No. A number.")


@pytest.mark.parametrize("source", ["import numpy\nkind = numpy.array", "import torch\nkind = torch.tensor"])
def test_arrays_and_tensors_are_read_as_what_is_in_them(source):
    pytest.importorskip(source.split()[1])
    namespace = {}
    exec(source, namespace)
    kind = namespace["kind"]
    for of in (lambda value: kind(value), lambda value: kind([value])):
        replies = ask(LocalAnswer(lambda p, m, of=of: of((p - 1) / (m + p - 1))), POINTS)
        assert judge_replies("f", replies, truth, "", "", like=close).good, replies
    assert same(LocalAnswer(lambda: kind([1, 2])).call(), [1, 2])


def test_a_call_as_text():
    assert call("f", (4, "gpipe")) == "`f(4, 'gpipe')`" and call("f", (4, Named("times"))) == "`f(4, times)`"


def test_orders_however_they_are_written():
    wanted = (Operation(1, "F", 0), Operation(1, "B", 0))
    for value in ([{"stage": 1, "kind": "F", "micro_batch": 0}, "B0"],
                  ["F 0", "B 0"], "['F0', 'B0']",
                  ["F0", "B0"], "F0 B0", "F0, B0", ["f0", ".", "b0"], [["F", 0], ["B", 0]], ["1F0", "1B0"], [[1, "F", 0], "B0"]):
        assert read_order(value, stage=1) == wanted, value
    assert read_order([], stage=1) == ()


@pytest.mark.parametrize(("value", "stage", "code"), [
    (3, 0, "not-a-list"), ({"F0": 1}, 0, "not-a-list"), (["F0", 3], 0, "not-a-token"), (["F"], 0, "not-a-token"),
    ("F0 Q1", 0, "not-a-token"), (["F0"], None, "no-stage"), (["0F0", ["B", 0]], None, "no-stage"),
    (["F" + "9" * 9], 0, "not-a-token"), ([None], 0, "not-a-token"),
])
def test_what_is_no_order(value, stage, code):
    with pytest.raises(NoOrder) as error:
        read_order(value, stage)
    assert error.value.code == code and len(str(error.value)) > 20


def made(function, *sizes):
    return ask_schedule(LocalAnswer(function), "f", *sizes)


@pytest.mark.parametrize("spell", [
    lambda op: op.short, str, lambda op: op.short.lower(), lambda op: (op.kind, op.micro_batch), lambda op: op,
    lambda op: f"{op.stage + 1}{op.short}", lambda op: f"{op.kind}{op.micro_batch + 1}",
    lambda op: f"{op.kind}{7 - op.micro_batch}", lambda op: f"{op.kind}{10 * op.micro_batch}",
])
def test_a_schedule_from_a_function_whatever_numbers_it_gives(spell):
    wanted = one_f_one_b(3, 8)
    found = made(lambda p, m, stage: [spell(operation) for operation in wanted.ranks[stage]], 3, 8)
    turned = str(spell(Operation(0, "F", 0))).endswith("7")
    assert [[op.kind for op in rank] for rank in found.ranks] == [[op.kind for op in rank] for rank in wanted.ranks]
    assert (found.ranks == wanted.ranks) != turned and not violations(found)


def test_a_schedule_from_a_function_with_chunks():
    wanted = interleaved_1f1b(2, 4, 3)
    found = made(lambda p, m, v, rank: " ".join(map(str, wanted.ranks[rank])), 2, 4, 3)
    assert (found.ranks, found.stage_to_rank) == (wanted.ranks, wanted.stage_to_rank)
    assert made(lambda p, m, v, rank: ["F0"], 2, 4, 3).code == "no-stage"


def test_a_function_that_gives_no_order_is_told_where():
    assert made(lambda p, m, stage: ["F0"] if stage == 0 else 1 / 0, 2, 1).text.startswith("`f(2, 1, 1)` raised ZeroDivision")
    assert made(lambda p, m, stage: ["F0", "Q"], 2, 1).text.startswith("`f(2, 1, 0)`: item 1, 'Q', is no token")


def test_numbers_of_an_incomplete_schedule_are_left_as_they_are():
    assert made(lambda p, m, stage: "F0 F3", 1, 4).ranks[0][1].micro_batch == 3
    assert made(lambda p, m, stage: "F2 F4", 1, 4).ranks[0][1].micro_batch == 3  # counted from 1
