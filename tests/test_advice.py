"""The code in the last chapter that readers may paste into an empty notebook works there."""

import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

ROOT = Path(__file__).resolve().parent.parent
CHAPTER = ROOT / "notebooks/which_machine_when.ipynb"


def code_to_paste():
    """Return the sources of the cells with the tag "paste-me"."""
    cells = nbformat.read(CHAPTER, 4).cells
    cells = [c.source for c in cells if "paste-me" in c.metadata.get("tags", [])]
    assert cells
    return "\n".join(cells) + "\n"


# Each case takes some seconds: a new process has to import everything.
@pytest.mark.parametrize("classes", [3, 2])
def test_code_runs_alone_on_two_and_on_more_classes(classes, tmp_path):
    load = "load_wine(return_X_y=True)"
    source = code_to_paste()
    assert source.count(load) == 1
    before, after = source.split(load)
    end = after.index("\n") + 1
    subset = f"X, y = X[y < {classes}][::2], y[y < {classes}][::2]\n"
    script = tmp_path / "pasted.py"
    script.write_text(before + load + after[:end] + subset + after[end:], encoding="utf-8")
    command = [sys.executable, "-W", "error", script]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False)
    assert done.returncode == 0, done.stderr
    error = float(done.stdout.split("test error: ")[1].split(" %")[0])
    assert error < 15
    gaps = re.findall("largest gap: ([0-9.]+) millionths of the objective", done.stdout)
    assert len(gaps) == ("chosen: RandomForest" not in done.stdout)
    assert gaps or classes > 2  # with three classes a forest may be chosen
    assert all(float(gap) < 1 for gap in gaps)
    assert "probabilities: [[" in done.stdout
