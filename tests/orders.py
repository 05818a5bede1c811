"""Other engines' orders, written down from how they make them, to compare ours with."""

from types import SimpleNamespace

import torch.distributed.pipelining.schedules as pytorch

from course.schedule import Operation


def megatron_without_interleaving(stages, micro_batches):
    """Megatron-core's forward_backward_pipelining_without_interleaving, as a loop that issues operations."""
    ranks = []
    for rank in range(stages):
        warm_up = min(stages - rank - 1, micro_batches)
        remaining = micro_batches - warm_up
        next_forward = next_backward = 0
        order = []
        for _ in range(warm_up):
            order.append(Operation(rank, "F", next_forward))
            next_forward += 1
        for _ in range(remaining):
            order += [Operation(rank, "F", next_forward), Operation(rank, "B", next_backward)]
            next_forward, next_backward = next_forward + 1, next_backward + 1
        for _ in range(warm_up):
            order.append(Operation(rank, "B", next_backward))
            next_backward += 1
        ranks.append(tuple(order))
    return tuple(ranks)


def megatron_with_interleaving(ranks, micro_batches, chunks):
    """Megatron-core's schedule table (groups of `ranks` micro-batches) read forwards, and backwards with chunks reversed."""
    table = [(micro_batch, chunk) for first in range(0, micro_batches, ranks) for chunk in range(chunks)
             for micro_batch in range(first, first + ranks)]
    total = len(table)
    result = []
    for rank in range(ranks):
        warm_up = min((ranks - rank - 1) * 2 + (chunks - 1) * ranks, total)
        forwards = [Operation(chunk * ranks + rank, "F", mb) for mb, chunk in table]
        backwards = [Operation((chunks - 1 - chunk) * ranks + rank, "B", mb) for mb, chunk in table]
        order = list(forwards[:warm_up])
        for virtual in range(warm_up, total):
            order += [forwards[virtual], backwards[virtual - warm_up]]
        result.append(tuple(order + backwards[total - warm_up:]))
    return tuple(result)


def pytorch_looped_bfs(ranks, micro_batches, chunks):
    """PyTorch's ScheduleLoopedBFS._calculate_single_rank_operations, as a loop, without its empty cells."""
    result = []
    for rank in range(ranks):
        stages = range(rank, ranks * chunks, ranks)
        order = []
        for stage in stages:
            order += [Operation(stage, "F", micro_batch) for micro_batch in range(micro_batches)]
        for stage in reversed(stages):
            order += [Operation(stage, "B", micro_batch) for micro_batch in reversed(range(micro_batches))]
        result.append(tuple(order))
    return tuple(result)


def pytorch_v(name, ranks, micro_batches):
    """What PyTorch's class of this name has its ranks do, by its own code: no process is needed. Pairs as F, then B."""
    asked = SimpleNamespace(pp_group_size=ranks, num_stages=2 * ranks, _n_microbatches=micro_batches)
    result = []
    for rank in range(ranks):
        actions = getattr(pytorch, name)._calculate_single_rank_operations(asked, rank)
        single = [part for action in actions if action for part in action.sub_actions or (action,)]
        result.append(tuple(Operation(stage, kind.value, number) for stage, kind, number, _ in single))
    return tuple(result)
