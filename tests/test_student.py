"""Student's t against closed forms and scipy's."""

from __future__ import annotations

import math

import pytest
from scipy.special import betaincinv, stdtr, stdtrit

from pipeline.analysis import student

DEGREES = (1, 1.3, 2, 2.5, 3, 7, 10, 29, 30.5, 60, 100, 333.3, 1e4, 1e6)


def test_one_and_two_degrees_have_closed_forms() -> None:
    """Cauchy's, also where the library that others use loses digits; and that of two."""
    for distance in (0.0, 1e-8, 0.3, 1.0, 4.0, 1e6):
        cauchy = 2 / math.pi * math.atan2(1, distance)
        assert student.p_value(1, distance) == pytest.approx(cauchy, rel=1e-12)
        two = 2 / (2 + distance * distance + distance * math.sqrt(2 + distance * distance))
        assert student.p_value(2, distance) == pytest.approx(two, rel=1e-12)
    assert student.quantile(1, 0.975) == pytest.approx(1 / math.tan(math.pi * 0.025), rel=1e-12)


@pytest.mark.parametrize("degrees", DEGREES)
def test_it_agrees_with_scipy(degrees: float) -> None:
    """To ten digits at least, from the middle far into the tail."""
    for distance in (1e-3, 0.1, 1.0, 1.7, 2.5, 6.0, 30.0):
        found = student.p_value(degrees, distance)
        assert found == pytest.approx(2 * stdtr(degrees, -distance), rel=1e-10)
    for share in (0.6, 0.8, 0.975, 1 - 1e-4, 1 - 1e-9):
        assert student.quantile(degrees, share) == pytest.approx(stdtrit(degrees, share), rel=1e-10)


def test_least_share() -> None:
    """Clopper and Pearson's lower end, of whole numbers and others, as scipy has it."""
    for n in (3.2, 10, 57.3, 1e6):
        for n_seen in (0.2, 0.5, 1, 1.7, 3):
            found = student.least_share(n_seen, n, 0.025)
            assert found == pytest.approx(betaincinv(n_seen, n - n_seen + 1, 0.025), rel=1e-9)
    # One of n: 1 - (1 - 0.025)^(1/n).
    assert student.least_share(1, 50, 0.025) == pytest.approx(1 - 0.975 ** (1 / 50))
    assert student.least_share(1e-4, 50, 0.025) == 0
