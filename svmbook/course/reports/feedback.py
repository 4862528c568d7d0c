"""Feedback for students: their notebook with marks and comments, and no hidden test."""

from html import escape

import nbformat
from nbgrader.utils import is_locked

from ...files import write_whole
from ..grading.pending import reasons_of
from ..layout.items import NOTE, handed_out, item_of
from ..layout.marks import marks_of, totals
from .pages import code, markdown, page, plain

__all__ = ["feedback"]

MOST_MARKDOWN = 300_000  # characters of a notebook that are set; the rest is shown as it is


def feedback(course, name):
    """Write the feedback of all submissions that are graded.

    Parameters
    ----------
    course : Course
        The course.
    name : str
        The assignment.

    Yields
    ------
    Path
        Of each page.
    """
    course.source(name)
    with course.gradebook() as book:
        for student, marks in marks_of(book, name).items():
            path = course.autograded(student, name)
            if not path.exists():
                continue
            nb = nbformat.read(path, as_version=4)
            notebook = book.find_submission_notebook(name, name, student)
            comments = {
                one.name: one.comment
                for one in notebook.comments
                if one.comment and (one.manual_comment or one.name in marks)
            }
            reasons = reasons_of(course, name, student)
            target = course.feedback(student, name)
            write_whole(target, _page(nb, name, marks, comments, reasons))
            yield target


def _page(nb, name, marks, comments, reasons):
    total, most = totals(marks)
    waiting = [item for item, mark in marks.items() if mark.waits]
    later = sum(marks[item].most for item in waiting)
    body = [f"<p><strong>{total:g} of {most - later:g} points.</strong>"]
    if waiting:
        names = escape(", ".join(waiting))
        body.append(f" A person will give up to {later:g} more points for {names}.")
    body.append("</p>")
    body += [f"<p>Note: {escape(reason)}.</p>" for reason in reasons]
    left = MOST_MARKDOWN
    for cell in nb.cells:
        left -= len(cell.source) if cell.cell_type == "markdown" else 0
        body.append(_cell(cell, marks, comments, markdown if left >= 0 else plain))
    return page(f"Feedback: {name}", "\n".join(body))


def _cell(cell, marks, comments, set_text):
    """Return a cell as HTML, with its mark and comment where it has them."""
    item = item_of(cell)
    text = handed_out(cell) if is_locked(cell) else cell.source
    inside = [code(text), *_outputs(cell)] if cell.cell_type == "code" else [set_text(text)]
    if item in comments:
        inside.append(markdown(f"**Comment.**\n\n{comments[item]}"))
    if item not in marks and item not in comments:
        return "".join(inside)
    head = escape(item)
    if item in marks:
        mark = marks[item]
        head += f": {'to be read' if mark.waits else f'{mark.score:g}'} of {mark.most:g}"
    return f'<section class="item"><h3>{head}</h3>{"".join(inside)}</section>'


def _outputs(cell):
    """Return the outputs as HTML; of hidden tests only that one failed."""
    hidden = cell.metadata.get(NOTE, {}).get("hidden", ())
    for number, output in enumerate(cell.outputs):
        if number in hidden:
            continue
        if output.output_type == "stream":
            yield plain(output.text)
        elif output.output_type == "error":
            yield plain(": ".join(filter(None, (output.ename, output.evalue))), "error")
        elif image := next((k for k in ("image/png", "image/jpeg") if k in output.data), None):
            data = "".join(output.data[image].split())
            yield f'<img alt="an output of this cell" src="data:{image};base64,{data}">'
        else:
            yield plain(output.data.get("text/plain", ""))
    if any(cell.outputs[number].output_type == "error" for number in hidden):
        yield plain("A part of this test that is not shown failed.", "error")
