"""What the command lines share: a schedule, its costs and a run as options, and errors of one line."""

import argparse
from fractions import Fraction
from pathlib import Path

from course.schedule import Schedule
from course.schedules import SCHEDULES
from course.simulation import Costs

MOST_OPERATIONS = 1_000_000
WRONG_INPUT, FAILED, INTERRUPTED = 2, 1, 130
RANKS, MICRO_BATCHES, CHUNKS = 4, 8, 2


class Parser(argparse.ArgumentParser):
    """argparse with errors of one line."""

    def error(self, message):
        """One line on stderr, exit code 2."""
        self.exit(WRONG_INPUT, f"{self.prog}: {message}; see {self.prog} --help\n")


def add_schedule(parser: argparse.ArgumentParser):
    """The schedule, its sizes (the ranks excepted) and its costs."""
    parser.add_argument("schedule", help=f"one of {', '.join(SCHEDULES)}; or a file.csv in PyTorch's notation, a row a rank")
    parser.add_argument("--micro-batches", type=whole, metavar="M", help=f"micro-batches of a step; {MICRO_BATCHES}")
    parser.add_argument("--chunks", type=whole, metavar="V", help=f"stages a rank; {CHUNKS} where a schedule has chunks")
    for name, what in (("forward", "slots of a forward: a number, or one per stage as 1,1,2,1; 1"),
                       ("backward", "slots of a backward, likewise; as long as a forward")):
        parser.add_argument(f"--{name}", type=times, metavar="T", help=what)
    for name, what in (("latency", "slots until a message arrives"),
                       ("message", "slots for which a message takes its link, before the next one has it")):
        parser.add_argument(f"--{name}", type=times, default=0, metavar="T",
                            help=f"{what}: a number, or one per boundary between stages; 0")


def add_run(parser: argparse.ArgumentParser, clock: str):
    """How to run it; `clock` is the clock that is taken when none is named."""
    parser.add_argument("--clock", metavar="CLOCK",
                        help="paced: each operation lasts as long as its emulated device would; real: nothing emulated; "
                             f"virtual: the plan, without waiting; {clock}")
    parser.add_argument("--engine", default="ours", metavar="ENGINE",
                        help="ours, or torch: the same by torch.distributed.pipelining, with the real clock; ours")
    parser.add_argument("--dp", type=whole, default=1, metavar="D",
                        help="replicas of the pipeline, whose gradients are summed; 1")
    parser.add_argument("--slot-seconds", type=float, metavar="S", help="length of a slot; as short as this machine can keep")
    parser.add_argument("--steps", type=whole, default=4, metavar="N", help="training steps, the last is measured; 4")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="seed of parameters and data; 0")
    parser.add_argument("--json", action="store_true", help="print one JSON object and nothing else")


def clock_of(options, usual: str) -> str:
    """The clock that the options name; PyTorch's engine has the real one only."""
    return options.clock or ("real" if options.engine == "torch" else usual)


def whole(text: str) -> int:
    """A whole number."""
    try:
        return int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number: write one such as 4") from None


def time(text: str) -> int | Fraction:
    """A number of slots."""
    try:
        number = Fraction(text)
    except (ValueError, ZeroDivisionError):
        raise argparse.ArgumentTypeError(f"{text!r} is not a time: write a number of slots such as 2 or 0.5") from None
    return int(number) if number.denominator == 1 else number


def times(text: str):
    """A number of slots, or one per stage."""
    found = [time(part) for part in text.split(",")]
    return found if len(found) > 1 else found[0]


def schedule_of(options, ranks: int | None = None) -> Schedule:
    """The schedule that the options name; of a file the rows are the ranks. ValueError says what would do."""
    if options.schedule.endswith(".csv"):
        return _from_file(options, ranks)
    ranks = RANKS if ranks is None else ranks
    micro_batches = MICRO_BATCHES if options.micro_batches is None else options.micro_batches
    name = options.schedule.lower().replace("-", "_")
    if name not in SCHEDULES:
        raise ValueError(f"schedule {options.schedule!r} is not known: take one of {', '.join(SCHEDULES)}, or a file.csv")
    entry = SCHEDULES[name]
    chunks = (entry.chunks or CHUNKS) if options.chunks is None else options.chunks
    operations = 2 * ranks * micro_batches * chunks
    if min(ranks, micro_batches, chunks) > 0 and operations > MOST_OPERATIONS:
        raise ValueError(f"{ranks} ranks x {micro_batches} micro-batches x {chunks} chunks are "
                         f"{operations:,} operations: at most {MOST_OPERATIONS:,} are possible here; take fewer")
    return entry.make(ranks, micro_batches, chunks)


def _from_file(options, ranks):
    try:
        text = Path(options.schedule).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"{options.schedule} cannot be read: {error}") from None
    try:
        schedule = Schedule.from_csv(text, micro_batches=options.micro_batches)
    except ValueError as error:
        raise ValueError(f"{options.schedule}: {error}") from None
    if options.chunks is not None:
        raise ValueError(f"chunks = {options.chunks}: {options.schedule} says itself which stages a rank holds; leave it out")
    if ranks is not None and len(schedule.ranks) != ranks:
        raise ValueError(f"ranks = {ranks}: {options.schedule} has {len(schedule.ranks)} rows, one a rank")
    return schedule


def costs_of(options) -> Costs:
    """The costs that the options name."""
    return Costs(forward=1 if options.forward is None else options.forward, backward=options.backward,
                 latency=options.latency, message=options.message)
