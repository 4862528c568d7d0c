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


SMOOTH_STEPS = {
    "unbiased": {"s": st.floats(1, 9), "k": st.floats(1e-9, 1e-2)},
    "sigmoidal": {"slope": st.floats(0.5, 20)},
}


@pytest.mark.parametrize("name", SMOOTH_STEPS)
@given(data=st.data())
def test_slopes_of_bounded_costs_are_derivatives(name, data):
    params = {key: data.draw(values) for key, values in SMOOTH_STEPS[name].items()}
    m = data.draw(st.floats(-30, 0.99))
    cost, slope = getattr(losses, name), getattr(losses, f"{name}_slope")
    h = 1e-6 if abs(m) > 1e-5 else 1e-12  # the unbiased cost bends at 0
    difference = (cost(m + h, **params) - cost(m - h, **params)) / (2 * h)
    assert slope(m, **params) == pytest.approx(difference, rel=1e-3, abs=1e-4 * (h < 1e-9) + 1e-6)
    assert slope(1.0, **params) == slope(1.5, **params) == 0


@pytest.mark.parametrize("name", SMOOTH_STEPS)
def test_bounded_costs_tend_to_the_count_of_errors(name):
    m = np.array([-5.0, -0.2, 0.2, 0.9, 4.0])
    steepest = {"unbiased": {"s": 500.0}, "sigmoidal": {"slope": 500.0}}[name]
    cost = getattr(losses, name)
    np.testing.assert_allclose(cost(m, **steepest), losses.error_count(m), atol=1e-6)
    far = [cost(-1e3, **params) for params in (steepest, {})]
    assert min(far) > 0.999 and max(far) <= 1


@pytest.mark.parametrize("s", [1.0, 2.0, 4.0])
def test_the_unbiased_cost_is_one_half_at_the_boundary_and_falls(s):
    m = np.linspace(-20, 2, 4001)
    assert losses.unbiased(0.0, s) == pytest.approx(0.5)
    assert (np.diff(losses.unbiased(m, s)) <= 0).all()
    assert losses.unbiased_slope(1 - 1e-9, s) < 0  # without which no street would be widened


@pytest.mark.parametrize(("s", "above"), [(1.0, True), (1.5, True), (2.0, True), (3.0, False)])
def test_a_parabola_lies_above_the_unbiased_cost_for_s_up_to_two(s, above):
    # The parabola in the slack with the cost's value and slope at xi, and its top at slack zero.
    slack = np.linspace(0, 8, 801)
    cost = losses.unbiased(1 - slack, s)
    higher = []
    for xi in np.linspace(0.05, 6, 120):
        value, slope = losses.unbiased(1 - xi, s), -losses.unbiased_slope(1 - xi, s)
        parabola = value + 0.5 * slope / xi * (slack**2 - xi**2)
        higher.append((parabola >= cost - 1e-12).all())
    assert all(higher) == above


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


@pytest.mark.parametrize(
    ("slope", "curvature", "options"),
    [
        *[
            (losses.unbiased_slope, losses.unbiased_curvature, {"s": s})
            for s in (1.5, 2.0, 4.0, 8.0)
        ],
        *[(losses.sigmoidal_slope, losses.sigmoidal_curvature, {"slope": a}) for a in (1.0, 6.0)],
    ],
)
def test_the_second_derivative_is_that_of_the_first(slope, curvature, options):
    m = np.concatenate([np.linspace(-3.0, -0.05, 60), np.linspace(0.05, 0.9, 40)])  # not at 0
    h = 1e-6
    numeric = (slope(m + h, **options) - slope(m - h, **options)) / (2 * h)
    np.testing.assert_allclose(curvature(m, **options), numeric, rtol=1e-5, atol=1e-6)
