"""Pictures of timelines, memory and curves: inline SVG that follows the page's theme, each with a text form."""

from course.figures.curves import curves_figure
from course.figures.figure import Figure, stack
from course.figures.memory import memory_figure
from course.figures.save import save, standalone
from course.figures.timeline import timeline_figure

__all__ = ["Figure", "curves_figure", "memory_figure", "save", "stack", "standalone", "timeline_figure"]
