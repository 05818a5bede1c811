"""Who sends to whom, and how much: a row for each sender, a column for each receiver, a frame around each node."""

from collections.abc import Mapping, Sequence

from course.figures.figure import Figure
from course.figures.layout import BAR, RIGHT, ROW, WIDTH, left_of
from course.figures.looks import HATCH, IDLE, OUTLINE
from course.figures.step_parts import AXIS_LETTERS, AXIS_LOOKS
from course.figures.svg import box, document, path, text

TOP, LETTER, SAMPLE, GAP = 86, 6.8, 23, 12
NODE = {"fill": "none", "stroke": "currentColor", "stroke_width": 1.8}
DIGIT = 0.62  # the width of a digit over its size

Sent = Mapping[tuple[int, int], tuple[str, float]]


def traffic_figure(sent: Sent, nodes: Sequence[Sequence[int]], names: Mapping[int, str], title: str = "") -> Figure:
    """`sent` is (from, to) -> axis ("tp", "pp" or "dp") and bytes, `nodes` the ranks of each node, `names` what each row says.

    Inside a frame both ends are in one node. The text form has a letter for the axis, T, P or D, before each number of bytes.
    """
    order = [rank for ranks in nodes for rank in ranks]
    place = {rank: number for number, rank in enumerate(order)}
    left = left_of(max(names.values(), key=len, default=""))
    cell = (WIDTH - RIGHT - left) / max(1, len(order))
    axes = [axis for axis in AXIS_LOOKS if any(axis == one for one, _ in sent.values())]
    body = [text(8, 19, title, font_size=14, font_weight=600)] if title else []
    body.append(_legend(axes))
    body += [text(left + (number + 0.5) * cell, TOP - 6, f"to {rank}", text_anchor="middle") for rank, number in place.items()]
    body += [text(8, TOP + number * ROW + 17, names[rank]) for rank, number in place.items()]
    body.append(path("".join(box(left + column * cell, TOP + row * ROW, cell - 3, BAR) for row in range(len(order))
                             for column in range(len(order))), **IDLE))
    size = min([12, *((cell - 7) / (DIGIT * len(_number(size))) for _, size in sent.values())])
    for axis in axes:
        places = [(left + place[to] * cell, TOP + place[one] * ROW, amount) for (one, to), (name, amount) in sent.items()
                  if name == axis]
        body.append(_cells(places, cell - 3, AXIS_LOOKS[axis], size))
    begin = 0
    for node, ranks in enumerate(nodes):
        edge, wide = left + begin * cell - 3, len(ranks) * cell + 3
        body += [path(box(edge, TOP + begin * ROW - 3, wide, len(ranks) * ROW + 1), **NODE),
                 text(edge + wide / 2, TOP - 24, f"node {node}", text_anchor="middle", font_weight="bold")]
        begin += len(ranks)
    said = _text_form(sent, nodes, names, axes, title)
    return Figure(document(WIDTH, TOP + len(order) * ROW + 8, "".join(body), title or "Who sends to whom", said), said)


def _cells(places, width, look, size):
    shape = "".join(box(x, y, width, BAR) for x, y, _ in places)
    lines = "".join(look.hatch(x, y, width, BAR, look.step) for x, y, _ in places)
    words = "".join(text(x + width / 2, y + 17, _number(amount)) for x, y, amount in places)
    return (path(shape, fill=look.colour, **OUTLINE) + path(lines, **HATCH)
            + f'<g fill="#000" stroke="{look.colour}" stroke-width="3" paint-order="stroke" text-anchor="middle" '
              f'font-size="{size:.1f}">{words}</g>')


def _legend(axes):
    left, drawn = 8.0, []
    for axis in axes:
        look = AXIS_LOOKS[axis]
        drawn += [path(box(left, 28, 17, 14), fill=look.colour, **OUTLINE),
                  path(look.hatch(left, 28, 17, 14, look.step), **HATCH), text(left + SAMPLE, 39, look.name)]
        left += SAMPLE + LETTER * len(look.name) + GAP
    drawn += [path(box(left, 28, 17, 14), **NODE), text(left + SAMPLE, 39, "inside a node")]
    return "".join(drawn)


def _text_form(sent, nodes, names, axes, title):
    cells = {pair: f"{AXIS_LETTERS[axis]} {_number(size)}" for pair, (axis, size) in sent.items()}
    wide = max(map(len, [*cells.values(), "to 00"]))
    left = max(map(len, names.values()), default=0)

    def line(head, at):
        return f"{head.ljust(left)} | " + " | ".join(" ".join(at(rank).rjust(wide) for rank in ranks) for ranks in nodes)

    rows = [line(names[one], lambda rank, one=one: cells.get((one, rank), ".")) for ranks in nodes for one in ranks]
    key = ", ".join(f"{AXIS_LETTERS[axis]} {AXIS_LOOKS[axis].name}" for axis in axes)
    head = [f"Bytes that a row sends to a column{': ' * bool(key)}{key}; a bar between nodes"]
    return "\n".join([title] * bool(title) + head + [line("", lambda rank: f"to {rank}"), *rows])


def _number(size):
    return f"{round(size):,}"
