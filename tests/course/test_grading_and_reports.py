"""Release and grading of an assignment, feedback pages and reports."""

import re
import sqlite3
from urllib.parse import unquote

import nbformat
import pytest
from coursework import (
    ASSIGNMENT,
    ESSAY,
    MARK_SCHEME,
    SQUARE,
    answered_notebook,
    cell_named,
    edit_source_notebook,
    hand_in,
)

from svmbook.course.grading import grade as grade_module
from svmbook.course.grading.grade import grade_submissions
from svmbook.course.grading.pending import recorded_notes
from svmbook.course.reports import feedback as feedback_module
from svmbook.course.reports.feedback import write_feedback
from svmbook.course.reports.pages import render_code, render_markdown
from svmbook.course.reports.report import write_report
from svmbook.course.submissions.merge import merge_submission

# Wrong only for the argument of the hidden test.
SQUARE_FAILING_HIDDEN_TEST = "def square(x):\n    return abs(x) * 3 if x == 5 else x * x"
RAISING_SQUARE = (
    "class CustomError(Exception): pass\n"
    "def square(x): raise CustomError('\\n<b>one\\n\\x1b[31m two\\u202e')"
)


def grade_by_student(course, sandbox, **options):
    """Grade, and return the graded submissions by student."""
    n_submissions, *graded = grade_submissions(
        course, ASSIGNMENT, n_jobs=2, sandbox=sandbox, **options
    )
    assert n_submissions == len(graded)
    return {submission.student: submission for submission in graded}


def write_and_read_feedback(course, student):
    """Write the feedback pages, and return the one for a student."""
    list(write_feedback(course, ASSIGNMENT))
    return course.feedback_path(student, ASSIGNMENT).read_text("utf-8")


def test_released_notebook_has_no_solutions_and_no_hidden_tests(course):
    nb = nbformat.read(course.released_path(ASSIGNMENT), as_version=4)
    text = "\n".join(cell.source for cell in nb.cells)
    assert "secret_of_the_test" not in text and "x * x\n" not in text
    assert ESSAY not in text and "HIDDEN" not in text
    assert text.count("raise NotImplementedError") == 2


NOISY_SQUARE = f"""import sys
from IPython.display import HTML, display
display(HTML("x" * 6_000_000))
get_ipython().events.register("post_run_cell", lambda result: get_ipython().displayhook(1000))
{SQUARE.replace("return", "print('careful', file=sys.stderr); return")}
"""


def test_tests_give_marks_and_essays_need_a_manual_mark(course, sandbox):
    hand_in(course, "right", answered_notebook(course))
    hand_in(course, "wrong", answered_notebook(course, square=SQUARE_FAILING_HIDDEN_TEST))
    hand_in(course, "unanswered", nbformat.read(course.released_path(ASSIGNMENT), as_version=4))
    hand_in(course, "killed", answered_notebook(course, total="import os\nos.kill(os.getpid(), 9)"))
    # Dropped displays do not count as output, warnings lose no points, a number that a submission
    # displays after a test is not a score, and the history does not contain hidden tests.
    noisy = answered_notebook(course, square=NOISY_SQUARE)
    noisy.cells.append({"cell_type": "code", "source": "print(In)", "metadata": {}, "outputs": []})
    hand_in(course, "noisy", noisy)
    graded = grade_by_student(course, sandbox)
    expected = {"right": 5, "wrong": 2, "unanswered": 0, "killed": 3, "noisy": 5}
    assert {student: submission.score for student, submission in graded.items()} == expected
    assert all(submission.max_score == 9 for submission in graded.values())
    notes = {
        student: submission.notes for student, submission in graded.items() if submission.notes
    }
    assert notes == {"killed": ["the kernel died"]}  # the points of earlier tests are kept
    with course.open_gradebook() as gradebook:
        to_be_marked = {
            student
            for student in graded
            if gradebook.find_grade("essay", ASSIGNMENT, ASSIGNMENT, student).needs_manual_grade
        }
    assert to_be_marked == graded.keys() - {"unanswered"}  # an empty answer needs no mark
    text = write_and_read_feedback(course, "noisy")
    assert "def square" in text and "secret_of_the_test" not in text


