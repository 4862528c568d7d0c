"""Machines beyond Shen (2013), and what the page says of them."""

import pytest

from svmbook.experiments import report
from svmbook.experiments.suites import find_suite
from svmbook.experiments.suites.shen2013 import beyond as shen2013_beyond
from svmbook.experiments.suites.shen2013 import printed


def test_what_takes_minutes_is_left_out():
    jobs = find_suite("shen2013-beyond").jobs()
    left = {job.data_set for job in jobs} - {
        job.data_set for job in jobs if job.method == "exemplars that mine"
    }
    noise = printed.NOISE
    synthetic = ("isolated", "striated")
    assert left == {*synthetic, *(name + noise for name in synthetic), "segment"}


def test_what_the_page_says_of_other_machines_on_the_messages():
    rows = {
        row["method"]: row["clean"]
        for suite in ("shen2013", "shen2013-beyond")
        for row in report(suite).rows
        if row["data_set"] == "messages"
    }
    largest = 100 * 314 / 600
    for method in ("exemplars by nearness", "exemplars that mine"):
        assert abs(rows[method] - largest) < 0.5
    assert round(rows["nearest neighbours"] - largest) == 1
    assert round(rows["Gaussian"] - largest) == 4
    beyond = shen2013_beyond.METHODS
    best = sorted(beyond, key=rows.get)[-3:]
    assert best == ["k-means and lines", "random forest", "stump ensemble"]
    assert round(rows["stump ensemble"], 1) == 67.8
    assert abs(rows["linear"] - 67.5) < 0.06 and abs(rows["network"] - 68.3) < 0.06


def test_inner_folds_are_of_points_in_any_order():
    # With folds of whole rings of the spirals the number of neighbours would be chosen wrongly.
    assert 1 - shen2013_beyond.work("spirals", "nearest neighbours", 0)["error"] > 0.7


def test_what_is_left_out_is_said():
    with pytest.raises(ValueError, match="shen2013-beyond leaves exemplars that mine out"):
        find_suite("shen2013-beyond").jobs(["isolated"], ["exemplars that mine"])
