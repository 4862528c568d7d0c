"""Splits and seeds of runs, which do not depend on the other runs."""

import numpy as np
import pytest

from svmbook.datasets import twonorm
from svmbook.experiments.methods.protocols import (
    GeneratedSamples,
    RandomSplits,
    StratifiedFolds,
    run_seed,
)

X = np.arange(150.0)[:, None]
Y = np.where(np.arange(150) % 3 == 0, 1.0, -1.0)
PROTOCOL_FACTORIES = {
    "random": lambda **options: RandomSplits(X, Y, train_share=0.6, **{"n_runs": 20, **options}),
    "generated": lambda n_runs=20, seed=0: GeneratedSamples(
        twonorm, 20, 30, n_runs=n_runs, seed=seed
    ),
    "folds": lambda n_runs=10, seed=0: StratifiedFolds(X, Y, n_runs=n_runs, seed=seed),
}


def are_equal(first, second):
    return all(np.array_equal(a, b) for a, b in zip(first, second, strict=True))


@pytest.mark.parametrize("name", PROTOCOL_FACTORIES)
def test_run_does_not_depend_on_the_other_runs(name):
    data = PROTOCOL_FACTORIES[name]()[7]
    data_backwards = {run: PROTOCOL_FACTORIES[name]()[run] for run in range(9, -1, -1)}
    assert are_equal(data, data_backwards[7])
    assert are_equal(data, list(PROTOCOL_FACTORIES[name]())[7])
    assert not are_equal(data, PROTOCOL_FACTORIES[name]()[8])
    assert not are_equal(data, PROTOCOL_FACTORIES[name](seed=1)[7])


@pytest.mark.parametrize("name", ["random", "generated"])
def test_run_does_not_depend_on_the_number_of_runs(name):
    assert are_equal(PROTOCOL_FACTORIES[name](n_runs=8)[7], PROTOCOL_FACTORIES[name](n_runs=100)[7])


@pytest.mark.parametrize("name", PROTOCOL_FACTORIES)
def test_protocols_have_a_length_and_can_be_iterated_over(name):
    protocol = PROTOCOL_FACTORIES[name](n_runs=5)
    assert len(list(protocol)) == len(protocol) == 5
    assert len({data.seed for data in protocol}) == 5


@pytest.mark.parametrize("stratified", [True, False])
def test_random_splits_use_every_row_once_and_can_be_stratified(stratified):
    positive_counts = set()
    for data in PROTOCOL_FACTORIES["random"](stratified=stratified):
        rows = np.concatenate([data.X_train[:, 0], data.X_test[:, 0]])
        np.testing.assert_array_equal(np.sort(rows), X[:, 0])
        assert len(data.X_train) == 90
        positive_counts.add(int((data.y_train > 0).sum()))
    assert (positive_counts == {30}) == stratified


def test_every_row_is_in_one_test_fold():
    test_values = np.concatenate([data.X_test[:, 0] for data in PROTOCOL_FACTORIES["folds"]()])
    np.testing.assert_array_equal(np.sort(test_values), X[:, 0])


def test_generated_training_and_test_points_differ():
    data = GeneratedSamples(twonorm, 30, 30)[0]
    assert not np.isin(data.X_train, data.X_test).any()


def test_protocols_give_the_test_share_of_the_corrected_t_test():
    assert PROTOCOL_FACTORIES["random"]().test_share == pytest.approx(0.4)
    assert PROTOCOL_FACTORIES["folds"]().test_share == pytest.approx(0.1)
    assert PROTOCOL_FACTORIES["generated"]().test_share is None


@pytest.mark.parametrize("name", PROTOCOL_FACTORIES)
def test_seed_of_a_run_differs_from_the_seeds_of_its_split(name):
    split_seeds = {run_seed(0, run, purpose=purpose) for run in (0, 7) for purpose in (0, 2)}
    data = PROTOCOL_FACTORIES[name]()[7]
    assert data.seed not in split_seeds
    X_new, _ = twonorm(30, random_state=data.seed)
    assert not np.isin(X_new, [*data.X_train, *data.X_test]).any()


def test_seeds_differ_between_runs_and_purposes():
    seeds = {run_seed(0, run, purpose=purpose) for run in range(200) for purpose in range(3)}
    assert len(seeds) == 600
    assert all(0 <= seed < 2**32 for seed in seeds)


@pytest.mark.parametrize("name", PROTOCOL_FACTORIES)
@pytest.mark.parametrize("run", [-1, 20])
def test_invalid_run_numbers_raise(name, run):
    with pytest.raises(IndexError, match=rf"run must be in 0, \.\.\., .*; found {run}"):
        PROTOCOL_FACTORIES[name]()[run]


def test_invalid_seeds_and_run_numbers_of_run_seed_raise():
    with pytest.raises(ValueError, match="seed == -1"):
        run_seed(-1, 0)
    with pytest.raises(TypeError, match="run must be"):
        run_seed(0, 0.5)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: RandomSplits(X, Y, train_share=1.0), "train_share == 1.0, must be < 1"),
        (lambda: RandomSplits(X, Y, train_share=5.0), "train_share == 5.0, must be < 1"),
        (lambda: RandomSplits(X, Y, train_share=0.6, n_runs=0), "n_runs == 0, must be >= 1"),
        (lambda: RandomSplits(X, Y[:-1], train_share=0.6), "inconsistent numbers of samples"),
        (lambda: StratifiedFolds(X, Y, n_runs=-1), "n_runs == -1, must be >= 1"),
        (lambda: GeneratedSamples(twonorm, n_runs=0), "n_runs == 0, must be >= 1"),
    ],
)
def test_invalid_arguments_raise_before_the_first_run(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_missing_values_are_kept():
    X = np.array([[1.0], [np.nan], [3.0], [4.0]])
    data = RandomSplits(X, [0, 1, 0, 1], train_share=0.5, n_runs=1)[0]
    assert np.isnan(np.vstack([data.X_train, data.X_test])).sum() == 1


def test_points_and_labels_may_be_lists():
    folds = StratifiedFolds(X.tolist(), Y.tolist(), n_runs=5)
    assert are_equal(folds[0], StratifiedFolds(X, Y, n_runs=5)[0])
