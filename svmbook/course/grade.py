"""Grade what was handed in: each notebook in a sandbox of its own, marks into the gradebook.

A submission is done when its graded notebook is written, which happens after its marks are, and
these are those of the gradebook; so grading that was ended at any moment goes on where it was, and
does the last one again.
"""

from __future__ import annotations

import hashlib
import json
import re
import threading
import warnings
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass

import nbformat
from nbformat.v4 import new_output
from nbgrader.api import MissingEntry
from nbgrader.preprocessors import SaveAutoGrades
from nbgrader.utils import is_grade, is_locked, is_solution
from sqlalchemy.exc import SAWarning

from .folder import write_whole
from .inside import KEPT
from .marks import marks_in, marks_of, totals
from .receive import HIDDEN, Rejected, is_test, item_of, lay_upon, read_submission
from .sandbox import SandboxError, find_sandbox, run_cells

__all__ = ["Graded", "grade", "reasons_of"]

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
    with course.alone():
        pending = _pending(course, name, master, again)
        yield len(pending)
        if pending:
            course.back_up()
        stop = threading.Event()
        with ThreadPoolExecutor(jobs) as pool:
            try:
                futures = {
                    pool.submit(_run, master, cells, reason, sandbox, limits, stop): rest
                    for *rest, cells, reason in pending
                }
                for future in as_completed(futures):
                    student, digest = futures.pop(future)
                    yield _record(course, name, student, *_result(future, master, digest))
            finally:
                stop.set()
                pool.shutdown(wait=False, cancel_futures=True)


def _pending(course, name, master, again):
    """Return student, digest, cells and reason of each submission that is to be graded."""
    entered, pending = _entered(course, name, master), []
    tasks = [(cell.cell_type, cell.source, cell.metadata.get("nbgrader")) for cell in master.cells]
    for student, folder in course.submissions(name).items():
        cells, reason = _read(folder, name)
        digest = _digest(tasks, cells, reason)
        note = _note(course.autograded(student, name))
        if again or (note.get("digest"), note.get("marks")) != (digest, entered.get(student)):
            pending.append((student, digest, cells, reason))
    return pending


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
            student: {item: mark.by_tests for item, mark in marks.items()}
            for student, marks in marks_of(book, name).items()
        }


def _result(future, master, digest):
    """Return what came of a submission; of one that the grader cannot take, zeros for now."""
    try:
        return digest, *future.result()
    except SandboxError:
        raise
    except Exception as error:  # without a digest the next run tries it once more
        return None, *_run(master, None, f"the grader failed on it: {error!r}", None, None, None)


def _read(folder, name):
    try:
        return read_submission(folder, name), None
    except Rejected as error:
        return None, str(error)


def _digest(*parts):
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def _note(path):
    """Return what was noted when a notebook was graded; nothing if it is not there."""
    try:
        return json.loads(path.read_bytes())["metadata"][NOTE]
    except (OSError, ValueError, KeyError):
        return {}


def _run(master, cells, reason, sandbox, limits, stop):
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
            {"source": text, "graded": is_test(cell), "given": is_locked(cell)}
            for cell, text, _ in parts
        ]
        outcome = run_cells(work, limits, sandbox, stop)
        outputs, checked = outcome.outputs, outcome.checked
        reason, tampered = outcome.reason, outcome.tampered
    if tampered is not None:
        notes.append("tests were made to pass that must fail; no test counts")
    for number, (cell, _, hidden) in enumerate(parts):
        found = _cleaned(outputs.get(number, ()), is_test(cell))
        if is_test(cell) and tampered is not None:
            found = [_error("Tampered", "tests were made to pass that must fail")]
        elif is_test(cell) and number not in checked:
            found.append(
                _error("NotRun", reason or "nothing can be checked in this kernel any more")
            )
        before = len(cell.outputs)
        cell.outputs += found
        if hidden:
            of = cell.metadata.setdefault(NOTE, {"hidden": []})
            of["hidden"] += range(before, len(cell.outputs))
    return nb, [*([reason] if reason else []), *notes]


def _parts(cell):
    """Return the parts of a cell, and whether each is hidden from students; tests have several."""
    if not is_test(cell):
        return [(False, cell.source)]
    pieces = HIDDEN.split(cell.source)  # shown, hidden, shown, ...
    return [(k % 2 == 1, text) for k, text in enumerate(pieces) if text.strip()]


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
            shown = {mime: _text(data.get(mime)) for mime in KEPT}
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
    path = course.autograded(student, name)
    with course.gradebook() as book:
        marks = marks_in(book.find_submission(name, student), name)
    changed = [item for item in _changed(path, nb) if marks[item].by_hand is not None]
    reasons = [*reasons, *(f"{item} has changed since it was marked by hand" for item in changed)]
    by_tests = {item: mark.by_tests for item, mark in marks.items()}
    nb.metadata[NOTE] = {"digest": digest, "reasons": reasons, "marks": by_tests}
    write_whole(path, nbformat.writes(nb))
    return Graded(student, *totals(marks), reasons)


def _changed(path, nb):
    """Return the answers for a person to read that are not those of an earlier graded notebook."""
    try:
        before = {item_of(cell): cell.source for cell in nbformat.read(path, as_version=4).cells}
    except (OSError, ValueError):
        return []
    answers = [cell for cell in nb.cells if is_grade(cell) and is_solution(cell)]
    return [item_of(cell) for cell in answers if before.get(item_of(cell)) != cell.source]
