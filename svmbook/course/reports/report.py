"""How an assignment went: one page with the marks, the items, and what went wrong."""

import io
import json
from collections import Counter, defaultdict
from html import escape
from urllib.parse import quote

import matplotlib
import nbformat
import numpy as np
from matplotlib.figure import Figure
from nbconvert.filters import strip_ansi

from ...files import write_whole
from ..grading.pending import reasons_of
from ..layout.items import is_test, item_of
from ..layout.marks import hours_late, marks_of
from .pages import page

__all__ = ["report"]

HARD = 0.5  # an item with a smaller share of its points given is marked
INK = "#010203"  # stands for the colour of the page's text
COMMON = 3  # errors of a test that are listed
SHOWN = 120  # characters of an error


def report(course, name):
    """Write the report of an assignment.

    Parameters
    ----------
    course : Course
        The course.
    name : str
        The assignment.

    Returns
    -------
    Path
        Of the page.

    Raises
    ------
    ValueError
        There is no such assignment, or nothing is graded yet.
    """
    course.source(name)
    with course.gradebook() as book:
        rows, late = marks_of(book, name), hours_late(book, name)
    if not rows:
        raise ValueError(f"nothing of {name} is graded yet; run svmbook course grade {name}.")
    target = course.root / "reports" / f"{name}.html"
    reasons = {student: reasons_of(course, name, student) for student in rows}
    links = {
        student: quote(f"../{path.relative_to(course.root).as_posix()}")
        for student in rows
        if (path := course.feedback(student, name)).exists()
    }
    body = _body(rows, _errors(course, name, rows), reasons, late, links)
    for who, why in course.left_out().items():
        body += f"<p>Left out: {escape(repr(who))}; {escape(why)}.</p>"
    write_whole(target, page(f"Report: {name}", body))
    return target


def _errors(course, name, students):
    """Return for each test that failed its first errors, with the number of submissions."""
    found = defaultdict(Counter)
    for student in students:
        path = course.autograded(student, name)
        cells = nbformat.from_dict(json.loads(path.read_bytes())).cells if path.exists() else ()
        for cell in filter(is_test, cells):
            errors = [output for output in cell.outputs if output.output_type == "error"]
            for error in errors[:1]:
                found[item_of(cell)][_in_a_line(error.ename, error.evalue)] += 1
    return found


def _in_a_line(*parts):
    """Return name and message of an error without what would change how a page shows them."""
    lines = (" ".join(strip_ansi(part).split()) for part in parts)
    text = ": ".join(filter(None, lines))
    return "".join(filter(str.isprintable, text))


def _body(rows, errors, reasons, late, links):
    items = {item: mark.most for row in rows.values() for item, mark in row.items()}
    most = sum(items.values())
    # What waits for a person counts nothing so far, in the totals as in the gradebook.
    table = np.array(
        [
            [np.nan if k not in row or row[k].waits else row[k].score for k in items]
            for row in rows.values()
        ]
    )
    totals = np.nansum(table, axis=1)
    waiting = int(np.isnan(table).sum())
    parts = [
        f"<p>{len(rows)} submissions of {most:g} points: mean {totals.mean():.1f}, "
        f"median {np.median(totals):.1f}, from {totals.min():g} to {totals.max():g}.",
        f" {waiting} answers wait to be read; they count nothing yet." if waiting else "",
        "</p><h2>Marks</h2>",
        _histogram(totals, most),
        "<h2>Items</h2>",
        _items(items, table, totals),
        _frequent(errors, items),
        "<h2>Submissions</h2>",
        _submissions(rows, totals, table, reasons, late, links),
    ]
    return "\n".join(parts)


def _items(items, table, totals):
    """Return for each item how it was answered, and whether those who did well did it well."""
    lines = []
    for k, (item, points) in enumerate(items.items()):
        known = ~np.isnan(table[:, k])
        marks, rest = table[known, k], totals[known] - table[known, k]
        if not known.any():
            lines.append([escape(item), f"{points:g}", "to be read", "", ""])
            continue
        share = marks.mean() / points if points else 1.0
        is_hard = known.all() and share < HARD
        varied = len(marks) > 2 and np.ptp(marks) > 0 and np.ptp(rest) > 0
        lines.append(
            [
                escape(item) + (" <strong>(hard)</strong>" if is_hard else ""),
                f"{points:g}",
                f"{100 * share:.0f} %",
                f"{100 * (marks == 0).mean():.0f} %",
                f"{np.corrcoef(marks, rest)[0, 1]:+.2f}" if varied else "",
            ]
        )
    return _table(["item", "points", "given", "got nothing", "with the rest"], lines, words=(0,))


def _frequent(errors, items):
    """Return the most frequent errors of each test; nothing where no test failed."""
    lines = [
        [escape(item), escape(_cut(error)), f"{count}"]
        for item in items
        for error, count in errors.get(item, Counter()).most_common(COMMON)
    ]
    table = _table(["test", "first error", "submissions"], lines, words=(0, 1))
    return f"<h2>Errors of the tests</h2>{table}" if lines else ""


def _cut(text):
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}…"


def _submissions(rows, totals, table, reasons, late, links):
    lines = [
        [
            _linked(student, links.get(student)),
            f"{total:g}",
            f"{np.isnan(marks).sum() or ''}",
            f"{late[student]:.1f}" if student in late else "",
            escape("; ".join(reasons[student])),
        ]
        for student, total, marks in zip(rows, totals, table, strict=True)
    ]
    return _table(["student", "points", "to be read", "hours late", "notes"], lines, words=(0, 4))


def _linked(text, address):
    return f'<a href="{escape(address)}">{escape(text)}</a>' if address else escape(text)


def _table(head, lines, words):
    """Return a table; columns that are no words are numbers, and stand to the right."""

    def row(cells, tag):
        inside = (
            f"<{tag}>{cell}</{tag}>" if k in words else f'<{tag} class="number">{cell}</{tag}>'
            for k, cell in enumerate(cells)
        )
        return f"<tr>{''.join(inside)}</tr>"

    body = "\n".join(row(line, "td") for line in lines)
    return f'<div class="scroll"><table>{row(head, "th")}\n{body}</table></div>'


def _histogram(totals, most):
    """Return the distribution of the marks as a drawing in the page."""
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": "svmbook"}):
        figure = Figure(figsize=(6, 2.4), layout="constrained")
        ax = figure.subplots()
        edges = np.linspace(0, max(most, 1), 12)
        ax.hist(totals, bins=edges, color="#2a7ab8", edgecolor="none", rwidth=0.92)
        ax.set_xlabel("points", color=INK)
        ax.set_ylabel("submissions", color=INK)
        ax.tick_params(colors=INK)
        ax.spines[["left", "bottom"]].set_color(INK)
        ax.spines[["top", "right"]].set_visible(False)
        ax.yaxis.get_major_locator().set_params(integer=True)
        out = io.StringIO()
        figure.savefig(out, format="svg", transparent=True, metadata={"Date": None})
    drawing = out.getvalue()
    drawing = drawing[drawing.index("<svg") :].replace(INK, "currentColor")
    words = f"Histogram of the points of {len(totals)} submissions."
    return f'<div role="img" aria-label="{words}">{drawing}</div>'
