"""The page of promises against the tree: its links, the tests that it names, its numbers."""

import re

import pytest

from autograder.questions import BUDGET
from autograder.sandbox import Limits
from autograder.sandbox.epolls import MOST
from autograder.sandbox.groups import TCP_PART
from autograder.sandbox.watchdog import PERIOD
from tests.fuzz import TARGETS
from tests.submissions import ROOT

PAGE = (ROOT / "docs" / "grading_promises.md").read_text(encoding="utf-8")
GUIDE, README = ((ROOT / name).read_text(encoding="utf-8") for name in ("docs/instructor.md", "README.md"))


def test_each_promise_names_tests_that_are_there():
    rows = re.findall(r"^\| (?!promise)(.+?) \| (.+) \|$", PAGE, re.MULTILINE)
    assert len(rows) > 10
    for promise, shown in rows:
        paths = re.findall(r"`(tests/\w+\.py)`", shown)
        assert paths and all((ROOT / path).is_file() for path in paths), promise


def test_its_numbers_are_the_codes():
    assert f"at most {BUDGET:g} s" in PAGE
    assert f"{Limits().memory >> 20} MiB of memory and {Limits().processes} processes" in PAGE
    assert f"up to {Limits().memory // TCP_PART >> 20} MiB on top" in PAGE and f"every {PERIOD * 1000:g} ms" in PAGE
    assert f"{Limits().files} open files" in PAGE and f"at most {MOST:,} descriptors" in PAGE
    assert all(f"`{name}`" in PAGE or f"tests.fuzz {name} " in PAGE for name in TARGETS)


@pytest.mark.parametrize("text, folder", [(PAGE, "docs"), (GUIDE, "docs"), (README, ".")])
def test_links_lead_somewhere_and_to_it(text, folder):
    links = re.findall(r"\]\((?!https?:)([^)#]+)\)", text)
    assert links and all((ROOT / folder / link).exists() for link in links), links
    assert text is PAGE or any(link.endswith("grading_promises.md") for link in links)
