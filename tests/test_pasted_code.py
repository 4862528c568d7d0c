"""The code that readers of the last chapter paste into an empty notebook runs on its own."""

import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

ROOT = Path(__file__).resolve().parent.parent
CHAPTER_PATH = ROOT / "notebooks/which_machine_when.ipynb"


def code_to_paste():
    """Return the sources of the cells with the tag "paste-me"."""
    cells = nbformat.read(CHAPTER_PATH, 4).cells
    sources = [cell.source for cell in cells if "paste-me" in cell.metadata.get("tags", [])]
    assert sources
    return "\n".join(sources) + "\n"


# Each case takes several seconds, because a new process imports all libraries.
@pytest.mark.parametrize("n_classes", [3, 2])
def test_pasted_code_runs_with_two_and_with_three_classes(n_classes, tmp_path):
    load_call = "load_wine(return_X_y=True)"
    source = code_to_paste()
    assert source.count(load_call) == 1
    code_before, code_after = source.split(load_call)
    next_line_start = code_after.index("\n") + 1
    subset_line = f"X, y = X[y < {n_classes}][::2], y[y < {n_classes}][::2]\n"
    script = tmp_path / "pasted.py"
    before_subset = code_before + load_call + code_after[:next_line_start]
    script.write_text(before_subset + subset_line + code_after[next_line_start:], encoding="utf-8")
    command = [sys.executable, "-W", "error", script]
    process = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False)
    assert process.returncode == 0, process.stderr
    error_percent = float(process.stdout.split("test error: ")[1].split(" %")[0])
    assert error_percent < 15
    gaps = re.findall("largest gap: ([0-9.]+) millionths of the objective", process.stdout)
    assert len(gaps) == ("chosen: RandomForest" not in process.stdout)
    assert gaps or n_classes > 2  # a random forest can be chosen only if there are three classes
    assert all(float(gap) < 1 for gap in gaps)
    assert "probabilities: [[" in process.stdout
