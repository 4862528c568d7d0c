"""What a student handed in, read with care.

Nothing of the submitted file is trusted: of each cell its text is taken, its kind, and the name by
which it claims a place. Everything else, metadata, outputs, attachments, stays behind.
"""

import json
import os
import re
import stat
from datetime import UTC, datetime

__all__ = ["Rejected", "read_notebook", "read_timestamp"]

LARGEST = 20_000_000  # bytes of a submitted file
LONGEST = 200_000  # characters of a cell
MOST_CELLS = 1_000
LONGEST_TIME = 100  # bytes of a timestamp
TIMESTAMP = re.compile(
    r"(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d(?::\d\d(?:\.\d{1,6})?)?) ?(UTC|GMT|Z|[+-]\d\d:?\d\d)?",
    re.ASCII,
)
# A link is not followed, and a pipe does not keep us waiting; Windows has neither flag.
FLAGS = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
FLAGS |= getattr(os, "O_BINARY", 0)


class Rejected(ValueError):
    """What was handed in cannot be read; the message says why."""


def read_notebook(path, within=0):
    """Read the cells of a notebook that was handed in.

    Parameters
    ----------
    path : Path
        The notebook.
    within : int, default=0
        How many of the folders above it must be no links.

    Returns
    -------
    list of tuple
        Name, kind and text of each cell; no name is None.

    Raises
    ------
    Rejected
        There is no such file, or it is no notebook, or too large.
    """
    if any(folder.is_symlink() for folder in path.parents[:within]):
        raise Rejected("the folder is a link; hand in the file itself")
    content = _bytes_of(path)
    try:
        notebook = json.loads(content.decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise Rejected("the file is not UTF-8; save it as Jupyter does") from None
    except RecursionError:
        raise Rejected("the file is nested too deeply for a notebook") from None
    except ValueError as error:
        raise Rejected(f"the file is no notebook ({error})") from None
    cells = notebook.get("cells") if isinstance(notebook, dict) else None
    if not isinstance(cells, list):
        raise Rejected("the file is no notebook of format 4: it has no list of cells")
    if len(cells) > MOST_CELLS:
        raise Rejected(f"{len(cells)} cells; at most {MOST_CELLS} are run")
    return [_cell(cell, k) for k, cell in enumerate(cells)]


def read_timestamp(folder):
    """Read when a submission was handed in.

    Parameters
    ----------
    folder : Path
        The folder of its notebook, where nbgrader writes ``timestamp.txt`` when it collects it.

    Returns
    -------
    moment : datetime or None
        The moment in UTC, without a time zone as in nbgrader's gradebook; None where there is no
        such file, or it cannot be read.
    note : str or None
        That it cannot be read.
    """
    if not os.path.lexists(folder / "timestamp.txt"):
        return None, None
    text = ""
    try:
        text = _bytes_of(folder / "timestamp.txt", LONGEST_TIME).decode().strip()
        day, time, zone = TIMESTAMP.fullmatch(text).groups()
        zone = "+00:00" if zone in (None, "UTC", "GMT", "Z") else zone
        moment = datetime.fromisoformat(f"{day} {time}{zone}").astimezone(UTC)
        return moment.replace(tzinfo=None), None
    except (Rejected, AttributeError, ValueError, OverflowError):
        return None, f"timestamp.txt cannot be read ({text[:40]!r}); write 2026-10-05 17:40:00 UTC"


def _bytes_of(path, largest=LARGEST):
    try:
        file = os.open(path, FLAGS)
    except FileNotFoundError:
        raise Rejected(f"there is no file {path.name}{_what_is_there(path)}") from None
    except OSError as error:
        raise Rejected(f"{path.name} cannot be opened ({error.strerror})") from None
    status = os.fstat(file)
    if not stat.S_ISREG(status.st_mode):
        os.close(file)
        raise Rejected(f"{path.name} is no file")
    with os.fdopen(file, "rb") as opened:
        if status.st_size > largest:
            mb = status.st_size / 1e6
            raise Rejected(f"{path.name} has {mb:.0f} MB; at most {largest / 1e6:.0f} are read")
        return opened.read(largest)


def _what_is_there(path):
    """Return in words which notebooks are in the folder of one that is missing."""
    try:
        there = sorted(one.name for one in path.parent.iterdir() if not one.name.startswith("."))
    except OSError:
        return ""
    return f", but {', '.join(map(repr, there[:5]))}" if there else ""


def _cell(cell, number):
    """Return name, kind and text of a cell."""
    if not isinstance(cell, dict):
        raise Rejected(f"cell {number} is no cell")
    kind, text, about = cell.get("cell_type"), cell.get("source"), cell.get("metadata")
    if isinstance(text, list) and all(isinstance(line, str) for line in text):
        text = "".join(text)
    if kind not in ("code", "markdown", "raw") or not isinstance(text, str):
        raise Rejected(f"cell {number} is no cell")
    if len(text) > LONGEST:
        raise Rejected(f"cell {number} has {len(text)} characters; at most {LONGEST} are read")
    about = about.get("nbgrader") if isinstance(about, dict) else None
    name = about.get("grade_id") if isinstance(about, dict) else None
    # Half of a surrogate pair is text for JSON and for nobody else.
    text = text.encode("utf-8", "replace").decode("utf-8")
    return name if isinstance(name, str) else None, kind, text
