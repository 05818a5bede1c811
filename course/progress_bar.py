"""The progress bar of rows that are run; none is shown where a notebook is graded or validated."""

import contextlib
from collections.abc import Callable, Iterator

from course.progress import is_grading


@contextlib.contextmanager
def progress_bar(file) -> Iterator[Callable]:
    """Gives `bar(total)`, which begins a tqdm bar on this file; what it returns tells each step, and the end."""
    from tqdm import tqdm

    bars = []

    def close():
        while bars:
            bars.pop().close()

    def begin(total):
        close()
        told = []
        bars.append(tqdm(total=total, file=file, bar_format="{bar:20} {n_fmt}/{total_fmt} [{elapsed}] {desc}",
                         disable=not total or is_grading()))

        def tell(what):
            if told:
                bars[-1].update()
            told.append(what)
            bars[-1].set_description_str(what)
        return tell

    try:
        yield begin
    finally:
        close()
