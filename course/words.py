"""A number and its noun."""

from numbers import Real


def counted(number: Real, what: str) -> str:
    """How many of what, one without its plural's ending.

    >>> counted(1, "micro-batch"), counted(2, "micro-batch"), counted(0, "slot")
    ('1 micro-batch', '2 micro-batches', '0 slots')
    """
    return f"{number} {what}{'' if number == 1 else 'es' if what.endswith('ch') else 's'}"
