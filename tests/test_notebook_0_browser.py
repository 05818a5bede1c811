"""Notebook 0 in JupyterLab: a run is interrupted, a worker is killed from another cell, and each time the next run works."""

import nbformat
import pytest

from tests.browser import PATIENCE, Notebook
from tests.looks import faults

NAME = "0_start_here.ipynb"
LONG = 'run_for_real(schedules.gpipe(stages=4, micro_batches=2), slot_seconds=5, steps=1)'
KILL = "import os, signal\nos.kill(first_run.run.pids[2], signal.SIGKILL)"
KILL_LATER = """import os, signal, threading
threading.Timer(3, os.kill, (again.run.pids[1], signal.SIGKILL)).start()"""
MEMORY = "document.querySelector('#jp-main-statusbar')?.innerText.match(/Mem: [1-9]/)"  # the status bar says how much is used
pytestmark = [pytest.mark.browser, pytest.mark.timeout(600)]


@pytest.fixture
def opened(lab):
    """The released notebook with four cells of a curious learner at its end, and the number of the first of them."""
    browser, url, folder = lab
    content = nbformat.read(folder / NAME, as_version=4)
    cells = [LONG, KILL, "again = run_for_real(schedules.gpipe(stages=4, micro_batches=2))\nagain", KILL_LATER]
    first = len(content.cells)
    content.cells += [nbformat.v4.new_code_cell(code, id=f"curious-{number}") for number, code in enumerate(cells)]
    nbformat.write(content, folder / NAME)
    notebook = Notebook(browser, url, NAME)
    yield notebook, content, first
    notebook.close()


def test_interrupted_killed_and_run_again(opened):
    notebook, content, first = opened
    notebook.page.wait_for_function(MEMORY, timeout=PATIENCE)
    imports, the_run = (next(number for number, cell in enumerate(content.cells) if cell.source.startswith(begin))
                        for begin in ("from course", "first_run ="))
    interrupted, killed, again, killed_later = range(first, first + 4)
    notebook.run(imports)
    assert "Measured on 4 processes" in notebook.run(the_run)

    notebook.focus(interrupted)
    notebook.page.keyboard.press("Control+Enter")
    notebook.page.wait_for_timeout(2000)
    assert "*" in notebook.prompt(interrupted)
    notebook.page.keyboard.press("Escape")
    notebook.page.keyboard.press("i")
    notebook.page.keyboard.press("i")
    shown = notebook.wait(interrupted)
    assert shown.strip() == "Interrupted: the processes were ended; run the cell again", shown
    assert "Measured on 4 processes" in notebook.run(the_run), "after an interrupt"

    assert notebook.run(killed) == ""
    assert "Measured on 4 processes" in notebook.run(again), "after a worker was killed between two runs"

    notebook.run(killed_later)
    shown = notebook.run(interrupted)
    assert "rank 1" in shown and "SIGKILL" in shown and "Traceback" not in shown, shown
    assert "Measured on 4 processes" in notebook.run(again), "after a worker was killed in a run"
    assert faults(notebook) == []
