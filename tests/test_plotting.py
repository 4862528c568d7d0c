"""Pictures: drawn on the axes given, returned as artists, limits left alone."""

import matplotlib.pyplot as plt
import numpy as np
import pytest

from svmbook.plotting import COLOURS, plot_machine, plot_points, ring_support, use_book_style


@pytest.fixture
def ax():
    figure, axes = plt.subplots()
    yield axes
    plt.close(figure)


def test_points_keep_their_class_and_size(ax):
    X, y = np.array([[0.0, 0], [1, 1], [2, 0]]), np.array([-1, 1, 1])
    drawn = plot_points(ax, X, y, size=np.array([10.0, 20.0, 30.0]))
    np.testing.assert_array_equal(drawn[-1].get_offsets(), X[:1])
    np.testing.assert_array_equal(drawn[1].get_offsets(), X[1:])
    np.testing.assert_array_equal(drawn[1].get_sizes(), [20.0, 30.0])


def test_the_boundary_lies_where_the_function_is_zero(ax):
    ax.set(xlim=(-3, 3), ylim=(-2, 2))
    drawn = plot_machine(ax, lambda Z: Z[:, 0] - 0.5 * Z[:, 1])
    zero = drawn["lines"].get_paths()[1].vertices
    np.testing.assert_allclose(zero[:, 0], 0.5 * zero[:, 1], atol=1e-9)
    assert ax.get_xlim() == (-3, 3) and ax.get_ylim() == (-2, 2)
    assert drawn["sides"] is not None
    assert plot_machine(ax, lambda Z: Z[:, 0], shade=False)["sides"] is None


def test_rings(ax):
    rings = ring_support(ax, [[1.0, 2.0]])
    assert len(rings.get_offsets()) == 1


def test_the_style_has_the_classes_first():
    with plt.rc_context():
        use_book_style()
        colours = plt.rcParams["axes.prop_cycle"].by_key()["color"]
    assert [f"#{colour.lstrip('#')}" for colour in colours[:2]] == [COLOURS[-1], COLOURS[1]]
