"""Notebook 4: maps of layers, what the output head weighs, and orders to finish."""

import re
from collections.abc import Callable, Mapping, Sequence

from course.answers import UNANSWERED, LocalAnswer
from course.checks.interleaved_order import judge_orders
from course.checks.orders import NoOrder, read_order
from course.checks.outcome import show_value
from course.checks.virtual_stages import layers_in
from course.figures import Figure, layer_map, stack, timeline_figure
from course.formulas import bubble_fraction, head_in_layers, layers_of_chunk
from course.legality import violations
from course.lessons.one_line import need, shown
from course.real_run import NoRun, RealRun
from course.schedule import Schedule
from course.schedules import interleaved_1f1b, one_f_one_b
from course.schedules.entry import need_sizes
from course.simulation import Costs, as_far_as_it_goes, simulate
from course.view import View, outcome_view, paragraphs, table, together

UNFINISHED = ("?", "...")
SEPARATORS = re.compile(r"[\s,;|'\"\[\]()]+")


@shown
def map_of(layers: int, ranks: int, chunks: int) -> Figure:
    """Which rank holds which layers, round-robin."""
    need(layers=layers, ranks=ranks, chunks=chunks)
    held = {(rank, chunk): layers_of_chunk(layers, ranks, chunks, rank, chunk)
            for rank in range(ranks) for chunk in range(chunks)}
    return layer_map(held, title=f"{layers} layers, {ranks} ranks, {chunks} chunk{'s' * (chunks > 1)} each")


@shown
def your_map(function: Callable, layers: int, ranks: int, chunks: int) -> Figure | View:
    """The map that a learner's function of layers makes."""
    need(layers=layers, ranks=ranks, chunks=chunks)
    answer, held = LocalAnswer(function), {}
    for place in ((rank, chunk) for rank in range(ranks) for chunk in range(chunks)):
        reply = answer.call(layers, ranks, chunks, *place)
        held[place] = whole_layers(reply)
        if held[place] is None:
            return paragraphs(f"No map: rank {place[0]}, chunk {place[1]} gave {show_value(reply)}.")
    return layer_map(held, title=f"Your layers_of: {layers} layers, {ranks} ranks, {chunks} chunks each")


@shown
def practise_layers(held: Mapping, layers: int, ranks: int, chunks: int) -> View:
    """Look at a table (rank, chunk) -> layers that has gaps: what is right, what is not, and the map of it. No points."""
    need(layers=layers, ranks=ranks, chunks=chunks)
    if not isinstance(held, Mapping):
        raise ValueError(f"a dict is wanted, with (rank, chunk): layers, found {show_value(held)}")
    places, said, drawn = [(rank, chunk) for chunk in range(chunks) for rank in range(ranks)], [], {}
    said += [f"There is no {show_value(key)} here: a key is (rank, chunk), both counted from 0."
             for key in held if key not in places]
    for rank, chunk in places:
        reply, right = LocalAnswer(held.get((rank, chunk), ...)).value(), [*layers_of_chunk(layers, ranks, chunks, rank, chunk)]
        place, found = f"rank {rank}, chunk {chunk}", whole_layers(reply)
        if reply == UNANSWERED:
            said.append(f"{place}: still to fill in.")
        elif found is None:
            said.append(f"{place}: a list of layers is wanted, such as [0, 1]; found {show_value(reply)}.")
        else:
            drawn[rank, chunk] = found
            if found != right:
                said.append(f"{place}: not {show_value(reply)}. It is stage {chunk * ranks + rank}, with {len(right)} layers, "
                            "and goes on where the stage before it ends.")
    return together(layer_map(drawn, title="So far"), paragraphs(*said or ["Right: every layer has its place."]))


def whole_layers(reply) -> list[int] | None:
    """The layers in a reply, read as the check reads them, in their order; None where they are no whole numbers."""
    layers = layers_in(reply)
    return None if layers is None or any(layer != int(layer) for layer in layers) else [int(layer) for layer in layers]


