"""Plots of classifiers and their points, drawn on given axes, and the style of the figures."""

from .many import CLASS_COLOURS, plot_classes, plot_regions
from .moving import MovingFigure
from .ranks import plot_ranks
from .shapes import plot_shapes
from .style import figure_svg, use_book_style
from .two import COLOURS, plot_machine, plot_points, ring_support

__all__ = [
    "CLASS_COLOURS",
    "COLOURS",
    "MovingFigure",
    "figure_svg",
    "plot_classes",
    "plot_machine",
    "plot_points",
    "plot_ranks",
    "plot_regions",
    "plot_shapes",
    "ring_support",
    "use_book_style",
]
