"""Report on an assignment: one page with the marks, the items, and the problems."""

import io
import json
from collections import Counter, defaultdict
from html import escape
from typing import NamedTuple
from urllib.parse import quote

import matplotlib
import nbformat
import numpy as np
from matplotlib.figure import Figure
from nbconvert.filters import strip_ansi

from ...files import write_atomically
from ..grading.pending import recorded_notes
from ..layout.items import is_test, item_name
from ..layout.marks import assignment_marks, hours_late
from .pages import render_page

__all__ = ["write_report"]

HARD_ITEM_SHARE = 0.5  # an item is hard if a smaller share of its points is awarded on average
TEXT_COLOUR = "#010203"  # placeholder for the text colour of the page
MAX_ERRORS = 3  # errors listed for each test
MAX_ERROR_LENGTH = 120  # characters


class SubmissionDetails(NamedTuple):
    """What the report says about a submission besides its marks."""

    hours_late: float | None  # None if it is not known
    notes: list  # problems of the submission
    feedback_address: str  # address of the page with feedback; empty if there is none


def write_report(course, assignment):
    """Write the report of an assignment.

    Parameters
    ----------
    course : Course
        The course.
    assignment : str
        The name of the assignment.

    Returns
    -------
    Path
        The path of the page.

    Raises
    ------
    ValueError
        There is no such assignment, or nothing is graded yet.
    """
    course.source_path(assignment)
    with course.gradebook() as gradebook:
        marks_by_student = assignment_marks(gradebook, assignment)
        hours = hours_late(gradebook, assignment)
    if not marks_by_student:
        raise ValueError(
            f"nothing of {assignment} is graded yet; run svmbook course grade {assignment}."
        )
    target = course.root / "reports" / f"{assignment}.html"
    details = {}
    for student in marks_by_student:
        path = course.feedback_path(student, assignment)
        address = quote(f"../{path.relative_to(course.root).as_posix()}") if path.exists() else ""
        details[student] = SubmissionDetails(
            hours.get(student), recorded_notes(course, assignment, student), address
        )
    body = _body(
        marks_by_student, _count_first_errors(course, assignment, marks_by_student), details
    )
    for path, reason in course.skip_reasons().items():
        body += f"<p>Left out: {escape(repr(path))}; {escape(reason)}.</p>"
    write_atomically(target, render_page(f"Report: {assignment}", body))
    return target


def _count_first_errors(course, assignment, students):
    """Return for each test the first errors in submissions, with their frequencies."""
    frequencies = defaultdict(Counter)
    for student in students:
        path = course.autograded_path(student, assignment)
        cells = nbformat.from_dict(json.loads(path.read_bytes())).cells if path.exists() else ()
        for cell in filter(is_test, cells):
            errors = [output for output in cell.outputs if output.output_type == "error"]
            for error in errors[:1]:
                frequencies[item_name(cell)][_one_line(error.ename, error.evalue)] += 1
    return frequencies


def _one_line(*parts):
    """Return name and message of an error in one line without unprintable characters."""
    lines = (" ".join(strip_ansi(part).split()) for part in parts)
    text = ": ".join(filter(None, lines))
    return "".join(filter(str.isprintable, text))


def _body(marks_by_student, errors, details):
    points_by_item = {
        item: mark.max_score for marks in marks_by_student.values() for item, mark in marks.items()
    }
    max_total = sum(points_by_item.values())
    scores = np.full((len(marks_by_student), len(points_by_item)), np.nan)  # NaN: not marked yet
    for i, marks in enumerate(marks_by_student.values()):
        for j, item in enumerate(points_by_item):
            if item in marks and not marks[item].needs_manual_grade:
                scores[i, j] = marks[item].score
    # As in the gradebook, unmarked answers count 0 points.
    totals = np.nansum(scores, axis=1)
    n_unmarked = int(np.isnan(scores).sum())
    note = f" Answers to be marked by hand: {n_unmarked}; they count 0 points until then."
    parts = [
        f"<p>{len(totals)} submissions, at most {max_total:g} points each: "
        f"mean {totals.mean():.1f}, median {np.median(totals):.1f}, "
        f"from {totals.min():g} to {totals.max():g}.",
        note if n_unmarked else "",
        "</p><h2>Marks</h2>",
        _histogram(totals, max_total),
        "<h2>Items</h2>",
        _items_table(points_by_item, scores, totals),
        _errors_section(errors, points_by_item),
        "<h2>Submissions</h2>",
        _submissions_table(details, totals, scores),
    ]
    return "\n".join(parts)


