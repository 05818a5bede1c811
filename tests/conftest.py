"""Fixtures that several test modules share."""

import pytest
from hypothesis import settings

from course import experiments
from course.pipeline import close
from tests.browser import chromium, copy_released, jupyter
from tests.grid_editor_page import opened  # noqa: F401

# a busy machine is no fault of what is tested; a failing example prints the line that makes it again
settings.register_profile("course", deadline=None, print_blob=True)
settings.load_profile("course")


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A browser, the address of a JupyterLab, and the folder that it shows."""
    folder = tmp_path_factory.mktemp("notebooks")
    with chromium() as browser, jupyter(folder, tmp_path_factory.mktemp("home")) as url:
        yield browser, url, folder


@pytest.fixture(scope="module")
def lab(place):
    """The same with the released notebooks in the folder."""
    copy_released(place[2])
    return place


@pytest.fixture(scope="module")
def warm_workers():
    """The workers that a module's first run starts serve its others, and end with it."""
    yield
    close()


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder of the test's own, in which it stands, and no table kept in memory from another test."""
    monkeypatch.chdir(tmp_path)
    experiments._unsaved.clear()
    return tmp_path


@pytest.fixture
def runs(monkeypatch):
    """The labels of the rows that are run, and which of them are to fail with what."""
    seen, failing, real = [], {}, experiments.run

    def run(schedule, **options):
        seen.append((schedule.name, len(schedule.ranks), schedule.micro_batches, options["dp"]))
        if error := failing.get(len(seen)):
            raise error
        return real(schedule, **options)

    monkeypatch.setattr(experiments, "run", run)
    return seen, failing


@pytest.fixture
def root(tmp_path):
    """A folder with an empty gradebook."""
    from tests.graders import empty_gradebook  # nbgrader's tables: few tests need them

    (tmp_path / "gradebook.db").write_bytes(empty_gradebook())
    return tmp_path


@pytest.fixture(scope="module")
def solved(tmp_path_factory):
    """A submission that holds all solutions."""
    from autograder.intake import read_submission
    from tests.submissions import hand_in
    from tests.written_marks import RELEASES

    return read_submission(hand_in(tmp_path_factory.mktemp("solved"), "one").parent, RELEASES)
