"""The tests mean the same each time: conftest.py and logistic_problems.py."""

import importlib.util
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from logistic_problems import complex_gradient, ridge_objective, softmax_objective

CONSTANTS = "NUMBER, COUNT, WORD, BYTES = 1234.5678, 987654, 'unmistakable', b'unmistakable'"


def examples():
    """Return what a strategy of numbers, words and bytes draws."""
    drawn = []

    @given(st.tuples(st.floats(), st.integers(), st.text(), st.binary()))
    @settings(max_examples=200)
    def collect(values):
        drawn.append(repr(values))

    collect()
    return drawn


def test_examples_do_not_depend_on_what_is_imported(tmp_path, monkeypatch):
    alone = examples()
    source = tmp_path / "constants.py"
    source.write_text(CONSTANTS)
    spec = importlib.util.spec_from_file_location("constants", source)
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "constants", module)
    spec.loader.exec_module(module)
    assert examples() == alone
    assert len(set(alone)) > 100


@pytest.mark.parametrize("size", [1.0, 30.0, 1e3, 1e6])
def test_the_oracles_of_logistic_regression_do_not_overflow(size):
    # Two outputs per point, 0 and f, are the two-class problem with output f.
    f = size * np.array([-1.0, -0.5, 0.0, 0.5, 1.0])
    y, weights, none = np.array([-1.0, 1.0, 1.0, -1.0, 1.0]), np.arange(1.0, 6.0), np.zeros((5, 5))

    def two(outputs):
        return ridge_objective(np.zeros(5), outputs, none, y, weights, 0.0)

    def several(outputs):
        F = np.column_stack([0 * outputs, outputs])
        return softmax_objective(0 * F, F, none, (y > 0).astype(int), weights, 0.0)

    expected = weights @ np.logaddexp(0, -y * f)
    slope = -weights * y * np.exp(-np.logaddexp(0, y * f))
    for objective in (two, several):
        assert objective(f) == pytest.approx(expected, rel=1e-14)
        np.testing.assert_allclose(complex_gradient(objective, f), slope, rtol=1e-12, atol=1e-14)
