"""Notebook 4 in JupyterLab: answers typed into its cells, all cells run, the verdicts and pictures that a learner sees."""

import pytest

from tests.browser import NOTEBOOK, Notebook, places
from tests.looks import faults

NAME = "4_virtual_stages.ipynb"
pytestmark = [pytest.mark.browser, pytest.mark.timeout(600)]
PATIENCE = 240_000  # milliseconds for all cells, five real runs among them: a guard against hangs

BLOCKED = """def layers_of(num_layers, p, v, rank, chunk):
    k = num_layers // (p * v)
    return range((rank * v + chunk) * k, (rank * v + chunk + 1) * k)"""
ANSWERS = {
    "ex4-layers": """def layers_of(num_layers, p, v, rank, chunk):
    k = num_layers // (p * v)
    return range((chunk * p + rank) * k, (chunk * p + rank + 1) * k)""",
    "ex4-flags": """def decode(num_layers, p, layers_per_virtual_stage):
    if num_layers % p or num_layers // p % layers_per_virtual_stage:
        raise ValueError("Megatron refuses")
    v = num_layers // p // layers_per_virtual_stage
    return v if v > 1 else None

lesson_run = {"dp": 1, "m": 64, "v": 4}""",
    "ex4-order": """def interleaved_1f1b(p, m, v, rank):
    units = [(c, i) for g in range(0, m, p) for c in range(v) for i in range(g, g + p)]
    forwards = [f"{c * p + rank}F{i}" for c, i in units]
    backwards = [f"{(v - 1 - c) * p + rank}B{i}" for c, i in units]
    w = (v - 1) * p + p - rank - 1
    pairs = [token for pair in zip(forwards[w:], backwards) for token in pair]
    return forwards[:w] + pairs + backwards[m * v - w:]""",
    "ex4-cost": """def bubble_interleaved(p, m, v):
    return (p - 1) / (v * m + p - 1)

def boundary_messages(p, m, v):
    return 2 * m * (p * v - 1)

def activation_factor(p, v):
    return 1 + (p - 1) / (p * v)""",
}


def test_solved_in_the_browser(lab):
    browser, url, folder = lab
    notebook, at = Notebook(browser, url, NAME), places(folder / NAME)
    last = next(number for code, number in at.items() if "lambda: explore(" in code)
    notebook.run(at["ex4-setup"])
    notebook.write(at["ex4-layers-answer"], BLOCKED)
    notebook.run(at["ex4-layers-answer"])
    said = notebook.run(at["ex4-layers"])
    assert "1 of 3 points" in said and "stage rank * v + chunk" in said and "1.0" in said
    for grade_id, answer in ANSWERS.items():
        notebook.write(at[f"{grade_id}-answer"], answer)
    notebook.run_all()
    notebook.page.wait_for_function(f"() => {NOTEBOOK}.content.model.cells.get({last}).executionCount", timeout=PATIENCE)

    def expect(place, *texts, inside=".jp-OutputArea-output"):
        """Cells out of sight are drawn when they come into it, so each text is waited for."""
        cell = notebook.cell(at[place])
        cell.scroll_into_view_if_needed()
        for text in texts:
            cell.locator(inside, has_text=text).first.wait_for(timeout=PATIENCE)

    for grade_id, points in (("ex4-layers", 3), ("ex4-flags", 4), ("ex4-order", 5), ("ex4-cost", 4)):
        expect(grade_id, f"{points} of {points} points")
    expect("ex4-order", "8, 7, 6, 5 chunks, Megatron's 11, 9, 7, 5")
    expect('other_run = run_for_real(other_order(my_run), after="ex4-order")',
           "lean order, 2 chunks", "Megatron's order, 2 chunks", "112")
    expect("map_of(8, ranks=2, chunks=2)", "2 chunks each", inside="svg[role=img]")
    assert "Traceback" not in "".join(notebook.page.locator(".jp-OutputArea-output").all_inner_texts())
    assert faults(notebook) == []
    notebook.close()
