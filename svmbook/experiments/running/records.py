"""Where the book's measured results are, and how to read them."""

from __future__ import annotations

import json
import os
from pathlib import Path

__all__ = ["load_records", "parse_records", "part_of_book", "read_records", "results_folder"]


INSTALLED = Path(__file__).resolve().parents[2] / "results"  # in an installed package alone


def results_folder():
    """Return the folder of committed results.

    ``$SVMBOOK_RESULTS`` where it is set, else ``book/results`` in this folder or the nearest one
    above it, so that a notebook finds it wherever its kernel was started; else those that were
    installed with the package.
    """
    try:
        return part_of_book("book/results", "SVMBOOK_RESULTS", "measured results")
    except FileNotFoundError:
        if os.environ.get("SVMBOOK_RESULTS") or not INSTALLED.is_dir():
            raise
        return INSTALLED


def part_of_book(part, variable, what):
    """Return a folder of the book's repository: the variable's, or the nearest one here or above.

    Parameters
    ----------
    part : str
        The folder, from the repository's root.
    variable : str
        Name of the environment variable that may name another one.
    what : str
        What is in it, for the message where there is none.

    Returns
    -------
    Path
        The folder.

    Raises
    ------
    FileNotFoundError
        There is none.
    """
    if named := os.environ.get(variable):
        if not Path(named).is_dir():
            raise FileNotFoundError(f"{variable} names {named!r}, which is no folder.")
        return Path(named)
    for folder in (Path.cwd(), *Path.cwd().parents):
        if (folder / part).is_dir():
            return folder / part
    raise FileNotFoundError(
        f"no folder {part} here or above; {what} come with the book's repository. "
        f"Start from inside it, or set {variable} to the folder."
    )


def load_records(name: str) -> list[dict]:
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
    ValueError
        A line of the file is damaged.
    """
    folder = results_folder()
    path = folder / f"{name}.jsonl"
    if not path.exists():
        present = ", ".join(sorted(p.stem for p in folder.glob("*.jsonl"))) or "none"
        raise FileNotFoundError(f"no results named {name!r} in {folder}; there are: {present}.")
    return read_records(path)


def read_records(path):
    """Read a file of records: one JSON object a line.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from svmbook.experiments.running.records import read_records
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "tiny.jsonl")
    ...     _ = path.write_text('{"seed": 0, "error": 0.25}', encoding="utf-8")
    ...     read_records(path)
    [{'seed': 0, 'error': 0.25}]
    """
    return parse_records(Path(path).read_bytes(), path)


def parse_records(written, path, *, first=1):
    """Return the records in the bytes of a file.

    Examples
    --------
    >>> from svmbook.experiments.running.records import parse_records
    >>> parse_records(b"3", "tiny.jsonl")
    Traceback (most recent call last):
        ...
    ValueError: tiny.jsonl, line 1 is damaged (3 is not a record). ...
    """
    records = []
    for number, line in enumerate(written.splitlines(), start=first):
        try:
            record = json.loads(line)
        except (ValueError, RecursionError) as error:  # of JSON, or of the encoding
            raise _damaged(path, number, error) from error
        if not isinstance(record, dict):
            raise _damaged(path, number, f"{record!r} is not a record")
        records.append(record)
    return records


def _damaged(path, number, reason):
    return ValueError(
        f"{path}, line {number} is damaged ({reason}). Delete the line and run the experiment "
        "again, which makes the missing runs, or take the committed file back from Git."
    )
