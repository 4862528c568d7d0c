"""Pictures: drawn on the axes given, returned as artists, limits left alone, nothing dropped."""

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
    plot_machine,
    plot_points,
    plot_ranks,
    plot_regions,
    plot_shapes,
    ring_support,
    use_book_style,
)

X3, Y3 = np.array([[0.0, 0], [1, 1], [2, 0]]), np.array([-1, 1, 1])


@pytest.fixture
def ax():
    figure, axes = plt.subplots()
    yield axes
    plt.close(figure)


def test_points_keep_their_class_and_size(ax):
    drawn = plot_points(ax, X3, Y3, size=np.array([10.0, 20.0, 30.0]))
    np.testing.assert_array_equal(drawn[-1].get_offsets(), X3[:1])
    np.testing.assert_array_equal(drawn[1].get_offsets(), X3[1:])
    np.testing.assert_array_equal(drawn[1].get_sizes(), [20.0, 30.0])


def test_lists_are_drawn_like_arrays(ax):
    drawn = plot_points(ax, X3.tolist(), Y3.tolist(), size=[10, 20, 30], labels=["left", "right"])
    np.testing.assert_array_equal(drawn[-1].get_offsets(), X3[:1])
    np.testing.assert_array_equal(drawn[1].get_offsets(), X3[1:])
    np.testing.assert_array_equal(drawn[1].get_sizes(), [20.0, 30.0])
    assert [drawn[sign].get_label() for sign in (-1, 1)] == ["left", "right"]


def test_other_keywords_reach_the_scatter_under_any_of_their_names(ax):
    drawn = plot_points(ax, X3, Y3, lw=3.0, ec="black", alpha=0.25)
    for collection in drawn.values():
        np.testing.assert_array_equal(collection.get_linewidths(), [3.0])
        np.testing.assert_array_equal(collection.get_edgecolors(), [[0, 0, 0, 0.25]])


@pytest.mark.parametrize(
    ("y", "label"),
    [([0, 1, 1], "0"), (["-1", "1", "1"], "'-1'"), ([-1, 1, 2], "2"), ([-1, 1, np.nan], "nan")],
)
def test_other_labels_are_sent_to_be_encoded(ax, y, label):
    with pytest.raises(ValueError, match=rf"y holds the label {label};.*labels\.encode_labels"):
        plot_points(ax, X3, y)
    assert not ax.collections


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"X": X3[:, :1]}, r"X has shape \(3, 1\).*two columns"),
        ({"X": X3[0]}, r"X has shape \(2,\)"),
        ({"X": np.where(X3 == 2, np.nan, X3)}, "X holds nan"),
        ({"y": [-1, 1]}, r"y has shape \(2,\), but X holds 3 points"),
        ({"y": Y3[:, None]}, r"y has shape \(3, 1\)"),
    ],
)
def test_points_that_cannot_be_drawn(ax, change, message):
    with pytest.raises(ValueError, match=message):
        plot_points(ax, **({"X": X3, "y": Y3} | change))
    assert not ax.collections


def test_the_boundary_lies_where_the_function_is_zero(ax):
    ax.set(xlim=(-3, 3), ylim=(-2, 2))
    drawn = plot_machine(ax, lambda Z: Z[:, 0] - 0.5 * Z[:, 1])
    zero = drawn["lines"].get_paths()[1].vertices
    np.testing.assert_allclose(zero[:, 0], 0.5 * zero[:, 1], atol=1e-9)
    assert ax.get_xlim() == (-3, 3) and ax.get_ylim() == (-2, 2)
    assert drawn["sides"] is not None
    assert plot_machine(ax, lambda Z: Z[:, 0], shade=False)["sides"] is None


def test_the_two_sides_have_the_colours_of_their_classes(ax):
    ax.set(xlim=(0, 2), ylim=(0, 2), aspect="equal")
    sides = plot_machine(ax, lambda Z: 9 * (Z[:, 0] - 1), resolution=5)["sides"]
    left, right = sides.to_rgba(np.array([-2.0, 2.0]))
    np.testing.assert_allclose(left[:3], to_rgb(COLOURS[-1]), atol=0.01)
    np.testing.assert_allclose(right[:3], to_rgb(COLOURS[1]), atol=0.01)
    assert 0.3 < left[3] < 0.4 and left[3] == pytest.approx(right[3], abs=0.01)
    assert sides.get_extent() == [-0.25, 2.25, -0.25, 2.25]  # grid points are centres of pixels
    assert ax.get_aspect() == 1.0


def test_levels_come_in_any_order_and_only_zero_is_solid(ax):
    lines = plot_machine(ax, lambda Z: 4 * Z[:, 0] - 2, levels=[1, -1, 0, 1])["lines"]
    np.testing.assert_array_equal(lines.levels, [-1, 0, 1])
    dashed = [pattern is not None for _, pattern in lines.get_linestyles()]
    assert dashed == [True, False, True]


