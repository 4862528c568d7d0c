"""Numbers that tie up to rounding, and intercepts that do not depend on rounding."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from svmbook.solvers import solve_dual_batch
from svmbook.solvers.batched.duals import best_intercepts
from svmbook.ties import TIE_TOL, argmax_up_to_rounding, round_significand

NUMBERS = st.floats(-1e6, 1e6).map(lambda x: round(x, 6))


@given(NUMBERS, st.sampled_from([-1.0, 1.0]))
def test_numbers_equal_up_to_rounding_become_equal(x, sign):
    scaled_significand = np.frexp(x)[0] / TIE_TOL
    # No rounding boundary may lie between the two numbers.
    assume(abs(scaled_significand % 1.0 - 0.5) > 1e-3)
    assert round_significand(x * (1.0 + sign * 1e-15)) == round_significand(x)


@given(NUMBERS)
def test_rounding_error_is_within_the_tolerance_and_larger_differences_remain(x):
    assert abs(round_significand(x) - x) <= TIE_TOL * abs(x)
    assert round_significand(x * (1.0 + 1e-9)) != round_significand(x) or x == 0.0


def test_numbers_of_few_bits_are_not_changed():
    values = np.array([0.0, 1.0, -3.0, 0.125, np.inf, -np.inf, 2.0**1000, 2.0**-1000])
    assert (round_significand(values) == values).all()


def test_first_of_the_tied_largest_numbers_is_returned():
    values = np.array([[0.2, 0.3], [0.1 + 0.2, 0.3 - 1e-9]])
    assert values.argmax() == 2 and argmax_up_to_rounding(values) == 1
    assert argmax_up_to_rounding(np.array([-1e-17, 1e-17, -1.0]), scale=1.0) == 0


def slack_penalty(e, y, C, b):
    """Return the part of the primal objective that depends on the intercept b.

    e is the label of each point minus its output without intercept.
    """
    return (C * np.maximum(0.0, y * (e - b))).sum()


@given(
    arrays(float, 7, elements=st.integers(-9, 9).map(float)),  # so that all sums are exact
    arrays(float, 7, elements=st.sampled_from([-1.0, 1.0])),
    arrays(float, 7, elements=st.sampled_from([0.0, 0.5, 1.0, 3.0])),
)
def test_best_intercept_is_the_midpoint_of_all_minimisers(e, y, C):
    y[:2], C[:2] = (-1.0, 1.0), 1.0
    intercept = best_intercepts(e[None], y[None], C[None])[0]
    # The objective is piecewise linear with kinks at e, so the interval of minimisers
    # begins and ends at kinks.
    values = np.array([slack_penalty(e, y, C, b) for b in e])
    minimisers = e[values == values.min()]
    assert intercept == 0.5 * (minimisers.min() + minimisers.max())


def test_multipliers_at_their_bounds_up_to_rounding_do_not_determine_the_intercept():
    # In about one problem in seven no multiplier is free. A rounding error of 1e-16 in a multiplier
    # at its bound must not count as free there.
    rng = np.random.default_rng(0)
    X, y = rng.uniform(-1, 1, (300, 8, 2)), np.ones((300, 8))
    y[:, 1:] = -1.0
    batch = solve_dual_batch(X @ X.transpose(0, 2, 1), y, 1.0)
    e = y - np.einsum("mid,mjd,mj->mi", X, X, y * batch.alpha)
    n_nonunique = 0
    for e_i, y_i, intercept in zip(e, y, batch.intercept, strict=True):
        values = np.array([slack_penalty(e_i, y_i, 1.0, b) for b in e_i])
        minimisers = e_i[values <= values.min() + 1e-10]
        midpoint = 0.5 * (minimisers.min() + minimisers.max())
        assert intercept == pytest.approx(midpoint, abs=1e-9)
        n_nonunique += np.ptp(minimisers) > 1e-6
    assert n_nonunique > 20
