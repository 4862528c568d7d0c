"""Each assignment of the book: its solution gets all points, a typical mistake loses its own."""

import re
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import nbformat
import pytest
from coursework import hand_in_as

from svmbook.course.folder import create
from svmbook.course.grade import grade

ROOT = Path(__file__).resolve().parents[2]
NAMES = sorted(path.parent.name for path in (ROOT / "notebooks/assignments").glob("*/*.ipynb"))


def _about(cell):
    return cell.metadata.get("nbgrader", {})


def source(name):
    return nbformat.read(ROOT / f"notebooks/assignments/{name}/{name}.ipynb", as_version=4)


def submissions(name):
    """Return the module with the wrong and the other right submission of an assignment."""
    path = ROOT / f"tests/course/submissions/{name}.py"
    spec = spec_from_file_location(f"submissions_{name}", path)
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module", params=NAMES)
def marks(request, sandbox, tmp_path_factory):
    """The points of each item, and those that each submission got."""
    name = request.param
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SVMBOOK_ASSIGNMENTS", str(ROOT / "notebooks/assignments"))
        course = create(tmp_path_factory.mktemp(name) / "course", [name])
    course.release(name)
    solution = {_about(c).get("grade_id"): c.source for c in source(name).cells}
    made = submissions(name)
    handed = {"the solution": {}, "another solution": made.RIGHT}
    handed |= {kind: answers for kind, (answers, _) in made.WRONG.items()}
    for student, answers in handed.items():
        nb = nbformat.read(course.released(name), as_version=4)
        for cell in nb.cells:
            if _about(cell).get("solution"):
                item = _about(cell)["grade_id"]
                cell.source = answers.get(item, solution[item]).strip()
        hand_in_as(course, student, name, nb)
    total, *done = grade(course, name, jobs=2, sandbox=sandbox)
    assert total == len(done) and not any(one.reasons for one in done)
    with course.gradebook() as book:
        found = {
            student: {
                g.name: g.score
                for g in book.find_submission_notebook(name, name, student).grades
                if g.auto_score is not None
            }
            for student in handed
        }
        points = {c.name: c.max_score for c in book.find_notebook(name, name).grade_cells}
    return name, points, found


def test_solutions_get_all_and_mistakes_lose_their_own(marks):
    name, points, found = marks
    tests = {item: points[item] for item in found["the solution"]}
    assert found["the solution"] == tests
    assert found["another solution"] == tests
    for kind, (_, lost) in submissions(name).WRONG.items():
        assert found[kind] == tests | lost, kind


@pytest.mark.parametrize("name", NAMES)
def test_an_assignment_says_what_it_asks(name):
    cells = source(name).cells
    text = "\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
    points = sum(_about(cell).get("points", 0) for cell in cells)
    assert f"**Points** {points}." in text
    minutes = int(re.search(r"\*\*Time\*\* (\d+) minutes", text)[1])
    assert 60 <= minutes <= 120
    essays = [c for c in cells if _about(c).get("grade") and _about(c).get("solution")]
    assert essays and text.count("BEGIN MARK SCHEME") == len(essays)
    tests = [c for c in cells if _about(c).get("grade") and not _about(c).get("solution")]
    assert all("### BEGIN HIDDEN TESTS" in cell.source for cell in tests)
    assert len(submissions(name).WRONG) >= 3
    by_tests, by_hand = (sum(_about(c)["points"] for c in part) for part in (tests, essays))
    guide = (ROOT / "book/teaching.md").read_text(encoding="utf-8")
    line = rf"^\| `{name}` \| \{{ref\}}`[a-z-]+` \| {minutes} \| {by_tests} \| {by_hand} \|$"
    assert re.search(line, guide, re.M)
