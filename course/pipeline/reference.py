"""The same training in one process without any pipeline: what the real one is compared with."""

import math

import torch

from course.pipeline.data import micro_batch
from course.pipeline.model import build_stage, loss_of
from course.pipeline.training import flat_gradient


def reference(worker, sizes, stages, micro_batches, order, seed, steps, learning_rate, theirs, build=None):
    """Train the whole model here, micro-batches in the given order, and compare the last step's gradients.

    `theirs` is stage -> bytes of every process that has this stage, as training.gradients hands them over. Returns the losses
    and the largest difference over all parameters: infinite where a number is missing or is none.
    """
    parts = [build_stage(sizes, stages, stage, seed, build).to(worker.device) for stage in range(stages)]
    model = torch.nn.Sequential(*parts)
    losses = []
    for step in range(steps):
        if step:
            with torch.no_grad():
                for parameter in model.parameters():
                    if parameter.grad is not None:
                        parameter -= learning_rate * parameter.grad
        model.zero_grad()
        losses.append({})
        for number in order:
            tokens, targets = (part.to(worker.device) for part in micro_batch(sizes, seed, step, number))
            loss = loss_of(model(tokens), targets, micro_batches)
            loss.backward()
            losses[-1][number] = loss.item()
    return {"losses": losses, "difference": max(_difference(flat_gradient(part).cpu(), content)
                                                for stage, part in enumerate(parts) for content in theirs.get(stage) or [b""])}


def _difference(ours, content):
    if len(content) != ours.nbytes:
        return math.inf
    if not content:
        return 0.0
    difference = (ours - torch.frombuffer(bytearray(content), dtype=ours.dtype)).abs().max().item()
    return difference if math.isfinite(difference) else math.inf