def _items_table(points_by_item, scores, totals):
    """Return a table of the items: shares of points, and correlations with the other items."""
    lines = []
    for k, (item, points) in enumerate(points_by_item.items()):
        is_marked = ~np.isnan(scores[:, k])
        item_scores, other_scores = scores[is_marked, k], (totals - scores[:, k])[is_marked]
        if not is_marked.any():
            lines.append([escape(item), f"{points:g}", "to be marked", "", ""])
            continue
        share = item_scores.mean() / points if points else 1.0
        is_hard = is_marked.all() and share < HARD_ITEM_SHARE
        can_correlate = (
            len(item_scores) > 2 and np.ptp(item_scores) > 0 and np.ptp(other_scores) > 0
        )
        lines.append(
            [
                escape(item) + (" <strong>(hard)</strong>" if is_hard else ""),
                f"{points:g}",
                f"{100 * share:.0f} %",
                f"{100 * (item_scores == 0).mean():.0f} %",
                f"{np.corrcoef(item_scores, other_scores)[0, 1]:+.2f}" if can_correlate else "",
            ]
        )
    header = ["item", "points", "mean score", "zero scores", "correlation with the rest"]
    return _table_html(header, lines, text_columns=(0,))


def _errors_section(errors, points_by_item):
    """Return a section with the most frequent errors of each test, or "" if no test failed."""
    lines = [
        [escape(item), escape(_shorten(error)), f"{count}"]
        for item in points_by_item
        for error, count in errors.get(item, Counter()).most_common(MAX_ERRORS)
    ]
    error_table = _table_html(["test", "first error", "submissions"], lines, text_columns=(0, 1))
    return f"<h2>Errors of the tests</h2>{error_table}" if lines else ""


def _shorten(text):
    return text if len(text) <= MAX_ERROR_LENGTH else f"{text[:MAX_ERROR_LENGTH]}…"


def _submissions_table(details, totals, scores):
    lines = [
        [
            _link(student, submission.feedback_address),
            f"{total:g}",
            f"{np.isnan(submission_scores).sum() or ''}",
            "" if submission.hours_late is None else f"{submission.hours_late:.1f}",
            escape("; ".join(submission.notes)),
        ]
        for (student, submission), total, submission_scores in zip(
            details.items(), totals, scores, strict=True
        )
    ]
    header = ["student", "points", "to be marked", "hours late", "notes"]
    return _table_html(header, lines, text_columns=(0, 4))


def _link(text, address):
    return f'<a href="{escape(address)}">{escape(text)}</a>' if address else escape(text)


def _table_html(header, lines, text_columns):
    """Return an HTML table whose numeric columns are right-aligned."""

    def row(cells, tag):
        html = ""
        for k, cell in enumerate(cells):
            style = "" if k in text_columns else ' class="number"'
            html += f"<{tag}{style}>{cell}</{tag}>"
        return f"<tr>{html}</tr>"

    body = "\n".join(row(line, "td") for line in lines)
    return f'<div class="scroll"><table>{row(header, "th")}\n{body}</table></div>'


def _histogram(totals, max_total):
    """Return a histogram of the marks as inline SVG."""
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": "svmbook"}):
        figure = Figure(figsize=(6, 2.4), layout="constrained")
        ax = figure.subplots()
        edges = np.linspace(0, max(max_total, 1), 12)
        ax.hist(totals, bins=edges, color="#2a7ab8", edgecolor="none", rwidth=0.92)
        ax.set_xlabel("points", color=TEXT_COLOUR)
        ax.set_ylabel("submissions", color=TEXT_COLOUR)
        ax.tick_params(colors=TEXT_COLOUR)
        ax.spines[["left", "bottom"]].set_color(TEXT_COLOUR)
        ax.spines[["top", "right"]].set_visible(False)
        ax.yaxis.get_major_locator().set_params(integer=True)
        out = io.StringIO()
        figure.savefig(out, format="svg", transparent=True, metadata={"Date": None})
    svg = out.getvalue()
    svg = svg[svg.index("<svg") :].replace(TEXT_COLOUR, "currentColor")
    description = f"Histogram of the points of {len(totals)} submissions."
    return f'<div role="img" aria-label="{description}">{svg}</div>'
