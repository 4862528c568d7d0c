"""Submissions that mean harm, and those that were only made badly: none reaches beyond itself.

One course has them all, with an honest submission among them. Each is said to end with a mark and a
note; no other mark, and no file outside the folders that grading writes, may be touched by any.
"""

import hashlib
import json
import os
import shutil

import pytest
from coursework import NAME, answered, hand_in

from svmbook.course.feedback import feedback
from svmbook.course.grade import grade
from svmbook.course.report import report
from svmbook.course.sandbox import Limits

pytestmark = pytest.mark.xdist_group("hostile")  # all are graded at once, for all tests
ESSAY_WAITS = 5.0  # what the tests give; the essay's four points wait for a person

# Code in the place of the first answer: the mark it may get at most, and what the report says.
CODE = {
    "loops for ever": ("while True: pass", 2, None),
    "loops and ignores interrupts": (
        "import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nwhile True: pass",
        0,
        "took more than",
    ),
    "forks without end": ("import os\nwhile True: os.fork()", 2, None),
    "wants 100 GB of memory": ("x = bytearray(100 * 2**30)", 2, None),
    "fills the disk": (
        "for k in range(1000):\n  open(f'/tmp/{k}', 'wb').write(bytes(2**20))",
        2,
        None,
    ),
    "fills shared memory": ("open('/dev/shm/x', 'wb').write(bytes(2**28))", 2, None),
    "calls the network": (
        "import socket\nsocket.create_connection(('1.1.1.1', 80), 5)",
        2,
        None,
    ),
    "writes without end": ("while True: print('x' * 100_000)", 2, None),
    "ends the process": ("import os\nos._exit(0)", 0, "the kernel died"),
    "kills all it sees": (
        "import os, signal\n"
        "for p in [*map(int, filter(str.isdigit, os.listdir('/proc')))]:\n"
        "  if p != os.getpid():\n"
        "    try: os.kill(p, signal.SIGKILL)\n"
        "    except OSError: pass",
        2,
        None,
    ),
    "raises SystemExit": ("raise SystemExit", 2, None),
    "silences the assertions of numpy": (
        "import numpy as np\nnp.testing.assert_allclose = lambda *a, **k: None",
        0,
        "made to pass",
    ),
    "replaces what checks": (
        "import svmbook.course.checks as c\ncheck_close = c.check_close = lambda *a, **k: None",
        0,
        "made to pass",
    ),
    "takes assertions out of cells": (
        "import ast\n"
        "class Pass(ast.NodeTransformer):\n"
        "  def visit_Expr(self, node): return ast.Pass()\n"
        "  def visit_Assert(self, node): return ast.Pass()\n"
        "get_ipython().ast_transformers.append(Pass())",
        0,
        "made to pass",
    ),
    "silences tracebacks": (
        "get_ipython().showtraceback = lambda *a, **k: None\n"
        "get_ipython()._showtraceback = lambda *a, **k: None",
        2,
        None,
    ),
    "answers with an object that equals all": (
        "class Yes(float):\n"
        "  def __eq__(self, other): return True\n"
        "  def __sub__(self, other): return 0.0\n"
        "  __rsub__ = __sub__\n"
        "def square(x): return Yes(7)",
        2,
        None,
    ),
    "answers with a constant": ("def square(x): return 4.0", 2, None),
    "looks for the course": (
        "import os, pathlib\n"
        "found = [p for p in pathlib.Path('/').rglob('*') if 'gradebook' in p.name\n"
        "         or p.suffix == '.ipynb']\n"
        "assert found, 'nothing to steal'\n"
        "def square(x): return x * x",
        2,
        None,
    ),
    "writes into the package": (
        "import svmbook\nopen(svmbook.__file__, 'a').write('raise SystemExit')",
        2,
        None,
    ),
    "opens the files of its guard": (
        "import os\n"
        "for p in filter(str.isdigit, os.listdir('/proc')):\n"
        "  for f in range(20):\n"
        "    try: open(f'/proc/{p}/fd/{f}', 'w').write('{\"done\": true}\\n')\n"
        "    except OSError: pass",
        2,
        None,
    ),
    "sends what no file can hold": (
        "import json\n"
        "get_ipython().kernel.session.pack = lambda o: json.dumps(o, default=str).encode()\n"
        "print('\\ud800')\n"
        "def square(x): return x * x",
        5,
        None,
    ),
    "shows script and a page": (
        "from IPython.display import HTML, Javascript, display\n"
        "display(HTML('<script>stolen()</script>'), Javascript('stolen()'))\n"
        "print('<script>stolen()</script>')\n"
        "def square(x): return x * x",
        5,
        None,
    ),
}
MORE = 20_000_001


def _with_essay(course, text):
    return answered(course, essay=text)


def _changed_tests(course):
    nb = answered(course, square="def square(x): return 0.0")
    for cell in nb.cells:
        if cell.metadata.get("nbgrader", {}).get("grade"):
            cell.metadata.nbgrader.points = 1000
            if cell.cell_type == "code":
                cell.source = "pass"
    return nb


def _without(course, *items):
    nb = answered(course)
    nb.cells = [c for c in nb.cells if c.metadata.get("nbgrader", {}).get("grade_id") not in items]
    return nb


def _twice(course):
    nb = answered(course)
    nb.cells += [cell.copy() for cell in nb.cells]
    return nb


def _bomb(course):
    nb = answered(course)
    deep = "[" * 200_000 + "]" * 200_000
    return json.dumps(nb).replace('"metadata": {', f'"metadata": {{"x": {deep}, ', 1).encode()


