"""The neural network of the suite shen2013: its size and its training."""

import numpy as np
import pytest
from scipy.special import expit
from sklearn.exceptions import ConvergenceWarning

from svmbook.experiments.suites.shen2013 import comparison


@pytest.mark.parametrize(("d", "n_classes", "n_hidden"), [(5, 2, 3), (6, 3, 4), (60, 2, 20)])
def test_hidden_units_are_half_as_many_as_features_and_classes_and_at_most_20(
    d, n_classes, n_hidden
):
    X, y = np.random.default_rng(0).normal(size=(30, d)), np.arange(30) % n_classes
    network = comparison._make_estimator("network", X, y).set_params(random_state=0)
    with pytest.warns(ConvergenceWarning, match="Maximum iterations"):
        network.fit(X, y)  # y is unrelated to X, so the loss is not monotone
    assert [weights.shape[1] for weights in network.coefs_[:-1]] == [n_hidden]
    assert network.n_iter_ == 200  # the training does not stop early


def test_network_has_learning_rate_0_3_momentum_0_2_and_no_weight_decay():
    X, y = np.random.default_rng(1).normal(size=(10, 4)), np.arange(10) % 2
    parameters_by_epoch = []
    for n_epochs in (1, 2, 3):  # the ten points are one batch, so an epoch is one step
        network = comparison._make_estimator("network", X, y).set_params(
            max_iter=n_epochs, random_state=0
        )
        with pytest.warns(ConvergenceWarning):
            network.fit(X, y)
        parameters_by_epoch.append([*network.coefs_, *network.intercepts_])
    W, v, b, c = parameters_by_epoch[1]
    hidden = expit(X @ W + b)
    output_delta = (expit(hidden @ v + c) - y[:, None]) / len(y)
    hidden_delta = output_delta @ v.T * hidden * (1 - hidden)
    gradients = [X.T @ hidden_delta, hidden.T @ output_delta]
    gradients += [hidden_delta.sum(axis=0), output_delta.sum(axis=0)]
    for first, second, third, gradient in zip(*parameters_by_epoch, gradients, strict=True):
        step = 0.2 * (second - first) - 0.3 * gradient
        np.testing.assert_allclose(third - second, step, atol=1e-12)
