"""Notebook 2: the lengths of 1F1B's three phases."""

import itertools
import re

from course.checks.fresh import drawn
from course.checks.functions import RELATIVE, Slip, ask, call, no_reply, same, slip_of
from course.checks.one_f_one_b import pattern
from course.checks.one_f_one_b_sizes import ORDINARY, POINTS, ordinary_stage, small_stage
from course.checks.outcome import Message, Outcome, Step, as_number, is_number, show_found
from course.formulas import warm_up_forwards
from course.words import counted

WANTED = "It is three numbers: warm-up forwards, F/B pairs, cooldown backwards."


def _lengths(warm_up, m):
    return warm_up, m - warm_up, warm_up


def forward_first(p: int, m: int, stage: int) -> tuple[int, int, int]:
    """The lengths of the phases when a pair is a forward and then a backward, Megatron's way to count."""
    return _lengths(warm_up_forwards(p, m, stage), m)


def backward_first(p: int, m: int, stage: int) -> tuple[int, int, int]:
    """The lengths of the phases when a pair is a backward and then a forward; the order of operations is the same."""
    return _lengths(min(p - stage, m), m)


_SAME = ("warm-up-same", "this takes the same warm-up on every stage. The closer a stage is to the loss, the sooner its first "
         "backward comes, and the fewer forwards it runs before.")
_OPERATIONS = ("operations-not-pairs", "the middle number counts operations. It is asked for in pairs, of two operations each.")
TURNED = Slip("turned", "the three numbers are right, but in another order. Asked for are the warm-up's forwards first, then the "
              "pairs, then the cooldown's backwards.", None)
_SWAPPED = ("arguments-swapped", "this is right for m stages and p micro-batches: the arguments come as (p, m, stage).")
PHASE_SLIPS = (
    Slip(*_SWAPPED, lambda p, m, stage: forward_first(m, p, stage)),
    Slip(*_SWAPPED, lambda p, m, stage: backward_first(m, p, stage)),
    Slip(*_SAME, lambda p, m, stage: _lengths(min(p - 1, m), m)),
    Slip(*_SAME, lambda p, m, stage: _lengths(min(p, m), m)),
    Slip("upside-down", "the warm-up grows with the stage. Stage 0 waits the longest for its first backward.",
         lambda p, m, stage: _lengths(min(stage, m), m)),
    Slip("one-too-many", "the warm-up is one forward too long on every stage, whichever operation your pairs begin with. Stages "
         "are counted from 0.", lambda p, m, stage: _lengths(min(p - stage + 1, m), m)),
    Slip("one-too-few", "the warm-up is one forward too short.", lambda p, m, stage: _lengths(max(0, min(p - 2 - stage, m)), m)),
    Slip("is-gpipe", "these are GPipe's phases: all forwards, no pairs, all backwards.", lambda p, m, stage: (m, 0, m)),
    Slip(*_OPERATIONS, lambda p, m, stage: (w := warm_up_forwards(p, m, stage), 2 * (m - w), w)),
    Slip(*_OPERATIONS, lambda p, m, stage: (w := min(p - stage, m), 2 * (m - w), w)),
)


WAYS = {"FB": forward_first, "BF": backward_first}  # what a pair reads like -> the lengths


def fits(found, p: int, m: int, stage: int, pair: str) -> bool:
    """Whether these lengths cut the stage's order into forwards, pairs that read like `pair`, and backwards.

    An order of forwards and then backwards can be cut in two ways: its last forward and first backward are a pair, or not.

    >>> [fits([1, 1, 1], 4, 2, 0, "FB"), fits([2, 0, 2], 4, 2, 0, "FB"), fits([1, 1, 1], 4, 2, 0, "BF")]
    [True, True, False]
    """
    if not _is_triple(found) or not all(-RELATIVE <= number <= m + RELATIVE and same(number, round(number)) for number in found):
        return False
    warm_up, pairs, cooldown = map(round, found)
    return "F" * warm_up + pair * pairs + "B" * cooldown == pattern(p, m, stage)


def check_phases(answer) -> Outcome:
    """Points for the warm-up (1) and for sums that are right (1) where m >= p > 1, and for all of it at all other sizes (1).

    Pairs may begin with F or with B; what is asked is that all answers keep to one of the two.
    """
    replies = ask(answer, POINTS)
    lengths = {point: three_numbers(reply) for point, reply in replies.items()}
    pair = max(WAYS, key=lambda way: [sum(fits(lengths.get(point), *point, way) for point in POINTS),
                                      sum(_warms_up(lengths.get(point), *point, way) for point in POINTS)])
    ordinary = [point for point in POINTS if point[:2] in ORDINARY]
    warm_up, sums, everywhere = _right(lengths, ordinary, POINTS, pair)
    more = drawn(answer, ordinary_stage, POINTS, 2) if warm_up or sums else []
    most = [*more, *(drawn(answer, small_stage, POINTS, 2) if everywhere else [])]
    replies |= ask(answer, most)
    lengths |= {point: three_numbers(replies[point]) for point in most if point in replies}
    warm_up, sums, everywhere = _right(lengths, [*ordinary, *more], [*POINTS, *most], pair)
    steps = (Step("the warm-up", 1, warm_up), Step("each forward and each backward in one phase", 1, sums),
             Step("at every size, m < p, m = 1 and p = 1 included", 1, everywhere))
    return Outcome(steps, tuple(_messages(replies, lengths, pair)))


