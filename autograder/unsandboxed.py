"""Sessions in plain subprocesses: data only, and no sandbox."""

from autograder.session import Session


class _PlainSession(Session):
    output = ""

    def __init__(self, budget: float = 180.0):
        super().__init__()

    @property
    def ended(self):
        return self._ended


class Unsandboxed:
    """What a sandbox offers, without one: a learner's code can do what the grader's user can."""

    sandboxed = False

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def session(self, **limits) -> _PlainSession:
        """A plain subprocess."""
        return _PlainSession(**limits)

    def describe(self) -> str:
        """What holds: nothing."""
        return "UNSANDBOXED: plain subprocesses of this user; they can read and write all that it can"
