"""However large a learner's notebooks are, reading a submission holds one of them at a time."""

import weakref

import pytest

from autograder import intake
from autograder.intake import read_submission
from autograder.release import read_releases
from tests.submissions import hand_in


@pytest.mark.parametrize("renamed", [False, True])
def test_one_parsed_notebook_is_held_at_a_time(tmp_path, monkeypatch, renamed):
    folder, releases = hand_in(tmp_path, "one"), read_releases()
    if renamed:
        for path in folder.glob("*.ipynb"):
            path.rename(folder / f"copy of {path.name}")
    parsed, parse = [], intake._read_cells

    class Cells(list):
        """A list that can be watched."""

    def watched(*arguments):
        assert not any(earlier() is not None for earlier in parsed)
        cells = Cells(parse(*arguments))
        parsed.append(weakref.ref(cells))
        return cells
    monkeypatch.setattr(intake, "_read_cells", watched)
    assert list(read_submission(folder.parent, releases).notebooks) == list(releases) and len(parsed) >= len(releases)
