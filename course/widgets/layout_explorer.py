"""The Explorer of layouts: a card, the sizes of a layout, a rank to look at; what it shows is made in `layout_exploration`."""

from functools import partial

from course.widgets.layout_exploration import explored_layout, still_layout
from course.widgets.layout_setting import Cards, LayoutSetting, read_cards, read_layout_setting, sliders
from course.widgets.live import Live
from course.widgets.still import Still

_WORDS = {"group": "Explorer of layouts", "key": "card", "choice": "card", "grid": "pictures and tables as text"}
_BOXES = [["dealt", "ranks dealt out to the nodes in turn"], ["grid", "as text"]]


class LayoutExplorer(Live):
    """The widget: `setting` as it begins, `cards` what there is to choose from."""

    def __init__(self, setting: LayoutSetting, cards: Cards):
        super().__init__(vars(setting), partial(layout_answer, cards=cards), still_layout(setting, cards), words=_WORDS,
                         boxes=_BOXES, sliders=sliders(cards, setting), choices=[[name, f"card {name}"] for name in cards])


def layout_answer(wanted: dict, cards: Cards) -> dict:
    """What the page shows for a setting that came from it: HTML of pictures and tables, remarks, a summary to be read out."""
    turn = wanted.get("turn")
    try:
        setting = read_layout_setting(cards, **{name: value for name, value in wanted.items() if name != "turn"})
    except (ValueError, TypeError) as error:
        return {"turn": turn, "picture": "", "grid": "", "numbers": "", "remarks": [str(error)], "summary": str(error)}
    found = explored_layout(setting, cards)
    text = "\n\n".join([found.figure.text, "\n".join(found.lines)])
    remarks = [[words, take.data, take.words] if take else words for words, take in found.remarks]
    return {"turn": turn, "picture": found.figure.svg, "grid": text if setting.grid else "", "numbers": found.numbers,
            "remarks": remarks, "summary": found.summary}


def layout_explorer(card, tp, pp, dp, micro_batch_size, chunks, cards) -> LayoutExplorer:
    """An Explorer of layouts that starts with this one; see read_cards. ValueError names a value that is none.

    When its cell runs again, the one that it showed before is closed.
    """
    offered = read_cards(cards)
    return LayoutExplorer(read_layout_setting(offered, card, tp, pp, dp, micro_batch_size, chunks), offered)


def layout_without_sliders(card, tp, pp, dp, micro_batch_size, chunks, cards) -> Still:
    """The same without a widget. ValueError names a value that is none."""
    offered = read_cards(cards)
    return still_layout(read_layout_setting(offered, card, tp, pp, dp, micro_batch_size, chunks), offered)
