"""The notebooks' run: what its plugins accept and report, and that each kernel is a fresh one."""

import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

pytest.importorskip("nbval")

ROOT = Path(__file__).resolve().parents[1]


def notebook(path, *cells):
    """Write a notebook of cells that print, with what they printed when it was stored."""
    book = nbformat.v4.new_notebook()
    for source, *outputs in cells:
        cell = nbformat.v4.new_code_cell(source, execution_count=1, outputs=outputs)
        book.cells.append(cell)
    nbformat.write(book, path)
    return path


def printed(text):
    return nbformat.v4.new_output("stream", text=text)


def shown(**texts):
    data = {f"text/{kind}": text for kind, text in texts.items()}
    return nbformat.v4.new_output("display_data", data=data)


SHOW = "display({'text/plain': 'a 9.99', 'text/html': '<b>2.50</b>'}, raw=True)"
LEFT_BY_OTHERS = "print(hasattr(sys.modules['numpy'], 'left'), any('tests' in p for p in sys.path))"


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    """Return what nbval prints of three notebooks, of which two fail."""
    folder = tmp_path_factory.mktemp("notebooks")
    good = notebook(
        folder / "good.ipynb",
        ("print('error 1.69')\n" + SHOW,
         printed("error 1.70\n"), shown(plain="a 10.00", html="<b>2.51</b>")),
        ("print('b = -0.0')", printed("b = 0.0\n")),
        ("import numpy\nnumpy.left = 1",),
    )  # fmt: skip
    bad = notebook(
        folder / "bad.ipynb",
        ("print('error 1.69')", printed("error 1.71\n")),
        ("print('12 of 37')", printed("13 of 37\n")),
        ("print('error 1.69')", printed("error 1.69\n"), printed("error 1.69\n")),
        (SHOW, shown(plain="a 10.00")),
        ("print('error 1.69')", printed("error 1.69\n")),
    )
    last = notebook(
        folder / "last.ipynb",
        ("import sys\n" + LEFT_BY_OTHERS, printed("False False\n")),
        ("import time\ntime.sleep(60)",),
    )
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-c", "tests/nbval.ini", "--rootdir", folder,
         "--nbval", "--nbval-current-env", "--nbval-cell-timeout=2", good, bad, last],
        cwd=ROOT, capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    return run.stdout + run.stderr


def failed(told, name):
    return re.findall(rf"^FAILED \S*\b{name}\.ipynb::Cell (\d)", told, re.M)


def test_nbval_takes_the_tolerance_and_reports_it(told):
    assert failed(told, "good") == []
    assert sorted(failed(told, "bad")) == ["0", "1", "2", "3"]
    report = told.partition("print fewer digits there")[2]
    assert [line for line in report.splitlines() if " for " in line] == [
        "bad.ipynb::Cell 3: 9.99 for 10.00",
        "good.ipynb::Cell 0: 1.69 for 1.70, 2.50 for 2.51, 9.99 for 10.00",
    ]


def test_a_kernel_knows_nothing_of_another_and_ends_in_time(told):
    assert failed(told, "last") == ["1"]
    assert "5 failed, 5 passed" in told