# Files in the place of the notebook.
FILES = {
    "has script in its essay": (
        lambda course: _with_essay(course, "<script>stolen()</script><img src=//evil.example/x>"),
        5,
        None,
    ),
    "has changed the tests": (_changed_tests, 2, None),
    "has deleted a test": (lambda course: _without(course, "test_square"), 5, "missing"),
    "has deleted all": (lambda course: _without(course, "square", "total", "setup"), 0, "missing"),
    "has every cell twice": (_twice, 5, None),
    "is no notebook": (lambda course: b"\x89PNG\r\n", 0, "not UTF-8"),
    "is in another encoding": (lambda course: '{"cells": "é"}'.encode("latin-1"), 0, "not UTF-8"),
    "is JSON and no notebook": (lambda course: b"[1, 2]", 0, "no list of cells"),
    "is empty": (lambda course: b"", 0, "no notebook"),
    "is nested without end": (_bomb, 0, "nested"),
    "is too large": (lambda course: b" " * MORE, 0, "at most 20 are read"),
}


def _link(course, student):
    folder = course.root / "submitted" / student / NAME
    folder.mkdir(parents=True)
    (folder / f"{NAME}.ipynb").symlink_to(course.source(NAME))


def _linked_folder(course, student):
    (course.root / "submitted" / student).mkdir()
    (course.root / "submitted" / student / NAME).symlink_to(course.root / "source" / NAME)


def _pipe(course, student):
    folder = course.root / "submitted" / student / NAME
    folder.mkdir(parents=True)
    os.mkfifo(folder / f"{NAME}.ipynb")


def _other_files(course, student):
    folder = hand_in(course, student, answered(course))
    (folder / "index.html").write_text("<script>stolen()</script>")
    (folder / "numpy.py").write_text("raise SystemExit")


PLACES = {
    "is a link to the solutions": (_link, 0, "cannot be opened"),
    "has a link for its folder": (_linked_folder, 0, "is a link"),
    "is a pipe": (_pipe, 0, "is no file"),
    "brings other files": (_other_files, 5, None),
}
MISNAMED = ("<img src=x onerror=alert(1)>", "..; rm -rf *; $(reboot)", "M\udcfcller", "-")
EXPECTED = {kind: (most, says) for kind, (_, most, says) in (CODE | FILES | PLACES).items()}


def _digests(root, *, without=()):
    """Return a digest of each file below a folder, but for some folders of it."""
    return {
        path.relative_to(root): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(root.rglob("*"))
        if path.is_file()
        and not path.is_symlink()
        and path.relative_to(root).parts[0] not in without
    }


@pytest.fixture(scope="module")
def graded(released, sandbox, tmp_path_factory):
    """All of them in one course, graded."""
    root = tmp_path_factory.mktemp("hostile")
    shutil.copytree(released.root, root / "course")
    course = type(released)(root / "course")
    (root / "beside.txt").write_text("untouched")
    hand_in(course, "honest", answered(course))
    for kind, (code, _, _) in CODE.items():
        hand_in(course, kind, answered(course, square=code))
    for kind, (make, _, _) in FILES.items():
        hand_in(course, kind, make(course))
    for kind, (place, _, _) in PLACES.items():
        place(course, kind)
    for name in MISNAMED:
        hand_in(course, name, answered(course))
    written = ("autograded", "backups", "gradebook.db", ".lock")
    before = _digests(course.root, without=written)
    limits = Limits(seconds=25, cell_seconds=4, memory=2**30, disk=2**24, output=1_000_000)
    total, *done = grade(course, NAME, jobs=2, sandbox=sandbox, limits=limits)
    assert total == len(done) == 1 + len(CODE) + len(FILES) + len(PLACES)
    assert _digests(course.root, without=written) == before
    assert (root / "beside.txt").read_text() == "untouched"
    assert sorted(path.name for path in root.iterdir()) == ["beside.txt", "course"]
    return course, {one.student: one for one in done}


@pytest.mark.parametrize("kind", EXPECTED)
def test_a_hostile_submission_gets_what_it_earned(graded, kind):
    most, says = EXPECTED[kind]
    one = graded[1][kind]
    assert one.score <= most
    if kind in FILES or kind in PLACES or most == ESSAY_WAITS:
        assert one.score == most  # what is only made badly loses no more than it must
    if says is not None:
        assert says in "; ".join(one.reasons)


def test_the_honest_one_among_them_gets_all(graded):
    assert graded[1]["honest"].score == ESSAY_WAITS
    assert graded[1]["honest"].reasons == []


def test_folders_that_no_page_could_name_are_left_out_and_told(graded):
    course, done = graded
    assert course.misnamed() == sorted(MISNAMED) and not set(MISNAMED) & set(done)
    assert "Left out for the names" in report(course, NAME).read_text("utf-8")


def test_no_page_has_what_was_to_be_run(graded):
    course, done = graded
    pages = [*feedback(course, NAME), report(course, NAME)]
    assert len(pages) == len(done) + 1
    for path in pages:
        text = path.read_text(encoding="utf-8")
        assert "default-src 'none'" in text
        for bad in ("<script", "<img src=//", "secret_of_the_test", "<iframe"):
            assert bad not in text.lower()
    assert all(path.is_relative_to(course.root) for path in pages)
    kept = {path.name for path in (course.root / "feedback").rglob("*") if path.is_file()}
    assert kept == {f"{NAME}.html"}
