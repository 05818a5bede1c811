"""The numbers of answers: of three exact types, and bounded, so that checks can compute with them."""

import math
from decimal import Decimal
from fractions import Fraction
from numbers import Integral, Rational

MAX_BITS = 4096  # of a whole number, and of each part of a fraction
LARGEST = int(1e100)  # more than anything that is counted here; checks multiply a few numbers, and the product is a float too


class Refused(TypeError):
    """A value that is not plain data; the text names its type."""


class TooLarge(Refused):
    """A number beyond LARGEST; `shown` is it in short."""

    def __init__(self, number):
        self.shown = str(number) if isinstance(number, float) else f"{Decimal(number.numerator) / number.denominator:.3g}"
        super().__init__(f"{self.shown} is beyond every number that is asked for, at most {float(LARGEST):g}")


def bounded(value):
    """A plain number as it is. TooLarge beyond LARGEST."""
    if abs(value) > LARGEST:
        raise TooLarge(value)
    return value


def plain_number(value):
    """Any real number as int, float or Fraction of exactly this type. Refused where it is not finite, too long or too large."""
    if isinstance(value, float):
        value = float.__float__(value)  # the base class's own method: a subclass may lie
        if not math.isfinite(value):
            raise Refused(f"{value} is not a finite number")
        return bounded(value)
    if isinstance(value, Integral):
        return bounded(_whole(value))
    if isinstance(value, Decimal):
        if not value.is_finite():
            raise Refused(f"{value} is not a finite number")
        if abs(value.adjusted()) > MAX_BITS // 4:
            raise Refused("the number has too many digits")
        return bounded(Fraction(value))
    if isinstance(value, Rational):
        pair = Fraction.as_integer_ratio(value) if isinstance(value, Fraction) else (value.numerator, value.denominator)
        return bounded(Fraction(*map(_whole, pair)))
    return plain_number(float(value))


def _whole(value):
    value = int.__int__(value) if isinstance(value, int) else int(value)
    if value.bit_length() > MAX_BITS:
        raise Refused(f"the whole number has more than {MAX_BITS} bits")
    return value
