"""The boosted estimators: stages, shape functions, and what they say of bad input."""

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
NEW, _ = twonorm(80, random_state=1)
SQUARE = np.array([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]])


def test_stages_end_in_the_whole_ensemble():
    machine = AdaBoostStump(30).fit(X, Y)
    stages = list(machine.staged_decision_function(NEW))
    assert len(stages) == machine.n_iter_ == 30
    np.testing.assert_allclose(stages[-1], machine.decision_function(NEW), atol=1e-12)
    short = AdaBoostStump(7).fit(X, Y)
    np.testing.assert_allclose(stages[6], short.decision_function(NEW), atol=1e-12)
    *_, last = machine.staged_predict(NEW)
    np.testing.assert_array_equal(last, machine.predict(NEW))
    parts = machine.contributions(NEW).sum(axis=1) + machine.intercept_
    np.testing.assert_allclose(parts, machine.decision_function(NEW), atol=1e-12)


def test_our_boosting_is_as_good_as_that_of_scikit_learn():
    errors = []
    for seed in range(10):
        train, test = twonorm(300, random_state=seed), twonorm(2000, random_state=100 + seed)
        ours = AdaBoostStump(50).fit(*train)
        theirs = AdaBoostClassifier(DecisionTreeClassifier(max_depth=1), n_estimators=50)
        errors.append([1 - m.score(*test) for m in (ours, theirs.fit(*train))])
    difference = np.diff(errors, axis=1)[:, 0]
    assert abs(difference.mean()) < 0.01


def test_where_no_stump_beats_chance_the_ensemble_is_empty():
    with pytest.warns(ConvergenceWarning, match="no hypothesis beats chance"):
        machine = AdaBoostStump().fit(SQUARE, [0, 0, 1, 1])
    assert machine.n_iter_ == 0 and len(set(machine.predict(SQUARE))) == 1


def test_a_hard_margin_that_does_not_exist():
    with pytest.raises(ValueError, match="Choose a finite C"):
        LPBoost(C=np.inf).fit(SQUARE, [0, 0, 1, 1])
    with pytest.raises(ValueError, match="points 0 and 1 are equal"):
        LPBoost(C=np.inf).fit([[1.0], [1.0], [2.0]], [0, 1, 1])


def test_any_classifier_may_be_boosted():
    trees = DecisionTreeClassifier(max_depth=2, random_state=0)
    machine = LPBoost(C=np.inf, estimator=trees).fit(SQUARE, [0, 0, 1, 1])
    assert machine.score(SQUARE, [0, 0, 1, 1]) == 1.0 and machine.margin_ == pytest.approx(1.0)
    soft = LPBoost(C=0.2, estimator=trees).fit(X, Y)
    assert soft.score(X, Y) > 0.9
    assert all(hypothesis(NEW).shape == (80, 1) for hypothesis in soft.hypotheses_)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("learner", [Perceptron(), SGDClassifier(random_state=0), GaussianNB()])
def test_a_base_learner_gets_its_weights_by_name(learner):
    assert LPBoost(C=0.3, estimator=learner, max_iter=50).fit(X, Y).score(X, Y) > 0.85


@pytest.mark.parametrize(
    "learner", [KNeighborsClassifier(), make_pipeline(StandardScaler(), SVC())]
)
def test_a_base_learner_without_weights_is_refused_by_name(learner):
    with pytest.raises(ValueError, match=f"estimator={type(learner).__name__}.* sample_weight"):
        LPBoost(estimator=learner).fit(X, Y)


def test_a_base_learner_never_sees_what_has_no_price():
    seen = []

    class Recorder(LogisticRegression):
        def fit(self, X, y, sample_weight=None):
            seen.append((np.asarray(X), np.asarray(y), np.asarray(sample_weight)))
            return super().fit(X, y, sample_weight)

    machine = LPBoost(C=0.3, estimator=Recorder()).fit(X, Y)
    assert machine.score(X, Y) > 0.9 and len(seen) > 1
    of = {tuple(x): label for x, label in zip(X, Y, strict=True)}
    for points, labels, weights in seen:
        assert (weights > 0).all() and [of[tuple(x)] for x in points] == labels.tolist()


