"""Figures as a notebook keeps them: the same each time, panels named, crowds as pixels."""

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

from svmbook.plotting import MovingFigure, figure_svg, use_book_style
from svmbook.plotting.style import RASTER_MARKERS

NAMESPACE = "{http://www.w3.org/2000/svg}"


@pytest.fixture(autouse=True)
def book_style():
    with plt.rc_context():
        use_book_style()
        yield
    plt.close("all")


def panels(svg):
    places = ElementTree.fromstring(svg).get("data-panels")
    return places and [tuple(map(float, place.split())) for place in places.split(",")]


def test_a_figure_is_stored_alike_twice():
    def draw():
        figure, ax = plt.subplots()
        ax.plot([0, 1], [0, 1])
        ax.scatter([0, 1], [0, 1])
        ax.imshow([[0, 1], [1, 0]])
        return figure_svg(figure)

    assert draw() == draw()


def test_panels_cover_what_is_drawn_in_rows_from_the_top():
    figure, axes = plt.subplots(2, 3, figsize=(9, 5))
    for number, ax in enumerate(axes.flat):
        ax.set(title=str(number), xlabel="x", ylabel="y")
    places = np.array(panels(figure_svg(figure)))
    left, top, width, height = places.T
    assert (np.diff(left.reshape(2, 3), axis=1) > 0.2).all()
    assert (np.diff(top.reshape(2, 3), axis=0) > 0.3).all()
    assert (left > -0.02).all() and (left + width < 1.02).all()
    assert (top > -0.02).all() and (top + height < 1.02).all()
    # No panel shows a piece of its neighbour.
    assert (left[:-1] + width[:-1] < left[1:] + 0.02)[[0, 1, 3, 4]].all()


def test_a_single_panel_is_not_named():
    figure, _ = plt.subplots()
    assert panels(figure_svg(figure)) is None


def test_a_colour_bar_belongs_to_its_panel():
    figure, (first, second) = plt.subplots(1, 2, figsize=(8, 3))
    first.plot([0, 1])
    figure.colorbar(second.imshow([[0.0, 1.0]]), ax=second)
    places = panels(figure_svg(figure))
    assert len(places) == 2
    assert places[1][0] + places[1][2] > 0.95


def test_hidden_twin_and_foreign_axes_do_no_harm():
    figure, (first, second) = plt.subplots(1, 2, figsize=(8, 3))
    first.twinx().plot([0, 1])
    figure.colorbar(plt.cm.ScalarMappable(), ax=second)
    assert len(panels(figure_svg(figure))) == 3  # a bar without a drawing stands for itself
    second.set_visible(False)
    assert len(panels(figure_svg(figure))) == 2


