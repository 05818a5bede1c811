"""How each kind of operation looks: colour and hatch together, so that neither is needed alone."""

from dataclasses import dataclass

from course.figures.svg import falling, rising


@dataclass(frozen=True)
class Look:
    """The look of one kind: its name in words, its colour, its hatch and the distance between its lines."""

    name: str
    colour: str
    hatch: object = None
    step: float = 7

    def tint(self, chunk, chunks) -> str:
        """The colour of a chunk: the first one full, later ones lighter."""
        white = 0.6 * chunk / max(1, chunks - 1)
        channels = (int(self.colour[at:at + 2], 16) for at in (1, 3, 5))
        return "#" + "".join(f"{round(channel + (255 - channel) * white):02x}" for channel in channels)


LOOKS = {
    "F": Look("forward", "#56B4E9"),
    "B": Look("backward", "#E69F00", rising, 7),
    "I": Look("input gradient", "#F2C14E", rising, 12),
    "W": Look("weight gradient", "#009E73", falling, 9),
}
IDLE = {"fill_opacity": 0.05, "stroke": "currentColor", "stroke_opacity": 0.28, "stroke_width": 0.8}
OUTLINE = {"stroke": "#000", "stroke_opacity": 0.6, "stroke_width": 0.8}
HATCH = {"stroke": "#000", "stroke_opacity": 0.26, "stroke_width": 0.9}
CHUNK = {"stroke": "#000", "stroke_width": 1}
FAULT = "#D4002A"
