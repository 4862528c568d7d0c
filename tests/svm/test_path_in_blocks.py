"""Cross-validation in blocks: the same errors as separate fits, with shared passes."""

import numpy as np
import pytest
from block_problems import in_blocks
from sklearn.exceptions import ConvergenceWarning

from svmbook import DualSVC
from svmbook.datasets import twonorm
from svmbook.gram import blocks
from svmbook.rows import Blocks
from svmbook.svm import cross_validate_in_blocks
from svmbook.svm.path_in_blocks import CrossValidation

pytestmark = pytest.mark.usefixtures("tasks_in_this_thread")
C_VALUES = [1.0, 0.01]
CHUNKS = (70, 1, 129)


@pytest.fixture(scope="module")
def points():
    X, y = twonorm(200, random_state=0)
    return X[:, :3], y


@pytest.fixture
def problem(points):
    X, y = points
    return in_blocks(X, CHUNKS), in_blocks(y, CHUNKS)


def folds_of_blocks(n_folds, seed=0):
    draws = [
        np.random.default_rng((seed, k)).integers(n_folds, size=n, dtype=np.int16)
        for k, n in enumerate(CHUNKS)
    ]
    return np.concatenate(draws)


def test_errors_are_those_of_separate_fits_in_memory(points, problem):
    X, y = points
    weights = 0.5 + np.arange(200) % 2
    result = cross_validate_in_blocks(
        DualSVC(tol=1e-8), *problem, C_VALUES, n_folds=3, sample_weight=in_blocks(weights, CHUNKS)
    )
    folds = folds_of_blocks(3)
    for C, errors in zip([0.01, 1.0], result.errors, strict=True):
        for fold, error in enumerate(errors):
            inside = folds == fold
            model = DualSVC(C=C, tol=1e-8).fit(X[~inside], y[~inside], weights[~inside])
            is_wrong = model.predict(X[inside]) != y[inside]
            assert error == pytest.approx(np.average(is_wrong, weights=weights[inside]))
    assert (result.relative_gaps <= 1e-8).all()
    assert result.best_C == result.C_values[result.errors.mean(axis=1).argmin()]


def test_ten_values_and_five_folds_share_their_passes(problem, monkeypatch):
    totals = []
    add_in_tree = Blocks.total

    def recorded_total(blocks):
        result = add_in_tree(blocks)
        totals.append(result)
        return result

    monkeypatch.setattr(Blocks, "total", recorded_total)
    cross_validate_in_blocks(DualSVC(tol=1e-4), *problem, np.logspace(-2, 2, 10))
    shared = [result.values for result in totals if hasattr(result, "values")]
    sizes = [len(values) for values in shared]
    # First ten solvers, then fifty; the number decreases as they end.
    first_of_folds = sizes.index(50)
    assert sizes[0] == 10 and len(sizes) < 50
    assert sizes[:first_of_folds] == sorted(sizes[:first_of_folds], reverse=True)
    assert sizes[first_of_folds:] == sorted(sizes[first_of_folds:], reverse=True)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"C_values": [1.0, 0.0]}, "C_values must be positive and finite"),
        ({"C_values": []}, "C_values must be positive and finite"),
        ({"C_values": [1.0], "n_folds": 1}, "at least two"),
        ({"C_values": [1.0], "n_folds": 150}, r"fold \d+ has no points"),
    ],
)
def test_invalid_arguments_are_reported(problem, arguments, message):
    with pytest.raises(ValueError, match=message):
        cross_validate_in_blocks(DualSVC(), *problem, **arguments)


def test_an_error_in_a_block_ends_all_solvers(problem):
    X, y = problem
    with pytest.raises(ValueError, match="X is not finite"):
        cross_validate_in_blocks(DualSVC(), X * np.inf, y, C_VALUES)


def test_fits_that_are_not_certified_are_reported(problem):
    model = DualSVC(max_iter=1, tol=1e-6)
    with pytest.warns(ConvergenceWarning, match="4 of 4 fits stopped at a relative duality gap"):
        result = cross_validate_in_blocks(model, *problem, C_VALUES, n_folds=2)
    assert (result.relative_gaps > 1e-6).all()


def test_a_fold_with_all_points_of_a_class_is_reported(points):
    X, y = in_blocks(points[0], CHUNKS), np.where(np.arange(200) == 7, 1, 0)
    with pytest.raises(ValueError, match=r"fold \d has all points of a class"):
        cross_validate_in_blocks(DualSVC(), X, in_blocks(y, CHUNKS), [1.0])


def test_the_smallest_of_equally_good_values_is_chosen_up_to_rounding():
    errors = np.array([[0.4, 0.4, 0.4], [0.1, 0.2, 0.3], [0.3, 0.2, 0.1]])
    assert errors[1].mean() != errors[2].mean()
    result = CrossValidation(np.array([1.0, 2.0, 3.0]), errors, np.zeros((3, 3)))
    assert result.best_C == 2.0


def test_the_sample_of_points_is_read_once(problem, monkeypatch):
    monkeypatch.setattr("svmbook.solvers.start_sample.START_SAMPLE_SIZE", 20)
    gather, n_values = blocks._gather_chosen, []

    def recorded_gather(choices, *rows):
        n_values.append(len(rows))
        return gather(choices, *rows)

    monkeypatch.setattr(blocks, "_gather_chosen", recorded_gather)
    cross_validate_in_blocks(DualSVC(tol=1e-4), *problem, [0.01, 0.1, 1.0], n_folds=2)
    assert n_values.count(1) == 1  # the points; labels and weights are read for each C
    assert n_values.count(2) == 4
