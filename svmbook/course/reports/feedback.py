"""Feedback for students: their notebook with marks and comments, but without hidden tests."""

from html import escape

import nbformat
from nbgrader.utils import is_locked

from ...files import write_atomically
from ..grading.pending import recorded_notes
from ..layout.items import METADATA_KEY, cell_name, released_source
from ..layout.marks import assignment_marks, totals
from .pages import render_code, render_markdown, render_page, render_text

__all__ = ["write_feedback"]

# Markdown that is rendered in one notebook; cells beyond this limit are shown as plain text.
MAX_RENDERED_CHARACTERS = 300_000
IMAGE_TYPES = ("image/png", "image/jpeg")


def write_feedback(course, assignment):
    """Write the feedback on all graded submissions.

    Parameters
    ----------
    course : Course
        The course.
    assignment : str
        The name of the assignment.

    Yields
    ------
    Path
        The path of each page, after it has been written.
    """
    course.source_path(assignment)
    with course.open_gradebook() as gradebook:
        for student, marks in assignment_marks(gradebook, assignment).items():
            path = course.autograded_path(student, assignment)
            if not path.exists():
                continue
            nb = nbformat.read(path, as_version=4)
            submitted_notebook = gradebook.find_submission_notebook(assignment, assignment, student)
            comments = {
                comment.name: comment.comment
                for comment in submitted_notebook.comments
                if comment.comment and (comment.manual_comment or comment.name in marks)
            }
            notes = recorded_notes(course, assignment, student)
            target = course.feedback_path(student, assignment)
            write_atomically(target, _page_html(nb, assignment, marks, comments, notes))
            yield target


def _page_html(nb, assignment, marks, comments, notes):
    total, max_total = totals(marks)
    unmarked_items = [item for item, mark in marks.items() if mark.needs_manual_grade]
    unmarked_points = sum(marks[item].max_score for item in unmarked_items)
    body = [f"<p><strong>{total:g} of {max_total - unmarked_points:g} points.</strong>"]
    if unmarked_items:
        names = escape(", ".join(unmarked_items))
        body.append(f" Up to {unmarked_points:g} more points will be given by hand for {names}.")
    body.append("</p>")
    body += [f"<p>Note: {escape(note)}.</p>" for note in notes]
    n_remaining_characters = MAX_RENDERED_CHARACTERS
    for cell in nb.cells:
        n_remaining_characters -= len(cell.source) if cell.cell_type == "markdown" else 0
        render = render_markdown if n_remaining_characters >= 0 else render_text
        body.append(_cell_html(cell, marks, comments, render))
    return render_page(f"Feedback: {assignment}", "\n".join(body))


def _cell_html(cell, marks, comments, render):
    """Return a cell as HTML, with its mark and comment if it has them."""
    item = cell_name(cell)
    text = released_source(cell) if is_locked(cell) else cell.source
    is_code = cell.cell_type == "code"
    parts = [render_code(text), *_outputs_html(cell)] if is_code else [render(text)]
    if item in comments:
        parts.append(render_markdown(f"**Comment.**\n\n{comments[item]}"))
    if item not in marks and item not in comments:
        return "".join(parts)
    heading = escape(item)
    if item in marks:
        mark = marks[item]
        score = "to be marked" if mark.needs_manual_grade else f"{mark.score:g}"
        heading += f": {score} of {mark.max_score:g}"
    return f'<section class="item"><h3>{heading}</h3>{"".join(parts)}</section>'


def _outputs_html(cell):
    """Yield the outputs as HTML; for hidden tests, only whether one of them failed."""
    hidden_positions = cell.metadata.get(METADATA_KEY, {}).get("hidden_positions", ())
    for position, output in enumerate(cell.outputs):
        if position in hidden_positions:
            continue
        if output.output_type == "stream":
            yield render_text(output.text)
        elif output.output_type == "error":
            yield render_text(": ".join(filter(None, (output.ename, output.evalue))), "error")
        elif image_type := next((mime for mime in IMAGE_TYPES if mime in output.data), None):
            data = "".join(output.data[image_type].split())
            yield f'<img alt="output of this cell" src="data:{image_type};base64,{data}">'
        else:
            yield render_text(output.data.get("text/plain", ""))
    if any(cell.outputs[position].output_type == "error" for position in hidden_positions):
        yield render_text("A hidden part of this test failed.", "error")
