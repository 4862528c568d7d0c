"""Submissions are read safely and merged into the master notebook."""

import json

import pytest
from coursework import ASSIGNMENT, ESSAY, SQUARE, answered_notebook, cell_named, hand_in
from nbconvert import HTMLExporter

from svmbook.course.submissions.merge import merge_submission
from svmbook.course.submissions.read import SubmissionError, read_notebook


def hand_in_and_merge(course, nb):
    folder = hand_in(course, "somebody", nb)
    return merge_submission(
        course.master(ASSIGNMENT), read_notebook(folder / f"{ASSIGNMENT}.ipynb")
    )


def test_answers_come_from_the_student_and_everything_else_from_the_instructor(course):
    nb = answered_notebook(course, square="def square(x): return 1", essay="mine")
    cell_named(nb, "test_square").source = "pass"
    cell_named(nb, "test_square").metadata.nbgrader.points = 99
    merged_nb, _ = hand_in_and_merge(course, nb)
    assert cell_named(merged_nb, "square").source == "def square(x): return 1"
    assert cell_named(merged_nb, "essay").source == "mine"
    assert "secret_of_the_test" in cell_named(merged_nb, "test_square").source
    assert cell_named(merged_nb, "test_square").metadata.nbgrader.points == 3


def test_additional_cells_keep_their_position(course):
    nb = answered_notebook(course)
    additional_cell = {"cell_type": "code", "source": "helper = 1", "metadata": {"x": "y" * 1000}}
    nb.cells.insert(nb.cells.index(cell_named(nb, "square")), additional_cell)
    merged_nb, notes = hand_in_and_merge(course, nb)
    sources = [cell.source for cell in merged_nb.cells]
    assert sources.index("helper = 1") == sources.index(SQUARE) - 1
    assert merged_nb.cells[sources.index("helper = 1")].metadata == {}
    assert notes == [] and sources.count("# A small one") == 1


def test_copy_of_a_locked_cell_does_not_move_other_cells(course):
    nb = answered_notebook(course, square="def square(x): return helper(x)")
    test_cell = cell_named(nb, "test_square")
    position = nb.cells.index(test_cell)
    for text in ("def helper(x): return x * x", "", test_cell.source):
        nb.cells.insert(position, {"cell_type": "code", "source": text, "metadata": {}})
    merged_nb, notes = hand_in_and_merge(course, nb)
    sources = [cell.source for cell in merged_nb.cells]
    test_position = merged_nb.cells.index(cell_named(merged_nb, "test_square"))
    assert sources.index("def helper(x): return x * x") < test_position and notes == []


def test_cells_are_placed_by_their_text_if_all_names_are_lost(course):
    nb = answered_notebook(course)
    nb.cells = [*nb.cells[-2:], *nb.cells[:-2]]  # the essay first
    for cell in nb.cells:
        cell.metadata = {}
    merged_nb, notes = hand_in_and_merge(course, nb)
    assert cell_named(merged_nb, "essay").source == ESSAY
    sources = [cell.source for cell in merged_nb.cells]
    assert sources.count(SQUARE) == 1 and len(merged_nb.cells) == len(nb.cells) + 2
    test_position = merged_nb.cells.index(cell_named(merged_nb, "test_square"))
    setup_position = merged_nb.cells.index(cell_named(merged_nb, "setup"))
    assert setup_position < sources.index(SQUARE) < test_position
    assert any("missing: setup, square" in note for note in notes)


def test_unreadable_submission_is_merged_as_the_instructors_notebook(course):
    merged_nb, notes = merge_submission(course.master(ASSIGNMENT), None)
    assert [c.source for c in merged_nb.cells] == [
        c.source for c in course.master(ASSIGNMENT).cells
    ]
    assert notes == []


def test_wrong_cell_type_is_corrected(course):
    nb = answered_notebook(course)
    cell_named(nb, "square").cell_type = "markdown"
    merged_nb, notes = hand_in_and_merge(course, nb)
    assert cell_named(merged_nb, "square").cell_type == "code"
    assert notes == ["cell square had the wrong cell type"]


