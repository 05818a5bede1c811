"""A cluster: its nodes as boxes, the GPUs in them, each with its rank and the stage that it holds."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from course.figures.figure import Figure
from course.figures.layout import RIGHT, WIDTH
from course.figures.looks import IDLE, OUTLINE
from course.figures.step_parts import AXIS_LOOKS
from course.figures.svg import box, document, path, text

GPU, HIGH, GAP, EDGE, HEAD, LINE = 82, 64, 10, 10, 24, 17  # a GPU's box, between boxes, in a node, its name, a line of words
ROW = 8  # GPUs side by side at most
NEAR, FAR = (0x56, 0xB4, 0xE9), (0xFF, 0xF3, 0xC4)  # the first stage, the last
PICKED = "picked"
NODE = {"fill": "none", "stroke": "currentColor", "stroke_opacity": 0.55}
TRAY = {"fill": "none", "stroke": "currentColor", "stroke_width": 1.6}


@dataclass(frozen=True)
class Gpu:
    """One rank in its place: `tray` is what GPUs that stand side by side in one box share, its TP group.

    `mark` is PICKED, or the axis ("tp", "pp", "dp") along which it belongs to the picked one; `data` goes into the picture's
    element, for a page that listens to clicks.
    """

    rank: int
    stage: int
    words: str
    tray: int
    mark: str = ""
    data: str = ""


def cluster_figure(nodes: Sequence[Sequence[Gpu | None]], title: str = "", names: Sequence[str] = (), stages: int = 1,
                   lines: Sequence[str] = (), label: str = "") -> Figure:
    """Draw the nodes, None being a GPU without a rank; `lines` of words stand below. Stages differ in tint and in words.

    GPUs of one tray have a common frame; marked ones a badge: the axis in words, with its look.
    """
    wide = min(ROW, max(map(len, nodes)))
    width = 2 * EDGE + wide * (GPU + GAP) - GAP
    abreast = max(1, int((WIDTH - 8 - RIGHT + GAP) // (width + GAP)))
    top, drawn = (30 if title else 8), [text(8, 19, title, font_size=14, font_weight=600)] if title else []
    for place, node in enumerate(nodes):
        high = HEAD + EDGE + -(-len(node) // ROW) * (HIGH + GAP) - GAP
        if place and place % abreast == 0:
            top += high + GAP
        drawn += _node(node, names[place] if names else f"node {place}", 8 + place % abreast * (width + GAP), top, width, high,
                       stages)
    top += high + 6
    drawn += [text(8, top + LINE * (place + 1) - 4, line) for place, line in enumerate(lines)]
    said = _text_form(nodes, names, title, lines)
    return Figure(document(WIDTH, top + LINE * len(lines) + 6, "".join(drawn), label or title or "Cluster", said), said)


def _node(node, name, x, y, width, high, stages):
    parts = [path(box(x, y, width, high), **NODE), text(x + EDGE, y + 16, name)]
    spots = [(x + EDGE + place % ROW * (GPU + GAP), y + HEAD + place // ROW * (HIGH + GAP)) for place in range(len(node))]
    for gpu, spot in zip(node, spots, strict=True):
        parts.append(_gpu(gpu, *spot, stages) if gpu else _spare(*spot))
    return [*parts, path("".join(_trays(node, spots)), **TRAY)]


def _trays(node, spots):
    """Frames around neighbours in one row that share a tray."""
    begin = 0
    for place in range(1, len(node) + 1):
        if place == len(node) or place % ROW == 0 or _tray(node[place]) != _tray(node[begin]):
            if place - begin > 1 and node[begin]:
                x, y = spots[begin]
                yield box(x - 3, y - 3, (place - begin) * (GPU + GAP) - GAP + 6, HIGH + 6)
            begin = place


def _tray(gpu):
    return gpu.tray if gpu else None


def _gpu(gpu, x, y, stages):
    fill = _tint(gpu.stage, stages)
    data = f' data-take="{escape(gpu.data)}"' if gpu.data else ""
    parts = [path(box(x, y, GPU, HIGH), fill=fill, **OUTLINE)]
    parts += [text(x + 6, y + 15, f"rank {gpu.rank}", font_weight=600), text(x + 6, y + 30, f"stage {gpu.stage}"),
              text(x + 6, y + 44, gpu.words, font_size=11)]
    if gpu.mark:
        parts.append(_badge(gpu.mark, x, y))
    return f'<g fill="#000"{data}>{"".join(parts)}</g>'


def _badge(mark, x, y):
    """A heavy rim, and what it means in words, on the look of the axis."""
    rim = path(box(x + 1.5, y + 1.5, GPU - 3, HIGH - 3), fill="none", stroke="#000", stroke_width=3)
    if mark == PICKED:
        return rim + path(box(x, y + HIGH - 16, GPU, 16), fill="#000") + text(
            x + GPU / 2, y + HIGH - 4, PICKED, fill="#fff", text_anchor="middle", font_size=11)
    look = AXIS_LOOKS[mark]
    plate = path(box(x, y + HIGH - 16, GPU, 16), fill=look.colour, stroke="#000", stroke_width=1)
    dashes = rim.replace("/>", ' stroke-dasharray="6 3"/>')
    return dashes + plate + text(x + GPU / 2, y + HIGH - 4, f"{look.name} group", text_anchor="middle", font_size=11)


def _spare(x, y):
    return path(box(x, y, GPU, HIGH), **IDLE) + text(x + 6, y + 15, "no rank")


def _tint(stage, stages):
    share = stage / max(1, stages - 1)
    return "#" + "".join(f"{round(near + (far - near) * share):02x}" for near, far in zip(NEAR, FAR, strict=True))


def _text_form(nodes, names, title, lines):
    said = [title] if title else []
    for place, node in enumerate(nodes):
        name = names[place] if names else f"node {place}"
        said += [name, *(f"  {_in_words(gpu)}" for gpu in node)]
    return "\n".join([*said, *lines])


def _in_words(gpu):
    if gpu is None:
        return "no rank"
    mark = f" ({PICKED if gpu.mark == PICKED else f'{AXIS_LOOKS[gpu.mark].name} group'})" if gpu.mark else ""
    return f"rank {gpu.rank}: stage {gpu.stage}, {gpu.words}{mark}"
