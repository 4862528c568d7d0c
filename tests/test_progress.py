"""Solvers log their progress at the level INFO, and nothing at the default level."""

import logging

import pytest
from sklearn.datasets import make_moons

from svmbook import (
    USVC,
    DualSVC,
    ExemplarSVM,
    ImportVectorMachine,
    KernelLogisticRegression,
    LPBoost,
    ProfileSVM,
    PrototypeSVM,
    StumpEnsembleLogistic,
    StumpEnsembleSVC,
)

X, Y = make_moons(60, noise=0.3, random_state=0)
MODELS_BY_MESSAGE_PREFIX = {
    "active sets": DualSVC(kernel="rbf"),
    "interior point": DualSVC(),
    "SMO": DualSVC(kernel="rbf", solver="smo"),
    "Newton": KernelLogisticRegression(),
    "proximal Newton": KernelLogisticRegression(penalty="l1"),
    "import points": ImportVectorMachine(),
    "IRWLS": USVC(),
    "LPBoost": LPBoost(),
    "mining": ExemplarSVM(),
    "shift": PrototypeSVM(random_state=0),
    "clustering": ProfileSVM(random_state=0),
    "Newton, step": StumpEnsembleLogistic(),
    "active sets, iteration": StumpEnsembleSVC(),
}


@pytest.mark.parametrize(
    ("prefix", "model"), MODELS_BY_MESSAGE_PREFIX.items(), ids=list(MODELS_BY_MESSAGE_PREFIX)
)
def test_solver_logs_its_iterations_only_at_info(prefix, model, caplog):
    model.fit(X, Y)
    assert not caplog.records
    with caplog.at_level(logging.INFO, logger="svmbook"):
        model.fit(X, Y)
    assert all(record.name == "svmbook" for record in caplog.records)
    assert any(record.getMessage().startswith(prefix) for record in caplog.records)
