"""Stored figures: reproducible SVG, positions of panels, rasterised markers, sliders."""

import json
import re
from base64 import b64decode
from html import unescape
from io import BytesIO
from urllib.parse import unquote
from xml.etree import ElementTree

import matplotlib.pyplot as plt
import numpy as np
import pytest
from PIL import Image

from svmbook.plotting import SliderFigure, figure_svg, use_book_style
from svmbook.plotting.svg import MAX_VECTOR_MARKERS

NAMESPACE = "{http://www.w3.org/2000/svg}"


@pytest.fixture(autouse=True)
def book_style():
    with plt.rc_context():
        use_book_style()
        yield
    plt.close("all")


def panel_bounds(svg):
    bounds = ElementTree.fromstring(svg).get("data-panels")
    return bounds and [tuple(map(float, panel.split())) for panel in bounds.split(",")]


def test_svg_is_reproducible():
    def draw():
        figure, ax = plt.subplots()
        ax.plot([0, 1], [0, 1])
        ax.scatter([0, 1], [0, 1])
        ax.imshow([[0, 1], [1, 0]])
        return figure_svg(figure)

    assert draw() == draw()


def test_panels_are_in_rows_from_the_top_and_do_not_overlap():
    figure, axes = plt.subplots(2, 3, figsize=(9, 5))
    for number, ax in enumerate(axes.flat):
        ax.set(title=str(number), xlabel="x", ylabel="y")
    left, top, width, height = np.array(panel_bounds(figure_svg(figure))).T
    assert (np.diff(left.reshape(2, 3), axis=1) > 0.2).all()
    assert (np.diff(top.reshape(2, 3), axis=0) > 0.3).all()
    assert (left > -0.02).all() and (left + width < 1.02).all()
    assert (top > -0.02).all() and (top + height < 1.02).all()
    # No panel contains a part of its neighbour.
    assert (left[:-1] + width[:-1] < left[1:] + 0.02)[[0, 1, 3, 4]].all()


def test_svg_of_a_single_panel_has_no_panel_attribute():
    figure, _ = plt.subplots()
    assert panel_bounds(figure_svg(figure)) is None


def test_colour_bar_belongs_to_its_panel():
    figure, (first, second) = plt.subplots(1, 2, figsize=(8, 3))
    first.plot([0, 1])
    figure.colorbar(second.imshow([[0.0, 1.0]]), ax=second)
    _, (left, _, width, _) = panel_bounds(figure_svg(figure))
    assert left + width > 0.95


def test_panels_exclude_twin_and_hidden_axes_and_include_a_separate_colour_bar():
    figure, (first, second) = plt.subplots(1, 2, figsize=(8, 3))
    first.twinx().plot([0, 1])
    figure.colorbar(plt.cm.ScalarMappable(), ax=second)
    assert len(panel_bounds(figure_svg(figure))) == 3  # a colour bar without an image is a panel
    second.set_visible(False)
    assert len(panel_bounds(figure_svg(figure))) == 2


