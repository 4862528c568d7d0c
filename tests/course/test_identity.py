"""Questions whose numbers differ: whose are taken, and that another's answers get nothing."""

import nbformat
import pytest
from coursework import NAME, cell_of, hand_in, source
from nbformat.v4 import new_code_cell

from svmbook.course.execution.outcome import Limits
from svmbook.course.grading.grade import grade
from svmbook.course.grading.student import check
from svmbook.course.layout.folder import create
from svmbook.course.personal import normal_form, personal_rng
from svmbook.course.submissions.identity import settle_id, written_id

ANSWER = "twice = 2 * number"


def personal_source():
    """Return the small assignment with one question whose number is personal."""
    nb = source()
    locked = {"locked": True}
    setup = "from svmbook.course.checks import check_close\n"
    setup += "from svmbook.course.personal import personal_rng"
    nb.cells = [
        cell_of(new_code_cell(setup), grade_id="setup", **locked),
        cell_of(
            new_code_cell("### BEGIN SOLUTION\nstudent = 'ann'\n### END SOLUTION"),
            **{"grade_id": "student", "solution": True},
        ),
        cell_of(
            new_code_cell("number = personal_rng(student, 'twice').uniform()"),
            **{"grade_id": "numbers", **locked},
        ),
        cell_of(
            new_code_cell(f"### BEGIN SOLUTION\n{ANSWER}\n### END SOLUTION"),
            **{"grade_id": "twice", "solution": True},
        ),
        cell_of(
            new_code_cell(
                "0 < twice\n### BEGIN HIDDEN TESTS\ncheck_close('twice', twice, number + number)\n"
                "### END HIDDEN TESTS"
            ),
            **{"grade_id": "test_twice", "grade": True, "points": 2, **locked},
        ),
    ]
    return nb


@pytest.fixture(scope="module")
def personal(tmp_path_factory):
    folder = tmp_path_factory.mktemp("personal") / "assignments"
    (folder / NAME).mkdir(parents=True)
    nbformat.write(personal_source(), folder / NAME / f"{NAME}.ipynb")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SVMBOOK_ASSIGNMENTS", str(folder))
        course = create(folder.parent / "course")
    course.release(NAME)
    return course


def filled_in(course, identity, answer=ANSWER):
    nb = nbformat.read(course.released(NAME), as_version=4)
    for cell in nb.cells:
        item = cell.metadata.nbgrader.grade_id
        cell.source = {"student": identity, "twice": answer}.get(item, cell.source)
    return nb


def test_whose_numbers_count(personal, shells):
    of_ann = f"twice = {2 * personal_rng('ann', 'twice').uniform()}"
    of_cem = f"twice = {2 * personal_rng('Cem Diaz', 'twice').uniform()}"
    own_cell = filled_in(personal, "", ANSWER)
    del own_cell.cells[1]
    own_cell.cells.insert(1, new_code_cell("student = 'fay'"))
    pretends = filled_in(personal, "student = 'gil'", of_ann)
    pretends.cells.insert(2, new_code_cell("student = 'ann'"))
    handed = {
        "ann": (filled_in(personal, "student = 'ann'"), 2),
        "ben": (filled_in(personal, "student = 'ann'", of_ann), 0),  # another's id and answers
        "cem": (filled_in(personal, "student = 'Cem Diaz'", of_cem), 0),  # not the folder's name
        "dan": (filled_in(personal, "student: str = ' DAN '"), 2),
        "eve": (filled_in(personal, "# my id is eve"), 2),  # ran nothing at home
        "fay": (own_cell, 2),  # deleted the cell, and wrote one
        "gil": (pretends, 0),
    }
    for student, (nb, _) in handed.items():
        hand_in(personal, student, nb)
    _, *done = grade(personal, NAME, sandbox=shells)
    assert {one.student: one.score for one in done} == {k: v for k, (_, v) in handed.items()}
    told = {one.student: " ".join(one.reasons) for one in done}
    assert (
        "the id in the notebook is 'ann', and its questions were graded as those of 'ben'"
        in (told["ben"])
    )
    assert "write cem,Cem Diaz into ids.csv and grade again" in told["cem"]
    assert told["eve"] == "no id was found in the notebook; 'eve' was taken"
    assert not any(told[name] for name in ("ann", "dan", "gil"))
    (personal.root / "ids.csv").write_text("cem,Cem Diaz\nnobody,x\n")
    assert [(one.student, one.score) for one in [*grade(personal, NAME, sandbox=shells)][1:]] == [
        ("cem", 2)
    ]
    assert [*grade(personal, NAME, sandbox=shells)] == [0]  # nothing has changed


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        ([("student", "code", "student = 'ann'")], "ann"),
        ([("student", "code", "student = ''"), (None, "code", "%pdb\nstudent = 'ben'")], "ben"),
        ([(None, "code", "student = 'ben'"), ("student", "code", "student = 'ann'")], "ann"),
        ([("student", "code", "student = 7"), (None, "code", "student = (")], None),
        ([("student", "markdown", "student = 'ann'")], None),
        (None, None),
    ],
)
def test_the_id_is_read_from_its_cell_or_another(cells, expected):
    assert written_id(cells) == expected


def test_the_folder_or_what_the_instructor_enters_counts():
    assert settle_id("ann", " ANN", {}) == ("ann", None)
    assert settle_id("ann", "Ann Lee", {"ann": "ann lee"}) == ("ann lee", None)
    for written in (None, "ben"):
        settled, note = settle_id("ann", written, {})
        assert settled == "ann" and "'ann'" in note


def test_cells_that_no_reader_of_python_can_read_have_no_id():
    for text in ("student = 'a'\n" + "0\n" * 1001, "x = " + "-" * 1900, "student = '" + "a" * 101):
        assert written_id([("student", "code", text)]) is None
    assert written_id([("student", "code", f"student = {'a' * 101!r}")]) is None


def test_numbers_depend_on_the_id_and_the_question_alone():
    def first(*names):
        return personal_rng(*names).randint(2**31, size=3).tolist()

    assert first("ann", "a") == first(" ANN", "a") != first("ann", "b") != first("anna", "a")
    assert normal_form("José  María") == normal_form("josé maría ")
    with pytest.raises(TypeError, match="the id is a int; write it as a text"):
        personal_rng(7, "a")


@pytest.mark.usefixtures("shells")
def test_check_uses_the_id_that_is_written(personal, tmp_path):
    path = tmp_path / f"{NAME}.ipynb"
    nbformat.write(filled_in(personal, "student = 'ann'"), path)
    found = check(path, Limits())
    assert [result.message for result in found.results] == [None]
    assert found.notes == ["your id is 'ann'"]
    nbformat.write(filled_in(personal, "# none"), path)
    found = check(path, Limits())
    assert "NameError" in found.results[0].message
    assert any("the cell student does not give your id" in note for note in found.notes)
