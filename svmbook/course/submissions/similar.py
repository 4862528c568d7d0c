"""Pairs of submissions with similar code, which may indicate copying but does not prove it."""

from __future__ import annotations

import io
import itertools
from dataclasses import dataclass

import nbformat
from copydetect import CodeFingerprint, compare_files
from nbgrader.utils import is_locked

from ..layout.items import cell_name
from .read import SubmissionError, read_notebook

__all__ = ["SimilarPair", "find_similar_pairs"]

# Winnowing: in each window of 4 consecutive hashes, each of 25 normalised characters (a k-gram),
# one is kept, so that every common substring of 28 characters is found.
KGRAM_LENGTH, WINDOW_LENGTH = 25, 4


@dataclass(frozen=True)
class SimilarPair:
    """Two submissions with common code.

    Attributes
    ----------
    students : tuple of str
        The two students.
    score : float
        The share of one submission's own code that the other contains; the larger of the two.
    lines : tuple of list
        For each submission, its numbered lines with common code.
    """

    students: tuple
    score: float
    lines: tuple


def find_similar_pairs(course, assignment, min_score=0.5):
    """Compare the code of all submissions pairwise, ignoring code that was handed out.

    All names of variables and functions are replaced by the same one, and comments and spaces are
    removed. Then fingerprints of substrings are compared (winnowing, by copydetect).

    Parameters
    ----------
    course : Course
        The course.
    assignment : str
        The name of the assignment.
    min_score : float, default=0.5
        The minimum score of the pairs that are returned.

    Returns
    -------
    list of SimilarPair
        The pairs in decreasing order of their scores.
    """
    course.source_path(assignment)
    released = nbformat.read(course.released_path(assignment), as_version=4)
    released_code = "\n".join(cell.source for cell in released.cells if cell.cell_type == "code")
    # With a window of length 1, all hashes are kept.
    released_hashes = _fingerprint(released_code, window_length=1).hashes
    locked_names = {cell_name(cell) for cell in released.cells if is_locked(cell)}
    fingerprints = {}
    for student, submission in course.submissions(assignment).items():
        try:
            cells = read_notebook(submission.path, n_checked_parents=2)
        except SubmissionError:
            continue
        own_code = "\n".join(
            text
            for name, cell_type, text in cells
            if cell_type == "code" and name not in locked_names
        )
        fingerprints[student] = _fingerprint(own_code, released_hashes)
    pairs = []
    for students in itertools.combinations(fingerprints, 2):
        first, second = (fingerprints[student] for student in students)
        _, shares, (first_slices, second_slices) = compare_files(first, second)
        if max(shares) >= min_score:
            lines = (
                _overlapping_lines(first.raw_code, first_slices),
                _overlapping_lines(second.raw_code, second_slices),
            )
            pairs.append(SimilarPair(students, float(max(shares)), lines))
    return sorted(pairs, key=lambda pair: -pair.score)


def _fingerprint(text, ignored_hashes=(), window_length=WINDOW_LENGTH):
    # Remove blank lines, because the time of copydetect grows with the square of their number.
    text = "".join(f"{line.rstrip()}\n" for line in text.splitlines() if line.strip())
    options = {"boilerplate": list(ignored_hashes), "language": "python", "fp": io.StringIO(text)}
    return CodeFingerprint("answer.py", KGRAM_LENGTH, window_length, **options)


def _overlapping_lines(text, slices):
    """Return the numbered lines of a text that overlap with slices, given as starts and ends."""
    line_starts = list(
        itertools.accumulate((len(line) for line in text.splitlines(True)), initial=0)
    )
    lines = text.splitlines()
    line_indices = {
        index
        for start, end in zip(*slices, strict=True)
        for index in range(len(lines))
        if line_starts[index] < end and start < line_starts[index + 1] and lines[index].strip()
    }
    return [f"{index + 1}: {lines[index]}" for index in sorted(line_indices)]
