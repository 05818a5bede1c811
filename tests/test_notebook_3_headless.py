"""The released notebook 3, run as it is: it shows no answer."""

from tests.headless import outputs, run_notebook


def test_no_released_cell_gives_an_answer_away(tmp_path):
    notebook = run_notebook("notebooks", "3_bubble_fraction.ipynb", tmp_path)
    shown = "\n".join(text for cell in notebook.cells if cell.cell_type == "code" for text in outputs(cell))
    for secret in ("3/11", "27.3", "0.2727", "7/71", "9.86", "0.098", "63", "38", "34", "48", "nobody", "1112", "same.", "(p-1)"):
        assert secret not in shown, secret
    static = "\n".join(cell.source for cell in notebook.cells)
    for formula in ("p - 1", "p-1", "m + p", "m+p", "x/(1", "x / (1", "3/11", "7/71"):
        assert formula not in static.replace("dp - 1", ""), formula
    assert shown.count("0 of ") == 5 and "Draw" not in shown
