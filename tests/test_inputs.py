"""Every estimator accepts common types of data and labels, works in pipelines, and is picklable."""

import pickle
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import numpy as np
import pandas as pd
import pytest
from public_estimators import PUBLIC_ESTIMATORS
from sklearn import config_context
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.datasets import make_blobs
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder, StandardScaler
from sklearn.utils.estimator_checks import set_random_state
from sklearn.utils.validation import has_fit_parameter

import svmbook

X, Y = make_blobs(60, centers=2, n_features=3, cluster_std=3.0, random_state=0)
X = np.round(X, 2)
FEATURE_NAMES = ["height", "weight", "age"]
TABLE = pd.DataFrame(X, columns=FEATURE_NAMES)
POINTS = {
    "list": X.tolist(),
    "Fortran order": np.asfortranarray(X),
    "every second column": np.repeat(X, 2, axis=1)[:, ::2],
    "read-only": np.lib.stride_tricks.as_strided(X, writeable=False),
    "objects": X.astype(object),
    "data frame": TABLE,
    "nullable numbers": TABLE.astype("Float64"),
    "values rounded to single precision": TABLE.assign(
        age=TABLE.age.astype("float32").astype("float64")
    ),
}
LABELS = {
    "words": np.where(Y == 1, "yes", "no"),
    "objects": np.where(Y == 1, "yes", "no").astype(object),
    "categories": pd.Series(np.where(Y == 1, "yes", "no"), dtype="category"),
    "booleans": Y == 1,
    "nullable integers": pd.Series(Y, dtype="Int64"),
    "floats": Y.astype(float),
    "one column of a frame": pd.DataFrame({"y": Y})["y"],
}


def make_estimator(name):
    estimator = getattr(svmbook, name)()
    set_random_state(estimator)
    return estimator.set_params(n_prototypes=5) if name == "USVC" else estimator


@pytest.mark.parametrize("form", POINTS)
@pytest.mark.parametrize("name", PUBLIC_ESTIMATORS)
def test_points_in_any_form_give_the_same_decision_values(name, form):
    points = POINTS[form]
    expected = make_estimator(name).fit(X, Y).decision_function(X)
    fitted = make_estimator(name).fit(points, Y)
    np.testing.assert_allclose(fitted.decision_function(points), expected, atol=1e-6)
    assert hasattr(fitted, "feature_names_in_") == isinstance(points, pd.DataFrame)


@pytest.mark.parametrize("label_type", LABELS)
@pytest.mark.parametrize("name", PUBLIC_ESTIMATORS)
def test_predictions_have_the_labels_of_the_training_data(name, label_type):
    labels = LABELS[label_type]
    predicted = make_estimator(name).fit(X, labels).predict(X)
    assert set(predicted) <= set(np.asarray(labels))
    assert np.mean(predicted == np.asarray(labels)) > 0.6


@pytest.mark.parametrize("name", PUBLIC_ESTIMATORS)
def test_estimators_work_in_pipelines_and_grid_searches(name):
    table = TABLE.assign(kind=np.where(X[:, 0] > 0, "a", "b"))
    preprocessor = make_column_transformer(
        (StandardScaler(), FEATURE_NAMES), (OrdinalEncoder(), ["kind"])
    ).set_output(transform="pandas")
    estimator = make_estimator(name)
    model = make_pipeline(preprocessor, estimator)
    parameter = next(p for p in ("C", "lam", "n_estimators") if p in estimator.get_params())
    values = [1, 3] if parameter == "n_estimators" else [1.0, 10.0]
    grid = {f"{name.lower()}__{parameter}": values}
    search = GridSearchCV(model, grid, cv=2).fit(table, Y)
    assert search.best_score_ > 0.5
    assert len(search.best_estimator_[-1].feature_names_in_) == 4
    assert cross_validate(model, table, Y, cv=2, return_train_score=True)["train_score"].min() > 0.6


@pytest.mark.parametrize("name", PUBLIC_ESTIMATORS)
def test_sample_weights_are_routed_on_request(name):
    if not has_fit_parameter(make_estimator(name), "sample_weight"):
        pytest.skip("has no sample_weight, as documented")
    weights = np.where(Y == 1, 5.0, 1.0)
    with config_context(enable_metadata_routing=True):
        estimator = make_estimator(name).set_fit_request(sample_weight=True)
        scaler = StandardScaler().set_fit_request(sample_weight=False)
        routed = make_pipeline(scaler, estimator).fit(X, Y, sample_weight=weights)
    X_scaled = StandardScaler().fit_transform(X)
    direct = make_estimator(name).fit(X_scaled, Y, sample_weight=weights)
    expected = direct.decision_function(X_scaled)
    np.testing.assert_allclose(routed.decision_function(X), expected, atol=1e-9)


def test_fitted_models_can_be_pickled_and_cloned():
    fitted = [make_estimator(name).fit(TABLE, Y) for name in PUBLIC_ESTIMATORS]
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        results = list(pool.map(_decision_values_on_table, map(pickle.dumps, fitted)))
    for model, outputs in zip(fitted, results, strict=True):
        np.testing.assert_array_equal(outputs, model.decision_function(TABLE))
        assert clone(model).get_params() == model.get_params()


def _decision_values_on_table(pickled_model):
    return pickle.loads(pickled_model).decision_function(TABLE)
