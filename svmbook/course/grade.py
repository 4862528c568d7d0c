"""Grade what was handed in: each notebook in a sandbox of its own, marks into the gradebook.

A submission is done when its graded notebook is written, which happens after its marks are, and
these are those of the gradebook; so grading that was ended at any moment goes on where it was, and
does the last one again.
"""

from __future__ import annotations

import hashlib
import json
import re
import warnings
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass

import nbformat
from nbformat.v4 import new_output
from nbgrader.api import MissingEntry
from nbgrader.preprocessors import SaveAutoGrades
from nbgrader.utils import is_grade, is_locked
from sqlalchemy.exc import SAWarning

from .folder import write_whole
from .receive import Rejected, item_of, lay_upon, read_submission
from .sandbox import SandboxError, find_sandbox, run_cells

__all__ = ["Graded", "grade", "reasons_of", "waits"]

SHOWN = ("text/plain", "image/png", "image/jpeg")  # nothing that a browser would run
HIDDEN = re.compile(r"^### BEGIN HIDDEN TESTS\n(.*?)^### END HIDDEN TESTS$", re.M | re.S)
BASE64 = re.compile(r"[A-Za-z0-9+/=\s]*")
NOTE = "svmbook"  # our entry in a graded notebook's metadata


@dataclass(frozen=True)
class Graded:
    """One submission that was graded.

    Attributes
    ----------
    student : str
        Whose it is.
    score, most : float
        Points given so far, and points there are.
    reasons : list of str
        What was not as it should be.
    """

    student: str
    score: float
    most: float
    reasons: list


def grade(course, name, jobs=1, sandbox=None, limits=None, again=False):
    """Grade the submissions of an assignment that are not graded yet, or have changed.

    Parameters
    ----------
    course : Course
        The course.
    name : str
        The assignment, which must have been released.
    jobs : int, default=1
        Sandboxes at a time.
    sandbox : str, optional
        Path of bubblewrap, or `sandbox.UNSAFE`; by default it is looked for.
    limits : Limits, optional
        What each submission may use.
    again : bool, default=False
        Whether those that are graded are done again.

    Yields
    ------
    Graded or int
        First how many there are to do, then each as it is done.

    Raises
    ------
    ValueError
        There is no such assignment, it was not released, or its items have changed since.
    SandboxError
        There is no bubblewrap.
    BlockingIOError
        The course is being graded already.
    """
    master = course.master(name)
    sandbox = sandbox or find_sandbox()
    with course.alone(), ThreadPoolExecutor(jobs) as pool:
        entered = _entered(course, name, master)
        pending = []
        for student, folder in course.submissions(name).items():
            cells, reason = _read(folder, name)
            digest = _digest(master, cells, reason)
            note = _note(course.autograded(student, name))
            if again or (note.get("digest"), note.get("marks")) != (digest, entered.get(student)):
                pending.append((student, cells, reason, digest))
        yield len(pending)
        if pending:
            course.back_up()
        try:
            futures = {
                pool.submit(_run, master, cells, reason, sandbox, limits): (student, digest)
                for student, cells, reason, digest in pending
            }
            for future in as_completed(futures):
                yield _record(course, name, *futures[future], *_result(future, master))
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def reasons_of(course, name, student):
    """Return what was not as it should be with a submission that was graded.

    Parameters
    ----------
    course : Course
        The course.
    name, student : str
        The assignment and the student.

    Returns
    -------
    list of str
        The reasons, most often none.
    """
    return _note(course.autograded(student, name)).get("reasons", [])


def waits(mark):
    """Return whether an item of the gradebook waits for a person to read it.

    nbgrader flags a mark that was given by hand when its notebook is graded again; the mark stands.
    """
    return mark.needs_manual_grade and mark.manual_score is None


def _entered(course, name, master):
    """Return the marks of each student by tests as they stand in the gradebook."""
    with course.gradebook() as book:
        try:
            cells = book.find_notebook(name, name).grade_cells
        except MissingEntry:
            raise ValueError(
                f"{name} was not released; run svmbook course release {name} first."
            ) from None
        if {cell.name: cell.max_score for cell in cells} != {
            item_of(cell): cell.metadata.nbgrader["points"]
            for cell in master.cells
            if is_grade(cell)
        }:
            raise ValueError(
                f"items of {name} have changed since it was released; run svmbook course release "
                f"{name} again, and tell those who have the older one."
            )
        return {
            submission.student.id: _marks(submission)
            for submission in book.assignment_submissions(name)
        }


def _marks(submission):
    return {mark.name: mark.auto_score for mark in submission.notebooks[0].grades}