@shown
def practise_orders(text: str, ranks: int, micro_batches: int, chunks: int) -> View:
    """Look at orders as text, one line a rank, `?` where something is to come. No points, no record."""
    need(ranks=ranks, micro_batches=micro_batches, chunks=chunks)
    rows, open_ranks = [], []
    for line in filter(None, map(str.strip, text.splitlines()) if isinstance(text, str) else LocalAnswer(text).value()):
        tokens = [token for token in SEPARATORS.split(line) if token] if isinstance(line, str) else line
        left = [token for token in tokens if token not in UNFINISHED]
        open_ranks += [len(rows)] * (len(left) < len(tokens))
        try:
            rows.append(read_order(left))
        except NoOrder as error:
            return paragraphs(f"Rank {len(rows)}: {error}.")
    if len(rows) != ranks:
        return paragraphs(f"{ranks} lines are wanted, one a rank; there are {len(rows)}.")
    schedule = Schedule(tuple(rows), tuple(stage % ranks for stage in range(ranks * chunks)), micro_batches)
    outcome = judge_orders(schedule, ranks, micro_batches, chunks)
    if open_ranks:
        return together(paragraphs(*(f"Rank {rank}: still to fill in, in place of the `?`." for rank in open_ranks),
                                   *(message.text for message in outcome.messages if message.code != "missing")),
                        timeline_figure(as_far_as_it_goes(schedule), title="Your orders, as far as they go", summary=False))
    view = outcome_view("Practice", outcome)
    if violations(schedule):
        return view
    return together(view, timeline_figure(simulate(schedule), title="Your orders, simulated", summary=False))


@shown
def chunks_beside_stages(ranks: int, micro_batches: int, chunks: int) -> Figure:
    """1F1B over interleaved 1F1B of the same model, on one axis: a slot is a forward of one chunk."""
    need(ranks=ranks, micro_batches=micro_batches, chunks=chunks)
    whole = simulate(one_f_one_b(ranks, micro_batches), Costs(chunks, chunks))
    cut = simulate(interleaved_1f1b(ranks, micro_batches, chunks))
    return stack(timeline_figure(whole, title="1F1B, a rank is one stage", scale=whole.makespan, slot=1, summary=False),
                 timeline_figure(cut, title=f"Interleaved, {chunks} chunks a rank", scale=whole.makespan, summary=False))


@shown
def weight_of_the_head(vocabulary: int, hiddens: Sequence[int], layers: int, ranks: int, micro_batches: int) -> View:
    """The output head in layers' work, and what it makes of equal layer counts, for several hidden sizes."""
    need(layers=layers, ranks=ranks, micro_batches=micro_batches)
    need_sizes(vocabulary=vocabulary, **{f"hiddens, item {index}": hidden for index, hidden in enumerate(hiddens)})
    if layers % ranks:
        raise ValueError(f"layers = {layers}: a multiple of ranks = {ranks} is needed")
    rows = []
    for hidden in hiddens:
        each, head = layers // ranks, head_in_layers(hidden, vocabulary)
        times = [each] * (ranks - 1) + [each + head]
        bubble = simulate(one_f_one_b(ranks, micro_batches), Costs(times, times)).bubble_fraction
        rows.append([f"{hidden:,}", f"{float(head):.2g}", each, f"{float(each + head):.3g}", f"{float(bubble):.1%}"])
    even = f"{float(bubble_fraction(ranks, micro_batches)):.1%}"
    heads = ["hidden size", "head, in layers", "work of another stage", "of the last stage", f"bubble (without a head: {even})"]
    return table(heads, rows, f"{layers} layers on {ranks} stages, vocabulary {vocabulary:,}, {micro_batches} micro-batches")


@shown
def parameters_of_stages(run: RealRun | NoRun) -> View:
    """The parameters of each stage in a real run, beside its layers."""
    if isinstance(run, NoRun):
        return run
    stages = run.run.schedule.stages
    rows = [[f"stage {stage}", run.sizes.layers // stages, f"{size:,}"] for stage, size in enumerate(run.run.parameter_bytes)]
    return table(["", "layers", "bytes of parameters"], rows)
