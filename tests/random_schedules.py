"""Legal schedules of no name: any placement, any mix of whole and split backwards, operations in any order that can run."""

from hypothesis import strategies as st

from course.schedule import Operation, Schedule


@st.composite
def placements(draw, most_ranks=4, most_chunks=2):
    """`stage_to_rank` of a few stages; ranks without a stage are left out."""
    ranks = draw(st.integers(1, most_ranks))
    homes = draw(st.lists(st.integers(0, ranks - 1), min_size=1, max_size=ranks * most_chunks))
    there = sorted(set(homes))
    return tuple(there.index(home) for home in homes)


@st.composite
def legal_schedules(draw, most_micro_batches=5, split=None, most_ranks=4):
    """A legal Schedule: at each step one of the operations that can run. `split`: of all backwards, else drawn for each."""
    homes = draw(placements(most_ranks))
    micro_batches = draw(st.integers(1, most_micro_batches))
    cut = {(stage, number): draw(st.booleans()) if split is None else split
           for stage in range(len(homes)) for number in range(micro_batches)}
    left = [Operation(stage, kind, number) for (stage, number), two in cut.items() for kind in ("FIW" if two else "FB")]
    shape = Schedule((), homes, micro_batches)
    ranks, done = [[] for _ in set(homes)], set()
    random = draw(st.randoms(use_true_random=False))
    eager = draw(st.sampled_from(["", "F", "BI", "W"]))
    while left:
        ready = [operation for operation in left if all(need in done for need in needs(shape, cut, operation))]
        favoured = [operation for operation in ready if operation.kind in eager]
        chosen = random.choice(favoured if favoured and random.random() < 0.8 else ready)
        left.remove(chosen)
        done.add(chosen)
        ranks[homes[chosen.stage]].append(chosen)
    return Schedule(tuple(map(tuple, ranks)), homes, micro_batches)


def needs(shape, cut, operation):
    """What must run before, where the backwards of `cut` are split: by the definition, for a schedule not made yet."""
    stage, kind, number = operation.stage, operation.kind, operation.micro_batch
    if kind == "W":
        return [Operation(stage, "I", number)]
    if kind == "F":
        return [Operation(stage - 1, "F", number)] if stage else []
    after = [Operation(stage + 1, "I" if cut[stage + 1, number] else "B", number)] if stage + 1 < shape.stages else []
    return [Operation(stage, "F", number), *after]
