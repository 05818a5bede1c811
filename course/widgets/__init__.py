"""What a learner clicks: the grid editor, the Explorers. Needs ipywidgets, so notebooks alone import it."""

from course.widgets.explorer import Explorer, explorer
from course.widgets.grid_editor import GridEditor, grid_editor
from course.widgets.layout_explorer import LayoutExplorer, layout_explorer

__all__ = ["Explorer", "GridEditor", "LayoutExplorer", "explorer", "grid_editor", "layout_explorer"]
