"""Boosting: stages, contributions, certificates, base learners, and invalid input."""

import tracemalloc

import numpy as np
import pytest
from sklearn.ensemble import AdaBoostClassifier
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.linear_model import LogisticRegression, Perceptron, SGDClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from svmbook import AdaBoostStump, LPBoost
from svmbook.datasets import twonorm

X, Y = twonorm(120, random_state=0)
X_NEW, _ = twonorm(80, random_state=1)
XOR, XOR_LABELS = np.array([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]]), [0, 0, 1, 1]


def test_stages_equal_shorter_fits_and_contributions_sum_to_the_output():
    model = AdaBoostStump(30).fit(X, Y)
    stages = list(model.staged_decision_function(X_NEW))
    assert len(stages) == model.n_iter_ == 30
    np.testing.assert_allclose(stages[-1], model.decision_function(X_NEW), atol=1e-12)
    seven_round_model = AdaBoostStump(7).fit(X, Y)
    np.testing.assert_allclose(stages[6], seven_round_model.decision_function(X_NEW), atol=1e-12)
    *_, labels = model.staged_predict(X_NEW)
    np.testing.assert_array_equal(labels, model.predict(X_NEW))
    sums = model.contributions(X_NEW).sum(axis=1) + model.intercept_
    np.testing.assert_allclose(sums, model.decision_function(X_NEW), atol=1e-12)


def test_adaboost_errors_are_close_to_those_of_scikit_learn():
    errors = []
    for seed in range(10):
        train, test = twonorm(300, random_state=seed), twonorm(2000, random_state=100 + seed)
        sklearn_adaboost = AdaBoostClassifier(DecisionTreeClassifier(max_depth=1), n_estimators=50)
        models = AdaBoostStump(50), sklearn_adaboost
        errors.append([1 - model.fit(*train).score(*test) for model in models])
    difference = np.diff(errors, axis=1)[:, 0]
    assert abs(difference.mean()) < 0.01


def test_ensemble_is_empty_if_no_stump_beats_chance():
    with pytest.warns(ConvergenceWarning, match="no hypothesis beats chance"):
        model = AdaBoostStump().fit(XOR, XOR_LABELS)
    assert model.n_iter_ == 0 and len(set(model.predict(XOR))) == 1


def test_hard_margin_of_inseparable_points_is_refused():
    with pytest.raises(ValueError, match="Choose a finite C"):
        LPBoost(C=np.inf).fit(XOR, XOR_LABELS)
    with pytest.raises(ValueError, match="points 0 and 1 are equal"):
        LPBoost(C=np.inf).fit([[1.0], [1.0], [2.0]], [0, 1, 1])


def test_lpboost_accepts_trees_as_base_learners():
    tree = DecisionTreeClassifier(max_depth=2, random_state=0)
    hard_margin = LPBoost(C=np.inf, estimator=tree).fit(XOR, XOR_LABELS)
    assert hard_margin.score(XOR, XOR_LABELS) == 1.0 and hard_margin.margin_ == pytest.approx(1.0)
    soft_margin = LPBoost(C=0.2, estimator=tree).fit(X, Y)
    assert soft_margin.score(X, Y) > 0.9
    assert all(hypothesis(X_NEW).shape == (80, 1) for hypothesis in soft_margin.hypotheses_)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("learner", [Perceptron(), SGDClassifier(random_state=0), GaussianNB()])
def test_base_learner_with_sample_weight_is_accepted(learner):
    # In the fit of Perceptron and SGDClassifier, sample_weight is not the third parameter.
    assert LPBoost(C=0.3, estimator=learner, max_iter=50).fit(X, Y).score(X, Y) > 0.85


@pytest.mark.parametrize(
    "learner", [KNeighborsClassifier(), make_pipeline(StandardScaler(), SVC())]
)
def test_base_learner_without_sample_weight_is_refused(learner):
    with pytest.raises(ValueError, match=f"estimator={type(learner).__name__}.* sample_weight"):
        LPBoost(estimator=learner).fit(X, Y)


def test_base_learner_gets_only_points_of_positive_weight():
    calls = []

    class RecordingClassifier(LogisticRegression):
        def fit(self, X, y, sample_weight=None):
            calls.append((np.asarray(X), np.asarray(y), np.asarray(sample_weight)))
            return super().fit(X, y, sample_weight)

    model = LPBoost(C=0.3, estimator=RecordingClassifier()).fit(X, Y)
    assert model.score(X, Y) > 0.9 and len(calls) > 1
    label_by_point = {tuple(x): label for x, label in zip(X, Y, strict=True)}
    for points, labels, weights in calls:
        assert (weights > 0).all() and [label_by_point[tuple(x)] for x in points] == labels.tolist()


