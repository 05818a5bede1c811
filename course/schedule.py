"""The value that everything else is a function of: which rank runs which operations, in which order."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from course.csv_cells import CsvError, filled_cells, shortened, way_out

KINDS = "FBIW"  # forward, whole backward, input gradient, weight gradient
BACKWARDS = ("B", "I")  # the kinds that send a gradient to the stage before
MOST_DIGITS = 6
MOST_UNITS = 500_000  # stages x micro-batches of a text: more is a slip of the hand, and would fill the memory
_TOKEN = re.compile(r"(\d*)([FBIW])(\d+)", re.ASCII)


@dataclass(frozen=True, slots=True, order=True)
class Operation:
    """One unit of work in PyTorch's notation: `2F0` is stage 2, forward, micro-batch 0.

    >>> str(Operation(2, "F", 0)), Operation.parse("2F0").kind
    ('2F0', 'F')
    """

    stage: int
    kind: str
    micro_batch: int

    def __str__(self):
        return f"{self.stage}{self.kind}{self.micro_batch}"

    @property
    def short(self):
        """The token without its stage, `F0`: enough where a rank is a stage."""
        return f"{self.kind}{self.micro_batch}"

    @classmethod
    def parse(cls, token: str, stage: int | None = None) -> "Operation":
        """Read `2F0`, or `F0` when the stage is known. ValueError names the token and the rule."""
        match = _TOKEN.fullmatch(token)
        if not match or (not match[1] and stage is None):
            rule = "<stage><kind><micro-batch> such as 2F0" if stage is None else "F0 or B0"
            raise ValueError(f"{shortened(token)} is not an operation: write {rule}, with a kind of F, B, I or W")
        if len(match[1]) > MOST_DIGITS or len(match[3]) > MOST_DIGITS:
            raise ValueError(f"{token[:20]!r}: stage and micro-batch have at most {MOST_DIGITS} digits here")
        return cls(int(match[1]) if match[1] else stage, match[2], int(match[3]))


@dataclass(frozen=True)
class Schedule:
    """The operations of each rank in order, and where each stage lives; it may be an illegal one.

    `stage_to_rank` is indexed by stage. `micro_batches` is the number that the step is cut into.
    """

    ranks: tuple[tuple[Operation, ...], ...]
    stage_to_rank: tuple[int, ...]
    micro_batches: int
    name: str = ""

    @property
    def stages(self) -> int:
        """The number of stages, chunks counted apart."""
        return len(self.stage_to_rank)

    @cached_property
    def chunks(self) -> int:
        """How many stages the fullest rank holds."""
        return max((self.stage_to_rank.count(rank) for rank in range(len(self.ranks))), default=0)

    @cached_property
    def rank_is_stage(self) -> bool:
        """Whether stage s lives on rank s, so that `F0` says enough."""
        return self.stage_to_rank == tuple(range(len(self.ranks)))

    @cached_property
    def split(self) -> frozenset[tuple[int, int]]:
        """The (stage, micro-batch) pairs whose backward is split into I and W."""
        return frozenset((op.stage, op.micro_batch) for rank in self.ranks for op in rank if op.kind == "I")

    @property
    def row_word(self) -> str:
        """What a row of it is called: a stage where a rank is a stage, else a rank."""
        return "stage" if self.rank_is_stage else "rank"

    def place(self, rank: int) -> str:
        """A rank as a reader of this schedule names it: `stage 0` where a rank is a stage, else `rank 0`."""
        return f"{self.row_word} {rank}"

    def label(self, operation: Operation) -> str:
        """The operation as a reader of this schedule writes it: `F0` where a rank is a stage, else `2F0`."""
        return operation.short if self.rank_is_stage else str(operation)

    def needs(self, operation: Operation) -> tuple[Operation, ...]:
        """The operations that must end before this one starts (happens-before, one step back)."""
        stage, kind, micro_batch = operation.stage, operation.kind, operation.micro_batch
        if kind == "F":
            return (Operation(stage - 1, "F", micro_batch),) if stage else ()
        if kind == "W":
            return (Operation(stage, "I", micro_batch),)
        own = Operation(stage, "F", micro_batch)
        if stage == self.stages - 1:
            return (own,)
        after = "I" if (stage + 1, micro_batch) in self.split else "B"
        return own, Operation(stage + 1, after, micro_batch)

    @classmethod
    def of(cls, ranks: Iterable[Iterable[Operation]], stages=None, micro_batches=None, name="") -> "Schedule":
        """Build from operations alone: sizes are 1 + the highest id unless given, a stage lives where it is seen first."""
        ranks = tuple(tuple(rank) for rank in ranks)
        seen = {op.stage: rank for rank in reversed(range(len(ranks))) for op in reversed(ranks[rank])}
        if stages is None:
            stages = 1 + max(seen, default=-1)
        if micro_batches is None:
            micro_batches = 1 + max((op.micro_batch for rank in ranks for op in rank), default=-1)
        homes = tuple(seen.get(stage, stage % max(1, len(ranks))) for stage in range(stages))
        return cls(ranks, homes, micro_batches, name)

    @classmethod
    def from_csv(cls, text: str, stages: int | None = None, micro_batches: int | None = None) -> "Schedule":
        """Read PyTorch's compute-only CSV: a row a rank, an empty cell a bubble; rows may differ in length.

        ValueError for what is no operation, or is there twice; it names row and column, counted from 0, and the way out. What
        is missing, out of order or on a wrong rank is read, and found by `course.legality.violations`.

        >>> Schedule.from_csv("0F0,,0B0\\n1F0,1B0").ranks[1]
        (Operation(stage=1, kind='F', micro_batch=0), Operation(stage=1, kind='B', micro_batch=0))
        """
        ranks, places, most_stages, most_micro_batches = [], {}, stages or 0, micro_batches or 0
        for row, cells in filled_cells(text):
            operations = []
            for column, cell in cells:
                try:
                    operation = Operation.parse(cell)
                except ValueError as error:
                    raise CsvError(row, column, f"{error}{way_out(cell, column, cells)}") from None
                first = places.setdefault(operation, (row, column))
                if first != (row, column):
                    raise CsvError(row, column, f"{operation} is there already, in row {first[0]}, column {first[1]}: an "
                                   "operation runs once in a step; delete one of the two")
                most_stages = max(most_stages, operation.stage + 1)
                most_micro_batches = max(most_micro_batches, operation.micro_batch + 1)
                if most_stages * most_micro_batches > MOST_UNITS:
                    raise CsvError(row, column, f"with {operation} there are {most_stages} stages x {most_micro_batches} "
                                   f"micro-batches, and at most {MOST_UNITS:,} in all are read here; number both from 0 on")
                operations.append(operation)
            ranks.append(operations)
        return cls.of(ranks, stages, micro_batches)

    def to_csv(self) -> str:
        """Write PyTorch's compute-only CSV, a row a rank, without empty cells."""
        return "".join(",".join(map(str, rank)) + "\n" for rank in self.ranks)
