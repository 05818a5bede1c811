"""Pictures of timelines, memory, layers, traffic and curves: inline SVG that follows the page's theme, each with a text form."""

from course.figures.curves import curves_figure
from course.figures.figure import Figure, stack
from course.figures.layers import layer_map
from course.figures.memory import memory_figure
from course.figures.save import save, standalone
from course.figures.step_parts import parts_figure
from course.figures.stuck import stuck_figure
from course.figures.timeline import timeline_figure
from course.figures.traffic import traffic_figure

__all__ = ["Figure", "curves_figure", "layer_map", "memory_figure", "parts_figure", "save", "stack", "standalone",
           "stuck_figure", "timeline_figure", "traffic_figure"]
