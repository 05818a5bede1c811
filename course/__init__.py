"""Pipeline parallelism, hands on: schedules, their simulation, their real execution, and the exercises about them."""

from course import schedules
from course.legality import Violation, violations
from course.schedule import Operation, Schedule
from course.simulation import Costs, simulate
from course.timeline import Span, Timeline

__all__ = ["Costs", "Operation", "Schedule", "Span", "Timeline", "Violation", "schedules", "simulate", "violations"]
