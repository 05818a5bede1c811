"""Reading and judging a drawn diagram: what is not there, what starts too early and why, what could be earlier."""

from dataclasses import dataclass, replace

from course.checks.orders import cells_of
from course.checks.outcome import Message, unreadable
from course.drawing import CONTINUED, IDLE, UNMARKED, Drawing, DrawingError, read_drawing
from course.formulas import total_slots
from course.legality import Violation, violations
from course.schedule import KINDS, Operation
from course.timeline import Timeline
from course.words import counted

MOST_TRIED = 400  # cells of a drawing in which an idle one may be missing: each place is tried with the whole drawing

@dataclass(frozen=True)
class Reading:
    """A drawing that could be read: its timeline, its cells, and what was read leniently."""

    timeline: Timeline
    drawing: Drawing
    notes: tuple[Message, ...]

    @property
    def short_content_rows(self) -> list[int]:
        """Stages below the last row written."""
        return list(range(len(self.drawing.rows), self.timeline.schedule.stages))

    @property
    def long_operations(self) -> bool:
        """Whether an operation was drawn longer than its one slot."""
        return any(CONTINUED in row for row in self.drawing.rows)

    def unmarked(self, slots: int) -> list[int]:
        """The stages in whose rows a cell up to `slots` holds neither an operation nor `.`."""
        return [row for row, cells in enumerate(self.drawing.rows) if len(cells) < slots or UNMARKED in cells[:slots]]

    @property
    def has_blanks(self) -> bool:
        """Whether spaces stand where cells may have been meant, so that what comes after them is read too early."""
        return any(note.code == "blanks" for note in self.notes)

    def said(self, trouble: bool) -> list[Message]:
        """What was read leniently; that spaces are no cells is worth a word only where there is trouble, and then first."""
        blanks = [Message("blanks", note.text) for note in self.notes if note.code == "blanks" and trouble]
        return blanks + [note for note in self.notes if note.code != "blanks"]


def read_answer(text, name: str, stages: int, micro_batches: int) -> Reading | Message:
    """Read a learner's drawing; micro-batches counted from 1 are shifted when all of them are. A Message when unreadable."""
    if isinstance(text, list):
        text = [cells_of(row) for row in text]
        text = "\n".join(row if isinstance(row, str) else " ".join(map(str, row)) if isinstance(row, list) else str(row)
                         for row in text)
    trouble = unreadable(text, name, f"Draw {stages} rows in the cell above, with the editor or by hand, and run it.")
    if trouble:
        return trouble
    try:
        drawing = read_drawing(text, stages)
    except DrawingError as error:
        return Message(f"drawing-{error.code}", str(error))
    lacks_cells = min(map(len, drawing.rows)) < max(drawing.slots, total_slots(stages, micro_batches))
    notes = [Message("blanks" if code == "gap" else code, text, good=True) for code, text in drawing.notes
             if code != "gap" or lacks_cells]
    rows = [drawing.operations(row) for row in range(len(drawing.rows))]
    numbers = {operation.micro_batch for row in rows for operation, _, _ in row}
    if numbers and min(numbers) >= 1 and max(numbers) == micro_batches:
        drawing = replace(drawing, rows=tuple(tuple(map(_one_less, row)) for row in drawing.rows))
        notes.append(Message("numbered-from-one", f"Your micro-batches are counted from 1 to {micro_batches}: taken as 0 to "
                             f"{micro_batches - 1}.", good=True))
    rows = [*drawing.rows, *[(IDLE,)] * (stages - len(drawing.rows))]
    timeline = Timeline.from_grid("\n".join(map(" ".join, rows)), stages, micro_batches)
    return Reading(timeline, drawing, tuple(notes))


def _one_less(cell):
    try:
        operation = Operation.parse(cell, stage=0)
    except ValueError:
        return cell
    return f"{cell[:cell.index(operation.kind)]}{operation.kind}{operation.micro_batch - 1}"


def explain_faults(reading: Reading, faults: list[Violation], most: int = 3) -> list[Message]:
    """One message for each kind of fault, the earliest places first, each with its reason."""
    timeline = reading.timeline
    messages = _missing(reading, [fault for fault in faults if fault.code == "missing"])
    for code, advice in (("repeated", "Each operation takes one slot and runs once a step."), ("unknown", ""),
                         ("wrong-rank", "A stage runs only its own operations: rows are stages, stage 0 first.")):
        found = [fault for fault in faults if fault.code == code]
        messages += [Message(code, f"{_at(timeline, fault)}: {fault.message}. {advice}".rstrip()) for fault in found[:most]]
        if len(found) > most:
            messages.append(Message(code, f"And {len(found) - most} more of this kind."))
    if split := next((operation for row in timeline.schedule.ranks for operation in row if operation.kind in "IW"), None):
        messages.append(Message("split-backward", f"`{split.short}`: there are only F and B here, a backward is one operation."))
    if reading.long_operations:
        messages.append(Message("long-operation", "`~` makes an operation longer than a slot; here forward and backward "
                                "take one slot each."))
    early = sorted((fault for fault in faults if fault.code == "too-early"),
                   key=lambda fault: (timeline.starts[fault.rank][fault.position], fault.rank))
    lacking = _cell_missing(reading) if early else None
    if lacking:
        rank, count, token = lacking
        cells, slots = ("a cell", "one slot") if count == 1 else (f"{count} cells", f"{count} slots")
        messages.append(Message("cell-missing", f"Stage {rank}: the row is {cells} shorter than the others, and everything would "
                                f"be in time if it stood {slots} later from {token} on. Is a `.` missing before it?"))
    if early and _legal_upside_down(reading):
        messages.append(Message("rows-reversed", "Turned upside down, nothing would start too early: the first line is stage 0, "
                                "the last line is the last stage."))
    elif not reading.has_blanks and _backwards_run_forwards(timeline, early):
        messages.append(Message("backward-direction", "Your backwards go from stage 0 to the last stage. The loss is on the "
                                "last stage: gradients start there and travel back, stage by stage, to stage 0."))
    most = 1 if reading.has_blanks else most
    messages += [_early_message(timeline, fault) for fault in early[:most]]
    if len(early) > most:
        messages.append(Message("more-too-early", f"Operations that start too early, besides: {len(early) - most}. All are "
                                "marked in the drawing."))
    return messages


