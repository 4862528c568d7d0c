"""The losses, against their definitions, their derivatives and each other."""

import decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from svmbook import losses

MARGINS = st.floats(-30, 30)


@given(MARGINS)
def test_the_logistic_loss_is_minus_the_log_of_a_probability(m):
    assert losses.logistic(m) == pytest.approx(-np.log(1 / (1 + np.exp(-m))), rel=1e-9, abs=1e-12)


@given(MARGINS)
def test_slope_and_curvature_are_derivatives(m):
    # Complex steps: no difference of nearly equal numbers, so the derivatives are exact.
    step = 1e-30j
    loss = np.log(1 + np.exp(-(m + step))) if m > -20 else np.log(1 + np.exp(m + step)) - (m + step)
    assert losses.logistic_slope(m) == pytest.approx(loss.imag / 1e-30, rel=1e-12)
    slope = -1 / (1 + np.exp(m + step))
    assert losses.logistic_curvature(m) == pytest.approx(slope.imag / 1e-30, rel=1e-9)


def test_nothing_overflows():
    m = np.array([-1e4, -1e300, 1e4, 1e300])
    for name in losses.__all__:
        values = getattr(losses, name)(np.clip(m, 0, 1) if "conjugate" in name else m)
        assert np.isfinite(values).all(), name
    np.testing.assert_array_equal(losses.logistic(m), [1e4, 1e300, 0, 0])


@given(MARGINS, st.floats(0, 1))
def test_the_conjugate_gives_tangents_from_below(m, p):
    assert losses.logistic(m) >= -p * m - losses.logistic_conjugate(p) - 1e-12
    q = 1 / (1 + np.exp(m))
    touching = -q * m - losses.logistic_conjugate(q)
    assert losses.logistic(m) == pytest.approx(touching, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("p", [1e-18, 1e-13, 0.3, 1 - 1e-13])
def test_the_conjugate_keeps_its_digits(p):
    p = fifty_digits(p)
    assert losses.logistic_conjugate(float(p)) == pytest.approx(
        float(p * p.ln() + (1 - p) * (1 - p).ln()), rel=1e-14
    )


def fifty_digits(p):
    """Return a number of fifty digits."""
    decimal.getcontext().prec = 50
    return decimal.Decimal(p)


def test_outside_of_probabilities_the_conjugate_is_infinite():
    np.testing.assert_array_equal(losses.logistic_conjugate([-0.1, 1.1]), np.inf)


def test_the_hinge_is_a_slack():
    np.testing.assert_array_equal(losses.hinge([-1, 0.25, 1, 5]), [2, 0.75, 0, 0])
