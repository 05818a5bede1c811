"""The released notebook 5, run as it is: it shows no answer."""

from tests.headless import outputs, run_notebook


def test_no_released_cell_gives_an_answer_away(tmp_path):
    notebook = run_notebook("notebooks", "5_tp_pp_dp_design.ipynb", tmp_path)
    shown = "\n".join(text for cell in notebook.cells if cell.cell_type == "code" for text in outputs(cell))
    static = "\n".join(cell.source for cell in notebook.cells)
    for secret in ("dp8", "tp8 pp1", "tp4 pp2", "tp2 pp4", "1.06 s", "8.08 s", "1.04 s", "2.26", "38.6", "3/2", "1.5 GB ", "270"):
        assert secret not in shown, secret
    for secret in ("dp=8", "tp=8", "tp=4", "pp=4", "* (layout.tp - 1)", "* (layout.dp - 1)", "12 / layout.dp",
                   "2 * layout.chunks", "38.7", "3.2 GB", "8 b s h", "(t-1)/t"):
        assert secret not in static, secret
    assert shown.count("0 of ") == 5
