"""Figures that move by a slider, in a page as in a notebook, with or without a kernel."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape
from urllib.parse import quote

import matplotlib.pyplot as plt

from .style import figure_svg

__all__ = ["MovingFigure"]

PLAIN = " !$'()*+,-./:;=?@[]_`{|}~"  # what a quoted address may hold as it is

# Shows the picture whose number the slider has, and reads its title to whoever cannot see it.
_MOVE = (
    "const box = this.closest('.moving'), all = box.querySelectorAll('img');"
    "all.forEach((image, k) => image.hidden = k != this.value);"
    "box.querySelector('output').value = all[this.value].title;"
    "this.setAttribute('aria-valuetext', all[this.value].title)"
)


class MovingFigure:
    r"""A handful of pictures, one for each state, and a slider that chooses among them.

    The pictures are drawn once, so that what a notebook stores needs no kernel to move.

    Parameters
    ----------
    draw : callable
        Maps a state to a new `matplotlib.figure.Figure`; all should be of one size.
    states : sequence
        Few: each is a picture that the reader has to load.
    label : callable
        Maps a state to a short title in plain text, such as "C = 0.1".
    alt : str
        What the pictures show and how they change, for a reader who cannot see them.
    start : int, default=0
        Number of the state that is shown first.

    Attributes
    ----------
    pictures : list of (str, str)
        Title and SVG of each state.

    Raises
    ------
    ValueError
        There is no such start.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from svmbook.plotting import MovingFigure
    >>> def draw(slope):
    ...     figure, ax = plt.subplots()
    ...     ax.plot([0, 1], [0, slope])
    ...     return figure
    >>> MovingFigure(draw, [1, 2, 3], label="slope {}".format, alt="A line.")
    MovingFigure of 3 pictures, from "slope 1" to "slope 3"
    """

    def __init__(
        self, draw: Callable, states: Sequence, *, label: Callable, alt: str, start: int = 0
    ) -> None:
        states = list(states)
        if not 0 <= start < len(states):
            raise ValueError(f"start is {start}; there are {len(states)} states, from 0.")
        self.alt, self.start, self.pictures = alt, start, []
        for state in states:
            figure = draw(state)
            self.pictures.append((label(state), figure_svg(figure, crop=False)))
            plt.close(figure)

    def __repr__(self):
        first, last = self.pictures[0][0], self.pictures[-1][0]
        return f'MovingFigure of {len(self.pictures)} pictures, from "{first}" to "{last}"'

    def _repr_html_(self):
        images = []
        for number, (title, svg) in enumerate(self.pictures):
            hidden = "" if number == self.start else " hidden"
            images.append(
                f'<img src="data:image/svg+xml,{quote(svg, safe=PLAIN)}" title="{escape(title)}"'
                f' alt="{escape(title)}. {escape(self.alt)}"{hidden}>'
            )
        shown = escape(self.pictures[self.start][0])
        return (
            f'<div class="moving">{"".join(images)}'
            f'<label><input type="range" min="0" max="{len(images) - 1}" value="{self.start}"'
            f' aria-label="state of the figure" aria-valuetext="{shown}" oninput="{escape(_MOVE)}">'
            f" <output>{shown}</output></label></div>"
        )
