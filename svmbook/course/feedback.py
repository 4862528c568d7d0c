"""Feedback for students: their notebook with marks and comments, and no hidden test."""

from __future__ import annotations

import re
from html import escape

import nbformat
from nbgrader.utils import is_grade

from .folder import write_whole
from .grade import HIDDEN, NOTE, waits
from .pages import code, markdown, page, plain
from .receive import item_of

__all__ = ["feedback"]

SCHEME = re.compile(r"^### BEGIN MARK SCHEME\n.*?^### END MARK SCHEME$", re.M | re.S)


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
    for student in course.submissions(name):
        path = course.autograded(student, name)
        if not path.exists():
            continue
        nb = nbformat.read(path, as_version=4)
        target = course.root / "feedback" / student / name / f"{name}.html"
        write_whole(target, _page(nb, name, *_marks(course, name, student)))
        yield target


def _marks(course, name, student):
    """Return score and points of each item, and the comments."""
    with course.gradebook() as book:
        notebook = book.find_submission_notebook(name, name, student)
        marks = {mark.name: (mark.score, mark.max_score, waits(mark)) for mark in notebook.grades}
        comments = {c.name: c.comment for c in notebook.comments if c.comment}
    return marks, comments


def _page(nb, name, marks, comments):
    total, most = (sum(mark[k] for mark in marks.values()) for k in (0, 1))
    waiting = [item for item, mark in marks.items() if mark[2]]
    body = [f"<p><strong>{total:g} of {most:g} points.</strong>"]
    if waiting:
        body.append(f" Still to be read by a person: {escape(', '.join(waiting))}.")
    body.append("</p>")
    body += [f"<p>Note: {escape(reason)}.</p>" for reason in nb.metadata[NOTE]["reasons"]]
    body += [_cell(cell, marks, comments) for cell in nb.cells]
    return page(f"Feedback: {name}", "\n".join(body))


def _cell(cell, marks, comments):
    """Return a cell as HTML, with its mark and comment where it has them."""
    item = item_of(cell)
    if cell.cell_type == "code":
        inside = [code(HIDDEN.sub("", cell.source).rstrip()), *_outputs(cell)]
    else:
        inside = [markdown(SCHEME.sub("", cell.source))]
    if item in comments:
        inside.append(markdown(f"**Comment.** {comments[item]}"))
    if item not in marks and item not in comments:
        return "".join(inside)
    head = escape(item)
    if item in marks:
        score, most, waiting = marks[item]
        head += f": {'to be read' if waiting else f'{score:g}'} of {most:g}"
    return f'<section class="item"><h3>{head}</h3>{"".join(inside)}</section>'


def _outputs(cell):
    """Return the outputs as HTML; of hidden tests only that one failed."""
    shown = len(cell.outputs)
    if is_grade(cell):
        shown = cell.metadata.get(NOTE, {}).get("visible", shown)
    for output in cell.outputs[:shown]:
        if output.output_type == "stream":
            yield plain(output.text)
        elif output.output_type == "error":
            yield plain(": ".join(filter(None, (output.ename, output.evalue))), "error")
        elif image := next((k for k in ("image/png", "image/jpeg") if k in output.data), None):
            data = "".join(output.data[image].split())
            yield f'<img alt="an output of this cell" src="data:{image};base64,{data}">'
        else:
            yield plain(output.data.get("text/plain", ""))
    if any(output.output_type == "error" for output in cell.outputs[shown:]):
        yield plain("A test that is not shown failed: the same questions, other data.", "error")
