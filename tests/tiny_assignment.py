"""One small notebook with one answer, one check and one text: enough to drive the build and nbgrader."""

import shutil
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


@dataclass(frozen=True)
class Entry:
    """What the build asks of an exercise."""

    notebook: str
    answers: tuple[str, ...]
    points: float
    manual: bool = False


EXERCISES = {
    "sum": Entry("1_sum", ("total", "drawing"), 3),
    "why": Entry("1_sum", (), 4, manual=True),
}

SOURCE = '''\
# ---
# jupyter:
#   kernelspec: {display_name: Some kernel, language: python, name: some-kernel}
# ---

# %% [markdown]
# # A sum
# Nothing to hand in here.

# %% locked="setup"
class Verdict:
    def __init__(self, points):
        self.points = points

    def __repr__(self):
        return repr(float(self.points))

# %% [markdown] locked="sum-question"
# What is 1 + 2, and what does it look like?

# %% answer="sum"
total = (
    ### BEGIN SOLUTION
    6 - 3  # a solution line
    ### END SOLUTION
)
drawing = """
### BEGIN SOLUTION
| || a solution drawing
### END SOLUTION
"""

# %% check="sum"
print("stdout is free")
Verdict(0 if total is ... else 3 if total == 3 else 1.5)

# %% [markdown] manual="why"
# Because of the model answer.

# %%
total
'''


def write_source(folder: Path, text: str = SOURCE, name: str = "1_sum") -> Path:
    """Write the notebook's source into `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.py"
    path.write_text(text, encoding="utf-8")
    return path


def copy_settings(root: Path) -> None:
    """Lay nbgrader's settings and what they import into `root`, so that nothing touches the checkout."""
    shutil.copy(ROOT / "nbgrader_config.py", root)
    (root / "autograder").mkdir()
    for path in (ROOT / "autograder").glob("*.py"):
        shutil.copy(path, root / "autograder")
