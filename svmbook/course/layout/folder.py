"""The folder of a course, in nbgrader's layout: source, release, submitted, autograded, feedback.

`svmbook course init` makes it. nbgrader and its Formgrader can be used in it as in any course.
"""

from __future__ import annotations

import csv
import os
import re
import sqlite3
import sysconfig
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import nbformat
from filelock import FileLock, Timeout
from nbgrader.api import Gradebook
from nbgrader.converters import GenerateAssignment
from nbgrader.converters.base import NbGraderException
from nbgrader.coursedir import CourseDirectory
from nbgrader.preprocessors import ClearOutput, ClearSolutions, ComputeChecksums, LockCells
from nbgrader.utils import find_all_files
from traitlets.config.loader import PyFileConfigLoader

from ...experiments.running.records import find_book_folder
from ...files import write_atomically
from .items import record_assignment_metadata
from .submitted import find_submissions

__all__ = ["Course", "contains_solutions_or_hidden_tests", "create_course"]

ASSIGNMENT_NAME_PATTERN = re.compile(r"[A-Za-z0-9_]+")
NBGRADER_CONFIG = """\
# Read by nbgrader, its Formgrader and `svmbook course`.
c = get_config()
c.CourseDirectory.course_id = "svm"
c.ClearSolutions.code_stub = {"python": "# your code\\nraise NotImplementedError"}
c.ClearSolutions.text_stub = "*Your answer.*"
c.ClearMarkScheme.enforce_metadata = False  # the mark scheme is in the cell of the question
c.Execute.kernel_name = "none"  # `nbgrader autograde` would run submissions without a sandbox
# `nbgrader generate_feedback` would show hidden tests and mark schemes; this makes it fail.
c.GenerateFeedback.preprocessors = ["hidden tests would be shown; run svmbook course feedback"]
"""


def create_course(root, assignments=None):
    """Make the folder of a course with some of the book's assignments.

    Parameters
    ----------
    root : path
        The folder, which may exist. Existing assignments are not overwritten.
    assignments : iterable of str, optional
        Names of assignments and of sets of questions on a chapter; by default all assignments.

    Returns
    -------
    Course

    Raises
    ------
    ValueError
        The book has no assignment of that name.
    FileNotFoundError
        There is no folder ``notebooks/assignments`` in the working directory or above it, and
        ``$SVMBOOK_ASSIGNMENTS`` names none.
    """
    assignments_folder = find_book_folder(
        "notebooks/assignments", "SVMBOOK_ASSIGNMENTS", "assignments"
    )
    assignment_paths = sorted(assignments_folder.glob("*/*.ipynb"))
    question_paths = sorted(assignments_folder.parent.glob("questions/*.ipynb"))
    paths = {path.stem: path for path in [*assignment_paths, *question_paths]}
    assignments = tuple(assignments or (path.stem for path in assignment_paths))
    if unknown := [assignment for assignment in assignments if assignment not in paths]:
        raise ValueError(f"there is no assignment {unknown[0]!r}; there are {', '.join(paths)}.")
    root = Path(root)
    root.mkdir(parents=True, exist_ok=True)
    for assignment in assignments:
        target = root / "source" / assignment / f"{assignment}.ipynb"
        if not target.exists():
            write_atomically(target, paths[assignment].read_text(encoding="utf-8"))
    if not (root / "nbgrader_config.py").exists():
        write_atomically(root / "nbgrader_config.py", NBGRADER_CONFIG)
    (root / "submitted").mkdir(exist_ok=True)
    course = Course(root)
    with _scripts_on_path():
        course.open_gradebook().close()
    return course


def contains_solutions_or_hidden_tests(path):
    """Return whether a file contains a solution, hidden tests or a mark scheme."""
    with open(path, "rb") as file:
        text = file.read(2**24)
    return re.search(rb"BEGIN (SOLUTION|HIDDEN TESTS|MARK SCHEME)", text) is not None


@contextmanager
def _scripts_on_path():
    """Extend PATH so that nbgrader finds alembic, which it runs to make a gradebook."""
    old_path = os.environ.get("PATH", os.defpath)
    os.environ["PATH"] = f"{sysconfig.get_path('scripts')}{os.pathsep}{old_path}"
    try:
        yield
    finally:
        os.environ["PATH"] = old_path


