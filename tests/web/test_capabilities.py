"""The tables on the page of the estimators agree with fitted models."""

import ast

import numpy as np
import pytest
from bs4 import BeautifulSoup
from public_estimators import PUBLIC_ESTIMATORS
from scipy import sparse
from sklearn.datasets import load_iris

X_all, y_all = (values[::3] for values in load_iris(return_X_y=True))  # three classes
X, y = X_all[y_all > 0], y_all[y_all > 0]  # two of them, which overlap
NAMES = sorted(PUBLIC_ESTIMATORS, key=str.lower)


def create_estimator(name):
    """Return an estimator, with the linear kernel if it has a kernel."""
    estimator = PUBLIC_ESTIMATORS[name]()
    if "kernel" in estimator.get_params():
        estimator.set_params(kernel="linear")
    return estimator


@pytest.fixture(scope="module")
def tables(book):
    """Return the rows of each table, as dicts keyed by column header."""
    html = (book / "book/api/estimators.html").read_text("utf-8")
    elements = BeautifulSoup(html, "html.parser").select("article table")[:3]
    names = ("purposes", "support", "limits")
    return {name: list(read_rows(table)) for name, table in zip(names, elements, strict=True)}


def read_rows(table):
    columns = [cell.get_text() for cell in table.select("th")]
    for row in table.select("tbody tr"):
        yield dict(zip(columns, [cell.get_text() for cell in row.select("td")], strict=True))


@pytest.fixture(scope="module")
def fitted():
    """Return each estimator, fitted to two classes."""
    return {name: create_estimator(name).fit(X, y) for name in NAMES}


def test_all_tables_list_all_estimators(tables):
    assert [row["estimator"] for row in tables["purposes"]] == NAMES
    assert [row["estimator"] for row in tables["support"]] == NAMES
    assert {row["estimator"].split(",")[0] for row in tables["limits"]} == set(NAMES)


def test_models_predict_all_classes_as_stated(tables):
    for row in tables["support"]:
        model = create_estimator(row["estimator"]).fit(X_all, y_all)
        assert set(model.predict(X_all)) == set(y_all)
        pairs = [set(binary_model.classes_) for binary_model in getattr(model, "estimators_", ())]
        assert row["classes"] == ("any, in pairs" if len(pairs) == 3 else "any"), row


def test_models_have_probabilities_as_stated(tables, fitted):
    for row in tables["support"]:
        model = fitted[row["estimator"]]
        has_probabilities = hasattr(model, "predict_proba")
        assert row["probabilities"] == ("yes" if has_probabilities else "calibrate"), row
        if has_probabilities:
            assert np.allclose(model.predict_proba(X).sum(axis=1), 1.0)


def test_models_respect_weights_as_stated(tables):
    """A weight of zero removes a point, and a larger weight of a class favours it."""
    weights = np.where(np.arange(len(y)) % 2, 1.0, 0.0)
    for row in tables["support"]:
        estimator = create_estimator(row["estimator"])
        if row["weights"] == "no":
            with pytest.raises(TypeError, match="sample_weight"):
                estimator.fit(X, y, sample_weight=weights)
            assert "class_weight" not in estimator.get_params(), row
        else:
            assert row["weights"] == "points, classes"
            F = estimator.fit(X, y, sample_weight=weights).decision_function(X)
            F_removed = estimator.fit(X[1::2], y[1::2]).decision_function(X)
            assert np.allclose(F, F_removed, atol=0.02 * np.abs(F).max()), row
            weighted = estimator.set_params(class_weight={1: 1.0, 2: 5.0}).fit(X, y)
            assert np.mean(weighted.predict(X) == 2) >= np.mean(y == 2), row


def test_models_accept_sparse_matrices_as_stated(tables, fitted):
    X_sparse = sparse.csr_matrix(X)
    for row in tables["support"]:
        estimator = create_estimator(row["estimator"])
        if row["sparse"] == "no":
            with pytest.raises(TypeError, match="dense"):
                estimator.fit(X_sparse, y)
        else:
            assert row["sparse"] == "linear kernel"
            F = fitted[row["estimator"]].decision_function(X)
            F_sparse = estimator.fit(X_sparse, y).decision_function(X_sparse)
            assert np.allclose(F, F_sparse, atol=1e-3), row


def test_models_explain_their_outputs_as_stated(tables, fitted):
    """The contributions of the features and the intercept sum to the decision value."""
    for row in tables["support"]:
        model = fitted[row["estimator"]]
        assert row["explains"] == ("yes" if hasattr(model, "explain") else "no"), row
        if row["explains"] == "yes":
            output = model.explain(X[0])["contribution"].sum() + model.intercept_
            assert np.allclose(output, model.decision_function(X[:1])), row


def test_models_have_the_stated_certificates(tables, fitted):
    for row in tables["support"]:
        model = fitted[row["estimator"]]
        if hasattr(model, "relative_gap_"):
            assert row["certificate"] == "gap", row
            assert 0.0 <= model.relative_gap_ <= 1e-2
        else:
            has_kkt_residual = hasattr(model, "kkt_residual_")
            assert row["certificate"] == ("stationary point" if has_kkt_residual else "none"), row


def test_estimators_have_the_stated_defaults(tables):
    for row in tables["purposes"]:
        parameters = PUBLIC_ESTIMATORS[row["estimator"]]().get_params()
        for assignment in filter(None, row["defaults"].split(", ")):
            name, value = assignment.split("=")
            assert parameters[name] == ast.literal_eval(value), row
