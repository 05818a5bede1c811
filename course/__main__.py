"""The command line: `show gpipe --ranks 4 --micro-batches 8` draws, `run` and `layout` train, `table` runs a plan."""

import json
import os
import sys
from fractions import Fraction
from pathlib import Path

from course.legality import violations
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
from course.plan_file import plan_from_toml, plan_to_toml
from course.simulation import simulate
from course.timeline import Timeline

CLOCK = "paced"
LAYOUT = (("tp", 2, "processes that share each layer"), ("pp", 2, "stages"), ("dp", 2, "replicas"),
          ("micro_batch_size", 1, "samples of a micro-batch"), ("chunks", 1, "chunks on each stage"),
          ("global_batch", 8, "samples of a step, of all replicas"), ("steps", 2, "training steps, the last is counted"),
          ("seed", 0, "seed of parameters and data"))
MOST_CELLS = 2_000_000  # of a text grid


def main(arguments: list[str] | None = None) -> int:
    """Do what the arguments say; returns the exit code."""
    options = _parser().parse_args(arguments)
    try:
        code = _do(options)
        sys.stdout.flush()
        return code
    except ValueError as error:
        return _complain(error, WRONG_INPUT)
    except OSError as error:
        if error.filename is not None:
            raise
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # Python would complain once more at its end
        if isinstance(error, BrokenPipeError):  # whoever read our output has enough
            return FAILED
        return _complain(f"what is printed could not be written ({error.strerror or error})", FAILED)
    except KeyboardInterrupt:
        return _complain("interrupted; no process is left", INTERRUPTED)


def _do(options):
    if options.command in ("table", "layout"):
        return {"table": _table, "layout": _layout}[options.command](options)
    schedule, costs = schedule_of(options, options.ranks), costs_of(options)
    return _show(schedule, costs, options) if options.command == "show" else _run(schedule, costs, options)


def _complain(error, code):
    print(f"python -m course: {error}", file=sys.stderr)
    return code


def _show(schedule, costs, options):
    if not options.csv and violations(schedule):
        from course.figures.stuck import stuck_figure  # figures: not needed to draw what is sound

        print(stuck_figure(schedule).text)  # and what is wrong with it, from simulate, in a line
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


def _layout(options):
    from course.layout.run import run_layout  # the processes' code: not needed to draw
    from course.lessons.layout_run import layout_view
    from course.pipeline import PipelineError, close

    try:
        print(layout_view(run_layout(**{name: getattr(options, name) for name, _, _ in LAYOUT})))
    except PipelineError as error:
        return _complain(error.message, FAILED)
    finally:
        close()
    return 0


def _table(options):
    if options.template:
        print(plan_to_toml(), end="")
        return 0
    from course.lessons.experiment_table import blank_record, markdown, show_table  # figures: not needed to draw

    if options.blank:
        print(blank_record())
        return 0
    rows = _rows(options)
    from course import experiments
    from course.pipeline import close
    from course.progress_bar import progress_bar

    target = Path(options.csv or f"{Path(options.plan).stem}_table.csv")
    if target.suffix != ".csv":
        raise ValueError(f"--csv {options.csv}: a name that ends in .csv is needed; the .json of the same name stands beside it")
    if not target.parent.is_dir() or not os.access(target.parent, os.W_OK):
        what = "cannot be written" if target.parent.is_dir() else "is no folder"
        raise ValueError(f"{target}: {target.parent} {what}; name one with --csv that is there and yours. Nothing was run")
    records = experiments.open_records(target.with_suffix(".json"), options.clock)
    try:
        with progress_bar(sys.stderr) as bar:
            filled = experiments.fill(rows, records, bar, options.again)
    except KeyboardInterrupt:
        command = f"The same command{' without --again' * options.again}"
        return _complain(f"interrupted: {experiments.stopped(rows, records)} {command} goes on with the others.", INTERRUPTED)
    finally:
        close()
    print((markdown if options.markdown else show_table)(experiments.as_frame(filled.rows, records, filled.numbers, len(rows))))
    print(*filled.said, sep="\n", file=sys.stderr)
    return FAILED if filled.failed or records.trouble else 0


def _rows(options):
    """The rows of the plan; ValueError in one line where there are none, or one of them breaks a rule."""
    if not options.plan:
        raise ValueError("table needs a plan: `python -m course table --template > plan.toml` writes one")
    try:
        plan = plan_from_toml(Path(options.plan).read_text(encoding="utf-8-sig"))
    except UnicodeDecodeError:
        raise ValueError(f"{options.plan} cannot be read: it is not text in UTF-8; save it in that encoding") from None
    except OSError as error:
        raise ValueError(f"{options.plan} cannot be read: {error}") from None
    if plan.problems:
        more = f" (and {len(plan.problems) - 3} more)" if len(plan.problems) > 3 else ""
        raise ValueError(f"{options.plan}: {' '.join(map(str, plan.problems[:3]))}{more}")
    return plan.rows


def _parser():
    parser = Parser(prog="python -m course", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True, metavar="show|run|layout|table")
    show = commands.add_parser("show", help="draw a schedule with its bubble and its peaks")
    train = commands.add_parser("run", help="train by a schedule on real processes, measured beside predicted")
    for command in (show, train):
        add_schedule(command)
        command.add_argument("--ranks", "--stages", type=whole, metavar="P",
                             help=f"ranks, a process each (with one chunk a rank is a stage); {RANKS}")
    show.add_argument("--csv", action="store_true", help="print the order as PyTorch's CSV and nothing else")
    add_run(train, CLOCK)
    layout = commands.add_parser("layout", help="train on 8 real processes with TP, PP and DP, and count what each axis sends")
    for name, usual, what in LAYOUT:
        layout.add_argument(f"--{name.replace('_', '-')}", type=whole, default=usual, metavar="N", help=f"{what}; {usual}")
    experiment = commands.add_parser("table", help="run the rows of a plan on real processes, one table of all")
    experiment.add_argument("plan", nargs="?", help="a TOML file such as --template prints")
    experiment.add_argument("--csv", metavar="OUT", help="the table as CSV; beside it, as .json, its finished rows with machine, "
                            "versions and pacing; PLAN_table.csv")
    experiment.add_argument("--template", action="store_true", help="print a plan to change, and run nothing")
    experiment.add_argument("--blank", action="store_true", help="print the blank record for paper, and run nothing")
    experiment.add_argument("--markdown", action="store_true", help="print the table as Markdown")
    experiment.add_argument("--again", action="store_true", help="run all rows anew, the finished ones too")
    experiment.add_argument("--clock", choices=("paced", "virtual"), default=CLOCK, metavar="CLOCK",
                            help=f"paced, or virtual: the plan's times, without waiting; {CLOCK}")
    return parser


if __name__ == "__main__":
    sys.exit(main())
