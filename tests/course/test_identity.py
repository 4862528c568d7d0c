"""Personalised questions: which id is used, and that answers of others get no points."""

import nbformat
import pytest
from coursework import (
    ASSIGNMENT,
    create_course,
    hand_in,
    instructor_notebook,
    locked_cell,
    scored_test_cell,
    solution_cell,
)
from nbformat.v4 import new_code_cell

from svmbook.course.execution.outcome import Limits
from svmbook.course.grading.grade import grade_submissions
from svmbook.course.grading.student_check import check_notebook
from svmbook.course.personal import normalise_id, personal_rng
from svmbook.course.submissions.identity import choose_id, find_stated_id

ANSWER = "twice = 2 * number"


def personalised_notebook():
    """Return the small assignment with one personalised question."""
    nb = instructor_notebook()
    setup = "from svmbook.course.checks import check_close\n"
    setup += "from svmbook.course.personal import personal_rng"
    test = (
        "0 < twice\n### BEGIN HIDDEN TESTS\ncheck_close('twice', twice, number + number)\n"
        "### END HIDDEN TESTS"
    )
    nb.cells = [
        locked_cell("setup", setup),
        solution_cell("student", "student = 'ann'"),
        locked_cell("numbers", "number = personal_rng(student, 'twice').uniform()"),
        solution_cell("twice", ANSWER),
        scored_test_cell("test_twice", test, 2),
    ]
    return nb


@pytest.fixture(scope="module")
def personalised_course(tmp_path_factory):
    folder = tmp_path_factory.mktemp("personalised") / "assignments"
    (folder / ASSIGNMENT).mkdir(parents=True)
    nbformat.write(personalised_notebook(), folder / ASSIGNMENT / f"{ASSIGNMENT}.ipynb")
    course = create_course(folder.parent / "course", folder)
    course.release(ASSIGNMENT)
    return course


def notebook_with_id(course, id_source, answer=ANSWER):
    nb = nbformat.read(course.released_path(ASSIGNMENT), as_version=4)
    for cell in nb.cells:
        item = cell.metadata.nbgrader.grade_id
        cell.source = {"student": id_source, "twice": answer}.get(item, cell.source)
    return nb


def test_id_of_the_folder_determines_the_numbers(personalised_course, shell_sandbox):
    answer_of_ann = f"twice = {2 * personal_rng('ann', 'twice').uniform()}"
    answer_of_cem = f"twice = {2 * personal_rng('Cem Diaz', 'twice').uniform()}"
    nb_with_replaced_cell = notebook_with_id(personalised_course, "", ANSWER)
    nb_with_replaced_cell.cells[1] = new_code_cell("student = 'fay'")
    nb_with_two_ids = notebook_with_id(personalised_course, "student = 'gil'", answer_of_ann)
    nb_with_two_ids.cells.insert(2, new_code_cell("student = 'ann'"))
    submissions = {
        "ann": (notebook_with_id(personalised_course, "student = 'ann'"), 2),
        # id and answers of another student
        "ben": (notebook_with_id(personalised_course, "student = 'ann'", answer_of_ann), 0),
        # not the folder's name
        "cem": (notebook_with_id(personalised_course, "student = 'Cem Diaz'", answer_of_cem), 0),
        "dan": (notebook_with_id(personalised_course, "student: str = ' DAN '"), 2),
        "eve": (notebook_with_id(personalised_course, "# my id is eve"), 2),  # no id
        "fay": (nb_with_replaced_cell, 2),  # a new cell instead of the cell for the id
        "gil": (nb_with_two_ids, 0),
    }
    for student, (nb, _) in submissions.items():
        hand_in(personalised_course, student, nb)
    _, *graded_submissions = grade_submissions(
        personalised_course, ASSIGNMENT, sandbox=shell_sandbox
    )
    scores = {graded.student: graded.score for graded in graded_submissions}
    assert scores == {student: score for student, (_, score) in submissions.items()}
    notes = {graded.student: " ".join(graded.notes) for graded in graded_submissions}
    assert "id in the notebook is 'ann', but" in notes["ben"]
    assert "graded with the numbers of 'ben'" in notes["ben"]
    assert "write cem,Cem Diaz into ids.csv and grade again" in notes["cem"]
    assert notes["eve"] == "no id was found in the notebook; 'eve' was used"
    assert not any(notes[student] for student in ("ann", "dan", "gil"))
    (personalised_course.root / "ids.csv").write_text("cem,Cem Diaz\nnobody,x\n")
    n_submissions, cem = grade_submissions(personalised_course, ASSIGNMENT, sandbox=shell_sandbox)
    assert (n_submissions, cem.student, cem.score) == (1, "cem", 2)
    # Nothing has changed.
    assert [*grade_submissions(personalised_course, ASSIGNMENT, sandbox=shell_sandbox)] == [0]


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
def test_id_is_read_from_its_cell_or_another(cells, expected):
    assert find_stated_id(cells) == expected


def test_id_is_the_folder_name_or_entered_by_the_instructor():
    assert choose_id("ann", " ANN", {}) == ("ann", None)
    assert choose_id("ann", "Ann Lee", {"ann": "ann lee"}) == ("ann lee", None)
    for stated_id in (None, "ben"):
        student_id, note = choose_id("ann", stated_id, {})
        assert student_id == "ann" and "'ann'" in note


def test_unreadable_or_long_cells_and_long_ids_are_ignored():
    for text in ("student = 'a'\n" + "0\n" * 1001, "x = " + "-" * 1900, "student = '" + "a" * 101):
        assert find_stated_id([("student", "code", text)]) is None
    assert find_stated_id([("student", "code", f"student = {'a' * 101!r}")]) is None


def test_numbers_depend_only_on_the_id_and_the_question():
    def numbers(student_id, question):
        return personal_rng(student_id, question).randint(2**31, size=3).tolist()

    assert (
        numbers("ann", "a") == numbers(" ANN", "a") != numbers("ann", "b") != numbers("anna", "a")
    )
    assert normalise_id("José  María") == normalise_id("josé maría ")
    with pytest.raises(TypeError, match="the id is of type int; write it in quotes"):
        personal_rng(7, "a")


@pytest.mark.usefixtures("shell_sandbox")
def test_check_uses_the_id_in_the_notebook(personalised_course, tmp_path):
    path = tmp_path / f"{ASSIGNMENT}.ipynb"
    nbformat.write(notebook_with_id(personalised_course, "student = 'ann'"), path)
    report = check_notebook(path, Limits())
    assert [result.message for result in report.results] == [None]
    assert report.notes == ["your id is 'ann'"]
    nbformat.write(notebook_with_id(personalised_course, "# none"), path)
    report = check_notebook(path, Limits())
    assert "NameError" in report.results[0].message
    assert any("the cell student does not contain your id" in note for note in report.notes)
