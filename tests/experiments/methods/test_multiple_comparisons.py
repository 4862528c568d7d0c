"""Holm's correction and mean ranks, against published tables and simulation."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from svmbook.experiments.methods.multiple_comparisons import holm, rank


@given(
    p=st.lists(st.floats(0, 1), min_size=1, max_size=12), significance_level=st.floats(0.001, 0.999)
)
def test_holm_equals_the_stepwise_procedure(p, significance_level):
    # Test the smallest p value at the significance level divided by n, the next at the level
    # divided by n - 1, and so on, until a hypothesis is not rejected.
    rejected, remaining = set(), sorted(range(len(p)), key=p.__getitem__)
    while remaining and p[remaining[0]] * len(remaining) <= significance_level:
        rejected.add(remaining.pop(0))
    assert set(np.flatnonzero(holm(p) <= significance_level)) == rejected


def test_holm_controls_the_familywise_error_rate():
    p = np.random.default_rng(0).uniform(size=(4000, 20))
    familywise_error_rate = np.mean([holm(row).min() <= 0.05 for row in p])
    assert familywise_error_rate == pytest.approx(0.05, abs=0.012)
    assert np.mean(p.min(axis=1) <= 0.05) > 0.6


def test_critical_difference_equals_published_values():
    # Demsar (2006), table 5(a): q at 0.05 for 3, 4, 5 and 10 methods.
    for k, q in ((3, 2.343), (4, 2.569), (5, 2.728), (10, 3.164)):
        errors = np.random.default_rng(k).random((14, k))
        ranks = rank(errors)
        assert ranks.critical_difference == pytest.approx(
            q * np.sqrt(k * (k + 1) / (6 * 14)), rel=1e-3
        )
        assert ranks.means.sum() == pytest.approx(k * (k + 1) / 2)
        assert ranks.p == pytest.approx(stats.friedmanchisquare(*errors.T).pvalue)


def test_ties_share_the_mean_of_their_ranks():
    ranks = rank([[0.1, 0.3, 0.1], [0.2, 0.5, 0.4]])
    assert ranks.means.tolist() == [1.25, 3.0, 1.75]


def test_errors_equal_up_to_rounding_are_tied():
    ranks = rank([[0.1 + 0.2, 0.3, 0.5]] * 3)
    assert ranks.means.tolist() == [1.5, 1.5, 3.0]
    # Means of rounded errors: of 4/6 and 0, of 2/6 and 2/6, and of two errors with a larger sum.
    mean_errors = np.mean([[0.666667, 0.0], [0.333333, 0.333333], [0.5, 0.1668]], axis=1)
    assert mean_errors[0] != mean_errors[1]
    assert rank([mean_errors] * 3).means.tolist() == [1.5, 1.5, 3.0]
    # Errors that differ in their last bits only, but round to different values at five digits.
    for boundary in (np.arange(20) + 0.5) * 1e-5:
        below, above = np.nextafter(boundary, [0.0, 1.0])
        assert rank([[1.0, below, above]] * 2).means.tolist() == [3.0, 1.5, 1.5]
    assert rank([[1.0, 0.5, 0.5 + 2e-5]] * 2).means.tolist() == [3.0, 1.0, 2.0]
    tied_ranks = rank(np.full((3, 4), 0.2))
    assert tied_ranks.means.tolist() == [2.5] * 4 and tied_ranks.p == 1.0


def test_critical_difference_controls_the_familywise_error_rate():
    rng = np.random.default_rng(0)
    rankings = [rank(rng.random((12, 5))) for _ in range(400)]
    is_rejected = [np.ptp(r.means) > r.critical_difference for r in rankings]
    assert np.mean(is_rejected) < 0.08  # nominally 0.05, plus sampling error


def test_fewer_than_three_methods_raise():
    with pytest.raises(ValueError, match="minimum of 3"):
        rank([[1.0, 2.0], [1.0, 2.0]])


@pytest.mark.parametrize("p", [[-0.1, 0.5], [0.5, 1.1], [np.nan], [[0.1, 0.2]], 0.3])
def test_invalid_p_values_raise(p):
    with pytest.raises(ValueError, match="between 0 and 1"):
        holm(p)


def test_critical_difference_depends_on_the_level():
    errors = [[1.0, 2, 3], [2.0, 1, 3], [1.0, 3, 2]]
    strict, loose = (rank(errors, level=level).critical_difference for level in (0.99, 0.5))
    quantile = stats.studentized_range.ppf(0.99, 3, np.inf) / np.sqrt(2)
    assert strict == pytest.approx(quantile * np.sqrt(12 / 18)) and strict > 2 * loose
    for level in (95, 0.0, 1.0):
        with pytest.raises(ValueError, match="level"):
            rank(errors, level=level)
