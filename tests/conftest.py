"""Fixtures that several test modules share."""

from tests.grid_editor_page import opened, place  # noqa: F401
