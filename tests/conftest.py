"""Fixtures that several test modules share."""

import pytest
from hypothesis import settings

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
