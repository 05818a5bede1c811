"""Submissions that mean harm or are broken: one short function each, which edits an honest one.

What is edited is notebook 1 as released with one right answer, ex1-bubbles (4 points): that answer keeps its mark, and nothing
else may get one. `earned` is what the case's own answers are worth, `says` a part of what the grading must say about it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from autograder.submissions import (
    Notebooks,
    add_cell,
    append_to_cell,
    delete_cell,
    released,
    repeat_cell,
    solved,
    truncate,
    write_cell,
)

NOTEBOOK = "1_gpipe_diagram.ipynb"
HONEST = {"ex1-bubbles": 4.0}
SECRET = "only-the-instructor-reads-this"


@dataclass(frozen=True)
class World:
    """What a case is told about the machine: where things lie, and the port of somebody who listens."""

    checkout: Path
    gradebook: Path
    port: int
    marker: str


@dataclass(frozen=True)
class Case:
    """An edit of an honest submission: (notebooks, world) -> None."""

    name: str
    edit: Callable[[Notebooks, World], None]
    earned: dict[str, float]
    status: str
    says: str

    def notebooks(self, world: World) -> Notebooks:
        """The submission; a value that is neither notebook nor bytes makes the file itself, given its path."""
        found = {NOTEBOOK: released()[NOTEBOOK]}
        write_cell(found, "ex1-bubbles-answer", "bubbles_per_stage = [6, 6, 6, 6]\nbubble_fraction_4_4 = 3 / 7")
        self.edit(found, world)
        return found


CASES: list[Case] = []


def bad(says="", earned=HONEST, status="graded"):
    def keep(edit):
        CASES.append(Case(edit.__name__.replace("_", "-"), edit, earned, status, says))
        return edit
    return keep


def whole() -> Notebooks:
    """Notebook 1 with every answer right: the neighbours."""
    return {NOTEBOOK: solved()[NOTEBOOK]}


@bad("Error")
def reads_the_tests(notebooks, world):
    write_cell(notebooks, "ex1-diagram-answer", f"exec(open({str(world.checkout / 'tests/bank_1_gpipe_diagram.py')!r}).read()"
               ".replace('from tests.bank import Case', 'Case = print'))\ngpipe_diagram = FIRST_OUT")


@bad("Error")
def reads_the_solutions(notebooks, world):
    write_cell(notebooks, "ex1-diagram-answer", f'''import json
cells = json.load(open({str(world.checkout / "solutions/pipeline_parallelism" / NOTEBOOK)!r}))["cells"]
exec(next("".join(cell["source"]) for cell in cells if "F3 B0" in "".join(cell["source"])))''')


@bad("Error")
def reads_the_gradebook(notebooks, world):
    add_cell(notebooks, "ex1-diagram-answer", f"print(open({str(world.gradebook)!r}, 'rb').read())")


@bad("Error")
def writes_the_gradebook(notebooks, world):
    add_cell(notebooks, "ex1-diagram-answer", f'''import sqlite3
with sqlite3.connect({str(world.gradebook)!r}) as book:
    book.execute("update grade set manual_score = 4")''')


@bad("Error")
def writes_into_the_course(notebooks, world):
    add_cell(notebooks, "ex1-diagram-answer", f"open({str(world.checkout / 'course' / world.marker)!r}, 'w').write('x')")


@bad()
def patched_checker(notebooks, world):
    add_cell(notebooks, "ex1-diagram-answer", """import course.answers, course.exercises, course.wire
import course.checks.gpipe_diagram as checks
course.exercises.judge = checks.check_diagram = course.answers.LocalAnswer = lambda *answers: 10.0
for name in vars(checks):
    if name.startswith('check_'):
        setattr(checks, name, lambda *answers: 10.0)
course.wire.to_wire.__code__ = (lambda value: '10.0').__code__""")


@bad()
def patched_builtins(notebooks, world):
    add_cell(notebooks, "ex1-diagram-answer", """import builtins, json
builtins.isinstance = builtins.all = builtins.any = lambda *values: True
builtins.len = lambda value: 4
builtins.repr = json.dumps = lambda *values, **options: '10.0'""")


@bad("found 0.0", earned={})
def lying_eq(notebooks, world):
    write_cell(notebooks, "ex1-bubbles-answer", """class Liar(float):
    __eq__ = __le__ = __ge__ = __lt__ = __gt__ = lambda self, other: True
    __hash__ = float.__hash__
    __sub__ = __rsub__ = __abs__ = __float__ = lambda self, *other: 0.0
bubbles_per_stage, bubble_fraction_4_4 = [Liar(), Liar(), Liar(), Liar()], Liar()""")


@bad("left out")
def exits(notebooks, world):
    append_to_cell(notebooks, "ex1-diagram-answer", "import os\nos._exit(0)")


@bad("was stopped")
def endless_loop(notebooks, world):
    append_to_cell(notebooks, "ex1-diagram-answer", "while True: pass")


@bad("was stopped")
def endless_loop_that_catches_everything(notebooks, world):
    append_to_cell(notebooks, "ex1-diagram-answer", """while True:
    try:
        while True: pass
    except BaseException:
        pass""")


@bad("was stopped")
def endless_output(notebooks, world):
    append_to_cell(notebooks, "ex1-diagram-answer", "while True: print('x' * 10_000)")


@bad("not a notebook", earned={}, status="rejected")
def truncated(notebooks, world):
    truncate(notebooks, NOTEBOOK)


@bad("put back")
def deleted_cells(notebooks, world):
    for grade_id in ("ex1-setup", "ex1-diagram-answer", "ex1-diagram", "ex1-bubbles"):
        delete_cell(notebooks, grade_id)


@bad("more than once")
def duplicated_cells(notebooks, world):
    write_cell(notebooks, "ex1-diagram-answer", "gpipe_diagram = ''")
    repeat_cell(notebooks, "ex1-diagram-answer", "gpipe_diagram = 'F0'")
    repeat_cell(notebooks, "ex1-bubbles-answer", "bubbles_per_stage = 0")
    repeat_cell(notebooks, "ex1-diagram", "10.0")


@bad("link", earned={}, status="rejected")
def symlink_to_the_solution(notebooks, world):
    solution = world.checkout / "solutions/pipeline_parallelism" / NOTEBOOK
    notebooks[NOTEBOOK] = lambda path: path.symlink_to(solution)


@bad("link", earned={}, status="rejected")
def symlink_to_a_neighbour(notebooks, world):
    notebooks[NOTEBOOK] = lambda path: path.symlink_to(next(path.parents[2].glob("*-good")) / path.parent.name / NOTEBOOK)


@bad()
def background_process(notebooks, world):
    add_cell(notebooks, "ex1-diagram-answer", f"""import os, subprocess, sys
sleeps = [sys.executable, "-c", "import time; time.sleep(600)", {world.marker!r}]
subprocess.Popen(sleeps, start_new_session=True)
if not os.fork():
    os.setsid()
    if os.fork():
        os._exit(0)
    os.execv(sleeps[0], sleeps)""")


@bad()
def forked_child_that_goes_on(notebooks, world):
    add_cell(notebooks, "ex1-diagram-answer", "import os\nos.fork()")


@bad("Error")
def network_out(notebooks, world):
    add_cell(notebooks, "ex1-diagram-answer", f"""import socket
socket.create_connection(("127.0.0.1", {world.port}), 3).send(b"x")""")
