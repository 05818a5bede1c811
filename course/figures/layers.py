"""The map of a model: which rank holds which layers, the depth to the right, a row a rank."""

from collections.abc import Mapping, Sequence
from itertools import pairwise

from course.figures.boxes import chunk_bars
from course.figures.figure import Figure
from course.figures.layout import BAR, RIGHT, ROW, WIDTH, left_of
from course.figures.looks import CHUNK, IDLE, LOOKS, OUTLINE
from course.figures.svg import box, document, path, rising, text

TOP, FOOT = 54, 24  # above the rows, and below
WIDEST, LEAST_LABEL = 40, 13  # a layer's box at most; below this no number fits
HATCHES = (None, 9, 6, 4)  # the distance of a chunk's hatch lines; further chunks have their bars alone
LINES = {"stroke": "#000", "stroke_opacity": 0.4, "stroke_width": 0.8}


def layer_map(held: Mapping[tuple[int, int], Sequence[int]], title: str = "") -> Figure:
    """Draw who holds what: `held` has (rank, chunk) -> layers; such a chunk is stage chunk x ranks + rank.

    A box a layer, with its number; chunks differ in tint, hatch and the lines along the upper edge, as in a timeline.
    """
    ranks, chunks = (1 + max((place[of] for place in held), default=0) for of in (0, 1))
    layers = sorted({layer for row in held.values() for layer in row})
    first, count = (layers[0], layers[-1] - layers[0] + 1) if layers else (0, 1)
    left = left_of(f"rank {ranks - 1}")
    each = min(WIDEST, (WIDTH - RIGHT - left) / count)
    body = [text(8, 19, title, font_size=14, font_weight=600)] if title else []
    body += _legend(chunks)
    body += [text(8, TOP - 6, "stage"), *(text(8, _y(rank) + 17, f"rank {rank}") for rank in range(ranks))]
    body.append(path("".join(box(left, _y(rank), count * each, BAR) for rank in range(ranks)), **IDLE))
    for (rank, chunk), row in sorted(held.items()):
        body += _chunk(row, rank, chunk, chunks, lambda layer: left + (layer - first) * each, each)
        if row:
            middle = left + (min(row) + max(row) + 1 - 2 * first) * each / 2
            body.append(text(middle, TOP - 6, str(chunk * ranks + rank), text_anchor="middle"))
    bottom = _y(ranks)
    body.append(text(left, bottom + 14, "from the input"))
    body.append(text(left + count * each, bottom + 14, "to the loss", text_anchor="end"))
    said = _text_form(held, title, ranks)
    return Figure(document(WIDTH, bottom + FOOT, "".join(body), title or "Which rank holds which layers", said), said)


def _y(rank):
    return TOP + rank * ROW


def _chunk(row, rank, chunk, chunks, x, each):
    """The boxes of one chunk: tint, hatch, bars, numbers."""
    y, step = _y(rank), HATCHES[chunk] if chunk < len(HATCHES) else None
    shapes = "".join(box(x(layer), y, each, BAR) for layer in row)
    hatch = "".join(rising(x(layer), y, each, BAR, step) for layer in row) if step else ""
    bars = "".join(chunk_bars(x(layer), y, each, chunk) for layer in row)
    tint = LOOKS["F"].tint(chunk, chunks)
    drawn = [path(shapes, fill=tint, **OUTLINE), path(hatch, **LINES), path(bars, **CHUNK)]
    if each >= LEAST_LABEL:
        numbers = "".join(text(x(layer) + each / 2, y + 18, str(layer)) for layer in row)
        drawn.append(f'<g fill="#000" stroke="{tint}" stroke-width="3" paint-order="stroke" text-anchor="middle" '
                     f'font-size="{11 if each > 20 else 9}">{numbers}</g>')
    return drawn


def _legend(chunks):
    parts, right = [], WIDTH - RIGHT
    for chunk in reversed(range(chunks)):
        name = f"chunk {chunk}"
        right -= 23 + 6.8 * len(name) + 12
        step = HATCHES[chunk] if chunk < len(HATCHES) else None
        parts += [path(box(right, 8, 17, 14), fill=LOOKS["F"].tint(chunk, chunks), **OUTLINE),
                  path(rising(right, 8, 17, 14, step) if step else "", **LINES), path(chunk_bars(right, 8, 17, chunk), **CHUNK),
                  text(right + 23, 19, name)]
    return parts


def _text_form(held, title, ranks):
    lines = [title] if title else []
    for rank in range(ranks):
        chunks = sorted(chunk for home, chunk in held if home == rank)
        said = [f"chunk {chunk} (stage {chunk * ranks + rank}): {_runs(held[rank, chunk])}" for chunk in chunks]
        lines.append(f"rank {rank} | " + " | ".join(said))
    return "\n".join(lines)


def _runs(layers):
    """`layers 4-5, 9`: what follows each other is drawn together."""
    row = sorted(layers)
    if not row:
        return "no layers"
    cuts = [0, *(index for index, (one, two) in enumerate(pairwise(row), 1) if two != one + 1), len(row)]
    runs = [(row[begin], row[end - 1]) for begin, end in pairwise(cuts)]
    return "layers " + ", ".join(f"{one}-{two}" if two > one else str(one) for one, two in runs)
