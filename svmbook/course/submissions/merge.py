"""Lay what a student handed in upon the instructor's notebook."""

import re
from collections import defaultdict
from copy import deepcopy

from nbformat.v4 import new_code_cell, new_markdown_cell
from nbgrader.utils import compute_checksum, is_grade, is_solution

from ..layout.items import handed_out, item_of

__all__ = ["is_unanswered", "lay_upon"]

PICTURE = re.compile(r"!\[[^]]*\]\((attachment:|data:)")
# What would become a tag, a link, a picture, or a link in a formula, each parted by a space.
LIVE = re.compile(r"(<)(?=[A-Za-z/!?])|(!)(?=\[)|(\])(?=[(:\[])|(\\)(?=href|style|class|require)")


def lay_upon(master, cells):
    """Put a student's answers and own cells in the places of the instructor's notebook.

    Parameters
    ----------
    master : NotebookNode
        The instructor's notebook, with all tests and no solutions.
    cells : list of tuple or None
        As read by `read_notebook`; None where nothing could be read.

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
    found, own = _sorted_out(cells, places, master)
    for name, pieces in found.items():
        _enter(nb, places[name], [*pieces], own, notes)
    if any(kind != "code" and PICTURE.search(text) for _, kind, text in cells):
        notes.append("a picture that was pasted into a text is not kept; write formulas")
    missing = [name for name in places if name not in found]
    if missing:
        notes.append(f"missing: {', '.join(missing)}; tests are put back, answers are empty")
    for name, place in places.items():
        if nb.cells[place].cell_type == "markdown" and is_unanswered(nb.cells[place]):
            _take_essay_from_beside(nb, place, own, notes)
        if name in missing and is_solution(nb.cells[place]) and not is_grade(nb.cells[place]):
            nb.cells[place].source = ""  # a stub would undo what stands in a cell beside it
    nb.cells = [
        cell
        for k in range(-1, len(nb.cells))
        for cell in [*([nb.cells[k]] if k >= 0 else []), *(_plain(*one) for one in own[k])]
    ]
    return nb, notes


def _sorted_out(cells, places, master):
    """Return the different texts under each name, and the student's own cells by their place."""
    handed = {(cell.cell_type, cell.source) for cell in master.cells}
    is_nameless = not any(name in places for name, _, _ in cells)
    by_text = _places_by_text(master) if is_nameless else {}
    found, own, place = {}, defaultdict(list), -1
    for name, kind, text in cells:
        if name in places:
            place = places[name]
            found.setdefault(name, {})[kind, text] = None
        elif same := by_text.get((kind, " ".join(text.split()))):
            place = next((k for k in same if k > place), same[0])
        elif text.strip() and (kind, text) not in handed:
            own[place].append((kind, text))
    return found, own


def _places_by_text(master):
    """Return where each text was handed out, for cells whose names a program has dropped."""
    places = defaultdict(list)
    for k, cell in enumerate(master.cells):
        if words := " ".join(handed_out(cell).split()):
            places[cell.cell_type, words].append(k)
    return places


def _enter(nb, place, pieces, own, notes):
    """Put what stands under a name in its place, if that is the student's to fill."""
    cell, name = nb.cells[place], item_of(nb.cells[place])
    if not is_solution(cell):
        _keep_additions(nb, place, pieces, own, notes)
        return
    if any(kind != cell.cell_type for kind, _ in pieces):
        notes.append(f"cell {name} was of another kind")
    texts = [text for _, text in pieces if not _is_stub(cell, text)] or [pieces[0][1]]
    if len(texts) > 1:
        notes.append(f"cell {name} was there in {len(texts)} pieces; they count as one")
    if cell.cell_type == "code":
        cell.source, *more = texts
        own[place] = [*(("code", text) for text in more), *own[place]]
    else:
        cell.source = _still("\n\n".join(texts))


def _keep_additions(nb, place, pieces, own, notes):
    """Note that a locked cell was changed; text that was added to a question is kept below it."""
    cell, name = nb.cells[place], item_of(nb.cells[place])
    right = handed_out(cell)
    changed = [text for _, text in pieces if text.split() != right.split()]
    if not changed:
        return
    if cell.cell_type == "code":
        notes.append(f"cell {name} had been changed; the one handed out was run")
        return
    known = {line.strip() for line in right.splitlines()}
    lines = [line for text in changed for line in text.splitlines() if line.strip() not in known]
    if lines:
        notes.append(f"cell {name} had been changed; what was added to it stands below it")
        own[place].insert(0, ("markdown", "\n".join(lines)))


def _is_stub(cell, text):
    """Return whether a text is the one that was handed out in a cell."""
    handed = deepcopy(cell)
    handed.source = text
    return not text.strip() or cell.metadata.nbgrader.get("checksum") == compute_checksum(handed)


def is_unanswered(cell):
    """Return whether an answer that a person reads is as it was handed out."""
    return is_grade(cell) and is_solution(cell) and _is_stub(cell, cell.source)


def _take_essay_from_beside(nb, place, own, notes):
    """Take text that stands beside an essay that was left empty for the essay.

    It is the student's own text below the answer's cell, or between that and its question.
    """
    for at in (place, place - 1):
        texts = [one for one in own[at] if _is_text(*one)]
        if texts:
            nb.cells[place].source = _still("\n\n".join(text for _, text in texts))
            own[at] = [one for one in own[at] if one not in texts]
            name = item_of(nb.cells[place])
            notes.append(f"the answer {name} was empty; the text beside it was taken for it")
            return


def _is_text(kind, text):
    """Return whether a cell is written for people: text, or code of nothing but comments."""
    return kind != "code" or all(line.lstrip()[:1] in ("", "#") for line in text.splitlines())


def _plain(kind, text):
    if kind == "code":
        return new_code_cell(text)
    return new_markdown_cell(_still(text))


def _still(text):
    """Part what pages would make live: tags, links, pictures. Formulas mean what they meant."""
    return LIVE.sub(lambda found: f"{found[0]} ", text)
