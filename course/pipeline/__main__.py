"""The real run under torchrun, on one machine or many: `torchrun --nproc-per-node 4 -m course.pipeline gpipe`."""

import json
import os
import signal
import sys
from dataclasses import replace

from course.channels import disorders
from course.legality import violations
from course.options import FAILED, WRONG_INPUT, Parser, add_run, add_schedule, clock_of, costs_of, schedule_of, whole
from course.pipeline.errors import PipelineError
from course.pipeline.run import run
from course.pipeline.sizes import Sizes

CLOCK = "real"
NEEDED = ("RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT")
SIZES = (("hidden", "width of the model"), ("heads", "attention heads"), ("sequence", "tokens of a sample"),
         ("micro_batch_size", "samples of a micro-batch"), ("layers", "transformer layers"))
HOW = ("python -m course.pipeline is started by torchrun, a process a rank:\n"
       "  torchrun --nproc-per-node 4 -m course.pipeline gpipe --micro-batches 8\n"
       "on this machine alone, without torchrun: python -m course run gpipe --ranks 4 --micro-batches 8")


def main(arguments: list[str] | None = None) -> int:
    """Rank 0 does what the arguments say, the others do what it tells them. Returns the exit code."""
    parser = _parser()
    missing = [name for name in NEEDED if name not in os.environ]
    if len(missing) == len(NEEDED):
        if {"-h", "--help"} & set(sys.argv[1:] if arguments is None else arguments):
            parser.parse_args(arguments)
        print(HOW, file=sys.stderr)
        return WRONG_INPUT
    if missing:
        print(f"{parser.prog}: {' and '.join(missing)} not set, as torchrun does", file=sys.stderr)
        return WRONG_INPUT
    from course.pipeline.torchrun import Processes, serve  # torch takes its time

    signal.signal(signal.SIGINT, signal.SIG_DFL)  # what waits in C code would not notice Ctrl-C
    rank, ranks = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    if rank:
        return serve(rank, ranks)
    processes, code = Processes(ranks), FAILED
    try:
        code = _lead(parser, arguments, processes)
    except SystemExit as ended:
        code = ended.code or 0
    finally:
        sys.stdout.flush()
        processes.end(code)
    return code


def _lead(parser, arguments, processes):
    options = parser.parse_args(arguments)
    try:
        result = _run(options, processes)
    except ValueError as error:
        return _complain(parser, error, WRONG_INPUT)
    except PipelineError as error:
        return _complain(parser, error, FAILED)
    print(json.dumps(result.to_json(), allow_nan=False) if options.json else result)
    return 0


def _complain(parser, error, code):
    print(f"{parser.prog}: {error}", file=sys.stderr, flush=True)
    return code


def _run(options, processes):
    import torch

    device = options.device or ("cuda" if torch.cuda.is_available() else "cpu")
    schedule, costs = schedule_of(options, _ranks(options, processes.ranks)), costs_of(options)
    sizes = Sizes(**{name: value for name, _ in SIZES if (value := getattr(options, name)) is not None})
    _check(options, schedule, device, torch.cuda.device_count())
    places = [reply["result"] for reply in processes.run("course.pipeline.torchrun:join", device, processes.ranks)]
    nodes = list(dict.fromkeys(place["node"] for place in places))
    facts = {"nodes": len(nodes), "device": places[0]["device"], "backend": "nccl" if device == "cuda" else "gloo"}
    notes = ()
    if len(nodes) > 1:
        away = [rank for rank, place in enumerate(places) if place["node"] != nodes[0]]
        error = max(reply["result"] for reply in processes.run("course.pipeline.alignment:align", away)) / 1e9
        facts["clock_error_seconds"] = error
        notes = (f"the clocks of {len(nodes)} nodes were aligned at the start, to within {error * 1e6:.0f} microseconds",)
    result = run(schedule, costs=costs, clock=clock_of(options, CLOCK), engine=options.engine, steps=options.steps,
                 seed=options.seed, slot_seconds=options.slot_seconds, sizes=sizes, dp=options.dp, workers=processes)
    processes.run("course.pipeline.torchrun:leave")
    return replace(result, machine=result.machine | facts, notes=(*result.notes, *notes))


def _ranks(options, processes):
    """The ranks of one replica."""
    if options.dp < 1 or processes % options.dp:
        raise ValueError(f"dp = {options.dp}: a divisor of the {processes} processes is needed, each replica has as many ranks")
    return processes // options.dp


def _check(options, schedule, device, gpus):
    if device not in ("cpu", "cuda"):
        raise ValueError(f"device = {device!r}: cpu or cuda is needed")
    if device == "cpu":
        return
    here = int(os.environ.get("LOCAL_WORLD_SIZE", "1"))
    if here > gpus:
        raise ValueError(f"{here} processes for {gpus} GPUs: --nproc-per-node {gpus} gives each its own; or --device cpu")
    if options.engine == "ours" and not violations(schedule) and (found := disorders(schedule)):
        raise ValueError(f"this schedule needs tags, which NCCL has not: {found[0].message}; --device cpu has them")


def _parser():
    parser = Parser(prog="torchrun -m course.pipeline", description=__doc__,
                    epilog="The number of ranks is torchrun's: --nproc-per-node times --nnodes.")
    add_schedule(parser)
    add_run(parser, CLOCK)
    parser.add_argument("--device", metavar="DEVICE", help="cpu, or cuda with a GPU for each process; cuda where it is")
    for name, what in SIZES:
        parser.add_argument(f"--{name.replace('_', '-')}", type=whole, metavar="N", help=what)
    return parser


if __name__ == "__main__":
    ended = main()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(ended)  # a rank that waits for a lost one would keep the interpreter from ending
