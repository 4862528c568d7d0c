"""A long fit tells what it is doing to those who listen, and is silent to all others."""

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
MACHINES = {
    "active sets": DualSVC(kernel="rbf"),
    "interior point": DualSVC(),
    "SMO": DualSVC(kernel="rbf", solver="smo"),
    "Newton": KernelLogisticRegression(),
    "lasso": KernelLogisticRegression(penalty="l1"),
    "import points": ImportVectorMachine(),
    "least squares": USVC(),
    "LPBoost": LPBoost(),
    "mining": ExemplarSVM(),
    "shift": PrototypeSVM(random_state=0),
    "clusters": ProfileSVM(random_state=0),
    "Newton, step": StumpEnsembleLogistic(),
    "active sets, iteration": StumpEnsembleSVC(),
}


@pytest.mark.parametrize("what", MACHINES)
def test_each_loop_logs_its_rounds(what, caplog):
    MACHINES[what].fit(X, Y)
    assert not caplog.records
    with caplog.at_level(logging.INFO, logger="svmbook"):
        MACHINES[what].fit(X, Y)
    said = [record.getMessage() for record in caplog.records]
    assert said and all(record.name == "svmbook" for record in caplog.records)
    assert any(line.startswith(what) for line in said)
