"""Statistics of experiments, against scipy and against simulation."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from sklearn.model_selection import ShuffleSplit

from svmbook.experiments.methods.statistics import (
    Comparison,
    as_good_as_the_best,
    compare,
    holm,
    rank,
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
    assert as_good_as_the_best({"a": [0.3] * 3, "b": [0.1 + 0.2] * 3}) == ["a", "b"]
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


def test_the_best_is_always_as_good_as_the_best():
    rng = np.random.default_rng(0)
    errors = {name: rng.uniform(size=8) for name in "abcdef"}
    best = min(errors, key=lambda name: errors[name].mean())
    plain = as_good_as_the_best(errors)
    assert best in plain
    assert set(plain) <= set(as_good_as_the_best(errors, test_share=0.4))


def test_the_best_is_so_by_its_mean():
    errors = {"often": [1.0, 1.1, 0.9, 9.0, 9.1], "mean": [3.0, 3.1, 2.9, 3.0, 3.0]}
    errors["near"] = [value + 0.2 for value in errors["mean"]]
    assert np.median(errors["often"]) < np.median(errors["mean"])
    assert as_good_as_the_best(errors) == ["often", "mean"]


@given(p=st.lists(st.floats(0, 1), min_size=1, max_size=12), level=st.floats(0.001, 0.999))
def test_holm_rejects_step_by_step(p, level):
    # As the procedure is told: reject the smallest at level / n, the next at level / (n - 1), ...
    rejected, waiting = set(), sorted(range(len(p)), key=p.__getitem__)
    while waiting and p[waiting[0]] * len(waiting) <= level:
        rejected.add(waiting.pop(0))
    assert set(np.flatnonzero(holm(p) <= level)) == rejected


def test_holm_finds_something_where_nothing_is_once_in_twenty_times():
    p = np.random.default_rng(0).uniform(size=(4000, 20))
    share = np.mean([holm(row).min() <= 0.05 for row in p])
    assert share == pytest.approx(0.05, abs=0.012)
    assert np.mean(p.min(axis=1) <= 0.05) > 0.6


def test_the_critical_difference_is_that_of_the_published_table():
    # Demsar (2006), table 5(a): q at 0.05 for 3, 4, 5 and 10 methods.
    for k, q in ((3, 2.343), (4, 2.569), (5, 2.728), (10, 3.164)):
        errors = np.random.default_rng(k).random((14, k))
        found = rank(errors)
        assert found.critical_difference == pytest.approx(
            q * np.sqrt(k * (k + 1) / (6 * 14)), rel=1e-3
        )
        assert found.means.sum() == pytest.approx(k * (k + 1) / 2)
        assert found.p == pytest.approx(stats.friedmanchisquare(*errors.T).pvalue)


def test_equals_share_their_ranks_and_the_best_has_the_first():
    found = rank([[0.1, 0.3, 0.1], [0.2, 0.5, 0.4]])
    assert found.means.tolist() == [1.25, 3.0, 1.75]


def test_rounding_makes_no_ranks():
    found = rank([[0.1 + 0.2, 0.3, 0.5]] * 3)
    assert found.means.tolist() == [1.5, 1.5, 3.0]
    # Two runs with two of six points wrong, as records keep them, and one with a little more.
    kept = np.mean([[0.666667, 0.0], [0.333333, 0.333333], [0.5, 0.1668]], axis=1)
    assert rank([kept] * 3).means.tolist() == [1.5, 1.5, 3.0] and kept[0] != kept[1]
    same = rank(np.full((3, 4), 0.2))
    assert same.means.tolist() == [2.5] * 4 and same.p == 1.0


def test_alike_methods_are_told_apart_as_often_as_is_said():
    rng = np.random.default_rng(0)
    wrong = [
        np.ptp((r := rank(rng.random((12, 5)))).means) > r.critical_difference for _ in range(400)
    ]
    assert np.mean(wrong) < 0.08  # 0.05, and chance


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: rank([[1.0, 2.0], [1.0, 2.0]]), "minimum of 3"),
        (lambda: summarise([]), "there are no values"),
        (lambda: summarise([1.0, np.nan]), "must be finite; found nan"),
        (lambda: compare([1.0, 2.0], [1.0, 2.0, 3.0]), "inconsistent"),
        (lambda: compare([1.0], [2.0]), "at least two"),
        (lambda: compare([1.0, 2.0], [2.0, 2.0], level=95), "level"),
        (lambda: compare([1.0, 2.0], [2.0, 3.0], test_share=1.0), "test_share"),
        (lambda: as_good_as_the_best({}), "no method"),
    ],
)
def test_bad_arguments_are_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
