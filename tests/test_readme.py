"""The README against the tree: its links, its picture, its commands, its tables."""

import re
import shlex
from pathlib import Path

import pytest

from course.__main__ import main
from course.exercises import EXERCISES
from course.figures.__main__ import main as draw

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
COMMANDS = re.findall(r"python -m course(?:\.figures)? [^#`\n]+", README)


def test_links_lead_somewhere():
    for target in re.findall(r"\]\((?!https?:)([^)#]+)\)", README):
        assert (ROOT / target).exists(), target


def test_the_picture_is_what_the_code_draws(tmp_path):
    (command,) = [command for command in COMMANDS if "figures" in command]
    arguments = shlex.split(command.strip().rstrip("."))[3:]
    draw([str(tmp_path / "drawn.svg"), *arguments[1:]])
    assert (tmp_path / "drawn.svg").read_bytes() == (ROOT / arguments[0]).read_bytes()


def test_the_command_that_shows_a_schedule(capsys):
    (command,) = [command for command in COMMANDS if " show " in command]
    assert not main(shlex.split(command)[3:])
    assert "3/11" in capsys.readouterr().out


def test_every_make_target_named_exists():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in set(re.findall(r"^make (\w+)", README, re.MULTILINE)):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target


@pytest.mark.parametrize("notebook", sorted({entry.notebook for entry in EXERCISES.values()}))
def test_points_in_the_table_of_notebooks(notebook):
    points = sum(entry.points for entry in EXERCISES.values() if entry.notebook == notebook)
    (row,) = [line for line in README.splitlines() if line.startswith(f"| `{notebook}`")]
    assert f"{points:g} points" in row
