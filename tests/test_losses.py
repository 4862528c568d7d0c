"""The losses, compared with their definitions and with each other, and their derivatives."""

import decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from svmbook import losses

MARGINS = st.floats(-30, 30)


@given(MARGINS)
def test_logistic_loss_is_minus_the_log_of_the_probability(m):
    assert losses.logistic(m) == pytest.approx(-np.log(1 / (1 + np.exp(-m))), rel=1e-9, abs=1e-12)


@given(MARGINS)
def test_logistic_slope_and_curvature_are_derivatives(m):
    # Complex steps subtract no nearly equal numbers, so the derivatives are exact.
    step = 1e-30j
    loss = np.log(1 + np.exp(-(m + step))) if m > -20 else np.log(1 + np.exp(m + step)) - (m + step)
    assert losses.logistic_slope(m) == pytest.approx(loss.imag / 1e-30, rel=1e-12)
    slope = -1 / (1 + np.exp(m + step))
    assert losses.logistic_curvature(m) == pytest.approx(slope.imag / 1e-30, rel=1e-9)


BOUNDED_LOSS_STRATEGIES = {
    "usvc": {"s": st.floats(1, 9), "k": st.floats(1e-9, 1e-2)},
    "sigmoidal": {"steepness": st.floats(0.5, 20)},
}


@pytest.mark.parametrize("name", BOUNDED_LOSS_STRATEGIES)
@given(data=st.data())
def test_slopes_of_bounded_losses_are_derivatives(name, data):
    params = {key: data.draw(strategy) for key, strategy in BOUNDED_LOSS_STRATEGIES[name].items()}
    m = data.draw(st.floats(-30, 0.99))
    loss, slope = getattr(losses, name), getattr(losses, f"{name}_slope")
    h = 1e-6 if abs(m) > 1e-5 else 1e-12  # the second derivative of `usvc` jumps at 0
    quotient = (loss(m + h, **params) - loss(m - h, **params)) / (2 * h)
    assert slope(m, **params) == pytest.approx(quotient, rel=1e-3, abs=1e-4 * (h < 1e-9) + 1e-6)
    assert slope(1.0, **params) == slope(1.5, **params) == 0


@pytest.mark.parametrize("name", BOUNDED_LOSS_STRATEGIES)
def test_bounded_losses_tend_to_the_0_1_loss(name):
    m = np.array([-5.0, -0.2, 0.2, 0.9, 4.0])
    steep_params = {"usvc": {"s": 500.0}, "sigmoidal": {"steepness": 500.0}}[name]
    loss = getattr(losses, name)
    np.testing.assert_allclose(loss(m, **steep_params), losses.zero_one(m), atol=1e-6)
    suprema = [loss(-1e3, **params) for params in (steep_params, {})]
    assert min(suprema) > 0.999 and max(suprema) <= 1


@pytest.mark.parametrize("s", [1.0, 2.0, 4.0])
def test_usvc_loss_is_one_half_at_the_decision_boundary_and_decreases(s):
    m = np.linspace(-20, 2, 4001)
    assert losses.usvc(0.0, s) == pytest.approx(0.5)
    assert (np.diff(losses.usvc(m, s)) <= 0).all()
    assert losses.usvc_slope(1 - 1e-9, s) < 0  # otherwise the margin would not be maximised


@pytest.mark.parametrize(("s", "lies_above"), [(1.0, True), (1.5, True), (2.0, True), (3.0, False)])
def test_parabola_lies_above_the_usvc_loss_for_s_up_to_two(s, lies_above):
    # The parabola has the value and slope of the loss at slack xi, and its vertex at slack zero.
    slack = np.linspace(0, 8, 801)
    loss = losses.usvc(1 - slack, s)
    is_above = []
    for xi in np.linspace(0.05, 6, 120):
        value, slope = losses.usvc(1 - xi, s), -losses.usvc_slope(1 - xi, s)
        parabola = value + 0.5 * slope / xi * (slack**2 - xi**2)
        is_above.append((parabola >= loss - 1e-12).all())
    assert all(is_above) == lies_above


def test_huge_margins_do_not_overflow():
    m = np.array([-1e4, -1e300, 1e4, 1e300])
    for name in losses.__all__:
        values = getattr(losses, name)(np.clip(m, 0, 1) if "conjugate" in name else m)
        assert np.isfinite(values).all(), name
    np.testing.assert_array_equal(losses.logistic(m), [1e4, 1e300, 0, 0])


@given(MARGINS, st.floats(0, 1))
def test_conjugate_gives_tangents_below_the_loss(m, p):
    assert losses.logistic(m) >= -p * m - losses.logistic_conjugate(p) - 1e-12
    q = 1 / (1 + np.exp(m))
    tangent = -q * m - losses.logistic_conjugate(q)
    assert losses.logistic(m) == pytest.approx(tangent, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("p", [1e-18, 1e-13, 0.3, 1 - 1e-13])
def test_conjugate_is_accurate_near_zero_and_one(p):
    with decimal.localcontext(prec=50):
        q = decimal.Decimal(p)
        exact = float(q * q.ln() + (1 - q) * (1 - q).ln())
    assert losses.logistic_conjugate(p) == pytest.approx(exact, rel=1e-14)


def test_conjugate_is_infinite_outside_the_unit_interval():
    np.testing.assert_array_equal(losses.logistic_conjugate([-0.1, 1.1]), np.inf)


def test_hinge_is_the_slack():
    np.testing.assert_array_equal(losses.hinge([-1, 0.25, 1, 5]), [2, 0.75, 0, 0])


@pytest.mark.parametrize(
    ("slope", "curvature", "params"),
    [
        *[(losses.usvc_slope, losses.usvc_curvature, {"s": s}) for s in (1.5, 2.0, 4.0, 8.0)],
        *[
            (losses.sigmoidal_slope, losses.sigmoidal_curvature, {"steepness": a})
            for a in (1.0, 6.0)
        ],
    ],
)
def test_curvature_of_bounded_losses_is_the_derivative_of_the_slope(slope, curvature, params):
    # The second derivative of `usvc` jumps at 0.
    m = np.concatenate([np.linspace(-3.0, -0.05, 60), np.linspace(0.05, 0.9, 40)])
    h = 1e-6
    quotients = (slope(m + h, **params) - slope(m - h, **params)) / (2 * h)
    np.testing.assert_allclose(curvature(m, **params), quotients, rtol=1e-5, atol=1e-6)
