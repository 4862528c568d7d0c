"""Lin's experiment: his protocol, and errors that agree with his."""

import numpy as np
import pytest
from records import committed, needs_table, store_of
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.svm import SVC

from svmbook import DualSVC, LPBoost
from svmbook.datasets import load, twonorm_bayes_error
from svmbook.experiments import report
from svmbook.experiments.methods.grid import coarser
from svmbook.experiments.suites.lin2005 import boosting, kernels
from svmbook.tables import plus_minus


@pytest.mark.parametrize("data_set", ["sonar", "vote84", "breast"])
def test_lin_trains_on_sixty_of_a_hundred_rows(data_set):
    needs_table(kernels.TABLES[data_set])
    rows = load(kernels.TABLES[data_set], prepare="lin2005").data
    X_train, _, X_test, _, _ = kernels.protocol(data_set)[3]
    assert len(X_train) == int(0.6 * len(rows))
    assert np.abs(rows).max() == pytest.approx(1.0)
    together = np.vstack([X_train, X_test])
    assert sorted(map(tuple, together)) == sorted(map(tuple, rows))


def test_lin_draws_his_artificial_data_anew():
    protocol = kernels.protocol("ringnorm")
    assert len(protocol) == kernels.SUITE.runs == 100
    runs = [protocol[run] for run in (0, 1)]
    assert [run.X_train.shape for run in runs] == [(300, 20)] * 2
    assert [run.X_test.shape for run in runs] == [(3000, 20)] * 2
    assert not np.isin(runs[0].X_train, runs[1].X_train).any()


def test_lin_tries_110_pairs():
    wide, long = kernels.GRIDS["rbf"], kernels.GRIDS["stump"]
    assert len(wide["C"]) * len(wide["gamma"]) == 110 and len(long["C"]) == 11
    for values, ends in ((wide["C"], (-5, 15)), (wide["gamma"], (-15, 3)), (long["C"], (-17, 3))):
        assert (np.log2(values[0]), np.log2(values[-1])) == ends


@pytest.mark.parametrize("method", ["SVM-Gauss", "SVM-Stump"])
def test_the_coarse_grid_has_about_a_quarter_of_the_pairs(method, monkeypatch):
    sizes = []

    def counted(choice, step):
        few = coarser(choice, step)
        sizes.append((choice.scores.size, few.scores.size))
        return few

    X, y, X_test, y_test, seed = kernels.protocol("twonorm", runs=1)[0]
    small = [(X[:40], y[:40], X_test, y_test, seed)]
    monkeypatch.setattr(kernels, "protocol", lambda data_set, runs: small)
    monkeypatch.setattr(kernels, "coarser", counted)
    kernels.work("twonorm", method, 0)
    ((whole, few),) = sizes
    assert 3.5 < whole / few < 4.5


@pytest.mark.nightly  # test_freshness.py does one run again in each `make test`
@pytest.mark.parametrize("method", ["SVM-Gauss", "SVM-Stump", "SVM-Perc."])
@pytest.mark.parametrize("data_set", ["twonorm", "sonar"])
def test_a_committed_run_of_lin_can_be_done_again(data_set, method):
    if data_set in kernels.TABLES:
        needs_table(kernels.TABLES[data_set])
    records = [
        committed("lin2005-kernels", data_set=data_set, method=method, run=run)
        for run in range(17, 20)
    ]
    again = [kernels.work(data_set, method, record["run"]) for record in records]
    assert [r["seed"] for r in again] == [r["seed"] for r in records]
    # Pairs that are one validation point apart may change places on another machine, now and then.
    same = [
        (a["parameters"], a["error"]) == (r["parameters"], r["error"])
        for a, r in zip(again, records, strict=True)
    ]
    assert sum(same) >= 2


def test_what_lin_leaves_open_is_settled_as_the_page_says():
    X, y, _, _, seed = kernels.protocol("twonorm")[17]
    scores = GridSearchCV(
        SVC(),
        kernels.GRIDS["rbf"],
        cv=StratifiedKFold(5, shuffle=True, random_state=seed),
        refit=False,
    ).fit(X, y)
    record = committed("lin2005-kernels", data_set="twonorm", method="SVM-Gauss", run=17)
    assert scores.best_params_ == record["parameters"]


def test_the_near_ring_is_at_distance_one():
    X, y = kernels.GENERATORS["ringnorm-near"](100_000, random_state=0)
    assert np.linalg.norm(X[y < 0].mean(axis=0)) == pytest.approx(1.0, abs=0.01)


def test_breast_has_the_ten_features_of_the_thesis():
    needs_table("breast_id")
    assert kernels.protocol("breast")[0].X_train.shape[1] == 10


def test_the_kernels_err_as_often_as_lin_reports():
    rows = report("lin2005-kernels").rows
    assert len(rows) == len(kernels.DATA_SETS) * len(kernels.METHODS)
    assert all(row["runs"] == 100 for row in rows)
    z = {(row["data_set"], row["method"]): abs(row["z"]) for row in rows}
    for method in kernels.METHODS:
        assert z.pop(("ringnorm", method)) > 3  # of the two rings only the near one fits
    assert len(z) == 60 and sum(value <= 3 for value in z.values()) >= 55


