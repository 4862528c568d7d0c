"""Figures as SVG, the format in which notebooks store them.

SVG is sharp on every screen, small, and reproducible. Its root element stores the position of each
panel, so that a narrow page can show the panels one below the other.
"""

from __future__ import annotations

import re
from base64 import b64decode, b64encode
from contextlib import contextmanager
from io import BytesIO, StringIO

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.collections import PathCollection
from matplotlib.figure import Figure
from matplotlib.transforms import Bbox
from PIL import Image

__all__ = ["figure_svg"]

MAX_VECTOR_MARKERS = 120  # with more markers than this a figure stores them as pixels
MAX_DPI = 192  # twice the resolution of a standard screen
MAX_WIDTH_PIXELS = 1440
SLIDER_DPI = 120  # lower for figures with a slider, because a page loads the pictures of all states
PNG_DATA = re.compile(r"(?<=data:image/png;base64,)[\w+/=\s]+")
# Numbers of at least 1 with more than two decimals, such as coordinates; the group keeps two.
SURPLUS_DECIMALS = re.compile(r"(?<![\w.])(-?[1-9]\d*\.\d\d)\d+")


def figure_svg(figure: Figure, *, crop: bool = True) -> str:
    """Return a figure as the text of an SVG file.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
        The figure, which is not changed.
    crop : bool, default=True
        Whether to crop empty margins. False is for figures with a slider: it keeps the size of the
        figure, stores pixels at a lower resolution, and adds no ``data-panels``.

    Returns
    -------
    str
        The SVG. A cropped figure with several panels has the attribute ``data-panels``: left, top,
        width and height of each panel as fractions of the figure, in the order of ``figure.axes``.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from svmbook.plotting import figure_svg
    >>> figure, axes = plt.subplots(1, 2)
    >>> figure_svg(figure).count("data-panels")
    1
    >>> plt.close(figure)
    """
    svg_file = StringIO()
    with _rasterise_markers(figure), _show_shared_tick_labels(figure):
        box = "tight" if crop else Bbox.from_bounds(0, 0, *figure.get_size_inches())
        dpi = min(MAX_DPI if crop else SLIDER_DPI, MAX_WIDTH_PIXELS / figure.get_figwidth())
        figure.savefig(svg_file, format="svg", dpi=dpi, bbox_inches=box, metadata={"Date": None})
        panels = _panel_bounds(figure) if crop and len(figure.axes) > 1 else []
    svg = PNG_DATA.sub(_reduce_to_palette, SURPLUS_DECIMALS.sub(r"\1", svg_file.getvalue()))
    if len(panels) > 1:
        bounds = ", ".join(" ".join(f"{number:.4f}" for number in panel) for panel in panels)
        svg = svg.replace("<svg ", f'<svg data-panels="{bounds}" ', 1)
    return svg[svg.index("<svg ") :]


@contextmanager
def _rasterise_markers(figure):
    """Store markers as pixels if there are many: as paths they would take megabytes."""
    collections = figure.findobj(lambda artist: type(artist) is PathCollection)  # no 3D
    scatters = [scatter for scatter in collections if len(scatter.get_offsets()) > 1]
    previous = [scatter.get_rasterized() for scatter in scatters]
    if sum(len(scatter.get_offsets()) for scatter in scatters) > MAX_VECTOR_MARKERS:
        for scatter in scatters:
            scatter.set_rasterized(True)
    try:
        yield
    finally:
        for scatter, rasterized in zip(scatters, previous, strict=True):
            scatter.set_rasterized(rasterized)


def _reduce_to_palette(match):
    """Return the base64 data of a PNG image, a match of `PNG_DATA`, with at most 256 colours.

    This saves two thirds of the bytes. Images without fully transparent pixels do not change.
    """
    image, png_file = Image.open(BytesIO(b64decode(match[0]))).convert("RGBA"), BytesIO()
    pixels = np.asarray(image)
    if pixels[..., 3].min() > 0:
        return match[0]
    # Each colour as one integer, because integers are sorted faster than rows of four bytes.
    colours, palette_indices = np.unique(pixels.view(">u4")[..., 0], return_inverse=True)
    if len(colours) > 256:
        palette_image = image.quantize(method=Image.Quantize.FASTOCTREE)
    else:  # exact, unlike the quantiser
        palette_image = Image.fromarray(palette_indices.astype(np.uint8))
        palette_image.putpalette(colours.tobytes(), "RGBA")
    palette_image.save(png_file, "png", optimize=True)
    return b64encode(png_file.getvalue()).decode()


@contextmanager
def _show_shared_tick_labels(figure):
    """Show the tick labels of shared axes on each panel, because phones show panels one by one."""
    hidden_tick_labels = [
        (axis, {option: False})
        for ax in figure.axes
        for axis, option, shared in (
            (ax.xaxis, "labelbottom", ax.get_shared_x_axes()),
            (ax.yaxis, "labelleft", ax.get_shared_y_axes()),
        )
        if len(shared.get_siblings(ax)) > 1 and not axis.get_tick_params().get(option, True)
    ]
    for axis, (option,) in hidden_tick_labels:
        axis.set_tick_params(**{option: True})
    try:
        yield
    finally:
        for axis, previous in hidden_tick_labels:
            axis.set_tick_params(**previous)


def _panel_bounds(figure):
    """Return (left, top, width, height) of each panel; a colour bar belongs to its panel."""
    boxes_by_position = {}
    for ax in figure.axes:
        colorbar = getattr(ax, "_colorbar", None)  # there is no public attribute for it
        parent_ax = getattr(colorbar.mappable, "axes", None) if colorbar is not None else None
        box = ax.get_tightbbox()
        if box is not None:  # None for hidden axes
            position = (parent_ax or ax).get_position().bounds  # equal for twin axes
            boxes_by_position.setdefault(position, []).append(box)
    figure_box = figure.get_tightbbox().padded(plt.rcParams["savefig.pad_inches"])
    panels = []
    for boxes in boxes_by_position.values():
        box = Bbox.union(boxes)
        box = Bbox.from_extents(*(box.extents / figure.dpi)).padded(0.04)
        left = (box.x0 - figure_box.x0) / figure_box.width
        top = (figure_box.y1 - box.y1) / figure_box.height
        panels.append((left, top, box.width / figure_box.width, box.height / figure_box.height))
    return panels
