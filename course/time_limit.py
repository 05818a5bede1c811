"""A limit of time round code that somebody else has written, which may do its best not to be stopped."""

import contextlib
import signal
import sys
import traceback

IMPORTING = "<frozen importlib._bootstrap>"  # the file of a frame that imports
OURS = (__file__, contextlib.__file__)
AGAIN = 0.2  # seconds until code that caught the first alarm meets the next


class TimeLimit(BaseException):
    """A call that took too long; no Exception, so that a learner's `except Exception` lets it through."""


@contextlib.contextmanager
def time_limit(seconds: float | None, computing: float | None = None):
    """TimeLimit after so many seconds, or so many of the processor; None for no limit. In the main thread only.

    Code that catches the first TimeLimit is stopped at each of its further lines: a bare `except` does not hold it off.
    """
    with contextlib.ExitStack() as limits:
        if seconds is not None:
            limits.enter_context(_alarmed(seconds, signal.ITIMER_REAL, signal.SIGALRM, ""))
        if computing is not None:
            limits.enter_context(_alarmed(computing, signal.ITIMER_PROF, signal.SIGPROF, " of computing"))
        yield


@contextlib.contextmanager
def _alarmed(seconds, timer, alarm, kind):
    outside = sys._getframe()
    while outside.f_code.co_filename in OURS:
        outside = outside.f_back
    text, caught = f"it ran for more than {seconds:g} s{kind} and was stopped", []

    def limit(frame):
        files = [inner.f_code.co_filename for inner, _ in traceback.walk_stack(frame)]
        return TimeLimit(text + " while it imported a package; import it in a cell above" * any(map(IMPORTING.__eq__, files)))

    def stop(_, frame):
        inside = _frames_inside(frame, outside)
        if not inside:
            return  # what follows on the limited code is not to be broken off: it takes the limit away
        error = limit(frame)
        if caught:
            for inner in inside:
                inner.f_trace = at_each_line
            sys.settrace(at_each_line)
        caught.append(True)
        raise error

    def at_each_line(frame, event, _):
        if event in ("call", "line") and _frames_inside(frame, outside):
            raise limit(frame)  # with which Python forgets this function: the next alarm brings it back
        return at_each_line

    before, traced = signal.signal(alarm, stop), sys.gettrace()
    signal.setitimer(timer, seconds, AGAIN)
    try:
        yield
    finally:
        signal.setitimer(timer, 0)
        signal.signal(alarm, before)
        sys.settrace(traced)


def _frames_inside(frame, outside):
    """The frames of the limited code, from the innermost; empty where it is not at work."""
    found = []
    while frame is not None and frame is not outside:
        found.append(frame)
        frame = frame.f_back
    return found if frame and found and found[-1].f_code.co_filename not in OURS else []
