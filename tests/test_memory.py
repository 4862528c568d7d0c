"""What a fit needs is announced before it begins, and refused where it does not fit."""

import warnings

import numpy as np
import pytest

import svmbook
from svmbook import (
    ERMSVC,
    USVC,
    DualSVC,
    KernelLogisticRegression,
    LPBoost,
    StumpEnsembleLogistic,
    StumpEnsembleSVC,
)
from svmbook.memory import GIBIBYTE, available_memory, check_memory


def test_what_is_available_is_less_than_what_there_is():
    assert 2**20 < available_memory() < 2**50


def test_small_needs_are_silent_large_ones_warned_of_and_too_large_ones_refused(monkeypatch):
    monkeypatch.setattr("svmbook.memory.available_memory", lambda: 5.0 * GIBIBYTE)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_memory(2.0 * GIBIBYTE, "a fit", "Fit less.")
    with pytest.warns(UserWarning, match=r"a fit needs about 4\.0 GiB of memory\. Fit less\.") as w:
        check_memory(4.0 * GIBIBYTE, "a fit", "Fit less.")
    assert w[0].filename == __file__
    with pytest.raises(MemoryError, match=r"6\.0 GiB of memory; 5\.0 GiB are available\. Fit less"):
        check_memory(6.0 * GIBIBYTE, "a fit", "Fit less.")


def test_the_limit_of_a_container_counts(monkeypatch, tmp_path):
    monkeypatch.setattr("svmbook.memory.CONTAINER", tmp_path)
    everything = available_memory()
    (tmp_path / "memory.current").write_text("700\n", encoding="ascii")
    (tmp_path / "memory.stat").write_text("anon 500\ninactive_file 100\n", encoding="ascii")
    (tmp_path / "memory.max").write_text("1000\n", encoding="ascii")
    assert available_memory() == 1000 - 700 + 100
    (tmp_path / "memory.max").write_text("max\n", encoding="ascii")
    assert available_memory() > everything / 2


def test_where_linux_says_nothing_the_whole_memory_counts(monkeypatch):
    monkeypatch.setattr("svmbook.memory.Path.read_text", _not_there)
    monkeypatch.setattr("svmbook.memory.os.sysconf", lambda name: 1000, raising=False)
    assert available_memory() == 10**6
    monkeypatch.setattr("svmbook.memory.os.sysconf", _not_there)
    assert available_memory() == np.inf


def _not_there(*args, **kwargs):
    raise OSError


LARGE = [
    (KernelLogisticRegression(), "StumpEnsembleLogistic"),
    (StumpEnsembleLogistic(), "n_knots"),
    (ERMSVC(kernel="rbf"), "USVC"),
    (DualSVC(kernel="rbf", solver="interior-point"), "libsvm"),
    (LPBoost(), "StumpEnsembleSVC"),
]


@pytest.mark.parametrize(("machine", "instead"), LARGE)
def test_a_fit_that_does_not_fit_is_refused_at_once_and_names_another(machine, instead):
    X = np.zeros((200_000, 3))
    X[:, 0] = np.arange(200_000)
    with pytest.raises(MemoryError, match=rf"200,000 points with 3 features .*{instead}"):
        machine.fit(X, np.arange(200_000) % 2)
    assert not hasattr(machine, "classes_")


def test_a_warning_points_at_the_fit(monkeypatch):
    monkeypatch.setattr("svmbook.memory.WARNING_BYTES", 1000)
    X, y = np.arange(60.0).reshape(20, 3), np.arange(20) % 2
    for name in svmbook.__all__:
        if name != "__version__":
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                getattr(svmbook, name)(**({"n_prototypes": 5} if name == "USVC" else {})).fit(X, y)
            about = [w for w in caught if "GiB" in str(w.message)]
            for warning in about:
                assert warning.filename == __file__, name
    with pytest.warns(UserWarning, match="KernelLogisticRegression on 20 points"):
        KernelLogisticRegression().fit(X, y)


@pytest.mark.parametrize(
    "machine", [USVC(kernel="rbf", n_prototypes=9), StumpEnsembleSVC(n_knots=9)]
)
def test_what_grows_with_the_points_alone_needs_little(machine):
    assert machine._stored_numbers(10**6, 10) < 200 * 10**6
