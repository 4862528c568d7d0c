"""Commands for coursework."""

import io
import sys
from pathlib import Path

import click

from ..files import write_atomically

__all__ = ["check_notebook", "course"]

COURSE_OPTION = click.option(
    "--course",
    "root",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path(),
    help="Folder of the course [default: the working directory].",
)
ASSIGNMENT_ARGUMENT = click.argument("assignment", metavar="ASSIGNMENT")


@click.group("course")
def course():
    """Release, grade and return the book's assignments.

    \b
    Examples:
      svmbook course init autumn dual_by_hand kernels
      svmbook course release dual_by_hand --course autumn
      svmbook course grade dual_by_hand --course autumn --jobs 2
      svmbook course report dual_by_hand --course autumn
    """


def _open_course(root):
    return _import_module("layout.folder").Course(root)


def _import_module(name):
    """Import a module of `svmbook.course`; if a dependency is missing, say how to install it."""
    from importlib import import_module

    try:
        return import_module(f"{__package__}.{name}")
    except ModuleNotFoundError as error:
        raise ImportError(
            f"coursework needs {error.name}, which the extra 'course' installs: "
            "pip install 'svmbook[course]', or 'FILE.whl[course]' if you have a wheel."
        ) from error


@course.command("init")
@click.argument("root", metavar="DIR", type=click.Path(file_okay=False, path_type=Path))
@click.argument("assignments", nargs=-1, metavar="[ASSIGNMENT]...")
def init(root, assignments):
    """Make the folder of a course in DIR with assignments of the book, by default all.

    \b
    Example:
      svmbook course init autumn dual_by_hand kernels
    """
    course_folder = _import_module("layout.folder").create_course(root, assignments)
    click.echo(f"{course_folder.root}: {', '.join(course_folder.assignment_names())}")


UNSAFE_OPTION = click.option("--unsafe", is_flag=True, help="Run without a sandbox.")


@course.command("check")
@ASSIGNMENT_ARGUMENT
@COURSE_OPTION
@UNSAFE_OPTION
def try_out(assignment, root, unsafe):
    """Try out an assignment: grade its solution and wrong answers.

    The solution must get all points in the sandbox with the grader's limits. Tests that give points
    to None, zero, an empty array or the stub are listed as weak.

    \b
    Example:
      svmbook course check dual_by_hand
    """
    _run_trial(_open_course(root), assignment, unsafe)


@course.command("release")
@ASSIGNMENT_ARGUMENT
@COURSE_OPTION
@UNSAFE_OPTION
def release(assignment, root, unsafe):
    """Write the students' version of an assignment if its trial finds no problem.

    The trial is the one that svmbook course check runs.

    \b
    Example:
      svmbook course release dual_by_hand
    """
    course_folder = _open_course(root)
    _run_trial(course_folder, assignment, unsafe)
    released_path = course_folder.release(assignment)
    files = sorted(path.name for path in released_path.parent.iterdir())
    click.echo(f"{released_path}\nHand out the files in its folder: {', '.join(files)}.")


def _run_trial(course_folder, assignment, unsafe):
    """Try out an assignment; print weak tests, and raise ValueError if there is a problem."""
    sandbox = _import_module("execution.sandbox").UNSAFE if unsafe else None
    trial = _import_module("grading.trial").try_out(course_folder, assignment, sandbox)
    for message in trial.weak_test_messages:
        click.echo(f"weak: {message}", err=True)
    if trial.problems:
        raise ValueError(f"{assignment} cannot be handed out. " + "\n".join(trial.problems))
    click.echo(f"{assignment}: the solution gets all points given by tests", err=True)


@course.command("unpack")
@ASSIGNMENT_ARGUMENT
@click.argument("archive", type=click.Path(dir_okay=False, exists=True, path_type=Path))
@COURSE_OPTION
def unpack(assignment, archive, root):
    """Unpack an ARCHIVE of submissions from Moodle or Canvas.

    The submissions replace those of the assignment's earlier archive. The file roster.csv in the
    folder of the course says which folder belongs to which student.

    \b
    Example:
      svmbook course unpack dual_by_hand submissions.zip
    """
    archives = _import_module("submissions.archives")
    for message in archives.unpack_submissions(_open_course(root), assignment, archive):
        click.echo(message)


