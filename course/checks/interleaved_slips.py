"""Notebook 4: wrong ideas of an interleaved order, told from the rows that they make."""

from collections.abc import Callable, Iterable
from typing import NamedTuple

from course.schedule import Schedule


class OrderSlip(NamedTuple):
    """A wrong idea: what to say of it, and whether `shows(row, rank, p, v)` for the operations of one rank.

    `whole`: it is about the order of a rank's operations, which only shows where all of them are there. `everywhere`: it would
    show at every size, also where it does no harm.
    """

    code: str
    text: str
    shows: Callable
    whole: bool = True
    everywhere: bool = True


def _stages(row, kind="FBIW"):
    return [operation.stage for operation in row if operation.kind in kind]


def _warm_up(row):
    """Forwards before the first backward, the first pair's included."""
    return next((index for index, operation in enumerate(row) if operation.kind == "B"), len(row))


def _in_order(stages):
    """Whether the stages of a rank come one after the other."""
    return stages == sorted(stages) and len(set(stages)) > 1


def _chunks_are_stages(row, rank, p, v):
    return p > 1 and v > 1 and {*_stages(row)} == {*range(v)}


def _ranks_are_stages(row, rank, p, v):
    return v > 1 and {*_stages(row)} == {rank}


def _swapped(row, rank, p, v):
    micro_batches = {operation.micro_batch for operation in row}
    return p > 1 and micro_batches == {c * p + rank for c in range(v)} and {*_stages(row)} == {*range(len(row) // (2 * v))}


def _blocked(row, rank, p, v):
    return p > 1 and v > 1 and all(stage // v == rank for stage in _stages(row))


def _numbered_through(row, rank, p, v):
    forwards = [operation.micro_batch for operation in row if operation.kind == "F"]
    return v > 1 and len(set(forwards)) == len(forwards) > 1 and len({*_stages(row)}) == v


def _chunk_after_chunk(row, rank, p, v):
    return _in_order(_stages(row)) and _warm_up(row) < len(_stages(row, "F"))


def _same_chunks_back(row, rank, p, v):
    return v > 1 and _stages(row, "F") == _stages(row, "B")


def _forwards_first(row, rank, p, v):
    return len(row) > _warm_up(row) == len(_stages(row, "F")) > 1


def _breadth_first(row, rank, p, v):
    return _in_order(_stages(row, "F"))


def _looped(row, rank, p, v):
    return _forwards_first(row, rank, p, v) and _breadth_first(row, rank, p, v)


def _one_by_one(row, rank, p, v):
    forwards = [(operation.micro_batch, operation.stage) for operation in row if operation.kind == "F"]
    return p > 1 and v > 1 and forwards == sorted(forwards) and len(forwards) > 1


def _leads(row, v, *lengths):
    """Whether so many forwards, or all there are, come before the first backward, where there are chunks."""
    return v > 1 and _warm_up(row) in [min(length, len(_stages(row, "F"))) for length in lengths]


def _once_in_megatron(row, rank, p, v):
    return v > 1 and p * v == len(_stages(row, "F")) and _forwards_first(row, rank, p, v)


def _warm_up_of_one_chunk(row, rank, p, v):
    return _leads(row, v, p - rank, p - rank + 1)


def _warm_up_without_chunks(row, rank, p, v):
    return _leads(row, v, 2 * (p - rank - 1) + 1, 2 * (p - rank) + 1)


def _warm_up_of_the_last(row, rank, p, v):
    return _leads(row, v, (v - 1) * p + 1)


def _no_warm_up(row, rank, p, v):
    return v > 1 and _warm_up(row) <= 1


def _one_too_many(row, rank, p, v):
    return _leads(row, v, *(factor * (p - rank) + (v - 1) * p + 1 for factor in (1, 2)))


def _one_too_few(row, rank, p, v):
    return _leads(row, v, *(factor * (p - rank - 1) + (v - 1) * p for factor in (1, 2)))


def _doubled(row, rank, p, v):
    return v == 1 and p > 1 and _warm_up(row) == min(2 * (p - rank - 1) + 1, len(_stages(row, "F")))


SLIPS = (
    OrderSlip("stage-and-micro-batch-swapped", "stage and micro-batch have changed places in your tokens: `1F0` is the forward "
              "of micro-batch 0 on stage 1.", _swapped, whole=False),
    OrderSlip("chunk-for-stage", "the first number of a token is the chunk here. It is the stage: chunk c of rank r is stage "
              "c * p + r.", _chunks_are_stages, whole=False),
    OrderSlip("rank-for-stage", "the first number of a token is the rank here, the same for all chunks. It is the stage: chunk c "
              "of rank r is stage c * p + r.", _ranks_are_stages, whole=False),
    OrderSlip("blocked", "your stages are rank * v + chunk: neighbours in the model lie on one rank, as without chunks. "
              "Round-robin: chunk c of rank r is stage c * p + r.", _blocked, whole=False),
    OrderSlip("numbered-through", "you number all m v forwards of a rank in one row. The second number of a token is the "
              "micro-batch, 0 to m-1: each chunk runs all of them.", _numbered_through, whole=False),
    OrderSlip("chunk-after-chunk", "a chunk has run its forwards and backwards before the next chunk begins. But its backwards "
              "need the gradients of the chunks behind it: the loss comes after the last chunk.", _chunk_after_chunk),
    OrderSlip("backward-chunk-order", "your backwards take the chunks in the order of the forwards. A gradient starts at the "
              "loss, behind the last chunk, and reaches chunk 0 at the end.", _same_chunks_back),
    OrderSlip("looped-bfs", "this is looped BFS: breadth first, all micro-batches through chunk 0, then through the next chunk, "
              "and the backwards after all forwards. Each rank then holds all m v chunks.", _looped),
    OrderSlip("all-forwards-first", "all forwards, then all backwards: that is GPipe with chunks. Each rank then holds all m v "
              "chunks.", _forwards_first),
    OrderSlip("all-forwards-first-once", "where m = p, all forwards come before the first backward. Older versions of "
              "Megatron-core did so in this case, today's does not: every rank but the first then holds more than it must.",
              _once_in_megatron, everywhere=False),
    OrderSlip("one-by-one", "you take one micro-batch through all chunks of a rank, then the next. Between two chunks of a rank "
              "it passes the other p-1 ranks, and meanwhile the rank waits. Take p micro-batches through a chunk: when the last "
              "of them is done, the first is back.", _one_by_one),
    OrderSlip("breadth-first", "all m micro-batches go through chunk 0 before chunk 1 begins. A backward needs the last chunk, "
              "so the first one comes late, and much is held until then. Take p micro-batches at a time.", _breadth_first),
    OrderSlip("warm-up-of-one-chunk", "the warm-up is 1F1B's with one chunk, p-rank-1 forwards. Before the first backward, p "
              "micro-batches have to go through every chunk but the last as well.", _warm_up_of_one_chunk),
    OrderSlip("warm-up-without-chunks", "the warm-up counts the ranks behind this one and not the chunks. Before the first "
              "backward, p micro-batches have to go through every chunk but the last as well.", _warm_up_without_chunks),
    OrderSlip("warm-up-of-the-last-rank", "the warm-up is the same on every rank. It is right on the last one. The further "
              "a rank is from it, the longer it waits for its first gradient, and the more forwards it needs until then.",
              _warm_up_of_the_last),
    OrderSlip("no-warm-up", "each rank runs a backward right after its first forward. A backward can only come when a "
              "micro-batch has been through all chunks.", _no_warm_up),
    OrderSlip("one-too-many", "your warm-up counts p-rank where it waits for the ranks behind, p-1-rank of them: on the last "
              "rank that is one forward too many.", _one_too_many),
    OrderSlip("one-too-few", "before the first backward one forward is missing: on the last rank that backward needs a "
              "micro-batch that has been through its last chunk. Either your warm-up is one too short, or your pairs begin with "
              "the backward. A pair is a forward, then a backward.", _one_too_few),
    OrderSlip("warm-up-doubled", "with one chunk your warm-up is 2(p-rank-1). Megatron runs its plain 1F1B then, with p-rank-1: "
              "the factor 2 belongs to more than one chunk.", _doubled),
)


class Shown(NamedTuple):
    """What a function made at one size: whether every operation is there, and whether there is nothing against it."""

    schedule: Schedule
    complete: bool
    right: bool


def slip_of_schedules(found: Iterable[Shown]) -> OrderSlip | None:
    """The first wrong idea that every rank of every one of these schedules shows, or of those that are not right."""
    return next((slip for slip in SLIPS if _shows(slip, [size for size in found if slip.everywhere or not size.right])), None)


def _shows(slip, found):
    rows = [(row, rank, len(size.schedule.ranks), size.schedule.chunks)
            for size in found for rank, row in enumerate(size.schedule.ranks)]
    return bool(rows) and not (slip.whole and not all(size.complete for size in found)) and all(
        row[0] and slip.shows(*row) for row in rows)