def _result(future, master):
    """Return what `_run` made of a submission; of one that it cannot take, a notebook of zeros."""
    try:
        return future.result()
    except SandboxError:
        raise
    except Exception as error:
        return _run(master, [], f"the grader failed on it: {error!r}", None, None)


def _read(folder, name):
    try:
        return read_submission(folder, name), None
    except Rejected as error:
        return [], str(error)


def _digest(*parts):
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def _note(path):
    """Return what was noted when a notebook was graded; nothing if it is not there."""
    try:
        return json.loads(path.read_bytes())["metadata"][NOTE]
    except (OSError, ValueError, KeyError):
        return {}


def _run(master, cells, reason, sandbox, limits):
    """Return the graded notebook of a submission, and what was not as it should be."""
    nb, notes = lay_upon(master, cells)
    parts = [
        (cell, text, hidden)
        for cell in nb.cells
        if cell.cell_type == "code"
        for hidden, text in _parts(cell)
    ]
    outputs, checked, tampered = {}, set(), None
    if reason is None:
        work = [
            {"source": text, "graded": _tests(cell), "given": is_locked(cell)}
            for cell, text, _ in parts
        ]
        outcome = run_cells(work, limits, sandbox)
        outputs, checked = outcome.outputs, outcome.checked
        reason, tampered = outcome.reason, outcome.tampered
    if tampered is not None:
        notes.append("tests were made to pass that must fail; no test counts")
    for number, (cell, _, hidden) in enumerate(parts):
        found = _cleaned(outputs.get(number, ()), _tests(cell))
        if _tests(cell) and tampered is not None:
            found = [_error("Tampered", "tests were made to pass that must fail")]
        elif _tests(cell) and number not in checked:
            found.append(_error("NotRun", reason))
        cell.outputs += found
        if _tests(cell) and not hidden:
            cell.metadata[NOTE] = {"visible": len(cell.outputs)}
    return nb, [*([reason] if reason else []), *notes]


def _parts(cell):
    """Return the parts of a cell, and whether each is hidden from students; tests have several."""
    if not _tests(cell):
        return [(False, cell.source)]
    pieces = HIDDEN.split(cell.source)  # shown, hidden, shown, ...
    return [(k % 2 == 1, text) for k, text in enumerate(pieces) if text.strip()]


def _tests(cell):
    """Return whether a cell is a test that runs."""
    return cell.cell_type == "code" and is_grade(cell) and not cell.metadata.nbgrader["solution"]


def _error(name, value):
    return new_output("error", ename=name, evalue=value, traceback=[f"{name}: {value}"])


def _cleaned(outputs, tests):
    """Return the outputs that can be shown to anybody; of tests only what bears on the mark."""
    cleaned = []
    for output in outputs:
        kind = output.get("output_type")
        if kind == "stream":
            name = "stdout" if tests or output.get("name") != "stderr" else "stderr"
            cleaned.append(new_output("stream", name=name, text=_text(output.get("text"))))
        elif kind == "error":
            parts = {part: _text(output.get(part)) for part in ("ename", "evalue")}
            lines = output.get("traceback")
            lines = [_text(line) for line in lines] if isinstance(lines, list) else []
            cleaned.append(new_output("error", **parts, traceback=lines))
        elif kind in ("display_data", "execute_result") and not tests:
            data = output.get("data")
            data = data if isinstance(data, dict) else {}
            shown = {mime: _text(data.get(mime)) for mime in SHOWN}
            data = {
                mime: text
                for mime, text in shown.items()
                if text and (mime == "text/plain" or BASE64.fullmatch(text))
            }
            if data:
                cleaned.append(new_output("display_data", data=data))
    return cleaned


def _text(value):
    if isinstance(value, list):
        value = "".join(map(str, value))
    # Half of a surrogate pair is text for JSON and for nobody else.
    return value.encode("utf-8", "replace").decode("utf-8") if isinstance(value, str) else ""


def _record(course, name, student, digest, nb, reasons):
    """Enter the marks, write the graded notebook, and return what was given."""
    with course.gradebook() as book, warnings.catch_warnings():
        warnings.simplefilter("ignore", SAWarning)  # of the order in which nbgrader adds its rows
        book.update_or_create_student(student)
        book.update_or_create_submission(name, student)
    about = {"student": student, "assignment": name, "notebook": name, "db_url": course.db_url}
    SaveAutoGrades().preprocess(nb, {"nbgrader": about})
    with course.gradebook() as book:
        found = book.find_submission(name, student)
        nb.metadata[NOTE] = {"digest": digest, "reasons": reasons, "marks": _marks(found)}
        write_whole(course.autograded(student, name), nbformat.writes(nb))
        return Graded(student, found.score, found.max_score, reasons)
