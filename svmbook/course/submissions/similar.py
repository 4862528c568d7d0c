"""Pairs of submissions with the same code under other names: a hint, not a verdict."""

from __future__ import annotations

import io
import itertools
from dataclasses import dataclass

import nbformat
from copydetect import CodeFingerprint, compare_files
from nbgrader.utils import is_locked

from ..layout.items import item_of
from .receive import Rejected, read_notebook

__all__ = ["Pair", "similar"]

# Characters of normalised code that count as the same, and of how many in a row one is kept: any
# stretch of 28 that two have in common is found.
GRAM, WINDOW = 25, 4


@dataclass(frozen=True)
class Pair:
    """Two submissions with code in common.

    Attributes
    ----------
    students : tuple of str
        Whose they are.
    score : float
        The larger of the two shares of own code that the other has as well.
    lines : tuple of list
        The numbered lines of each that the other has as well.
    """

    students: tuple
    score: float
    lines: tuple


def similar(course, name, least=0.5):
    """Compare all submissions with each other, without what was handed out.

    Names of variables and functions are made alike, comments and spaces dropped, and what is left
    is compared by fingerprints of its runs of characters (winnowing, by copydetect).

    Parameters
    ----------
    course : Course
        The course.
    name : str
        The assignment.
    least : float, default=0.5
        The least score of a pair that is listed.

    Returns
    -------
    list of Pair
        The most similar first.
    """
    course.source(name)
    handed_out = nbformat.read(course.released(name), as_version=4)
    given = "\n".join(cell.source for cell in handed_out.cells if cell.cell_type == "code")
    known = _print(given, window=1).hashes  # all of what was handed out
    locked = {item_of(cell) for cell in handed_out.cells if is_locked(cell)}
    prints = {}
    for student, submission in course.submissions(name).items():
        try:
            cells = read_notebook(submission.path, within=2)
        except Rejected:
            continue
        own = (text for item, kind, text in cells if kind == "code" and item not in locked)
        prints[student] = _print("\n".join(own), known)
    pairs = []
    for one, other in itertools.combinations(prints, 2):
        _, shares, slices = compare_files(prints[one], prints[other])
        if max(shares) >= least:
            lines = tuple(
                _lines(prints[student].raw_code, part)
                for student, part in zip((one, other), slices, strict=True)
            )
            pairs.append(Pair((one, other), float(max(shares)), lines))
    return sorted(pairs, key=lambda pair: -pair.score)


def _print(text, known=(), window=WINDOW):
    # Blank lines say nothing, and copydetect needs time with the square of their number.
    text = "".join(f"{line.rstrip()}\n" for line in text.splitlines() if line.strip())
    return CodeFingerprint(
        "answer.py", GRAM, window, boilerplate=list(known), language="python", fp=io.StringIO(text)
    )


def _lines(text, slices):
    """Return the numbered lines that the slices of a text touch."""
    starts = list(itertools.accumulate((len(line) for line in text.splitlines(True)), initial=0))
    lines = text.splitlines()
    touched = {
        number
        for begin, end in zip(*slices, strict=True)
        for number in range(len(lines))
        if starts[number] < end and begin < starts[number + 1] and lines[number].strip()
    }
    return [f"{number + 1}: {lines[number]}" for number in sorted(touched)]
