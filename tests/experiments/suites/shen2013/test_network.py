"""The network beside the prototypes of Shen (2013): its size, and how it is trained."""

import numpy as np
import pytest
from scipy.special import expit
from sklearn.exceptions import ConvergenceWarning

from svmbook.experiments.suites.shen2013 import methods


@pytest.mark.parametrize(("d", "n_classes", "units"), [(5, 2, 3), (6, 3, 4), (60, 2, 20)])
def test_the_network_has_half_as_many_units_as_features_and_classes(d, n_classes, units):
    X, y = np.random.default_rng(0).normal(size=(30, d)), np.arange(30) % n_classes
    network = methods._machine("network", X, y).set_params(random_state=0)
    with pytest.warns(ConvergenceWarning, match="Maximum iterations"):
        network.fit(X, y)  # on labels without a rule the loss goes up and down
    assert [weights.shape[1] for weights in network.coefs_[:-1]] == [units]
    assert network.n_iter_ == 200  # nothing ends the training before


def test_the_network_makes_steps_of_three_tenths_with_momentum_and_without_decay():
    X, y = np.random.default_rng(1).normal(size=(10, 4)), np.arange(10) % 2
    weights = []
    for rounds in (1, 2, 3):  # ten points are one batch, so a round is one step
        network = methods._machine("network", X, y).set_params(max_iter=rounds, random_state=0)
        with pytest.warns(ConvergenceWarning):
            network.fit(X, y)
        weights.append([*network.coefs_, *network.intercepts_])
    W, v, b, c = weights[1]
    hidden = expit(X @ W + b)
    off = (expit(hidden @ v + c) - y[:, None]) / len(y)
    back = off @ v.T * hidden * (1 - hidden)
    gradient = [X.T @ back, hidden.T @ off, back.sum(axis=0), off.sum(axis=0)]
    for before, here, after, slope in zip(*weights, gradient, strict=True):
        np.testing.assert_allclose(after - here, 0.2 * (here - before) - 0.3 * slope, atol=1e-12)