def test_graded_submission_is_skipped_until_it_changes(course, shell_sandbox):
    folder = hand_in(course, "one", answered_notebook(course))
    hand_in(course, "other", answered_notebook(course))
    assert set(grade_by_student(course, shell_sandbox)) == {"one", "other"}
    assert grade_by_student(course, shell_sandbox) == {}
    nbformat.write(
        answered_notebook(course, square=SQUARE_FAILING_HIDDEN_TEST), folder / f"{ASSIGNMENT}.ipynb"
    )
    (submission,) = grade_by_student(course, shell_sandbox).values()
    assert (submission.student, submission.score) == ("one", 2)
    assert set(grade_by_student(course, shell_sandbox, regrade=True)) == {"one", "other"}


def test_interrupted_grading_is_resumed(course, shell_sandbox):
    for k in range(4):
        hand_in(
            course,
            f"student{k}",
            answered_notebook(course, square=SQUARE if k % 2 else SQUARE_FAILING_HIDDEN_TEST),
        )
    steps = grade_submissions(course, ASSIGNMENT, sandbox=shell_sandbox)
    assert next(steps) == 4
    first_submission = next(steps)
    steps.close()
    later_submissions = grade_by_student(course, shell_sandbox)
    assert first_submission.student not in later_submissions and 1 <= len(later_submissions) <= 3
    with course.open_gradebook() as gradebook:
        scores = {s.student.id: s.score for s in gradebook.assignment_submissions(ASSIGNMENT)}
    assert scores == {"student0": 2, "student1": 5, "student2": 2, "student3": 5}


def test_failure_of_the_grader_affects_one_submission_only(course, shell_sandbox, monkeypatch):
    hand_in(course, "failed", answered_notebook(course, square="fail"))
    hand_in(course, "one", answered_notebook(course))

    def merge_or_fail(master, cells):
        if any(text == "fail" for _, _, text in cells or ()):
            raise KeyError("an unexpected error")
        return merge_submission(master, cells)

    monkeypatch.setattr(grade_module, "merge_submission", merge_or_fail)
    graded = grade_by_student(course, shell_sandbox)
    assert graded["one"].score == 5 and graded["failed"].score == 0
    assert "an unexpected error" in graded["failed"].notes[0]
    monkeypatch.undo()
    graded_again = grade_by_student(course, shell_sandbox)
    assert graded_again.keys() == {"failed"}


def test_marks_are_entered_again_after_an_older_gradebook_was_restored(course, shell_sandbox):
    hand_in(course, "one", answered_notebook(course))
    grade_by_student(course, shell_sandbox)
    (backup, *_) = sorted((course.root / "backups").glob("*.db"), reverse=True)
    (course.root / "gradebook.db").write_bytes(backup.read_bytes())
    assert grade_by_student(course, shell_sandbox)["one"].score == 5


def test_course_is_locked_while_it_is_graded(course, shell_sandbox):
    hand_in(course, "one", answered_notebook(course))
    steps = grade_submissions(course, ASSIGNMENT, sandbox=shell_sandbox)
    assert next(steps) == 1
    for command in (
        lambda: next(grade_submissions(course, ASSIGNMENT, sandbox=shell_sandbox)),
        lambda: course.release(ASSIGNMENT),
    ):
        with pytest.raises(BlockingIOError, match="by another run; wait"):
            command()
    steps.close()
    assert len(grade_by_student(course, shell_sandbox)) == 1


