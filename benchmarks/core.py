"""The pure part at size: make a schedule, judge it, simulate it. Target: 262,144 operations under 2 s, linear.

Peer: PyTorch's own lowering of the same order, which validates it (less strictly), adds its messages by simulating it, and
simulates the result; at sizes that it can do in seconds.
"""

import argparse
import time

from benchmarks.table import best, heading, middle, show
from course.legality import violations
from course.schedules import interleaved_1f1b
from course.simulation import simulate

RANKS, CHUNKS = 64, 2
PEER_RANKS, PEER_MICRO_BATCHES = 16, (64, 256)


def clocked(work, repeats):
    """Seconds of each of some repeats."""
    found = []
    for _ in range(repeats):
        begin = time.perf_counter()
        work()
        found.append(time.perf_counter() - begin)
    return found


def row_of(micro_batches, repeats):
    """One size: seconds of each part, and operations a second of judging and simulating."""
    schedule = interleaved_1f1b(RANKS, micro_batches, CHUNKS)
    operations = sum(map(len, schedule.ranks))
    made = clocked(lambda: interleaved_1f1b(RANKS, micro_batches, CHUNKS), repeats)
    judged = clocked(lambda: violations(schedule), repeats)
    simulated = clocked(lambda: simulate(schedule), repeats)  # which judges as well
    both = [one + other for one, other in zip(judged, simulated, strict=True)]
    return [f"{RANKS} x {micro_batches} x {CHUNKS}", f"{operations:,}",
            *(f"{middle(part):.3f}" for part in (made, judged, simulated, both)), f"{best(both):.3f}",
            f"{middle(both) / operations * 1e6:.2f}",
            f"{operations / middle(both):,.0f}"]


def peer_row(micro_batches, repeats):
    """The same work by PyTorch and by us."""
    from torch.distributed.pipelining import schedules as theirs

    schedule = interleaved_1f1b(PEER_RANKS, micro_batches, CHUNKS)
    actions = {rank: [theirs._Action.from_str(str(operation)) for operation in order]
               for rank, order in enumerate(schedule.ranks)}
    home = schedule.stage_to_rank.__getitem__

    def by_torch():
        theirs._validate_schedule(actions, PEER_RANKS, schedule.stages, micro_batches)
        lowered = theirs._add_send_recv(dict(actions), home, schedule.stages)
        theirs._simulate_comms_compute(lowered, home, schedule.stages)

    def by_us():
        violations(schedule)
        simulate(schedule)

    torch, ours = clocked(by_torch, max(1, repeats // 3)), clocked(by_us, repeats)
    return [f"{PEER_RANKS} x {micro_batches} x {CHUNKS}", f"{sum(map(len, schedule.ranks)):,}", f"{middle(ours):.3f}",
            f"{middle(torch):.3f}", *(f"{of(ours) / of(torch):.4f}" for of in (middle, best))]


def main():
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    heading(f"legality and simulation, {options.repeats} repeats, medians in seconds")
    show(["ranks x m x chunks", "operations", "make", "judge", "simulate", "judge + simulate", "p10", "us each", "operations/s"],
         [row_of(micro_batches, options.repeats) for micro_batches in (128, 256, 512, 1024)])
    show(["ranks x m x chunks", "operations", "ours", "PyTorch's", "ratio", "ratio p10"],
         [peer_row(micro_batches, options.repeats) for micro_batches in PEER_MICRO_BATCHES])


if __name__ == "__main__":
    main()
