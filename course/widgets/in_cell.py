"""Which cell is running: its widgets know each other by it."""

from IPython import get_ipython


def running() -> tuple[str | None, str | None]:
    """The id of the cell that runs, and that of this run of it; None where no front end says so."""
    shell = get_ipython()
    parent = shell.get_parent() if hasattr(shell, "get_parent") else {}
    return (parent.get("metadata") or {}).get("cellId"), (parent.get("header") or {}).get("msg_id")
