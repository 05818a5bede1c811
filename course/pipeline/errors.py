"""The one error of a run that went wrong on a rank."""


class PipelineError(RuntimeError):
    """A run that failed: `rank` and `operation` say where (None where it was at none), `cause` says why.

    Its text is one line, `message`, and under it `details`: the worker's own traceback or last words.
    """

    def __init__(self, message: str, rank: int | None, operation: str | None, cause: str, details: str = ""):
        super().__init__(message + (f"\n{details.rstrip()}" if details.strip() else ""))
        self.message, self.rank, self.operation, self.cause, self.details = message, rank, operation, cause, details

    def _render_traceback_(self):
        """What IPython shows in place of the caller's own traceback, in which a reader finds nothing about the rank."""
        return [f"{type(self).__name__}: {self.message}", *self.details.rstrip().splitlines()]
