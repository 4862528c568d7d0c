"""Find the book's measured results, and read them."""

from __future__ import annotations

import json
import os
from pathlib import Path

__all__ = ["find_book_folder", "load_records", "parse_records", "read_records", "results_folder"]

INSTALLED_RESULTS = Path(__file__).resolve().parents[2] / "results"  # only in an installed package


def results_folder():
    """Return the folder of committed results.

    It is ``$SVMBOOK_RESULTS`` if that is set. Otherwise it is ``book/results`` in the nearest of
    the current folder and its parents that has it, so that notebooks may start in any folder of the
    repository. If there is none, it is the copy that was installed with the package.
    """
    try:
        return find_book_folder("book/results", "SVMBOOK_RESULTS", "measured results")
    except FileNotFoundError:
        if os.environ.get("SVMBOOK_RESULTS") or not INSTALLED_RESULTS.is_dir():
            raise
        return INSTALLED_RESULTS


def find_book_folder(path, variable, contents):
    """Find a folder of the book's repository.

    It is the folder that the environment variable names, if that is set. Otherwise the current
    folder and its parents are searched for the path.

    Parameters
    ----------
    path : str
        Path of the folder relative to the repository's root.
    variable : str
        Name of the environment variable that may name another folder.
    contents : str
        What the folder contains, for the error message.

    Returns
    -------
    Path

    Raises
    ------
    FileNotFoundError
        There is no such folder.
    """
    if folder := os.environ.get(variable):
        if not Path(folder).is_dir():
            raise FileNotFoundError(f"{variable} names {folder!r}, which is not a folder.")
        return Path(folder)
    for folder in (Path.cwd(), *Path.cwd().parents):
        if (folder / path).is_dir():
            return folder / path
    raise FileNotFoundError(
        f"no folder {path} in the current folder or its parents; {contents} come with the book's "
        f"repository. Start inside it, or set {variable} to the folder."
    )


def load_records(name: str) -> list[dict]:
    """Read the records of an experiment.

    Parameters
    ----------
    name : str
        Name of the file without its extension, for instance ``"exploring-parameters"``.

    Returns
    -------
    list of dict
        One record per run, in the order of the file.

    Raises
    ------
    FileNotFoundError
        There is no such file; the message lists the existing ones.
    ValueError
        A line of the file is damaged.
    """
    folder = results_folder()
    path = folder / f"{name}.jsonl"
    if not path.exists():
        existing = ", ".join(sorted(p.stem for p in folder.glob("*.jsonl"))) or "none"
        raise FileNotFoundError(f"no results named {name!r} in {folder}; existing: {existing}.")
    return read_records(path)


def read_records(path):
    """Read a file of records, which has one JSON object per line.

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


def parse_records(data, path, *, first_line_number=1):
    """Return the records in some lines of a file; the first line has number `first_line_number`.

    Examples
    --------
    >>> from svmbook.experiments.running.records import parse_records
    >>> parse_records(b"3", "tiny.jsonl")
    Traceback (most recent call last):
        ...
    ValueError: tiny.jsonl, line 1 is damaged (3 is not a record). ...
    """
    records = []
    for line_number, line in enumerate(data.splitlines(), start=first_line_number):
        try:
            record = json.loads(line)
        except (ValueError, RecursionError) as error:  # invalid JSON or encoding
            raise _damaged_record_error(path, line_number, error) from error
        if not isinstance(record, dict):
            raise _damaged_record_error(path, line_number, f"{record!r} is not a record")
        records.append(record)
    return records


def _damaged_record_error(path, line_number, reason):
    return ValueError(
        f"{path}, line {line_number} is damaged ({reason}). Delete the line and run the experiment "
        "again, which carries out the missing runs, or restore the committed file from Git."
    )
