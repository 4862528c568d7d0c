"""Feedback for students: their notebook with marks and comments, but without hidden tests."""

from html import escape

import nbformat
from nbgrader.utils import is_locked

from ...files import write_atomically
from ..grading.pending import recorded_reasons
from ..layout.items import METADATA_KEY, item_name, released_source
from ..layout.marks import assignment_marks, totals
from .pages import code, markdown, page, plain

__all__ = ["write_feedback"]

MAX_MARKDOWN = 300_000  # characters of Markdown that are rendered per notebook; the rest is not


def write_feedback(course, name):
    """Write the feedback on all graded submissions.

    Parameters
    ----------
    course : Course
        The course.
    name : str
        The assignment.

    Yields
    ------
    Path
        The path of each page.
    """
    course.source_path(name)
    with course.gradebook() as book:
        for student, marks in assignment_marks(book, name).items():
            path = course.autograded_path(student, name)
            if not path.exists():
                continue
            nb = nbformat.read(path, as_version=4)
            notebook = book.find_submission_notebook(name, name, student)
            comments = {
                comment.name: comment.comment
                for comment in notebook.comments
                if comment.comment and (comment.manual_comment or comment.name in marks)
            }
            reasons = recorded_reasons(course, name, student)
            target = course.feedback_path(student, name)
            write_atomically(target, _page_html(nb, name, marks, comments, reasons))
            yield target


def _page_html(nb, name, marks, comments, reasons):
    total, max_total = totals(marks)
    unmarked = [item for item, mark in marks.items() if mark.needs_manual_grade]
    pending = sum(marks[item].max_score for item in unmarked)
    body = [f"<p><strong>{total:g} of {max_total - pending:g} points.</strong>"]
    if unmarked:
        names = escape(", ".join(unmarked))
        body.append(f" Up to {pending:g} more points will be given by hand for {names}.")
    body.append("</p>")
    body += [f"<p>Note: {escape(reason)}.</p>" for reason in reasons]
    remaining = MAX_MARKDOWN
    for cell in nb.cells:
        remaining -= len(cell.source) if cell.cell_type == "markdown" else 0
        body.append(_cell_html(cell, marks, comments, markdown if remaining >= 0 else plain))
    return page(f"Feedback: {name}", "\n".join(body))


def _cell_html(cell, marks, comments, render):
    """Return a cell as HTML, with its mark and comment if it has them."""
    item = item_name(cell)
    text = released_source(cell) if is_locked(cell) else cell.source
    parts = [code(text), *_outputs_html(cell)] if cell.cell_type == "code" else [render(text)]
    if item in comments:
        parts.append(markdown(f"**Comment.**\n\n{comments[item]}"))
    if item not in marks and item not in comments:
        return "".join(parts)
    heading = escape(item)
    if item in marks:
        mark = marks[item]
        score = "to be marked" if mark.needs_manual_grade else f"{mark.score:g}"
        heading += f": {score} of {mark.max_score:g}"
    return f'<section class="item"><h3>{heading}</h3>{"".join(parts)}</section>'


def _outputs_html(cell):
    """Yield the outputs as HTML; of hidden tests only the fact that one failed."""
    hidden = cell.metadata.get(METADATA_KEY, {}).get("hidden", ())
    for number, output in enumerate(cell.outputs):
        if number in hidden:
            continue
        if output.output_type == "stream":
            yield plain(output.text)
        elif output.output_type == "error":
            yield plain(": ".join(filter(None, (output.ename, output.evalue))), "error")
        elif image := next((k for k in ("image/png", "image/jpeg") if k in output.data), None):
            data = "".join(output.data[image].split())
            yield f'<img alt="output of this cell" src="data:{image};base64,{data}">'
        else:
            yield plain(output.data.get("text/plain", ""))
    if any(cell.outputs[number].output_type == "error" for number in hidden):
        yield plain("A hidden part of this test failed.", "error")
