"""Odd answers: numbers and texts that no check expects, and right answers with such a thing in the place of a part of them."""

from fractions import Fraction
from random import Random

NUMBERS = (
    1e99, -1e99, 1e-99, 10**99 + 1, Fraction(10**99, 7), 1e308, -1e308, 5e-324, -0.0, 2**4000, -(2**4000), int(1e100),
    int(1e100) + 1, 1e100, Fraction(2**4000, 3), Fraction(1, 2**4000), Fraction(2**4000 - 1, 2**4000), 0, -1, 0.5, 10**6, 2**31,
    1e16, Fraction(1, 3), True, False, None)
TEXTS = (
    "nan", "inf", "-inf", "1e308", "1e400", "1e-400", "1/0", "2" * 999, "F\u0660 F\u0661", "\u0661", "\u0663/\u0667",
    "F\u00b2", "\u00b2", "F0\u200b B0", "F\ud8000", "\ud800", "", " ", "\0", "...", ".", "~", "?", "F0 " * 300, "\u0130",
    "\u01310", "\ufb000", "0F0 0B0", "I0 W0", "F999999", "9" * 6 + "F0", "a: b", "%", "e", "-", "1 GB", "\u0661 GB",
    "1e300 TB", ",", "|", "#")
NESTED = (
    [], {}, [[]], [[[[[[[[[[[1]]]]]]]]]]], {"a": {"b": {"c": []}}}, [None], [1e308, 2**4000, 1], [2**4000, 1e308, "1"],
    {0: 1e308}, {"": ""}, {(1, 2): 3}, [[], {}, "", 0, None], [True, False], {True: 1, "1": 2}, [Fraction(1, 2**4000)] * 3,
    ["F0"] * 40)
ODD = (*NUMBERS, *TEXTS, *NESTED)


def odd(random: Random, value=None):
    """An odd value; or where a value is given, sometimes that with a part of it replaced by one."""
    if isinstance(value, dict) and value and random.random() < 0.8:
        key = random.choice(list(value))
        changed = {**value, key: odd(random, value[key])}
        return changed if random.random() < 0.8 else {**changed, random.choice(["x", "\u0661", 1, ("a", 2)]): odd(random)}
    if isinstance(value, list | tuple) and value and random.random() < 0.8:
        place = random.randrange(len(value))
        return [*value[:place], odd(random, value[place]), *value[place + 1:]]
    if isinstance(value, str) and value and random.random() < 0.8:
        place = random.randrange(len(value))
        return value[:place] + random.choice(TEXTS) + value[place + random.randrange(3):]
    return random.choice(ODD)


def odd_function(random: Random, right=None):
    """A function that returns odd values: always the same one, one for each call, or now and then in place of the right one."""
    one, seed, some = random.choice(ODD), random.random(), random.choice([0, 0.02, 0.3, 1])

    def function(*arguments):
        draw = Random(f"{seed} {arguments}")
        if right is None or draw.random() < some:
            return one if seed < 0.3 else odd(draw, right(*arguments) if right and seed > 0.6 else None)
        return right(*arguments)

    return function
