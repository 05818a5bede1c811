"""Notebook 5's practice, no points: what one GPU sends, counted for 4 GPUs."""

from fractions import Fraction
from typing import NamedTuple

from course.checks.outcome import Message, Outcome, Step, as_number, near, show_value, unreadable
from course.layout.placement import Layout
from course.layout.volumes import pp_tensors


class Count(NamedTuple):
    """A question: the number, what to say when it is right, the wrong numbers that say something, and advice for the rest."""

    right: Fraction | int
    praise: str
    wrong: dict
    advice: str


COUNTS = {
    "ring of 4": Count(Fraction(3, 2), "3/4 of the data to add up, and 3/4 to hand out.", {
        Fraction(3, 4): "this is one half of the all-reduce, the adding up. The sums have to be handed out as well.",
        2: "a ring cuts the data into as many parts as there are GPUs, and a GPU never sends the part that ends with it.",
        3: "this would be sending everything to each of the other three. In a ring only parts travel.",
        Fraction(1, 2): "this is what is left out: of 4 parts a GPU sends 3, once to add up and once to hand out."},
        "The data is cut into 4 parts. To add up, each GPU sends 3 of them, one after the other; to hand out, 3 again."),
    "middle rank": Count(pp_tensors(Layout(1, 4, 1, 1)), "an activation on, a gradient back.", {
        1: "that is one direction. What comes back?", 4: "a send counts once, at its sender.",
        3: "that is the number of boundaries. What does one rank send?"},
        "Count what leaves this rank: in the forward, and in the backward."),
    "end rank": Count(1, "the first rank sends activations only, the last one gradients only.", {
        2: "on one of its sides there is nobody.", 0: "it has one neighbour, and hands something over."},
        "The first rank has nobody before it, the last one nobody after it."),
    "middle rank, 2 chunks": Count(pp_tensors(Layout(1, 4, 1, 1, 2)), "every chunk has two neighbours on other ranks.", {
        2: "that is one chunk's. The rank has two of them.", 8: "a send counts once, at its sender.",
        3: "that is an end's: one of its chunks has a neighbour on one side only."},
        "Each of its two chunks sends an activation on and a gradient back."),
    "end rank, 2 chunks": Count(2 * 2 - 1, "the last rank's first chunk hands over to the first rank's second chunk.", {
        2: "the last rank holds stages 3 and 7. Who comes after stage 3?",
        4: "that is a rank in the middle. One of an end's two chunks has a neighbour on one side only.",
        1: "that is one chunk's. The other chunk has two neighbours."},
        "The last rank holds stages 3 and 7: what does each of them send?"),
}


def judge_count(key: str, answer) -> Outcome:
    """Whether a number is the right one. ValueError names the questions when there is none of this name."""
    if key not in COUNTS:
        raise ValueError(f"there is no question {key!r}; there are {', '.join(map(repr, COUNTS))}")
    asked, value = COUNTS[key], answer.value()
    trouble = unreadable(value, key, "It is a number, such as 2 or 1/2.")
    number = as_number(value)
    if not trouble and number is None:
        trouble = Message("not-a-number", f"A number is asked for, such as 2 or 1/2; found {show_value(value)}.")
    if trouble:
        return Outcome((Step(key, 1, 0),), (trouble,))
    if near(number, asked.right):
        return Outcome((Step(key, 1, 1),), (Message("count-right", f"{asked.right}: {asked.praise}", good=True),))
    slip = next((text for wrong, text in asked.wrong.items() if near(number, wrong)), None)
    return Outcome((Step(key, 1, 0),), (Message("count-slip" if slip else "count-wrong",
                                                f"Found {show_value(value)}: {slip or 'not so. ' + asked.advice}"),))
