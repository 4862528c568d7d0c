"""The command ``svmbook``: the experiments of the book, and its coursework."""

from .course.cli import check_notebook, course
from .experiments.cli import main

__all__ = ["main"]

main.add_command(course)
main.add_command(check_notebook)
