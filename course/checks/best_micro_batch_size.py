"""Notebook 3: the micro-batch size with the shortest step, where the global batch is fixed."""

from collections.abc import Mapping
from typing import NamedTuple

from course.answers import UNANSWERED, Raised
from course.checks.fresh import drawn
from course.checks.functions import FUTILE, Named, no_reply, same
from course.checks.outcome import Message, Outcome, Step, as_number, show_found
from course.formulas import bubble_fraction
from course.words import counted

WANTED = "It returns a micro-batch size, one of the keys of `times`."


class Case(NamedTuple):
    """One question: the arguments of best_micro_batch_size."""

    global_batch: int
    p: int
    dp: int
    times: Mapping[int, float]

    def micro_batches(self, b) -> int:
        """How many micro-batches of this size each replica does."""
        return self.global_batch // (b * self.dp)

    def step(self, b):
        """Seconds of a step with micro-batches of this size."""
        return (self.micro_batches(b) + self.p - 1) * self.times[b]

    def best(self, measure) -> set[int]:
        """The sizes with the least measure, all of them on a tie."""
        values = {b: measure(b) for b in self.times}
        least = min(values.values())
        return {b for b, value in values.items() if value <= least + 1e-9 * abs(least)}


def _device(fixed, each, *sizes):
    """Seconds per micro-batch of a device with a fixed cost and one for each sample."""
    return {b: (fixed + each * b) / 1000 for b in sizes}


ONE_REPLICA = (
    Case(32, 4, 1, _device(24, 16, 1, 2, 4, 8, 16, 32)),
    Case(32, 16, 1, _device(24, 16, 1, 2, 4, 8, 16, 32)),
    Case(64, 1, 1, _device(24, 16, 16, 8, 4, 2, 1)),
    Case(64, 4, 1, _device(60, 4, 1, 2, 4, 8, 16, 32, 64)),
    Case(24, 5, 1, {1: 0.021, 2: 0.020, 3: 0.046, 4: 0.047, 6: 0.07, 8: 0.09}),
    Case(16, 3, 1, {8: 8, 4: 4.5, 2: 2.5, 1: 1.5}),
    Case(12, 2, 1, {3: 4, 1: 2, 4: 5}),
)
REPLICAS = (Case(128, 4, 4, _device(24, 16, 1, 2, 4, 8, 16, 32)), Case(96, 8, 3, _device(10, 30, 1, 2, 4, 8, 16, 32)),
            Case(512, 2, 8, _device(100, 10, 1, 2, 4, 8, 16, 32, 64)))

SLIPS = (
    ("forgets-fill", "it picks the size that is fastest per sample, the one without a bubble: fill and drain last p - 1 "
     "micro-batches more.", lambda case: case.best(lambda b: case.micro_batches(b) * case.times[b])),
    ("most-micro-batches", "it picks the smallest size, the one with the most micro-batches. The bubble is smallest there, but a "
     "smaller micro-batch takes longer per sample: the step counts, not the bubble.",
     lambda case: case.best(lambda b: bubble_fraction(case.p, case.micro_batches(b)))),
    ("largest", "it picks the largest size. That has the fewest micro-batches, so most of the step is fill and drain.",
     lambda case: {max(case.times)}),
    ("shortest-operation", "it picks the micro-batch that is done soonest, and not the step: there are more of the small ones.",
     lambda case: case.best(case.times.get)),
    ("forgets-dp", "it does not see dp: each replica does only its part of the global batch.",
     lambda case: case.best(lambda b: (case.global_batch / b + case.p - 1) * case.times[b])),
    ("p-for-p-1", "it counts p micro-batches for fill and drain, one too many.",
     lambda case: case.best(lambda b: (case.micro_batches(b) + case.p) * case.times[b])),
    ("returns-m", "it returns the number of micro-batches. Their size is asked for.",
     lambda case: {case.micro_batches(b) for b in case.best(case.step)}),
    ("returns-seconds", "it returns the seconds of the step. The size that has them is asked for.",
     lambda case: {min(map(case.step, case.times))}),
    ("returns-index", "it returns a place in the dict. The size that stands there is asked for.",
     lambda case: {list(case.times).index(b) for b in case.best(case.step)}),
    ("longest", "it picks the longest step, not the shortest.", lambda case: case.best(lambda b: -case.step(b))),
)


def check_limits(answer) -> Outcome:
    """Points for the best size with one replica (2) and with several (1). Any best one is right on a tie."""
    replies = _ask(answer, ONE_REPLICA + REPLICAS)
    right = _right(replies)
    single = len(replies) >= len(ONE_REPLICA) and all(right[:len(ONE_REPLICA)])
    several = single and len(replies) == len(ONE_REPLICA + REPLICAS) and all(right)
    alone = _ask(answer, drawn(answer, _one_replica, count=2) if single else ())
    shared = _ask(answer, drawn(answer, _replicas, count=2) if several else ())
    single = single and all(_right(alone))
    several = several and single and all(_right(shared))
    replies += [*alone, *shared]
    steps = Step("one replica", 2, single), Step("several replicas", 1, several)
    return Outcome(steps, (_say(replies, _right(replies)),))


def _one_replica(random, dp=1):
    """Draws a case whose sizes share the batch out evenly."""
    return Case(32 * dp, random.randint(2, 16), dp, _device(random.randint(5, 100), random.randint(4, 40), 1, 2, 4, 8, 16, 32))


def _replicas(random):
    return _one_replica(random, random.randint(2, 8))


def _right(replies):
    return [_among(reply, case.best(case.step)) for case, reply in replies]


def _ask(answer, cases):
    """(case, reply), until a reply says that the next would be the same."""
    replies = []
    for case in cases:
        reply = answer.call(case.global_batch, case.p, case.dp, dict(case.times))
        replies.append((case, reply))
        if reply == UNANSWERED or (isinstance(reply, Raised) and reply.type in FUTILE):
            break
    return replies


def _among(reply, values):
    number = as_number(reply)
    return number is not None and any(same(number, value) for value in values)


def _say(replies, right):
    if all(right):
        return Message("best-right", "The shortest step, whichever way the bubble points.", good=True)
    usable = [(case, reply) for case, reply in replies if as_number(reply) is not None]
    for code, text, pick in SLIPS:
        if usable and all(_among(reply, pick(case)) for case, reply in usable) and any(
                not _among(reply, case.best(case.step)) for case, reply in usable):
            return Message(code, f"`best_micro_batch_size`: {text}")
    case, reply = next(pair for pair, found in zip(replies, right, strict=True) if not found)
    trouble = no_reply("best_micro_batch_size", (case.global_batch, case.p, case.dp, Named("times")), reply,
                       f"{WANTED} Here `times` is {dict(case.times)}.", [reply for _, reply in replies])
    if trouble:
        return trouble
    where = f"global_batch = {case.global_batch}, p = {case.p}, dp = {case.dp}, times = {dict(case.times)}"
    number = as_number(reply)
    if number not in case.times:
        return Message("not-a-size", f"For {where} it returned {show_found(reply)}. {WANTED}")
    least = min(map(case.step, case.times))
    step = counted(case.micro_batches(int(number)), "micro-batch")
    return Message("not-the-best", f"For {where} it returned {number}: a step of {step} "
                   f"of that size takes {case.step(int(number)):.4g} s; the shortest one takes {least:.4g} s.")