def test_a_crowd_of_several_scatters_is_one():
    figure, ax = plt.subplots()
    marks = [ax.scatter(*np.arange(2 * RASTER_MARKERS // 3 * 2).reshape(2, -1)) for _ in range(2)]
    marks[0].set_rasterized(True)
    assert "<image " in figure_svg(figure)
    assert [one.get_rasterized() for one in marks] == [True, False]


@pytest.mark.parametrize(("n", "pixels"), [(RASTER_MARKERS, 0), (RASTER_MARKERS + 1, 1)])
def test_crowds_are_pixels(n, pixels):
    figure, ax = plt.subplots()
    marks = ax.scatter(np.arange(n), np.arange(n))
    svg = ElementTree.fromstring(figure_svg(figure))
    assert len(list(svg.iter(f"{NAMESPACE}image"))) == pixels
    assert not marks.get_rasterized()  # the figure is left as it was


def pixels(svg):
    (image,) = ElementTree.fromstring(svg).iter(f"{NAMESPACE}image")
    address = image.get("{http://www.w3.org/1999/xlink}href")
    return Image.open(BytesIO(b64decode(address.partition(",")[2])))


@pytest.mark.parametrize(("alpha", "off"), [(1.0, 0.0), (0.6, 0.5)])  # of 255 steps of a colour
def test_marks_in_few_colours_look_as_they_were(alpha, off, monkeypatch):
    figure, ax = plt.subplots()
    for colour in ("C0", "C1"):
        ax.scatter(*np.random.default_rng(0).normal(size=(2, 400)), c=colour, alpha=alpha)
    few = pixels(figure_svg(figure))
    assert few.mode == "P"
    monkeypatch.setattr("svmbook.plotting.style._with_a_palette", lambda match: match[0])
    before, after = (
        np.asarray(picture.convert("RGBA"), dtype=float)
        for picture in (pixels(figure_svg(figure)), few)
    )
    assert np.array_equal(before[..., 3] == 0, after[..., 3] == 0)
    before, after = (255 + (one[..., :3] - 255) * one[..., 3:] / 255 for one in (before, after))
    assert np.abs(before - after).mean() <= off


def test_shades_keep_all_their_colours():
    figure, ax = plt.subplots()
    ax.imshow(np.linspace(0, 1, 40_000).reshape(200, 200))
    assert pixels(figure_svg(figure)).mode == "RGBA"


NUMBERS = re.compile(r"<g id=\"text_\d+\">")


@pytest.mark.parametrize("rows", [1, 2])
def test_panels_that_share_an_axis_carry_its_numbers_each(rows):
    figure, axes = plt.subplots(rows, 2, sharex=True, sharey=True, squeeze=False)
    for ax in axes.flat:
        ax.plot([0, 5], [0, 7])
    drawn = figure_svg(figure)
    apart, others = plt.subplots(rows, 2)
    for ax in others.flat:
        ax.plot([0, 5], [0, 7])
    assert len(NUMBERS.findall(drawn)) == len(NUMBERS.findall(figure_svg(apart))) > 0
    assert [ax.yaxis.get_tick_params()["labelleft"] for ax in axes[0]] == [True, False]
    below = [ax.xaxis.get_tick_params()["labelbottom"] for ax in axes[:, 0]]
    assert below == [False] * (rows - 1) + [True]


def test_numbers_that_an_axis_of_its_own_hides_stay_hidden():
    figure, ax = plt.subplots()
    ax.plot([0, 5], [0, 7])
    ax.tick_params(labelleft=False, labelbottom=False)
    assert not NUMBERS.findall(figure_svg(figure))


def test_numbers_are_cut_and_glyphs_are_not():
    figure, ax = plt.subplots()
    ax.plot(np.linspace(0, 1, 50), np.linspace(0, 1, 50) ** 2)
    svg = figure_svg(figure)
    line = max(re.findall(r' d="([^"]*)"', svg[svg.index("line2d") :]), key=len)
    assert not re.search(r"[1-9]\d*\.\d{3}", line)
    assert re.search(r"scale\(0\.\d{3,} ", svg)


def test_a_moving_figure_shows_one_of_its_pictures():
    def draw(height):
        figure, ax = plt.subplots(figsize=(3, 2))
        ax.plot([0, height], gid="a&b<c")
        ax.set_ylim(0, 3)
        return figure

    moving = MovingFigure(
        draw, [1, 2, 3], label=lambda h: f"height <{h}>", alt='A "line".', start=1
    )
    html = moving._repr_html_()
    images = re.findall("<img [^>]*>", html)
    assert [" hidden" in image for image in images] == [True, False, True]
    assert len({re.search('xml,([^"]*)"', image)[1] for image in images}) == 3
    for image in images:
        address = re.search(',([^"]*)"', image)[1]
        ElementTree.fromstring(unquote(unescape(address)))
    assert 'alt="height &lt;2&gt;. A &quot;line&quot;."' in images[1]
    assert 'max="2" value="1"' in html and "<output>height &lt;2&gt;</output>" in html
    sizes = {re.search(r'viewBox="([^"]*)"', svg)[1] for _, svg in moving.pictures}
    assert len(sizes) == 1  # nothing jumps
    assert not plt.get_fignums()


@pytest.mark.parametrize("start", [-1, 2])
def test_a_start_that_there_is_not(start):
    with pytest.raises(ValueError, match=f"start is {start}; there are 2 states"):
        MovingFigure(lambda state: plt.figure(), [1, 2], label=str, alt="nothing", start=start)


def test_a_notebook_shows_figures_as_svg_only(tmp_path):
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
