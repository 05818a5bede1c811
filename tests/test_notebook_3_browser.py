"""Notebook 3 as a learner meets it: in JupyterLab in a browser, right answers typed, one wrong one first."""

import pytest

from tests.browser import Notebook, places
from tests.looks import faults

NAME = "3_bubble_fraction.ipynb"
pytestmark = [pytest.mark.browser, pytest.mark.timeout(600)]

ANSWERS = {
    "ex3-derive": "total_slots = lambda p, m: m + p - 1\nbusy_slots = lambda p, m: m\n"
                  "bubble_fraction = lambda p, m: (p - 1) / (m + p - 1)",
    "ex3-use": "bubble_4_8 = '27.3%'\nbubble_8_64 = bubble_fraction(8, 64)",
    "ex3-inverse": "micro_batches_needed = lambda p, f: next(m for m in range(1, 10000) if bubble_fraction(p, m) <= f)",
    "ex3-definitions": "bubble_over_ideal = lambda p, m: (p - 1) / m\nto_fraction_of_total = lambda x: x / (1 + x)",
    "ex3-limits": "best_micro_batch_size = lambda n, p, dp, t: min(t, key=lambda b: (n / (b * dp) + p - 1) * t[b])",
}


def test_solved_from_top_to_bottom(lab):
    browser, url, folder = lab
    notebook, at = Notebook(browser, url, NAME), places(folder / NAME)
    notebook.run(at["ex3-setup"])
    first = at['step("start", lambda p, m: ...)']
    notebook.write(first, 'step("start", lambda p, m: p)')
    assert "the last stage does not wait for itself" in notebook.run(first)
    notebook.write(first, 'step("start", lambda p, m: p - 1)')
    assert "Step start: right" in notebook.run(first)
    notebook.write(at["ex3-derive-answer"], ANSWERS["ex3-derive"].replace("(m + p - 1)", "m"))
    notebook.run(at["ex3-derive-answer"])
    wrong = notebook.run(at["ex3-derive"])
    assert "5 of 8 points" in wrong and "idle over ideal time" in wrong
    for grade_id, answer in ANSWERS.items():
        notebook.write(at[f"{grade_id}-answer"], answer)
    notebook.write(at['predict("best-number", ..., sure=...)'], 'predict("best-number", 32, sure=90)')
    notebook.run_all()
    last = at["when_right(\"ex3-limits\", lambda: your_choice(best_micro_batch_size, five_runs))"]
    notebook.page.set_default_timeout(180_000)
    assert "shortest of all that were run" in notebook.wait(last)
    for grade_id, points in (("ex3-derive", 8), ("ex3-use", 4), ("ex3-inverse", 3), ("ex3-definitions", 2), ("ex3-limits", 3)):
        assert f"{points} of {points} points" in notebook.output(at[grade_id]), grade_id
    curve = next(number for code, number in at.items() if code.startswith("five_runs ="))
    assert "samples in one" in notebook.output(curve)
    assert notebook.cell(curve).locator("svg[role=img]").count() == 1
    assert "You predicted 32" in notebook.output(at['reveal("best-number", shortest(five_runs))'])
    assert faults(notebook) == []
    notebook.close()
