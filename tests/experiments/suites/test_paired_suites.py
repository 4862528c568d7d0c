"""Suites with paired differences: their rows follow from runs that share seeds."""

import pytest
from records import committed_values

from svmbook.experiments import load_records, report
from svmbook.experiments.suites.lin2005 import kernel_depth

#: By suite, the reference method, or a function of data set and method that returns it.
REFERENCES = {
    "class-shares": "L = 20",
    "exemplar-nuisance": "5 neighbours, weighted",
    "exemplar-votes": "Gaussian SVM",
    "interactions": "Gaussian SVM",
    "kernel-depth": lambda data_set, _: kernel_depth.REFERENCES.get(data_set),
    "kernel-features": "exact kernel",
    "lin2005-early": "converged",
    "logistic-kernels": "logistic, ridge",
    "noise-islands": "distance-weighted vote",
    "usvc-overlap": lambda _, method: f"{method.rpartition(', ')[0]}, hinge",
    "usvc-placing": "random",
    "width-rules": "grid",
}


@pytest.mark.parametrize("name", REFERENCES)
def test_rows_are_means_and_paired_differences_of_the_records(name):
    errors = committed_values(name, factor=100)
    rows_by_key = {(row["data_set"], row["method"]): row for row in report(name).rows}
    assert rows_by_key.keys() == errors.keys()
    for (data_set, method), row in rows_by_key.items():
        reference = REFERENCES[name]
        if callable(reference):
            reference = reference(data_set, method)
        values = {"error": errors[data_set, method]}
        values["difference"] = values["error"] - errors[data_set, reference]
        assert row["n_runs"] == len(values["error"])
        assert ("difference" in row) == (method != reference)
        for key in values.keys() & row.keys():
            assert row[key] == pytest.approx(values[key].mean(), abs=1e-9)
            standard_error = values[key].std(ddof=1) / row["n_runs"] ** 0.5
            assert row[f"{key}_se"] == pytest.approx(standard_error, abs=1e-9)


@pytest.mark.parametrize("name", [*REFERENCES, "prototype-shifts"])
def test_methods_share_the_seed_of_each_run_and_seeds_differ_between_runs(name):
    records = load_records(name)
    seeds = {(r["data_set"], r["run"]): r["seed"] for r in records}
    assert all(r["seed"] == seeds[r["data_set"], r["run"]] for r in records)
    assert len({*seeds.values()}) >= max(r["run"] for r in records) + 1
