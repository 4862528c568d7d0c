"""nbgrader's commands and Formgrader's buttons cannot reveal hidden tests of a course."""

import pytest
from coursework import ASSIGNMENT, answered_notebook, hand_in
from nbgrader.apps.api import NbGraderAPI
from nbgrader.converters import GenerateFeedback

from svmbook.course.execution.outcome import Outcome
from svmbook.course.grading import grade as grade_module
from svmbook.course.grading.grade import grade_submissions
from svmbook.course.reports.feedback import write_feedback


def test_feedback_by_nbgrader_fails_and_does_not_overwrite_ours(course, monkeypatch):
    """nbgrader's feedback would contain hidden tests and mark schemes."""
    monkeypatch.setattr(grade_module, "run_cells", lambda *args: Outcome(not_run_reason="not run"))
    hand_in(course, "ann", answered_notebook(course))
    assert len([*grade_submissions(course, ASSIGNMENT, sandbox="unused")]) == 2
    (page,) = write_feedback(course, ASSIGNMENT)
    text, directory = page.read_text("utf-8"), course.course_directory(ASSIGNMENT)
    command = GenerateFeedback(coursedir=directory, config=directory.config)
    with pytest.raises(ModuleNotFoundError, match="run svmbook course feedback"):
        command.start()
    result = NbGraderAPI(coursedir=directory, config=directory.config).generate_feedback(ASSIGNMENT)
    assert not result["success"] and "run svmbook course feedback" in result["error"]
    assert page.read_text("utf-8") == text
