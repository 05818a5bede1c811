"""A short run of each fuzzer with a new seed, and a class whose notebooks say other things of themselves than ours do."""

import copy
import json
import random
import secrets

import pytest

from autograder.submissions import solved
from course.hand_in import ASSIGNMENT
from tests.fuzz import NAME, TARGETS, fuzz
from tests.graders import FULL, empty_gradebook, graded, totals

EXAMPLES = {"intake": 40, "notebooks": 40, "zips": 100, "wire": 300, "frames": 60}
STRANGE = (None, True, -1, 1e308, "", "x" * 5000, "\ud800", "\0", [], {}, [[]], {"nbgrader": 5}, "<script>", "../../x", 2**70)


@pytest.mark.parametrize("name", TARGETS)
def test_whatever_is_read_gives_data_or_a_reason(name):
    seed = secrets.randbelow(2**32)
    print(f"seed {seed}")
    fuzz(name, EXAMPLES[name], seed)


def disguised(notebook: dict, draw: random.Random) -> dict:
    """The same sources and grade_ids, and anything else in all that stands beside them."""
    made = copy.deepcopy(notebook)
    for content in [made, *made["cells"]]:
        for key in draw.sample(["metadata", "outputs", "execution_count", "id", "attachments", "nbformat", "nbformat_minor"], 3):
            content[key] = draw.choice(STRANGE)
    for cell, original in zip(made["cells"], notebook["cells"], strict=True):
        if "nbgrader" in original["metadata"]:
            about = {"grade_id": original["metadata"]["nbgrader"]["grade_id"]}
            for key in ("points", "grade", "solution", "locked", "task", "checksum", "schema_version", "cell_type"):
                about[key] = draw.choice((*STRANGE, original["metadata"]["nbgrader"].get(key)))
            cell["metadata"] = {"nbgrader": about, draw.choice(["tags", "deletable", "x"]): draw.choice(STRANGE)}
        if draw.random() < 0.5 and isinstance(cell["source"], str):
            cell["source"] = cell["source"].splitlines(keepends=True)
    return made


def test_what_a_notebook_says_of_itself_changes_no_mark(tmp_path):
    seed = secrets.randbelow(2**32)
    draw, original = random.Random(seed), solved()[f"{NAME}.ipynb"]
    for number in range(12):
        folder = tmp_path / "submitted" / f"{number}" / ASSIGNMENT
        folder.mkdir(parents=True)
        (folder / f"{NAME}.ipynb").write_text(json.dumps(disguised(original, draw)))
    (tmp_path / "gradebook.db").write_bytes(empty_gradebook())
    code, said = graded(tmp_path)
    assert code == 0, (seed, said)
    assert set(totals(str(tmp_path / "gradebook.db")).values()) == {sum(FULL.values())}, (seed, said)
