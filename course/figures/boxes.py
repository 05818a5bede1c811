"""The plot itself: idle cells, boxes with their labels and tooltips, faults."""

from html import escape
from statistics import quantiles

from course.figures.layout import BAR, LEAST_CELL
from course.figures.looks import FAULT, LOOKS
from course.figures.svg import box, path, text
from course.figures.words import at, place

FEW_BOXES = 600  # up to here each box has a tooltip, which costs an element
DIGIT = 7  # the width of a digit in a label


def idle_cells(timeline, layout, slot) -> str:
    """What lies under the boxes: a band a row, cut into cells where time comes in slots wide enough to see."""
    end, shape = layout.x(timeline.makespan), []
    cuts = int(timeline.makespan / slot) if slot and slot * layout.per_unit >= LEAST_CELL else 0
    for row in range(layout.rows):
        shape.append(box(layout.left, layout.y(row), end - layout.left, BAR))
        shape += [f"M{layout.x(slot * cut):.1f} {layout.y(row)}v{BAR}" for cut in range(1, cuts)]
    return path("".join(shape), fill_opacity=0.05, stroke="currentColor", stroke_opacity=0.25, stroke_width=0.8)


def boxes(timeline, layout) -> str:
    """One path for each kind and chunk, and one for its hatch: few elements however many boxes."""
    schedule, shapes, hatches, bars = timeline.schedule, {}, {}, []
    chunk_of = chunks_of(schedule)
    for operation, rank, start, end in timeline.spans:
        x, y, kind = layout.x(start), layout.y(rank), operation.kind
        width = max(0.6, float(end - start) * layout.per_unit)
        chunk = chunk_of.get(operation.stage, 0)
        shapes.setdefault((kind, chunk), []).append(box(x, y, width, BAR))
        look = LOOKS[kind]
        if look.hatch:
            hatches.setdefault(kind, []).append(look.hatch(x, y, width, BAR, look.step))
        if chunk:
            bars.append(chunk_bars(x, y, width, chunk))
    outline = 0.8 if layout.per_unit >= LEAST_CELL else 0.4
    drawn = [path("".join(d), fill=LOOKS[kind].tint(chunk, schedule.chunks), stroke="#000", stroke_opacity=0.6,
                  stroke_width=outline) for (kind, chunk), d in sorted(shapes.items())]
    drawn += [path("".join(d), stroke="#000", stroke_opacity=0.26, stroke_width=0.9) for _, d in sorted(hatches.items())]
    return "".join(drawn) + path("".join(bars), stroke="#000", stroke_width=1)


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


def labels(timeline, layout) -> str:
    """Tokens where they fit, else micro-batches, else nothing; one form for the whole figure, so that it reads evenly."""
    spans, schedule = timeline.spans, timeline.schedule
    if not spans:
        return ""
    widths = [float(span.end - span.start) * layout.per_unit for span in spans]
    narrow = quantiles(widths, n=10)[0] if len(widths) > 1 else widths[0]
    forms = [schedule.label(span.operation) for span in spans]
    if max(map(len, forms)) * DIGIT + 4 > narrow:
        forms = [str(span.operation.micro_batch) for span in spans]
    chunk_of, groups = chunks_of(schedule), {}
    for span, width, form in zip(spans, widths, forms, strict=True):
        if len(form) * DIGIT <= width:
            look, chunk = LOOKS[span.operation.kind], chunk_of.get(span.operation.stage, 0)
            halo = look.tint(chunk, schedule.chunks) if look.hatch else "none"
            down = 18 if chunk else 17
            groups.setdefault(halo, []).append(text(layout.x(span.start) + width / 2, layout.y(span.rank) + down, form))
    return "".join(f'<g fill="#000" stroke="{halo}" stroke-width="3" paint-order="stroke" text-anchor="middle" '
                   f'pointer-events="none">{"".join(group)}</g>' for halo, group in sorted(groups.items()))


def tooltips(timeline, layout, unit) -> str:
    """An unseen box over each operation that says what it is, where there are few."""
    if len(timeline.spans) >= FEW_BOXES:
        return ""
    found = []
    for operation, rank, start, end in timeline.spans:
        home = place(timeline, rank) if timeline.schedule.rank_is_stage else f"{place(timeline, rank)}, stage {operation.stage}"
        words = (f"{timeline.schedule.label(operation)}: {LOOKS[operation.kind].name} of micro-batch {operation.micro_batch} "
                 f"on {home}, starts at {at(start, unit)}, ends at {at(end, unit)}")
        shape = box(layout.x(start), layout.y(rank), max(0.6, float(end - start) * layout.per_unit), BAR)
        found.append(f'<path d="{shape}"><title>{escape(words)}</title></path>')
    return f'<g fill="none" pointer-events="all">{"".join(found)}</g>'


def faults(timeline, layout, marks) -> str:
    """A heavy outline and a sign on each marked operation."""
    outlines, signs = [], []
    for rank, position in sorted({(mark.rank, mark.position) for mark in marks if mark.position is not None}):
        x, y = layout.x(timeline.starts[rank][position]), layout.y(rank)
        width = max(4, layout.x(timeline.ends[rank][position]) - x)
        outlines.append(box(x, y, width, BAR))
        signs.append(f'<circle cx="{x + width:.1f}" cy="{y:.1f}" r="7.5" fill="{FAULT}" stroke="#fff" stroke-width="1.2"/>'
                     + text(x + width, y + 4.5, "!", fill="#fff", font_size=13, font_weight="bold", text_anchor="middle"))
    d = "".join(outlines)
    return (path(d, fill="none", stroke="#fff", stroke_width=5) + path(d, fill="none", stroke=FAULT, stroke_width=3)
            + f'<g pointer-events="none">{"".join(signs)}</g>') if d else ""
