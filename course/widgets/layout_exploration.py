"""What the Explorer of layouts shows of one setting: the cluster, the fullest memory, the traffic, the step, the ranking."""

import json
from dataclasses import dataclass

from course.figures.cluster import PICKED, Gpu, cluster_figure
from course.figures.figure import Figure, stack
from course.figures.step_parts import MEMORY, TRAFFIC, parts_figure
from course.layout.cards import MAX_CHUNKS, WITHIN
from course.layout.cluster import ACROSS, INSIDE
from course.layout.evaluation import evaluate
from course.layout.placement import AXES
from course.widgets.layout_ranking import as_lines, axes, place_of, ranked, ranking
from course.widgets.layout_setting import Cards, LayoutSetting, changes, layout_of
from course.widgets.still import Still, Take, html_table, still_form
from course.words import counted, gb, listed

MOST_LISTED = 8  # ranks of a group in words


@dataclass(frozen=True)
class LayoutExploration:
    """One setting worked out: the picture, tables as HTML and as lines, remarks (with what to take instead), a summary."""

    figure: Figure
    numbers: str
    lines: tuple[str, ...]
    remarks: tuple[tuple[str, Take | None], ...]
    summary: str


def explored_layout(setting: LayoutSetting, cards: Cards, live: bool = True) -> LayoutExploration:
    """Evaluate, rank and draw a setting."""
    card = cards[setting.card]
    layout = layout_of(setting, card.cluster)
    found = evaluate(layout, card.model, card.cluster)
    best = ranking(card.model, card.cluster, max(MAX_CHUNKS, setting.chunks))
    remarks = [(f"{problem.text}.", _instead(problem.nearest)) for problem in found.problems]
    if setting.dealt and card.cluster.nodes == 1:
        remarks.append(("One node: there is nobody to deal the ranks out to.", None))
    figures = [_cluster(found, card, setting)] + (_bars(found, card, best) if found.parts else [])
    heads, rows, current = ranked(found, best)
    tables = ([axes(found)] if found.parts else []) + [(heads, rows, current)]
    numbers = f"<div class='lex-tables'>{''.join(html_table(*each, live=live) for each in tables)}</div>"
    lines = [line for heads, rows, current in tables for line in as_lines(heads, rows, current)]
    return LayoutExploration(stack(*figures), numbers, tuple(lines), tuple(remarks), _summary(found, card, best))


def _instead(layout):
    return Take(f"take the nearest that obeys this: {layout}", changes(layout)) if layout else None


def _cluster(found, card, setting):
    """Each rank in its place, the picked one with all that it talks to."""
    layout, cluster = found.layout, card.cluster
    home, marks = layout.node_of(cluster.gpus_per_node), {}
    if setting.rank < layout.gpus:
        marks = {rank: axis for axis in AXES for rank in _partners(layout, axis, setting.rank)} | {setting.rank: PICKED}
    seats = [[rank for rank in home if home[rank] == node][:cluster.gpus_per_node] for node in range(cluster.nodes)]
    nodes = [[*(_gpu(rank, layout, marks.get(rank, "")) for rank in ranks), *[None] * (cluster.gpus_per_node - len(ranks))]
             for ranks in seats]
    links = f"{cluster.intra_gb_per_s:g} GB/s inside a node" + (
        f", {cluster.inter_gb_per_s:g} GB/s across" if cluster.inter_gb_per_s else "")
    title = f"Card {card.name}, {layout}: {links}"
    lines, left = _about(found, setting, home), layout.gpus - sum(map(len, seats))
    lines += [f"{counted(left, 'rank')} of {layout.gpus} without a GPU."] * bool(left)
    return cluster_figure(nodes, title, stages=layout.pp, lines=lines, label=f"Cluster: {title}")


def _gpu(rank, layout, mark):
    place = layout.coordinates(rank)
    return Gpu(rank, place["pp"], f"TP {place['tp']}, DP {place['dp']}", rank // layout.tp, mark, json.dumps({"rank": rank}))


def _partners(layout, axis, rank):
    """The others of its group."""
    group = next(group for group in layout.groups(axis) if rank in group)
    return [other for other in group if other != rank]


def _about(found, setting, home):
    """The picked rank in words: where it is, and with whom it talks; of a layout that can run, over which links."""
    layout, rank = found.layout, setting.rank
    if rank >= layout.gpus:
        return [f"Rank {rank} is none of this layout: its ranks are 0 to {layout.gpus - 1}."]
    place, talks = layout.coordinates(rank), []
    for axis in AXES:
        others = _partners(layout, axis, rank)
        link = ACROSS if {home[other] for other in others} - {home[rank]} else INSIDE
        talks.append(f"{axis.upper()} {_few(others)}" + f" ({link})" * bool(others and found.parts))
    return [f"Rank {rank}: {f'node {home[rank]}, ' * bool(found.parts)}stage {place['pp']} of {layout.pp}, TP neighbour "
            f"{place['tp']} of {layout.tp}, replica {place['dp']} of {layout.dp}.",
            f"It talks to, by group: {'; '.join(talks)}."]


def _few(ranks):
    """The ranks in words, their number where they are many."""
    if not ranks:
        return "nobody"
    return f"rank{'s' * (len(ranks) > 1)} {listed(ranks)}" if len(ranks) <= MOST_LISTED else f"{len(ranks)} others"


def _bars(found, card, best):
    """Memory against its limit, traffic by link, the step by its parts."""
    held = {"state": found.state_bytes / 1e9, "activations": found.activation_bytes / 1e9}
    usable = card.cluster.usable_bytes / 1e9
    links = [(link, {axis: sent / 1e9 for axis, sent in found.sent.items() if found.links[axis] == link})
             for link in (INSIDE, ACROSS) if link == INSIDE or card.cluster.nodes > 1]
    steps = [("this layout", found.parts)] + ([("the fastest", best[0].parts)] if best else [])
    limit = f"limit, {usable:g} of {card.cluster.memory_gb:g} GB"
    return [parts_figure([("fullest GPU", held)], "Memory", usable, limit, MEMORY),
            parts_figure(links, "What the busiest GPU sends in a step, by the slowest link of each axis", parts=TRAFFIC),
            parts_figure(steps, f"The time of a step: {_verdict(found, best)}")]


def _verdict(found, best):
    """The place of a layout and its distance from the fastest."""
    if found.problems:
        return "in no place, it does not fit"
    place, known = place_of(found, best), any(one.layout == found.layout for one in best)
    times = found.step_seconds / best[0].step_seconds
    return (f"place {place} of {len(best) + (not known)}, {times:.3f} times the fastest"
            f"{', within 10%' * (1 < times <= WITHIN)}")


def _summary(found, card, best):
    """The setting in a sentence, to be read out."""
    said = f"Card {card.name}, {found.layout}: "
    if found.problems:
        return said + "; ".join(problem.text for problem in found.problems)
    return (f"{said}{_verdict(found, best)}; step {found.step_seconds:.3f} s; memory {gb(found.memory_bytes)} of "
            f"{gb(card.cluster.usable_bytes)}")


def still_layout(setting: LayoutSetting, cards: Cards) -> Still:
    """What stands where there is no kernel."""
    found = explored_layout(setting, cards, live=False)
    return still_form(found.figure, found.numbers, list(found.lines), tuple(words for words, _ in found.remarks))
