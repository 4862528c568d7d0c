"""Plots: artists on the given axes, limits that do not change, and invalid input."""

from itertools import combinations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_rgb
from sklearn.pipeline import make_pipeline

from svmbook import AdaBoostStump, StumpEnsembleLogistic, StumpEnsembleSVC
from svmbook.ensembles import shape_bands
from svmbook.plotting import (
    CLASS_COLOURS,
    COLOURS,
    plot_classes,
    plot_decision_function,
    plot_points,
    plot_ranks,
    plot_regions,
    plot_rings,
    plot_shape_functions,
    use_book_style,
)

POINTS, SIGNS = np.array([[0.0, 0], [1, 1], [2, 0]]), np.array([-1, 1, 1])


@pytest.fixture
def ax():
    figure, axes = plt.subplots()
    yield axes
    plt.close(figure)


def first_coordinate(Z):
    return Z[:, 0]


@pytest.mark.parametrize("convert", [np.asarray, lambda values: np.asarray(values).tolist()])
def test_points_are_plotted_with_class_size_and_label(ax, convert):
    X, y, size = map(convert, (POINTS, SIGNS, [10.0, 20.0, 30.0]))
    scatters = plot_points(ax, X, y, size=size, labels=["left", "right"])
    np.testing.assert_array_equal(scatters[-1].get_offsets(), POINTS[:1])
    np.testing.assert_array_equal(scatters[1].get_offsets(), POINTS[1:])
    np.testing.assert_array_equal(scatters[1].get_sizes(), [20.0, 30.0])
    assert [scatters[sign].get_label() for sign in (-1, 1)] == ["left", "right"]


def test_keywords_and_their_aliases_are_passed_to_scatter(ax):
    for scatter in plot_points(ax, POINTS, SIGNS, lw=3.0, ec="black", alpha=0.25).values():
        np.testing.assert_array_equal(scatter.get_linewidths(), [3.0])
        np.testing.assert_array_equal(scatter.get_edgecolors(), [[0, 0, 0, 0.25]])


@pytest.mark.parametrize(
    ("draw", "message"),
    [
        (lambda ax: plot_points(ax, POINTS[:, :1], SIGNS), r"X has shape \(3, 1\).*two columns"),
        (lambda ax: plot_points(ax, POINTS[0], SIGNS), r"X has shape \(2,\)"),
        (
            lambda ax: plot_points(ax, np.where(POINTS == 2, np.nan, POINTS), SIGNS),
            "X contains nan",
        ),
        (lambda ax: plot_points(ax, POINTS, [-1, 1]), r"y has shape \(2,\), but X has 3 points"),
        (lambda ax: plot_points(ax, POINTS, SIGNS[:, None]), r"y has shape \(3, 1\)"),
        (
            lambda ax: plot_points(ax, POINTS, [0, 1, 1]),
            r"the label 0;.*labels\.encode_binary_labels",
        ),
        (lambda ax: plot_points(ax, POINTS, ["-1", "1", "1"]), "the label '-1';"),
        (lambda ax: plot_points(ax, POINTS, [-1, 1, 2]), "the label 2;"),
        (lambda ax: plot_points(ax, POINTS, [-1, 1, np.nan]), "the label nan;"),
        (lambda ax: plot_rings(ax, [1.0, 2.0]), r"X has shape \(2,\)"),
        (lambda ax: plot_rings(ax, np.empty((0, 3))), r"X has shape \(0, 3\)"),
        (lambda ax: plot_rings(ax, [[np.inf, 0.0]]), "X contains inf"),
        (lambda ax: plot_decision_function(ax, first_coordinate, levels=()), "levels is empty"),
        (
            lambda ax: plot_decision_function(ax, first_coordinate, levels=(0, np.nan)),
            "levels contains nan",
        ),
        (
            lambda ax: plot_decision_function(ax, first_coordinate, levels=(np.nan, np.inf)),
            "levels contains nan",
        ),
        (lambda ax: plot_decision_function(ax, lambda Z: Z), "reshape"),
        (lambda ax: plot_decision_function(ax, lambda Z: 1.0), "reshape"),
        (
            lambda ax: plot_decision_function(ax, lambda Z: np.where(Z[:, 0] > 0.5, np.nan, 1.0)),
            "result of decision_function contains nan",
        ),
        (lambda ax: plot_classes(ax, POINTS, [0, 1, 2], labels=["a"]), "labels is"),
        (lambda ax: plot_classes(ax, POINTS, [0, 1, 7]), "classes must be integers from 0 to 6"),
        (lambda ax: plot_classes(ax, POINTS, [-1, 0, 1]), "classes must be integers from 0 to 6"),
        (lambda ax: plot_classes(ax, POINTS, [0.5, 1.0, 2.0]), "classes must be integers"),
        (lambda ax: plot_classes(ax, POINTS, list("abc")), "classes must be integers"),
        (lambda ax: plot_classes(ax, POINTS, [0]), r"classes have shape \(1,\)"),
    ],
)
def test_invalid_arguments_are_refused_before_drawing(ax, draw, message):
    with pytest.raises(ValueError, match=message):
        draw(ax)
    assert not ax.collections


