"""Claims about coursework: how fast it is, and that nothing is lost where it is stopped.

Two at a time, 200 submissions of one assignment are graded in 15 minutes at most. Then a course of
200 students and the nine assignments of the book goes from `init` to `export`, killed ten times on
the way; each of its 1800 marks must be the one that the submission was made for. Of one assignment
of it the report and the similar pairs are timed. (The course takes more than an hour; with
`--students N` both have fewer.)

A generated submission is one of those under ``tests/course/submissions``, with a function of the
student's own before it.
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

from coursework import ASSIGNMENTS, filled, hand_in_as, variants
from measure import main, print_table
from nbformat.v4 import new_code_cell

from svmbook.course.grading.grade import grade
from svmbook.course.layout.folder import Course, create
from svmbook.course.reports.report import report
from svmbook.course.submissions.similar import similar

os.environ["SVMBOOK_ASSIGNMENTS"] = str(ASSIGNMENTS)
NAMES = (
    *("dual_by_hand", "kernels", "interior_point", "logistic"),
    *("many_classes", "counting_errors", "stumps", "prototypes", "project"),
)
KILLS = 10


def hand_in_for(course, student, name, rng):
    """Hand in one of the variants of an assignment; return the points it must get."""
    answers, points = rng.choice([*variants(name).values()])
    nb = filled(course, name, answers)
    own = "\n".join(f"    v{rng.randrange(99)} = {rng.random()} * x" for _ in range(5))
    nb.cells.insert(2, new_code_cell(f"def of_{student}(x):\n{own}\n    return x"))
    hand_in_as(course, student, name, nb)
    return sum(points.values())


def one_assignment(students):
    """Grade the submissions of the first assignment; return how long that took."""
    rng, name = random.Random(1), NAMES[0]
    with tempfile.TemporaryDirectory() as folder:
        course = create(Path(folder) / "course", [name])
        course.release(name)
        for k in range(students):
            hand_in_for(course, f"student{k}", name, rng)
        start = time.perf_counter()
        list(grade(course, name, jobs=2))
        minutes = (time.perf_counter() - start) / 60
    return {"method": "grade", "submissions": students, "minutes": minutes}


def steps(root):
    """Return the commands of a course, in order; what is released is not released again."""
    at = ("--course", str(root))
    yield ("init", str(root), *NAMES)
    for name in NAMES:
        if not (root / "release" / name / f"{name}.ipynb").exists():
            yield ("release", name, *at)
    for name in NAMES:
        yield ("grade", name, "--jobs", "2", *at)
        yield ("feedback", name, *at)
        yield ("report", name, *at)
    yield ("export", "--output", str(root / "marks.csv"), *at)


def go_through(root, stop):
    """Run all commands; kill them and all they started when `stop` says so.

    Returns whether the end was reached.
    """
    for step in steps(root):
        program = (Path(sys.executable).with_name("svmbook"), "course", *step)
        with Popen(program, stdout=DEVNULL, stderr=DEVNULL, start_new_session=True) as process:
            while process.poll() is None:
                time.sleep(0.2)
                if stop():
                    os.killpg(process.pid, signal.SIGKILL)
                    return False
        if process.returncode:
            raise RuntimeError(f"{' '.join(step)} ended with {process.returncode}")
    return True


def killed(root, students):
    """Take a course from `init` to `export`, killed on the way; return what the marks must be."""
    rng = random.Random(2)
    # The first time while assignments are released, then while submissions are graded.
    assert not go_through(root, lambda: len([*root.glob("release/*")]) > len(NAMES) // 2)
    course = create(root, NAMES)
    for name in NAMES:
        course.release(name)
    expected = {
        (f"student{k}", name): hand_in_for(course, f"student{k}", name, rng)
        for k in range(students)
        for name in NAMES
    }
    graded = root / "autograded"
    for kill in range(1, KILLS):
        most = kill * len(expected) // KILLS  # submissions that are graded at the next kill
        delay = time.monotonic() + 5 * rng.random()

        def stop(most=most, delay=delay):
            return time.monotonic() > delay and len([*graded.glob("*/*/*.ipynb")]) >= most

        assert not go_through(root, stop)
    assert go_through(root, lambda: False)
    return expected


def course(students):
    """Return the rows of the course that is killed."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "course"
        start = time.perf_counter()
        expected = killed(root, students)
        hours = (time.perf_counter() - start) / 3600
        with open(root / "marks.csv", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        found = {(row["student"], row["assignment"]): float(row["score"]) for row in rows}
        row = {"method": "killed course", "students": students, "assignments": len(NAMES)}
        yield row | {
            "kills": KILLS,
            "marks": len(found),
            "other_marks": sum(found.get(whose) != mark for whose, mark in expected.items()),
            "hours": hours,
        }
        for method, work in (("report", report), ("similar", similar)):
            start = time.perf_counter()
            work(Course(root), NAMES[0])
            seconds = time.perf_counter() - start
            yield {"method": method, "submissions": students, "seconds": seconds}


def run():
    students = int(sys.argv[sys.argv.index("--students") + 1]) if "--students" in sys.argv else 200
    rows = [one_assignment(students), *course(students)]
    for row in rows:
        print_table(row["method"], [row], [key for key in row if key != "method"])
    return rows


if __name__ == "__main__":
    main({}, run)
