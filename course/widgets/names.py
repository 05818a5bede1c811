"""The names that the cells of a notebook have made, and those that they have not made yet."""

from collections.abc import Callable, Mapping

from IPython import get_ipython


def not_made(name: str) -> str:
    """What to say of a name that a cell uses and no cell has made."""
    return (f"`{name}` is not there yet: the cell above that makes it has not run, or was stopped. Run it, or all of them: "
            "Run > Run All Above Selected Cell.")


def name_of(value) -> str | None:
    """The name under which the cells keep this very object, by itself or among others; None where they do not."""
    shell = get_ipython()
    if shell is None:
        return None
    names = {name: kept for name, kept in shell.user_ns.items() if not name.startswith("_") and name not in ("In", "Out")}
    return next((name for name, kept in names.items() if kept is value), None) or next(
        (name for name, kept in names.items() if any(item is value for item in _items(kept))), None)


def _items(kept):
    if type(kept) in (list, tuple):
        return kept
    return kept.values() if isinstance(kept, Mapping) else ()


def explain_names(say: Callable[[str], None]):
    """From now on `say` is given words to stand below the traceback of a cell that uses a name which no cell has made."""
    shell = get_ipython()
    if shell is None:
        return

    def explain(result):
        error = result.error_in_exec
        if type(error) is NameError and error.name and _is_in_a_cell(error.__traceback__):
            say(not_made(error.name))

    shell.events.register("post_run_cell", explain)


def _is_in_a_cell(trace):
    while trace.tb_next:
        trace = trace.tb_next
    return trace.tb_frame.f_globals is get_ipython().user_ns
