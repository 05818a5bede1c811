"""nbgrader's settings; nbgrader reads this file when it is started in the repository root.

Everything that holds submissions or marks lies under autograder/, which git ignores.
"""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent
# so that `autograder.preprocessors` is found where the package is not installed
sys.path.insert(0, str(ROOT))

c = get_config()  # noqa: F821  (nbgrader defines it)

c.CourseDirectory.course_id = "pipeline-parallelism"
c.CourseDirectory.root = str(ROOT)
c.CourseDirectory.source_directory = "solutions"
c.CourseDirectory.release_directory = "notebooks"
c.CourseDirectory.submitted_directory = "autograder/submitted"
c.CourseDirectory.autograded_directory = "autograder/autograded"
c.CourseDirectory.feedback_directory = "autograder/feedback"
c.CourseDirectory.solution_directory = "autograder/solution"
c.CourseDirectory.source_with_tests_directory = "autograder/source_with_tests"
# 60 s: with several writers SQLite's default of 5 s can run out
c.CourseDirectory.db_url = f"sqlite:///{(ROOT / 'autograder' / 'gradebook.db').as_posix()}?timeout=60"

# nbgrader copies what else lies beside a notebook into the release: the sources hold the solutions
c.CourseDirectory.ignore = [".ipynb_checkpoints", "*.pyc", "__pycache__", "feedback", "*.py"]

# a released cell never raises: its check says that there is no answer yet
c.ClearSolutions.code_stub = {"python": "..."}
c.ClearSolutions.text_stub = "*Your answer here.*"

c.OverwriteCells.add_missing_cells = True
# Seconds a cell: real runs are left out while grading, but for the learner's experiment table. Its rows follow their plan without
# waiting, yet real processes train by each: eight rows take half a minute on two busy cores. A cell that is cut off keeps what it
# has, as the experiment table does its rows.
c.Execute.timeout = 180
c.Autograde.sanitize_preprocessors = [
    "nbgrader.preprocessors.ClearOutput",
    "autograder.preprocessors.DropCopiedIds",
    "nbgrader.preprocessors.OverwriteKernelspec",
    "nbgrader.preprocessors.OverwriteCells",
    "nbgrader.preprocessors.CheckCellMetadata",
]
