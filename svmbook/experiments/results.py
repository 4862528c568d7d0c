"""Where the book's measured results are, and how to read them."""

from __future__ import annotations

import json
import os
from pathlib import Path

__all__ = ["load_records", "results_folder"]


def results_folder():
    """Return the folder of committed results.

    ``$SVMBOOK_RESULTS`` where it is set, else ``book/results`` in this folder or the nearest one
    above it, so that a notebook finds it wherever its kernel was started.

    Raises
    ------
    FileNotFoundError
        There is no such folder: the results come with the book's repository, not with the package.
    """
    if named := os.environ.get("SVMBOOK_RESULTS"):
        return Path(named)
    for folder in (Path.cwd(), *Path.cwd().parents):
        if (folder / "book" / "results").is_dir():
            return folder / "book" / "results"
    raise FileNotFoundError(
        "no folder book/results here or above; measured results come with the book's repository. "
        "Start from inside it, or set SVMBOOK_RESULTS to the folder."
    )


def load_records(name):
    """Read the records of an experiment.

    Parameters
    ----------
    name : str
        Name of the file without its ending, for instance ``"exploring_parameters"``.

    Returns
    -------
    list of dict
        One a run, in the order of the file.

    Raises
    ------
    FileNotFoundError
        There is no such file; the message lists those there are.
    """
    folder = results_folder()
    path = folder / f"{name}.jsonl"
    if not path.exists():
        present = ", ".join(sorted(p.stem for p in folder.glob("*.jsonl"))) or "none"
        raise FileNotFoundError(f"no results named {name!r} in {folder}; there are: {present}.")
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
