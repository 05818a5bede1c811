"""GPipe: all forwards, then all backwards.

    F0 F1 F2 F3 .  .  B0 B1 B2 B3
    .  F0 F1 F2 F3 B0 B1 B2 B3 .

Simple, and every rank holds the activations of all m micro-batches when the first backward starts.
"""

from course.schedule import Operation, Schedule
from course.schedules.entry import Entry, need_sizes, unchunked


def gpipe(stages: int, micro_batches: int) -> Schedule:
    """All forwards, then all backwards, first in first out.

    >>> print(gpipe(2, 1).to_csv(), end="")
    0F0,0B0
    1F0,1B0
    """
    need_sizes(stages=stages, micro_batches=micro_batches)
    ranks = tuple(tuple(Operation(stage, kind, mb) for kind in "FB" for mb in range(micro_batches))
                  for stage in range(stages))
    return Schedule(ranks, tuple(range(stages)), micro_batches, "gpipe")


GPIPE = Entry("gpipe", "GPipe", unchunked("gpipe", gpipe), chunks=1, sizes="any ranks, any micro_batches",
              source="Huang et al. 2019, GPipe: Efficient Training of Giant Neural Networks, section 2.3")