def test_boundary_is_where_the_function_is_zero(ax):
    ax.set(xlim=(-3, 3), ylim=(-2, 2))
    artists = plot_decision_function(ax, lambda Z: Z[:, 0] - 0.5 * Z[:, 1])
    boundary = artists["lines"].get_paths()[1].vertices
    np.testing.assert_allclose(boundary[:, 0], 0.5 * boundary[:, 1], atol=1e-9)
    assert ax.get_xlim() == (-3, 3) and ax.get_ylim() == (-2, 2)
    assert artists["sides"] is not None
    assert plot_decision_function(ax, first_coordinate, shade=False)["sides"] is None


def test_sides_have_the_colours_of_their_classes(ax):
    ax.set(xlim=(0, 2), ylim=(0, 2), aspect="equal")
    sides = plot_decision_function(ax, lambda Z: 9 * (Z[:, 0] - 1), resolution=5)["sides"]
    left, right = sides.to_rgba(np.array([-2.0, 2.0]))
    np.testing.assert_allclose(left[:3], to_rgb(COLOURS[-1]), atol=0.01)
    np.testing.assert_allclose(right[:3], to_rgb(COLOURS[1]), atol=0.01)
    assert 0.3 < left[3] < 0.4 and left[3] == pytest.approx(right[3], abs=0.01)
    assert sides.get_extent() == [-0.25, 2.25, -0.25, 2.25]  # grid points are centres of pixels
    assert ax.get_aspect() == 1.0


def test_levels_may_have_any_order_and_only_zero_is_solid(ax):
    lines = plot_decision_function(ax, lambda Z: 4 * Z[:, 0] - 2, levels=[1, -1, 0, 1])["lines"]
    np.testing.assert_array_equal(lines.levels, [-1, 0, 1])
    dashed = [pattern is not None for _, pattern in lines.get_linestyles()]
    assert dashed == [True, False, True]


def test_column_of_values_is_accepted(ax):
    flat, column = (
        plot_decision_function(ax, function)["sides"].get_array()
        for function in (lambda Z: Z @ [1.0, -2.0], lambda Z: Z @ [[1.0], [-2.0]])
    )
    np.testing.assert_array_equal(flat, column)


def test_rings_are_drawn_around_points(ax):
    rings = plot_rings(ax, [[1.0, 2.0], [3.0, 4.0]], size=[50, 60])
    np.testing.assert_array_equal(rings.get_offsets(), [[1.0, 2.0], [3.0, 4.0]])
    np.testing.assert_array_equal(rings.get_sizes(), [50, 60])


@pytest.mark.parametrize("X", [[], np.empty((0, 2))])
def test_legend_has_an_entry_for_rings_even_without_points(ax, X):
    rings = plot_rings(ax, X, size=40, label="free")
    assert len(rings.get_offsets()) == 0
    np.testing.assert_array_equal(rings.get_sizes(), [40])  # the size of the ring in the legend
    assert [text.get_text() for text in ax.legend().get_texts()] == ["free"]


def test_colour_cycle_starts_with_class_colours():
    with plt.rc_context():
        use_book_style()
        colours = plt.rcParams["axes.prop_cycle"].by_key()["color"]
    assert [f"#{colour.lstrip('#')}" for colour in colours[:2]] == [COLOURS[-1], COLOURS[1]]


# --- more than two classes ------------------------------------------------------------------


def test_each_class_has_its_own_colour_and_marker(ax):
    X = np.random.default_rng(0).standard_normal((14, 2))
    scatters = plot_classes(ax, X, np.arange(14) % 7, labels=list("abcdefg"))
    colours = {tuple(scatter.get_facecolor()[0]) for scatter in scatters.values()}
    markers = {scatter.get_paths()[0].vertices.tobytes() for scatter in scatters.values()}
    assert len(scatters) == len(colours) == len(markers) == 7
    assert [scatter.get_label() for scatter in scatters.values()] == list("abcdefg")
    np.testing.assert_array_equal(scatters[3].get_offsets(), X[3::7])


def test_regions_show_the_predicted_classes(ax):
    ax.set(xlim=(0, 2), ylim=(0, 1))
    image = plot_regions(ax, lambda Z: np.floor(Z[:, 0] + 0.5).astype(int) - 1, resolution=5)
    np.testing.assert_array_equal(image.get_array()[0], [-1, 0, 0, 1, 1])
    assert ax.get_xlim() == (0, 2) and ax.get_ylim() == (0, 1)
    colours = image.to_rgba(np.array([-1, 0, 1]))
    for colour, expected in zip(colours, (COLOURS["grey"], *CLASS_COLOURS), strict=False):
        np.testing.assert_allclose(colour[:3], to_rgb(expected))
    assert (colours[:, 3] < 0.3).all()  # points stand out


def test_regions_do_not_change_limits_of_axes(ax):
    plot_classes(ax, [[0, 0], [3, 1]], [0, 1])
    limits = ax.get_xlim(), ax.get_ylim()
    plot_regions(ax, lambda Z: (Z[:, 0] > 1).astype(int))
    assert (ax.get_xlim(), ax.get_ylim()) == limits


