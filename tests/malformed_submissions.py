"""Submissions that are broken, as they are by haste, by accident or by a program: each one a kind that has been handed in."""

import json
import os

from autograder.submissions import as_bytes, delete_cell, find, grade_id_of, released, repeat_cell, truncate, write_cell
from tests.bad_submissions import BEFORE, FIRST, NOTEBOOK, bad, cell, ending, file

# Cells that do not end, or end more than themselves

ending("endless_loop", "while True: pass", "was stopped")
ending("endless_loop_that_catches_everything", """while True:
    try:
        while True: pass
    except BaseException:
        pass""", "was stopped")
ending("endless_loop_that_ignores_signals", """import signal
for number in set(signal.Signals) - {signal.SIGKILL, signal.SIGSTOP}:
    signal.signal(number, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_BLOCK, {number})
import time
while True: time.sleep(1)""", "left out")
ending("endless_sleep", "import time\ntime.sleep(10 ** 6)", "was stopped")
ending("endless_recursion", "def f():\n    f()\nf()", "RecursionError")
ending("endless_output", "while True: print('x' * 10_000)", "was stopped")
cell("output_of_50_mb", "import os\nfor _ in range(800):\n    os.write(1, b'x\\xff\\x1b[2J' * 8192)", "")
cell("threads_that_write_to_stderr", """import sys, threading
def work():
    for _ in range(200):
        sys.stderr.write("x" * 100 + chr(10))
for _ in range(30):
    threading.Thread(target=work).start()""")
cell("input", "name = input('Who are you?')", "cannot be used here")
ending("os_exit", "import os\nos._exit(0)", "left out")
ending("sys_exit", "import sys\nsys.exit(1)", "SystemExit")
ending("quits", "quit()", "ex1-diagram")
ending("keyboard_interrupt", "raise KeyboardInterrupt", "KeyboardInterrupt")
ending("segmentation_fault", "import ctypes\nctypes.string_at(0)", "SIGSEGV")
ending("aborts", "import os\nos.abort()", "left out: its process has ended")
ending("stops_itself", "import os, signal\nos.kill(os.getpid(), signal.SIGSTOP)\nimport time\ntime.sleep(1)\n[][0]", "IndexError")
ending("closes_its_pipes", "import os, time\nos.closerange(0, 100)\ntime.sleep(600)", "left out")
cell("error_that_cannot_be_told", """class Error(Exception):
    __str__ = __repr__ = lambda self: 1 / 0
raise Error""", "Error")

# Cells that take what they can get

ending("two_gb", "kept = b'x' * (2 << 30)", "ex1-diagram")
ending("memory_without_end", "kept = []\nwhile True:\n    kept.append(b'x' * (1 << 26))", "ex1-diagram")
ending("memory_for_a_number", "kept = 1 << (1 << 40)", "Error")
ending("fork_storm", "import os\nwhile True:\n    os.fork()", "ex1-diagram")
cell("full_disk", """for folder in ("/tmp", "/dev/shm", "."):
    for number in range(20):
        try:
            with open(f"{folder}/{number}", "wb") as file:
                for _ in range(64):
                    file.write(bytes(1 << 20))
        except OSError as error:
            print(error)""")
cell("cuda", "import torch\nx = torch.zeros(2, device='cuda')", "Error")
cell("packages_that_are_not_there", "%pip install nothing-of-this-name\n!ls\nimport nothing_of_this_name",
     "lines with % and !")

# Cells that are not where they were


@bad("put back")
def deleted_cells(notebooks, world):
    for grade_id in ("ex1-setup", FIRST, "ex1-diagram", "ex1-bubbles"):
        delete_cell(notebooks, grade_id)


@bad("more than once")
def duplicated_cells(notebooks, world):
    write_cell(notebooks, FIRST, "gpipe_diagram = ''")
    repeat_cell(notebooks, FIRST, "gpipe_diagram = 'F0'")
    repeat_cell(notebooks, BEFORE, "bubbles_per_stage = 0")
    repeat_cell(notebooks, "ex1-diagram", "10.0")


@bad("put back")
def renamed_cells(notebooks, world):
    for grade_id in (FIRST, "ex1-diagram", "ex1-bubbles"):
        cells, place = find(notebooks, grade_id)
        cells[place]["metadata"]["nbgrader"]["grade_id"] = f"{grade_id}-copy"


@bad()
def reordered_cells(notebooks, world):
    notebooks[NOTEBOOK]["cells"].reverse()


