"""Points on two axes, each with its name beside it, and limits that nothing can be below: cheap enough to follow a slider."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from course.figures.apart import Area, around, set_apart
from course.figures.figure import Figure
from course.figures.layout import WIDTH
from course.figures.svg import document, falling, nice_step, path, text
from course.words import number

LEFT, RIGHT, TOP, BOTTOM, HEIGHT = 62, 14, 50, 44, 360  # the margins, with the words in them, and the height of it all
BAND = 26  # what is left free below the least of what is shown, where a limit and its words have room
RADIUS, RING, LETTER, BOLD, LINE = 6, 11, 6.7, 1.1, 16
DOUBLINGS = 8  # the largest value over the least from which on an axis is one of doublings
STAIR = {"fill": "none", "stroke": "currentColor", "stroke_width": 1.4, "stroke_dasharray": "6 3"}
BELOW = {"fill": "none", "stroke": "currentColor", "stroke_opacity": 0.22, "stroke_width": 0.8}
GRID = {"fill": "none", "stroke": "currentColor", "stroke_opacity": 0.13, "stroke_width": 0.8}
LEADER = {"fill": "none", "stroke": "currentColor", "stroke_opacity": 0.6, "stroke_width": 0.9}


@dataclass(frozen=True)
class Point:
    """What is shown of one thing: its name, its place on both axes, its look (a number for each), whether it is the one."""

    name: str
    x: float
    y: float
    look: int = 0
    own: bool = False


@dataclass(frozen=True)
class Floor:
    """What nothing can be below: corners (x, y) of a stair that falls to the right, and what is said of it.

    To the left of the first corner there is nothing, nor below a corner's y up to the x of the next.
    """

    corners: tuple[tuple[float, float], ...]
    words: str


@dataclass(frozen=True)
class Axis:
    """One axis: its name, how its values are cut by ticks, where a value is."""

    name: str
    ticks: tuple[float, ...]
    at: Callable[[float], float]


def _polygon(corners, turn=-90.0, inner=1.0):
    """A shape of so many corners, or of a star's where `inner` is the part of the radius at which its notches are."""
    steps = corners * (2 if inner < 1 else 1)

    def drawn(x, y, radius):
        angles = [math.radians(turn + 360 * step / steps) for step in range(steps)]
        lengths = [radius * (inner if inner < 1 and step % 2 else 1) for step in range(steps)]
        places = [f"{x + length * math.cos(angle):.1f} {y + length * math.sin(angle):.1f}"
                  for angle, length in zip(angles, lengths, strict=True)]
        return f"M{'L'.join(places)}z"
    return drawn


def _circle(x, y, radius):
    return f"M{x - radius:.1f} {y:.1f}a{radius} {radius} 0 1 0 {2 * radius} 0a{radius} {radius} 0 1 0 {-2 * radius} 0z"


LOOKS = ((_circle, "#56B4E9"), (_polygon(4, -45), "#E69F00"), (_polygon(3), "#009E73"), (_polygon(3, 90), "#CC79A7"),
         (_polygon(4), "#F0E442"), (_polygon(5, inner=0.4), "#D55E00"), (_polygon(4, inner=0.3), "#0072B2"),
         (_polygon(6), "#999999"), (_polygon(3, inner=0.35), "#56B4E9"))
OWN = _polygon(5, inner=0.45)


def plot_figure(points: Sequence[Point], x_name: str, y_name: str, title: str = "", floor: Floor | None = None) -> Figure:
    """Points by their values on two axes, smaller is better on both. What is below the floor is hatched.

    Points in one place share their words; the look of each is a shape and a colour, and the one that matters has a ring. The
    axes begin near what is shown, not at 0, and are of doublings where the values differ much. The text form is a table.
    """
    said = _text_form(points, x_name, y_name, title, floor)
    inside, floor = Area(LEFT, TOP, WIDTH - RIGHT, HEIGHT - BOTTOM), _in_sight(floor, points)
    corners = floor.corners if floor else ()
    across = _axis(x_name, [point.x for point in points] + [x for x, _ in corners], inside.left + BAND, inside.right - BAND)
    up = _axis(y_name, [point.y for point in points] + [y for _, y in corners], inside.bottom - BAND, inside.top + BAND)
    body = [text(8, 19, title, font_size=14, font_weight=600)] if title else []
    body.append(_frame(across, up, inside))
    taken = []
    if floor:
        areas = _below(floor, across, up, inside)
        marks = [_square((across.at(point.x), up.at(point.y)), point.own) for point in points]
        words = _floor_words(floor, areas, inside, marks)
        body.append(_floor(floor, areas, inside, words))
        taken = [*_stair(areas), words]
    body.append(_points(points, across, up, inside, taken))
    return Figure(document(WIDTH, HEIGHT, "".join(body), title or f"{y_name} against {x_name}", said), said)


def _in_sight(floor, points):
    """The floor without those corners that are above all points: they would make the rest small."""
    if not floor or not floor.corners:
        return None
    highest = max([floor.corners[-1][1], *(point.y for point in points)])
    return replace(floor, corners=tuple(corner for corner in floor.corners if corner[1] <= highest))


def _axis(name, values, begin, end):
    shown = [float(value) for value in values] or [0.0]
    least, most = min(shown), max(shown)
    if 0 < least * DOUBLINGS <= most:
        ticks = [2.0 ** power for power in range(math.floor(math.log2(least)), math.ceil(math.log2(most)) + 1)]

        def share(value):
            return math.log2(value / least) / math.log2(most / least)
    else:
        if most - least < 1e-9 * max(1.0, most):
            least, most = least - 1, most + 1
        step = nice_step(most - least, 9)
        ticks = [index * step for index in range(math.floor(least / step), math.ceil(most / step) + 1)]

        def share(value):
            return (value - least) / (most - least)
    over = BAND / abs(end - begin)
    return Axis(name, tuple(tick for tick in ticks if -over <= share(tick) <= 1 + over),
                lambda value: begin + (end - begin) * share(float(value)))