def test_without_a_width_the_choice_is_many_times_as_fast():
    seconds = dict.fromkeys(kernels.METHODS, 0.0)
    for row in report("lin2005-kernels").rows:
        if row["data_set"] != "ringnorm":
            seconds[row["method"]] += row["selection_seconds"]
    assert seconds["SVM-Gauss"] >= 8 * seconds["SVM-Stump"]
    assert seconds["SVM-Gauss"] >= 8 * seconds["SVM-Perc."]


def test_no_machine_beats_the_bayes_rule_of_twonorm():
    for row in report("lin2005-kernels").rows:
        if row["data_set"] == "twonorm":
            assert row["reproduced"] > 100 * twonorm_bayes_error() - 3 * row["reproduced_error"]


def test_boosting_and_linear_programs_err_as_often_as_lin_reports():
    rows = [row for row in report("lin2005-boosting").rows if row["data_set"] != "ringnorm"]
    z = {(row["data_set"], row["method"]): row["z"] for row in rows if np.isfinite(row["z"])}
    assert len(z) == 48 + 3
    assert sum(abs(value) <= 3 for value in z.values()) >= 43  # 40 of the 48, and the three
    off = {}
    for row in rows:
        if row["method"].startswith("AdaBoost"):
            worst = max(off.get(row["data_set"], 0.0), abs(row["reproduced"] - row["reported"]))
            off[row["data_set"]] = worst
    assert sum(value <= 1.0 for value in off.values()) >= 10


# The machines with a hard margin share the search for it, which the second of them shows each time.
@pytest.mark.parametrize(
    "method",
    [
        *("AdaBoost-Stump, T = 1000", "SVM-Stump, hard"),
        pytest.param("LPBoost-Stump, hard", marks=pytest.mark.nightly),
    ],
)
def test_a_committed_ensemble_can_be_made_again(method):
    stored = committed("lin2005-boosting", data_set="ringnorm-near", method=method, run=7)
    again = boosting.work("ringnorm-near", method, 7)
    assert again["error"] == pytest.approx(stored["error"], abs=0.01)


def test_where_no_ensemble_separates_the_price_is_as_good_as_infinite():
    square, labels = np.array([[0.0, 0], [1, 1], [0, 1], [1, 0]]), np.array([1, 1, -1, -1])
    for machine in (LPBoost(), DualSVC(kernel="stump")):
        _, separable = boosting._hard(machine, square, labels)
        assert not separable
        _, separable = boosting._hard(machine, square[:3], labels[:3])
        assert separable


def test_z_is_the_difference_in_joint_standard_errors(tmp_path):
    records = [
        committed("lin2005-kernels", data_set="sonar", method="SVM-Gauss", run=run)
        | {"error": error}
        for run, error in enumerate([0.16, 0.18, 0.17, 0.17])
    ]
    row = report("lin2005-kernels", store_of(tmp_path / "runs.jsonl", records)).rows[0]
    ours = np.std([16, 18, 17, 17], ddof=1) / 2
    assert row["reproduced"] == pytest.approx(17.0)
    assert row["z"] == pytest.approx((17.0 - 15.5) / np.hypot(0.50, ours))


def test_the_table_of_errors_has_one_row_per_kernel_below_each_data_set():
    made = report("lin2005-kernels")
    assert len(made.table.rows) == len(made.rows) + len(kernels.DATA_SETS)
    names = [line[0] for line in made.table.rows]
    assert [name for name in names if "*" in name] == [f"**{name}**" for name in kernels.DATA_SETS]
    at = names.index("**sonar**") + 5
    assert made.table.rows[at][:2] == ("Gaussian", plus_minus(15.5, 0.5, "#.3g"))
    row = next(r for r in made.rows if (r["data_set"], r["method"]) == ("sonar", "SVM-Gauss"))
    assert float(made.table.rows[at][-1]) == pytest.approx(row["z"], abs=0.06)


# Tables 5.4 and 5.5, as the thesis prints them for SVM-Gauss, typed a second time.
PRINTED = """
    twonorm 2.64 0.05 23.1, threenorm 14.6 0.11 31.1, ringnorm 1.78 0.04 27.9,
    australian 14.7 0.18 43.3, breast 3.53 0.09 16.6, cleveland 18.0 0.31 10.0,
    diabetes 23.5 0.19 95.2, german 24.5 0.21 136, heart 17.5 0.31 8.57,
    ionosphere 6.54 0.19 12.6, sonar 15.5 0.50 9.30, vote84 4.62 0.14 13.8
"""


def test_what_is_reported_is_what_the_thesis_prints():
    printed = {}
    for entry in PRINTED.replace("\n", " ").split(","):
        name, *numbers = entry.split()
        printed[name] = tuple(map(float, numbers))
    printed["ringnorm-near"] = printed["ringnorm"]
    found = {
        name: (*kernels.REPORTED["SVM-Gauss"][name], kernels.SECONDS[name][-1]) for name in printed
    }
    assert found == printed
