"""Merge a submission into the master notebook of an assignment."""

import re
from collections import defaultdict
from copy import deepcopy

from nbformat.v4 import new_code_cell, new_markdown_cell
from nbgrader.utils import compute_checksum, is_grade, is_solution

from ..layout.items import cell_name, released_source

__all__ = ["is_unanswered", "merge_submission"]

EMBEDDED_IMAGE = re.compile(r"!\[[^]]*\]\((attachment:|data:)")
# The beginning of a tag, an image, a link, or an HTML command in a formula, such as \href; a space
# is inserted after it.
ACTIVE_MARKUP = re.compile(
    r"(<)(?=[A-Za-z/!?])|(!)(?=\[)|(\])(?=[(:\[])|(\\)(?=href|style|class|require)"
)


def merge_submission(master, cells):
    """Insert a student's answers and additional cells into the master notebook.

    Parameters
    ----------
    master : NotebookNode
        The notebook from `Course.master`, with all tests and no solutions.
    cells : list of tuple or None
        Cells from `read_notebook`; None if nothing could be read.

    Returns
    -------
    nb : NotebookNode
        The notebook to grade.
    notes : list of str
        Differences from the notebook that was handed out.
    """
    nb, notes = deepcopy(master), []
    if cells is None:
        return nb, notes
    positions = {cell_name(cell): k for k, cell in enumerate(nb.cells) if cell_name(cell)}
    pieces_by_name, added_cells = _separate_cells(cells, positions, master)
    for name, pieces in pieces_by_name.items():
        _merge_pieces(nb, positions[name], [*pieces], added_cells, notes)
    if any(cell_type != "code" and EMBEDDED_IMAGE.search(text) for _, cell_type, text in cells):
        notes.append("an image pasted into a text is not kept; type formulas instead")
    missing_names = [name for name in positions if name not in pieces_by_name]
    if missing_names:
        notes.append(f"missing: {', '.join(missing_names)}; tests were restored, answers are empty")
    for name, position in positions.items():
        cell = nb.cells[position]
        if cell.cell_type == "markdown" and is_unanswered(cell):
            _use_adjacent_text(cell, position, added_cells, notes)
        if name in missing_names and is_solution(cell) and not is_grade(cell):
            cell.source = ""  # the stub would override an answer in a cell added by the student
    merged_cells = [_new_cell(*cell) for cell in added_cells[-1]]
    for k, cell in enumerate(nb.cells):
        merged_cells += [cell, *(_new_cell(*added) for added in added_cells[k])]
    nb.cells = merged_cells
    return nb, notes


def _separate_cells(cells, positions, master):
    """Return the distinct texts of each named cell, and the added cells by position."""
    master_texts = {(cell.cell_type, cell.source) for cell in master.cells}
    has_names = any(name in positions for name, _, _ in cells)
    positions_by_text = {} if has_names else _positions_by_text(master)
    pieces_by_name, added_cells, position = {}, defaultdict(list), -1
    for name, cell_type, text in cells:
        if name in positions:
            position = positions[name]
            pieces_by_name.setdefault(name, {})[cell_type, text] = None
        elif positions_of_text := positions_by_text.get((cell_type, " ".join(text.split()))):
            position = next((k for k in positions_of_text if k > position), positions_of_text[0])
        elif text.strip() and (cell_type, text) not in master_texts:
            added_cells[position].append((cell_type, text))
    return pieces_by_name, added_cells


def _positions_by_text(master):
    """Return the positions of each released text, for submissions that have lost all cell names."""
    positions = defaultdict(list)
    for k, cell in enumerate(master.cells):
        if text := " ".join(released_source(cell).split()):
            positions[cell.cell_type, text].append(k)
    return positions


def _merge_pieces(nb, position, pieces, added_cells, notes):
    """Merge a student's texts of a named cell: fill an answer, or note changes to a locked cell."""
    cell, name = nb.cells[position], cell_name(nb.cells[position])
    if not is_solution(cell):
        _keep_additions(cell, pieces, added_cells[position], notes)
        return
    if any(cell_type != cell.cell_type for cell_type, _ in pieces):
        notes.append(f"cell {name} had the wrong cell type")
    texts = [text for _, text in pieces if not _is_stub(cell, text)] or [pieces[0][1]]
    if len(texts) > 1:
        notes.append(f"cell {name} was found in {len(texts)} pieces, which were graded together")
    if cell.cell_type == "code":
        cell.source, *other_texts = texts
        new_cells = [("code", text) for text in other_texts]
        added_cells[position] = [*new_cells, *added_cells[position]]
    else:
        cell.source = _deactivate_markup("\n\n".join(texts))


def _keep_additions(cell, pieces, cells_below, notes):
    """Note changes to a locked cell; put text that was added to a question into a cell below it."""
    name, original = cell_name(cell), released_source(cell)
    changed_texts = [text for _, text in pieces if text.split() != original.split()]
    if not changed_texts:
        return
    if cell.cell_type == "code":
        notes.append(f"cell {name} had been changed; the original was run")
        return
    original_lines = {line.strip() for line in original.splitlines()}
    lines = [
        line
        for text in changed_texts
        for line in text.splitlines()
        if line.strip() not in original_lines
    ]
    if lines:
        notes.append(f"cell {name} had been changed; the additions are kept below it")
        cells_below.insert(0, ("markdown", "\n".join(lines)))


def _is_stub(cell, text):
    """Return whether a text is empty or the stub that was handed out in a cell."""
    filled_cell = deepcopy(cell)
    filled_cell.source = text
    checksum = cell.metadata.nbgrader.get("checksum")
    return not text.strip() or checksum == compute_checksum(filled_cell)


def is_unanswered(cell):
    """Return whether a manually graded answer is empty or as it was handed out."""
    return is_grade(cell) and is_solution(cell) and _is_stub(cell, cell.source)


def _use_adjacent_text(cell, position, added_cells, notes):
    """Fill an empty text answer with the student's text from below or directly above it."""
    for k in (position, position - 1):
        texts = [added for added in added_cells[k] if _is_prose(*added)]
        if texts:
            cell.source = _deactivate_markup("\n\n".join(text for _, text in texts))
            added_cells[k] = [added for added in added_cells[k] if added not in texts]
            name = cell_name(cell)
            notes.append(f"the answer {name} was empty; the adjacent text was graded instead")
            return


def _is_prose(cell_type, text):
    """Return whether a cell is not code, or is code that consists of comments only."""
    return cell_type != "code" or all(line.lstrip()[:1] in ("", "#") for line in text.splitlines())


def _new_cell(cell_type, text):
    if cell_type == "code":
        return new_code_cell(text)
    return new_markdown_cell(_deactivate_markup(text))


def _deactivate_markup(text):
    """Insert spaces so that tags, links and images stay plain text; formulas keep their meaning."""
    return ACTIVE_MARKUP.sub(lambda match: f"{match[0]} ", text)
