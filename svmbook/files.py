"""Files that are there whole or not at all."""

import os

__all__ = ["write_whole"]


def write_whole(path, content):
    """Write a file so that whoever looks finds all of it, or what was there before.

    Parameters
    ----------
    path : Path
        Where; folders are made.
    content : str or bytes
        Text is encoded in UTF-8.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from svmbook.files import write_whole
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "new" / "file.txt"
    ...     write_whole(path, "all of it")
    ...     print(path.read_text())
    all of it
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        part.write_bytes(content.encode() if isinstance(content, str) else content)
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)
