"""Exemplar and prototype SVMs in blocks: blocks bound the memory of a fit, not its result."""

import tracemalloc

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_moons

from svmbook import ExemplarSVM, PrototypeSVM

X_NEW, _ = make_moons(40, noise=0.25, random_state=1)


def limit_blocks(monkeypatch, n_entries):
    for name in (
        "base.MAX_BLOCK_ENTRIES",
        "prototypes.ensemble.MAX_BLOCK_OUTPUTS",
        "prototypes.negatives.MAX_BLOCK_DISTANCES",
    ):
        monkeypatch.setattr(f"svmbook.{name}", n_entries)


@pytest.mark.parametrize(
    "model",
    [
        PrototypeSVM(C=1.0, p_negative=0.05, voting="probability", random_state=0),
        PrototypeSVM(C=3.0, p_negative=0.05, voting="cv_probability", random_state=0),
        PrototypeSVM(C=3.0, penalty="l1", metric="manhattan", n_shifts=2, random_state=0),
        ExemplarSVM(C=3.0, random_state=0),
    ],
)
def test_blocks_of_one_row_do_not_change_the_model(model, monkeypatch):
    X, y = make_moons(100, noise=0.25, random_state=0)
    expected, model = clone(model).fit(X, y), clone(model)
    limit_blocks(monkeypatch, 1)
    model.fit(X, y)
    for member, expected_member in zip(model.members_, expected.members_, strict=True):
        for indices, expected_indices in zip(member[3:], expected_member[3:], strict=True):
            np.testing.assert_array_equal(indices, expected_indices)
    np.testing.assert_allclose(model.coef_, expected.coef_, rtol=1e-9)
    outputs = model.decision_function(X_NEW)
    np.testing.assert_allclose(outputs, expected.decision_function(X_NEW), atol=1e-6)


@pytest.mark.parametrize(
    "model",
    [
        PrototypeSVM(C=10.0, n_shifts=1, voting="cv_probability", random_state=0),
        ExemplarSVM(mining=False, random_state=0),
    ],
)
def test_a_fit_stores_no_mask_of_all_pairs_of_points(model, monkeypatch):
    limit_blocks(monkeypatch, 10_000)
    monkeypatch.setattr("svmbook.prototypes.negatives.MAX_MEDIAN_POINTS", 100)
    monkeypatch.setattr("svmbook.solvers.batched.members.MAX_BATCH_ENTRIES", 20_000)
    X, y = make_moons(2400, noise=0.25, random_state=0)
    tracemalloc.start()
    model.fit(X, y)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 1.2 * 1800**2  # a mask of the pairs of 1,800 points needs 1800**2 bytes
