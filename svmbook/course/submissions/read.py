"""Read the files of a submission without trusting their content.

Of each cell only the name, the type and the text are read. Everything else, such as metadata,
outputs and attachments, is ignored.
"""

import json
import os
import re
import stat
from datetime import UTC, datetime

__all__ = ["SubmissionError", "read_notebook", "read_timestamp"]

MAX_FILE_SIZE = 20_000_000  # bytes
MAX_CELL_LENGTH = 200_000  # characters
MAX_CELLS = 1_000
MAX_TIMESTAMP_SIZE = 100  # bytes
TIMESTAMP_PATTERN = re.compile(
    r"(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d(?::\d\d(?:\.\d{1,6})?)?) ?(UTC|GMT|Z|[+-]\d\d:?\d\d)?",
    re.ASCII,
)
# Links are not followed, and opening a pipe does not block. Windows has neither flag.
OPEN_FLAGS = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
OPEN_FLAGS |= getattr(os, "O_BINARY", 0)


class SubmissionError(ValueError):
    """A submission cannot be read; the message gives the reason."""


def read_notebook(path, n_checked_parents=0):
    """Read the cells of a submitted notebook.

    Parameters
    ----------
    path : Path
        The notebook.
    n_checked_parents : int, default=0
        Number of parent folders that are checked: they must not be links.

    Returns
    -------
    list of tuple
        Name, cell type and text of each cell; the name is None if the cell has none.

    Raises
    ------
    SubmissionError
        There is no such file, it is not a notebook, or it is too large.
    """
    if any(folder.is_symlink() for folder in path.parents[:n_checked_parents]):
        raise SubmissionError("the folder is a link; hand in the file itself")
    content = _read_bytes(path)
    try:
        notebook = json.loads(content.decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise SubmissionError("the file is not UTF-8; save it as Jupyter does") from None
    except RecursionError:
        raise SubmissionError("the file is nested too deeply for a notebook") from None
    except ValueError as error:
        raise SubmissionError(f"the file is not a notebook ({error})") from None
    cells = notebook.get("cells") if isinstance(notebook, dict) else None
    if not isinstance(cells, list):
        raise SubmissionError("the file is not a notebook of format 4: it has no list of cells")
    if len(cells) > MAX_CELLS:
        raise SubmissionError(f"the file has {len(cells)} cells; at most {MAX_CELLS} are allowed")
    return [_read_cell(cell, k) for k, cell in enumerate(cells)]


def read_timestamp(folder):
    """Read the time of a submission.

    Parameters
    ----------
    folder : Path
        The folder of the notebook, which contains ``timestamp.txt`` if nbgrader collected it.

    Returns
    -------
    time : datetime or None
        The time in UTC, without a time zone as in nbgrader's gradebook; None if there is no such
        file or it cannot be read.
    note : str or None
        A message if the file cannot be read.
    """
    if not os.path.lexists(folder / "timestamp.txt"):
        return None, None
    text = ""
    try:
        text = _read_bytes(folder / "timestamp.txt", MAX_TIMESTAMP_SIZE).decode().strip()
        date, time_of_day, zone = TIMESTAMP_PATTERN.fullmatch(text).groups()
        zone = "+00:00" if zone in (None, "UTC", "GMT", "Z") else zone
        time = datetime.fromisoformat(f"{date} {time_of_day}{zone}").astimezone(UTC)
        return time.replace(tzinfo=None), None
    except (SubmissionError, AttributeError, ValueError, OverflowError):
        return None, (
            f"timestamp.txt cannot be read ({text[:40]!r}); write a time such as "
            "2026-10-05 17:40:00 UTC"
        )


def _read_bytes(path, max_size=MAX_FILE_SIZE):
    try:
        descriptor = os.open(path, OPEN_FLAGS)
    except FileNotFoundError:
        raise SubmissionError(f"there is no file {path.name}{_describe_folder(path)}") from None
    except OSError as error:
        raise SubmissionError(f"{path.name} cannot be opened ({error.strerror})") from None
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode):
        os.close(descriptor)
        raise SubmissionError(f"{path.name} is not a regular file")
    with os.fdopen(descriptor, "rb") as stream:
        if status.st_size > max_size:
            megabytes = status.st_size / 1e6
            raise SubmissionError(
                f"{path.name} has {megabytes:.0f} MB; at most {max_size / 1e6:.0f} are allowed"
            )
        return stream.read(max_size)


def _describe_folder(path):
    """Return the end of an error message about a missing file: what its folder contains."""
    try:
        names = sorted(file.name for file in path.parent.iterdir() if file.name[0] != ".")
    except OSError:
        return ""
    return f", but {', '.join(map(repr, names[:5]))}" if names else ""


def _read_cell(cell, number):
    """Return name, cell type and text of a cell."""
    cell = cell if isinstance(cell, dict) else {}
    cell_type, text, metadata = cell.get("cell_type"), cell.get("source"), cell.get("metadata")
    if isinstance(text, list) and all(isinstance(line, str) for line in text):
        text = "".join(text)
    if cell_type not in ("code", "markdown", "raw") or not isinstance(text, str):
        raise SubmissionError(f"cell {number} is invalid")
    if len(text) > MAX_CELL_LENGTH:
        raise SubmissionError(
            f"cell {number} has {len(text)} characters; at most {MAX_CELL_LENGTH} are allowed"
        )
    nbgrader_metadata = metadata.get("nbgrader") if isinstance(metadata, dict) else None
    name = nbgrader_metadata.get("grade_id") if isinstance(nbgrader_metadata, dict) else None
    # JSON allows unpaired surrogates, but UTF-8 does not.
    text = text.encode("utf-8", "replace").decode("utf-8")
    return name if isinstance(name, str) else None, cell_type, text
