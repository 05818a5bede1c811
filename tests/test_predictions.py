"""A prediction and its reveal: what is noted, what is asked back, what stays."""

from fractions import Fraction

import pytest

from course import notebook as nb
from course.predictions import PREDICTIONS
from tests.test_notebook_functions import folder, shown

__all__ = ["folder"]  # the fixture: a folder of its own, and no predictions in it


@pytest.mark.parametrize("key", PREDICTIONS)
def test_every_right_value_can_be_predicted(key):
    entry = PREDICTIONS[key]
    if entry.actual is not None:
        assert entry.matches(entry.read(entry.actual), entry.actual)


@pytest.mark.parametrize(("key", "guess", "sure", "actual", "words"), [
    ("slots-of-the-step", 14, 70, 14, "You predicted it, 70% sure."),
    ("slots-of-the-step", 12, 90, 14, "You predicted 12, 90% sure: not so. You were sure of it"),
    ("slots-of-the-step", 12, ..., 14, "You predicted 12: not so."),
    ("slots-of-the-step", "14", 50, 14, "You predicted it"),
    ("fraction-backward-twice", Fraction(3, 7), 0, None, "You predicted it, 0% sure."),
    ("fraction-backward-twice", "42.9%", 10, None, "You predicted it"),
    ("middle-idles", "Same", 50, None, "You predicted it"),
    ("middle-idles", "more", 50, None, "You predicted more"),
    ("what-travels", "activation", 50, None, "You predicted it"),
    ("bubble-4-8", 0.27, 50, None, "You predicted it, 50% sure."),
    ("bubble-4-8", "27%", 50, None, "You predicted it"),
    ("bubble-4-8", "27.7%", 50, None, "You predicted it"),
    ("bubble-4-8", 0.28, 50, None, "You predicted 0.28, 50% sure: not so."),
    ("bubble-of-a-tenth", 62, 50, None, "You predicted 62, 50% sure: not so."),
    ("one-slow-stage", 27.5, 50, 38, "You predicted 27.5, 50% sure: not so."),
    ("gradient-difference", 0, 50, 3e-9, "You predicted it"),
    ("slots-of-the-step", 14, "90%", 14, "You predicted it, 90% sure."),
    ("slots-of-the-step", 14, "90", 14, "You predicted it, 90% sure."),
    ("slots-of-the-step", 14, " 0.9 %", 14, "You predicted it, 0.9% sure."),
    ("slots-of-the-step", 14, 1, 14, "You predicted it, 1% sure."),
    ("slots-of-the-step", 14, None, 14, "You predicted it."),
])
def test_a_prediction_stands_beside_the_number(key, guess, sure, actual, words):
    assert "Noted" in shown(nb.predict(key, guess, sure=sure))
    assert words in shown(nb.reveal(key, actual))
    nb._predictions.clear()
    assert words in shown(nb.reveal(key, actual))  # from the file, as after a restart


@pytest.mark.parametrize(("key", "guess", "sure", "words"), [
    ("slots-of-the-step", ..., ..., "put your number in place"), ("middle-idles", ..., ..., "put your word in place"),
    ("slots-of-the-step", 3, 101, "percentage"), ("slots-of-the-step", 3, -1, "percentage"),
    ("slots-of-the-step", "many", 50, "'many' is no number"), ("slots-of-the-step", [20], 50, "[20] is no number"),
    ("slots-of-the-step", None, 50, "None is no number"), ("slots-of-the-step", True, 50, "True is no number"),
    ("middle-idles", 5, 50, "write 'more', 'less', 'same'"), ("middle-idles", "", 50, "write 'more', 'less', 'same'"),
    ("share-of-one-batch", 25, 50, "25% is written 0.25"), ("slots-of-the-step", {1}, 50, "Not noted: [1] is no number"),
    ("slots-of-the-step", -5, 50, "-5 cannot be: it is a number from 1 to 1000"),
    ("slots-of-the-step", 10**9, 50, "from 1 to 1000"), ("gradient-difference", -1, 50, "from 0 to 1000"),
    ("busy-four-fifths", 32.5, 50, "32.5 is none of the answers: write one of 4, 8, 16, 32, 64"),
    ("best-number", 10**9, 50, "write one of 2, 4, 8, 16, 32"), ("rank-of-layer-9", 4, 50, "write one of 0, 1, 2, 3"),
    ("slots-of-the-step", 3, 0.9, 'sure=0.9 is 0.9% or 90%? Write sure="0.9%" or sure=90'),
    ("slots-of-the-step", 3, "0.25", 'is 0.25% or 25%?'), ("slots-of-the-step", 3, Fraction(1, 2), "is 0.5% or 50%?"),
    ("slots-of-the-step", 3, "900%", "percentage"), ("slots-of-the-step", "many", "very", "'many' is no number"),
    ("slots-of-the-step", float("nan"), 50, "nan is not a finite"), ("slots-of-the-step", 3, float("inf"), "inf"),
])
def test_a_prediction_that_is_none_is_said(key, guess, sure, words):
    assert words in shown(nb.predict(key, guess, sure=sure))
    assert "You made no prediction" in shown(nb.reveal(key, 3))


@pytest.mark.parametrize("sure", ["very", True, [90]])
def test_a_prediction_counts_however_its_certainty_is_written(sure):
    said = shown(nb.predict("slots-of-the-step", 3, sure=sure))
    assert f"Noted: 3. How sure you are is not noted: {sure!r} is no number" in said


@pytest.mark.parametrize("restarted", [False, True])
def test_a_prediction_stays_once_it_was_seen_beside_the_number(restarted):
    def again():
        if restarted:
            nb._predictions.clear()

    nb.predict("slots-of-the-step", 4, sure=90)
    assert "Noted: 5, 80% sure" in shown(nb.predict("slots-of-the-step", 5, sure=80))  # nothing was seen yet
    shown(nb.reveal("slots-of-the-step", ...))
    nb.predict("slots-of-the-step", 4, sure=90)
    assert "You predicted 4, 90% sure: not so." in shown(nb.reveal("slots-of-the-step", 14))
    again()
    assert shown(nb.predict("slots-of-the-step", 14, sure=100)) == "You predicted 4 before you saw it: that one stays."
    again()
    assert "You predicted 4, 90% sure: not so." in shown(nb.reveal("slots-of-the-step", 14))
    again()
    assert "Noted: 4, 90% sure" in shown(nb.predict("slots-of-the-step", 4, sure=10))  # the notebook is run again


def test_who_only_saw_the_number_may_still_predict():
    assert "You made no prediction" in shown(nb.reveal("slots-of-the-step", 14))
    assert "Noted: 4." in shown(nb.predict("slots-of-the-step", 4))


def test_reveal_waits_for_what_it_looks_at():
    assert "Not known yet" in shown(nb.reveal("slots-of-the-step", ...))
    with pytest.raises(ValueError, match="slots-of-the-step"):
        nb.reveal("slots", 3)
