"""The suites after Shen (2013)."""

import numpy as np
import pytest
from records import committed

from svmbook.experiments import report
from svmbook.experiments.suites import shen2013_search


@pytest.mark.parametrize(
    ("setting", "method"),
    [("isolated, spread 0.07, unit 3", "tree"), ("isolated, spread 0.05, unit 1", "linear")],
)
def test_a_setting_can_be_tried_again(setting, method):
    stored = committed("shen2013-search", data_set=setting, method=method, run=2)
    again = shen2013_search.work(setting, method, 2)
    assert again["seed"] == stored["seed"]
    assert again["error"] == pytest.approx(stored["error"], abs=0.01)


def test_a_setting_is_drawn_around_the_origin_in_its_unit():
    near, y = shen2013_search.drawn("striated, width 0.1, length 8, tilt 45, unit 1", seed=3)
    far, same = shen2013_search.drawn("striated, width 0.1, length 8, tilt 45, unit 3", seed=3)
    np.testing.assert_allclose(far, 3 * near)
    np.testing.assert_array_equal(y, same)
    np.testing.assert_allclose(near.max(axis=0), -near.min(axis=0))


@pytest.mark.parametrize("data_set", ["isolated", "striated"])
def test_the_nearest_setting_is_within_the_deviations_of_the_thesis(data_set):
    rows = report("shen2013-search").rows
    best = shen2013_search.nearest(rows, data_set)[0]
    printed = shen2013_search.PRINTED[data_set]
    off = [(best[m] - value) / max(sd, 1.0) for m, (value, sd) in printed.items()]
    assert best["off"] == pytest.approx(np.linalg.norm(off))
    assert np.abs(off).max() <= 1.0
    assert all(row["off"] >= best["off"] for row in rows if row["data_set"].startswith(data_set))


def test_only_a_tree_notices_how_long_stripes_are():
    rows = {row["data_set"]: row for row in report("shen2013-search").rows}
    accuracy = np.array(
        [
            [
                rows[f"striated, width 0.1, length {length}, tilt {tilt}, unit 3"][method]
                for method in shen2013_search.METHODS
            ]
            for length in (8, 16, 24, 32)
            for tilt in (22.5, 45)
        ]
    )
    linear, tree, quadratic = accuracy.T
    assert np.ptp(linear) < 0.1 and np.ptp(quadratic) < 0.1
    assert 65 < tree.min() < 67 and 87 < tree.max() < 89
