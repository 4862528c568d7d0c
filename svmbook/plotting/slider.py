"""Figures with a slider, for web pages and for notebooks, with or without a running kernel."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape
from urllib.parse import quote

import matplotlib.pyplot as plt

from .svg import figure_svg

__all__ = ["SliderFigure"]

# Characters that need no percent-encoding in a data URL.
SAFE_CHARACTERS = " !$'()*+,-./:;=?@[]_`{|}~"

# JavaScript that shows the picture at the slider's position, and tells screen readers its title.
_INPUT_HANDLER = (
    "const box = this.closest('.slider-figure'), all = box.querySelectorAll('img');"
    "all.forEach((image, k) => image.hidden = k != this.value);"
    "box.querySelector('output').value = all[this.value].title;"
    "this.setAttribute('aria-valuetext', all[this.value].title)"
)


class SliderFigure:
    r"""A few pictures, one per state, and a slider that selects one of them.

    All pictures are drawn in advance, so the slider works without a kernel.

    Parameters
    ----------
    draw : callable
        Maps a state to a new `matplotlib.figure.Figure`; all figures should have the same size.
    states : sequence
        The states. Use only a few states, because the pictures of all states are embedded in the
        page.
    title : callable
        Maps a state to its title, short plain text such as "C = 0.1".
    alt : str
        Alternative text: what the pictures show and how they change.
    start : int, default=0
        Index of the state that is shown first.

    Attributes
    ----------
    pictures : list of (str, str)
        Title and SVG of each state.

    Raises
    ------
    ValueError
        ``start`` is not the index of a state.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from svmbook.plotting import SliderFigure
    >>> def draw(slope):
    ...     figure, ax = plt.subplots()
    ...     ax.plot([0, 1], [0, slope])
    ...     return figure
    >>> SliderFigure(draw, [1, 2, 3], title="slope {}".format, alt="A line.")
    SliderFigure of 3 pictures, from "slope 1" to "slope 3"
    """

    def __init__(
        self, draw: Callable, states: Sequence, *, title: Callable, alt: str, start: int = 0
    ) -> None:
        states = list(states)
        if not 0 <= start < len(states):
            raise ValueError(f"start is {start}; there are {len(states)} states, numbered from 0.")
        self.alt, self.start, self.pictures = alt, start, []
        for state in states:
            figure = draw(state)
            self.pictures.append((title(state), figure_svg(figure, crop=False)))
            plt.close(figure)

    def __repr__(self):
        first, last = self.pictures[0][0], self.pictures[-1][0]
        return f'SliderFigure of {len(self.pictures)} pictures, from "{first}" to "{last}"'

    def _repr_html_(self):
        images = []
        for index, (title, svg) in enumerate(self.pictures):
            hidden = "" if index == self.start else " hidden"
            url = f"data:image/svg+xml,{quote(svg, safe=SAFE_CHARACTERS)}"
            images.append(
                f'<img src="{url}" title="{escape(title)}"'
                f' alt="{escape(title)}. {escape(self.alt)}"{hidden}>'
            )
        start_title = escape(self.pictures[self.start][0])
        return (
            f'<div class="slider-figure">{"".join(images)}'
            f'<label><input type="range" min="0" max="{len(images) - 1}" value="{self.start}"'
            f' aria-label="state of the figure" aria-valuetext="{start_title}"'
            f' oninput="{escape(_INPUT_HANDLER)}"> <output>{start_title}</output></label></div>'
        )
