"""Data files of an assignment: cells and tests can read them, but no submission can change them."""

from pathlib import Path

import nbformat
import pytest
from cells import run_sources
from coursework import ASSIGNMENT, answered_notebook, cell_named, hand_in
from nbformat.v4 import new_code_cell
from nbgrader.utils import compute_checksum

from svmbook.course.execution.outcome import Outcome
from svmbook.course.execution.sandbox import UNSAFE
from svmbook.course.grading import grade as grade_module
from svmbook.course.grading.grade import grade_submissions
from svmbook.course.grading.student_check import check_notebook
from svmbook.course.grading.trial import try_out
from svmbook.course.layout.items import METADATA_KEY

READ_CODE = "import numpy as np\npoints = np.loadtxt('points.csv')"
TEST_CODE = "assert mine == sum(points) == 3.0 and np.loadtxt('sub/more.csv') == 4.0"


@pytest.fixture
def data_files(course):
    """Paths of data files of the small assignment, by their names."""
    folder = course.source_path(ASSIGNMENT).parent
    (folder / "sub/.ipynb_checkpoints").mkdir(parents=True)
    (folder / "points.csv").write_text("1\n2\n")
    (folder / "sub/more.csv").write_text("4\n")
    for name in ("points.csv", "sub/more.csv"):
        (folder / name).chmod(0o666)  # so that only the sandbox protects them
    for name in ("sub/draft.ipynb", "sub/.ipynb_checkpoints/draft.ipynb"):
        (folder / name).write_text("{}")
    return {name: str(folder / name) for name in ("points.csv", "sub/more.csv")}


def test_cells_and_tests_can_read_but_not_change_data_files(sandbox, data_files):
    outcome = run_sources(
        sandbox,
        *(READ_CODE, f"mine = 0.0\n{READ_CODE}\nmine = sum(points)"),
        *(f"open('{name}', 'w')" for name in ("points.csv", "sub/own.csv", "/assignment/own.csv")),
        "open('own.csv', 'w').write('5')",
        # This may succeed unless the grader runs as root.
        "import os\nos.replace('own.csv', 'points.csv')",
        TEST_CODE,
        locked_indices={0},
        test_indices={7},
        data_files=data_files,
    )
    errors = {
        k: outputs[-1]["ename"]
        for k, outputs in outcome.outputs.items()
        if outputs and "ename" in outputs[-1]
    }
    assert errors.keys() - {6} == {2, 3, 4} and outcome.locked_cell_errors == {}
    assert {errors[k] for k in (2, 3, 4)} <= {"OSError", "PermissionError"}


def test_run_without_a_sandbox_changes_only_copies_of_data_files(data_files):
    changing_code = f"{READ_CODE}\nmine = sum(points)\nopen('points.csv', 'w').write('9')"
    outcome = run_sources(
        UNSAFE,
        READ_CODE,
        changing_code,
        TEST_CODE,
        locked_indices={0},
        test_indices={2},
        data_files=data_files,
    )
    assert [output for output in outcome.outputs[2] if "ename" in output] == []
    assert Path(data_files["points.csv"]).read_text() == "1\n2\n"


def test_instructors_files_are_released_and_used_for_grading(course, data_files, monkeypatch):
    recorded_data_files = []

    def record_data_files(cells, data_files, **options):
        recorded_data_files.append(data_files)
        return Outcome(not_run_reason="not run")

    monkeypatch.setattr(grade_module, "run_cells", record_data_files)
    course.release(ASSIGNMENT)
    released_folder = course.released_path(ASSIGNMENT).parent
    names = {
        str(path.relative_to(released_folder))
        for path in released_folder.rglob("*")
        if path.is_file()
    }
    assert names == {f"{ASSIGNMENT}.ipynb", *data_files}
    (hand_in(course, "one", answered_notebook(course)) / "points.csv").write_text("7\n")
    assert len([*grade_submissions(course, ASSIGNMENT, sandbox="unused")]) == 2
    try_out(course, ASSIGNMENT, "unused")
    assert recorded_data_files == [data_files, data_files]
    assert next(grade_submissions(course, ASSIGNMENT, sandbox="unused")) == 0
    Path(data_files["points.csv"]).write_text("8\n")
    assert (
        next(grade_submissions(course, ASSIGNMENT, sandbox="unused")) == 1
    )  # other data may give other marks


def test_check_uses_the_data_files_in_the_folder_of_the_notebook(course, shell_sandbox, tmp_path):
    nb = nbformat.read(course.released_path(ASSIGNMENT), as_version=4)
    for name in ("test_square", "test_total"):
        cell = cell_named(nb, name)
        cell.source = "import numpy\nassert numpy.loadtxt('points.csv') == 1.0"
        cell.metadata.nbgrader.checksum = compute_checksum(cell)
    (tmp_path / "home").mkdir()
    (tmp_path / "home/points.csv").write_text("1\n")
    (tmp_path / "home/mine.py").write_text("")
    nb.metadata[METADATA_KEY]["files"] = ["points.csv"]
    nb.cells.append(new_code_cell("import mine"))
    nbformat.write(nb, tmp_path / "home/mine.ipynb")
    report = check_notebook(tmp_path / "home/mine.ipynb")
    assert [result.message for result in report.results] == [None, None]
    error = "ModuleNotFoundError: No module named 'mine'"
    assert f"the cell 'import mine' stopped: {error}" in report.notes
    (tmp_path / "home/points.csv").unlink()
    report = check_notebook(tmp_path / "home/mine.ipynb")
    assert "the data file points.csv is missing; the grader has it" in report.notes


def test_trial_reports_copies_with_solutions_among_the_data_files(course, data_files):
    copy = course.source_path(ASSIGNMENT).with_name(f"{ASSIGNMENT}.ipynb~")
    copy.write_bytes(course.source_path(ASSIGNMENT).read_bytes())
    (course.source_path(ASSIGNMENT).parent / ".#lock").symlink_to("nowhere")
    (problem,) = try_out(course, ASSIGNMENT, "unused").problems
    assert problem.startswith(f"{ASSIGNMENT}.ipynb~ contains solutions or hidden tests")
    copy.unlink()
    assert course.data_files(ASSIGNMENT) == data_files
