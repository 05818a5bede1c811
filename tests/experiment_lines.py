"""Tables as a run gives them, made without one: exact times of the plan, and bytes that follow the sizes as counted ones do."""

from course.experiments import run_experiment, table_row
from course.plan import DEFAULT, Row
from course.plan_rules import read_plan

LAYER, SLOT = 32_000, 0.002  # bytes that a layer holds for a sample; seconds of a slot


def record(row: Row, slot=SLOT, late=0.0, all_reduce=0.015) -> dict:
    """What is measured of a row; `late`: by how much longer the step was than its plan, in parts of it. `all_reduce`: seconds."""
    timeline = row.simulated()
    each = LAYER * row.layers // (row.pp * row.chunks) * row.micro_batch_size
    predicted = float(timeline.makespan) * slot
    alone = predicted * (1 + late)
    return {"bubble_measured": 1 - float(timeline.work) * slot / (row.pp * alone),
            "peak_activation_bytes": max(timeline.peak_activations) * each,
            "step_time_predicted": predicted, "step_time_measured": alone + all_reduce * (row.dp > 1)}


def made(rows=DEFAULT, **options) -> list[dict]:
    """The lines of a table of these rows, or of a plan's dicts."""
    if rows and not isinstance(rows[0], Row):
        rows = list(read_plan(list(rows)).rows.values())
    return [table_row(row, record(row, **options)) for row in rows]


def noisy(busy, rows=DEFAULT, **options) -> list[dict]:
    """The lines of a table; in those numbered in `busy` a busy machine made the bubble larger by so much of the step."""
    lines = made(rows, **options)
    for number, more in busy.items():
        timeline = rows[number - 1].simulated()
        share = 1 - float(timeline.bubble_fraction)
        lines[number - 1] = made([rows[number - 1]], late=share / (share - more) - 1, **options)[0]
    return lines


def row(**changes):
    return {"schedule": "1f1b", "pp": 2, "chunks": 1, "micro_batches": 4, "micro_batch_size": 2, "dp": 1, "layers": 4} | changes


PLAN = [row(), row(schedule="gpipe"), row(schedule="interleaved_1f1b", chunks=2), row(pp=1, micro_batches=2, dp=2),
        row(slow_stage=2)]


def virtual(plan=PLAN, **options):
    """The table of a plan that is run without waiting."""
    return run_experiment(plan, clock="virtual", **options)
