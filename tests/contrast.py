"""How far two colours stand apart: WCAG 2.2's relative luminance and contrast ratio."""

import re

WORDS = 4.5  # the least ratio of words to what is under them (WCAG 2.2, 1.4.3)
SHAPES = 3  # the least ratio of a line or a shape to what is beside it (1.4.11)


def luminance(colour: str) -> float:
    """Relative luminance, 0 to 1, of `#rgb` or `#rrggbb`."""
    digits = re.fullmatch("#([0-9a-fA-F]{3}|[0-9a-fA-F]{6})", colour)[1]
    pairs = [digits[at:at + 2] for at in (0, 2, 4)] if len(digits) == 6 else [2 * digit for digit in digits]
    channels = [int(pair, 16) / 255 for pair in pairs]
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    """The contrast ratio of two colours, 1 to 21."""
    low, high = sorted(map(luminance, (one, other)))
    return (high + 0.05) / (low + 0.05)
