"""Whose numbers a notebook is graded with, where questions differ from student to student.

Such an assignment has an answer's cell by the name of ``student``, in which students write their
id. Later cells draw their numbers from it (`personal_rng`).
"""

from __future__ import annotations

import ast
from collections import Counter

from nbgrader.utils import is_solution

from ..execution.source import without_commands
from ..layout.items import STUDENT, item_of
from ..personal import normal_form

__all__ = ["enter_id", "is_personal", "settle_ids", "written_id"]


def is_personal(nb):
    """Return whether the questions of an assignment differ from student to student."""
    return any(item_of(cell) == STUDENT and is_solution(cell) for cell in nb.cells)


def written_id(cells):
    """Return the id that a student has written: in its own cell, or else in the last that has one.

    Parameters
    ----------
    cells : list of tuple or None
        As read by `read_notebook`.

    Returns
    -------
    str or None
    """
    found = [
        (name == STUDENT, text)
        for name, kind, source in cells or ()
        if kind == "code"
        for text in _ids_in(source)
    ]
    own = [text for in_its_cell, text in found if in_its_cell]
    return (own or [text for _, text in found] or [None])[-1]


def _ids_in(source):
    """Yield the texts that a cell gives to the name ``student``."""
    try:
        statements = ast.parse(without_commands(source)).body
    except (SyntaxError, ValueError):
        return
    for node in statements:
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant):
            named = any(isinstance(t, ast.Name) and t.id == STUDENT for t in node.targets)
            if named and isinstance(node.value.value, str) and node.value.value.strip():
                yield node.value.value


def settle_ids(written):
    """Decide with whose numbers each submission is graded.

    The id that a student has written counts, if nobody else in the course has it: who writes a full
    name in the place of the folder's has solved an equal question. An id that belongs to another
    submission would let its answers count twice; then the folder's name counts.

    Parameters
    ----------
    written : dict of str to str or None
        By the name of each folder, what its notebook gives as the id.

    Returns
    -------
    dict of str to tuple
        By the name of each folder, the id and a note where the two differ, else None.
    """
    folders = {normal_form(folder) for folder in written}
    used = Counter(normal_form(text) for text in written.values() if text)
    settled = {}
    for folder, text in written.items():
        if text is None or normal_form(text) == normal_form(folder):
            settled[folder] = folder, None
        elif normal_form(text) in folders or used[normal_form(text)] > 1:
            note = f"the id {text!r} is also that of another submission; {folder!r} was taken"
            settled[folder] = folder, note
        else:
            settled[folder] = text, f"the id is {text!r}, and the folder is {folder!r}"
    return settled


def enter_id(nb, student):
    """Write an id into its cell, and lock that: tests use it whatever the kernel makes of it.

    Parameters
    ----------
    nb : NotebookNode
        The notebook to grade, which is changed.
    student : str or None
        The id; None where the cell is to stay as it is.
    """
    for cell in nb.cells:
        if student and item_of(cell) == STUDENT and is_solution(cell):
            cell.source = f"{STUDENT} = {student!r}"
            cell.metadata.nbgrader.update(solution=False, locked=True)
