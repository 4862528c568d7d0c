"""The plugins for nbval: which outputs they accept and report, and that kernels share no state."""

import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

pytest.importorskip("nbval")

ROOT = Path(__file__).resolve().parents[1]


def write_notebook(path, *cells):
    """Write a notebook; each cell is its source followed by its stored outputs."""
    nb = nbformat.v4.new_notebook()
    for source, *outputs in cells:
        cell = nbformat.v4.new_code_cell(source, execution_count=1, outputs=outputs)
        nb.cells.append(cell)
    nbformat.write(nb, path)
    return path


def stream_output(text):
    return nbformat.v4.new_output("stream", text=text)


def display_output(**texts):
    data = {f"text/{kind}": text for kind, text in texts.items()}
    return nbformat.v4.new_output("display_data", data=data)


SHOW_TEXT_AND_HTML = "display({'text/plain': 'a 9.99', 'text/html': '<b>2.50</b>'}, raw=True)"
PRINT_SHARED_STATE = (
    "print(hasattr(sys.modules['numpy'], 'marker'), any('tests' in p for p in sys.path))"
)


@pytest.fixture(scope="module")
def nbval_output(tmp_path_factory):
    """Return what nbval prints for three notebooks, of which two fail."""
    folder = tmp_path_factory.mktemp("notebooks")
    passing = write_notebook(
        folder / "passing.ipynb",
        ("print('error 1.69')\n" + SHOW_TEXT_AND_HTML,
         stream_output("error 1.70\n"), display_output(plain="a 10.00", html="<b>2.51</b>")),
        ("print('b = -0.0')", stream_output("b = 0.0\n")),
        ("import numpy\nnumpy.marker = 1",),
    )  # fmt: skip
    failing = write_notebook(
        folder / "failing.ipynb",
        ("print('error 1.69')", stream_output("error 1.71\n")),
        ("print('12 of 37')", stream_output("13 of 37\n")),
        ("print('error 1.69')", stream_output("error 1.69\n"), stream_output("error 1.69\n")),
        (SHOW_TEXT_AND_HTML, display_output(plain="a 10.00")),
        ("print('error 1.69')", stream_output("error 1.69\n")),
    )
    isolated = write_notebook(
        folder / "isolated.ipynb",
        ("import sys\n" + PRINT_SHARED_STATE, stream_output("False False\n")),
        ("import time\ntime.sleep(60)",),
    )
    process = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-c", "tests/nbval.ini", "--rootdir", folder,
         "--nbval", "--nbval-current-env", "--nbval-cell-timeout=2", passing, failing, isolated],
        cwd=ROOT, capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    return process.stdout + process.stderr


def failed_cells(nbval_output, name):
    return re.findall(rf"^FAILED \S*\b{name}\.ipynb::Cell (\d)", nbval_output, re.M)


def test_nbval_uses_and_reports_the_tolerance(nbval_output):
    assert failed_cells(nbval_output, "passing") == []
    assert sorted(failed_cells(nbval_output, "failing")) == ["0", "1", "2", "3"]
    summary = nbval_output.partition("print fewer digits there")[2]
    assert [line for line in summary.splitlines() if " for " in line] == [
        "failing.ipynb::Cell 3: 9.99 for 10.00",
        "passing.ipynb::Cell 0: 1.69 for 1.70, 2.50 for 2.51, 9.99 for 10.00",
    ]


def test_kernels_share_no_state_and_slow_cells_time_out(nbval_output):
    assert failed_cells(nbval_output, "isolated") == ["1"]
    assert "5 failed, 5 passed" in nbval_output