def test_markers_of_all_scatters_count_for_rasterisation():
    figure, ax = plt.subplots()
    positions = np.arange(2 * MAX_VECTOR_MARKERS // 3 * 2).reshape(2, -1)
    scatters = [ax.scatter(*positions) for _ in range(2)]
    scatters[0].set_rasterized(True)
    assert "<image " in figure_svg(figure)
    assert [scatter.get_rasterized() for scatter in scatters] == [True, False]


@pytest.mark.parametrize(("n", "n_images"), [(MAX_VECTOR_MARKERS, 0), (MAX_VECTOR_MARKERS + 1, 1)])
def test_markers_are_rasterised_only_above_the_maximum(n, n_images):
    figure, ax = plt.subplots()
    scatter = ax.scatter(np.arange(n), np.arange(n))
    svg = ElementTree.fromstring(figure_svg(figure))
    assert len(list(svg.iter(f"{NAMESPACE}image"))) == n_images
    assert not scatter.get_rasterized()  # the figure is not changed


def stored_image(svg):
    (image,) = ElementTree.fromstring(svg).iter(f"{NAMESPACE}image")
    url = image.get("{http://www.w3.org/1999/xlink}href")
    return Image.open(BytesIO(b64decode(url.partition(",")[2])))


@pytest.mark.parametrize(("alpha", "tolerance"), [(1.0, 0.0), (0.6, 0.5)])  # in steps of 1/255
def test_palette_does_not_change_the_appearance_of_markers(alpha, tolerance, monkeypatch):
    figure, ax = plt.subplots()
    for colour in ("C0", "C1"):
        ax.scatter(*np.random.default_rng(0).normal(size=(2, 400)), c=colour, alpha=alpha)
    with_palette = stored_image(figure_svg(figure))
    assert with_palette.mode == "P"
    monkeypatch.setattr("svmbook.plotting.svg._reduce_to_palette", lambda match: match[0])
    before, after = (
        np.asarray(image.convert("RGBA"), dtype=float)
        for image in (stored_image(figure_svg(figure)), with_palette)
    )
    assert np.array_equal(before[..., 3] == 0, after[..., 3] == 0)
    before, after = (255 + (rgba[..., :3] - 255) * rgba[..., 3:] / 255 for rgba in (before, after))
    assert np.abs(before - after).mean() <= tolerance


def test_opaque_images_keep_all_colours():
    figure, ax = plt.subplots()
    ax.imshow(np.linspace(0, 1, 40_000).reshape(200, 200))
    assert stored_image(figure_svg(figure)).mode == "RGBA"


TICK_LABELS = re.compile(r"<g id=\"text_\d+\">")


@pytest.mark.parametrize("n_rows", [1, 2])
def test_every_panel_with_shared_axes_has_tick_labels(n_rows):
    figure, axes = plt.subplots(n_rows, 2, sharex=True, sharey=True, squeeze=False)
    separate_figure, separate_axes = plt.subplots(n_rows, 2)
    for ax in (*axes.flat, *separate_axes.flat):
        ax.plot([0, 5], [0, 7])
    n_labels = len(TICK_LABELS.findall(figure_svg(figure)))
    assert n_labels == len(TICK_LABELS.findall(figure_svg(separate_figure))) > 0
    assert [ax.yaxis.get_tick_params()["labelleft"] for ax in axes[0]] == [True, False]
    bottom = [ax.xaxis.get_tick_params()["labelbottom"] for ax in axes[:, 0]]
    assert bottom == [False] * (n_rows - 1) + [True]


def test_hidden_tick_labels_of_unshared_axes_stay_hidden():
    figure, ax = plt.subplots()
    ax.plot([0, 5], [0, 7])
    ax.tick_params(labelleft=False, labelbottom=False)
    assert not TICK_LABELS.findall(figure_svg(figure))


def test_coordinates_are_rounded_and_glyphs_are_not():
    figure, ax = plt.subplots()
    ax.plot(np.linspace(0, 1, 50), np.linspace(0, 1, 50) ** 2)
    svg = figure_svg(figure)
    path_data = max(re.findall(r' d="([^"]*)"', svg[svg.index("line2d") :]), key=len)
    assert not re.search(r"[1-9]\d*\.\d{3}", path_data)
    assert re.search(r"scale\(0\.\d{3,} ", svg)


def test_figure_with_a_slider_shows_one_picture():
    def draw(height):
        figure, ax = plt.subplots(figsize=(3, 2))
        ax.plot([0, height], gid="a&b<c")
        ax.set_ylim(0, 3)
        return figure

    slider_figure = SliderFigure(
        draw, [1, 2, 3], title=lambda h: f"height <{h}>", alt='A "line".', start=1
    )
    html = slider_figure._repr_html_()
    images = re.findall("<img [^>]*>", html)
    assert [" hidden" in image for image in images] == [True, False, True]
    assert len({re.search('xml,([^"]*)"', image)[1] for image in images}) == 3
    for image in images:
        url = re.search(',([^"]*)"', image)[1]
        ElementTree.fromstring(unquote(unescape(url)))
    assert 'alt="height &lt;2&gt;. A &quot;line&quot;."' in images[1]
    assert 'max="2" value="1"' in html and "<output>height &lt;2&gt;</output>" in html
    sizes = {re.search(r'viewBox="([^"]*)"', svg)[1] for _, svg in slider_figure.pictures}
    assert len(sizes) == 1
    assert not plt.get_fignums()


@pytest.mark.parametrize("start", [-1, 2])
def test_invalid_start_is_refused(start):
    with pytest.raises(ValueError, match=f"start is {start}; there are 2 states"):
        SliderFigure(lambda state: plt.figure(), [1, 2], title=str, alt="nothing", start=start)


def test_notebook_shows_figures_as_svg_only():
    nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    source = (
        "import matplotlib.pyplot as plt\nfrom svmbook.plotting import use_book_style\n"
        "use_book_style()\nplt.plot([0, 1])\nplt.show()"
    )
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source)])
    nbclient.execute(notebook, kernel_name="python3")
    (output,) = notebook.cells[0].outputs
    assert set(output.data) == {"image/svg+xml", "text/plain"}
    assert json.dumps(output.data["image/svg+xml"]).count("<svg ") == 1
