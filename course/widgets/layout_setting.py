"""Where the controls of the Explorer of layouts stand, and what there is to choose from."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from course.layout.cards import Card
from course.layout.cluster import Cluster
from course.layout.nearest import divisors
from course.layout.placement import AXES, Layout
from course.widgets.values import along, whole

MOST_GPUS, MOST_SIZE, MOST_CHUNKS = 64, 4096, 4
SLIDERS = {"tp": "TP t", "pp": "PP p", "dp": "DP d", "micro_batch_size": "micro-batch size b", "chunks": "chunks a stage v"}

Cards = Mapping[str, Card]


@dataclass(frozen=True)
class LayoutSetting:
    """Where the controls stand: a card, a layout, the rank that is looked at; ranks in order or dealt out to the nodes."""

    card: str
    tp: int
    pp: int
    dp: int
    micro_batch_size: int
    chunks: int
    rank: int = 0
    dealt: bool = False
    grid: bool = False


def read_cards(cards) -> dict[str, Card]:
    """Cards by their names, from a mapping, a list of Cards, or one. ValueError for what is none, or too large to draw."""
    listed = list(cards.values()) if isinstance(cards, Mapping) else [cards] if isinstance(cards, Card) else cards
    if not isinstance(listed, list | tuple) or not listed or not all(isinstance(card, Card) for card in listed):
        raise ValueError(f"cards = {cards!r}: a list of one or more Cards is needed")
    for card in listed:
        if card.cluster.gpus > MOST_GPUS:
            raise ValueError(f"card {card.name!r} has {card.cluster.gpus} GPUs: at most {MOST_GPUS} can be drawn; search() ranks "
                             "the layouts of larger clusters")
    if len({str(card.name) for card in listed}) < len(listed):
        raise ValueError(f"cards: {', '.join(repr(card.name) for card in listed)}: each needs a name of its own")
    return {str(card.name): card for card in listed}


def read_layout_setting(cards: Cards, card, tp, pp, dp, micro_batch_size, chunks, rank=0, dealt=False,
                        grid=False) -> LayoutSetting:
    """A setting of sound values, whether or not its layout is legal. ValueError names the value that is none."""
    if not isinstance(card, str) or card not in cards:
        raise ValueError(f"card = {card!r} is not known here: take one of {', '.join(map(repr, cards))}")
    sizes = {"tp": tp, "pp": pp, "dp": dp, "micro_batch_size": micro_batch_size, "chunks": chunks}
    sizes = {name: whole(name, value, 1, MOST_SIZE if name == "micro_batch_size" else MOST_GPUS) for name, value in sizes.items()}
    return LayoutSetting(card, **sizes, rank=whole("rank", rank, 0, MOST_GPUS - 1), dealt=bool(dealt), grid=bool(grid))


def sliders(cards: Cards, start: LayoutSetting) -> list[list]:
    """A slider for each size, along the values that divide something on one of the cards, and the one that it starts with."""
    gpus = {card.cluster.gpus for card in cards.values()}
    offered = {name: {size for count in gpus for size in divisors(count)} for name in AXES}
    offered["micro_batch_size"] = {size for card in cards.values() for size in divisors(card.model.global_batch)}
    offered["chunks"] = set(range(1, MOST_CHUNKS + 1))
    values = {name: sorted(offered[name] | {getattr(start, name)}) for name in SLIDERS}
    return [*(along(name, words, values[name]) for name, words in SLIDERS.items()),
            along("rank", "look at rank", range(max(gpus)))]


def layout_of(setting: LayoutSetting, cluster: Cluster) -> Layout:
    """The layout that the controls say: ranks in order, or dealt out to the nodes in turn."""
    layout = Layout(setting.tp, setting.pp, setting.dp, setting.micro_batch_size, setting.chunks)
    if not setting.dealt or cluster.nodes == 1:
        return layout
    return replace(layout, nodes=tuple(tuple(range(node, layout.gpus, cluster.nodes)) for node in range(cluster.nodes)))


def changes(layout: Layout) -> dict:
    """What must change in a setting, whatever it is, for this layout."""
    return {name: getattr(layout, name) for name in SLIDERS} | {"dealt": layout.nodes is not None}
