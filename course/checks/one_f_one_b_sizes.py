"""Notebook 2: the sizes at which functions of 1F1B are asked, and sizes of the same kind to draw from."""

ORDINARY = ((4, 8), (2, 4), (3, 5), (4, 4), (5, 7), (12, 48))  # at least as many micro-batches as stages
SMALL = ((4, 2), (5, 3), (3, 1), (2, 1), (1, 1), (1, 4))
POINTS = [(p, m, stage) for p, m in (*ORDINARY, *SMALL) for stage in range(p)]


def ordinary(random, most=4) -> tuple[int, int]:
    """Draws p and m of at least p."""
    p = random.randint(2, most)
    return p, random.randint(p, 20)


def small(random, most=6) -> tuple[int, int]:
    """Draws p and m below p."""
    p = random.randint(3, most)
    return p, random.randint(1, p - 1)


def _of_one_kind(p, m, other_p, other_m):
    """Whether both sizes are even or odd alike, and both or neither a whole number of rounds."""
    return (other_p - p) % 2 == (other_m - m) % 2 == 0 and (m % p == 0) == (other_m % other_p == 0)


def _same_stages(p, m):
    """Other micro-batches, at least as many as stages."""
    return [(p, other) for other in range(p + 1, 61) if other != m and _of_one_kind(p, m, p, other)]


def _same_rounds(p, m):
    """Other stages, and as many micro-batches for each, or as many more, as before."""
    return [(other, m * other // p if m % p == 0 else other + m - p) for other in range(2, 9)
            if other != p and (other - p) % 2 == 0]


ALIKE = (_same_stages, _same_rounds)


def ordinary_stage(random) -> tuple[int, int, int]:
    """Draws p, m of at least p, and a stage."""
    p, m = ordinary(random, 12)
    return p, m, random.randrange(p)


def small_stage(random) -> tuple[int, int, int]:
    """Draws p, m below p, and a stage."""
    p, m = small(random, 12)
    return p, m, random.randrange(p)
