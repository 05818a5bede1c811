"""What of a notebook's cells is run, and how its text becomes plain Python: IPython's own lines are left out."""

import re
import symtable
from collections.abc import Sequence

from autograder.intake import Cell
from course.exercises import EXERCISES

ASSIGNED = re.compile(r"[\w.,\s]++=\s*+[%!]")
PYTHON_INSIDE = re.compile(r"\s*+%%(?:time|timeit|capture|prun)(?!\S)[^\n]*+\n?+")  # a heading of what is Python
OTHER_INSIDE = re.compile(r"\s*+%%")
ROWS = "run_experiment"  # a cell that names it may ask for rows that our side runs
ASKED, GIVEN = "__asked_rows__", "__give_rows__"
SEED = 0  # of the learner's generators: the same for all, so that it tells nothing of the seed of what is drawn
# as IPython has it in a notebook, without a display; its lines with % and ! are left out before a cell is run
PREPARE = """
def prepare():
    import builtins, os, random, sys
    os.environ["NBGRADER_EXECUTION"] = "autograde"
    class Nothing:
        def __getattr__(self, name):
            return lambda *arguments, **options: None
    shell = Nothing()
    builtins.get_ipython, builtins.display = lambda: shell, lambda *values, **options: None
    random.seed({seed})
    for name in {packages}:
        try:
            __import__(name)
        except ImportError:
            continue
        (sys.modules[name].random.seed if name == "numpy" else sys.modules[name].manual_seed)({seed})
prepare()
del prepare
"""
PREPARE_ROWS = f"""
from course.given_runs import asked as {ASKED}, begin, give as {GIVEN}
begin()
del begin
"""


def prepared(cells: Sequence[Cell]) -> str:
    """The code that comes before a notebook's first cell: it is graded, and random numbers begin at SEED."""
    packages = [name for name in ("numpy", "torch") if any(name in cell.source for cell in cells if not cell.ours)]
    rows = any(ROWS in cell.source for cell in cells)
    return PREPARE.format(seed=SEED, packages=packages) + PREPARE_ROWS * rows


def is_check(cell: Cell) -> bool:
    """Whether at this cell's place an exercise's check is asked."""
    return cell.grade_id in EXERCISES and not EXERCISES[cell.grade_id].manual


def cells_to_run(cells: Sequence[Cell]) -> list[int]:
    """The places of the code cells that are run: the learner's, our set-up, and of our others those that a learner's name.

    Ours show, predict, run for real and ask for hints; an answer can depend on one only by a name that it binds.
    """
    code = [place for place, cell in enumerate(cells) if cell.kind == "code" and not is_check(cell)]
    chosen = [place for place in code if not cells[place].ours or cells[place].grade_id]
    named = {name for place in chosen for name in re.findall(r"\w+", cells[place].source)}
    for place in reversed(code):
        if place not in chosen and _bound(cells[place].source) & named:
            chosen.append(place)
            named |= set(re.findall(r"\w+", cells[place].source))
    return sorted(chosen)


def _bound(source):
    """The names that a cell of ours gives a value to."""
    table = symtable.symtable(source, "cell", "exec")
    return {symbol.get_name() for symbol in table.get_symbols() if symbol.is_assigned() or symbol.is_imported()}


def _is_magic(text):
    """Whether IPython reads this line, without the blanks around it, where Python does not."""
    return bool(text.startswith(("%", "!", "?")) or ASSIGNED.match(text) or (text.endswith("?") and not set("#'\"") & set(text)))


def without_magics(source: str) -> str | None:
    """The cell with `pass` in place of IPython's lines; None where there is none of them. Python's own text is not parsed here.

    >>> without_magics("%matplotlib inline\\nx = 1")
    'pass\\nx = 1'
    """
    start = 0
    while heading := PYTHON_INSIDE.match(source, start):
        start = heading.end()
    if OTHER_INSIDE.match(source, start):
        return "pass"
    lines = source[start:].split("\n")
    kept = [f"{line[:-len(line.lstrip())]}pass" if _is_magic(line.strip()) else line for line in lines]
    return "\n".join(kept) if start or kept != lines else None