def test_hard_margin_over_linear_classifiers_is_found_or_refused():
    # Where only one class has positive dual variables, the base learner must not be fitted.
    scores = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        points, labels = rng.standard_normal((12, 3)), np.repeat([0, 1], 6)
        try:
            model = LPBoost(C=np.inf, estimator=LogisticRegression()).fit(points, labels)
        except ValueError as error:
            assert "no ensemble of these hypotheses separates" in str(error)
            continue
        scores.append(model.score(points, labels))
    assert len(scores) > 5 and min(scores) == 1.0


def test_indices_of_points_include_points_of_weight_zero():
    weights = np.append(np.zeros(10), np.ones(110))
    model = LPBoost(C=0.3).fit(X, Y, weights)
    assert model.dual_variables_.shape == (120,) and not model.dual_variables_[:10].any()
    with pytest.raises(ValueError, match="points 1 and 2 are equal"):
        LPBoost(C=np.inf).fit([[5.0], [1.0], [1.0], [2.0]], [0, 0, 1, 1], [0, 1, 1, 1])


def test_ensemble_is_empty_for_small_C():
    model = LPBoost(C=1e-3).fit(X, Y)
    assert not model.hypotheses_ and model.converged_
    assert set(model.predict(X_NEW)) == {-1.0}


def test_C_too_large_for_double_precision_warns():
    with pytest.warns(ConvergenceWarning, match="not solved accurately enough"):
        model = LPBoost(C=1e10).fit(X, Y)
    assert model.n_iter_ < 50 and model.score(X, Y) == 1.0


@pytest.mark.parametrize("C", [1.0, 1e4, 1e6])
def test_objective_agrees_with_weights_and_slacks(C):
    model = LPBoost(C=C).fit(X, Y)
    total_slack = np.maximum(0.0, 1.0 - Y * model.decision_function(X)).sum()
    assert model.objective_ == pytest.approx(model.estimator_weights_.sum() + C * total_slack)


def test_tiny_weighted_error_is_not_rounded_to_zero():
    # The only misclassified point has almost no weight; its round must not divide by zero.
    for weight in (1e-16, 1e-15, 1e-13):
        weights = np.append(np.ones(9), weight)
        labels = np.append(np.repeat([0, 1], [5, 4]), 0)
        model = AdaBoostStump(3).fit(np.arange(10.0)[:, None], labels, weights)
        assert np.isfinite(model.decision_function(X[:1, :1])).all()
        expected = 0.5 * np.log(9 / weight)
        assert model.estimator_weights_[0] == pytest.approx(expected, rel=1e-3)


def test_scale_of_sample_weight_does_not_matter():
    unweighted = AdaBoostStump(10).fit(X, Y)
    weighted = AdaBoostStump(10).fit(X, Y, np.full(120, 1e307))
    np.testing.assert_allclose(
        weighted.decision_function(X_NEW), unweighted.decision_function(X_NEW)
    )


def test_reaching_max_iter_warns():
    with pytest.warns(ConvergenceWarning, match="stopped after 1 linear programs"):
        LPBoost(C=1.0, max_iter=1).fit(X, Y)


def test_solution_is_certified_and_satisfies_its_bounds():
    model = LPBoost(C=0.3).fit(X, Y)
    assert model.converged_ and model.relative_gap_ <= 1e-6
    assert model.dual_variables_.max() <= 0.3 and (model.estimator_weights_ > 0).all()


def test_lpboost_needs_less_memory_than_the_outputs_of_all_stumps():
    points, labels = twonorm(400, random_state=0)
    tracemalloc.start()
    LPBoost(C=0.1).fit(points, labels)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8 * 20 * 400**2 / 5


def test_failed_refit_leaves_an_unfitted_model():
    model = LPBoost(C=0.3).fit(X, Y)
    with pytest.raises(ValueError, match="Choose a finite C"):
        model.set_params(C=np.inf).fit(XOR, XOR_LABELS)
    with pytest.raises(NotFittedError):
        model.predict(XOR)


def test_estimator_that_routes_metadata_is_fitted_to_pairs_of_classes():
    X, y = twonorm(60, random_state=0)
    y = np.where(X[:, 0] > 0.5, 2, y > 0)
    tree_ensemble = AdaBoostClassifier(DecisionTreeClassifier(max_depth=1), n_estimators=2)
    model = LPBoost(estimator=tree_ensemble, tol=0.1).fit(X, y)
    assert len(model.estimators_) == 3 and model.score(X, y) > 0.9
