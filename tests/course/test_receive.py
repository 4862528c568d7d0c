import json

import pytest
from coursework import ESSAY, NAME, SQUARE, answered, hand_in
from nbconvert import HTMLExporter

from svmbook.course.submissions.merge import lay_upon
from svmbook.course.submissions.receive import Rejected, read_notebook


def laid(course, nb):
    folder = hand_in(course, "somebody", nb)
    return lay_upon(course.master(NAME), read_notebook(folder / f"{NAME}.ipynb"))


def cell_of(nb, item):
    return next(c for c in nb.cells if c.metadata.get("nbgrader", {}).get("grade_id") == item)


def test_answers_come_from_the_student_and_all_else_from_the_instructor(course):
    nb = answered(course, square="def square(x): return 1", essay="mine")
    cell_of(nb, "test_square").source = "pass"
    cell_of(nb, "test_square").metadata.nbgrader.points = 99
    found, _ = laid(course, nb)
    assert cell_of(found, "square").source == "def square(x): return 1"
    assert cell_of(found, "essay").source == "mine"
    assert "secret_of_the_test" in cell_of(found, "test_square").source
    assert cell_of(found, "test_square").metadata.nbgrader.points == 3


def test_own_cells_stay_after_the_cell_they_stood_after(course):
    nb = answered(course)
    places = [c.metadata.get("nbgrader", {}).get("grade_id") for c in nb.cells]
    own = {"cell_type": "code", "source": "helper = 1", "metadata": {"x": "y" * 1000}}
    nb.cells.insert(places.index("square"), own)
    found, notes = laid(course, nb)
    sources = [cell.source for cell in found.cells]
    assert sources.index("helper = 1") == sources.index(SQUARE) - 1
    assert found.cells[sources.index("helper = 1")].metadata == {}
    assert notes == [] and sources.count("# A small one") == 1


def test_a_copy_of_a_given_text_moves_nothing(course):
    nb = answered(course, square="def square(x): return helper(x)")
    names = [c.metadata.get("nbgrader", {}).get("grade_id") for c in nb.cells]
    at, copied = names.index("test_square"), cell_of(nb, "test_square").source
    for text in ("def helper(x): return x * x", "", copied):
        nb.cells.insert(at, {"cell_type": "code", "source": text, "metadata": {}})
    found, notes = laid(course, nb)
    sources = [cell.source for cell in found.cells]
    test = found.cells.index(cell_of(found, "test_square"))
    assert sources.index("def helper(x): return x * x") < test and notes == []


def test_cells_that_all_lost_their_names_are_placed_by_their_texts(course):
    nb = answered(course)
    nb.cells = [*nb.cells[-2:], *nb.cells[:-2]]  # the essay first
    for cell in nb.cells:
        cell.metadata = {}
    found, notes = laid(course, nb)
    assert cell_of(found, "essay").source == ESSAY
    sources = [cell.source for cell in found.cells]
    assert sources.count(SQUARE) == 1 and len(found.cells) == len(nb.cells) + 2
    test = found.cells.index(cell_of(found, "test_square"))
    assert found.cells.index(cell_of(found, "setup")) < sources.index(SQUARE) < test
    assert any("missing: setup, square" in note for note in notes)


def test_nothing_read_gives_the_notebook_as_handed_out(course):
    found, notes = lay_upon(course.master(NAME), None)
    assert [c.source for c in found.cells] == [c.source for c in course.master(NAME).cells]
    assert notes == []


def test_a_cell_of_another_kind_is_put_right(course):
    nb = answered(course)
    cell_of(nb, "square").cell_type = "markdown"
    found, notes = laid(course, nb)
    assert cell_of(found, "square").cell_type == "code"
    assert notes == ["cell square was of another kind"]


def test_an_answer_that_was_split_counts_whole(course):
    nb = answered(course, square="def helper(x):\n    return x")
    second = cell_of(nb, "square").copy()
    second.source = "def square(x):\n    return helper(x) ** 2"
    stub = cell_of(nb, "square").copy()
    stub.source = cell_of(course.master(NAME), "square").source
    nb.cells += [second, cell_of(nb, "square"), stub]
    found, notes = laid(course, nb)
    sources = [cell.source for cell in found.cells]
    place = sources.index("def helper(x):\n    return x")
    assert sources[place + 1] == second.source
    assert cell_of(found, "square").source == sources[place]
    assert sources.count(second.source) == 1 and stub.source not in sources
    assert notes == ["cell square was there in 2 pieces; they count as one"]


def test_no_stub_undoes_what_stands_in_a_cell_of_ones_own(course):
    nb = answered(course)
    cell_of(nb, "square").metadata = {}
    found, notes = laid(course, nb)
    sources = [cell.source for cell in found.cells]
    assert SQUARE in sources and not any("NotImplementedError" in text for text in sources)
    assert notes == ["missing: square; tests are put back, answers are empty"]


@pytest.mark.parametrize("item", ["setup", "test_square", "test_total"])
def test_cells_that_were_changed_and_are_not_ones_own_are_told(course, item):
    nb = answered(course)
    cell_of(nb, item).source += "\nimport math"
    found, notes = laid(course, nb)
    assert notes == [f"cell {item} had been changed; the one handed out was run"]
    assert "import math" not in cell_of(found, item).source


def test_an_essay_that_was_deleted_is_one_without_answer(course):
    nb = answered(course)
    nb.cells.remove(cell_of(nb, "essay"))
    found, notes = laid(course, nb)
    assert cell_of(found, "essay").source == cell_of(course.master(NAME), "essay").source
    assert notes[0].startswith("missing: essay")


def test_tags_in_an_essay_are_text_and_formulas_stay(course):
    found, _ = laid(course, answered(course, essay="<b>x</b> $a<b$ <!-- c --> $1 < 2$"))
    assert cell_of(found, "essay").source == "< b>x< /b> $a< b$ < !-- c --> $1 < 2$"


def test_links_and_pictures_in_an_essay_are_dead(course):
    live = "[a](javascript:x) ![b](http://c/d.png) [e][f]\n\n[f]: javascript:x\n\n$\\href{g}{h}$"
    found, _ = laid(course, answered(course, essay=live))
    body, _ = HTMLExporter(template_name="basic").from_notebook_node(found)
    page = body[body.index("javascript") - 200 :]
    for bad in ('href="javascript', "<img", "\\href"):
        assert bad not in page


@pytest.mark.parametrize(
    ("cells", "says"),
    [
        ([1], "cell 0 is no cell"),
        ([{"cell_type": "code", "source": 3}], "cell 0 is no cell"),
        ([{"cell_type": "worse", "source": ""}], "cell 0 is no cell"),
        ([{"cell_type": "code", "source": "x" * 200_001}], "200001 characters"),
        ([{"cell_type": "code", "source": ""}] * 1_001, "1001 cells"),
    ],
)
def test_what_is_no_notebook_is_refused(course, cells, says):
    folder = hand_in(course, "somebody", json.dumps({"cells": cells}).encode())
    with pytest.raises(Rejected, match=says):
        read_notebook(folder / f"{NAME}.ipynb")


def test_lines_and_lists_of_lines_are_the_same(course):
    cells = [{"cell_type": "code", "source": ["a\n", "b"]}, {"cell_type": "raw", "source": "c"}]
    folder = hand_in(course, "somebody", json.dumps({"cells": cells}).encode())
    assert read_notebook(folder / f"{NAME}.ipynb") == [(None, "code", "a\nb"), (None, "raw", "c")]