@course.command("grade")
@ASSIGNMENT_ARGUMENT
@COURSE_OPTION
@click.option("--jobs", type=click.IntRange(1, 256), default=1, help="Parallel sandboxes.")
@click.option("--regrade", is_flag=True, help="Grade unchanged submissions again.")
@click.option("--unsafe", is_flag=True, help="Run students' code without a sandbox, as your user.")
def grade(assignment, root, jobs, regrade, unsafe):
    """Grade submissions, each notebook in a sandbox.

    Graded submissions are skipped unless they have changed. If grading was stopped, run the same
    command again to resume.

    \b
    Example:
      svmbook course grade dual_by_hand --jobs 2
    """
    grading, sandbox = _import_module("grading.grade"), _import_module("execution.sandbox")
    course_folder = _open_course(root)
    results = grading.grade_submissions(
        course_folder, assignment, jobs, sandbox=sandbox.UNSAFE if unsafe else None, regrade=regrade
    )
    n_pending = next(results)
    with click.progressbar(results, length=n_pending, label=assignment, file=sys.stderr) as bar:
        graded_with_notes = [graded for graded in bar if graded.notes]
    n_unchanged = len(course_folder.submissions(assignment)) - n_pending
    click.echo(f"{assignment}: {n_pending} graded, {n_unchanged} unchanged")
    for graded in graded_with_notes:
        score = f"{graded.score:g} of {graded.max_score:g}"
        click.echo(f"  {graded.student!r}: {score}; {'; '.join(graded.notes)}")
    for path, reason in course_folder.skip_reasons().items():
        click.echo(f"  left out: {path!r}; {reason}")


@course.command("feedback")
@ASSIGNMENT_ARGUMENT
@COURSE_OPTION
def write_feedback_pages(assignment, root):
    """Write a page for each student, with marks and comments but without hidden tests.

    \b
    Example:
      svmbook course feedback dual_by_hand
    """
    course_folder = _open_course(root)
    pages = list(_import_module("reports.feedback").write_feedback(course_folder, assignment))
    click.echo(f"pages written to {course_folder.root / 'feedback'}: {len(pages)}")


@course.command("pack")
@ASSIGNMENT_ARGUMENT
@COURSE_OPTION
def pack(assignment, root):
    """Pack the feedback into feedback.zip, for Moodle's upload of feedback files.

    \b
    Example:
      svmbook course pack dual_by_hand
    """
    archives = _import_module("submissions.archives")
    for message in archives.pack_feedback(_open_course(root), assignment):
        click.echo(message)


@course.command("report")
@ASSIGNMENT_ARGUMENT
@COURSE_OPTION
def write_report(assignment, root):
    """Write a page about an assignment: marks, items, and problems of submissions.

    \b
    Example:
      svmbook course report dual_by_hand
    """
    click.echo(_import_module("reports.report").write_report(_open_course(root), assignment))


@course.command("export")
@COURSE_OPTION
@click.option(
    "--format",
    "file_format",
    type=click.Choice(("plain", "moodle", "canvas")),
    default="plain",
    help="Format of the columns.",
)
@click.option("--output", type=click.Path(dir_okay=False, path_type=Path), help="File to write.")
def export_marks(root, file_format, output):
    """Write the marks of all assignments as CSV.

    \b
    Example:
      svmbook course export --format moodle --output marks.csv
    """
    course_folder, buffer = _open_course(root), io.StringIO()
    notes = _import_module("reports.export").write_marks(course_folder, buffer, file_format)
    if output is None:
        click.echo(buffer.getvalue(), nl=False)
    else:
        write_atomically(output, buffer.getvalue())
    for note in notes:
        click.echo(note, err=True)


@course.command("similar")
@ASSIGNMENT_ARGUMENT
@COURSE_OPTION
@click.option(
    "--min-score",
    type=click.FloatRange(0, 1),
    default=0.5,
    help="Minimum score of a pair.",
)
def list_similar_submissions(assignment, root, min_score):
    """List pairs of submissions with similar code, even if names differ: a hint, not proof.

    \b
    Example:
      svmbook course similar dual_by_hand
    """
    pairs = _import_module("submissions.similar").find_similar_pairs(
        _open_course(root), assignment, min_score
    )
    for pair in pairs:
        click.echo(f"{pair.score:.2f}  {pair.students[0]!r}  {pair.students[1]!r}")
        for student, lines in zip(pair.students, pair.lines, strict=True):
            click.echo(f"  {student!r}")
            for line in lines:
                click.echo(f"    {_escape_unprintable(line)}")
    if not pairs:
        click.echo(f"no pair of submissions has a score of {min_score:g} or more")


def _escape_unprintable(text):
    """Return a text with unprintable characters escaped, so that it cannot control a terminal."""
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


@click.command("check")
@click.argument("notebook", type=click.Path(dir_okay=False, exists=True, path_type=Path))
def check_notebook(notebook):
    """Run the visible tests of a notebook as the grader does, and report which pass.

    The notebook runs in a fresh kernel with the grader's limits on time and output, but without
    its sandbox. The exit code is 1 if a test fails.

    \b
    Example:
      svmbook check dual_by_hand.ipynb
    """
    report = _import_module("grading.student_check").check_notebook(notebook)
    width = max(len(result.item) for result in report.results)
    for result in report.results:
        verdict = "passed" if result.message is None else f"failed: {result.message}"
        click.echo(f"{result.item:{width}}  {result.max_score:4g}  {verdict}")
    for note in report.notes:
        click.echo(f"note: {note}")
    if any(result.message is not None for result in report.results):
        sys.exit(1)
