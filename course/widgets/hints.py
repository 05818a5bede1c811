"""Hints behind buttons: nothing is shown until it is asked for."""

from collections.abc import Callable, Sequence
from pathlib import Path

import anywidget
import traitlets

_HERE = Path(__file__).parent


class HintButtons(anywidget.AnyWidget):
    """The buttons, each usable once the hint before has been read: `wanted` is the last one asked for, `read` what is shown."""

    _esm = "\n".join((_HERE / name).read_text("utf-8") for name in ("elements.js", "answers.js", "hints.js"))
    _css = "\n".join((_HERE / name).read_text("utf-8") for name in ("base.css", "hints.css"))
    title = traitlets.Unicode().tag(sync=True)
    labels = traitlets.List().tag(sync=True)
    wanted = traitlets.Int().tag(sync=True, echo_update=False)
    read = traitlets.List().tag(sync=True)

    def __init__(self, title: str, hints: Sequence[str], take: Callable[[int], None]):
        """`hints` as HTML; `take(number)` is told of each."""
        super().__init__(title=title, labels=[f"{title}: hint {number} of {len(hints)}" for number in range(1, len(hints) + 1)])
        self._hints, self._take = list(hints), take
        self.observe(self._give, "wanted")

    def _give(self, change):
        number = change["new"]
        if 0 < number <= min(len(self.read) + 1, len(self._hints)):
            self._take(number)
            self.read = self._hints[:max(number, len(self.read))]

    def __repr__(self):
        return "Three hints: press a button in JupyterLab, or ask for one by its number."
