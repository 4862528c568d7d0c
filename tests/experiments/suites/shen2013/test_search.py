"""The search for the settings of the synthetic sets of Shen (2013)."""

import numpy as np
import pytest
from records import committed

from svmbook.experiments import report
from svmbook.experiments.suites.shen2013 import folds, search
from svmbook.experiments.suites.shen2013 import printed as shen2013_tables


@pytest.mark.parametrize(
    ("setting", "method"),
    [("isolated, spread 0.07, unit 3", "tree"), ("isolated, spread 0.05, unit 1", "linear")],
)
def test_a_setting_can_be_tried_again(setting, method):
    stored = committed("shen2013-search", data_set=setting, method=method, run=2)
    again = search.work(setting, method, 2)
    for name in ("seed", "parameters", "model_size"):
        assert again[name] == stored[name], name
    assert again["error"] == pytest.approx(stored["error"], abs=0.01)


@pytest.mark.parametrize("data_set", ["isolated", "striated"])
@pytest.mark.parametrize("method", ["linear", "quadratic"])
def test_the_search_has_the_classifiers_and_folds_of_the_study(data_set, method):
    setting = folds.DRAWN[data_set]
    studied = committed("shen2013", data_set=data_set, method=method, run=1)
    searched = committed("shen2013-search", data_set=setting, method=method, run=1)
    assert searched["error"] == pytest.approx(studied["error"], abs=1e-3)
    printed = search.PRINTED[data_set][method]
    assert printed == shen2013_tables._printed(data_set)[method]


@pytest.mark.parametrize(("data_set", "cost"), [("isolated", 0.6), ("striated", -0.1)])
def test_the_tree_of_the_search_is_not_pruned(data_set, cost):
    setting = folds.DRAWN[data_set]
    stored = committed("shen2013-search", data_set=setting, method="tree", run=1)
    again = search.work(setting, "tree", 1)
    assert again["error"] == pytest.approx(stored["error"], abs=0.004)
    printed = search.PRINTED[data_set]["tree"]
    assert printed == shen2013_tables._printed(data_set)["CART"]
    rows = {row["data_set"]: row for row in report("shen2013-search").rows}
    [pruned] = [
        row["reproduced"]
        for row in report("shen2013").rows
        if (row["data_set"], row["method"]) == (data_set, "CART")
    ]
    assert rows[setting]["tree"] - pruned == pytest.approx(cost, abs=0.05)


def test_the_table_of_the_search_shows_the_five_nearest_settings_of_each_set():
    found = report("shen2013-search")
    off = {row["data_set"]: row["off"] for row in found.rows}
    lines = [*found.table.rows]
    for data_set, setting in folds.DRAWN.items():
        here, lines = lines[:6], lines[6:]
        assert here[0][0] == f"{data_set}, printed"
        shown = [f"{data_set}, {line[0]}" for line in here[1:]]
        others = [off[name] for name in off.keys() - set(shown) if name.startswith(data_set)]
        assert [*map(off.get, shown)] == sorted(map(off.get, shown))
        assert off[shown[-1]] <= min(others)
        assert setting in shown  # the setting of the other suites is among the nearest
        assert [float(line[-1]) for line in here[1:]] == [round(off[name], 1) for name in shown]
    assert not lines


def test_a_setting_is_drawn_around_the_origin_in_its_unit():
    near, y = search.drawn("striated, width 0.1, length 8, tilt 45, unit 1", seed=3)
    far, same = search.drawn("striated, width 0.1, length 8, tilt 45, unit 3", seed=3)
    np.testing.assert_allclose(far, 3 * near)
    np.testing.assert_array_equal(y, same)
    np.testing.assert_allclose(near.max(axis=0), -near.min(axis=0))


@pytest.mark.parametrize("data_set", ["isolated", "striated"])
def test_the_nearest_setting_is_within_the_deviations_of_the_thesis(data_set):
    rows = report("shen2013-search").rows
    best = search.nearest(rows, data_set)[0]
    printed = search.PRINTED[data_set]
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
                for method in search.METHODS
            ]
            for length in (8, 16, 24, 32)
            for tilt in (22.5, 45)
        ]
    )
    linear, tree, quadratic = accuracy.T
    assert np.ptp(linear) < 0.1 and np.ptp(quadratic) < 0.1
    assert 65 < tree.min() < 67 and 87 < tree.max() < 89
