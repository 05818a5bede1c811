"""The channels of a schedule: what one stage sends to another, in the order in which it is sent and received.

With tags (gloo) a message is found whenever it is asked for. Without them (NCCL) a channel is a queue: the first that is
sent is the first that is received, so both ends must agree on the order.
"""

from dataclasses import dataclass

from course.schedule import BACKWARDS, Operation, Schedule


@dataclass(frozen=True)
class Disorder:
    """A channel whose ends disagree: message number `place` is `sent` by one stage, but the other waits for `awaited`."""

    source: int
    target: int
    place: int
    sent: Operation
    awaited: Operation
    message: str


def channels(schedule: Schedule) -> list[tuple[int, int]]:
    """Every (from stage, to stage) that crosses from one rank to another; forward first, then backward."""
    homes = schedule.stage_to_rank
    crossed = [(stage, stage + 1) for stage in range(schedule.stages - 1) if homes[stage] != homes[stage + 1]]
    return crossed + [(target, source) for source, target in crossed]


def disorders(schedule: Schedule) -> list[Disorder]:
    """The channels of a legal schedule that need tags, each with its first disagreement; [] where a queue is enough.

    >>> from course.schedules import gpipe
    >>> disorders(gpipe(4, 8))
    []
    """
    done = {}
    for rank in schedule.ranks:
        for operation in rank:
            if operation.kind != "W":
                done.setdefault((operation.stage, operation.kind in BACKWARDS), []).append(operation)
    found = []
    for source, target in channels(schedule):
        backward = target < source
        ends = done.get((source, backward), ()), done.get((target, backward), ())
        for place, (one, other) in enumerate(zip(*ends, strict=False)):
            if one.micro_batch != other.micro_batch:
                found.append(Disorder(source, target, place, one, other,
                                      f"stage {source} sends {one} to stage {target} as message {place}, where stage "
                                      f"{target} waits for what {other} needs"))
                break
    return found
