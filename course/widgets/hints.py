"""Hints behind buttons: nothing is shown until it is asked for."""

from collections.abc import Callable
from html import escape

import ipywidgets

# ipywidgets' own ring is a line of one pixel in pale blue
_RING = ("<style>.lw-hints .jupyter-button:focus-visible"
         "{outline:3px solid var(--jp-brand-color1,#1976d2);outline-offset:-3px}</style>")


class HintBox(ipywidgets.VBox):
    """The buttons; where no front end shows them, a line that says what to do."""

    def __repr__(self):
        return "Three hints: press a button in JupyterLab, or ask for one by its number."


def hint_buttons(title: str, hints: tuple[str, ...], take: Callable[[int], None]):
    """A row of buttons, one a hint, each usable once the one before has been read; `take(number)` is told of each."""
    said = ipywidgets.HTML(_RING)
    buttons = [ipywidgets.Button(description=f"Hint {number}", tooltip=f"{title}: hint {number} of {len(hints)}",
                                 disabled=number > 1) for number in range(1, len(hints) + 1)]

    def shower(number):
        def show(_):
            take(number)
            read = "".join(f"<p><b>Hint {index}.</b> {escape(text)}</p>" for index, text in enumerate(hints[:number], 1))
            said.value = f"{_RING}<div role='status'>{read}</div>"
            if number < len(hints):
                buttons[number].disabled = False
        return show

    for number, button in enumerate(buttons, 1):
        button.on_click(shower(number))
    return HintBox([ipywidgets.HBox(buttons).add_class("lw-hints"), said])