def test_split_answer_is_graded_as_a_whole(course):
    nb = answered_notebook(course, square="def helper(x):\n    return x")
    second_part = cell_named(nb, "square").copy()
    second_part.source = "def square(x):\n    return helper(x) ** 2"
    stub = cell_named(nb, "square").copy()
    stub.source = cell_named(course.master(ASSIGNMENT), "square").source
    nb.cells += [second_part, cell_named(nb, "square"), stub]
    merged_nb, notes = hand_in_and_merge(course, nb)
    sources = [cell.source for cell in merged_nb.cells]
    position = sources.index("def helper(x):\n    return x")
    assert sources[position + 1] == second_part.source
    assert cell_named(merged_nb, "square").source == sources[position]
    assert sources.count(second_part.source) == 1 and stub.source not in sources
    assert notes == ["cell square was found in 2 pieces, which were graded together"]


def test_stub_does_not_override_an_answer_in_an_additional_cell(course):
    nb = answered_notebook(course)
    cell_named(nb, "square").metadata = {}
    merged_nb, notes = hand_in_and_merge(course, nb)
    sources = [cell.source for cell in merged_nb.cells]
    assert SQUARE in sources and not any("NotImplementedError" in text for text in sources)
    assert notes == ["missing: square; tests were restored, answers are empty"]


@pytest.mark.parametrize("item", ["setup", "test_square", "test_total"])
def test_changes_of_locked_cells_are_reported_and_ignored(course, item):
    nb = answered_notebook(course)
    cell_named(nb, item).source += "\nimport math"
    merged_nb, notes = hand_in_and_merge(course, nb)
    assert notes == [f"cell {item} had been changed; the original was run"]
    assert "import math" not in cell_named(merged_nb, item).source


def test_deleted_essay_is_restored_as_unanswered(course):
    nb = answered_notebook(course)
    nb.cells.remove(cell_named(nb, "essay"))
    merged_nb, notes = hand_in_and_merge(course, nb)
    assert (
        cell_named(merged_nb, "essay").source
        == cell_named(course.master(ASSIGNMENT), "essay").source
    )
    assert notes[0].startswith("missing: essay")


def test_tags_in_an_essay_are_deactivated_and_formulas_are_kept(course):
    merged_nb, _ = hand_in_and_merge(
        course, answered_notebook(course, essay="<b>x</b> $a<b$ <!-- c --> $1 < 2$")
    )
    assert cell_named(merged_nb, "essay").source == "< b>x< /b> $a< b$ < !-- c --> $1 < 2$"


def test_links_and_images_in_an_essay_are_deactivated(course):
    essay = "[a](javascript:x) ![b](http://c/d.png) [e][f]\n\n[f]: javascript:x\n\n$\\href{g}{h}$"
    merged_nb, _ = hand_in_and_merge(course, answered_notebook(course, essay=essay))
    body, _ = HTMLExporter(template_name="basic").from_notebook_node(merged_nb)
    end_of_page = body[body.index("javascript") - 200 :]
    for active_content in ('href="javascript', "<img", "\\href"):
        assert active_content not in end_of_page


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        ([1], "cell 0 is invalid"),
        ([{"cell_type": "code", "source": 3}], "cell 0 is invalid"),
        ([{"cell_type": "worse", "source": ""}], "cell 0 is invalid"),
        ([{"cell_type": "code", "source": "x" * 200_001}], "200001 characters"),
        ([{"cell_type": "code", "source": ""}] * 1_001, "1001 cells"),
    ],
)
def test_invalid_too_large_or_too_many_cells_are_refused(course, cells, message):
    folder = hand_in(course, "somebody", json.dumps({"cells": cells}).encode())
    with pytest.raises(SubmissionError, match=message):
        read_notebook(folder / f"{ASSIGNMENT}.ipynb")


def test_source_may_be_a_string_or_a_list_of_lines(course):
    cells = [{"cell_type": "code", "source": ["a\n", "b"]}, {"cell_type": "raw", "source": "c"}]
    folder = hand_in(course, "somebody", json.dumps({"cells": cells}).encode())
    assert read_notebook(folder / f"{ASSIGNMENT}.ipynb") == [
        (None, "code", "a\nb"),
        (None, "raw", "c"),
    ]
