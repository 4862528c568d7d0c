"""The look of the book's figures, and the form in which a notebook keeps them.

In a notebook figures are stored as SVG: sharp on every screen, light, and the same on each run. The
root element names the place of each panel, so that a page can show the panels one below the other
where it is too narrow for them side by side.
"""

from __future__ import annotations

import re
import sys
from base64 import b64decode, b64encode
from contextlib import contextmanager
from importlib.resources import files
from io import BytesIO, StringIO

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.collections import PathCollection
from matplotlib.figure import Figure
from matplotlib.transforms import Bbox
from PIL import Image

__all__ = ["figure_svg", "use_book_style"]

RASTER_MARKERS = 120  # markers in a figure from which they are stored as pixels ...
FINE, COLUMN = 192, 1440  # ... an inch, and across a wide figure: two for each of a plain screen
RASTER_DPI = 120  # ... per inch where nothing is cut off: all states of a moving figure are loaded
PIXELS = re.compile(r"(?<=data:image/png;base64,)[\w+/=\s]+")
DECIMALS = re.compile(r"(?<![\w.])(-?[1-9]\d*\.\d\d)\d+")  # beyond a hundredth of a point


def use_book_style() -> None:
    """Switch matplotlib to the style of the book's figures, for all figures made from now on.

    A notebook shows them as SVG from then on.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from svmbook.plotting import use_book_style
    >>> with plt.rc_context():  # what is drawn afterwards keeps its style
    ...     use_book_style()
    ...     plt.rcParams["image.cmap"]
    'cividis'
    """
    plt.style.use(files("svmbook") / "book.mplstyle")
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    if shell is not None:
        from matplotlib_inline.backend_inline import set_matplotlib_formats

        set_matplotlib_formats()  # none of Matplotlib's own
        shell.display_formatter.formatters["image/svg+xml"].for_type(Figure, figure_svg)


def figure_svg(figure: Figure, *, crop: bool = True) -> str:
    """Return a figure as the text of an SVG file.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
        What to store; it is left as it was.
    crop : bool, default=True
        Whether to cut the margins off, as far as nothing is drawn there.

    Returns
    -------
    str
        With the attribute ``data-panels`` where there are several panels: left, top, width and
        height of each as fractions of the whole, in the order in which they were made.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from svmbook.plotting import figure_svg
    >>> figure, axes = plt.subplots(1, 2)
    >>> figure_svg(figure).count("data-panels")
    1
    >>> plt.close(figure)
    """
    text = StringIO()
    with _rasterise_markers(figure), _own_scales(figure):
        box = "tight" if crop else Bbox.from_bounds(0, 0, *figure.get_size_inches())
        dpi = min(FINE if crop else RASTER_DPI, COLUMN / figure.get_figwidth())
        figure.savefig(text, format="svg", dpi=dpi, bbox_inches=box, metadata={"Date": None})
        panels = _panels(figure) if crop and len(figure.axes) > 1 else []
    svg = PIXELS.sub(_with_a_palette, DECIMALS.sub(r"\1", text.getvalue()))
    if len(panels) > 1:
        places = ", ".join(" ".join(f"{part:.4f}" for part in panel) for panel in panels)
        svg = svg.replace("<svg ", f'<svg data-panels="{places}" ', 1)
    return svg[svg.index("<svg ") :]


@contextmanager
def _rasterise_markers(figure):
    """Store many markers as pixels: as shapes they would weigh megabytes."""
    flat = figure.findobj(lambda artist: type(artist) is PathCollection)  # none in space
    crowd = [marks for marks in flat if len(marks.get_offsets()) > 1]
    before = [marks.get_rasterized() for marks in crowd]
    if sum(len(marks.get_offsets()) for marks in crowd) > RASTER_MARKERS:
        for marks in crowd:
            marks.set_rasterized(True)
    try:
        yield
    finally:
        for marks, was in zip(crowd, before, strict=True):
            marks.set_rasterized(was)


def _with_a_palette(match):
    """Store markers in 256 colours, a third of the bytes; shades, which fill all, keep theirs."""
    picture, stored = Image.open(BytesIO(b64decode(match[0]))).convert("RGBA"), BytesIO()
    pixels = np.asarray(picture)
    if pixels[..., 3].min() > 0:
        return match[0]
    # A colour as one number: numbers are sorted much faster than rows of four.
    colours, which = np.unique(pixels.view(">u4")[..., 0], return_inverse=True)
    if len(colours) > 256:
        few = picture.quantize(method=Image.Quantize.FASTOCTREE)
    else:  # which the quantiser would mix even so
        few = Image.fromarray(which.astype(np.uint8))
        few.putpalette(colours.tobytes(), "RGBA")
    few.save(stored, "png", optimize=True)
    return b64encode(stored.getvalue()).decode()


@contextmanager
def _own_scales(figure):
    """Show the numbers beside each axis that panels share: on a phone each panel stands alone."""
    hidden = [
        (axis, {label: False})
        for ax in figure.axes
        for axis, label, shared in (
            (ax.xaxis, "labelbottom", ax.get_shared_x_axes()),
            (ax.yaxis, "labelleft", ax.get_shared_y_axes()),
        )
        if len(shared.get_siblings(ax)) > 1 and not axis.get_tick_params().get(label, True)
    ]
    for axis, (label,) in hidden:
        axis.set_tick_params(**{label: True})
    try:
        yield
    finally:
        for axis, before in hidden:
            axis.set_tick_params(**before)


def _panels(figure):
    """Return (left, top, width, height) of each panel, a colour bar with what it explains."""
    boxes = {}
    for ax in figure.axes:
        bar = getattr(ax, "_colorbar", None)  # there is no public way from the axes to their bar
        panel = getattr(bar.mappable, "axes", None) if bar is not None else None
        box = ax.get_tightbbox()
        if box is not None:  # of axes that are hidden
            place = (panel or ax).get_position().bounds  # equal for axes that lie on each other
            boxes.setdefault(place, []).append(box)
    whole = figure.get_tightbbox().padded(plt.rcParams["savefig.pad_inches"])
    panels = []
    for parts in boxes.values():
        box = Bbox.union(parts)
        box = Bbox.from_extents(*(box.extents / figure.dpi)).padded(0.04)
        panels.append(
            (
                (box.x0 - whole.x0) / whole.width,
                (whole.y1 - box.y1) / whole.height,
                box.width / whole.width,
                box.height / whole.height,
            )
        )
    return panels
