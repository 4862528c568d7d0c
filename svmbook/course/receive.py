"""What a student handed in: read with care, and laid upon the instructor's notebook.

Nothing of the submitted file is trusted: of each cell its text is taken, its kind, and the name by
which it claims a place. Everything else, metadata, outputs, attachments, stays behind.
"""

from __future__ import annotations

import json
import os
import re
import stat
from copy import deepcopy

from nbformat.v4 import new_code_cell, new_markdown_cell
from nbgrader.utils import is_grade, is_solution

__all__ = [
    "Rejected",
    "handed_out",
    "hidden_lines",
    "is_test",
    "item_of",
    "lay_upon",
    "read_notebook",
    "read_submission",
]

# Whole lines from one mark to the other, as nbgrader takes them out of what is handed out.
HIDDEN, SCHEME = (
    re.compile(rf"^.*BEGIN {what}.*\n((?:.*\n)*?).*END {what}.*$", re.M)
    for what in ("HIDDEN TESTS", "MARK SCHEME")
)

LARGEST = 20_000_000  # bytes of a submitted file
LONGEST = 200_000  # characters of a cell
MOST_CELLS = 1_000
# What would become a tag, a link, a picture, or a link in a formula, each parted by a space.
LIVE = re.compile(r"(<)(?=[A-Za-z/!?])|(!)(?=\[)|(\])(?=[(:\[])|(\\)(?=href|style|class|require)")


class Rejected(ValueError):
    """What was handed in cannot be read; the message says why."""


def read_submission(folder, name):
    """Read the cells of a submitted notebook.

    Parameters
    ----------
    folder : Path
        The student's folder of the assignment.
    name : str
        The assignment; the notebook is called so.

    Returns
    -------
    list of tuple
        Name, kind and text of each cell; no name is None.

    Raises
    ------
    Rejected
        There is no such file, or it is no notebook, or too large.
    """
    if folder.is_symlink() or folder.parent.is_symlink():
        raise Rejected("the folder is a link; hand in the file itself")
    return read_notebook(folder / f"{name}.ipynb")


