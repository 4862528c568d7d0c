"""Questions with personal numbers: everybody's solution passes, and nobody else's answers do."""

import itertools

import nbformat
import numpy as np
import pytest
from coursework import ROOT, about

from svmbook.course.layout.items import STUDENT, item_of

CHAPTERS = sorted(path.stem for path in ROOT.glob("notebooks/*.ipynb"))
QUESTIONS = sorted(ROOT.glob("notebooks/questions/*.ipynb"))
IDS = ("ann", "ben", "s1234567", "María José", "学生")


def test_each_chapter_has_three_questions():
    assert [path.stem for path in QUESTIONS] == [f"questions_{name}" for name in CHAPTERS]
    for path, name in zip(QUESTIONS, CHAPTERS, strict=True):
        cells = nbformat.read(path, 4).cells
        tests = [cell for cell in cells if about(cell).get("grade")]
        assert len(tests) == 3, path.stem
        chapter = nbformat.read(ROOT / f"notebooks/{name}.ipynb", 4)
        title = next(line for line in chapter.cells[0].source.splitlines() if line[:2] == "# ")
        assert cells[0].source.startswith(f"# Questions: {title[2:]}\n")
        assert f"**Points** {sum(about(cell)['points'] for cell in tests)}." in cells[0].source


def parts(path):
    """Return the setup of a notebook, and of each question its numbers, solution and test."""
    cells = [c for c in nbformat.read(path, 4).cells if c.cell_type == "code"]
    setup, own, *rest = cells
    assert item_of(own) == STUDENT
    return setup.source, [
        tuple(c.source for c in three) for three in zip(*[iter(rest)] * 3, strict=True)
    ]


def rounded(answer):
    """Return an answer to five significant digits, as students are told to give it at least."""
    if isinstance(answer, float | np.ndarray) and np.asarray(answer).dtype.kind == "f":
        return np.vectorize(lambda number: float(f"{number:.5g}"))(answer)
    return answer


@pytest.mark.parametrize("path", QUESTIONS, ids=lambda path: path.stem)
def test_solutions_pass_for_every_student_and_fail_for_others(path):
    setup, questions = parts(path)
    common = {"__name__": "__main__"}
    exec(setup, common)
    for numbers, solution, test in questions:
        solved = {}
        for student in IDS:
            names = common | {STUDENT: student}
            exec(numbers, names)
            drawn = dict(names)
            exec(solution, names)
            answers = {k: v for k, v in names.items() if k not in drawn}
            exec(test, dict(names))
            exec(test, names | {k: rounded(v) for k, v in answers.items()})
            solved[student] = drawn, answers
        for mine, other in itertools.permutations(IDS, 2):
            names = solved[mine][0] | solved[other][1]
            with pytest.raises(AssertionError):
                exec(test, names)
