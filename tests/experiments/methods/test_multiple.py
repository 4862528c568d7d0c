"""Several tests or methods at once, against published tables and simulation."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from svmbook.experiments.methods.multiple import holm, rank


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
    # Nor are ranks made where a last bit would decide which way a number is rounded.
    for edge in (np.arange(20) + 0.5) * 1e-5:
        below, above = np.nextafter(edge, [0.0, 1.0])
        assert rank([[1.0, below, above]] * 2).means.tolist() == [3.0, 1.5, 1.5]
    assert rank([[1.0, 0.5, 0.5 + 2e-5]] * 2).means.tolist() == [3.0, 1.0, 2.0]
    same = rank(np.full((3, 4), 0.2))
    assert same.means.tolist() == [2.5] * 4 and same.p == 1.0


def test_alike_methods_are_told_apart_as_often_as_is_said():
    rng = np.random.default_rng(0)
    wrong = [
        np.ptp((r := rank(rng.random((12, 5)))).means) > r.critical_difference for _ in range(400)
    ]
    assert np.mean(wrong) < 0.08  # 0.05, and chance


def test_two_methods_have_no_ranks():
    with pytest.raises(ValueError, match="minimum of 3"):
        rank([[1.0, 2.0], [1.0, 2.0]])


@pytest.mark.parametrize("p", [[-0.1, 0.5], [0.5, 1.1], [np.nan], [[0.1, 0.2]], 0.3])
def test_what_is_no_list_of_p_values_is_refused(p):
    with pytest.raises(ValueError, match="between 0 and 1"):
        holm(p)


def test_the_level_moves_the_critical_difference():
    errors = [[1.0, 2, 3], [2.0, 1, 3], [1.0, 3, 2]]
    strict, loose = (rank(errors, level=level).critical_difference for level in (0.99, 0.5))
    quantile = stats.studentized_range.ppf(0.99, 3, np.inf) / np.sqrt(2)
    assert strict == pytest.approx(quantile * np.sqrt(12 / 18)) and strict > 2 * loose
    for level in (95, 0.0, 1.0):
        with pytest.raises(ValueError, match="level"):
            rank(errors, level=level)
