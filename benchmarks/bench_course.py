"""Claims about coursework: the speed of grading, and that no marks are lost if commands are killed.

Two jobs grade 200 submissions of one assignment in at most 15 minutes. Then a course with 200
students and the nine assignments of the book is taken from `init` to `export`, and its commands are
killed ten times. Each of its 1,800 marks must be the expected mark of the submission. The report
and the search for similar pairs are timed for one of the assignments. The course takes more than an
hour; ``--students N`` reduces the number of students.

A generated submission is one of those under ``tests/course/submissions``, with a function added
that is different for each student.
"""

import csv
import os
import random
import signal
import sys
import tempfile
import time
from pathlib import Path
from subprocess import DEVNULL, Popen

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from coursework import (
    ASSIGNMENTS_FOLDER,
    answered_book_assignment,
    hand_in_assignment,
    submission_variants,
)
from measure import main, print_table, time_call
from nbformat.v4 import new_code_cell

from svmbook.course.grading.grade import grade_submissions
from svmbook.course.layout.folder import Course, create_course
from svmbook.course.reports.report import write_report
from svmbook.course.submissions.similar import find_similar_pairs

os.environ["SVMBOOK_ASSIGNMENTS"] = str(ASSIGNMENTS_FOLDER)
ASSIGNMENT_NAMES = (
    *("dual_by_hand", "kernels", "interior_point", "logistic"),
    *("many_classes", "bounded_loss", "stumps", "prototypes", "project"),
)
N_KILLS = 10


def hand_in_variant(course, student, assignment, rng):
    """Hand in a random variant of an assignment; return the mark that it should receive."""
    answers, points = rng.choice([*submission_variants(assignment).values()])
    nb = answered_book_assignment(course, assignment, answers)
    statements = "\n".join(f"    v{rng.randrange(99)} = {rng.random()} * x" for _ in range(5))
    nb.cells.insert(2, new_code_cell(f"def helper_{student}(x):\n{statements}\n    return x"))
    hand_in_assignment(course, student, assignment, nb)
    return sum(points.values())


def time_grading(n_students):
    """Return a row with the time of grading the submissions of the first assignment."""
    rng, assignment = random.Random(1), ASSIGNMENT_NAMES[0]
    with tempfile.TemporaryDirectory() as folder:
        course = create_course(Path(folder) / "course", [assignment])
        course.release(assignment)
        for k in range(n_students):
            hand_in_variant(course, f"student{k}", assignment, rng)
        _, seconds = time_call(lambda: list(grade_submissions(course, assignment, n_jobs=2)))
    return {"method": "grade", "submissions": n_students, "minutes": seconds / 60}


def course_commands(root):
    """Yield the commands of a course in order, without the releases that are already made."""
    course_option = ("--course", str(root))
    yield ("init", str(root), *ASSIGNMENT_NAMES)
    for assignment in ASSIGNMENT_NAMES:
        if not (root / "release" / assignment / f"{assignment}.ipynb").exists():
            yield ("release", assignment, *course_option)
    for assignment in ASSIGNMENT_NAMES:
        yield ("grade", assignment, "--jobs", "2", *course_option)
        yield ("feedback", assignment, *course_option)
        yield ("report", assignment, *course_option)
    yield ("export", "--output", str(root / "marks.csv"), *course_option)


def run_commands(root, should_kill):
    """Run the commands until ``should_kill()`` is true, and then kill the running process group.

    Returns whether all commands were completed.
    """
    for command in course_commands(root):
        program = (Path(sys.executable).with_name("svmbook"), "course", *command)
        with Popen(program, stdout=DEVNULL, stderr=DEVNULL, start_new_session=True) as process:
            while process.poll() is None:
                time.sleep(0.2)
                if should_kill():
                    os.killpg(process.pid, signal.SIGKILL)
                    return False
        if process.returncode:
            raise RuntimeError(f"{' '.join(command)} exited with status {process.returncode}")
    return True


def run_course_with_kills(root, n_students):
    """Take a course from `init` to `export`, and kill its commands ``N_KILLS`` times.

    Returns a dict of the expected marks, with pairs of student and assignment as keys.
    """
    rng = random.Random(2)
    # The first kill is during the release of the assignments, the others during grading.
    half = len(ASSIGNMENT_NAMES) // 2
    assert not run_commands(root, lambda: len([*root.glob("release/*")]) > half)
    course = create_course(root, ASSIGNMENT_NAMES)
    for assignment in ASSIGNMENT_NAMES:
        course.release(assignment)
    expected_marks = {
        (f"student{k}", assignment): hand_in_variant(course, f"student{k}", assignment, rng)
        for k in range(n_students)
        for assignment in ASSIGNMENT_NAMES
    }
    for kill in range(1, N_KILLS):
        min_graded = kill * len(expected_marks) // N_KILLS  # submissions graded before this kill
        earliest_kill_time = time.monotonic() + 5 * rng.random()

        def should_kill(min_graded=min_graded, earliest_kill_time=earliest_kill_time):
            graded_notebooks = root.glob("autograded/*/*/*.ipynb")
            return time.monotonic() > earliest_kill_time and len([*graded_notebooks]) >= min_graded

        assert not run_commands(root, should_kill)
    assert run_commands(root, lambda: False)
    return expected_marks


def measure_course_with_kills(n_students):
    """Run a course and kill its commands; time its report and its search for similar pairs.

    Yields one row for each of the three measurements.
    """
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "course"
        expected_marks, seconds = time_call(lambda: run_course_with_kills(root, n_students))
        with open(root / "marks.csv", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        marks = {(row["student"], row["assignment"]): float(row["score"]) for row in rows}
        yield {
            "method": "killed course",
            "students": n_students,
            "assignments": len(ASSIGNMENT_NAMES),
            "kills": N_KILLS,
            "marks": len(marks),
            "wrong_marks": sum(marks.get(key) != mark for key, mark in expected_marks.items()),
            "hours": seconds / 3600,
        }
        for method, function in (("report", write_report), ("similar", find_similar_pairs)):
            _, seconds = time_call(
                lambda function=function: function(Course(root), ASSIGNMENT_NAMES[0])
            )
            yield {"method": method, "submissions": n_students, "seconds": seconds}


def run():
    has_option = "--students" in sys.argv
    n_students = int(sys.argv[sys.argv.index("--students") + 1]) if has_option else 200
    rows = [time_grading(n_students), *measure_course_with_kills(n_students)]
    for row in rows:
        print_table(row["method"], [row], [key for key in row if key != "method"])
    return rows


if __name__ == "__main__":
    main({}, run)
