"""The command line: `python -m course show gpipe --ranks 4 --micro-batches 8` draws, `run` trains for real."""

import json
import os
import sys
from fractions import Fraction

from course.options import (
    FAILED,
    INTERRUPTED,
    RANKS,
    WRONG_INPUT,
    Parser,
    add_run,
    add_schedule,
    clock_of,
    costs_of,
    schedule_of,
    whole,
)
from course.simulation import simulate
from course.timeline import Timeline

CLOCK = "paced"
MOST_CELLS = 2_000_000  # of a text grid


def main(arguments: list[str] | None = None) -> int:
    """Do what the arguments say; returns the exit code."""
    options = _parser().parse_args(arguments)
    try:
        schedule, costs = schedule_of(options, options.ranks), costs_of(options)
        return _show(schedule, costs, options) if options.command == "show" else _run(schedule, costs, options)
    except ValueError as error:
        return _complain(error, WRONG_INPUT)
    except BrokenPipeError:  # whoever read our output has enough; Python would complain once more at its end
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED
    except KeyboardInterrupt:
        return _complain("interrupted; no process is left", INTERRUPTED)


def _complain(error, code):
    print(f"python -m course: {error}", file=sys.stderr)
    return code


def _show(schedule, costs, options):
    print(schedule.to_csv() if options.csv else description(simulate(schedule, costs)), end="" if options.csv else "\n")
    return 0


def description(timeline: Timeline) -> str:
    """The text grid of a timeline and its numbers. ValueError where the grid would be endless."""
    cells = len(timeline.starts) * float(timeline.makespan / timeline.slot)
    if not cells <= MOST_CELLS:
        raise ValueError(f"the drawing would have {cells:.3g} cells, at most {MOST_CELLS:,} are possible: take fewer ranks or "
                         "micro-batches, or times that are closer to each other")
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
        result = run(schedule, costs=costs, clock=clock_of(options, CLOCK), engine=options.engine, steps=options.steps,
                     seed=options.seed, slot_seconds=options.slot_seconds, dp=options.dp)
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
        add_schedule(command)
        command.add_argument("--ranks", "--stages", type=whole, metavar="P",
                             help=f"ranks, a process each (with one chunk a rank is a stage); {RANKS}")
    show.add_argument("--csv", action="store_true", help="print the order as PyTorch's CSV and nothing else")
    add_run(train, CLOCK)
    return parser


if __name__ == "__main__":
    sys.exit(main())