def test_items_changed_after_the_release_are_reported(course, shell_sandbox):
    hand_in(course, "one", answered_notebook(course))
    with edit_source_notebook(course) as nb:
        cell_named(nb, "essay").metadata.nbgrader.points = 6
    with pytest.raises(ValueError, match=r"items of small have changed.*release small again"):
        next(grade_submissions(course, ASSIGNMENT, sandbox=shell_sandbox))
    course.release(ASSIGNMENT)
    assert grade_by_student(course, shell_sandbox)["one"].max_score == 11


def test_manual_mark_is_kept_and_shown(course, shell_sandbox):
    hand_in(course, "one", answered_notebook(course))
    grade_by_student(course, shell_sandbox)
    with course.open_gradebook() as gradebook:
        essay = gradebook.find_grade("essay", ASSIGNMENT, ASSIGNMENT, "one")
        essay.manual_score, essay.needs_manual_grade = 3.5, False
        comment = gradebook.find_comment("essay", ASSIGNMENT, ASSIGNMENT, "one")
        comment.manual_comment = "Say why, <b>not</b> that: $x^2$."
        gradebook.db.commit()
    text = write_and_read_feedback(course, "one")
    assert "8.5 of 9 points" in text
    assert "Say why, &lt;b&gt;not&lt;/b&gt; that: <math" in text
    assert MARK_SCHEME not in text
    grade_by_student(course, shell_sandbox, regrade=True)
    with course.open_gradebook() as gradebook:
        assert gradebook.find_grade("essay", ASSIGNMENT, ASSIGNMENT, "one").manual_score == 3.5
    text = write_and_read_feedback(course, "one")
    assert "8.5 of 9 points" in text and "to be marked" not in text


def test_feedback_shows_the_error_of_a_visible_test(course, shell_sandbox):
    hand_in(course, "one", answered_notebook(course, square="def square(x): return [x]"))
    grade_by_student(course, shell_sandbox)
    assert "square has shape (1,); expected ()" in write_and_read_feedback(course, "one")


HIDDEN_ASSERTION = "assert square(5.0) == 25.0, 'secret_of_the_test'"


@pytest.mark.parametrize(
    "test",
    [
        f"### BEGIN HIDDEN TESTS\n{HIDDEN_ASSERTION}\n### END HIDDEN TESTS",
        f"x = 1\n### BEGIN HIDDEN TESTS\n{HIDDEN_ASSERTION}\n### END HIDDEN TESTS\ny = 2",
        f"x = 1\n### BEGIN HIDDEN TESTS \n{HIDDEN_ASSERTION}\n### END HIDDEN TESTS \n",
        f"x = 1\n#  BEGIN HIDDEN TESTS (of more)\n{HIDDEN_ASSERTION}\n# END HIDDEN TESTS",
    ],
)
def test_hidden_test_is_not_shown_in_any_form(course, shell_sandbox, test):
    with edit_source_notebook(course) as nb:
        cell_named(nb, "test_square").source = test
    course.release(ASSIGNMENT)
    assert "secret_of_the_test" not in course.released_path(ASSIGNMENT).read_text("utf-8")
    hand_in(course, "one", answered_notebook(course, square=SQUARE_FAILING_HIDDEN_TEST))
    (submission,) = grade_by_student(course, shell_sandbox).values()
    assert submission.score == 2 and submission.notes == []
    text = write_and_read_feedback(course, "one")
    assert "A hidden part of this test failed" in text and "secret_of_the_test" not in text


def test_essay_changed_after_it_was_marked_is_reported(course, shell_sandbox):
    folder = hand_in(course, "one", answered_notebook(course))
    grade_by_student(course, shell_sandbox)
    with course.open_gradebook() as gradebook:
        gradebook.find_grade("essay", ASSIGNMENT, ASSIGNMENT, "one").manual_score = 4
        gradebook.db.commit()
    nbformat.write(answered_notebook(course, essay="Another."), folder / f"{ASSIGNMENT}.ipynb")
    (submission,) = grade_by_student(course, shell_sandbox).values()
    assert submission.notes == ["essay has changed since it was marked by hand"]


