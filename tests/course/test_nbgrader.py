"""What nbgrader's commands and Formgrader's buttons do in a course folder: they show no test."""

import pytest
from coursework import NAME, answered, hand_in
from nbgrader.apps.api import NbGraderAPI
from nbgrader.converters import GenerateFeedback

from svmbook.course.execution.outcome import Outcome
from svmbook.course.grading import grade as grading
from svmbook.course.grading.grade import grade
from svmbook.course.reports.feedback import feedback


def test_feedback_by_nbgrader_is_refused_and_ours_stays(course, monkeypatch):
    """It would contain hidden tests and mark schemes."""
    monkeypatch.setattr(grading, "run_cells", lambda *given: Outcome(reason="not run"))
    hand_in(course, "ann", answered(course))
    assert len([*grade(course, NAME, sandbox="unused")]) == 2
    (page,) = feedback(course, NAME)
    ours, folder = page.read_text("utf-8"), course.nbgrader(NAME)
    command = GenerateFeedback(coursedir=folder, config=folder.config)
    with pytest.raises(ModuleNotFoundError, match="run svmbook course feedback"):
        command.start()
    of_the_button = NbGraderAPI(coursedir=folder, config=folder.config).generate_feedback(NAME)
    assert not of_the_button["success"]
    assert "run svmbook course feedback" in of_the_button["error"]
    assert page.read_text("utf-8") == ours
