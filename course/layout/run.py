"""A layout on real processes, one for each GPU: TP by torch's DTensor, our pipeline, DP; what was sent, counted."""

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, fields

from course.layout.cards import CARDS
from course.layout.cluster import ACROSS, INSIDE, Cluster
from course.layout.evaluation import evaluate
from course.layout.model import Model
from course.layout.nearest import nearest
from course.layout.placement import AXES, Layout
from course.layout.small import ELEMENT, parameters_beyond, sizes_of, small_model
from course.layout.volumes import GRADIENT, dp_bytes, pp_bytes, ring_bytes, tp_bytes
from course.pipeline.launch import want
from course.pipeline.places import Places
from course.pipeline.pool import taken
from course.pipeline.run import by_stage, total
from course.pipeline.sizes import need_whole
from course.schedules import interleaved_1f1b, one_f_one_b

TWO_NODES = CARDS["c"].cluster
LEARNING_RATE = 0.2
PATIENCE, STALL = 900, 30  # seconds for a job, seconds in which no process goes on: guards against what hangs
WORKERS = "course.pipeline.tensor_parallel"

want(WORKERS)  # DTensor takes five seconds and 40 MB to import


@dataclass(frozen=True)
class LayoutRun:
    """A finished run. `sent` is (from process, to process) -> axis and bytes of the last step; `all_reduces` axis -> how many
    one process of the first stage took part in; `parameters` how many each process has.

    An all-reduce counts as a ring: each process sends 2 (n-1)/n of what it adds up to the next of its group.
    """

    layout: Layout
    model: Model
    cluster: Cluster
    sent: Mapping[tuple[int, int], tuple[str, float]]
    all_reduces: Mapping[str, int]
    losses: tuple[float, ...]
    reference_losses: tuple[float, ...]
    max_gradient_difference: float
    pids: tuple[int, ...]
    parameters: tuple[int, ...]

    @property
    def measured(self) -> dict[str, float]:
        """Axis -> bytes that the busiest process sent in the step."""
        by_process = Counter()
        for (source, _), (axis, size) in self.sent.items():
            by_process[axis, source] += size
        return {axis: max((size for (one, _), size in by_process.items() if one == axis), default=0) for axis in AXES}

    @property
    def formulas(self) -> dict[str, float]:
        """The same by course.layout.volumes, for elements of 4 bytes; `measured` is this and `beyond`."""
        layout, model = self.layout, self.model
        sent = tp_bytes(layout, model, element=ELEMENT), pp_bytes(layout, model, ELEMENT), dp_bytes(layout, model)
        return dict(zip(AXES, sent, strict=True))

    @property
    def beyond(self) -> dict[str, float]:
        """Axis -> bytes that no formula counts: DP's, for parameters that it shares out or leaves out, see `small`."""
        more = ring_bytes(GRADIENT * parameters_beyond(self.layout, self.model), self.layout.dp)
        return {"tp": 0, "pp": 0, "dp": more}

    @property
    def by_link(self) -> dict[tuple[str, str], float]:
        """(axis, INSIDE or ACROSS) -> bytes of the step, of all processes together."""
        home, found = self.layout.node_of(self.cluster.gpus_per_node), Counter()
        for (source, target), (axis, size) in self.sent.items():
            found[axis, INSIDE if home[source] == home[target] else ACROSS] += size
        return dict(found)


def run_layout(tp, pp, dp, micro_batch_size=1, chunks=1, nodes=None, *, global_batch: int = 8, cluster: Cluster = TWO_NODES,
               steps: int = 2, seed: int = 0) -> LayoutRun:
    """Train a small transformer in this layout, a process for each GPU of the cluster, and count what the last step sends.

    ValueError when the layout breaks a rule, before any process is touched: the rule, the numbers, and the nearest layout that
    obeys it. PipelineError when a process fails.
    """
    need_whole("global_batch", global_batch)
    need_whole("steps", steps)
    need_whole("seed", seed, least=0, most=2**31 - 1)
    layout = read_layout(cluster, global_batch, tp=tp, pp=pp, dp=dp, micro_batch_size=micro_batch_size, chunks=chunks,
                         nodes=nodes)
    model = small_model(layout, global_batch)
    if problems := evaluate(layout, model, cluster).problems:
        raise ValueError(str(problems[0]))
    m = layout.micro_batches(model)
    schedule = interleaved_1f1b(layout.pp, m, layout.chunks) if layout.chunks > 1 else one_f_one_b(layout.pp, m)
    sizes, all_micro_batches = sizes_of(layout, model), layout.dp * m
    places = Places(schedule, layout.groups("pp"))
    with taken(layout.gpus) as pool:
        def do(job, *arguments, ranks=layout.gpus):
            replies = pool.run(job, *arguments, ranks=ranks, stall=STALL, timeout=PATIENCE, describe=places)
            return [reply["result"] for reply in replies]

        pids = tuple(process.pid for process in pool.processes[:layout.gpus])
        held = do(f"{WORKERS}:prepare", schedule, sizes, seed, (layout.pp, layout.dp, layout.tp), ranks=None)
        done = [do(f"{WORKERS}:step", number, LEARNING_RATE) for number in range(steps)]
        truth, = do("course.pipeline.reference:reference", sizes, schedule.stages, all_micro_batches, range(all_micro_batches),
                    seed, steps, LEARNING_RATE, by_stage(do(f"{WORKERS}:gradients")), ranks=1)
    return LayoutRun(
        layout=layout, model=model, cluster=cluster, sent=_sent(layout, done[-1]),
        all_reduces={axis: calls for axis, (calls, _) in done[-1][0]["all_reduces"].items()},
        losses=tuple(total({number: loss for reply in replies for number, loss in reply["losses"].items()}) for replies in done),
        reference_losses=tuple(map(total, truth["losses"])), max_gradient_difference=truth["difference"], pids=pids,
        parameters=tuple(held[:layout.gpus]))


def read_layout(cluster: Cluster, global_batch: int, **sizes) -> Layout:
    """A Layout of these sizes; ValueError with the nearest layout where one of them is no whole number above 0."""
    try:
        return Layout(**sizes)
    except ValueError as error:
        if str(error).startswith("nodes"):
            raise
        near = Layout(**{field.name: _whole(sizes[field.name]) for field in fields(Layout) if field.type is int})
        found = nearest("", near, small_model(near, global_batch), cluster)
        raise ValueError(f"{error}; the nearest layout that obeys this: {found}") from None


def _whole(size):
    """The whole number above 0 that is nearest to what may be anything."""
    return max(1, round(size)) if isinstance(size, (int, float)) and math.isfinite(size) else 1


def _sent(layout, replies):
    """(from, to) -> axis, bytes: messages as they were sent, of an all-reduce each process's part to the next of its ring."""
    found = {}
    for source, reply in enumerate(replies):
        for target, size in reply["messages"].items():
            found[source, target] = "pp", size
        for axis, (_, size) in reply["all_reduces"].items():
            ring = next(group for group in layout.groups(axis) if source in group)
            found[source, ring[(ring.index(source) + 1) % len(ring)]] = axis, ring_bytes(size, len(ring))
    return found
