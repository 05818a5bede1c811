"""Notebook 2 as a learner meets it: in JupyterLab in a browser, a wrong order, then the right one, run and measured."""

import pytest

from tests.bank_2_orders import LOOP
from tests.browser import NOTEBOOK, Notebook, places
from tests.looks import faults

NAME = "2_1f1b_phases.ipynb"
ANSWERS = {
    "ex2-phases": "def phase_lengths(p, m, stage):\n    w = min(p - 1 - stage, m)\n    return w, m - w, w",
    "ex2-in-flight": "def peak_in_flight(schedule, p, m, stage):\n    return m if schedule == 'gpipe' else min(m, p - stage)",
    "ex2-claims": "claims = dict(a=False, b=True, c=False, d=False, e=True, f=True)",
}
pytestmark = [pytest.mark.browser, pytest.mark.timeout(600)]


def order(warm_up):
    body = LOOP.replace("min(p - 1 - stage, m)", warm_up).strip() + "\nreturn order"
    return "def one_f_one_b(p, m, stage):\n" + "\n".join("    " + line for line in body.splitlines())


def see(notebook, number, text):
    """Wait until a cell shows this: what is off the screen is not in the page."""
    notebook.cell(number).scroll_into_view_if_needed()
    notebook.cell(number).get_by_text(text).first.wait_for()


def test_a_wrong_order_then_all_right(lab):
    browser, url, folder = lab
    notebook, at = Notebook(browser, url, NAME), places(folder / NAME)
    try:
        notebook.run(at["ex2-setup"])
        stopped = notebook.run(at['within_room(schedules.gpipe(4, 8), room=4, title="GPipe, as far as it goes")'])
        assert "Stage 0 stops at F4" in stopped
        notebook.run(at['small_drawing = """'])
        assert notebook.cell(at['small_drawing = """']).locator("td[data-place]").count() == 2 * 10
        notebook.write(at["ex2-order-answer"], order("min(p - 1, m)"))
        notebook.run(at["ex2-order-answer"])
        verdict = notebook.run(at["ex2-order"])
        assert "the warm-up is p-1 forwards on every stage" in verdict and "3.25 of 8 points" in verdict
        drawn = at['show(one_f_one_b, title="Your order", stages=4, micro_batches=8, summary=False)']
        notebook.run(drawn)
        assert notebook.cell(drawn).locator("svg text", has_text="Your order").count() == 1
        notebook.write(at["ex2-order-answer"], order("min(p - 1 - stage, m)"))
        for grade_id, answer in ANSWERS.items():
            notebook.write(at[f"{grade_id}-answer"], answer)
        notebook.run_all()
        ran = f"number => /\\d/.test({NOTEBOOK}.content.model.cells.get(number).sharedModel.execution_count)"
        notebook.page.wait_for_function(ran, arg=at['hint("ex2-explain")'], timeout=120_000)
        for grade_id, points in (("ex2-order", 8), ("ex2-phases", 3), ("ex2-in-flight", 4), ("ex2-claims", 1)):
            see(notebook, at[grade_id], f"{points} of {points} points")
        compared = at['when_right("ex2-in-flight", lambda: same_step(gpipe_run, my_run))']
        see(notebook, compared, "bubble, measured")
        assert faults(notebook) == []
    finally:
        notebook.close()
