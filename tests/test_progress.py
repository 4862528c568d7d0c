"""Solvers log their progress at the level INFO, and nothing at the default level."""

import logging
import signal
import threading

import numpy as np
import pytest
from sklearn.datasets import make_moons
from sklearn.exceptions import ConvergenceWarning

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
from svmbook.progress import is_interrupted, logger, show_progress

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
    "active sets on": StumpEnsembleSVC(),
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


@pytest.mark.parametrize("verbose", [True, 1])
def test_verbose_fit_prints_its_iterations(verbose, capsys):
    X, y = make_moons(300, noise=0.3, random_state=0)
    DualSVC(kernel="rbf", verbose=verbose).fit(X, y)
    lines = capsys.readouterr().out.splitlines()
    assert lines and all("active sets" in line for line in lines)
    assert logger.level == logging.NOTSET and not logger.handlers
    DualSVC(kernel="rbf").fit(X, y)
    assert not capsys.readouterr().out


def test_estimate_of_the_cost_is_printed_first(capsys):
    X = np.random.default_rng(0).standard_normal((4100, 3))
    DualSVC(kernel="rbf", verbose=True).fit(X, X[:, 0] > 0)
    first_line = capsys.readouterr().out.splitlines()[0]
    assert "all 1.7e+07 kernel values take about" in first_line


@pytest.fixture
def press_at(monkeypatch):
    """Return a function: Ctrl-C is pressed when the n-th log line with some text is written."""

    def press(text, n=1):
        log, lines = logger.info, []

        def log_and_press(message, *arguments):
            log(message, *arguments)
            if text in message % arguments:
                lines.append(message)
                if len(lines) == n:
                    signal.raise_signal(signal.SIGINT)

        monkeypatch.setattr(logger, "info", log_and_press)

    return press


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize(("text", "n", "max_gap"), [("iteration 1:", 1, 1.0), ("decomp", 3, 0.2)])
def test_interrupted_fit_returns_a_certified_solution(text, n, max_gap, n_classes, press_at):
    press_at(text, n)
    rng = np.random.default_rng(0)
    X = rng.standard_normal((3000 * n_classes // 2, 6))
    y = (X[:, 0] * X[:, 1] + rng.standard_normal(len(X)) > 0) + rng.integers(
        0, n_classes - 1, len(X)
    )
    model = DualSVC(kernel="rbf", verbose=True)
    with pytest.warns(ConvergenceWarning, match="interrupted"):
        model.fit(X, y)
    assert not model.converged_ and not is_interrupted()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    binary_models = getattr(model, "estimators_", [model])
    for binary_model in binary_models:
        assert binary_model.objective_ <= len(X)
        assert abs(binary_model.dual_coef_.sum()) <= 1e-9 * len(X)
    assert 1e-6 < min(binary_model.relative_gap_ for binary_model in binary_models) <= max_gap
    assert model.predict(X).shape == y.shape


def test_second_interruption_raises():
    with pytest.raises(KeyboardInterrupt), show_progress(True):
        signal.raise_signal(signal.SIGINT)
        assert is_interrupted()
        signal.raise_signal(signal.SIGINT)
    assert not is_interrupted()


def test_fit_that_is_not_verbose_raises_at_the_first_interruption(press_at):
    press_at("iteration")
    with pytest.raises(KeyboardInterrupt):
        DualSVC(kernel="rbf").fit(X, Y)


def test_handler_of_the_program_is_kept():
    calls = []
    previous = signal.signal(signal.SIGINT, lambda *arguments: calls.append(1))
    try:
        with show_progress(True):
            signal.raise_signal(signal.SIGINT)
            assert calls == [1] and not is_interrupted()
    finally:
        signal.signal(signal.SIGINT, previous)


def test_verbose_fit_works_outside_the_main_thread():
    model, errors = DualSVC(kernel="rbf", verbose=True), []

    def fit():
        try:
            model.fit(X, Y)
        except ValueError as error:
            errors.append(error)

    thread = threading.Thread(target=fit)
    thread.start()
    thread.join()
    assert not errors and model.converged_


@pytest.mark.parametrize("solver", ["smo", "interior-point"])
def test_solvers_that_do_not_stop_raise_the_interruption_at_their_end(solver, press_at):
    press_at("SMO" if solver == "smo" else "interior point", 1)
    with pytest.raises(KeyboardInterrupt):
        DualSVC(kernel="rbf", solver=solver, verbose=True).fit(X, Y)
    assert not is_interrupted()
