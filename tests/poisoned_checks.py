"""The process of checks, in which the check of ex3-use does what its answer says: a check that a poisoned answer gets at."""

import os
import signal
import time
from dataclasses import replace

from autograder import judging
from course.checks.outcome import Outcome, Step
from course.exercises import EXERCISES


def obey(word, other):
    """Spin, sleep, hoard memory, end or kill the process or raise, as `word` says; 1 point for anything else."""
    said = word.value()
    if said == "spin":
        while True:
            pass
    if said == "sleep":
        time.sleep(600)
    if said == "hoard":
        return ["x"] * (judging.MEMORY // 8)
    if said == "exit":
        os._exit(0)
    if said == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    if said == "raise":
        raise ZeroDivisionError("by 0")
    return Outcome((Step("answered", 1, other.value() == said),), ())


if __name__ == "__main__":
    judging.SECONDS = 1
    EXERCISES["ex3-use"] = replace(EXERCISES["ex3-use"], check=obey)
    judging.main()