def _frame(across, up, inside):
    lines = "".join(f"M{across.at(tick):.1f} {inside.top}V{inside.bottom}" for tick in across.ticks)
    lines += "".join(f"M{inside.left} {up.at(tick):.1f}H{inside.right}" for tick in up.ticks)
    below = "".join(text(across.at(tick), inside.bottom + 15, number(tick)) for tick in across.ticks)
    beside = "".join(text(inside.left - 6, up.at(tick) + 4, number(tick)) for tick in up.ticks)
    edge = f"M{inside.left} {inside.top}V{inside.bottom}H{inside.right}"
    return (path(lines, **GRID) + path(edge, fill="none", stroke="currentColor", stroke_opacity=0.55)
            + f'<g text-anchor="middle">{below}</g><g text-anchor="end">{beside}</g>'
            + text(8, inside.top - 10, up.name) + text(inside.right, inside.bottom + 34, across.name, text_anchor="end"))


def _below(floor, across, up, inside):
    """The areas of which the floor is the upper or the right edge, from left to right."""
    places = [(across.at(x), up.at(y)) for x, y in floor.corners]
    found = [Area(inside.left, inside.top, places[0][0], inside.bottom)]
    for (x, y), (end, _) in zip(places, [*places[1:], (inside.right, 0)], strict=True):
        found.append(Area(x, y, end, inside.bottom))
    return found


def _floor(floor, areas, inside, words):
    hatches = "".join(falling(area.left, area.top, area.right - area.left, area.bottom - area.top, 7) for area in areas)
    stair = f"M{areas[1].left:.1f} {inside.top}" + "".join(f"V{area.top:.1f}H{area.right:.1f}" for area in areas[1:])
    return path(hatches, **BELOW) + path(stair, **STAIR) + text(words.left + 2, words.bottom - 4, floor.words, font_weight=600)


def _floor_words(floor, areas, inside, marks):
    """Where the words stand: below the last part of the stair, at its end or to the left of the marks that are there."""
    top, width = areas[-1].top + 6, 4 + BOLD * LETTER * len(floor.words)
    ends = sorted([inside.right - 4, *(mark.left - 2 for mark in marks)], reverse=True)
    places = [Area(end - width, top, end, top + LINE) for end in ends if end - width >= inside.left]
    return next((place for place in places if not any(place.meets(mark) for mark in marks)), places[0])


def _stair(areas):
    """Where the stair is: no name may stand on it."""
    lines = [Area(area.left, area.top - 2, area.right, area.top + 2) for area in areas[1:]]
    return lines + [Area(after.left - 2, before.top, after.left + 2, after.top) for before, after in pairwise(areas)]


def _square(place, own):
    """What the mark of a point takes."""
    return around(*place, RING + 1 if own else RADIUS + 1)


def _points(points, across, up, inside, taken):
    places = {}
    for point in points:
        places.setdefault((round(across.at(point.x), 1), round(up.at(point.y), 1)), []).append(point)
    own = {place: any(point.own for point in found) for place, found in places.items()}
    order = sorted(places, key=lambda place: (not own[place], place))
    names = {place: ", ".join(point.name for point in sorted(places[place], key=lambda point: not point.own)) for place in order}
    marks = [_square(place, own[place]) for place in order]
    sizes = [(LETTER * len(names[place]) * (BOLD if own[place] else 1) + 4, LINE - 2) for place in order]
    areas = set_apart(order, sizes, inside, [*taken, *marks])
    shapes, words = [], []
    for place, area in zip(order, areas, strict=True):
        shapes += [*_leader(place, area), *map(_mark(place, len(places[place])), places[place])]
        words.append(text(area.left + 2, area.bottom - 3, names[place], **({"font_weight": "bold"} if own[place] else {})))
    return "".join(shapes + words)


def _mark(place, shared):
    """How a point is drawn: its shape; the own one has a ring, and a star where it is alone."""
    def drawn(point):
        shape, colour = LOOKS[point.look % len(LOOKS)]
        if not point.own:
            return path(shape(*place, RADIUS), fill=colour, stroke="currentColor", stroke_width=1)
        ring = path(_circle(*place, RING), fill="none", stroke="currentColor", stroke_width=2.4)
        return ring + path(OWN(*place, RADIUS + 1), fill="currentColor") * (shared == 1)
    return drawn


def _leader(place, area):
    """A line from a point to its name where they are not side by side."""
    x, y = place
    near = min(max(x, area.left), area.right), min(max(y, area.top), area.bottom)
    far = math.dist(place, near) > RING + 6
    return [path(f"M{x:.1f} {y:.1f}L{near[0]:.1f} {near[1]:.1f}", **LEADER)] if far else []


def _text_form(points, x_name, y_name, title, floor):
    rows = [["", y_name, x_name]] + [[f"{point.name}{' *' * point.own}", number(point.y), number(point.x)] for point in points]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [title] if title else []
    lines += ["  ".join([name.ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(cells, widths[1:], strict=True))])
              for name, *cells in rows]
    if floor and floor.corners:
        lines.append(f"{floor.words}: {'; '.join(f'{number(y)} at {number(x)}' for x, y in floor.corners)}")
    return "\n".join(lines)
