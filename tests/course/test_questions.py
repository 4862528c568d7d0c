"""Personalised questions: a student's own answers pass, and those of others fail."""

import itertools

import nbformat
import numpy as np
import pytest
from coursework import ROOT, nbgrader_metadata

from svmbook.course.layout.items import STUDENT_VARIABLE, cell_name

CHAPTER_NAMES = sorted(path.stem for path in ROOT.glob("notebooks/*.ipynb"))
QUESTION_PATHS = sorted(ROOT.glob("notebooks/questions/*.ipynb"))
STUDENT_IDS = ("ann", "ben", "s1234567", "María José", "学生")


def test_each_chapter_has_three_questions():
    assert [path.stem for path in QUESTION_PATHS] == [f"questions_{name}" for name in CHAPTER_NAMES]
    for path, name in zip(QUESTION_PATHS, CHAPTER_NAMES, strict=True):
        cells = nbformat.read(path, 4).cells
        tests = [cell for cell in cells if nbgrader_metadata(cell).get("grade")]
        assert len(tests) == 3, path.stem
        total = sum(nbgrader_metadata(cell)["points"] for cell in tests)
        chapter = nbformat.read(ROOT / f"notebooks/{name}.ipynb", 4)
        title = next(line for line in chapter.cells[0].source.splitlines() if line[:2] == "# ")
        assert cells[0].source.startswith(f"# Questions: {title[2:]}\n")
        assert f"**Points** {total}." in cells[0].source


def split_questions(path):
    """Return the setup of a notebook, and for each question its numbers, solution and test."""
    cells = [cell for cell in nbformat.read(path, 4).cells if cell.cell_type == "code"]
    assert cell_name(cells[1]) == STUDENT_VARIABLE
    setup, _, *sources = (cell.source for cell in cells)
    return setup, [*zip(sources[::3], sources[1::3], sources[2::3], strict=True)]


def round_answer(answer):
    """Return an answer to five significant digits, the precision that students must give."""
    if isinstance(answer, float | np.ndarray) and np.asarray(answer).dtype.kind == "f":
        return np.vectorize(lambda number: float(f"{number:.5g}"))(answer)
    return answer


@pytest.mark.parametrize("path", QUESTION_PATHS, ids=lambda path: path.stem)
def test_solutions_pass_for_every_student_and_fail_for_others(path):
    setup, questions = split_questions(path)
    setup_namespace = {"__name__": "__main__"}
    exec(setup, setup_namespace)
    for numbers, solution, test in questions:
        namespaces_and_answers = {}
        for student in STUDENT_IDS:
            namespace = setup_namespace | {STUDENT_VARIABLE: student}
            exec(numbers, namespace)
            question_namespace = dict(namespace)
            exec(solution, namespace)
            answers = {k: v for k, v in namespace.items() if k not in question_namespace}
            exec(test, dict(namespace))
            exec(test, namespace | {k: round_answer(v) for k, v in answers.items()})
            namespaces_and_answers[student] = question_namespace, answers
        for student, other in itertools.permutations(STUDENT_IDS, 2):
            with pytest.raises(AssertionError):
                exec(test, namespaces_and_answers[student][0] | namespaces_and_answers[other][1])
