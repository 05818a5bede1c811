import math
from fractions import Fraction

import pytest

from course import formulas
from course.formulas import PPConfig


def test_the_lessons_numbers():
    assert formulas.bubble_fraction(4, 4) == Fraction(3, 7)
    assert formulas.bubble_fraction(4, 8) == Fraction(3, 11)
    assert formulas.bubble_fraction(8, 64) == Fraction(7, 71)
    assert formulas.bubble_fraction(4, 8, v=2) == Fraction(3, 19)
    assert formulas.bubble_fraction(4, 64, v=4) == Fraction(3, 259) and formulas.bubble_fraction(4, 64) == Fraction(3, 67)
    assert (formulas.total_slots(4, 4), formulas.total_slots(4, 4, backward=2), formulas.total_slots(4, 8, 1, 2)) == (14, 21, 33)


@pytest.mark.parametrize("p", [1, 2, 4, 8])
@pytest.mark.parametrize("m", [1, 2, 7, 64])
def test_algebra(p, m):
    over_ideal = formulas.bubble_over_ideal(p, m)
    assert formulas.to_fraction_of_total(over_ideal) == formulas.bubble_fraction(p, m)
    total, busy = formulas.total_slots(p, m), formulas.busy_slots(m)
    assert total - busy == formulas.idle_slots(p) and 1 - Fraction(busy, total) == formulas.bubble_fraction(p, m)


@pytest.mark.parametrize("fraction", [Fraction(1, 10), 0.1, Fraction(1, 3), 0.25, 0.05, 1, 0.999])
@pytest.mark.parametrize("p", [1, 2, 4, 8, 64])
def test_micro_batches_needed_is_the_smallest(p, fraction):
    exact = Fraction(fraction).limit_denominator(10**9)
    m = formulas.micro_batches_needed(p, fraction)
    assert m >= 1 and formulas.bubble_fraction(p, m) <= exact
    assert m == 1 or formulas.bubble_fraction(p, m - 1) > exact


@pytest.mark.parametrize("fraction", [0, -0.1, 1.5])
def test_a_fraction_out_of_range_is_named(fraction):
    with pytest.raises(ValueError, match=f"fraction = {fraction:g}"):
        formulas.micro_batches_needed(4, fraction)


def test_the_lessons_configurations():
    configs = [PPConfig(2, 8, 4), PPConfig(4, 8, 4), PPConfig(4, 32, 1), PPConfig(8, 64, 1)]
    assert [config.global_batch() for config in configs] == [32, 32, 32, 64]
    assert [round(float(config.bubble()), 4) for config in configs] == [0.1111, 0.2727, 0.0857, 0.0986]
    assert PPConfig(4, 8, 2, dp=4).global_batch() == 64
    assert math.isclose(PPConfig(4, 8, 4).bubble(), 3 / 11)
