"""From the folder of a course to the marks: release, grade, feedback, report."""

import re
import sqlite3
from urllib.parse import unquote

import nbformat
import pytest
from coursework import ESSAY, NAME, SQUARE, about, answered, hand_in

from svmbook.course.grading import grade as grading
from svmbook.course.grading.grade import grade
from svmbook.course.grading.pending import reasons_of
from svmbook.course.reports import feedback as pages_of_feedback
from svmbook.course.reports.feedback import feedback
from svmbook.course.reports.pages import code, markdown
from svmbook.course.reports.report import report

WRONG = "def square(x):\n    return abs(x) * 3 if x == 5 else x * x"  # of the hidden test alone
RAISES = "class Odd(Exception): pass\ndef square(x): raise Odd('\\n<b>one\\n\\x1b[31m two\\u202e')"


def graded(course, sandbox, **options):
    """Grade, and return the marks by student."""
    total, *done = grade(course, NAME, jobs=2, sandbox=sandbox, **options)
    assert total == len(done)
    return {one.student: one for one in done}


def texts(course, student):
    return (course.root / "feedback" / student / NAME / f"{NAME}.html").read_text("utf-8")


def test_what_is_handed_out_has_no_solution_and_no_hidden_test(course):
    nb = nbformat.read(course.released(NAME), as_version=4)
    everything = "\n".join(cell.source for cell in nb.cells)
    assert "secret_of_the_test" not in everything and "x * x\n" not in everything
    assert ESSAY not in everything and "HIDDEN" not in everything
    assert everything.count("raise NotImplementedError") == 2


ODD = f"""import sys
from IPython.display import HTML, display
display(HTML("x" * 6_000_000))
get_ipython().events.register("post_run_cell", lambda result: get_ipython().displayhook(1000))
{SQUARE.replace("return", "print('careful', file=sys.stderr); return")}
"""


def test_marks_are_those_of_the_tests_and_an_essay_waits(course, sandbox):
    hand_in(course, "right", answered(course))
    hand_in(course, "wrong", answered(course, square=WRONG))
    hand_in(course, "nothing", nbformat.read(course.released(NAME), as_version=4))
    hand_in(course, "killed", answered(course, total="import os\nos.kill(os.getpid(), 9)"))
    # What is displayed and not kept is not counted, warnings cost nothing, a number as output of a
    # test is no mark, and hidden tests are not in the history.
    odd = answered(course, square=ODD)
    odd.cells.append({"cell_type": "code", "source": "print(In)", "metadata": {}, "outputs": []})
    hand_in(course, "odd", odd)
    done = graded(course, sandbox)
    expected = {"right": 5, "wrong": 2, "nothing": 0, "killed": 3, "odd": 5}
    assert {name: one.score for name, one in done.items()} == expected
    assert all(one.most == 9 for one in done.values())
    reasons = {name: one.reasons for name, one in done.items() if one.reasons}
    assert reasons == {"killed": ["the kernel died"]}  # and what was passed before is kept
    with course.gradebook() as book:
        waits = {
            name: book.find_grade("essay", NAME, NAME, name).needs_manual_grade for name in done
        }
    assert waits == {name: name != "nothing" for name in done}  # nothing: no answer, no mark
    list(feedback(course, NAME))
    assert "def square" in texts(course, "odd") and "secret_of_the_test" not in texts(course, "odd")


def test_what_is_graded_is_left_alone_until_it_changes(course, shells):
    folder = hand_in(course, "one", answered(course))
    hand_in(course, "other", answered(course))
    assert set(graded(course, shells)) == {"one", "other"}
    assert graded(course, shells) == {}
    nbformat.write(answered(course, square=WRONG), folder / f"{NAME}.ipynb")
    assert {name: one.score for name, one in graded(course, shells).items()} == {"one": 2}
    assert set(graded(course, shells, again=True)) == {"one", "other"}


def test_grading_that_was_ended_goes_on_where_it_was(course, shells):
    for k in range(4):
        hand_in(course, f"student{k}", answered(course, square=SQUARE if k % 2 else WRONG))
    steps = grade(course, NAME, sandbox=shells)
    assert next(steps) == 4
    first = next(steps)
    steps.close()
    rest = graded(course, shells)
    assert first.student not in rest and 1 <= len(rest) <= 3
    with course.gradebook() as book:
        scores = {s.student.id: s.score for s in book.assignment_submissions(NAME)}
    assert scores == {"student0": 2, "student1": 5, "student2": 2, "student3": 5}


