"""Statistics of experiments, against scipy and against simulation."""

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

LISTS = st.integers(2, 30).flatmap(
    lambda n: st.lists(st.floats(-100, 100), min_size=2 * n, max_size=2 * n)
)


@given(values=st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=40))
def test_the_standard_error_is_scipys(values):
    summary = summarise(values)
    assert summary.runs == len(values)
    assert summary.error == pytest.approx(stats.sem(values), rel=1e-9, abs=1e-12)
    assert summary.deviation == pytest.approx(np.std(values, ddof=1), rel=1e-9, abs=1e-12)


def test_one_run_has_a_mean_and_no_error():
    summary = summarise([3.0])
    assert summary.mean == 3.0
    assert np.isnan(summary.error)
    assert f"{summary:+.1f}" == "+3.0"


def test_a_summary_in_text_is_its_mean_and_error_with_one_sign():
    summary = summarise([1.0, 2.0, 6.0])
    assert f"{summary:+.2f}".split() == ["+3.00", "±", f"{summary.error:.2f}"]
    assert f"{summary:.1f}".split() == ["3.0", "±", f"{summary.error:.1f}"]


@given(values=LISTS)
def test_the_paired_test_is_scipys(values):
    first, second = np.array(values).reshape(2, -1)
    if (first - second).std() < 1e-6:
        return
    ours, theirs = compare(first, second), stats.ttest_rel(first, second)
    assert ours.t == pytest.approx(theirs.statistic, rel=1e-9)
    assert ours.p == pytest.approx(theirs.pvalue, rel=1e-9, abs=1e-300)
    interval = theirs.confidence_interval(0.95)
    assert (ours.low, ours.high) == pytest.approx(tuple(interval), rel=1e-9, abs=1e-9)


@given(values=LISTS, share=st.floats(0.05, 0.9))
def test_the_correction_widens_by_the_overlap(values, share):
    first, second = np.array(values).reshape(2, -1)
    if (first - second).std() < 1e-6:
        return
    plain, wide = compare(first, second), compare(first, second, test_share=share)
    factor = np.sqrt(1 + len(first) * share / (1 - share))
    assert wide.difference == plain.difference
    assert wide.high - wide.low == pytest.approx((plain.high - plain.low) * factor)
    assert wide.p >= plain.p


def test_the_plain_test_is_too_sure_on_overlapping_splits_and_the_corrected_one_is_not():
    """Compare a classifier with its twin: any difference that is found is not there.

    The classifier is ridge regression in closed form, as an estimator's checks of 3,600 fits
    would take fifty times as long as the fits.
    """
    found = {"plain": 0, "corrected": 0}
    trials = 120
    for seed in range(trials):
        rng = np.random.default_rng(seed)
        both = rng.standard_normal((60, 12))
        y = np.where(both[:, 0] + both[:, 6] + 1.5 * rng.standard_normal(60) > 0, 1, -1)
        halves = both[:, :6], both[:, 6:]  # equally good features for each of the two
        errors = [[], []]
        for train, test in ShuffleSplit(15, test_size=0.2, random_state=seed).split(both):
            for half, values in zip(halves, errors, strict=True):
                X, H = half[train], half[test]
                weights = np.linalg.solve(X.T @ X + np.eye(6), X.T @ y[train])
                values.append((np.sign(H @ weights) != y[test]).mean())
        found["plain"] += compare(*errors).p < 0.05
        found["corrected"] += compare(*errors, test_share=0.2).p < 0.05
    assert found["plain"] > 0.2 * trials
    assert found["corrected"] < 0.5 * found["plain"]


def test_equal_lists_tie_and_constant_differences_are_certain():
    assert compare([1, 2, 3], [1, 2, 3]) == Comparison(0.0, 0.0, 1.0, 0.0, 0.0)
    sure = compare([1, 2, 3], [2, 3, 4])
    assert sure.p == 0.0 and sure.t == -np.inf
    assert sure.verdict == "win"
    assert compare([2, 3, 4], [1, 2, 3]).verdict == "loss"


