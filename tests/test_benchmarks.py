"""The benchmarks: each is a command, `make bench` runs them all, and what they put into a table is a row of it."""

import re
import subprocess
import sys
from pathlib import Path

from benchmarks import core
from benchmarks.table import best, middle, show

ROOT = Path(__file__).parents[1]
NAMES = sorted(path.stem for path in (ROOT / "benchmarks").glob("*.py") if "def main()" in path.read_text())


def test_make_bench_runs_them_all():
    (listed,) = re.findall(r"^BENCHMARKS := (.*)$", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert sorted(listed.split()) == NAMES != []


HELP = """
import importlib, sys
for name in sys.argv[1:]:
    main, sys.argv = importlib.import_module(f"benchmarks.{name}").main, [name, "--help"]
    try:
        main()
    except SystemExit as ended:
        assert not ended.code, name
    else:
        raise AssertionError(name)
"""


def test_each_is_a_command():
    """All in one process: each alone would import torch again."""
    done = subprocess.run([sys.executable, "-c", HELP, *NAMES], cwd=ROOT, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.count("usage: ") == len(NAMES)


def test_a_row_of_the_core_has_its_operations():
    assert core.row_of(64, 1)[:2] == ["64 x 64 x 2", "16,384"]


def test_the_table_and_its_numbers(capsys):
    show(["", "ms"], [["one", "1.00"], ["a hundred", "100.00"]])
    assert capsys.readouterr().out == "               ms\none          1.00\na hundred  100.00\n\n"
    assert (middle([3, 1, 2]), best(range(100))) == (2, 10)