def test_a_submission_that_the_grader_cannot_take_stops_no_other(course, shells, monkeypatch):
    hand_in(course, "odd", answered(course, square="odd"))
    hand_in(course, "one", answered(course))

    def lay_upon(master, cells):
        if any(text == "odd" for _, _, text in cells or ()):
            raise KeyError("nobody thought of this")
        return whole(master, cells)

    whole = grading.lay_upon
    monkeypatch.setattr(grading, "lay_upon", lay_upon)
    done = graded(course, shells)
    assert done["one"].score == 5 and done["odd"].score == 0
    assert "nobody thought of this" in done["odd"].reasons[0]
    monkeypatch.undo()
    assert graded(course, shells).keys() == {"odd"}  # tried once more, the other is not


def test_marks_that_went_with_an_older_gradebook_are_given_again(course, shells):
    hand_in(course, "one", answered(course))
    graded(course, shells)
    (copy, *_) = sorted((course.root / "backups").glob("*.db"), reverse=True)
    (course.root / "gradebook.db").write_bytes(copy.read_bytes())
    assert graded(course, shells)["one"].score == 5


def test_one_run_at_a_time(course, shells):
    hand_in(course, "one", answered(course))
    steps = grade(course, NAME, sandbox=shells)
    assert next(steps) == 1
    for other in (lambda: next(grade(course, NAME, sandbox=shells)), lambda: course.release(NAME)):
        with pytest.raises(BlockingIOError, match="by another run; wait"):
            other()
    steps.close()
    assert len(graded(course, shells)) == 1


def test_items_that_changed_after_the_release_are_told(course, shells):
    hand_in(course, "one", answered(course))
    nb = nbformat.read(course.source(NAME), as_version=4)
    nb.cells[-1].metadata.nbgrader.points = 6
    nbformat.write(nb, course.source(NAME))
    with pytest.raises(ValueError, match=r"items of small have changed.*release small again"):
        next(grade(course, NAME, sandbox=shells))
    course.release(NAME)
    assert graded(course, shells)["one"].most == 11


def test_a_mark_given_by_hand_survives_and_is_told(course, shells):
    hand_in(course, "one", answered(course))
    graded(course, shells)
    with course.gradebook() as book:
        given = book.find_grade("essay", NAME, NAME, "one")
        given.manual_score, given.needs_manual_grade = 3.5, False
        book.find_comment(
            "essay", NAME, NAME, "one"
        ).manual_comment = "Say why, <b>not</b> that: $x^2$."
        book.db.commit()
    list(feedback(course, NAME))
    assert "8.5 of 9 points" in texts(course, "one")
    assert "Say why, &lt;b&gt;not&lt;/b&gt; that: <math" in texts(course, "one")
    assert "for graders alone" not in texts(course, "one")
    graded(course, shells, again=True)
    with course.gradebook() as book:
        assert book.find_grade("essay", NAME, NAME, "one").manual_score == 3.5
    list(feedback(course, NAME))
    assert "8.5 of 9 points" in texts(course, "one") and "to be read" not in texts(course, "one")


def test_feedback_says_that_a_hidden_test_failed_and_not_which(course, shells):
    hand_in(course, "hidden", answered(course, square=WRONG))
    hand_in(course, "seen", answered(course, square="def square(x): return [x]"))
    graded(course, shells)
    list(feedback(course, NAME))
    assert "A part of this test that is not shown failed" in texts(course, "hidden")
    assert "secret_of_the_test" not in texts(course, "hidden")
    assert "square has the shape (1,); () is expected" in texts(course, "seen")


SECRET = "assert square(5.0) == 25.0, 'secret_of_the_test'"


@pytest.mark.parametrize(
    "test",
    [
        f"### BEGIN HIDDEN TESTS\n{SECRET}\n### END HIDDEN TESTS",
        f"x = 1\n### BEGIN HIDDEN TESTS\n{SECRET}\n### END HIDDEN TESTS\ny = 2",
        f"x = 1\n### BEGIN HIDDEN TESTS \n{SECRET}\n### END HIDDEN TESTS \n",
        f"x = 1\n#  BEGIN HIDDEN TESTS (of more)\n{SECRET}\n# END HIDDEN TESTS",
    ],
)
def test_no_form_of_a_hidden_test_is_told(course, shells, test):
    nb = nbformat.read(course.source(NAME), as_version=4)
    next(c for c in nb.cells if about(c).get("grade_id") == "test_square").source = test
    nbformat.write(nb, course.source(NAME))
    course.release(NAME)
    assert "secret_of_the_test" not in course.released(NAME).read_text("utf-8")
    hand_in(course, "one", answered(course, square=WRONG))
    (one,) = graded(course, shells).values()
    list(feedback(course, NAME))
    assert one.score == 2 and one.reasons == []
    assert "A part of this test that is not shown failed" in texts(course, "one")
    assert "secret_of_the_test" not in texts(course, "one")