def test_rounding_is_no_difference():
    assert compare([0.3] * 3, [0.1 + 0.2] * 3).verdict == "tie"
    alike = compare([0.7, 0.8, 0.9], [0.6, 0.7, 0.8])
    assert alike.t == np.inf and alike.p == 0


@pytest.mark.parametrize("level", [0.0, 95, -3, np.nan])
def test_a_level_lies_between_zero_and_one(level):
    with pytest.raises(ValueError, match="level must lie between 0 and 1"):
        compare([1.0, 2.0], [1.0, 3.0], level=level)


@given(values=LISTS, level=st.sampled_from([0.5, 0.95]))
def test_a_difference_counts_where_its_p_value_is_small(values, level):
    first, second = np.array(values).reshape(2, -1)
    if (first - second).std() < 1e-6:
        return
    comparison = compare(first, second, level=level)
    if abs(comparison.p - (1 - level)) > 1e-9:
        assert (comparison.verdict == "tie") == (comparison.p > 1 - level)
    turned = {"win": "loss", "loss": "win", "tie": "tie"}
    assert compare(second, first, level=level).verdict == turned[comparison.verdict]


def test_a_verdict_is_given_from_the_level_on():
    for level in (0.9, 0.95):
        for place, verdict in enumerate(("better", "equivalent", "worse")):
            for likely, expected in ((level, verdict), (level - 1e-9, "undecided")):
                p = np.roll([likely, 1.0 - likely, 0.0], place)
                assert PracticalDifference(*p, level).verdict == expected


def test_practical_differences_are_those_of_the_t_distribution():
    first, second = [3.0, 4.0, 6.0, 5.5], [2.0, 4.5, 3.0, 4.0]
    for share in (None, 0.3):
        found = compare(first, second, test_share=share)
        scale = found.difference / found.t
        posterior = stats.t(3, loc=found.difference, scale=scale)
        ours = practical_difference(first, second, rope=0.5, test_share=share)
        assert ours.smaller == pytest.approx(posterior.cdf(-0.5))
        assert ours.larger == pytest.approx(posterior.sf(0.5))
        assert sum(ours[:3]) == pytest.approx(1.0)


@pytest.mark.parametrize("share", [None, 0.3])
def test_practical_differences_are_as_probable_as_they_say(share):
    # True means are spread evenly; differences of splits have the correlation of the correction.
    rng = np.random.default_rng(0)
    rho, said, true = share or 0.0, [], []
    for mean in np.linspace(-8.0, 8.0, 6000):
        common = np.sqrt(rho) * rng.standard_normal()
        d = mean + 2.0 * (common + np.sqrt(1.0 - rho) * rng.standard_normal(10))
        said.append(practical_difference(d, np.zeros(10), test_share=share)[:3])
        true.append((mean < -1.0, abs(mean) <= 1.0, mean > 1.0))
    said, true = np.array(said), np.array(true)
    for low, high in ((0.05, 0.35), (0.35, 0.65), (0.65, 0.95), (0.95, 1.01)):
        for outcome in range(3):
            here = (said[:, outcome] >= low) & (said[:, outcome] < high)
            if here.sum() > 100:
                gap = true[here, outcome].mean() - said[here, outcome].mean()
                assert abs(gap) < 4.0 * 0.5 / np.sqrt(here.sum())


def test_alike_methods_are_equivalent_and_far_ones_are_not():
    same = [20.0, 21.0, 19.0]
    assert practical_difference(same, same).verdict == "equivalent"
    assert practical_difference([23.0, 24.0, 22.0], same).verdict == "worse"
    assert practical_difference(same, [23.0, 24.0, 22.0]).verdict == "better"
    assert practical_difference([18.0, 25.0, 19.0], same).verdict == "undecided"


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
def test_bad_arguments_are_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize("first", [[16.1, 17.1, 18.1], [20.1, 21.1, 22.1], [0.1, 0.7, 3.3]])
def test_a_constant_difference_at_the_edge_of_the_region_is_equivalent(first):
    second = [value - 1.0 for value in first]
    assert practical_difference(first, second).verdict == "equivalent"
    assert practical_difference(second, first).verdict == "equivalent"
    assert practical_difference(first, second, rope=0.99).verdict == "worse"
