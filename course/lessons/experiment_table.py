"""Notebook 6: configurations and tables as a reader sees them: in full, as plots, as Markdown, and blank for paper."""

from collections.abc import Mapping

from course.answers import LocalAnswer
from course.checks.experiment_plan import judge_mended
from course.checks.experiment_rows import Line, named, read_table
from course.checks.outcome import Message
from course.figures import curves_figure
from course.formulas import PPConfig
from course.lessons.one_line import shown
from course.plan import COLUMNS, CONDITIONS, EACH, FIXED
from course.view import View, outcome_view, paragraphs, table, together

HEADS = {"schedule": "schedule", "pp": "pp", "chunks": "v", "micro_batches": "m", "micro_batch_size": "b", "dp": "dp",
         "bubble_estimated": "bubble, estimated", "bubble_measured": "measured", "peak_activation_bytes": "peak",
         "step_time_predicted": "step, predicted", "step_time_measured": "measured"}
LEGEND = "v: stages a rank (chunks); m: micro-batches; b: samples in one; peak: activations on the fullest rank."
UNITS = {"micro_batches": "m", "micro_batch_size": "b", "bubble_estimated": "% of the step", "bubble_measured": "% of the step",
         "peak_activation_bytes": "bytes, fullest rank", "step_time_predicted": "s", "step_time_measured": "s",
         "slow_stage": "times", "message": "units"}
PECULIAR = "formula is not for"
BUSY = "*"  # the sign of a row that was measured while the machine was busy
BLANK_ROWS = 8


@shown
def batches(*configurations: PPConfig) -> View:
    """Configurations with their global batch and the bubble of GPipe and 1F1B."""
    return table(["pp", "micro-batches", "samples in one", "dp", "global batch", "bubble"],
                 [[one.pp, one.micro_batches, one.micro_batch_size, one.dp, one.global_batch(), f"{float(one.bubble()):.1%}"]
                  for one in configurations])


def mended(configuration: PPConfig) -> View:
    """Practice: whether the configuration now has the global batch of the others. No points, no record."""
    return outcome_view("Practice", judge_mended(LocalAnswer(configuration)))


def lines_of(table_of_runs) -> list[Line] | View:
    """The complete lines of a table; what to show in their place where there are none."""
    lines = read_table(LocalAnswer(table_of_runs).value())
    if isinstance(lines, Message):
        return paragraphs("There is no table to look at yet." if lines.code == "unanswered" else lines.text)
    lines = [line._replace(number=number) for line, number in zip(lines, _numbers(table_of_runs, len(lines)), strict=True)]
    return [line for line in lines if line.complete] or paragraphs("No row of the table is complete.")


def _numbers(table_of_runs, count):
    """The plan's numbers, which a table keeps from which a row is missing; else the lines are counted from 1."""
    numbers = list(table_of_runs.index) if hasattr(table_of_runs, "columns") else []
    kept = len(numbers) == count and all(isinstance(number, int) for number in numbers)
    return numbers if kept and numbers == sorted(set(numbers)) and numbers[:1] > [0] else range(1, count + 1)


def show_table(table_of_runs, about: Mapping | None = None) -> View:
    """The table with its units, what is peculiar to a row, rows of a busy machine marked; `about`: what stands beside it."""
    lines = lines_of(table_of_runs)
    if isinstance(lines, View):
        return lines
    rows = [[_number(line), *(_cell(name, line) for name in HEADS), _peculiar(line)] for line in lines]
    heads = ["row", *HEADS.values(), PECULIAR]
    keep = len(heads) if any(row[-1] for row in rows) else -1
    batches = sorted({line.row.global_batch for line in lines})
    said = f"{LEGEND} Global batch: {', '.join(map(str, batches))} samples."
    return together(table(heads[:keep], [row[:keep] for row in rows]),
                    paragraphs(*filter(None, (said, pacing(about or getattr(table_of_runs, "attrs", {})), busy(lines)))))


def busy(lines: list[Line]) -> str:
    """The sentence for under what shows these lines on which of them were measured while the machine was busy, or nothing."""
    marked = [line for line in lines if line.busy]
    return f"{BUSY} {named(marked, len(marked))} measured while the machine was busy." if marked else ""


def _number(line):
    return f"{line.number}{BUSY * bool(line.busy)}"


def pacing(about: Mapping) -> str:
    """One sentence on the emulated devices of a table, by what stands beside it; empty where nothing does."""
    try:
        unit, clock, machine = float(about["slot_seconds"]) * 1000, about["pacing"]["clock"], about["machine"]
        return (f"Emulated devices: one unit is {unit:.2f} ms, a layer's forward takes {FIXED} units and {EACH} for each sample. "
                f"Clock: {clock}. Machine: {machine['cores']:g} core{'s' * (machine['cores'] != 1)}, {machine['system']}.")
    except (KeyError, TypeError, ValueError):
        return ""


def versions(about: Mapping) -> str:
    """The versions that a table was measured with, by what stands beside it; empty where nothing does."""
    found = about.get("versions")
    return f"Versions: {', '.join(f'{name} {version}' for name, version in found.items())}." if isinstance(found, dict) else ""


