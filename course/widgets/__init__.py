"""What a learner clicks: the grid editor. Needs ipywidgets, so notebooks alone import it."""

from course.widgets.grid_editor import GridEditor, grid_editor

__all__ = ["GridEditor", "grid_editor"]
