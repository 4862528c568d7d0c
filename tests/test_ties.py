"""Ties (`svmbook.ties`), and intercepts that rounding does not decide (`solvers.batched.duals`)."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from svmbook.solvers import solve_duals
from svmbook.solvers.batched.duals import best_intercepts
from svmbook.ties import TIE, first_largest, rounded

NUMBERS = st.floats(-1e6, 1e6).map(lambda x: round(x, 6))


@given(NUMBERS, st.sampled_from([-1.0, 1.0]))
def test_numbers_that_rounding_has_moved_become_equal_again(x, sign):
    assert rounded(x * (1.0 + sign * 1e-15)) == rounded(x)


@given(NUMBERS)
def test_rounding_moves_a_number_by_a_relative_1e_11_at_most(x):
    assert abs(rounded(x) - x) <= TIE * abs(x)
    assert rounded(x * (1.0 + 1e-9)) != rounded(x) or x == 0.0


def test_rounded_keeps_what_is_exact():
    values = np.array([0.0, 1.0, -3.0, 0.125, np.inf, -np.inf, 1e300, 5e-324])
    assert (rounded(values) == values).all()


def test_of_equal_numbers_the_first_is_the_largest():
    values = np.array([[0.2, 0.3], [0.1 + 0.2, 0.3 - 1e-9]])
    assert values.argmax() == 2 and first_largest(values) == 1
    assert first_largest(np.array([-1e-17, 1e-17, -1.0]), size=1.0) == 0


def primal(e, y, C, b):
    """The part of the primal objective in which the intercept is."""
    return (C * np.maximum(0.0, y * (e - b))).sum()


@given(
    arrays(float, 7, elements=NUMBERS),
    arrays(float, 7, elements=st.sampled_from([-1.0, 1.0])),
    arrays(float, 7, elements=st.sampled_from([0.0, 0.5, 1.0, 3.0])),
)
def test_the_best_intercept_is_the_middle_of_all_minimisers(e, y, C):
    y[:2], C[:2] = (-1.0, 1.0), 1.0
    b = best_intercepts(e[None], y[None], C[None])[0]
    # The objective is straight between errors: its minimisers end at some of them.
    values = np.array([primal(e, y, C, at) for at in e])
    best = e[values <= values.min() + 1e-9 * (1.0 + values.min())]
    assert primal(e, y, C, b) == pytest.approx(values.min(), rel=1e-9, abs=1e-9)
    assert b == pytest.approx(0.5 * (best.min() + best.max()), rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("noise", [0.0, 1e-16, 1e-14])
def test_a_multiplier_at_its_bound_but_for_rounding_does_not_fix_the_intercept(noise):
    # Two points at distance 2, and a third that is on the margin with the multiplier zero if the
    # arithmetic is exact. C holds both multipliers at their bounds.
    X = np.array([[0.0, 0.0], [2.0, 0.0], [2.0 + noise, 1.0]])
    y, C = np.array([1.0, -1.0, -1.0]), np.array([0.25, 0.25, 1.0])
    batch = solve_duals((X @ X.T)[None], y[None], C[None])
    w = (batch.alpha[0] * y) @ X
    assert w == pytest.approx([-0.5, 0.0], abs=1e-12)
    e = y - X @ w
    assert batch.intercept[0] == pytest.approx(0.5 * (e[0] + e[1]), abs=1e-12)
