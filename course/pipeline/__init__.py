"""The real execution of a schedule: processes that train a small transformer, stage by stage. Imports no torch."""

from course.pipeline.errors import PipelineError
from course.pipeline.pool import close, preload
from course.pipeline.record import Run
from course.pipeline.run import keepable_slot, run
from course.pipeline.sizes import Sizes

__all__ = ["PipelineError", "Run", "Sizes", "close", "keepable_slot", "preload", "run"]