def test_a_column_of_values_is_one_value_a_point(ax):
    flat, column = (
        plot_machine(ax, function)["sides"].get_array()
        for function in (lambda Z: Z @ [1.0, -2.0], lambda Z: Z @ [[1.0], [-2.0]])
    )
    np.testing.assert_array_equal(flat, column)


def test_a_machine_without_one_finite_value_a_point_is_not_drawn(ax):
    with pytest.raises(ValueError, match="result of decision_function holds nan"):
        plot_machine(ax, lambda Z: np.where(Z[:, 0] > 0.5, np.nan, 1.0))
    for function in (lambda Z: Z, lambda Z: 1.0):
        with pytest.raises(ValueError, match="reshape"):
            plot_machine(ax, function)
    assert not ax.collections


@pytest.mark.parametrize(
    ("levels", "message"),
    [((), "levels is empty"), ((0, np.nan), "levels holds nan"), ((np.nan, np.inf), "holds nan")],
)
def test_levels_that_cannot_be_drawn(ax, levels, message):
    with pytest.raises(ValueError, match=message):
        plot_machine(ax, lambda Z: Z[:, 0], levels=levels)
    assert not ax.collections


def test_rings_lie_around_the_points(ax):
    rings = ring_support(ax, [[1.0, 2.0], [3.0, 4.0]], size=[50, 60])
    np.testing.assert_array_equal(rings.get_offsets(), [[1.0, 2.0], [3.0, 4.0]])
    np.testing.assert_array_equal(rings.get_sizes(), [50, 60])


@pytest.mark.parametrize("none", [[], np.empty((0, 2))])
def test_no_support_vectors_still_stand_in_the_legend(ax, none):
    rings = ring_support(ax, none, size=40, label="free")
    assert len(rings.get_offsets()) == 0
    np.testing.assert_array_equal(rings.get_sizes(), [40])  # the legend draws its ring as large
    assert [text.get_text() for text in ax.legend().get_texts()] == ["free"]


@pytest.mark.parametrize(
    ("X", "message"),
    [
        ([1.0, 2.0], r"X has shape \(2,\)"),
        (np.empty((0, 3)), r"X has shape \(0, 3\)"),
        ([[np.inf, 0.0]], "X holds inf"),
    ],
)
def test_rings_that_cannot_be_drawn(ax, X, message):
    with pytest.raises(ValueError, match=message):
        ring_support(ax, X)
    assert not ax.collections


def test_the_style_has_the_classes_first():
    with plt.rc_context():
        use_book_style()
        colours = plt.rcParams["axes.prop_cycle"].by_key()["color"]
    assert [f"#{colour.lstrip('#')}" for colour in colours[:2]] == [COLOURS[-1], COLOURS[1]]


# --- several classes ------------------------------------------------------------------------


def test_each_class_has_a_colour_and_a_marker_of_its_own(ax):
    X = np.random.default_rng(0).standard_normal((14, 2))
    drawn = plot_classes(ax, X, np.arange(14) % 7, labels=list("abcdefg"))
    colours = {tuple(points.get_facecolor()[0]) for points in drawn.values()}
    markers = {points.get_paths()[0].vertices.tobytes() for points in drawn.values()}
    assert len(drawn) == len(colours) == len(markers) == 7
    assert [points.get_label() for points in drawn.values()] == list("abcdefg")
    np.testing.assert_array_equal(drawn[3].get_offsets(), X[3::7])


def test_regions_are_those_of_the_machine(ax):
    ax.set(xlim=(0, 2), ylim=(0, 1))
    image = plot_regions(ax, lambda Z: np.floor(Z[:, 0] + 0.5).astype(int) - 1, resolution=5)
    np.testing.assert_array_equal(image.get_array()[0], [-1, 0, 0, 1, 1])
    assert ax.get_xlim() == (0, 2) and ax.get_ylim() == (0, 1)
    colours = image.to_rgba(np.array([-1, 0, 1]))
    for colour, name in zip(colours, (COLOURS["quiet"], *CLASS_COLOURS), strict=False):
        np.testing.assert_allclose(colour[:3], to_rgb(name))
    assert (colours[:, 3] < 0.3).all()  # pale on any page, so that points stand out


def test_regions_leave_the_limits_that_the_points_have_set(ax):
    plot_classes(ax, [[0, 0], [3, 1]], [0, 1])
    before = ax.get_xlim(), ax.get_ylim()
    plot_regions(ax, lambda Z: (Z[:, 0] > 1).astype(int))
    assert (ax.get_xlim(), ax.get_ylim()) == before


