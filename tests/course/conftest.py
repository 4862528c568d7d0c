"""Fixtures for tests of courses: a course with a small assignment, and sandboxes."""

import os
import shutil
import subprocess

import nbformat
import pytest

pytest.importorskip("nbgrader")

from coursework import ASSIGNMENT, copy_course, create_course, instructor_notebook
from shell_client import SHELL_SANDBOX, ShellClient, run_cells_in_shell

from svmbook.course.execution import run
from svmbook.course.execution.sandbox import SandboxError, find_bubblewrap
from svmbook.course.grading import grade as grade_module


@pytest.fixture(scope="session")
def assignments_folder(tmp_path_factory):
    """A folder of assignments that contains only the small assignment."""
    folder = tmp_path_factory.mktemp("assignments")
    (folder / ASSIGNMENT).mkdir()
    nbformat.write(instructor_notebook(), folder / ASSIGNMENT / f"{ASSIGNMENT}.ipynb")
    return folder


@pytest.fixture(scope="session")
def released_course(assignments_folder, tmp_path_factory):
    """A course in which the small assignment was released; tests copy it before they change it."""
    course = create_course(tmp_path_factory.mktemp("course") / "course", assignments_folder)
    course.release(ASSIGNMENT)
    return course


@pytest.fixture
def course(released_course, tmp_path):
    """A copy of the course that a test may change."""
    return copy_course(released_course, tmp_path / "course")


@pytest.fixture
def shell_sandbox(monkeypatch):
    """Grade harmless submissions in forked shells instead of a sandbox."""
    monkeypatch.setattr(grade_module, "run_cells", run_cells_in_shell)
    monkeypatch.setattr(run, "Client", ShellClient)
    return SHELL_SANDBOX


@pytest.fixture(scope="session")
def sandbox():
    """Return the path of bubblewrap; skip the test if no sandbox can be made here."""
    try:
        return find_bubblewrap()
    except SandboxError as error:
        # Skip the test only where a minimal sandbox cannot be made either.
        user_namespace_options = ["--unshare-user"] if os.geteuid() else []
        options = [*user_namespace_options, "--unshare-pid", "--unshare-net", "--ro-bind", "/", "/"]
        command = ["bwrap", *options, "true"]
        if shutil.which("bwrap") and not subprocess.run(command, capture_output=True).returncode:
            raise
        pytest.skip(str(error))
