"""The command line: `python -m course show gpipe --ranks 4 --micro-batches 8` draws, `run` trains for real."""

import argparse
import json
import sys
from fractions import Fraction

from course.schedule import Schedule
from course.schedules import SCHEDULES
from course.simulation import Costs, simulate
from course.timeline import Timeline

MOST_OPERATIONS = 1_000_000
WRONG_INPUT, FAILED, INTERRUPTED = 2, 1, 130


class Parser(argparse.ArgumentParser):
    """argparse with errors of one line."""

    def error(self, message):
        """One line on stderr, exit code 2."""
        self.exit(WRONG_INPUT, f"{self.prog}: {message}; see {self.prog} --help\n")


def main(arguments: list[str] | None = None) -> int:
    """Do what the arguments say; returns the exit code."""
    options = _parser().parse_args(arguments)
    try:
        schedule, costs = _schedule(options), _costs(options)
        return _show(schedule, costs) if options.command == "show" else _run(schedule, costs, options)
    except ValueError as error:
        return _complain(error, WRONG_INPUT)
    except KeyboardInterrupt:
        return _complain("interrupted; no process is left", INTERRUPTED)


def _complain(error, code):
    print(f"python -m course: {error}", file=sys.stderr)
    return code


def _show(schedule, costs):
    print(description(simulate(schedule, costs)))
    return 0


def description(timeline: Timeline) -> str:
    """The text grid of a timeline and its numbers."""
    bubble, over = timeline.bubble_fraction, timeline.bubble_over_ideal
    return "\n".join([
        str(timeline), "",
        f"makespan   {timeline.makespan} slots",
        f"bubble     {_share(bubble)} of the time: idle over total",
        f"           {_share(over)} of the ideal time: idle over busy",
        f"held       {', '.join(map(str, timeline.peak_activations))} "
        f"{'micro-batches' if timeline.schedule.chunks == 1 else 'micro-batches x chunks'} at most per rank"])


def _share(part):
    return f"{part} = {float(part):.1%}" if isinstance(part, Fraction) else f"{float(part):.1%}"


def _run(schedule, costs, options):
    from course.pipeline import PipelineError, close, run  # the processes' code: not needed to draw

    try:
        clock = options.clock or ("real" if options.engine == "torch" else "paced")
        result = run(schedule, costs=costs, clock=clock, engine=options.engine, steps=options.steps, seed=options.seed,
                     slot_seconds=options.slot_seconds)
    except PipelineError as error:
        return _complain(error.message, FAILED)
    finally:
        close()
    print(json.dumps(result.to_json(), allow_nan=False) if options.json else result)
    return 0


def _parser():
    parser = Parser(prog="python -m course", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True, metavar="show|run")
    show = commands.add_parser("show", help="draw a schedule with its bubble and its peaks")
    train = commands.add_parser("run", help="train by a schedule on real processes, measured beside predicted")
    for command in (show, train):
        command.add_argument("schedule", help=f"one of {', '.join(SCHEDULES)}")
        command.add_argument("--ranks", "--stages", type=_whole, default=4, metavar="P",
                             help="ranks, a process each (with one chunk a rank is a stage); 4")
        command.add_argument("--micro-batches", type=_whole, default=8, metavar="M", help="micro-batches of a step; 8")
        command.add_argument("--chunks", type=_whole, metavar="V", help="stages a rank; 2 where a schedule has chunks")
        for name, what in (("forward", "slots of a forward: a number, or one per stage as 1,1,2,1; 1"),
                           ("backward", "slots of a backward, likewise; as long as a forward")):
            command.add_argument(f"--{name}", type=_times, metavar="T", help=what)
        for name, what in (("latency", "slots until a message arrives"),
                           ("message", "slots for which a message takes its link, before the next one has it")):
            command.add_argument(f"--{name}", type=_times, default=0, metavar="T",
                                 help=f"{what}: a number, or one per boundary between stages; 0")
    train.add_argument("--clock", metavar="CLOCK",
                       help="paced: each operation lasts as long as its emulated device would; real: nothing emulated; "
                            "virtual: the plan, without waiting; paced")
    train.add_argument("--engine", default="ours", metavar="ENGINE",
                       help="ours, or torch: the same by torch.distributed.pipelining, with the real clock; ours")
    train.add_argument("--slot-seconds", type=float, metavar="S", help="length of a slot; as short as this machine can keep")
    train.add_argument("--steps", type=_whole, default=4, metavar="N", help="training steps, the last is measured; 4")
    train.add_argument("--seed", type=int, default=0, metavar="N", help="seed of parameters and data; 0")
    train.add_argument("--json", action="store_true", help="print one JSON object and nothing else")
    return parser


def _whole(text):
    try:
        return int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number: write one such as 4") from None


def _time(text):
    try:
        number = Fraction(text)
    except (ValueError, ZeroDivisionError):
        raise argparse.ArgumentTypeError(f"{text!r} is not a time: write a number of slots such as 2 or 0.5") from None
    return int(number) if number.denominator == 1 else number


def _times(text):
    times = [_time(part) for part in text.split(",")]
    return times if len(times) > 1 else times[0]


def _schedule(options) -> Schedule:
    """The schedule that the options name. ValueError says what would do."""
    name = options.schedule.lower().replace("-", "_")
    if name not in SCHEDULES:
        raise ValueError(f"schedule {options.schedule!r} is not known: take one of {', '.join(SCHEDULES)}")
    entry = SCHEDULES[name]
    chunks = options.chunks if options.chunks is not None else 2 if entry.chunked else 1
    operations = 2 * options.ranks * options.micro_batches * chunks
    if min(options.ranks, options.micro_batches, chunks) > 0 and operations > MOST_OPERATIONS:
        raise ValueError(f"{options.ranks} ranks x {options.micro_batches} micro-batches x {chunks} chunks are "
                         f"{operations:,} operations: at most {MOST_OPERATIONS:,} are possible here; take fewer")
    return entry.make(options.ranks, options.micro_batches, chunks)


def _costs(options) -> Costs:
    return Costs(forward=1 if options.forward is None else options.forward, backward=options.backward,
                 latency=options.latency, message=options.message)


if __name__ == "__main__":
    sys.exit(main())
