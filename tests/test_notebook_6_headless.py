"""The released notebook 6, run as it is: the worked example is measured, and no answer is shown."""

from tests.headless import outputs, run_notebook


def test_no_released_cell_gives_an_answer_away(tmp_path):
    notebook = run_notebook("notebooks", "6_experiment_table.ipynb", tmp_path)
    shown = "\n".join(text for cell in notebook.cells if cell.cell_type == "code" for text in outputs(cell))
    for secret in ("Practice: right", "interleaved_1f1b", "slow stage, x", "is right", "gpipe"):
        assert secret not in shown, secret
    assert shown.count("0 of ") == 3 and shown.count("There is no table to look at yet.") == 4
    assert "2 of 2 rows are in the table" in shown and "Experiment record" in shown
    assert sorted(path.name for path in tmp_path.glob("*.json")) == ["progress.json", "worked_example.json"]
    assert not list(tmp_path.glob("experiment_table*"))