@bad("the first 300 are read")
def three_thousand_cells(notebooks, world):
    notebooks[NOTEBOOK]["cells"][1:1] = [{"cell_type": "code", "metadata": {}, "source": f"x = {number}", "outputs": [],
                                          "execution_count": None} for number in range(3000)]


@bad()
def cells_that_are_none(notebooks, world):
    notebooks[NOTEBOOK]["cells"][1:1] = [
        None, 7, [], "", {}, {"cell_type": 5, "source": {"a": 1}, "metadata": []},
        {"cell_type": "code", "source": [1, None, "x = 1"], "metadata": {"nbgrader": "yes"}},
        {"cell_type": "raw", "source": "\0\ud800\x1b[2J", "metadata": {"nbgrader": {"grade_id": []}}}]


@bad()
def schema_too_old_and_too_new(notebooks, world):
    for number, one in enumerate(notebooks[NOTEBOOK]["cells"]):
        if grade_id_of(one):
            one["metadata"]["nbgrader"]["schema_version"] = (1, 99, None, "three")[number % 4]


@bad()
def no_kernelspec(notebooks, world):
    notebooks[NOTEBOOK] = {"cells": notebooks[NOTEBOOK]["cells"]}


@bad()
def another_kernel(notebooks, world):
    notebooks[NOTEBOOK]["metadata"] = {"kernelspec": {"name": "julia", "language": "R"}, "language_info": None}


# Files that are not what they were

file("empty", b"", "not a notebook")
file("binary", os.urandom(1000), "not a notebook")
file("list", b"[]", "no list of cells")
file("null", b"null", "no list of cells")
file("nothing_but_null_bytes", bytes(4096), "not a notebook")
file("json_200_000_deep", b'{"cells":' + b"[" * 200_000 + b"]" * 200_000 + b"}", "nested too deep")
file("millions_of_lists", b'{"cells": [' + b"[]," * 2_000_001 + b"[]]}", "lists and objects")
file("link_to_nowhere", lambda path: path.symlink_to("nowhere"), "link")
file("link_to_a_device", lambda path: path.symlink_to("/dev/zero"), "link")
file("fifo", os.mkfifo, "pipe")
file("folder_in_its_place", os.mkdir, "folder")


@bad("not a notebook", earned={}, status="rejected")
def truncated(notebooks, world):
    truncate(notebooks, NOTEBOOK)


@bad("nbformat 3")
def nbformat_3(notebooks, world):
    cells = [{**one, "input": one["source"]} for one in notebooks[NOTEBOOK]["cells"]]
    notebooks[NOTEBOOK] = {"nbformat": 3, "nbformat_minor": 0, "metadata": {"name": ""}, "worksheets": [{"cells": cells}, None]}


@bad()
def nbformat_99(notebooks, world):
    notebooks[NOTEBOOK] |= {"nbformat": 99, "nbformat_minor": -1}


@bad("utf-16")
def utf_16(notebooks, world):
    notebooks[NOTEBOOK] = json.dumps(notebooks[NOTEBOOK]).encode("utf-16")


@bad("20 MB are allowed", earned={}, status="rejected")
def outputs_of_50_mb(notebooks, world):
    cells, place = find(notebooks, FIRST)
    cells[place]["outputs"] = [{"output_type": "stream", "name": "stdout", "text": "x" * 50_000_000}]


@bad("cannot be opened", earned={}, status="rejected", closed=True)
def unreadable(notebooks, world):
    content = as_bytes(notebooks[NOTEBOOK])
    notebooks[NOTEBOOK] = lambda path: (path.write_bytes(content), path.chmod(0))


# Names that are not what they were


@bad("handed in as")
def renamed_notebook(notebooks, world):
    notebooks["My Diagram (1).IPYNB"] = notebooks.pop(NOTEBOOK)


@bad("no notebook of this course", earned={}, status="rejected")
def missing_notebooks(notebooks, world):
    notebooks.clear()


@bad("was not graded")
def extra_notebooks(notebooks, world):
    notebooks["1_gpipe_diagram (copy).ipynb"] = released()[NOTEBOOK]
    notebooks["notes.ipynb"] = {"cells": []}
    notebooks["holiday.ipynb"] = b"\x89PNG"


@bad("is named", folder="Pipeline Parallelism")
def folder_with_a_space(notebooks, world):
    """Nothing is changed."""


@bad("is named", folder="PIPELINE-PARALLELISM")
def folder_in_capitals(notebooks, world):
    """Nothing is changed."""


@bad("no folder", earned={}, status="rejected", folder="assignment 1")
def folder_of_another_name(notebooks, world):
    """Nothing is changed."""
