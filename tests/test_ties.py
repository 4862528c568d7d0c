"""Ties (`svmbook.ties`), and intercepts that rounding does not decide (`solvers.batched.duals`)."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from svmbook.solvers import solve_dual_batch
from svmbook.solvers.batched.duals import best_intercepts
from svmbook.ties import TIE_TOL, first_largest, rounded

NUMBERS = st.floats(-1e6, 1e6).map(lambda x: round(x, 6))


@given(NUMBERS, st.sampled_from([-1.0, 1.0]))
def test_numbers_that_rounding_has_moved_become_equal_again(x, sign):
    steps = np.frexp(x)[0] / TIE_TOL
    assume(abs(steps % 1.0 - 0.5) > 1e-3)  # no boundary of rounding lies between the two
    assert rounded(x * (1.0 + sign * 1e-15)) == rounded(x)


@given(NUMBERS)
def test_rounding_moves_a_number_by_a_relative_1e_11_at_most(x):
    assert abs(rounded(x) - x) <= TIE_TOL * abs(x)
    assert rounded(x * (1.0 + 1e-9)) != rounded(x) or x == 0.0


def test_rounded_keeps_what_is_exact():
    values = np.array([0.0, 1.0, -3.0, 0.125, np.inf, -np.inf, 2.0**1000, 2.0**-1000])
    assert (rounded(values) == values).all()


def test_of_equal_numbers_the_first_is_the_largest():
    values = np.array([[0.2, 0.3], [0.1 + 0.2, 0.3 - 1e-9]])
    assert values.argmax() == 2 and first_largest(values) == 1
    assert first_largest(np.array([-1e-17, 1e-17, -1.0]), size=1.0) == 0


def primal(e, y, C, b):
    """The part of the primal objective in which the intercept is."""
    return (C * np.maximum(0.0, y * (e - b))).sum()


@given(
    arrays(float, 7, elements=st.integers(-9, 9).map(float)),  # sums and slopes are exact
    arrays(float, 7, elements=st.sampled_from([-1.0, 1.0])),
    arrays(float, 7, elements=st.sampled_from([0.0, 0.5, 1.0, 3.0])),
)
def test_the_best_intercept_is_the_middle_of_all_minimisers(e, y, C):
    y[:2], C[:2] = (-1.0, 1.0), 1.0
    b = best_intercepts(e[None], y[None], C[None])[0]
    # The objective is straight between errors: its minimisers end at some of them.
    values = np.array([primal(e, y, C, at) for at in e])
    best = e[values == values.min()]
    assert b == 0.5 * (best.min() + best.max())


def test_multipliers_that_rounding_keeps_from_their_bounds_do_not_fix_an_intercept():
    # In one of a hundred such problems no multiplier is free, and rounding leaves one of 1e-16.
    rng = np.random.default_rng(0)
    X, y = rng.uniform(-1, 1, (300, 8, 2)), np.ones((300, 8))
    y[:, 1:] = -1.0
    batch = solve_dual_batch(X @ X.transpose(0, 2, 1), y, 1.0)
    e = y - np.einsum("mid,mjd,mj->mi", X, X, y * batch.alpha)
    open_intervals = 0
    for problem in range(300):
        values = np.array([primal(e[problem], y[problem], 1.0, at) for at in e[problem]])
        best = e[problem][values <= values.min() + 1e-10]
        assert batch.intercept[problem] == pytest.approx(0.5 * (best.min() + best.max()), abs=1e-9)
        open_intervals += np.ptp(best) > 1e-6
    assert open_intervals > 20
