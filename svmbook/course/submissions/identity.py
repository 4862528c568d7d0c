"""The student id that determines the numbers in personalised questions.

An assignment with such questions has an answer cell with the name ``student``, in which students
write their id. Later cells draw the numbers with `personal_rng`.
"""

import ast

from nbgrader.utils import is_solution

from ..execution.source import PARSE_ERRORS, replace_ipython_commands
from ..layout.items import STUDENT_VARIABLE, cell_name
from ..personal import normalise_id

__all__ = ["choose_id", "enter_id", "find_stated_id", "is_personalised"]

MAX_SEARCHED_LENGTH = 2_000  # characters; longer cells are not searched for an id
MAX_ID_LENGTH = 100  # characters


def is_personalised(nb):
    """Return whether an assignment has personalised questions."""
    return any(cell_name(cell) == STUDENT_VARIABLE and is_solution(cell) for cell in nb.cells)


def find_stated_id(cells):
    """Return the id that a student states: the last one, preferably from the cell ``student``.

    Parameters
    ----------
    cells : list of tuple or None
        Cells from `read_notebook`.

    Returns
    -------
    str or None
    """
    stated_ids = [
        (name == STUDENT_VARIABLE, student_id)
        for name, cell_type, source in cells or ()
        if cell_type == "code" and len(source) <= MAX_SEARCHED_LENGTH
        for student_id in _assigned_ids(source)
    ]
    student_cell_ids = [student_id for in_student_cell, student_id in stated_ids if in_student_cell]
    return (student_cell_ids or [student_id for _, student_id in stated_ids] or [None])[-1]


def _assigned_ids(source):
    """Yield the strings that a cell assigns to the variable ``student``."""
    try:
        statements = ast.parse(replace_ipython_commands(source)).body
    except PARSE_ERRORS:
        return
    for node in statements:
        if not isinstance(node, ast.Assign | ast.AnnAssign):
            continue
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        assigns_id = any(
            isinstance(target, ast.Name) and target.id == STUDENT_VARIABLE for target in targets
        )
        text = getattr(node.value, "value", None)
        if assigns_id and isinstance(text, str) and 0 < len(text.strip()) <= MAX_ID_LENGTH:
            yield text


def choose_id(folder, stated_id, ids_by_folder):
    """Decide which id determines the numbers with which a submission is graded.

    It is the name of the folder, or the id that the instructor has entered for this folder. The id
    in the notebook is not used, because answers could be copied together with it.

    Parameters
    ----------
    folder : str
        The name of the student's folder.
    stated_id : str or None
        The id that the student states in the notebook; None if there is none.
    ids_by_folder : dict of str to str
        Ids that the instructor has entered, by the names of folders.

    Returns
    -------
    student_id : str
        The id.
    note : str or None
        A note for the instructor, if the id in the notebook is missing or different.
    """
    student_id = ids_by_folder.get(folder, folder)
    if stated_id is None:
        return student_id, f"no id was found in the notebook; {student_id!r} was used"
    if normalise_id(stated_id) == normalise_id(student_id):
        return student_id, None
    return student_id, (
        f"the id in the notebook is {stated_id!r}, but the questions were graded with the "
        f"numbers of {student_id!r}; if the id is the student's, write {folder},{stated_id} into "
        "ids.csv and grade again"
    )


def enter_id(nb, student_id):
    """Write an id into the cell ``student`` and lock it, so that tests use this id.

    Parameters
    ----------
    nb : NotebookNode
        The notebook to grade, which is modified.
    student_id : str or None
        The id; None leaves the cell unchanged.
    """
    for cell in nb.cells:
        if student_id and cell_name(cell) == STUDENT_VARIABLE and is_solution(cell):
            cell.source = f"{STUDENT_VARIABLE} = {student_id!r}"
            cell.metadata.nbgrader.update(solution=False, locked=True)