def test_item_cannot_be_removed_after_the_first_submission(course, shell_sandbox):
    hand_in(course, "one", answered_notebook(course))
    grade_by_student(course, shell_sandbox)
    with edit_source_notebook(course) as nb:
        nb.cells.remove(cell_named(nb, "test_total"))
    with pytest.raises(ValueError, match="no item can be added or removed"):
        course.release(ASSIGNMENT)


def test_formulas_cannot_contain_active_content():
    for tex in (
        r"\colorbox{a}{\<meta/http-equiv='refresh'/content='0;url=https://evil.example/'>}",
        r"\<script>",
        r"\unicode{\<style>}x",
        r"\text{<script>alert(1)</script>}",
        r"\href{javascript:x}{y}",
        r"\newcommand{\a}{xxx}" + r"\a " * 90,
    ):
        html = render_markdown(f"${tex}$").lower()
        for markup in ("<meta", "<script", "<style", "<form", "href="):
            assert markup not in html
    assert "<math" in render_markdown(r"$\left\| w \right\|^2 \le \sum_i \xi_i$")


def test_trailing_spaces_are_removed_from_code():
    assert len(render_code("x\n" + " \n" * 20_000 + "x")) < 100_000


def test_report_lists_hard_items_and_problems(course, shell_sandbox):
    for k in range(3):
        hand_in(course, f"wrong{k}", answered_notebook(course, square=SQUARE_FAILING_HIDDEN_TEST))
    hand_in(course, "raising", answered_notebook(course, square=RAISING_SQUARE))
    hand_in(course, "right one", answered_notebook(course))
    hand_in(course, "broken", b"{}")
    grade_by_student(course, shell_sandbox)
    text = write_report(course, ASSIGNMENT).read_text("utf-8")
    assert "<a " not in text
    assert "6 submissions, at most 9 points each: mean" in text
    assert "Answers not yet marked by hand: 5;" in text
    assert "test_square <strong>(hard)" in text and "test_total <strong>" not in text
    assert recorded_notes(course, ASSIGNMENT, "broken") == [
        "the file is not a notebook of format 4: it has no list of cells"
    ]
    assert "it has no list of cells" in text
    (error,) = re.findall(r"<td>test_square</td><td>(.*)</td><td class=.number.>3</td>", text)
    assert error == "AssertionError: square is 15, which is not right"
    assert "<td>CustomError: &lt;b&gt;one two</td>" in text
    pages = [*write_feedback(course, ASSIGNMENT)]
    path = write_report(course, ASSIGNMENT)
    urls = re.findall('<a href="([^"]*)"', path.read_text("utf-8"))
    assert sorted((path.parent / unquote(url)).resolve() for url in urls) == sorted(pages)


def test_gradebook_is_backed_up_before_it_is_written(course, shell_sandbox):
    hand_in(course, "one", answered_notebook(course))
    old_backups = set((course.root / "backups").glob("*.db"))
    grade_by_student(course, shell_sandbox)
    (backup,) = set((course.root / "backups").glob("*.db")) - old_backups
    with sqlite3.connect(backup) as database:
        assert database.execute("select count(*) from student").fetchone() == (0,)
    assert grade_by_student(course, shell_sandbox) == {}
    assert len(list((course.root / "backups").glob("*.db"))) == len(old_backups) + 1


def test_markdown_beyond_the_limit_is_not_rendered(course, shell_sandbox, monkeypatch):
    monkeypatch.setattr(feedback_module, "MAX_RENDERED_CHARACTERS", 3_000)
    nb = answered_notebook(course)
    formulas = "$x_1 + y^2$ " * 100
    nb.cells += [nbformat.v4.new_markdown_cell(f"{k} {formulas}") for k in range(4)]
    hand_in(course, "one", nb)
    grade_by_student(course, shell_sandbox)
    assert write_and_read_feedback(course, "one").count("<math") == 200
