"""Notebook 6 as a learner meets it: in JupyterLab in a browser, a plan mended, a run that is stopped and goes on, conclusions."""

import json
import time

import pytest

from tests.browser import Notebook, places
from tests.looks import faults

NAME = "6_experiment_table.ipynb"
pytestmark = [pytest.mark.browser, pytest.mark.timeout(900)]

ROW = '{"schedule": %r, "pp": %d, "chunks": %d, "micro_batches": %d, "micro_batch_size": %d, "dp": %d%s}'
ROWS = [("1f1b", 2, 1, 8, 1, 1, ""), ("interleaved_1f1b", 2, 2, 4, 2, 1, ""), ("gpipe", 4, 1, 4, 2, 1, ""),
        ("1f1b", 2, 1, 4, 1, 2, ""), ("1f1b", 4, 1, 4, 2, 1, ', "slow_stage": 2')]
BROKEN = [*ROWS[:4], ("1f1b", 4, 1, 8, 2, 1, ', "slow_stage": 2')]
# what a table without noise says: this machine may be busy
CONCLUSIONS = """
conclusions = {
    "a": table.step_time_predicted.idxmin(), "b": table.peak_activation_bytes.idxmax(), "c": 1,
    "d": (table.pp * table.dp * table.step_time_predicted).idxmin(), "e": 5, "f": "slow stage", "g": False, "h": True, "i": False,
    "j": True}
"""


def plan(rows):
    return "configurations = [\n    " + ",\n    ".join(ROW % row for row in rows) + "]"


def finished(folder):
    """How many rows the file holds."""
    try:
        return len(json.loads((folder / "experiment_table.json").read_text(encoding="utf-8"))["rows"])
    except (OSError, ValueError):
        return 0


def stop_after_a_row(notebook, number, folder):
    """Run a cell, press the square in the toolbar once a row is finished; what the cell then shows."""
    before = notebook.prompt(number)
    notebook.focus(number)
    notebook.page.keyboard.press("Control+Enter")
    deadline = time.monotonic() + 300
    while not finished(folder) and time.monotonic() < deadline:
        notebook.page.wait_for_timeout(100)
    notebook.page.locator('jp-button[data-command="notebook:interrupt-kernel"]').first.click()
    return notebook.wait(number, before)


def test_stopped_resumed_and_concluded(lab):
    browser, url, folder = lab
    notebook, at = Notebook(browser, url, NAME), places(folder / NAME)
    notebook.page.set_default_timeout(300_000)
    try:
        notebook.run(at["ex6-setup"])
        mending = at["mended(PPConfig(8, ..., ...))"]
        notebook.write(mending, "mended(PPConfig(8, 64, 1))")
        assert "64 samples" in notebook.run(mending)
        notebook.write(mending, "mended(PPConfig(8, 32, 1))")
        assert "Practice: right" in notebook.run(mending)
        notebook.write(at["ex6-plan-answer"], plan(BROKEN))
        notebook.run(at["ex6-plan-answer"])
        verdict = notebook.run(at["ex6-plan"])
        assert "5 of 6 points" in verdict and "Row 5" in verdict and "The nearest row that obeys" in verdict
        notebook.write(at["ex6-plan-answer"], plan(ROWS))
        notebook.run(at["ex6-plan-answer"])
        assert "6 of 6 points" in notebook.run(at["ex6-plan"])
        answer = at["ex6-table-answer"]
        notebook.write(answer, "table = run_experiment(configurations)")
        shown = stop_after_a_row(notebook, answer, folder)
        kept = finished(folder)
        assert f"Interrupted: {kept} of 5 rows are finished and kept in experiment_table.json" in shown and 1 <= kept < 5
        assert "Traceback" not in shown
        shown = notebook.run(answer)
        assert f"{kept} of 5 rows were finished before" in shown and "5 of 5 rows are in the table" in shown
        assert "6 of 6 points" in notebook.run(at["ex6-table"])
        assert "slow stage, x 2" in notebook.run(at["show_table(table)"])
        for cell in ("bubbles(table)", "steps_over_m(table)"):
            notebook.run(at[cell])
            assert notebook.cell(at[cell]).locator("svg[role=img]").count() == 1
        notebook.write(at["ex6-conclusions-answer"], CONCLUSIONS.replace('"slow stage"', '"slow link"'))
        notebook.run(at["ex6-conclusions-answer"])
        verdict = notebook.run(at["ex6-conclusions"])
        assert "7 of 8 points" in verdict and "look at what is peculiar to this row" in verdict
        notebook.write(at["ex6-conclusions-answer"], CONCLUSIONS)
        notebook.run(at["ex6-conclusions-answer"])
        assert "8 of 8 points" in notebook.run(at["ex6-conclusions"])
        assert "| 5 | 1f1b | 4 |" in notebook.run(at["markdown(table)"])
        assert (folder / "experiment_table.csv").read_text().count("\n") == 6
        assert faults(notebook) == []
    finally:
        notebook.close()
