"""A fit that needs much memory warns first, and raises an error if memory is insufficient."""

import warnings

import numpy as np
import pytest
from public_estimators import PUBLIC_ESTIMATORS
from scipy.sparse import csr_array

from svmbook import (
    ERMSVC,
    IRWLSSVC,
    USVC,
    AdaBoostStump,
    DualSVC,
    KernelLogisticRegression,
    LPBoost,
    StumpEnsembleLogistic,
    StumpEnsembleSVC,
)
from svmbook.kernels import gaussian, linear
from svmbook.memory import GIBIBYTE, available_memory, check_memory


def test_available_memory_is_plausible():
    assert 2**20 < available_memory() < 2**50


def test_check_memory_passes_warns_or_raises(monkeypatch):
    monkeypatch.setattr("svmbook.memory.available_memory", lambda: 5.0 * GIBIBYTE)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_memory(2.0 * GIBIBYTE, "a fit", "Use fewer points.")
    with pytest.warns(
        UserWarning, match=r"a fit needs about 4\.0 GiB of memory\. Use fewer points\."
    ) as caught:
        check_memory(4.0 * GIBIBYTE, "a fit", "Use fewer points.")
    assert caught[0].filename == __file__
    with pytest.raises(
        MemoryError, match=r"6\.0 GiB of memory; 5\.0 GiB are available\. Use fewer points"
    ):
        check_memory(6.0 * GIBIBYTE, "a fit", "Use fewer points.")


def test_limit_of_a_container_is_respected(monkeypatch, tmp_path):
    monkeypatch.setattr("svmbook.memory.CGROUP_FOLDER", tmp_path)
    memory_without_limit = available_memory()
    (tmp_path / "memory.current").write_text("700\n", encoding="ascii")
    (tmp_path / "memory.stat").write_text("anon 500\ninactive_file 100\n", encoding="ascii")
    (tmp_path / "memory.max").write_text("1000\n", encoding="ascii")
    assert available_memory() == 1000 - 700 + 100
    (tmp_path / "memory.max").write_text("max\n", encoding="ascii")
    assert available_memory() > memory_without_limit / 2


def test_available_memory_defaults_to_the_total_or_infinity(monkeypatch):
    monkeypatch.setattr("svmbook.memory.Path.read_text", _raise_os_error)
    monkeypatch.setattr("svmbook.memory.os.sysconf", lambda name: 1000, raising=False)
    assert available_memory() == 10**6
    monkeypatch.setattr("svmbook.memory.os.sysconf", _raise_os_error)
    assert available_memory() == np.inf


def _raise_os_error(*args, **kwargs):
    raise OSError


ALTERNATIVES = [
    (KernelLogisticRegression(), "USVC"),
    (StumpEnsembleLogistic(), "n_knots"),
    (ERMSVC(kernel="rbf"), "USVC"),
    (DualSVC(kernel="rbf", solver="interior-point"), "libsvm"),
    (LPBoost(), "StumpEnsembleSVC"),
]


@pytest.mark.parametrize(("model", "alternative"), ALTERNATIVES)
def test_memory_error_recommends_an_alternative(model, alternative):
    X = np.zeros((200_000, 3))
    X[:, 0] = np.arange(200_000)
    with pytest.raises(MemoryError, match=rf"200,000 points with 3 features .*{alternative}"):
        model.fit(X, np.arange(200_000) % 2)
    assert not hasattr(model, "classes_")


def test_warning_points_at_the_caller_of_fit(monkeypatch):
    monkeypatch.setattr("svmbook.memory.WARNING_THRESHOLD_BYTES", 1000)
    X, y = np.arange(60.0).reshape(20, 3), np.arange(20) % 2
    for name, estimator in PUBLIC_ESTIMATORS.items():
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            estimator(**({"n_prototypes": 5} if name == "USVC" else {})).fit(X, y)
        for warning in caught:
            assert "GiB" not in str(warning.message) or warning.filename == __file__, name
    with pytest.warns(UserWarning, match="KernelLogisticRegression on 20 points"):
        KernelLogisticRegression().fit(X, y)


GIBIBYTE_OF_NUMBERS = GIBIBYTE / 8
LARGE_FITS = [  # the model, the numbers of points and features, and the range of the estimate
    (DualSVC(), 20_242, 47_236, 0.5, 3),  # a cache of rows; sparse texts are never made dense
    (DualSVC(kernel=gaussian), 50_000, 10, 0.5, 2),  # like "rbf": the Gram matrix is not stored
    (DualSVC(kernel=linear), 10**6, 10, 0.1, 0.5),  # like "linear": low rank
    (DualSVC(kernel="laplacian"), 50_000, 10, 1.5, 3),  # a full cache of rows
    (DualSVC(kernel="laplacian", solver="libsvm"), 50_000, 10, 18, 25),  # a stored Gram matrix
    (DualSVC(kernel="rbf", solver="interior-point"), 50_000, 10, 40, 50),  # and its factor
    (DualSVC(kernel="rbf", C=np.inf), 50_000, 10, 40, 50),
    (AdaBoostStump(), 10**6, 100, 4, 5),
    (StumpEnsembleSVC(n_knots=100), 10_000, 60, 2, 3),  # the Gram matrix of the points
    (StumpEnsembleLogistic(n_knots=100), 10_001, 100, 3, 5),  # dense rows of the weights
    (StumpEnsembleSVC(n_knots=9), 10**6, 10, 0.5, 1),
    (IRWLSSVC(), 15_000, 16_000, 10, 15),  # the span of the points
]


@pytest.mark.parametrize(("model", "n", "d", "smallest", "largest"), LARGE_FITS)
def test_estimate_follows_the_form_of_the_gram_matrix(model, n, d, smallest, largest):
    assert smallest <= model._n_stored_numbers(n, d) / GIBIBYTE_OF_NUMBERS <= largest


def test_estimate_for_sparse_points_or_many_classes_includes_the_gram_matrix():
    X, classes = csr_array((30_000, 2_000)), np.arange(2)
    linear_model, model = KernelLogisticRegression(kernel="linear"), KernelLogisticRegression()
    assert linear_model._estimate_stored_numbers(X, classes) > 2 * 30_000**2
    assert linear_model._estimate_stored_numbers(np.empty((30, 20)), classes) == 2 * 30 * 20
    assert model._estimate_stored_numbers(np.empty((30, 2)), np.arange(3)) > 4 * 30**2


@pytest.mark.parametrize("model", [USVC(kernel="rbf", n_prototypes=9), StumpEnsembleSVC(n_knots=9)])
def test_models_without_a_gram_matrix_need_little_memory(model):
    assert model._n_stored_numbers(10**6, 10) < 200 * 10**6
