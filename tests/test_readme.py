"""The README against the tree: its pictures, its commands, its tables; and the links of every page."""

import re
import shlex
from pathlib import Path
from xml.etree import ElementTree

import pytest

from course.__main__ import main
from course.exercises import EXERCISES
from course.figures.__main__ import main as draw

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
COMMANDS = re.findall(r"python -m course(?:\.figures)? [^#`\n]+", README)


PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")])


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    text = page.read_text(encoding="utf-8")
    for target, heading in re.findall(r"\]\((?!https?:)([^)#]*)(?:#([^)]+))?\)", text):
        there = page.parent / target if target else page
        assert there.exists(), f"{page.name}: {target}"
        if heading:
            titles = re.findall(r"^#+ (.+)$", there.read_text(encoding="utf-8"), re.MULTILINE)
            assert heading in [re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles], heading


PICTURES = [shlex.split(command.strip().rstrip("."))[3:] for command in COMMANDS if "figures" in command]


@pytest.mark.parametrize("arguments", PICTURES, ids=lambda arguments: arguments[0])
def test_a_picture_is_what_the_code_draws(arguments, tmp_path):
    draw([str(tmp_path / "drawn.svg"), *arguments[1:]])
    assert (tmp_path / "drawn.svg").read_bytes() == (ROOT / arguments[0]).read_bytes()


def test_every_picture_has_its_command():
    assert {name for name, *_ in PICTURES} == set(re.findall(r"!\[[^\]]*\]\(([^)]+)\)", README))


def test_the_moving_picture_shows_time_and_can_be_stopped():
    moving = [(ROOT / name).read_text(encoding="utf-8") for name, *options in PICTURES if "--moving" in options]
    for text in moving:
        ElementTree.fromstring(text)
        assert "steps(22)" in text and "prefers-reduced-motion" in text and "<script" not in text
    assert moving


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
