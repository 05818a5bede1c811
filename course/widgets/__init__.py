"""What a learner clicks: the grid editor, the Explorer. Needs ipywidgets, so notebooks alone import it."""

from course.widgets.explorer import Explorer, explorer
from course.widgets.grid_editor import GridEditor, grid_editor

__all__ = ["Explorer", "GridEditor", "explorer", "grid_editor"]
