"""The open lab's challenges: what is asked, and what a schedule has of it, beside what is proven."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from course.checks.outcome import Message, Outcome, Step
from course.floors import memory_floor, step_floor
from course.legality import violations
from course.recognition import recognize
from course.schedule import Schedule
from course.schedules import SCHEDULES, one_f_one_b, zb_h1
from course.simulation import Costs, simulate
from course.timeline import Timeline
from course.words import counted, number

SLOTS = Costs(forward=1, backward=1)
PARTS = Costs(forward=1, input_grad=1, weight_grad=1)
WAITING = Costs(forward=1, backward=2, latency=Fraction(1, 2))
ADVICE = {"repeated": "Each operation runs once.", "wrong-rank": "A stage runs only its own operations.",
          "order": "On its own stage an operation comes after what it needs.",
          "deadlock": "Each waits for another: nobody can go on."}
PARTS_OF = {True: ", backwards in two parts", False: ", backwards whole", None: ""}


@dataclass(frozen=True)
class Challenge:
    """What is asked for, of which sizes, the times by which it is judged, and by whom.

    `split` says whether each backward is to be in two parts, None where that is free; `goals` what is to be reached besides.
    `drawn`: whether a drawing's own times can be right, an operation a slot.
    """

    key: str
    title: str
    task: str
    ranks: int
    micro_batches: int
    costs: Costs
    split: bool | None
    goals: tuple[str, ...]
    judge: Callable
    drawn: bool = True

    @property
    def homes(self) -> tuple[int, ...]:
        """One stage a rank."""
        return tuple(range(self.ranks))

    def floor(self, split: bool, room: int | None = None):
        """What no step is shorter than."""
        return step_floor(self.homes, self.micro_batches, self.costs, split, room)


def challenge_of(key: str) -> Challenge:
    """The challenge of this name. ValueError where there is none."""
    if not isinstance(key, str) or key not in CHALLENGES:
        raise ValueError(f"there is no challenge {key!r}; there are {', '.join(CHALLENGES)}")
    return CHALLENGES[key]


def judge_challenge(key: str, subject: Schedule | Timeline) -> Outcome:
    """What is right, what is not and why; a drawing (Timeline) is judged by its order, and by its own times where they can be.

    ValueError where there is no such challenge.
    """
    asked, drawing = challenge_of(key), subject if isinstance(subject, Timeline) else None
    schedule = drawing.schedule if drawing else subject
    if other := _other_sizes(asked, schedule):
        return not_judged(asked, other)
    faults = violations(schedule)
    late = [fault for fault in violations(drawing) if fault.code in ("too-early", "overlap")] if drawing and asked.drawn else []
    there = [fault for fault in faults if fault.code != "missing"]
    messages = [*_missing(asked, faults), *_first_of_each(there), *_first_of_each(late)]
    complete = all(fault.code in ("order", "deadlock") for fault in faults)
    other = _other_kinds(asked, schedule) if complete else None
    if faults or late or other:
        marks = tuple((fault.rank, fault.position) for fault in (*faults, *late) if fault.position is not None)
        return Outcome(_steps(asked, complete and not other, not faults and not late), (*messages, *[other] * bool(other)),
                       drawing, marks)
    timeline = simulate(schedule, asked.costs)
    if drawing and asked.drawn and drawing.makespan > timeline.makespan:
        messages.append(Message("drawn-longer", f"Your drawing takes {_slots(drawing.makespan)}. Judged is its order: where each "
                                f"operation starts as soon as it can, it takes {_slots(timeline.makespan)}.", good=True))
    reached, said = asked.judge(asked, timeline)
    return Outcome(_steps(asked, True, True, *reached), (*messages, *said), drawing if drawing and asked.drawn else timeline)


def not_judged(asked: Challenge, message: Message) -> Outcome:
    """The outcome of an answer of which nothing can be said but this."""
    return Outcome(_steps(asked), (message,))


def _slots(time):
    return f"{number(time)} slot{'s' * (time != 1)}"


def _steps(asked, complete=False, runs=False, *reached):
    names = f"every operation once, on its stage{PARTS_OF[asked.split]}", "an order that can run", *asked.goals
    shares = complete, runs, *(reached or [False] * len(asked.goals))
    return tuple(Step(name, 1, bool(share)) for name, share in zip(names, shares, strict=True))


def _other_sizes(asked, schedule):
    ranks = len(schedule.ranks)
    if not schedule.rank_is_stage or ranks != asked.ranks:
        turned = ranks == schedule.stages == asked.ranks
        return Message("other-ranks", f"Here there are {asked.ranks} ranks with one stage each, stage 0 on rank 0; this has "
                       f"{counted(schedule.stages, 'stage')} on {counted(ranks, 'rank')}{', in another order' * turned}.")
    if schedule.micro_batches != asked.micro_batches:
        return Message("other-micro-batches", f"Here there are {asked.micro_batches} micro-batches; this has "
                       f"{schedule.micro_batches}.")
    return None


def _missing(asked, faults):
    """What each stage lacks."""
    messages = []
    for rank in sorted({fault.rank for fault in faults if fault.code == "missing"}):
        names = [fault.message.split()[0] for fault in faults if fault.code == "missing" and fault.rank == rank]
        if asked.split:
            names = [part for name in names for part in dict.fromkeys((name.replace("B", "I"), name.replace("B", "W")))]
        more = f" and {len(names) - 6} more" if len(names) > 6 else ""
        messages.append(Message("missing", f"Stage {rank} lacks {', '.join(names[:6])}{more}: each stage runs every micro-batch "
                                "forward and backward, once."))
    return messages


def _first_of_each(faults):
    """The first fault of each kind."""
    messages = []
    for code in dict.fromkeys(fault.code for fault in faults):
        same = [fault for fault in faults if fault.code == code]
        more = f" And {len(same) - 1} more of this kind." if len(same) > 1 else ""
        text = same[0].message
        messages.append(Message(code, f"{text[0].upper()}{text[1:]}. {ADVICE.get(code, '')}".rstrip() + more))
    return messages


def _other_kinds(asked, schedule):
    """The message where backwards are whole that should be split, or the other way round."""
    whole = sum(operation.kind == "B" for rank in schedule.ranks for operation in rank)
    if asked.split and whole:
        return Message("whole-backwards", f"{counted(whole, 'backward')} {'is' if whole == 1 else 'are'} whole, B. Here each is "
                       "two operations: I, for which the stage before waits, and W, for which nobody waits.")
    if asked.split is False and schedule.split:
        return Message("split-backward", "Here a backward is one operation, B, not I and W.")
    return None


def _this_is(schedule):
    name = recognize(schedule)
    return f"This is {SCHEDULES[name].title}." if name else ""


def _within(asked, timeline, longest, room, slip):
    """Whether the step is no longer than `longest`, and then whether no more than `room` is held; with what is proven of it."""
    step, peaks, schedule = timeline.makespan, timeline.peak_activations, timeline.schedule
    short, held = step <= longest, max(peaks)
    floor = f"no order is shorter than {_slots(asked.floor(asked.split))}, which is proven"
    messages = [Message("step-right", f"The step takes {_slots(step)}: {floor}.", good=True)]
    if not short:
        messages = [Message("too-long", f"The step takes {_slots(step)}. {_slots(longest)} can be reached; {floor}. Which idle "
                            "cell comes first, and what does its stage wait for?"), *slip(timeline)]
    if held > room:
        messages.append(Message("holds-more", f"{_this_is(schedule)} Stage {peaks.index(held)} holds "
                                f"{counted(held, 'micro-batch')} at its worst moment. Fewer are enough for a step of "
                                f"{_slots(longest)}.".strip()))
    elif short:
        less = asked.floor(asked.split, room=room - 1)
        proven = f": with room for {room - 1} no step is shorter than {_slots(less)}, which is proven" * (less > longest)
        messages += [Message("memory-right", f"The fullest stage holds {counted(held, 'micro-batch')}{proven}.", good=True),
                     Message("right", _this_is(schedule) or "This order has no name here; it is as good as the one that has.",
                             good=True)]
    return (short, short and held <= room), messages


def _smallest(asked, timeline):
    longest = asked.floor(split=False)
    return _within(asked, timeline, longest, memory_floor(asked.homes, asked.micro_batches, asked.costs, step=longest),
                   lambda found: _why_longer(asked, found, longest))


def _why_longer(asked, timeline, longest):
    held, levels = max(timeline.peak_activations), [level for _, level in timeline.held[0]]
    if 0 in levels[:-1] and held > 1:
        return [Message("in-rounds", "Stage 0 empties its memory in the middle of the step: each round fills and drains the "
                        "pipeline anew. A stage need not wait for all backwards before its next forward.")]
    least = asked.floor(split=False, room=held)
    if least > longest:
        return [Message("too-little-room", f"No stage ever holds more than {counted(held, 'micro-batch')}. With that no step is "
                        f"shorter than {_slots(least)}, which is proven.")]
    first = [operation.kind for operation in timeline.schedule.ranks[-1]].index("B")
    if first > 1:
        return [Message("last-stage-late", f"The last stage runs {first} forwards before its first backward, for which all other "
                        "stages wait. It could run it behind its first forward.")]
    return []


def _by_hand(asked, timeline):
    known = simulate(zb_h1(asked.ranks, asked.micro_batches), asked.costs)
    first = simulate(one_f_one_b(asked.ranks, asked.micro_batches), asked.costs)
    return _within(asked, timeline, known.makespan, max(first.peak_activations), _where_w_is)


def _where_w_is(timeline):
    ranks = timeline.schedule.ranks
    if all({operation.kind for operation in rank[-timeline.schedule.micro_batches:]} == {"W"} for rank in ranks):
        return [Message("w-at-the-end", "Every W waits until all other operations of its stage are done: it fills no idle slot "
                        "between them, and every activation is held until then.")]
    if all(rank[place + 1].kind == "W" for rank in ranks for place, operation in enumerate(rank) if operation.kind == "I"):
        return [Message("w-right-behind", "Every W stands right behind its I, as if the backwards were whole. Only a W that is "
                        "put off lets an operation go first for which another stage waits.")]
    return []


def _beaten(asked, timeline):
    """Whether the step is shorter than 1F1B's; and what more there is to find."""
    schedule, step, held = timeline.schedule, timeline.makespan, max(timeline.peak_activations)
    theirs = simulate(one_f_one_b(asked.ranks, asked.micro_batches), asked.costs)
    both = f"{_this_is(schedule)} The step takes {_slots(step)}"
    both = f"{both}, 1F1B's {_slots(theirs.makespan)}.".strip() if schedule != theirs.schedule else f"{both}."
    if step >= theirs.makespan:
        return (False,), [Message("too-long", f"{both} 1F1B runs a forward only when a backward has come back, so each pair "
                                  "waits for a message in each direction. What could a stage do meanwhile, if it had started "
                                  "more forwards before?")]
    split = bool(schedule.split)
    floor, others = asked.floor(split), f"No order with {'split' if split else 'whole'} backwards is shorter"
    lean = memory_floor(asked.homes, asked.micro_batches, asked.costs, split, step=step)
    fewer = f" Proven is that no order as short holds fewer than {lean}. Can you do with fewer than yours?" * (held > lean)
    return (True,), [
        Message("right", both, good=True),
        Message("at-the-floor", f"{others}, which is proven.", good=True) if step <= floor else
        Message("above-the-floor", f"{others} than {_slots(floor)}, which is proven. Whether one is as short as that, the "
                "open lab's plot may tell.", good=True),
        Message("price", f"The price: the fullest stage holds {counted(held, 'micro-batch')}, 1F1B's "
                f"{max(theirs.peak_activations)}.{fewer}", good=True)]


CHALLENGES: dict[str, Challenge] = {challenge.key: challenge for challenge in (
    Challenge("smallest-memory", "The smallest memory at the smallest step time",
              "4 stages, 8 micro-batches, a forward and a backward of one slot each, no backward split. Find an order whose step "
              "is as short as any can be and, among those, one whose fullest stage holds as few micro-batches as possible.",
              4, 8, SLOTS, False, ("as short as can be", "as little held as can be in that time"), _smallest),
    Challenge("beat-1f1b", "Beat 1F1B where messages take time",
              "4 stages, 8 micro-batches, a forward of one slot, a backward of two (or I and W of one each), and half a slot for "
              "each message, for which 1F1B waits. Find an order, one stage a rank, with a shorter step.",
              4, 8, WAITING, None, ("shorter than 1F1B",), _beaten, drawn=False),
    Challenge("zb-h1", "ZB-H1 by hand",
              "4 stages, 6 micro-batches; F, I and W of one slot each. Put the weight gradients W where they fill idle slots: a "
              "step as short as ZB-H1's, and no stage that ever holds more micro-batches than 1F1B's first one.",
              4, 6, PARTS, True, ("as short as ZB-H1", "no more held than on 1F1B's first stage"), _by_hand))}
