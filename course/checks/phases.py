"""Notebook 2: the lengths of 1F1B's three phases, and how many micro-batches a stage has in flight at most."""

from course.checks.functions import Slip, ask, call, first_wrong, no_reply, same, slip_of
from course.checks.one_f_one_b import ORDINARY, SMALL
from course.checks.outcome import Message, Outcome, Step, is_number, show_value
from course.formulas import peak_in_flight, warm_up_forwards

POINTS = [(p, m, stage) for p, m in (*ORDINARY, *SMALL) for stage in range(p)]
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
PHASE_SLIPS = (
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


def check_phases(answer) -> Outcome:
    """Points for the warm-up (1) and for pairs and cooldown (1) where m >= p > 1, and for all other sizes (1).

    Pairs may begin with F or with B; what is asked is that all answers keep to one of the two.
    """
    replies = ask(answer, POINTS)
    lengths = {point: _listed(reply) for point, reply in replies.items()}
    truth = max((forward_first, backward_first), key=lambda way: sum(
        same(lengths.get(point), way(*point)) for point in POINTS))
    ordinary = [point for point in POINTS if point[:2] in ORDINARY]

    def right(points, *places):
        return all(_is_triple(lengths.get(point)) and all(same(lengths[point][place], truth(*point)[place]) for place in places)
                   for point in points)

    steps = (Step("warm-up", 1, right(ordinary, 0)), Step("pairs and cooldown", 1, right(ordinary, 1, 2)),
             Step("at every size, m < p, m = 1 and p = 1 included", 1, right(POINTS, 0, 1, 2)))
    return Outcome(steps, tuple(_phase_messages(replies, lengths, truth)))


def _listed(reply):
    """Three numbers with names are three numbers."""
    return list(reply.values()) if isinstance(reply, dict) else reply


def _is_triple(value):
    return isinstance(value, list) and len(value) == 3 and all(map(is_number, value))


def _phase_messages(replies, lengths, truth):
    wrong = first_wrong(lengths, truth)
    if wrong is None and len(replies) == len(POINTS):
        way = "a forward" if truth is forward_first else "a backward"
        return [Message("phases-right", f"Right at every size, with pairs that begin with {way}; the other way to count them "
                        "would be as good. Each forward and each backward is in one phase.", good=True)]
    messages, ordinary = [], {point: found for point, found in lengths.items() if point[:2] in ORDINARY}
    trouble = no_reply("phase_lengths", wrong, replies[wrong], WANTED)
    usable = {point: found for point, found in ordinary.items() if _is_triple(found)}
    slip = slip_of(usable, truth, PHASE_SLIPS) if usable else None
    if slip:
        messages.append(Message(slip.code, f"`phase_lengths`: {slip.text}"))
    elif first_wrong(ordinary, truth) is None:
        messages.append(Message("right-where-m-is-large", "Right wherever there are two stages or more and at least as many "
                                "micro-batches as stages.", good=True))
    found = lengths[wrong]
    if not trouble and not _is_triple(found):
        trouble = Message("not-three-numbers", f"{call('phase_lengths', wrong)} returned {show_value(found)}. {WANTED}")
    if trouble:
        return [*messages, trouble]
    return messages if slip else [*messages, _not_right(lengths, wrong)]


def _not_right(lengths, wrong):
    """What is wrong with one reply of three numbers: a sum that cannot be, a mixture of two ways to count, or just its place."""
    p, m, stage = wrong
    warm_up, pairs, cooldown = lengths[wrong]
    at = f"{call('phase_lengths', wrong)} returned {show_value((warm_up, pairs, cooldown))}"
    if min(warm_up, pairs, cooldown) < 0:
        return Message("negative", f"{at}: no phase can be shorter than nothing. With m={m} the stage has {m} forward"
                       f"{'s' * (m > 1)} to run, in all its phases.")
    if warm_up + pairs != m:
        return Message("forwards-do-not-add-up", f"{at}: the forwards of warm-up and pairs would be {warm_up + pairs}, and a "
                       f"stage has m={m}. (If your pairs begin with B, the first one's F is in the warm-up.)")
    if pairs + cooldown != m:
        return Message("backwards-do-not-add-up", f"{at}: the backwards of pairs and cooldown would be {pairs + cooldown}, and a "
                       f"stage has m={m}.")
    if all(same(found, forward_first(*point)) or same(found, backward_first(*point)) for point, found in lengths.items()):
        return Message("two-ways-to-count", f"{at}. Pairs that begin with F and pairs that begin with B are both fine, but here "
                       "they are mixed: keep to one.")
    return Message("phases-wrong", f"{at}: the sums are right, the warm-up is not. How many forwards can stage {stage} run "
                   f"before its first backward has come, with p={p}?")


FLIGHT_WANTED = "It is a whole number of micro-batches."
_ONE_MORE = ("one-too-many", "for \"1f1b\" this is one too many: after the warm-up and the first pair's forward a backward "
             "comes, before any other forward.")
FLIGHT_SLIPS = {
    "gpipe": (
        Slip("gpipe-as-1f1b", "for \"gpipe\" this is 1F1B's number. In GPipe no backward comes before the last forward.",
             lambda _, p, m, stage: peak_in_flight("1f1b", p, m, stage)),
        Slip("gpipe-stages", "for \"gpipe\" the number of stages is no limit: a stage runs all its forwards before its first "
             "backward. How many are those?", lambda _, p, m, stage: p),
        Slip("gpipe-falls", "for \"gpipe\" it does not matter where the stage is.", lambda _, p, m, stage: m - stage),
        Slip("both-kinds", "for \"gpipe\" this counts forwards and backwards. A backward holds nothing: it frees.",
             lambda _, p, m, stage: 2 * m),
    ),
    "1f1b": (
        Slip("same-on-all", "for \"1f1b\" this is the same number on every stage. That is the tempting idea: a late stage gets "
             "its first backward early, and from then on frees as much as it takes.", lambda _, p, m, stage: p),
        Slip("all-of-them", "for \"1f1b\" this is GPipe's number. In 1F1B the backward of the first micro-batch ends, and frees, "
             "while others have not begun.", lambda _, p, m, stage: m),
        Slip("warm-up-only", "for \"1f1b\" this is the warm-up alone. The first pair begins with one more forward, before its "
             "backward frees anything.", lambda _, p, m, stage: p - 1 - stage),
        Slip("upside-down", "for \"1f1b\" this grows with the stage. Stage 0 waits the longest for its first backward: it "
             "holds the most.", lambda _, p, m, stage: stage + 1),
        Slip(*_ONE_MORE, lambda _, p, m, stage: p - stage + 1),
        Slip(*_ONE_MORE, lambda _, p, m, stage: min(m, p - stage + 1)),
    ),
}


def check_in_flight(answer) -> Outcome:
    """Points for GPipe (1), for 1F1B where m >= p > 1 (2), and for 1F1B at all other sizes (1)."""
    replies = ask(answer, [(schedule, *point) for schedule in FLIGHT_SLIPS for point in POINTS])
    messages, right = [], {}
    for schedule, slips in FLIGHT_SLIPS.items():
        points = [(schedule, *point) for point in POINTS]
        ordinary = [point for point in points if point[1:3] in ORDINARY]
        given = {point: replies[point] for point in points if point in replies}
        for name, asked in (("all", points), ("ordinary", ordinary)):
            right[schedule, name] = all(point in given and same(given[point], peak_in_flight(*point)) for point in asked)
        if given:
            found = _flight_message(schedule, given, {key: given[key] for key in ordinary if key in given}, slips, right)
            messages += [found] if found.code not in [message.code for message in messages] else []
    steps = (Step("GPipe", 1, right["gpipe", "all"]), Step("1F1B, m at least p", 2, right["1f1b", "ordinary"]),
             Step("1F1B at every size, m < p, m = 1 and p = 1 included", 1, right["1f1b", "all"]))
    return Outcome(steps, tuple(messages))


def _flight_message(schedule, given, ordinary, slips, right):
    name = "peak_in_flight"
    if right[schedule, "all"]:
        praise = {"gpipe": "GPipe: on every stage, every micro-batch.",
                  "1f1b": "1F1B: what a stage holds does not grow with m, once there are as many micro-batches as it has to "
                          "bridge."}
        return Message(f"{schedule}-right", praise[schedule], good=True)
    wrong = first_wrong(given, peak_in_flight)
    usable = {point: reply for point, reply in ordinary.items() if is_number(reply)}
    slip = slip_of(usable, peak_in_flight, slips) if usable else None
    if slip:
        return Message(slip.code, f"`{name}`: {slip.text}")
    if trouble := no_reply(name, wrong, given[wrong], FLIGHT_WANTED):
        return trouble
    if not is_number(given[wrong]):
        return Message("not-a-number", f"{call(name, wrong)} returned {show_value(given[wrong])}. {FLIGHT_WANTED}")
    _, p, m, stage = wrong
    at = f"{call(name, wrong)} returned {show_value(given[wrong])}"
    if right[schedule, "ordinary"] and given[wrong] > m:
        return Message("more-than-there-are", f"{at}, right where m is at least p. Here there are only {m} micro-batches.")
    if schedule == "gpipe":
        return Message("gpipe-wrong", f"{at}. How many forwards does stage {stage} run before its first backward, in GPipe?")
    return Message("1f1b-wrong", f"{at}. Write down the first operations of stage {stage} of {p}, up to its second backward: add "
                   "1 at each F, take 1 away after each B, and look for the largest.")