def test_borders_of_regions_are_drawn(ax):
    ax.set(xlim=(0, 4), ylim=(0, 1))
    plot_regions(ax, lambda Z: np.clip(Z[:, 0].astype(int), 0, 3), resolution=41)
    vertices = [path.vertices for lines in ax.collections[:-1] for path in lines.get_paths()]
    x = np.concatenate(vertices)[:, 0]
    for border in (1, 2, 3):
        assert np.abs(x - border).min() < 0.1  # the spacing of the grid


def test_plot_without_points_has_no_artists(ax):
    assert plot_classes(ax, [], []) == {}


# --- shape functions --------------------------------------------------------------------------


def test_curves_agree_with_shape_functions():
    X = np.column_stack([np.arange(6.0), np.ones(6)])  # the second shape function is constant
    step_model = AdaBoostStump(3).fit(X, [1, 1, 0, 0, 1, 1])
    piecewise_linear_model = StumpEnsembleSVC(C=10.0).fit(X, [0, 0, 0, 1, 1, 1])
    for model in (step_model, piecewise_linear_model):
        for points in (None, X):
            _, axes = plt.subplots(1, 2)
            curves = plot_shape_functions(axes, model.shape_functions_, X=points)
            for curve, shape in zip(curves, model.shape_functions_, strict=True):
                x, y = curve.get_data()
                segments = np.diff(x) > 0  # without the jumps
                middle_x, middle_y = (0.5 * (v[:-1] + v[1:])[segments] for v in (x, y))
                np.testing.assert_allclose(middle_y, shape(middle_x), atol=1e-12)
            plt.close("all")


@pytest.mark.parametrize("too_few", [{"names": ["a"]}, {"X": [[0.0], [1.0]]}, {"bands": []}])
def test_fewer_names_columns_or_bands_than_shape_functions_are_refused(too_few):
    model = StumpEnsembleSVC().fit([[0.0, 1.0], [1.0, 0.0]], [0, 1])
    _, axes = plt.subplots(1, 2)
    with pytest.raises(ValueError, match="2 shape functions for"):
        plot_shape_functions(axes, model.shape_functions_, **too_few)
    plt.close("all")


def test_plot_of_a_model_has_labels_and_bands_and_hides_unused_axes():
    X = pd.DataFrame({"age": [1.0, 2.0, 3.0, 4.0], "dose": [2.0, 0.0, 1.0, 5.0]})
    for model, ylabel in (
        (StumpEnsembleLogistic(), "log odds of 1"),
        (StumpEnsembleSVC(), "output for 1"),
    ):
        model.fit(X, [0, 1, 0, 1])
        bands = shape_bands(model, X, np.array([0, 1, 0, 1]), n_refits=5, random_state=0)
        _, axes = plt.subplots(2, 2)
        plot_shape_functions(axes, model, bands=bands)
        assert [ax.get_xlabel() for ax in axes[0]] == ["age", "dose"]
        assert [ax.get_ylabel() for ax in axes[0]] == [ylabel, ""]
        assert [ax.get_visible() for ax in axes.ravel()] == [True, True, False, False]
        (band,) = axes[0, 0].collections
        vertices = band.get_paths()[0].vertices
        for vertex in zip(bands[0].x, bands[0].high, strict=True):
            assert np.abs(vertices - vertex).sum(axis=1).min() < 1e-9
        plt.close("all")


def test_estimators_without_shape_functions_are_refused():
    X, y = [[0.0], [1.0], [2.0]], [0, 1, 2]
    _, ax = plt.subplots()
    for model in (make_pipeline(StumpEnsembleSVC()), StumpEnsembleSVC()):
        with pytest.raises(TypeError, match=r"has no shape functions.*pipeline.*estimators_"):
            plot_shape_functions([ax], model.fit(X, y))
    plot_shape_functions([ax], model.estimators_[0])
    plt.close("all")


# --- mean ranks -------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(20))
def test_methods_share_a_bar_exactly_if_ranks_are_within_the_critical_difference(ax, seed):
    means = np.random.default_rng(seed).uniform(1, 6, 6).round(1)
    groups = plot_ranks(ax, list("abcdef"), means, 1.5 + 1e-9)
    rank = dict(zip("abcdef", means, strict=True))
    for a, b in combinations("abcdef", 2):
        share_bar = any({a, b} <= set(group) for group in groups)
        assert share_bar == (abs(rank[a] - rank[b]) <= 1.5 + 1e-9)
    assert all(not set(a) < set(b) for a in groups for b in groups)
    labels = [label.get_text() for label in ax.get_yticklabels()]
    assert [rank[label] for label in labels] == sorted(means)


def test_different_numbers_of_names_and_ranks_are_refused(ax):
    with pytest.raises(ValueError, match="2 names for 3 mean ranks"):
        plot_ranks(ax, ["a", "b"], [1.0, 2.0, 3.0], 1.0)
