"""Cells of an assignment: their names, tests and hidden lines, from nbgrader's metadata."""

import hashlib
import re

from nbgrader.utils import is_grade, is_solution

from ..execution.source import defined_names, imported_names

__all__ = [
    "METADATA_KEY",
    "STUDENT_VARIABLE",
    "answer_names",
    "cell_key",
    "cell_name",
    "hidden_line_numbers",
    "is_test",
    "record_assignment_metadata",
    "released_source",
]

METADATA_KEY = "svmbook"  # key of this package in the metadata of notebooks and cells
STUDENT_VARIABLE = "student"  # name of the variable with the student's id and of its cell

# The lines from one delimiter to the other, which nbgrader removes from the released notebook.
HIDDEN_TESTS_PATTERN, MARK_SCHEME_PATTERN = (
    re.compile(rf"^.*BEGIN {region}.*\n((?:.*\n)*?).*END {region}.*$", re.M)
    for region in ("HIDDEN TESTS", "MARK SCHEME")
)


def cell_name(cell):
    """Return the name of a cell in nbgrader's metadata, or None."""
    return cell.metadata.get("nbgrader", {}).get("grade_id")


def is_test(cell):
    """Return whether a cell is an automatic test."""
    return cell.cell_type == "code" and is_grade(cell) and not is_solution(cell)


def released_source(cell):
    """Return a cell's text as students see it, without the hidden tests and the mark scheme."""
    return MARK_SCHEME_PATTERN.sub("", HIDDEN_TESTS_PATTERN.sub("", cell.source)).rstrip()


def hidden_line_numbers(source):
    """Return the numbers of the lines of a test that are not handed out, from 1."""
    numbers = []
    for match in HIDDEN_TESTS_PATTERN.finditer(source):
        first_line, last_line = (source.count("\n", 0, end) + 1 for end in match.span())
        numbers += range(first_line, last_line + 1)
    return numbers


def cell_key(cell):
    """Return the name of a cell, or a digest of its text, by which `svmbook check` finds it."""
    return cell_name(cell) or "#" + hashlib.sha256(cell.source.encode()).hexdigest()[:16]


def record_assignment_metadata(nb, source_nb, file_names=()):
    """Record the answer names, the cells and the data files in the metadata of a notebook.

    Parameters
    ----------
    nb : NotebookNode
        A version of the assignment, which is modified.
    source_nb : NotebookNode
        The instructor's version, with solutions.
    file_names : iterable of str
        Names of data files.
    """
    names = set()
    for cell in source_nb.cells:
        if cell.cell_type == "code" and is_solution(cell) and cell_name(cell) != STUDENT_VARIABLE:
            names |= defined_names(cell.source) - imported_names(cell.source)
    nb.metadata[METADATA_KEY] = {
        "answers": sorted(names),
        "cells": [cell_key(cell) for cell in source_nb.cells],
        "files": sorted(file_names),
    }


def answer_names(nb):
    """Return the names that the solutions define, as `record_assignment_metadata` recorded them."""
    return nb.metadata.get(METADATA_KEY, {}).get("answers", [])
