"""Atomic writing of files."""

import os

__all__ = ["write_atomically"]


def write_atomically(path, content):
    """Write a file atomically: until all of it is written, readers see the previous content.

    Parameters
    ----------
    path : Path
        Path of the file; missing folders are created.
    content : str or bytes
        Content of the file; text is encoded in UTF-8.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from svmbook.files import write_atomically
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "new" / "file.txt"
    ...     write_atomically(path, "content")
    ...     print(path.read_text())
    content
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary_path = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        temporary_path.write_bytes(content.encode() if isinstance(content, str) else content)
        os.replace(temporary_path, path)
    finally:
        temporary_path.unlink(missing_ok=True)
