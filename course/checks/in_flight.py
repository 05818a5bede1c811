"""Notebook 2: how many micro-batches a stage has in flight at most, in GPipe and in 1F1B."""

from course.checks.fresh import confirm
from course.checks.functions import Slip, ask, call, first_wrong, no_reply, same, slip_of
from course.checks.one_f_one_b_sizes import ORDINARY, POINTS, ordinary_stage, small_stage
from course.checks.outcome import Message, Outcome, Step, as_number, show_found
from course.formulas import peak_in_flight
from course.words import counted

NAME = "peak_in_flight"
WANTED = "It is a whole number of micro-batches."
_ONE_MORE = ("one-too-many", "for \"1f1b\" this is one too many: after the warm-up and the first pair's forward a backward "
             "comes, before any other forward.")
SLIPS = {
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
        Slip("arguments-swapped", "for \"1f1b\" this is right for m stages and p micro-batches: the arguments come as "
             "(schedule, p, m, stage).", lambda _, p, m, stage: min(p, m - stage)),
        Slip(*_ONE_MORE, lambda _, p, m, stage: p - stage + 1),
        Slip(*_ONE_MORE, lambda _, p, m, stage: min(m, p - stage + 1)),
    ),
}


SPELLINGS = {"gpipe": ("GPipe", "GPIPE", "Gpipe"), "1f1b": ("1F1B",)}
UNKNOWN = "x"  # a name of no schedule: what a function returns for it comes from its `else`


def check_in_flight(answer) -> Outcome:
    """Points for GPipe (1), for 1F1B where m >= p > 1 (2), and for 1F1B at all other sizes (1)."""
    replies = _unlisted(ask(answer, [(schedule, *point) for schedule in SLIPS for point in POINTS]))
    exchanged = _exchanged(replies)
    messages, right = [exchanged] * bool(exchanged), {}
    for schedule, slips in SLIPS.items():
        points = [(schedule, *point) for point in POINTS]
        ordinary = [point for point in points if point[1:3] in ORDINARY]
        given = {point: replies[point] for point in points if point in replies}
        for name, asked, draw in (("ordinary", ordinary, ordinary_stage), ("all", points, small_stage)):
            drawn = confirm(answer, asked, given, peak_in_flight,
                            lambda random, draw=draw, schedule=schedule: (schedule, *draw(random)), count=2)
            given |= _unlisted(drawn)
            right[schedule, name] = all(point in given and same(given[point], peak_in_flight(*point))
                                        for point in (*asked, *drawn))
        right[schedule, "all"] = right[schedule, "all"] and right[schedule, "ordinary"]
        if given and not exchanged:
            found = (len(given) == len(points) and not right[schedule, "ordinary"] and _spelled_otherwise(answer, schedule)
                     ) or _message(schedule, given, {key: given[key] for key in ordinary if key in given}, slips, right,
                                   replies.values())
            messages += [found] if found.code not in [message.code for message in messages] else []
    steps = (Step("GPipe", 1, right["gpipe", "all"]), Step("1F1B, m at least p", 2, right["1f1b", "ordinary"]),
             Step("1F1B at every size, m < p, m = 1 and p = 1 included", 1, right["1f1b", "all"]))
    return Outcome(steps, tuple(messages))


def _exchanged(replies):
    """The message for a function that gives at every size for each schedule what is right for the other; None for another."""
    others = {"gpipe": "1f1b", "1f1b": "gpipe"}
    if not all((schedule, *point) in replies and same(replies[schedule, *point], peak_in_flight(other, *point))
               for schedule, other in others.items() for point in POINTS):
        return None
    return Message("schedules-exchanged", f"`{NAME}`: the two schedules have changed places: \"gpipe\" gives 1F1B's number and "
                   "\"1f1b\" gives GPipe's.")


def _unlisted(replies):
    """Lists of one as their item; where a function also returns longer lists or empty ones, it lists what it is to count."""
    if any(isinstance(reply, list) and len(reply) != 1 for reply in replies.values()):
        return replies
    return {point: reply[0] if isinstance(reply, list) and len(reply) == 1 else reply for point, reply in replies.items()}


def _spelled_otherwise(answer, schedule):
    """The message for a function that is right for the schedule's name in other letters; None for another."""
    points = [(p, m, stage) for p, m, stage in POINTS if (p, m) in ORDINARY[:2]]
    for name in SPELLINGS[schedule]:
        if all(same(answer.call(name, *point), peak_in_flight(schedule, *point)) for point in points) and not all(
                same(answer.call(UNKNOWN, *point), peak_in_flight(schedule, *point)) for point in points):
            return Message("other-letters", f"`{NAME}` is called with schedule \"{schedule}\", in small letters; yours is right "
                           f"for \"{name}\", which never comes.")
    return None


def _message(schedule, given, ordinary, slips, right, replies):
    if right[schedule, "all"]:
        praise = {"gpipe": "GPipe: on every stage, every micro-batch.",
                  "1f1b": "1F1B: what a stage holds does not grow with m, once there are as many micro-batches as it has to "
                          "bridge."}
        return Message(f"{schedule}-right", praise[schedule], good=True)
    wrong = first_wrong(given, peak_in_flight)
    usable = {point: reply for point, reply in ordinary.items() if as_number(reply) is not None}
    slip = slip_of(usable, peak_in_flight, slips) if usable else None
    if slip:
        return Message(slip.code, f"`{NAME}`: {slip.text}")
    if trouble := no_reply(NAME, wrong, given[wrong], WANTED, replies):
        return trouble
    if as_number(given[wrong]) is None:
        count = " Count them." * isinstance(given[wrong], list)
        return Message("not-a-number", f"{call(NAME, wrong)} returned {show_found(given[wrong])}. {WANTED}{count}")
    _, p, m, stage = wrong
    at = f"{call(NAME, wrong)} returned {show_found(given[wrong])}"
    if right[schedule, "ordinary"] and as_number(given[wrong]) > m:
        return Message("more-than-there-are", f"{at}, right where m is at least p. Here there "
                       f"{'is' if m == 1 else 'are'} only {counted(m, 'micro-batch')}.")
    if schedule == "gpipe":
        return Message("gpipe-wrong", f"{at}. How many forwards does stage {stage} run before its first backward, in GPipe?")
    return Message("1f1b-wrong", f"{at}. Write down the first operations of stage {stage} of {p}, up to its second backward: add "
                   "1 at each F, take 1 away after each B, and look for the largest.")
