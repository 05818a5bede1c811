"""The one error of a run that went wrong on a rank."""


class PipelineError(RuntimeError):
    """A run that failed: `rank` and `operation` say where (None where it was at none), `cause` says why.

    `details` holds the worker's own traceback or last words.
    """

    def __init__(self, message: str, rank: int | None, operation: str | None, cause: str, details: str = ""):
        super().__init__(message + (f"\n{details.rstrip()}" if details.strip() else ""))
        self.message, self.rank, self.operation, self.cause, self.details = message, rank, operation, cause, details
