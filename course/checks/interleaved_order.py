"""Notebook 4: an order of interleaved 1F1B as a function, judged by what it does: legal, as short as can be, no more held."""

from collections.abc import Mapping
from fractions import Fraction
from typing import NamedTuple

from course.answers import Raised
from course.checks.functions import ask, call
from course.checks.interleaved_slips import Shown, slip_of_schedules
from course.checks.orders import arguments_of, ask_orders, schedule_from, taken_as, whole_backwards
from course.checks.outcome import Message, Outcome, Step
from course.formulas import leanest_chunks, peak_chunks, total_slots
from course.legality import Violation, violations
from course.recognition import recognize
from course.schedule import Schedule
from course.schedules import interleaved_1f1b
from course.simulation import Costs, simulate

NAME = "interleaved_1f1b"
CHUNKED = ((2, 4, 2), (4, 8, 2), (4, 4, 2), (3, 6, 3), (2, 8, 4))  # p, m, v
EDGES = ((1, 3, 2), (4, 8, 1), (2, 2, 1))  # one rank, one chunk
SHOWN = (4, 8, 2)
ODD = (2, 3, 2)  # m is no multiple of p
QUALITIES = ("complete", "legal", "short", "lean")
LATENCY = Fraction(1, 4)
REFUSALS = ("ValueError", "AssertionError")
CONSTANT = Message("constant", f"`{NAME}` returns the same for every p, m, v and rank. The list in its docstring is an example: "
                   "compute yours from the four.")
WAITING = ("order", "deadlock")  # faults of the order alone: every operation is there
ADVICE = {
    "repeated": "Each operation runs once.",
    "unknown": "Stages go from 0 to p v - 1, micro-batches from 0 to m - 1.",
    "wrong-rank": "Chunk c of rank r is stage c * p + r.",
    "order": "A rank runs its list from the left, so it would wait for ever.",
    "deadlock": "Each waits for another, and none can go on.",
}


class Judged(NamedTuple):
    """What became of one size: its schedule, or why there is none, and which of the questions it answers well."""

    schedule: Schedule | None
    trouble: Message | None = None
    faults: tuple[Violation, ...] = ()
    complete: bool = False
    legal: bool = False
    short: bool = False
    lean: bool = False

    @property
    def right(self) -> bool:
        """Whether nothing is to be said against it."""
        return self.short and self.lean


def check_order(answer) -> Outcome:
    """Points for complete (1), legal (1.5), length (1) and memory (1), each by the share of sizes, and for the edges (0.5)."""
    found = ask_orders(answer, _judge, QUALITIES, CHUNKED, EDGES, _chunked, _edge, ALIKE)
    replies, judged = found.replies, found.judged
    messages = ([_praise(judged[SHOWN].schedule), *taken_as(replies, *SHOWN), _other_m(ask(answer, arguments_of(*ODD)))]
                if found.right else [*_swapped(answer), *[CONSTANT] * found.constant, *_explain(replies, judged)])
    steps = *_steps(*found.shares.values()), Step("with one rank and with one chunk too", Fraction(1, 2), found.right)
    return Outcome(steps, tuple(messages))


def _judge(replies, *size):
    return judge_schedule(schedule_from(replies, NAME, *size), *size)