def _right(lengths, ordinary, points, pair):
    """Whether the warm-up is right and the sums are, at the ordinary points; and all of it at all points."""
    asked = {point: lengths.get(point) for point in ordinary}
    return (all(_warms_up(found, *point, pair) for point, found in asked.items()),
            all(_is_triple(found) and not _sum_fault(found, point[1]) for point, found in asked.items()),
            all(fits(lengths.get(point), *point, pair) for point in points))


def _warms_up(found, p, m, stage, pair):
    return _is_triple(found) and fits(_lengths(found[0], m), p, m, stage, pair)


def three_numbers(reply):
    """Three numbers, also with names or written as text, as a list; what is none as it is."""
    given = list(reply.values()) if isinstance(reply, dict) else reply
    if isinstance(given, str):
        given = re.split(r"[\s,;]+", given.strip(" ()[]"))
    numbers = [*map(as_number, given)] if isinstance(given, list) else []
    return numbers if len(numbers) == 3 and None not in numbers else reply


def _is_triple(value):
    return isinstance(value, list | tuple) and len(value) == 3 and all(map(is_number, value))


def _messages(replies, lengths, pair):
    unlike = [point for point, found in lengths.items() if not fits(found, *point, pair)]
    wrong = next((point for point in unlike if not any(fits(lengths[point], *point, way) for way in WAYS)), None) or (
        unlike[0] if unlike else None)
    if wrong is None and len(replies) >= len(POINTS):
        way = "a forward" if pair == "FB" else "a backward"
        return [Message("phases-right", f"Right at every size, with pairs that begin with {way}; the other way to count them "
                        "would be as good. Each forward and each backward is in one phase.", good=True)]
    messages, ordinary = [], {point: found for point, found in lengths.items() if point[:2] in ORDINARY}
    trouble = no_reply("phase_lengths", wrong, replies[wrong], WANTED, replies.values())
    usable = {point: found for point, found in ordinary.items() if _is_triple(found)}
    slip = _slip(usable, pair) if usable else None
    if slip:
        messages.append(Message(slip.code, f"`phase_lengths`: {slip.text}"))
    elif all(fits(found, *point, pair) for point, found in ordinary.items()):
        messages.append(Message("right-where-m-is-large", "Right wherever there are two stages or more and at least as many "
                                "micro-batches as stages.", good=True))
    found = lengths[wrong]
    if not trouble and not _is_triple(found):
        trouble = Message("not-three-numbers", f"{call('phase_lengths', wrong)} returned {show_found(found)}. {WANTED}")
    if trouble:
        return [*messages, trouble]
    return messages if slip else [*messages, _not_right(lengths, wrong)]


def _slip(usable, pair):
    if all(fits(found, *point, pair) for point, found in usable.items()):
        return None
    return _turned(usable) or slip_of(usable, WAYS[pair], PHASE_SLIPS)


def _turned(usable):
    """The slip of three numbers that are right in another order; None for another."""
    for places in [*itertools.permutations(range(3))][1:]:
        turned = {point: [found[place] for place in places] for point, found in usable.items()}
        if any(all(fits(found, *point, pair) for point, found in turned.items()) for pair in WAYS):
            return TURNED
    return None


def _sum_fault(found, m):
    """A message's code and text for lengths that do not add up to m forwards and m backwards; None for those that do."""
    warm_up, pairs, cooldown = found
    if min(found) < 0:
        return "negative", f"no phase can be shorter than nothing. In all its phases a stage has {counted(m, 'forward')} to run."
    if not same(warm_up + pairs, m):
        return "forwards-do-not-add-up", (f"the forwards of warm-up and pairs would be {warm_up + pairs}, and a stage has m={m}. "
                                          "(If your pairs begin with B, the first one's F is in the warm-up.)")
    if not same(pairs + cooldown, m):
        return "backwards-do-not-add-up", (f"the backwards of pairs and cooldown would be {pairs + cooldown}, and a stage has "
                                           f"m={m}.")
    return None


def _not_right(lengths, wrong):
    """What is wrong with one reply of three numbers: a sum that cannot be, a mixture of two ways to count, or just its place."""
    p, m, stage = wrong
    at = f"{call('phase_lengths', wrong)} returned {', '.join(map(str, lengths[wrong]))}"
    if fault := _sum_fault(lengths[wrong], m):
        return Message(fault[0], f"{at}: {fault[1]}")
    if all(any(fits(found, *point, pair) for pair in WAYS) for point, found in lengths.items()):
        return Message("two-ways-to-count", f"{at}. Pairs that begin with F and pairs that begin with B are both fine, but here "
                       "they are mixed: keep to one.")
    return Message("phases-wrong", f"{at}: the sums are right, the warm-up is not. How many forwards does stage {stage} run "
                   f"before its first backward, with p={p}, m={m}? Where pairs begin with F, the last of these is in the first "
                   "pair.")
