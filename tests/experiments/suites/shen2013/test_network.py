"""The network of the suite shen2013: its size and its training."""

import numpy as np
import pytest
from scipy.special import expit
from sklearn.exceptions import ConvergenceWarning

from svmbook.experiments.suites.shen2013 import methods


@pytest.mark.parametrize(("d", "n_classes", "n_units"), [(5, 2, 3), (6, 3, 4), (60, 2, 20)])
def test_network_has_half_as_many_units_as_features_and_classes(d, n_classes, n_units):
    X, y = np.random.default_rng(0).normal(size=(30, d)), np.arange(30) % n_classes
    network = methods._make_estimator("network", X, y).set_params(random_state=0)
    with pytest.warns(ConvergenceWarning, match="Maximum iterations"):
        network.fit(X, y)  # with random labels the loss is not monotone
    assert [weights.shape[1] for weights in network.coefs_[:-1]] == [n_units]
    assert network.n_iter_ == 200  # the training does not stop early


def test_network_has_learning_rate_0_3_momentum_0_2_and_no_weight_decay():
    X, y = np.random.default_rng(1).normal(size=(10, 4)), np.arange(10) % 2
    weights = []
    for n_epochs in (1, 2, 3):  # the ten points are one batch, so an epoch is one step
        network = methods._make_estimator("network", X, y).set_params(
            max_iter=n_epochs, random_state=0
        )
        with pytest.warns(ConvergenceWarning):
            network.fit(X, y)
        weights.append([*network.coefs_, *network.intercepts_])
    W, v, b, c = weights[1]
    hidden = expit(X @ W + b)
    output_delta = (expit(hidden @ v + c) - y[:, None]) / len(y)
    hidden_delta = output_delta @ v.T * hidden * (1 - hidden)
    gradients = [X.T @ hidden_delta, hidden.T @ output_delta]
    gradients += [hidden_delta.sum(axis=0), output_delta.sum(axis=0)]
    for first, second, third, gradient in zip(*weights, gradients, strict=True):
        step = 0.2 * (second - first) - 0.3 * gradient
        np.testing.assert_allclose(third - second, step, atol=1e-12)