def test_a_hard_margin_over_lines_is_found_or_refused():
    # Prices on one class alone are a base learner's one class: it must not be asked.
    found = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        points, labels = rng.standard_normal((12, 3)), np.repeat([0, 1], 6)
        try:
            machine = LPBoost(C=np.inf, estimator=LogisticRegression()).fit(points, labels)
        except ValueError as error:
            assert "no ensemble of these hypotheses separates" in str(error)
            continue
        found.append(machine.score(points, labels))
    assert len(found) > 5 and min(found) == 1.0


def test_prices_and_errors_count_absent_points():
    weights = np.append(np.zeros(10), np.ones(110))
    machine = LPBoost(C=0.3).fit(X, Y, weights)
    assert machine.prices_.shape == (120,) and not machine.prices_[:10].any()
    with pytest.raises(ValueError, match="points 1 and 2 are equal"):
        LPBoost(C=np.inf).fit([[5.0], [1.0], [1.0], [2.0]], [0, 0, 1, 1], [0, 1, 1, 1])


def test_where_slack_is_cheap_the_best_ensemble_is_empty():
    machine = LPBoost(C=1e-3).fit(X, Y)
    assert not machine.hypotheses_ and machine.converged_
    assert set(machine.predict(NEW)) == {-1.0}


def test_a_price_beyond_rounding_ends_with_a_warning():
    with pytest.warns(ConvergenceWarning, match="not exact enough"):
        machine = LPBoost(C=1e10).fit(X, Y)
    assert machine.n_iter_ < 50 and machine.score(X, Y) == 1.0


@pytest.mark.parametrize("C", [1.0, 1e4, 1e6])
def test_the_objective_is_that_of_the_weights(C):
    machine = LPBoost(C=C).fit(X, Y)
    slack = np.maximum(0.0, 1.0 - Y * machine.decision_function(X)).sum()
    assert machine.objective_ == pytest.approx(machine.estimator_weights_.sum() + C * slack)


def test_a_tiny_error_is_an_error():
    # One wrong point of hardly any weight: its round must not divide by a rounded zero.
    for weight in (1e-16, 1e-15, 1e-13):
        weights = np.append(np.ones(9), weight)
        labels = np.append(np.repeat([0, 1], [5, 4]), 0)
        machine = AdaBoostStump(3).fit(np.arange(10.0)[:, None], labels, weights)
        assert np.isfinite(machine.decision_function(X[:1, :1])).all()
        first = 0.5 * np.log((9 - 0) / weight)
        assert machine.estimator_weights_[0] == pytest.approx(first, rel=1e-3)


def test_huge_weights_are_shares():
    plain = AdaBoostStump(10).fit(X, Y)
    huge = AdaBoostStump(10).fit(X, Y, np.full(120, 1e307))
    np.testing.assert_allclose(huge.decision_function(NEW), plain.decision_function(NEW))


def test_a_program_cut_short_says_so():
    with pytest.warns(ConvergenceWarning, match="stopped after 1 linear programs"):
        LPBoost(C=1.0, max_iter=1).fit(X, Y)


def test_the_certificate_is_in_the_attributes():
    machine = LPBoost(C=0.3).fit(X, Y)
    assert machine.converged_ and machine.relative_gap_ <= 1e-6
    assert machine.prices_.max() <= 0.3 and (machine.estimator_weights_ > 0).all()


def test_a_fit_that_fails_leaves_no_machine():
    machine = LPBoost(C=0.3).fit(X, Y)
    with pytest.raises(ValueError, match="Choose a finite C"):
        machine.set_params(C=np.inf).fit(SQUARE, [0, 0, 1, 1])
    with pytest.raises(NotFittedError):
        machine.predict(SQUARE)
