"""Statistics of experiments, compared with SciPy and with simulations."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from sklearn.model_selection import ShuffleSplit

from svmbook.experiments.methods.statistics import (
    Comparison,
    PracticalDifference,
    compare,
    practical_difference,
    summarise,
)

PAIRED_VALUES = st.integers(2, 30).flatmap(
    lambda n: st.lists(st.floats(-100, 100), min_size=2 * n, max_size=2 * n)
)


@given(values=st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=40))
def test_standard_error_equals_that_of_scipy(values):
    summary = summarise(values)
    assert summary.n_values == len(values)
    assert summary.standard_error == pytest.approx(stats.sem(values), rel=1e-9, abs=1e-12)
    assert summary.deviation == pytest.approx(np.std(values, ddof=1), rel=1e-9, abs=1e-12)


def test_summary_of_one_value_has_no_standard_error():
    summary = summarise([3.0])
    assert summary.mean == 3.0
    assert np.isnan(summary.standard_error)
    assert f"{summary:+.1f}" == "+3.0"


def test_formatted_summary_is_the_signed_mean_and_the_unsigned_error():
    summary = summarise([1.0, 2.0, 6.0])
    assert f"{summary:+.2f}".split() == ["+3.00", "±", f"{summary.standard_error:.2f}"]
    assert f"{summary:.1f}".split() == ["3.0", "±", f"{summary.standard_error:.1f}"]


@given(values=PAIRED_VALUES)
def test_paired_t_test_equals_that_of_scipy(values):
    first, second = np.array(values).reshape(2, -1)
    if (first - second).std() < 1e-6:
        return
    ours, theirs = compare(first, second), stats.ttest_rel(first, second)
    assert ours.t == pytest.approx(theirs.statistic, rel=1e-9)
    assert ours.p == pytest.approx(theirs.pvalue, rel=1e-9, abs=1e-300)
    interval = theirs.confidence_interval(0.95)
    assert (ours.low, ours.high) == pytest.approx(tuple(interval), rel=1e-9, abs=1e-9)


@given(values=PAIRED_VALUES, share=st.floats(0.05, 0.9))
def test_correction_widens_the_interval_by_the_overlap(values, share):
    first, second = np.array(values).reshape(2, -1)
    if (first - second).std() < 1e-6:
        return
    plain, corrected = compare(first, second), compare(first, second, test_share=share)
    factor = np.sqrt(1 + len(first) * share / (1 - share))
    assert corrected.difference == plain.difference
    assert corrected.high - corrected.low == pytest.approx((plain.high - plain.low) * factor)
    assert corrected.p >= plain.p


def test_corrected_t_test_has_fewer_false_positives_on_overlapping_splits():
    """Compare two classifiers with the same expected error, so that each rejection is false.

    The classifier is ridge regression in closed form: for 3,600 fits of an estimator, the
    validation of its input would take fifty times as long as the fits.
    """
    n_rejections = {"plain": 0, "corrected": 0}
    n_trials = 120
    for seed in range(n_trials):
        rng = np.random.default_rng(seed)
        X_all = rng.standard_normal((60, 12))
        y = np.where(X_all[:, 0] + X_all[:, 6] + 1.5 * rng.standard_normal(60) > 0, 1, -1)
        feature_halves = X_all[:, :6], X_all[:, 6:]  # equally informative features
        errors = [[], []]
        for train, test in ShuffleSplit(15, test_size=0.2, random_state=seed).split(X_all):
            for half, half_errors in zip(feature_halves, errors, strict=True):
                X, X_test = half[train], half[test]
                weights = np.linalg.solve(X.T @ X + np.eye(6), X.T @ y[train])
                half_errors.append((np.sign(X_test @ weights) != y[test]).mean())
        n_rejections["plain"] += compare(*errors).p < 0.05
        n_rejections["corrected"] += compare(*errors, test_share=0.2).p < 0.05
    assert n_rejections["plain"] > 0.2 * n_trials
    assert n_rejections["corrected"] < 0.5 * n_rejections["plain"]


def test_equal_lists_tie_and_constant_differences_have_p_zero():
    assert compare([1, 2, 3], [1, 2, 3]) == Comparison(0.0, 0.0, 1.0, 0.0, 0.0)
    constant_difference = compare([1, 2, 3], [2, 3, 4])
    assert constant_difference.p == 0.0 and constant_difference.t == -np.inf
    assert constant_difference.verdict == "win"
    assert compare([2, 3, 4], [1, 2, 3]).verdict == "loss"


def test_differences_of_rounding_size_are_ignored():
    assert compare([0.3] * 3, [0.1 + 0.2] * 3).verdict == "tie"
    constant_difference = compare([0.7, 0.8, 0.9], [0.6, 0.7, 0.8])
    assert constant_difference.t == np.inf and constant_difference.p == 0


@pytest.mark.parametrize("level", [0.0, 95, -3, np.nan])
def test_level_must_lie_between_zero_and_one(level):
    with pytest.raises(ValueError, match="level must lie between 0 and 1"):
        compare([1.0, 2.0], [1.0, 3.0], level=level)


@given(values=PAIRED_VALUES, level=st.sampled_from([0.5, 0.95]))
def test_verdict_is_a_tie_unless_the_p_value_is_small(values, level):
    first, second = np.array(values).reshape(2, -1)
    if (first - second).std() < 1e-6:
        return
    comparison = compare(first, second, level=level)
    if abs(comparison.p - (1 - level)) > 1e-9:
        assert (comparison.verdict == "tie") == (comparison.p > 1 - level)
    reversed_verdict = {"win": "loss", "loss": "win", "tie": "tie"}[comparison.verdict]
    assert compare(second, first, level=level).verdict == reversed_verdict


def test_practical_verdict_requires_a_probability_of_at_least_the_level():
    for level in (0.9, 0.95):
        for position, verdict in enumerate(("better", "equivalent", "worse")):
            for largest, expected in ((level, verdict), (level - 1e-9, "undecided")):
                p = np.roll([largest, 1.0 - largest, 0.0], position)
                assert PracticalDifference(*p, level).verdict == expected


def test_practical_difference_equals_probabilities_of_the_t_distribution():
    first, second = [3.0, 4.0, 6.0, 5.5], [2.0, 4.5, 3.0, 4.0]
    for share in (None, 0.3):
        comparison = compare(first, second, test_share=share)
        scale = comparison.difference / comparison.t
        posterior = stats.t(3, loc=comparison.difference, scale=scale)
        ours = practical_difference(first, second, rope=0.5, test_share=share)
        assert ours.smaller == pytest.approx(posterior.cdf(-0.5))
        assert ours.larger == pytest.approx(posterior.sf(0.5))
        assert sum(ours[:3]) == pytest.approx(1.0)


@pytest.mark.parametrize("share", [None, 0.3])
def test_practical_differences_are_calibrated(share):
    # The true means have a uniform prior; the differences have the correlation that is assumed.
    rng = np.random.default_rng(0)
    rho, probabilities, outcomes = share or 0.0, [], []
    for mean in np.linspace(-8.0, 8.0, 6000):
        common = np.sqrt(rho) * rng.standard_normal()
        differences = mean + 2.0 * (common + np.sqrt(1.0 - rho) * rng.standard_normal(10))
        probabilities.append(practical_difference(differences, np.zeros(10), test_share=share)[:3])
        outcomes.append((mean < -1.0, abs(mean) <= 1.0, mean > 1.0))
    probabilities, outcomes = np.array(probabilities), np.array(outcomes)
    for low, high in ((0.05, 0.35), (0.35, 0.65), (0.65, 0.95), (0.95, 1.01)):
        for outcome in range(3):
            p = probabilities[:, outcome]
            in_bin = (p >= low) & (p < high)
            if in_bin.sum() > 100:
                difference = outcomes[in_bin, outcome].mean() - p[in_bin].mean()
                assert abs(difference) < 4.0 * 0.5 / np.sqrt(in_bin.sum())


def test_practical_verdict_is_better_if_the_first_errors_are_smaller():
    errors = [20.0, 21.0, 19.0]
    assert practical_difference(errors, errors).verdict == "equivalent"
    assert practical_difference([23.0, 24.0, 22.0], errors).verdict == "worse"
    assert practical_difference(errors, [23.0, 24.0, 22.0]).verdict == "better"
    assert practical_difference([18.0, 25.0, 19.0], errors).verdict == "undecided"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: summarise([]), "there are no values"),
        (lambda: summarise([1.0, np.nan]), "must be finite; found nan"),
        (lambda: compare([1.0, 2.0], [1.0, 2.0, 3.0]), "inconsistent"),
        (lambda: compare([1.0], [2.0]), "at least two"),
        (lambda: compare([1.0, 2.0], [2.0, 2.0], level=95), "level"),
        (lambda: compare([1.0, 2.0], [2.0, 3.0], test_share=1.0), "test_share"),
        (lambda: practical_difference([1.0, 2.0], [2.0, 3.0], level=7.0), "level"),
        (lambda: practical_difference([1.0, 2.0], [2.0, 3.0], rope=-1.0), "rope"),
    ],
)
def test_invalid_arguments_raise(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize("first", [[16.1, 17.1, 18.1], [20.1, 21.1, 22.1], [0.1, 0.7, 3.3]])
def test_constant_difference_on_the_boundary_of_the_region_is_equivalent(first):
    second = [value - 1.0 for value in first]
    assert practical_difference(first, second).verdict == "equivalent"
    assert practical_difference(second, first).verdict == "equivalent"
    assert practical_difference(first, second, rope=0.99).verdict == "worse"