def _cell(name, line):
    value = line.get(name)
    if name == "schedule":
        return line.row.schedule
    if value is None:
        return "-"
    if name.startswith("bubble"):
        return f"{float(value):.1%}"
    if name.startswith("step"):
        return f"{float(value) * 1000:,.0f} ms"
    return f"{float(value) / 1e6:.2f} MB" if name == "peak_activation_bytes" else f"{float(value):g}"


def _peculiar(line):
    words = {"slow stage": f"slow stage, x {float(line.row.slow_stage):g}", "few micro-batches": "m < pp",
             "slow link": f"messages of {float(line.row.message):g} units"}
    return ", ".join(words[part] for part in line.row.parts)


def bubbles(table_of_runs) -> View:
    """Estimated against measured bubble, a row beside the other."""
    lines = lines_of(table_of_runs)
    if isinstance(lines, View):
        return lines
    curves = {name: [_percent(line.get("bubble_measured")) if bool(line.busy) == busy else None for line in lines]
              for name, busy in (("measured", False), (f"measured, machine busy {BUSY}", True))}
    curves["estimated by the formula"] = [_percent(line.row.bubble_estimated) for line in lines]
    curves = {name: values for name, values in curves.items() if set(values) != {None}}
    return _marked(curves_figure([line.number for line in lines], curves, "Bubble of each row", "row", "% of the step",
                                 joined=False), lines)


def steps_over_m(table_of_runs) -> View:
    """Measured step time over the number of micro-batches; a curve joins rows that differ in nothing else."""
    lines = lines_of(table_of_runs)
    if isinstance(lines, View):
        return lines
    numbers = sorted({line.row.micro_batches for line in lines})
    curves = {}
    for line in lines:
        curve = curves.setdefault(_curve(line.row), [None] * len(numbers))
        curve[numbers.index(line.row.micro_batches)] = float(line.get("step_time_measured")) * 1000
    return _marked(curves_figure(numbers, curves, "Time of a step, one global batch", "micro-batches", "milliseconds"), lines)


def _marked(figure, lines):
    said = busy(lines)
    return together(figure, *[paragraphs(said)] * bool(said))


def _curve(row):
    parts = [row.schedule, f"{row.pp} ranks"] + [f"{row.chunks} chunks"] * (row.chunks > 1) + [f"dp {row.dp}"] * (row.dp > 1)
    return ", ".join([*parts, *row.parts])


def _percent(share):
    return round(100 * float(share), 2)


def shortest(table_of_runs, column: str = "row"):
    """What a column holds in the row with the shortest measured step, or that row's number.

    `...` where there is no table, or one from which a row of the plan is missing: that may be the shortest.
    """
    lines = lines_of(table_of_runs)
    if isinstance(lines, View) or len(lines) < getattr(table_of_runs, "attrs", {}).get("planned", 0):
        return ...
    best = min(lines, key=lambda line: line.get("step_time_measured"))
    return best.number if column == "row" else best.get(column)


def markdown(table_of_runs, about: Mapping | None = None) -> View:
    """The table in Markdown, to copy into a report, with the conditions of its runs under it."""
    lines = lines_of(table_of_runs)
    if isinstance(lines, View):
        return lines
    rows = [[_number(line), *map(_cell, COLUMNS, [line] * len(COLUMNS)), _peculiar(line) or "-"] for line in lines]
    about = about or getattr(table_of_runs, "attrs", {})
    said = filter(None, (pacing(about), versions(about), busy(lines).replace(BUSY, f"\\{BUSY}")))
    written = [*_markdown(["row", *COLUMNS, PECULIAR], rows), *(f"\n{sentence}" for sentence in said)]
    return _as_it_is("\n".join(written), "pre-wrap")


def blank_record(rows: int = BLANK_ROWS) -> View:
    """The record to fill in by hand, as text to print: a block for each row, its columns with their units."""
    names = (*COLUMNS, *(name for name in CONDITIONS if name != "layers"))  # which stand once for all rows
    heads = [f"{name} ({UNITS[name]})" if name in UNITS else name for name in names]
    width = max(map(len, heads)) + 1
    cells = " ".join("_" * 8 for _ in range(rows))
    lines = ["Experiment record", "", "date ____________  machine ______________________________  cores ____  layers ____",
             "versions: python ________  torch ________  course ________   slot (ms) ________  clock ________", "",
             f"{'row'.ljust(width)} {' '.join(str(number).center(8) for number in range(1, rows + 1))}"]
    lines += [f"{head.ljust(width)} {cells}" for head in heads]
    lines += ["", "where formula and measurement part, and why ____________________________________", "",
              "conclusion _____________________________________________________________________"]
    return _as_it_is("\n".join(line.rstrip() for line in lines))


def _markdown(heads, rows):
    return [f"| {' | '.join(cells)} |" for cells in (heads, ["---"] * len(heads), *rows)]


def _as_it_is(text, space="pre"):
    escaped = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return View(f"<pre style='white-space:{space};overflow-x:auto'>{escaped}</pre>", text)
