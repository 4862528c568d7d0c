"""Helpers of the tests: examples of Hypothesis are reproducible, and objectives do not overflow.

conftest.py sets up Hypothesis, and logistic_problems.py has the objectives.
"""

import importlib.util
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from logistic_problems import complex_step_gradient, logistic_objective, softmax_objective

SOURCE_WITH_CONSTANTS = (
    "NUMBER, COUNT, WORD, BYTES = 1234.5678, 987654, 'unmistakable', b'unmistakable'"
)


def generate_examples():
    """Return the examples that Hypothesis generates for numbers, text and bytes."""
    examples = []

    @given(st.tuples(st.floats(), st.integers(), st.text(), st.binary()))
    @settings(max_examples=200)
    def collect(values):
        examples.append(repr(values))

    collect()
    return examples


def test_examples_do_not_depend_on_imported_modules(tmp_path, monkeypatch):
    examples_before = generate_examples()
    path = tmp_path / "constants.py"
    path.write_text(SOURCE_WITH_CONSTANTS)
    spec = importlib.util.spec_from_file_location("constants", path)
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "constants", module)
    spec.loader.exec_module(module)
    assert generate_examples() == examples_before
    assert len(set(examples_before)) > 100


@pytest.mark.parametrize("scale", [1.0, 30.0, 1e3, 1e6])
def test_objectives_of_logistic_regression_do_not_overflow(scale):
    # The softmax of the outputs 0 and f is the logistic function of f.
    f = scale * np.array([-1.0, -0.5, 0.0, 0.5, 1.0])
    y, weights, K = np.array([-1.0, 1.0, 1.0, -1.0, 1.0]), np.arange(1.0, 6.0), np.zeros((5, 5))

    def binary_loss(outputs):
        return logistic_objective(np.zeros(5), outputs, K, y, weights, 0.0)

    def softmax_loss(outputs):
        F = np.column_stack([0 * outputs, outputs])
        return softmax_objective(0 * F, F, K, (y > 0).astype(int), weights, 0.0)

    expected = weights @ np.logaddexp(0, -y * f)
    gradient = -weights * y * np.exp(-np.logaddexp(0, y * f))
    for loss in (binary_loss, softmax_loss):
        assert loss(f) == pytest.approx(expected, rel=1e-14)
        np.testing.assert_allclose(complex_step_gradient(loss, f), gradient, rtol=1e-12, atol=1e-14)