def _missing(reading, faults):
    rows, stages = len(reading.drawing.rows), reading.timeline.schedule.stages
    messages = []
    if faults and rows < stages:
        messages.append(Message("row-missing", f"{counted(rows, 'row')} for {stages} stages: write one line for each, stage 0 "
                                "first. An empty line is no row; a stage without an operation is a line of `.`."))
    for rank in sorted({fault.rank for fault in faults}):
        names = sorted((fault.message.split()[0] for fault in faults if fault.rank == rank), key=_by_kind)
        if rank not in reading.short_content_rows:
            messages.append(Message("missing", f"Stage {rank}, not drawn yet: {', '.join(names)}."))
    return messages


def _by_kind(name):
    return KINDS.index(name[0]), name


def _at(timeline, fault):
    return f"Stage {fault.rank}, slot {timeline.starts[fault.rank][fault.position]}"


def _culprits(timeline, fault):
    """The faulty operation, and what it needs that ends after it starts."""
    operation = timeline.schedule.ranks[fault.rank][fault.position]
    start = timeline.starts[fault.rank][fault.position]
    ends = {span.operation: span.end for span in timeline.spans}
    return operation, start, [need for need in timeline.schedule.needs(operation) if ends.get(need, 0) > start]


def _early_message(timeline, fault):
    operation, start, late = _culprits(timeline, fault)
    need = next((need for need in late if f"needs {timeline.schedule.label(need)} of " in fault.message), late[0])
    if operation.kind == "F":
        code, reason = "forward-too-early", "A forward needs the activation that the stage before sends."
    elif need.stage == operation.stage:
        code, reason = "before-own-forward", "A backward needs what its own forward has saved."
    else:
        code, reason = "backward-too-early", "A backward needs the gradient that the stage after sends."
    if any(span.operation == need and span.start == start for span in timeline.spans):
        reason += " The same slot is too early: a result is there when its slot ends."
    return Message(code, f"{fault.message[0].upper()}{fault.message[1:]}. {reason}")


def _legal_upside_down(reading):
    schedule = reading.timeline.schedule
    if len(reading.drawing.rows) < schedule.stages or reading.drawing.names_stages:
        return False
    turned = "\n".join(map(" ".join, reading.drawing.rows[::-1]))
    return not violations(Timeline.from_grid(turned, schedule.stages, schedule.micro_batches))


def _cell_missing(reading):
    """(stage, how many, token) where all would be legal with idle cells put in before one operation of a short row."""
    rows, schedule = reading.drawing.rows, reading.timeline.schedule
    longest = max(map(len, rows))
    if longest * len(rows) > MOST_TRIED:
        return None
    for rank, row in enumerate(rows):
        lacking = longest - len(row)
        if not lacking or len(rows) < schedule.stages or reading.drawing.names_stages:
            continue
        for slot, cell in enumerate(row):
            if cell in (IDLE, UNMARKED, CONTINUED):
                continue
            mended = [*rows[:rank], (*row[:slot], *(IDLE,) * lacking, *row[slot:]), *rows[rank + 1:]]
            timeline = Timeline.from_grid("\n".join(map(" ".join, mended)), schedule.stages, schedule.micro_batches)
            if not violations(timeline):
                return rank, lacking, cell
    return None


def _backwards_run_forwards(timeline, early):
    """Whether the drawing sends the backwards from the first stage to the last."""
    starts = {(s.operation.stage, s.operation.micro_batch): s.start for s in timeline.spans if s.operation.kind == "B"}
    pairs = [(start, starts[stage + 1, micro_batch]) for (stage, micro_batch), start in starts.items()
             if (stage + 1, micro_batch) in starts]
    return bool(pairs) and bool(early) and all(one < two for one, two in pairs)


def first_avoidable_idle(timeline: Timeline, forwards_first: bool = False, room=None) -> tuple[int, int, str] | None:
    """(stage, slot, operation) of the first idle cell, slot by slot, in which an operation of that stage could run.

    With `forwards_first` a backward waits for all forwards of its stage, as in GPipe. `room` is how many micro-batches each
    stage can hold: a forward that would not fit cannot run. None where no cell can be filled by moving one operation.
    """
    ends = {span.operation: span.end for span in timeline.spans}
    for slot in range(timeline.makespan):
        for rank, row in enumerate(timeline.schedule.ranks):
            times = list(zip(row, timeline.starts[rank], timeline.ends[rank], strict=True))
            if any(start <= slot < end for _, start, end in times):
                continue
            later = [(operation, start) for operation, start, _ in times if start > slot]
            kinds = {operation.kind for operation, _ in later}
            for operation, start in later:
                waits = operation.kind == "B" and forwards_first and "F" in kinds
                fits = operation.kind == "B" or room is None or _held(timeline, rank, slot, start) < room[rank]
                if fits and not waits and all(ends[need] <= slot for need in timeline.schedule.needs(operation)):
                    return rank, slot, operation.short
    return None


def _held(timeline, rank, begin, end):
    """The most micro-batches that a rank holds from one moment until another."""
    steps = timeline.held[rank]
    before, inside = [level for time, level in steps if time <= begin], [level for time, level in steps if begin < time < end]
    return max([0, *before[-1:], *inside])