def test_an_essay_that_changed_after_it_was_marked_is_told(course, shells):
    folder = hand_in(course, "one", answered(course))
    graded(course, shells)
    with course.gradebook() as book:
        book.find_grade("essay", NAME, NAME, "one").manual_score = 4
        book.db.commit()
    nbformat.write(answered(course, essay="Another."), folder / f"{NAME}.ipynb")
    (one,) = graded(course, shells).values()
    assert one.reasons == ["essay has changed since it was marked by hand"]


def test_an_item_that_came_after_the_first_submission_is_refused(course, shells):
    hand_in(course, "one", answered(course))
    graded(course, shells)
    nb = nbformat.read(course.source(NAME), as_version=4)
    nb.cells = [c for c in nb.cells if about(c).get("grade_id") != "test_total"]
    nbformat.write(nb, course.source(NAME))
    with pytest.raises(ValueError, match="no item can be added or removed"):
        course.release(NAME)


def test_formulas_are_formulas_and_nothing_else():
    for tex in (
        r"\colorbox{a}{\<meta/http-equiv='refresh'/content='0;url=https://evil.example/'>}",
        r"\<script>",
        r"\unicode{\<style>}x",
        r"\text{<script>alert(1)</script>}",
        r"\href{javascript:x}{y}",
        r"\newcommand{\a}{xxx}" + r"\a " * 90,
    ):
        page = markdown(f"${tex}$").lower()
        for bad in ("<meta", "<script", "<style", "<form", "href="):
            assert bad not in page
    assert "<math" in markdown(r"$\left\| w \right\|^2 \le \sum_i \xi_i$")


def test_long_code_of_blanks_takes_no_time():
    assert len(code("x\n" + " \n" * 20_000 + "x")) < 100_000


def test_the_report_tells_hard_items_and_reasons(course, shells):
    for k in range(3):
        hand_in(course, f"wrong{k}", answered(course, square=WRONG))
    hand_in(course, "odd", answered(course, square=RAISES))
    hand_in(course, "right one", answered(course))
    hand_in(course, "broken", b"{}")
    graded(course, shells)
    text = report(course, NAME).read_text("utf-8")
    assert "<a " not in text
    assert "6 submissions of 9 points" in text and "5 answers wait to be read" in text
    assert "test_square <strong>(hard)" in text and "test_total <strong>" not in text
    assert reasons_of(course, NAME, "broken") == [
        "the file is no notebook of format 4: it has no list of cells"
    ]
    assert "it has no list of cells" in text
    (wrong,) = re.findall(r"<td>test_square</td><td>(.*)</td><td class=.number.>3</td>", text)
    assert wrong == "AssertionError: square is 15, and that is not right"
    assert "<td>Odd: &lt;b&gt;one two</td>" in text
    pages = [*feedback(course, NAME)]
    path = report(course, NAME)
    linked = re.findall('<a href="([^"]*)"', path.read_text("utf-8"))
    assert sorted((path.parent / unquote(link)).resolve() for link in linked) == sorted(pages)


def test_the_gradebook_is_copied_before_it_is_written(course, shells):
    hand_in(course, "one", answered(course))
    before = set((course.root / "backups").glob("*.db"))
    graded(course, shells)
    (copy,) = set((course.root / "backups").glob("*.db")) - before
    with sqlite3.connect(copy) as book:
        assert book.execute("select count(*) from student").fetchone() == (0,)
    assert graded(course, shells) == {}
    assert len(list((course.root / "backups").glob("*.db"))) == len(before) + 1


def test_a_page_of_formulas_without_end_is_shown_as_it_is(course, shells, monkeypatch):
    monkeypatch.setattr(pages_of_feedback, "MOST_MARKDOWN", 3_000)
    nb = answered(course)
    formulas = "$x_1 + y^2$ " * 100
    nb.cells += [nbformat.v4.new_markdown_cell(f"{k} {formulas}") for k in range(4)]
    hand_in(course, "one", nb)
    graded(course, shells)
    list(feedback(course, NAME))
    assert texts(course, "one").count("<math") == 200
