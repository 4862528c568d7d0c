"""Submissions that mean harm, and those that were only made badly, for test_hostile.py."""

import json
import os

from coursework import NAME, answered, hand_in

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
        2,
        None,
    ),
    "replaces what checks": (
        "import svmbook.course.checks as c\ncheck_close = c.check_close = lambda *a, **k: None",
        2,
        None,
    ),
    "replaces what is built in": (
        "import builtins\nbuiltins.abs = lambda x: 0.0",
        2,
        None,
    ),
    "rewrites cells before they run": (
        "get_ipython().input_transformers_post.append(\n"
        "  lambda lines: ['pass'] if 'check_' in ''.join(lines) else lines)\n"
        "def square(x): return 0.0",
        2,
        None,
    ),
    "looks through the frames of its callers": (
        "import sys\n"
        "def square(x):\n"
        "  frame = sys._getframe()\n"
        "  while frame:\n"
        "    for name in ('expected', 'right'):\n"
        "      if name in frame.f_locals: return frame.f_locals[name]\n"
        "    frame = frame.f_back\n"
        "  return 0.0",
        2,
        None,
    ),
    "replaces what runs cells": (
        "kernel = getattr(get_ipython(), 'kernel', None)\n"
        "if kernel: kernel.do_execute = lambda *a, **k: {'status': 'ok'}\n"
        "def square(x): return 0.0",
        2,
        None,
    ),
    "prints the cells that run": (
        "get_ipython().events.register('pre_run_cell', lambda info: print(info.raw_cell))\n"
        "def square(x): return x * x",
        5,
        None,
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
        None,
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


def _folder(course, student):
    (course.root / "submitted" / student / NAME / f"{NAME}.ipynb").mkdir(parents=True)


def _other_files(course, student):
    folder = hand_in(course, student, answered(course))
    (folder / "index.html").write_text("<script>stolen()</script>")
    (folder / "numpy.py").write_text("raise SystemExit")


PLACES = {
    "is a link to the solutions": (_link, 0, "cannot be opened"),
    "has a link for its folder": (_linked_folder, 0, "is a link"),
    "is a pipe": (_pipe, 0, "is no file"),
    "is a folder": (_folder, 0, "is no file"),
    "brings other files": (_other_files, 5, None),
}
MISNAMED = ("<img src=x onerror=alert(1)>", "..; rm -rf *; $(reboot)", "M\udcfcller", "-")
EXPECTED = {kind: (most, says) for kind, (_, most, says) in (CODE | FILES | PLACES).items()}
EXPECTED["is honest"] = (ESSAY_WAITS, None)

# Kinds that only deceive the kernel they run in, or end it: they may run outside of a sandbox.
DECEIVING = (
    *("ends the process", "raises SystemExit", "silences the assertions of numpy"),
    *("replaces what checks", "replaces what is built in", "gives names of the tests to others"),
    *("takes assertions out of cells", "silences tracebacks", "rewrites cells before they run"),
    *("looks through the frames of its callers", "replaces what runs cells"),
    "prints the cells that run",
    *("answers with an object that equals all", "answers with a constant"),
    "shows script and a page",
)
# Kinds that end with an error of their own cell and leave the kernel as it was: one runs them all.
REFUSED = (
    *("wants 100 GB of memory", "fills shared memory", "fills memory that has no file"),
    *("calls the network", "looks for the course", "writes into the package", "fills the disk"),
)


def hand_in_all(course, kinds):
    """Hand in an honest notebook, some kinds of code, and all kinds of files and places."""
    hand_in(course, "is honest", answered(course))
    for kind in kinds:
        hand_in(course, kind, answered(course, square=CODE[kind][0]))
    for kind, (make, _, _) in FILES.items():
        hand_in(course, kind, make(course))
    for kind, (place, _, _) in PLACES.items():
        place(course, kind)
    for name in MISNAMED:
        hand_in(course, name, answered(course))