def _other_rounds(p, m, v):
    """Other micro-batches: still one round of p, or several, even or odd as before."""
    return [(p, p * rounds, v) for rounds in range(2, 13) if m > p and p * rounds != m and (rounds - m // p) % 2 == 0]


def _other_chunks(p, m, v):
    return [(p, m, other) for other in range(2, 7) if other != v]


def _other_ranks(p, m, v):
    return [(other, other * (m // p), v) for other in range(2, 8) if other != p]


ALIKE = (_other_rounds, _other_chunks, _other_ranks)


def _chunked(random):
    p = random.randint(2, 4)
    return p, p * random.randint(1, 3), random.randint(2, 4)


def _edge(random):
    p = random.randint(2, 4)
    return p, p * random.randint(1, 4), 1


def judge_orders(schedule: Schedule, p: int, m: int, v: int) -> Outcome:
    """The same questions about the orders of all ranks at one size, for practice."""
    found = judge_schedule(schedule, p, m, v)
    messages = explain_size(found, p, m, v)
    if found.right:
        messages = [Message("right", "Every operation comes after what it needs, the step is as short as it can be, and no rank "
                            "holds more than in Megatron's order.", good=True)]
    return Outcome(_steps(found.complete, found.legal, found.short, found.lean), tuple(messages))


def _steps(complete, legal, short, lean):
    return (Step("every operation once, on its rank", 1, complete), Step("legal: nothing waits for ever", Fraction(3, 2), legal),
            Step("as short as these stages can be", 1, short),
            Step("no rank holds more chunks than in Megatron's order", 1, lean))


def judge_schedule(found: Schedule | Message, p: int, m: int, v: int) -> Judged:
    """Which questions a schedule of this size answers well."""
    if isinstance(found, Message):
        return Judged(None, found)
    if split := whole_backwards(found):
        return Judged(None, split)
    faults = tuple(violations(found))
    if faults:
        return Judged(found, None, faults, complete=all(fault.code in WAITING for fault in faults))
    timelines = {backward: simulate(found, Costs(1, backward)) for backward in (1, 2)}
    short = all(timeline.makespan <= total_slots(p, m, 1, backward, v) for backward, timeline in timelines.items())
    lean = all(peak <= peak_chunks(p, m, v, rank) for rank, peak in enumerate(timelines[1].peak_activations))
    return Judged(found, None, (), True, True, short, lean)


def _praise(schedule):
    p, m, v = SHOWN
    megatrons = interleaved_1f1b(p, m, v)
    if recognize(schedule) == megatrons.name:
        return Message("megatron", "This is Megatron's order: as short as these stages can be, at every size asked.", good=True)
    peaks, theirs = (simulate(order).peak_activations for order in (schedule, megatrons))
    mine, longer = (float(simulate(order, Costs(latency=LATENCY)).makespan) for order in (schedule, megatrons))
    lean = peaks == tuple(leanest_chunks(p, m, v, rank) for rank in range(p))
    return Message("lean" if lean else "own-order", f"As short as Megatron's order, and no rank holds more. With p={p}, m={m}, "
                   f"v={v} your ranks hold at most {', '.join(map(str, peaks))} chunks, Megatron's "
                   f"{', '.join(map(str, theirs))}. What its longer warm-up buys is tolerance of slow links: with a latency of "
                   f"{LATENCY} slot between ranks its step takes {longer:g} slots, yours {mine:g}.", good=True)


def _other_m(replies):
    """What the function does with an m that it is not asked to take; it costs nothing.

    PyTorch's rule: ScheduleInterleaved1F1B of torch.distributed.pipelining, number_of_rounds and microbatches_per_round.
    """
    (p, m, _), legal = ODD, judge_schedule(schedule_from(replies, NAME, *ODD), *ODD).legal
    groups = max(1, m // p)
    rule = (f"PyTorch would take it, as {groups} group{'s' * (groups > 1)} of {m // groups}: it takes any m that can be cut into "
            "m // p equal groups, or into one where m is less than p.")
    if legal:
        return Message("takes-other-m", f"With m={m}, no multiple of p={p}, your order is legal; Megatron would refuse it. "
                       f"{rule}", good=True)
    if all(isinstance(reply, Raised) and reply.type in REFUSALS for reply in replies.values()):
        return Message("refuses-other-m", f"You refuse m={m} with p={p}, as Megatron does. {rule}", good=True)
    return Message("other-m", f"For multiples of p only, as asked: with m={m} and p={p} your function gives no order that runs. "
                   f"Megatron refuses such an m, and so could you, with a ValueError. {rule}", good=True)


def _swapped(answer):
    """What to say of a function that is right once m comes before p."""
    p, m, v = SHOWN
    replies = dict(zip(arguments_of(*SHOWN), ask(answer, [(m, p, v, rank) for rank in range(p)]).values(), strict=False))
    if judge_schedule(schedule_from(replies, NAME, *SHOWN), *SHOWN).right:
        yield Message("swapped", f"`{NAME}`: p and m have changed places. It is asked as `{NAME}(p, m, v, rank)`.")


def _explain(replies, judged: Mapping) -> list[Message]:
    wrong = next(size for size, found in judged.items() if not found.right)
    kind = EDGES if 1 in (wrong[0], wrong[2]) else CHUNKED
    messages = [] if kind is CHUNKED else [Message("right-with-chunks", "Right with two or more ranks and chunks.", good=True)]
    slip = slip_of_schedules([Shown(found.schedule, found.complete, found.right) for found in map(judged.get, kind)
                              if found.schedule and (kind is CHUNKED or not found.right)])
    if slip:
        messages.append(Message(slip.code, f"`{NAME}`: {slip.text}"))
    elif judged[wrong].schedule:
        messages += taken_as(replies, *wrong)
    raised = [reply for arguments, reply in replies.items() if arguments[:3] == wrong and isinstance(reply, Raised)]
    if any(reply.type in REFUSALS and "multiple" in reply.text for reply in raised):
        messages.append(Message("m-is-a-multiple", f"m={wrong[1]} is a multiple of p={wrong[0]}: Megatron asks no more of m."))
    if any(reply.type == "IndexError" for reply in raised) or all(
            found.right or (_longest_warm_up(*size) > size[1] * size[2] and not found.complete)
            for size, found in judged.items()):
        messages.append(Message("list-ends", f"With p={wrong[0]}, m={wrong[1]}, v={wrong[2]} a rank has m v = "
                                f"{wrong[1] * wrong[2]} forwards and as many backwards. Does an index go beyond them, or is a "
                                "warm-up longer than the list? Where it would be, it ends with the list."))
    whole = replies.get((*wrong, 0))
    if isinstance(whole, list) and len(whole) == wrong[0] > 1 and all(isinstance(row, list) and len(row) > 3 for row in whole):
        return [*messages, Message("all-ranks", f"{call(NAME, (*wrong, 0))} returned {wrong[0]} lists. One rank is asked for at "
                                   "a time: return the list of `rank`.")]
    return messages + explain_size(judged[wrong], *wrong)


def _longest_warm_up(p, m, v):
    """Rank 0's in Megatron's order, if m were large enough."""
    return peak_chunks(p, 2 * p, v, 0) - 1


def explain_size(found: Judged, p: int, m: int, v: int) -> list[Message]:
    """What is wrong with the schedule of one size, the first of each kind, and what is not."""
    if found.trouble:
        return [found.trouble]
    at = f"p={p}, m={m}, v={v}"
    messages = [*_faults(found.faults, at)]
    if found.legal:
        messages.append(Message("legal", f"With {at} the order is legal: it comes to its end.", good=True))
    elif found.complete:
        messages.insert(0, Message("complete", f"With {at} every operation is there once, on its rank.", good=True))
    if found.legal and not found.short:
        messages.append(_too_long(found.schedule, p, m, v))
    if found.legal and not found.lean:
        peaks = simulate(found.schedule).peak_activations
        rank, more = next((rank, peak - peak_chunks(p, m, v, rank)) for rank, peak in enumerate(peaks)
                          if peak > peak_chunks(p, m, v, rank))
        messages.append(Message("holds-more", f"With {at} rank {rank} holds the activations of {peaks[rank]} chunks at its worst "
                                f"moment, {more} more than in Megatron's order. Which backward could it run earlier?"))
    return messages


def _faults(faults, at):
    missing = [fault for fault in faults if fault.code == "missing"]
    if missing:
        names = [fault.message.split()[0] for fault in missing if fault.rank == missing[0].rank]
        more = f" and {len(names) - 6} more" if len(names) > 6 else ""
        yield Message("missing", f"With {at} rank {missing[0].rank} lacks {', '.join(names[:6])}{more}.")
    for code, advice in ADVICE.items():
        fault = next((fault for fault in faults if fault.code == code), None)
        if fault:
            yield Message(code, f"With {at}: {fault.message}. {advice}")


def _too_long(schedule, p, m, v):
    backward = next(time for time in (1, 2) if simulate(schedule, Costs(1, time)).makespan > total_slots(p, m, 1, time, v))
    timeline = simulate(schedule, Costs(1, backward))
    over = timeline.makespan - total_slots(p, m, 1, backward, v)
    waits = [(start - end, rank, operation) for rank, row in enumerate(schedule.ranks)
             for operation, end, start in zip(row[1:], timeline.ends[rank], timeline.starts[rank][1:], strict=False)]
    wait, rank, operation = max(waits, key=lambda found: found[0])
    return Message("too-long", f"With p={p}, m={m}, v={v} the step takes {timeline.makespan} slots"
                   + " with backwards of two slots" * (backward == 2) + f", {over} more than it must. The longest wait is {wait} "
                   f"slot{'s' * (wait != 1)}, on rank {rank} before {operation}: what could run there?")
