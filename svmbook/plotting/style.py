"""The style of the book's figures."""

from __future__ import annotations

import sys
from importlib.resources import files

import matplotlib.pyplot as plt
from matplotlib.figure import Figure

from .svg import figure_svg

__all__ = ["use_book_style"]


def use_book_style() -> None:
    """Set Matplotlib's defaults to the style of the book's figures.

    In a notebook, figures are then shown as SVG.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from svmbook.plotting import use_book_style
    >>> with plt.rc_context():  # restores the defaults
    ...     use_book_style()
    ...     plt.rcParams["image.cmap"]
    'cividis'
    """
    plt.style.use(files("svmbook") / "book.mplstyle")
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    if shell is not None:
        from matplotlib_inline.backend_inline import set_matplotlib_formats

        set_matplotlib_formats()  # removes Matplotlib's formatters
        shell.display_formatter.formatters["image/svg+xml"].for_type(Figure, figure_svg)
