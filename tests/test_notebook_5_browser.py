"""Notebook 5 as a learner meets it: in JupyterLab in a browser, right answers typed, two wrong ones first."""

import pytest

from tests import bank_5_tp_pp_dp_design as bank
from tests.browser import Notebook, places
from tests.looks import faults

NAME = "5_tp_pp_dp_design.ipynb"
pytestmark = [pytest.mark.browser, pytest.mark.timeout(600)]

ANSWERS = {
    "ex5-volumes": f"tp_bytes = lambda layout, model: {bank.TP}\npp_bytes = lambda layout, model: {bank.PP}\n"
                   f"dp_bytes = lambda layout, model: {bank.DP}",
    "ex5-memory": f"state_bytes = lambda layout, model, distributed_optimizer: {bank.STATE}\n"
                  f"activation_bytes = lambda layout, model, recompute: {bank.ACTIVATIONS}",
    "ex5-design-a": "design_a = dict(tp=1, pp=1, dp=8, micro_batch_size=1, chunks=1, nodes=[list(range(8))])",
    "ex5-design-b": "design_b = dict(tp=4, pp=2, dp=1, micro_batch_size=1, chunks=2, nodes=[list(range(8))])",
    "ex5-design-c": "design_c = dict(tp=4, pp=2, dp=1, micro_batch_size=1, chunks=2, nodes=[[0, 1, 2, 3], [4, 5, 6, 7]])",
}


def test_solved_from_top_to_bottom(lab):
    browser, url, folder = lab
    notebook, at = Notebook(browser, url, NAME), places(folder / NAME)
    notebook.run(at["ex5-setup"])
    first = at['count("ring of 4", ...)']
    notebook.write(first, 'count("ring of 4", 3/4)')
    assert "The sums have to be handed out as well" in notebook.run(first)
    notebook.write(at["ex5-design-c-answer"],
          "design_c = dict(tp=8, pp=1, dp=1, micro_batch_size=1, chunks=1, nodes=[[0, 1, 2, 3], [4, 5, 6, 7]])")
    notebook.run(at["ex5-design-c-answer"])
    wrong = notebook.run(at["ex5-design-c"])
    assert "1.88 of 3 points" in wrong and "lies in more than one node" in wrong and "2.26 times the fastest" in wrong
    own = at['my_design("c", design_c)']
    notebook.run(own)
    assert "270.58 GB" in notebook.output(own) and notebook.cell(own).locator("svg[role=img]").count() == 1
    for grade_id, answer in ANSWERS.items():
        notebook.write(at[f"{grade_id}-answer"], answer)
    notebook.write(at['predict("first-tool-a", ..., sure=...)'], 'predict("first-tool-a", "pp", sure=90)')
    notebook.run_all()
    notebook.wait(at['hint("ex5-explain")'])
    for grade_id, points in zip(ANSWERS, (5, 3, 2, 3, 3), strict=True):
        assert f"{points} of {points} points" in notebook.output(at[grade_id]), grade_id
    ranking = at['when_right("ex5-design-c", lambda: ranking("c", design_c))']
    assert "(yours)" in notebook.output(ranking) and notebook.cell(ranking).locator("svg[role=img]").count() == 1
    real = at['when_right("ex5-design-c", lambda: run_design("c", design_c))']
    assert "from one process's: " in notebook.output(real) and notebook.cell(real).locator("svg[role=img]").count() == 1
    explorer = next(number for code, number in at.items() if "explore_layouts" in code)
    notebook.wait(explorer)
    assert notebook.cell(explorer).locator(".lex svg[role=img]").count() == 4
    assert "You predicted pp" in notebook.output(at['reveal("first-tool-a", after="ex5-design-a")'])
    assert faults(notebook) == []
    notebook.close()
