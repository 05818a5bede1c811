"""The plot itself: idle cells, boxes with their labels and tooltips, faults."""

from html import escape
from statistics import quantiles
from typing import NamedTuple

from course.figures.layout import BAR, LEAST_CELL
from course.figures.looks import CHUNK, FAULT, HATCH, IDLE, LOOKS, OUTLINE
from course.figures.svg import box, path, text
from course.figures.words import place
from course.timeline import Span
from course.words import at

MOST_SIGNS = 200  # more would hide each other
FEW_BOXES = 600  # up to here each box has a tooltip, which costs an element
LEAST_BOX = 0.6  # what is too short to see is still there
APART = 2  # less between two labels, and they read as one word
LEAST_HATCHED = 2.5  # narrower boxes would be all outline, and show no hatch


class Box(NamedTuple):
    """One operation in the picture: its span, its chunk, its left and upper edge, its width."""

    span: Span
    chunk: int
    x: float
    y: float
    width: float


def placed(timeline, layout) -> list[Box]:
    """The boxes of all operations."""
    chunk_of, left, per_unit, boxes = chunks_of(timeline.schedule), layout.left, layout.per_unit, []
    for span in timeline.spans:
        operation, rank, start, end = span
        start = float(start)
        width = max(LEAST_BOX, (float(end) - start) * per_unit)
        boxes.append(Box(span, chunk_of.get(operation.stage, 0), left + start * per_unit, layout.y(rank), width))
    return boxes


def narrow(boxes) -> float:
    """The width that all but the narrowest tenth of the boxes have."""
    widths = [box.width for box in boxes]
    return quantiles(widths, n=10)[0] if len(widths) > 1 else sum(widths)


def idle_cells(timeline, layout, slot) -> str:
    """What lies under the boxes: a band a row, cut into cells where slots are wide enough to see."""
    end, shape = layout.x(timeline.makespan), []
    cuts = int(timeline.makespan / slot) if slot and slot * layout.per_unit >= LEAST_CELL else 0
    for row in range(layout.rows):
        shape.append(box(layout.left, layout.y(row), end - layout.left, BAR))
        shape += [f"M{layout.x(slot * cut):.1f} {layout.y(row)}v{BAR}" for cut in range(1, cuts)]
    return path("".join(shape), **IDLE)


def shows_hatches(boxes) -> bool:
    """Whether the boxes are wide enough for outlines, hatches and the lines of chunks."""
    return not boxes or narrow(boxes) >= LEAST_HATCHED


def shapes(boxes, chunks) -> str:
    """One path for each kind and chunk, and one for its hatch: few elements however many boxes."""
    fills, hatches, bars = {}, {}, []
    fine = shows_hatches(boxes)
    for (operation, *_), chunk, x, y, width in boxes:
        look = LOOKS[operation.kind]
        fills.setdefault((operation.kind, chunk), []).append(box(x, y, width, BAR))
        if look.hatch and fine:
            hatches.setdefault(operation.kind, []).append(look.hatch(x, y, width, BAR, look.step))
        if chunk and fine:
            bars.append(chunk_bars(x, y, width, chunk))
    outline = OUTLINE if fine else {}
    drawn = [path("".join(d), fill=LOOKS[kind].tint(chunk, chunks), **outline) for (kind, chunk), d in sorted(fills.items())]
    drawn += [path("".join(d), **HATCH) for _, d in sorted(hatches.items())]
    return "".join(drawn) + path("".join(bars), **CHUNK)


def chunks_of(schedule) -> dict[int, int]:
    """Stage -> its place among the stages of its rank."""
    seen, chunks = {}, {}
    for stage, rank in enumerate(schedule.stage_to_rank):
        chunks[stage] = seen.get(rank, 0)
        seen[rank] = chunks[stage] + 1
    return chunks


def chunk_bars(x, y, width, chunk) -> str:
    """A line along the upper edge for each chunk after the first: a tint alone would be colour alone."""
    return "".join(f"M{x:.1f} {y + 2 + 2.2 * bar:.1f}h{width:.1f}" for bar in range(chunk))


def labels(timeline, boxes) -> str:
    """Tokens where they fit, else micro-batches, else nothing: one form and one size for the whole figure."""
    schedule, room = timeline.schedule, narrow(boxes)
    numbers = [str(box.span.operation.micro_batch) for box in boxes]
    if not boxes or _width_of_text(max(numbers, key=len), 9) > room:
        return ""
    tokens = [schedule.label(box.span.operation) for box in boxes]
    fitting = [(forms, font) for forms, font in ((tokens, 12), (numbers, 12), (numbers, 10), (numbers, 9))
               if _width_of_text(max(forms, key=len), font) <= room]
    if not fitting:
        return ""
    forms, font = fitting[0]
    groups = {}
    for (span, chunk, x, y, width), form in zip(boxes, forms, strict=True):
        if _width_of_text(form, font) <= width:
            look = LOOKS[span.operation.kind]
            # on a hatch a label needs a rim in the colour of its box
            rim = look.tint(chunk, schedule.chunks) if look.hatch else "none"
            groups.setdefault(rim, []).append(text(x + width / 2, y + (18 if chunk else 17), form))
    return "".join(f'<g fill="#000" stroke="{rim}" stroke-width="3" paint-order="stroke" text-anchor="middle" '
                   f'font-size="{font}">{"".join(group)}</g>' for rim, group in sorted(groups.items()))


def _width_of_text(form, font):
    return 0.6 * font * len(form) + APART


def tooltips(timeline, boxes, unit) -> str:
    """An unseen box over each operation that says what it is, where there are few."""
    if len(boxes) >= FEW_BOXES:
        return ""
    schedule, found = timeline.schedule, []
    for (operation, rank, start, end), _, x, y, width in boxes:
        home = place(timeline, rank) + ("" if schedule.rank_is_stage else f", stage {operation.stage}")
        words = (f"{schedule.label(operation)}: {LOOKS[operation.kind].name} of micro-batch "
                 f"{operation.micro_batch} on {home}, starts at {at(start, unit)}, ends at {at(end, unit)}")
        found.append(f'<path d="{box(x, y, width, BAR)}"><title>{escape(words)}</title></path>')
    return f'<g fill="none" pointer-events="all">{"".join(found)}</g>'


def faults(timeline, layout, marks) -> str:
    """A heavy outline on each marked operation, and a sign on the first ones."""
    outlines, signs = [], []
    for rank, position in sorted({(mark.rank, mark.position) for mark in marks if mark.position is not None}):
        x, y = layout.x(timeline.starts[rank][position]), layout.y(rank)
        right = max(x + 4, layout.x(timeline.ends[rank][position]))
        outlines.append(box(x, y, right - x, BAR))
        signs.append((right, y))
    d, drawn = "".join(outlines), "".join(sign(*place) for place in signs[:MOST_SIGNS])
    return path(d, fill="none", stroke="#fff", stroke_width=5) + path(d, fill="none", stroke=FAULT, stroke_width=3) + (
        f'<g text-anchor="middle" pointer-events="none">{drawn}</g>' if drawn else "")


def sign(x, y) -> str:
    """The sign of a fault, for a group whose text is anchored in the middle."""
    return (f'<circle cx="{x:.1f}" cy="{y:.1f}" r="7.5" fill="{FAULT}" stroke="#fff"/>'
            + text(x, y + 4.5, "!", fill="#fff", font_size=13, font_weight="bold"))
