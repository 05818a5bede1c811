"""One layout judged: what it breaks, what it needs, what it sends, how long its step takes."""

from dataclasses import dataclass, field
from typing import NamedTuple

from course.layout import rules
from course.layout.cluster import ACROSS, INSIDE, Cluster
from course.layout.cost import OURS, Assumptions, step_parts
from course.layout.memory import activation_bytes, state_bytes
from course.layout.model import Model
from course.layout.nearest import nearest
from course.layout.placement import AXES, Layout
from course.layout.volumes import dp_bytes, pp_bytes, tp_bytes


class Problem(NamedTuple):
    """A rule that a layout breaks: its name, the numbers, and the nearest layout that obeys it and those before it, if any."""

    code: str
    text: str
    nearest: Layout | None

    def __str__(self):
        return self.text + (f"; the nearest layout that obeys this: {self.nearest}" if self.nearest else "")


@dataclass(frozen=True)
class Evaluation:
    """A layout on a cluster. Without a legal shape only `problems` says something; the numbers are None, the dicts empty.

    state_bytes, activation_bytes: on the fullest GPU. sent: axis -> bytes that the busiest GPU sends in a step; links: axis ->
    the slowest kind of link that it uses. parts: seconds of the step by what they are spent on.
    """

    layout: Layout
    problems: tuple[Problem, ...] = ()
    micro_batches: int | None = None
    state_bytes: float | None = None
    activation_bytes: float | None = None
    sent: dict[str, float] = field(default_factory=dict)
    links: dict[str, str | None] = field(default_factory=dict)
    parts: dict[str, float] = field(default_factory=dict)

    @property
    def step_seconds(self) -> float | None:
        """The sum of the parts."""
        return sum(self.parts.values()) if self.parts else None

    @property
    def memory_bytes(self) -> float | None:
        """What the fullest GPU holds."""
        return None if self.state_bytes is None else self.state_bytes + self.activation_bytes

    @property
    def sent_by_link(self) -> dict[str, float]:
        """Kind of link -> bytes a step, where each axis counts to the slowest link that it uses."""
        return {link: sum(self.sent[axis] for axis in self.sent if self.links[axis] == link) for link in (INSIDE, ACROSS)}


def evaluate(layout: Layout, model: Model, cluster: Cluster, recompute: str = "selective", sequence_parallel: bool = True,
             distributed_optimizer: bool = False, assumptions: Assumptions = OURS, advice: bool = True) -> Evaluation:
    """Judge a layout: every rule that it breaks, in order, and, where its shape is legal, its memory, traffic and step time.

    Without `advice` no nearest layout is looked for.
    """
    broken = {rule.__name__: said for rule in rules.SHAPE if (said := rule(layout, model, cluster))}
    numbers = {} if broken else measure(layout, model, cluster, recompute, sequence_parallel, distributed_optimizer, assumptions)
    if numbers:
        said = rules.memory(layout, model, cluster, numbers["state_bytes"], numbers["activation_bytes"])
        broken = {"memory": said} if said else {}
    options = (recompute, sequence_parallel, distributed_optimizer)
    problems = tuple(Problem(code, said, nearest(code, layout, model, cluster, options) if advice else None)
                     for code, said in broken.items())
    return Evaluation(layout, problems, **numbers)


def measure(layout: Layout, model: Model, cluster: Cluster, recompute="selective", sequence_parallel=True,
            distributed_optimizer=False, assumptions: Assumptions = OURS) -> dict:
    """The numbers of an Evaluation, for a layout of legal shape."""
    gradient = assumptions.gradient_bytes
    sent = (tp_bytes(layout, model, assumptions.tp_volume), pp_bytes(layout, model),
            dp_bytes(layout, model, gradient, distributed_optimizer))
    return {
        "micro_batches": layout.micro_batches(model),
        "state_bytes": state_bytes(layout, model, distributed_optimizer, gradient),
        "activation_bytes": activation_bytes(layout, model, recompute, sequence_parallel),
        "sent": dict(zip(AXES, sent, strict=True)),
        "links": {axis: layout.link(axis, cluster.gpus_per_node) for axis in AXES},
        "parts": step_parts(layout, model, cluster, recompute, distributed_optimizer, assumptions),
    }
