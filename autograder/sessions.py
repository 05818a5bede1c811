"""The open sessions of a grading, so that it can be stopped at once."""

import contextlib
import threading

from autograder.questions import NotStarted
from autograder.sandbox import Unsandboxed


class Sessions:
    """Hands out a sandbox's sessions; at its end all that are open are ended, and no new one is begun."""

    def __init__(self, sandbox):
        self._sandbox, self._open, self._lock, self._stopped = sandbox, set(), threading.Lock(), False

    def __enter__(self):
        return self

    def __exit__(self, *_):
        with self._lock:
            self._stopped = True
            left = list(self._open)
        for session in left:
            session.close()

    @property
    def boxed(self) -> bool:
        """Whether they are in a sandbox."""
        return not isinstance(self._sandbox, Unsandboxed)

    @contextlib.contextmanager
    def session(self, **limits):
        """A session, as the sandbox gives it. NotStarted once the grading was stopped, SandboxFailed once the sandbox is gone."""
        try:
            with self._sandbox.session(**limits) as session:
                with self._lock:
                    if self._stopped:
                        raise NotStarted("the grading was stopped")
                    self._open.add(session)
                try:
                    yield session
                finally:
                    with self._lock:
                        self._open.discard(session)
        finally:  # without the sandbox whatever was raised meanwhile says nothing of a submission
            self._sandbox.require()
