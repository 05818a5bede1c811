"""Interleaved 1F1B: each rank holds several chunks of the model, so the unit of the pipeline is smaller.

    2 ranks, 2 chunks: stage = chunk * ranks + rank
    0F0 0F1 2F0 2F1 .   2B0 2B1 ...

The bubble shrinks v times; v times the messages of a middle rank, and more activations held.
"""

from course.schedule import Operation, Schedule
from course.schedules.entry import Entry, need_sizes
from course.schedules.one_f_one_b import alternate


def interleaved_1f1b(ranks: int, micro_batches: int, chunks: int) -> Schedule:
    """Megatron-core's order with its default group of p micro-batches: warm-up min(m v, 2(p-rank-1) + (v-1) p).

    ValueError when micro_batches is not a multiple of ranks. One chunk is 1F1B.
    """
    need_sizes(ranks=ranks, micro_batches=micro_batches, chunks=chunks)
    if micro_batches % ranks:
        near = sorted({max(1, micro_batches // ranks) * ranks, -(-micro_batches // ranks) * ranks})
        raise ValueError(f"micro_batches = {micro_batches}: interleaved 1F1B needs a multiple of ranks = {ranks} "
                         f"(Megatron's rule); {' or '.join(map(str, near))} would do")
    placed = tuple(stage % ranks for stage in range(ranks * chunks))
    return Schedule(tuple(_rank(rank, ranks, micro_batches, chunks) for rank in range(ranks)), placed,
                    micro_batches, "interleaved_1f1b")


def _rank(rank, ranks, micro_batches, chunks):
    total = micro_batches * chunks

    def unit(step, kind):
        group, within = divmod(step, ranks * chunks)
        chunk, member = divmod(within, ranks)
        if kind == "B":
            chunk = chunks - 1 - chunk
        return Operation(chunk * ranks + rank, kind, group * ranks + member)

    # Megatron calls its plain 1F1B for one chunk, whose warm-up is half as long.
    warm_up = 2 * (ranks - rank - 1) + (chunks - 1) * ranks if chunks > 1 else ranks - rank - 1
    return tuple(alternate([unit(step, "F") for step in range(total)], [unit(step, "B") for step in range(total)],
                           min(total, warm_up)))


INTERLEAVED_1F1B = Entry("interleaved_1f1b", "interleaved 1F1B", interleaved_1f1b, chunks=None,
                         sizes="any ranks, micro_batches a multiple of ranks, any chunks",
                         source="Narayanan et al. 2021, Megatron-LM (SC21), section 2.2.2; order of Megatron-core's "
                                "forward_backward_pipelining_with_interleaving")
