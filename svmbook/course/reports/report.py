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
from ..layout.items import cell_name, is_test
from ..layout.marks import assignment_marks, hours_late
from .pages import render_page

__all__ = ["write_report"]

HARD_ITEM_SHARE = 0.5  # an item is hard if a smaller share of its points is awarded on average
PLACEHOLDER_COLOUR = "#010203"  # replaced by the text colour of the page
MAX_ERRORS_PER_TEST = 3  # errors listed for each test
MAX_ERROR_LENGTH = 120  # characters


class SubmissionDetails(NamedTuple):
    """What the report says about a submission besides its marks."""

    hours_late: float | None  # None if it is not known
    notes: list  # problems of the submission
    feedback_url: str  # relative URL of the feedback page; empty if there is none


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
        There is no such assignment, or no submission has been graded.
    """
    course.source_path(assignment)
    with course.open_gradebook() as gradebook:
        marks_by_student = assignment_marks(gradebook, assignment)
        hours_by_student = hours_late(gradebook, assignment)
    if not marks_by_student:
        raise ValueError(
            f"no submission of {assignment} has been graded; run svmbook course grade {assignment}."
        )
    target = course.root / "reports" / f"{assignment}.html"
    details = {}
    for student in marks_by_student:
        path = course.feedback_path(student, assignment)
        url = quote(f"../{path.relative_to(course.root).as_posix()}") if path.exists() else ""
        details[student] = SubmissionDetails(
            hours_by_student.get(student), recorded_notes(course, assignment, student), url
        )
    body = _body_html(
        marks_by_student, _count_first_errors(course, assignment, marks_by_student), details
    )
    for skipped_path, reason in course.skip_reasons().items():
        body += f"<p>Left out: {escape(repr(skipped_path))}; {escape(reason)}.</p>"
    write_atomically(target, render_page(f"Report: {assignment}", body))
    return target


def _count_first_errors(course, assignment, students):
    """Return for each test the number of submissions by the first error that the test raised."""
    error_counts = defaultdict(Counter)
    for student in students:
        path = course.autograded_path(student, assignment)
        cells = nbformat.from_dict(json.loads(path.read_bytes())).cells if path.exists() else ()
        for cell in filter(is_test, cells):
            errors = [output for output in cell.outputs if output.output_type == "error"]
            for error in errors[:1]:
                error_counts[cell_name(cell)][_format_error(error.ename, error.evalue)] += 1
    return error_counts


def _format_error(name, message):
    """Return name and message of an error in one line without unprintable characters."""
    parts = (" ".join(strip_ansi(part).split()) for part in (name, message))
    text = ": ".join(filter(None, parts))
    return "".join(filter(str.isprintable, text))


def _body_html(marks_by_student, error_counts, details):
    max_scores = {
        item: mark.max_score for marks in marks_by_student.values() for item, mark in marks.items()
    }
    max_total = sum(max_scores.values())
    scores = np.full((len(marks_by_student), len(max_scores)), np.nan)  # NaN: not marked yet
    for i, marks in enumerate(marks_by_student.values()):
        for j, item in enumerate(max_scores):
            if item in marks and not marks[item].needs_manual_grade:
                scores[i, j] = marks[item].score
    # As in the gradebook, unmarked answers count as 0 points.
    totals = np.nansum(scores, axis=1)
    n_unmarked = int(np.isnan(scores).sum())
    note = f" Answers not yet marked by hand: {n_unmarked}; they count as 0 points."
    parts = [
        f"<p>{len(totals)} submissions, at most {max_total:g} points each: "
        f"mean {totals.mean():.1f}, median {np.median(totals):.1f}, "
        f"from {totals.min():g} to {totals.max():g}.",
        note if n_unmarked else "",
        "</p><h2>Marks</h2>",
        _histogram_html(totals, max_total),
        "<h2>Items</h2>",
        _items_html(max_scores, scores, totals),
        _errors_html(error_counts, max_scores),
        "<h2>Submissions</h2>",
        _submissions_html(details, totals, scores),
    ]
    return "\n".join(parts)


def _items_html(max_scores, scores, totals):
    """Return a table of the items: shares of points, and correlations with the other items."""
    rows = []
    for k, (item, max_score) in enumerate(max_scores.items()):
        is_marked = ~np.isnan(scores[:, k])
        item_scores, other_scores = scores[is_marked, k], (totals - scores[:, k])[is_marked]
        if not is_marked.any():
            rows.append([escape(item), f"{max_score:g}", "to be marked", "", ""])
            continue
        share = item_scores.mean() / max_score if max_score else 1.0
        is_hard = is_marked.all() and share < HARD_ITEM_SHARE
        can_correlate = (
            len(item_scores) > 2 and np.ptp(item_scores) > 0 and np.ptp(other_scores) > 0
        )
        rows.append(
            [
                escape(item) + (" <strong>(hard)</strong>" if is_hard else ""),
                f"{max_score:g}",
                f"{100 * share:.0f} %",
                f"{100 * (item_scores == 0).mean():.0f} %",
                f"{np.corrcoef(item_scores, other_scores)[0, 1]:+.2f}" if can_correlate else "",
            ]
        )
    header = ["item", "points", "mean score", "zero scores", "correlation with the rest"]
    return _table_html(header, rows, text_columns=(0,))


def _errors_html(error_counts, max_scores):
    """Return a section with the most frequent errors of each test, or "" if no test failed."""
    rows = [
        [escape(item), escape(_shorten(error)), f"{count}"]
        for item in max_scores
        for error, count in error_counts.get(item, Counter()).most_common(MAX_ERRORS_PER_TEST)
    ]
    error_table = _table_html(["test", "first error", "submissions"], rows, text_columns=(0, 1))
    return f"<h2>Errors raised in tests</h2>{error_table}" if rows else ""


def _shorten(text):
    return text if len(text) <= MAX_ERROR_LENGTH else f"{text[:MAX_ERROR_LENGTH]}…"


def _submissions_html(details, totals, scores):
    rows = [
        [
            _link_html(student, submission.feedback_url),
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
    return _table_html(header, rows, text_columns=(0, 4))


def _link_html(text, url):
    return f'<a href="{escape(url)}">{escape(text)}</a>' if url else escape(text)


def _table_html(header, rows, text_columns):
    """Return an HTML table whose numeric columns are right-aligned."""

    def row_html(cells, tag):
        html = ""
        for k, cell in enumerate(cells):
            style = "" if k in text_columns else ' class="number"'
            html += f"<{tag}{style}>{cell}</{tag}>"
        return f"<tr>{html}</tr>"

    body = "\n".join(row_html(row, "td") for row in rows)
    return f'<div class="scroll"><table>{row_html(header, "th")}\n{body}</table></div>'


def _histogram_html(totals, max_total):
    """Return a histogram of the total points of the submissions as inline SVG."""
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": "svmbook"}):
        figure = Figure(figsize=(6, 2.4), layout="constrained")
        ax = figure.subplots()
        edges = np.linspace(0, max(max_total, 1), 12)
        ax.hist(totals, bins=edges, color="#2a7ab8", edgecolor="none", rwidth=0.92)
        ax.set_xlabel("points", color=PLACEHOLDER_COLOUR)
        ax.set_ylabel("submissions", color=PLACEHOLDER_COLOUR)
        ax.tick_params(colors=PLACEHOLDER_COLOUR)
        ax.spines[["left", "bottom"]].set_color(PLACEHOLDER_COLOUR)
        ax.spines[["top", "right"]].set_visible(False)
        ax.yaxis.get_major_locator().set_params(integer=True)
        out = io.StringIO()
        figure.savefig(out, format="svg", transparent=True, metadata={"Date": None})
    svg = out.getvalue()
    svg = svg[svg.index("<svg") :].replace(PLACEHOLDER_COLOUR, "currentColor")
    description = f"Histogram of the points of {len(totals)} submissions."
    return f'<div role="img" aria-label="{description}">{svg}</div>'