def test_borders_of_regions_are_drawn(ax):
    ax.set(xlim=(0, 4), ylim=(0, 1))
    plot_regions(ax, lambda Z: np.clip(Z[:, 0].astype(int), 0, 3), resolution=41)
    lines = [path.vertices for drawn in ax.collections[:-1] for path in drawn.get_paths()]
    places = np.concatenate([line[:, 0] for line in lines])
    for border in (1, 2, 3):
        assert np.abs(places - border).min() < 0.1  # a cell of the grid


def test_a_class_without_a_label_is_named_before_anything_is_drawn(ax):
    with pytest.raises(ValueError, match="labels is"):
        plot_classes(ax, [[0, 0], [1, 1], [2, 2]], [0, 1, 2], labels=["a"])
    assert not ax.collections
    assert plot_classes(ax, [], []) == {}


@pytest.mark.parametrize("codes", [[0, 7], [-1, 0], [0.5, 1.0], [0], ["a", "b"]])
def test_numbers_that_are_no_classes_are_named(ax, codes):
    with pytest.raises(ValueError, match="classes"):
        plot_classes(ax, [[0, 0], [1, 1]], codes)


def test_shape_functions_are_drawn_as_they_are():
    X = np.column_stack([np.arange(6.0), np.ones(6)])
    steps = AdaBoostStump(3).fit(X, [1, 1, 0, 0, 1, 1])
    lines = StumpEnsembleSVC(C=10.0).fit(X, [0, 0, 0, 1, 1, 1])
    for machine in (steps, lines):
        for points in (None, X):  # the second feature has no say: a level line
            _, axes = plt.subplots(1, 2)
            curves = plot_shapes(axes, machine.shape_functions_, X=points)
            for curve, shape in zip(curves, machine.shape_functions_, strict=True):
                x, heights = curve.get_data()
                middles = 0.5 * (x[:-1] + x[1:])
                flat = np.diff(x) > 0  # the others are the jumps
                drawn = 0.5 * (heights[:-1] + heights[1:])
                np.testing.assert_allclose(drawn[flat], shape(middles[flat]), atol=1e-12)
            for given in ({"names": ["a"]}, {"X": X[:, :1]}, {"bands": []}):
                with pytest.raises(ValueError, match="2 shape functions for"):
                    plot_shapes(axes, machine.shape_functions_, **given)
            plt.close("all")


def test_a_machine_names_its_features_and_unit_and_left_over_axes_are_hidden():
    X = pd.DataFrame({"age": [1.0, 2.0, 3.0, 4.0], "dose": [2.0, 0.0, 1.0, 5.0]})
    for machine, unit in (
        (StumpEnsembleLogistic(), "log odds of 1"),
        (StumpEnsembleSVC(), "output for 1"),
    ):
        machine.fit(X, [0, 1, 0, 1])
        bands = shape_bands(machine, X, np.array([0, 1, 0, 1]), n_refits=5, random_state=0)
        _, axes = plt.subplots(2, 2)
        plot_shapes(axes, machine, bands=bands)
        assert [ax.get_xlabel() for ax in axes[0]] == ["age", "dose"]
        assert [ax.get_ylabel() for ax in axes[0]] == [unit, ""]
        assert [ax.get_visible() for ax in axes.ravel()] == [True, True, False, False]
        (band,) = axes[0, 0].collections
        corners = band.get_paths()[0].vertices
        for x, height in zip(bands[0].x, bands[0].high, strict=True):
            assert np.abs(corners - [x, height]).sum(axis=1).min() < 1e-9
        plt.close("all")


def test_an_estimator_without_shape_functions_is_refused_with_the_way_to_them():
    X, y = [[0.0], [1.0], [2.0]], [0, 1, 2]
    _, ax = plt.subplots()
    for model in (make_pipeline(StumpEnsembleSVC()), StumpEnsembleSVC()):
        with pytest.raises(TypeError, match=r"has no shape functions.*pipeline.*estimators_"):
            plot_shapes([ax], model.fit(X, y))
    plot_shapes([ax], model.estimators_[0])
    plt.close("all")


@pytest.mark.parametrize("seed", range(20))
def test_methods_share_a_band_exactly_where_they_do_not_differ(ax, seed):
    means = np.random.default_rng(seed).uniform(1, 6, 6).round(1)
    groups = plot_ranks(ax, list("abcdef"), means, 1.5 + 1e-9)
    of = dict(zip("abcdef", means, strict=True))
    for one in "abcdef":
        for other in set("abcdef") - {one}:
            together = any({one, other} <= set(group) for group in groups)
            assert together == (abs(of[one] - of[other]) <= 1.5 + 1e-9)
    assert all(not set(a) < set(b) for a in groups for b in groups)
    labels = [label.get_text() for label in ax.get_yticklabels()]
    assert [of[label] for label in labels] == sorted(means)


def test_a_rank_without_a_name_is_named(ax):
    with pytest.raises(ValueError, match="2 names for 3 mean ranks"):
        plot_ranks(ax, ["a", "b"], [1.0, 2.0, 3.0], 1.0)
