"""A schedule as one line of text, to send in a message: short for a known one, readable for any."""

import re

from course.schedule import KINDS, MOST_DIGITS, MOST_UNITS, Operation, Schedule
from course.schedules import SCHEDULES
from course.words import a_type

MARK, VERSION, END, PART = "pp", 1, "end", "/"
EXAMPLE = "pp1/1f1b/p4/m8/end"
MOST_OPERATIONS = 3 * MOST_UNITS  # F, I and W of each
LONGEST_PATTERN = 8  # operations that are looked for again and again, in the next micro-batches
_BEGIN = re.compile(rf"{MARK}([0-9]+){PART}")
_NUMBER = rf"[0-9]{{1,{MOST_DIGITS}}}"
_TOKEN = re.compile(rf"({_NUMBER})?([{KINDS.lower()}])({_NUMBER})(?:-({_NUMBER}))?")
_ITEM = re.compile(r"\[[^\[\]]*\][^,\[\]]*|[^,\[\]]+|[\[\]]")
# what a mailer adds: soft line ends of quoted-printable, marks of a quotation, blanks and breaks, also unseen ones
_ADDED = re.compile(r"=\r?\n|^[ \t>|]+|[\s\u200b-\u200d\u2060\u00ad\ufeff]+", re.MULTILINE)
_LOOKALIKES = str.maketrans(dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2212", "-") | {"\u00d7": "x"})


def to_line(schedule: Schedule) -> str:
    """A schedule, legal or not, as a line: version, name or homes, sizes, a part for each rank unless it is a known one.

    `F0-3` is F0 F1 F2 F3, `[B0,F4]x3` is B0 F4 B1 F5 B2 F6. The name of a schedule of one's own stays behind. ValueError where
    it holds what is no operation.

    >>> from course.schedules import one_f_one_b
    >>> to_line(one_f_one_b(4, 8))
    'pp1/1f1b/p4/m8/end'
    >>> to_line(Schedule.from_csv("0F0,0F1,0B1,0B0\\n1F0,1B0,1F1,1B1"))
    'pp1/p2/m2/F0-1,B1,B0/[F0,B0]x2/end'
    """
    sizes = [f"p{len(schedule.ranks)}", f"m{schedule.micro_batches}"]
    if known := _known(schedule):
        parts = [known, *sizes, *[f"v{schedule.chunks}"] * (SCHEDULES[known].chunks is None)]
    else:
        homes = [] if schedule.rank_is_stage else ["homes" + ",".join(map(str, schedule.stage_to_rank))]
        parts = [*homes, *sizes, *(",".join(_items(schedule, rank)) for rank in range(len(schedule.ranks)))]
    return PART.join([f"{MARK}{VERSION}", *parts, END])


def _known(schedule):
    """The name of the schedule in the table that equals this one, operation by operation."""
    units, total = schedule.stages * schedule.micro_batches, sum(map(len, schedule.ranks))
    for entry in SCHEDULES.values():
        if entry.chunks not in (None, schedule.chunks) or not 2 * units <= total <= 3 * units:
            continue
        try:
            made = entry.make(len(schedule.ranks), schedule.micro_batches, schedule.chunks)
        except ValueError:  # a size that this one does not have
            continue
        if (made.ranks, made.stage_to_rank) == (schedule.ranks, schedule.stage_to_rank):
            return entry.name
    return None


def _items(schedule, rank):
    """The operations of a rank as the items of a line, runs and repeated patterns in short."""
    operations, at = schedule.ranks[rank], 0
    for operation in operations:
        if operation.kind not in KINDS or not all(0 <= number < 10**MOST_DIGITS for number in
                                                  (operation.stage, operation.micro_batch)):
            raise ValueError(f"{operation} on {schedule.place(rank)} cannot be written: it is no operation")
    names = [f"{operation.kind}{operation.micro_batch}" if schedule.rank_is_stage and operation.stage == rank else str(operation)
             for operation in operations]
    while at < len(operations):
        times, length = max(((_repeats(operations, at, length), length) for length in range(1, LONGEST_PATTERN + 1)),
                            key=lambda found: (found[0] * found[1] if found[0] > 1 else 1, -found[1]))
        if times == 1:
            length = 1
        if length == 1:
            yield names[at] + (f"-{operations[at].micro_batch + times - 1}" if times > 1 else "")
        else:
            yield f"[{','.join(names[at:at + length])}]x{times}"
        at += times * length


def _repeats(operations, at, length):
    """How often in a row the pattern of this length stands from `at` on, each time in the next micro-batches."""
    end = at
    while end + length < len(operations):
        one, other = operations[end], operations[end + length]
        if (one.stage, one.kind, one.micro_batch + 1) != (other.stage, other.kind, other.micro_batch):
            break
        end += 1
    return 1 + (end - at) // length


def from_line(text: str) -> Schedule:
    """Read a line that `to_line` wrote; blanks, line breaks, quotes and what stands around it are passed over.

    ValueError names the place, the rule and the way out.

    >>> from_line('"pp1/1f1b/p4/ m8/end"').name
    '1f1b'
    """
    if not isinstance(text, str):
        raise ValueError(f"a line of text is wanted, such as {EXAMPLE}; this is {a_type(text)}")
    line = _ADDED.sub("", text).translate(_LOOKALIKES).lower()
    begin, stop = _BEGIN.search(line), line.rfind(PART + END)
    if not begin:
        raise ValueError(f"{_short(line)} is no line of a schedule: it looks like {EXAMPLE}")
    if stop < begin.end():
        raise ValueError(f"the line breaks off after {_short(line[-20:])}: it has to end with {PART}{END}; copy all of it")
    version, parts = begin[1], line[begin.end():stop].split(PART)
    if version != str(VERSION):
        raise ValueError(f"this line is of version {version[:MOST_DIGITS]}, and version {VERSION} is read here: "
                         "have it written again by this course")
    homes = None
    if parts[0].startswith("homes"):
        listed = parts.pop(0).removeprefix("homes")
        homes = listed.split(",") if listed else []
    name = None if homes is not None or re.fullmatch(r"p[0-9]+", parts[0]) else parts.pop(0)
    ranks, micro_batches = (_size(parts, letter, words) for letter, words in (("p", "ranks"), ("m", "micro-batches")))
    if name is not None:
        return _made(name, ranks, micro_batches, parts)
    return _own(homes, ranks, micro_batches, parts)


def _short(text, most=20):
    return repr(text if len(text) <= most else text[:most] + "…")


def _size(parts, letter, words):
    part = parts.pop(0) if parts else ""
    if not re.fullmatch(letter + _NUMBER, part):
        raise ValueError(f"{_short(part)} stands where the number of {words} is wanted, such as {letter}4")
    return int(part[1:])


def _made(name, ranks, micro_batches, parts):
    entry = SCHEDULES.get(name.replace("-", "_"))
    if entry is None:
        raise ValueError(f"the line names the schedule {_short(name)}, which is not known here: there are {', '.join(SCHEDULES)}")
    chunks = entry.chunks or _size(parts, "v", "chunks a rank")
    if parts:
        raise ValueError(f"{_short(parts[0])} stands behind the sizes of {name}: nothing is wanted there")
    _need_room(ranks * chunks, micro_batches)
    return entry.make(ranks, micro_batches, chunks)


def _need_room(stages, micro_batches):
    if stages * micro_batches > MOST_UNITS:
        raise ValueError(f"{stages} stages x {micro_batches} micro-batches: at most {MOST_UNITS:,} in all are read here")


def _own(homes, ranks, micro_batches, parts):
    if len(parts) != ranks:
        raise ValueError(f"the line says p{ranks}, but has {len(parts)} parts with operations: one a rank is wanted, "
                         f"between {PART} and {PART}")
    stage_to_rank = tuple(range(ranks))
    if homes is not None:
        for stage, home in enumerate(homes):
            if not re.fullmatch(_NUMBER, home) or int(home) >= ranks:
                raise ValueError(f"homes: {_short(home)} for stage {stage} is no rank; ranks are 0 to {ranks - 1}")
        stage_to_rank = tuple(map(int, homes))
    _need_room(len(stage_to_rank), micro_batches)
    rows, left = [], MOST_OPERATIONS
    for rank, part in enumerate(parts):
        row = []
        for index, item in enumerate(_ITEM.findall(part)):
            try:
                row += _read_item(item, rank if homes is None else None, left - len(row))
            except ValueError as error:
                raise ValueError(f"rank {rank}, item {index} (both counted from 0): {error}") from None
        rows.append(tuple(row))
        left -= len(row)
    return Schedule(tuple(rows), stage_to_rank, micro_batches)


def _read_item(item, stage, room):
    """The operations of `F0`, `F0-3` or `[B0,F4]x3`."""
    inner, times = [item], 1
    if item.startswith("["):
        pattern = re.fullmatch(rf"\[(.*)\]x({_NUMBER})", item)
        if not pattern:
            raise ValueError(f"{_short(item)} is no pattern: write [B0,F4]x3 for B0, F4, B1, F5, B2, F6")
        inner, times = pattern[1].split(","), int(pattern[2])
    found = []
    for token in inner:
        match = _TOKEN.fullmatch(token)
        if not match or (match[1] is None and stage is None):
            raise ValueError(f"{_short(token)} is no operation: write {'F0, or 2F0' if stage is not None else '2F0'}, F0-3 for "
                             "those in between, with a kind of F, B, I or W")
        first, last = int(match[3]), int(match[4] or match[3])
        if last < first or len(inner) > 1 < len(range(first, last + 1)):
            raise ValueError(f"{_short(token)} is no run of operations: F0-3 is F0, F1, F2, F3, and stands by itself")
        if (len(found) + last + 1 - first) * times > room:
            raise ValueError(f"{_short(item)}: at most {MOST_OPERATIONS:,} operations in all are read here")
        lives = stage if match[1] is None else int(match[1])
        found += [Operation(lives, match[2].upper(), micro_batch) for micro_batch in range(first, last + 1)]
    return [Operation(one.stage, one.kind, one.micro_batch + step) for step in range(times) for one in found]
