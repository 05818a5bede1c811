"""A stage of one's own: made by a function that travels, held to the same equality, and named where it does not fit."""

import sys

import cloudpickle
import pytest

from course.pipeline import PipelineError, Sizes, run
from course.schedules import gpipe, interleaved_1f1b

cloudpickle.register_pickle_by_value(sys.modules[__name__])

SIZES = Sizes(hidden=8, heads=2, sequence=4, micro_batch_size=2)

pytestmark = pytest.mark.usefixtures("warm_workers")


def own(middle):
    """Stages with these modules between an embedding and a head."""
    def build(sizes, stages, stage):
        from torch import nn

        first = [nn.Embedding(256, sizes.hidden)] if stage == 0 else []
        last = [nn.Linear(sizes.hidden, 256)] if stage == stages - 1 else []
        return nn.Sequential(*first, *middle(nn, sizes, stage), *last)

    return build


@pytest.mark.parametrize("schedule", [gpipe(3, 3), interleaved_1f1b(2, 4, 2)], ids=lambda schedule: schedule.name)
def test_stages_of_ones_own_train_as_in_one_process(schedule):
    build = own(lambda nn, sizes, stage: [nn.Linear(sizes.hidden, sizes.hidden), nn.Tanh()] if stage % 2 else [])
    result = run(schedule, clock="virtual", sizes=SIZES, steps=5, build=build)
    assert result.max_gradient_difference == 0.0
    assert result.losses == result.reference_losses and result.losses[-1] < result.losses[0]
    assert result.parameter_bytes[1] == 4 * (8 * 8 + 8)
    assert result.losses != run(schedule, clock="virtual", sizes=SIZES, steps=5).losses


@pytest.mark.parametrize(("build", "operation", "words"), [
    (own(lambda nn, sizes, stage: [nn.Linear(8, 6)] if stage == 0 else []), "0F0",
     ["stage 0 gave a tensor of shape (2, 4, 6)", "stage 1 takes (2, 4, 8)"]),
    (own(lambda nn, sizes, stage: [nn.Linear(8, 8).double()] if stage == 1 else []), "1F0", ["Double"]),
    (lambda sizes, stages, stage: "a stage", None, ["build() gave a str for stage", "torch.nn.Module"]),
    (lambda sizes, stages: None, None, ["TypeError", "positional argument"]),
])
def test_a_stage_that_does_not_fit_is_named(build, operation, words):
    with pytest.raises(PipelineError) as caught:
        run(gpipe(3, 2), clock="virtual", sizes=SIZES, build=build)
    assert caught.value.operation == operation
    assert all(word in caught.value.message for word in words), caught.value.message


def test_a_stage_that_lets_no_gradient_through_is_named():
    def build(sizes, stages, stage):
        from torch import nn

        class Cut(nn.Linear):
            def forward(self, x):
                return super().forward(x.detach())

        first = [nn.Embedding(256, sizes.hidden)] if stage == 0 else []
        return nn.Sequential(*first, Cut(sizes.hidden, 256 if stage == stages - 1 else sizes.hidden))

    with pytest.raises(PipelineError, match=r"rank 1 failed at 1B0: .*no gradient for what it was given, and stage 0 needs it"):
        run(gpipe(2, 1), clock="virtual", sizes=SIZES, build=build)
