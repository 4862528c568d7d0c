"""Plots of classifiers and their points, drawn on given axes, and the style of the figures."""

from .many_classes import CLASS_COLOURS, plot_classes, plot_regions
from .ranks import plot_ranks
from .shape_functions import plot_shape_functions
from .slider import SliderFigure
from .style import use_book_style
from .svg import figure_svg
from .two_classes import COLOURS, plot_decision_function, plot_points, plot_rings

__all__ = [
    "CLASS_COLOURS",
    "COLOURS",
    "SliderFigure",
    "figure_svg",
    "plot_classes",
    "plot_decision_function",
    "plot_points",
    "plot_ranks",
    "plot_regions",
    "plot_rings",
    "plot_shape_functions",
    "use_book_style",
]