def read_notebook(path):
    """Read the cells of a notebook, as `read_submission` does."""
    content = _bytes_of(path)
    try:
        notebook = json.loads(content.decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise Rejected("the file is not UTF-8; save it as Jupyter does") from None
    except RecursionError:
        raise Rejected("the file is nested too deeply for a notebook") from None
    except ValueError as error:
        raise Rejected(f"the file is no notebook ({error})") from None
    cells = notebook.get("cells") if isinstance(notebook, dict) else None
    if not isinstance(cells, list):
        raise Rejected("the file is no notebook of format 4: it has no list of cells")
    if len(cells) > MOST_CELLS:
        raise Rejected(f"{len(cells)} cells; at most {MOST_CELLS} are run")
    return [_cell(cell, k) for k, cell in enumerate(cells)]


def _bytes_of(path):
    try:
        # A link is not followed, and a pipe does not keep us waiting.
        file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except FileNotFoundError:
        raise Rejected(f"there is no file {path.name}") from None
    except OSError as error:
        raise Rejected(f"{path.name} cannot be opened ({error.strerror})") from None
    status = os.fstat(file)
    if not stat.S_ISREG(status.st_mode):
        os.close(file)
        raise Rejected(f"{path.name} is no file")
    with os.fdopen(file, "rb") as opened:
        if status.st_size > LARGEST:
            mb = status.st_size / 1e6
            raise Rejected(f"{path.name} has {mb:.0f} MB; at most {LARGEST / 1e6:.0f} are read")
        return opened.read(LARGEST)


def _cell(cell, number):
    """Return name, kind and text of a cell."""
    if not isinstance(cell, dict):
        raise Rejected(f"cell {number} is no cell")
    kind, text, about = cell.get("cell_type"), cell.get("source"), cell.get("metadata")
    if isinstance(text, list) and all(isinstance(line, str) for line in text):
        text = "".join(text)
    if kind not in ("code", "markdown", "raw") or not isinstance(text, str):
        raise Rejected(f"cell {number} is no cell")
    if len(text) > LONGEST:
        raise Rejected(f"cell {number} has {len(text)} characters; at most {LONGEST} are read")
    about = about.get("nbgrader") if isinstance(about, dict) else None
    name = about.get("grade_id") if isinstance(about, dict) else None
    # Half of a surrogate pair is text for JSON and for nobody else.
    text = text.encode("utf-8", "replace").decode("utf-8")
    return name if isinstance(name, str) else None, kind, text


def lay_upon(master, cells):
    """Put a student's answers and own cells in the places of the instructor's notebook.

    Parameters
    ----------
    master : NotebookNode
        The instructor's notebook, with all tests and no solutions.
    cells : list of tuple or None
        As read by `read_submission`; None where nothing could be read.

    Returns
    -------
    nb : NotebookNode
        The notebook to grade.
    notes : list of str
        What was not as it had been handed out.
    """
    nb, notes = deepcopy(master), []
    if cells is None:
        return nb, notes
    places = {item_of(cell): k for k, cell in enumerate(nb.cells) if item_of(cell)}
    own = {(cell.cell_type, cell.source) for cell in master.cells}
    after, found, place = {}, {}, -1
    for name, kind, text in cells:
        if name in places:
            place = places[name]
            found.setdefault(name, {})[kind, text] = None
        elif text.strip() and (kind, text) not in own:
            after.setdefault(place, []).append(_plain(kind, text))
    for name, pieces in found.items():
        place = places[name]
        more = _answer(nb.cells[place], pieces, notes)
        after[place] = [*(new_code_cell(text) for text in more), *after.get(place, [])]
    missing = [name for name in places if name not in found]
    for cell in nb.cells:
        if item_of(cell) in missing and is_solution(cell) and not is_grade(cell):
            cell.source = ""  # a stub would undo what the student wrote in a cell beside it
    if missing:
        notes.append(f"missing: {', '.join(missing)}; tests are put back, answers are empty")
    nb.cells = [
        cell
        for k in range(-1, len(nb.cells))
        for cell in [*([nb.cells[k]] if k >= 0 else []), *after.get(k, [])]
    ]
    return nb, notes


def item_of(cell):
    """Return the name by which nbgrader knows a cell, or None."""
    return cell.metadata.get("nbgrader", {}).get("grade_id")


def is_test(cell):
    """Return whether a cell is a test that runs."""
    return cell.cell_type == "code" and is_grade(cell) and not is_solution(cell)


def handed_out(cell):
    """Return the text of a cell as students see it, without hidden tests and mark scheme."""
    return SCHEME.sub("", HIDDEN.sub("", cell.source)).rstrip()


def hidden_lines(source):
    """Return the numbers of the lines of a test that are not handed out, from 1."""
    spans = [
        (source.count("\n", 0, found.start()) + 1, source.count("\n", 0, found.end()) + 1)
        for found in HIDDEN.finditer(source)
    ]
    return [number for first, last in spans for number in range(first, last + 1)]


def _answer(cell, pieces, notes):
    """Put a text in its place if that is the student's to fill; return what it was split into."""
    name = item_of(cell)
    if is_solution(cell):
        if any(kind != cell.cell_type for kind, _ in pieces):
            notes.append(f"cell {name} was of another kind")
        texts = [text for _, text in pieces if text != cell.source] or [cell.source]
        if len(texts) > 1:
            notes.append(f"cell {name} was there in {len(texts)} pieces; they count as one")
        if cell.cell_type == "code":
            cell.source, *more = texts
            return more
        cell.source = _still("\n\n".join(texts))
    elif cell.cell_type == "code":
        right = handed_out(cell).split()
        if any(text.split() != right for _, text in pieces):
            notes.append(f"cell {name} had been changed; the one handed out was run")
    return []


def _plain(kind, text):
    if kind == "code":
        return new_code_cell(text)
    return new_markdown_cell(_still(text))


def _still(text):
    """Part what pages would make live: tags, links, pictures. Formulas mean what they meant."""
    return LIVE.sub(lambda found: f"{found[0]} ", text)