@dataclass(frozen=True)
class Course:
    """The folder of a course.

    Parameters
    ----------
    root : Path
        The folder.

    Raises
    ------
    FileNotFoundError
        The folder is not a course.
    """

    root: Path

    def __post_init__(self):
        """Resolve the path, and check that it is a course."""
        object.__setattr__(self, "root", Path(self.root).resolve())
        if not (self.root / "nbgrader_config.py").exists():
            raise FileNotFoundError(
                f"{self.root} is not the folder of a course; make one with svmbook course init."
            )

    @property
    def db_url(self):
        """URL of the gradebook's database."""
        return f"sqlite:///{self.root / 'gradebook.db'}"

    def open_gradebook(self):
        """Open the gradebook, which the caller must close; it is also a context manager."""
        return Gradebook(self.db_url, "svm")

    def course_directory(self, assignment):
        """Return nbgrader's view of the folder and an assignment."""
        return CourseDirectory(
            root=str(self.root),
            db_url=self.db_url,
            assignment_id=assignment,
            config=PyFileConfigLoader("nbgrader_config.py", str(self.root)).load_config(),
        )

    def assignment_names(self):
        """Return the names of the assignments."""
        notebooks = (self.root / "source").glob("*/*.ipynb")
        return sorted(path.stem for path in notebooks if path.stem == path.parent.name)

    def source_path(self, assignment):
        """Return the path of the instructor's notebook; raise ValueError if there is none."""
        path = self.root / "source" / assignment / f"{assignment}.ipynb"
        if not ASSIGNMENT_NAME_PATTERN.fullmatch(assignment) or not path.exists():
            existing = ", ".join(self.assignment_names()) or "none"
            raise ValueError(f"the course has no assignment {assignment!r}; there are: {existing}.")
        return path

    def data_files(self, assignment):
        """Return the data files of an assignment: a dict of paths by name relative to its folder.

        They are the files that nbgrader hands out with the notebook: all files in its folder except
        other notebooks and caches. Broken links and pipes are omitted.
        """
        folder = self.source_path(assignment).parent
        all_files = find_all_files(
            str(folder), [*self.course_directory(assignment).ignore, "*.ipynb"]
        )
        files = [path for path in sorted(all_files) if os.path.isfile(path)]
        return {str(Path(path).relative_to(folder)): path for path in files}

    def student_ids(self):
        """Return the ids in `ids.csv`, a dict by the names of the students' folders."""
        path = self.root / "ids.csv"
        if not path.exists():
            return {}
        with open(path, encoding="utf-8-sig", newline="") as file:
            return {row[0].strip(): row[1].strip() for row in csv.reader(file) if len(row) == 2}

    def released_path(self, assignment):
        """Return the path of the students' version of an assignment."""
        return self.root / "release" / assignment / f"{assignment}.ipynb"

    def master(self, assignment):
        """Return the master notebook, into which submissions are merged: all tests, no solution.

        Raises
        ------
        ValueError
            nbgrader cannot read the notebook, or is configured with other delimiters of hidden
            lines.
        """
        nb, resources = nbformat.read(self.source_path(assignment), as_version=4), {}
        record_assignment_metadata(nb, nb)  # before the solutions are removed
        config = self.course_directory(assignment).config
        for name in ("ClearHiddenTests", "ClearMarkScheme"):
            if any(option.startswith(("begin", "end")) for option in config.get(name, ())):
                raise ValueError(
                    f"nbgrader_config.py sets other delimiters for {name}; remove them: feedback "
                    "would show what they enclose."
                )
        for preprocessor in (LockCells, ClearSolutions, ClearOutput, ComputeChecksums):
            try:
                nb, resources = preprocessor(config=config).preprocess(nb, resources)
            except RuntimeError as error:  # a solution region in a cell that is not an answer
                raise ValueError(f"{assignment} cannot be read by nbgrader: {error}") from None
        return nb

    def release(self, assignment):
        """Write the students' version of an assignment, and enter its items in the gradebook.

        Returns
        -------
        Path
            The path of the students' version.

        Raises
        ------
        ValueError
            There is no such assignment, or nbgrader rejects it; its message is included.
        """
        self.source_path(assignment)
        directory = self.course_directory(assignment)
        converter = GenerateAssignment(coursedir=directory, config=directory.config)
        converter.force = True
        with self.lock():
            self.back_up()
            try:
                converter.start()
            except NbGraderException as error:
                raise ValueError(
                    f"{assignment} cannot be released: {error} After the first submission, no item "
                    "can be added or removed. Set the points of an item to 0, or give the "
                    "assignment another name."
                ) from None
            released_nb = nbformat.read(self.released_path(assignment), as_version=4)
            source_nb = nbformat.read(self.source_path(assignment), as_version=4)
            record_assignment_metadata(released_nb, source_nb, self.data_files(assignment))
            write_atomically(self.released_path(assignment), nbformat.writes(released_nb))
        return self.released_path(assignment)

    def find_submissions(self):
        """Return the result of `find_submissions` for the folder `submitted`."""
        return find_submissions(self.root / "submitted", self.assignment_names())

    def submissions(self, assignment):
        """Return the submissions of an assignment, a dict by student."""
        return {
            submission.student: submission for submission in self.find_submissions()[0][assignment]
        }

    def skip_reasons(self):
        """Return why files and folders in `submitted` are not graded, a dict by relative path."""
        return self.find_submissions()[1]

    def feedback_path(self, student, assignment):
        """Return the path of the feedback for a student."""
        return self.root / "feedback" / student / assignment / f"{assignment}.html"

    def autograded_path(self, student, assignment):
        """Return the path of a graded notebook."""
        return self.root / "autograded" / student / assignment / f"{assignment}.ipynb"

    @contextmanager
    def lock(self):
        """Lock the course while marks are written; raise BlockingIOError if it is locked."""
        lock = FileLock(self.root / ".lock", timeout=0)
        try:
            lock.acquire()
        except Timeout:
            raise BlockingIOError(
                f"{self.root} is being graded or released by another run; wait until it ends."
            ) from None
        try:
            yield
        finally:
            lock.release()

    def back_up(self):
        """Copy the gradebook, if there is one, to the folder of backups."""
        path = self.root / "gradebook.db"
        if not path.exists():
            return
        timestamp = datetime.now(UTC).strftime("%Y%m%d-%H%M%S-%f")
        backup_path = self.root / "backups" / f"gradebook-{timestamp}.db"
        backup_path.parent.mkdir(exist_ok=True)
        with (
            closing(sqlite3.connect(path)) as database,
            closing(sqlite3.connect(backup_path)) as backup,
        ):
            database.backup(backup)
