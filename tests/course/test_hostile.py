"""Submissions that mean harm, and those that were only made badly: none reaches beyond itself.

One course has them all, with an honest submission among them. Each is said to end with a mark and a
note; no other mark, and no file outside the folders that grading writes, may be touched by any.
What each achieved is a table of the instructor's guide, which is compared line by line.
"""

import hashlib
import json
import os
import re
import shutil
from pathlib import Path

import nbformat
from coursework import NAME, answered, hand_in

from svmbook.course.feedback import feedback
from svmbook.course.grade import grade
from svmbook.course.report import report
from svmbook.course.sandbox import Limits

GUIDE = Path(__file__).resolve().parents[2] / "book/teaching.md"
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
    "fills memory that has no file": (
        "import os\nfor k in range(1000):\n  os.write(os.memfd_create('x'), bytes(2**24))",
        2,
        None,
    ),
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
    "replaces what is built in": (
        "import builtins\nbuiltins.abs = lambda x: 0.0",
        0,
        "made to pass",
    ),
    "gives names of the tests to others": (
        "abs = len = lambda x: 0\ncheck_close = lambda *a, **k: None\ndef square(x): return 0.0",
        2,
        None,
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
        "import os\n"
        "tops = [f'/{top}' for top in os.listdir('/') if top not in ('proc', 'sys', 'usr')]\n"
        "found = [name for top in tops for _, _, names in os.walk(top) for name in names\n"
        "         if name in ('beside.txt', 'small.ipynb')]\n"
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
MORE = 21_000_000


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
EXPECTED["is honest"] = (ESSAY_WAITS, None)


def _digests(root, *, without=()):
    """Return a digest of each file below a folder, but for some folders of it."""
    return {
        path.relative_to(root): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(root.rglob("*"))
        if path.is_file()
        and not path.is_symlink()
        and path.relative_to(root).parts[0] not in without
    }


def _hand_in_all(course):
    hand_in(course, "is honest", answered(course))
    for kind, (code, _, _) in CODE.items():
        hand_in(course, kind, answered(course, square=code))
    for kind, (make, _, _) in FILES.items():
        hand_in(course, kind, make(course))
    for kind, (place, _, _) in PLACES.items():
        place(course, kind)
    for name in MISNAMED:
        hand_in(course, name, answered(course))


def _met(course, one):
    """Return what became of a submission, in the words of the report or of its own cell."""
    if one.reasons:
        return "; ".join(one.reasons)
    nb = nbformat.read(course.autograded(one.student, NAME), as_version=4)
    errors = [out.ename for cell in nb.cells for out in cell.get("outputs", ()) if "ename" in out]
    return f"`{errors[0]}`" if errors else "nothing"


def _table_of_the_guide():
    """Return what the guide says of each kind: its points at most, and what it may have met."""
    _, tried = GUIDE.read_text(encoding="utf-8").split("### What was tried")
    lines = re.findall(r"^\| (.+) \| (\d) \| (.+) \|$", tried, re.M)
    return {kind: (float(most), met.split(", or ")) for kind, most, met in lines}


def test_each_gets_what_it_earned_and_reaches_nothing_else(released, sandbox, tmp_path, subtests):
    shutil.copytree(released.root, tmp_path / "course")
    course = type(released)(tmp_path / "course")
    (tmp_path / "beside.txt").write_text("untouched")
    _hand_in_all(course)
    written = ("autograded", "backups", "gradebook.db", ".lock")
    before = _digests(course.root, without=written)
    limits = Limits(seconds=20, cell_seconds=4, memory=2**30, disk=2**24, output=1_000_000)
    total, *done = grade(course, NAME, jobs=2, sandbox=sandbox, limits=limits)
    assert total == len(done) == len(EXPECTED)
    with subtests.test("files"):
        assert _digests(course.root, without=written) == before
        assert (tmp_path / "beside.txt").read_text() == "untouched"
        assert sorted(path.name for path in tmp_path.iterdir()) == ["beside.txt", "course"]
    for one in done:
        with subtests.test(one.student):
            most, says = EXPECTED[one.student]
            assert one.score <= most
            if one.student not in CODE or most == ESSAY_WAITS:
                assert one.score == most  # what is only made badly loses no more than it must
            if says is not None:
                assert says in "; ".join(one.reasons)
    with subtests.test("names"):
        assert course.left_out().keys() == {*MISNAMED}
        assert {one.student for one in done} == {*EXPECTED}
        assert "Left out: " in report(course, NAME).read_text("utf-8")
    with subtests.test("pages"):
        _look_at_pages(course, [*feedback(course, NAME), report(course, NAME)], len(done) + 1)
    said = _table_of_the_guide()
    for one in done:
        with subtests.test("guide", kind=one.student):
            most, met = said[one.student]
            assert most == EXPECTED[one.student][0]
            assert _met(course, one) in met
    assert said.keys() == EXPECTED.keys()


def _look_at_pages(course, pages, expected):
    """Nothing on the pages is there to be run, or tells a hidden test."""
    assert len(pages) == expected
    for path in pages:
        text = path.read_text(encoding="utf-8")
        assert "default-src 'none'" in text
        for bad in ("<script", "<img src=//", "secret_of_the_test", "<iframe"):
            assert bad not in text.lower()
    assert all(path.is_relative_to(course.root) for path in pages)
    kept = {path.name for path in (course.root / "feedback").rglob("*") if path.is_file()}
    assert kept == {f"{NAME}.html"}
