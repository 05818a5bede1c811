"""Layouts of a model on a cluster: tensor x pipeline x data parallelism, what each costs, and which is the fastest."""

from course.layout.cluster import Cluster
from course.layout.cost import Assumptions
from course.layout.evaluation import Evaluation, Problem, evaluate
from course.layout.model import Model
from course.layout.placement import Layout
from course.layout.search import search

__all__ = ["Assumptions", "Cluster", "Evaluation", "Layout", "Model", "Problem", "evaluate", "search"]
