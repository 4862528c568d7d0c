"""Whose numbers a notebook is graded with, where questions differ from student to student.

Such an assignment has an answer's cell by the name of ``student``, in which students write their
id. Later cells draw their numbers from it (`personal_rng`).
"""

import ast

from nbgrader.utils import is_solution

from ..execution.source import UNREADABLE, without_commands
from ..layout.items import STUDENT, item_of
from ..personal import normal_form

__all__ = ["enter_id", "is_personal", "settle_id", "written_id"]

LONGEST_CELL = 2_000  # characters of a cell in which an id is looked for
LONGEST_ID = 100


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
        if kind == "code" and len(source) <= LONGEST_CELL
        for text in _ids_in(source)
    ]
    own = [text for in_its_cell, text in found if in_its_cell]
    return (own or [text for _, text in found] or [None])[-1]


def _ids_in(source):
    """Yield the texts that a cell gives to the name ``student``."""
    try:
        statements = ast.parse(without_commands(source)).body
    except UNREADABLE:
        return
    for node in statements:
        if not isinstance(node, ast.Assign | ast.AnnAssign):
            continue
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        named = any(isinstance(one, ast.Name) and one.id == STUDENT for one in targets)
        text = getattr(node.value, "value", None)
        if named and isinstance(text, str) and 0 < len(text.strip()) <= LONGEST_ID:
            yield text


def settle_id(folder, written, ids):
    """Decide with whose numbers a submission is graded.

    The name of the folder counts, or what the instructor has entered for it. If the written id
    counted, answers could be copied together with it.

    Parameters
    ----------
    folder : str
        The name of the student's folder.
    written : str or None
        What the notebook gives as the id.
    ids : dict of str to str
        Ids by the names of folders, where the instructor has entered another one.

    Returns
    -------
    settled : str
        The id.
    note : str or None
        What the instructor has to look at.
    """
    settled = ids.get(folder, folder)
    if written is None:
        return settled, f"no id was found in the notebook; {settled!r} was taken"
    if normal_form(written) == normal_form(settled):
        return settled, None
    return settled, (
        f"the id in the notebook is {written!r}, and its questions were graded as those of "
        f"{settled!r}; if the id is the student's, write {folder},{written} into ids.csv and grade "
        "again"
    )


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
