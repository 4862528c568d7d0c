"""A file of finished runs that stays usable when a program is killed while writing to it.

Each run is one line of JSON, appended under a lock. A killed program leaves at most one incomplete
last line. The next program moves that line to another file, and carries out the run again.
"""

from __future__ import annotations

import errno
import json
import os
import warnings
from pathlib import Path
from typing import NamedTuple

from filelock import FileLock, Timeout

from .records import parse_records

__all__ = ["FIELDS", "Job", "Store"]

# The beginning of each line, which distinguishes incomplete records from other text.
RECORD_START = b'{"suite": "'
APPEND_FLAGS, FILE_MODE = os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644
LOCK_TIMEOUT = 60  # seconds to wait for another process's append, which takes milliseconds


def _is_finite_number(value):
    return type(value) in (int, float) and abs(value) < float("inf")


def _is_dict_of_finite_numbers(value):
    return isinstance(value, dict) and all(map(_is_finite_number, value.values()))


# A function that checks a value, and a description of valid values.
TEXT = (lambda value: isinstance(value, str), "text")
NON_NEGATIVE_INTEGER = (lambda value: type(value) is int and value >= 0, "a non-negative integer")
#: Fields of every record in their order. A suite may add fields of its own.
FIELDS = {
    "suite": TEXT,
    "data_set": TEXT,
    "method": TEXT,
    "run": NON_NEGATIVE_INTEGER,
    "seed": NON_NEGATIVE_INTEGER,
    "parameters": (_is_dict_of_finite_numbers, "a dict of finite numbers"),
    "error": (lambda value: _is_finite_number(value) and 0 <= value <= 1, "between 0 and 1"),
    "model_size": NON_NEGATIVE_INTEGER,
    "seconds": (
        lambda value: _is_finite_number(value) and value >= 0,
        "a finite non-negative number",
    ),
    "versions": TEXT,
}


class Job(NamedTuple):
    """The fields that identify a run in a store."""

    suite: str
    data_set: str
    method: str
    run: int

    def __str__(self):
        return f"{self.suite}: {self.data_set}, {self.method}, run {self.run}"


class Store:
    """Records of finished runs in a file, by job.

    Several processes may append to one store. If two of them carry out the same run, the record
    that was appended first is kept.

    Parameters
    ----------
    path : path-like
        The file. It need not exist, but its folder must.

    Raises
    ------
    FileNotFoundError
        There is no such folder.
    ValueError
        The path is not a regular file, or a line is damaged, is not a record or repeats a run.

    Examples
    --------
    >>> import tempfile
    >>> from svmbook.experiments.running.store import FIELDS, Job, Store
    >>> record = dict.fromkeys(FIELDS, 0) | {"suite": "a", "data_set": "b"}
    >>> record |= {"method": "c", "parameters": {"C": 1.0}, "versions": "none"}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     store = Store(f"{folder}/runs.jsonl")
    ...     store.append(record), store.append(record), len(store)
    (True, False, 1)
    """

    def __init__(self, path):
        self.path = Path(path)
        if not self.path.parent.is_dir():
            raise FileNotFoundError(f"there is no folder {self.path.parent}; create it first.")
        if self.path.exists() and not self.path.is_file():
            raise ValueError(f"{self.path} is not a regular file; name another one.")
        self._lock = FileLock(f"{self.path}.lock", timeout=LOCK_TIMEOUT)
        self._records = {}
        self._n_bytes_read = 0  # length of the complete lines read so far
        self._inode = None  # of the file they were read from
        self.refresh()

    def __len__(self):
        return len(self._records)

    def __contains__(self, job):
        return job in self._records

    def records(self, suite=None):
        """Return the records of one suite, or of all suites, in the order of the file."""
        return [r for job, r in self._records.items() if suite in (None, job.suite)]

    def refresh(self):
        """Read what has been appended since the last call.

        Return an incomplete last line, or ``b""`` if there is none.
        """
        try:
            file = self.path.open("rb")
        except FileNotFoundError:
            self._records, self._n_bytes_read = {}, 0
            return b""
        with file:
            status = os.fstat(file.fileno())
            if status.st_ino != self._inode or status.st_size < self._n_bytes_read:
                self._records, self._n_bytes_read = {}, 0  # the file was replaced
            self._inode = status.st_ino
            file.seek(self._n_bytes_read)
            data = file.read()
        n_complete_bytes = data.rfind(b"\n") + 1  # length of the complete lines
        new_records, first_line_number = {}, len(self._records) + 1
        complete_lines = data[:n_complete_bytes]
        records = parse_records(complete_lines, self.path, first_line_number=first_line_number)
        for line_number, record in enumerate(records, start=first_line_number):
            job = _checked_job(record, f"{self.path}, line {line_number}")
            if job in self._records or job in new_records:
                raise ValueError(
                    f"{self.path}, line {line_number} repeats the run of an earlier line ({job}). "
                    "Delete one of them."
                )
            new_records[job] = record
        incomplete_line = data[n_complete_bytes:]
        if not (
            incomplete_line.startswith(RECORD_START) or RECORD_START.startswith(incomplete_line)
        ):
            raise ValueError(
                f"{self.path} does not end in a record; name another file, or repair this one."
            )
        self._records |= new_records
        self._n_bytes_read += n_complete_bytes
        return incomplete_line

    def repair(self):
        """Create a missing file; move an incomplete last line to another file, and warn."""
        # This fails at once if the file cannot be written; waiting for the lock would take long.
        os.close(os.open(self.path, APPEND_FLAGS, FILE_MODE))
        with self._acquire_lock():
            self._repair_locked()

    def append(self, record):
        """Append the record of a run unless the store has one; return whether it was appended."""
        job = _checked_job(record, "the record")
        try:
            line = json.dumps(job._asdict() | record, allow_nan=False).encode() + b"\n"
        except (TypeError, ValueError) as error:
            raise ValueError(f"the record of {job} cannot be written as JSON: {error}.") from error
        with self._acquire_lock():
            self._repair_locked()
            if job in self:
                return False
            _append(self.path, line, self._n_bytes_read)
            self.refresh()
        return True

    def _repair_locked(self):
        """Move an incomplete last line to another file; the caller holds the lock."""
        incomplete_line = self.refresh()
        if incomplete_line:
            torn_path = self.path.with_name(self.path.name + ".torn")
            with torn_path.open("ab") as file:
                file.write(incomplete_line + b"\n")
            os.truncate(self.path, self._n_bytes_read)
            warnings.warn(
                f"{self.path} ended in an incomplete record, which was moved to {torn_path.name}; "
                "its run will be repeated.",
                RuntimeWarning,
                stacklevel=3,
            )

    def _acquire_lock(self):
        try:
            return self._lock.acquire()
        except Timeout as error:
            raise OSError(
                errno.EAGAIN,
                f"another process has held {self._lock.lock_file} for {LOCK_TIMEOUT} s",
            ) from error


def _append(path, line, file_size):
    """Append a line to a file of known size in bytes; if that fails, restore the file."""
    descriptor = os.open(path, APPEND_FLAGS, FILE_MODE)
    try:
        try:
            n_written = os.write(descriptor, line)
            while n_written < len(line):  # a full disk accepts a part; the next call fails
                n_written += os.write(descriptor, line[n_written:])
            os.fsync(descriptor)
        except OSError:
            os.ftruncate(descriptor, file_size)
            raise
    finally:
        os.close(descriptor)


def _checked_job(record, description):
    """Return the job of a record, or raise a ValueError that says what is wrong."""
    missing_fields = [field for field in FIELDS if field not in record]
    if missing_fields:
        raise ValueError(
            f"{description} is not the record of a run: it lacks {', '.join(missing_fields)}."
        )
    for field, (is_valid, expected) in FIELDS.items():
        if not is_valid(record[field]):
            raise ValueError(
                f"{description} is not the record of a run: {field} must be {expected}; "
                f"found {record[field]!r}."
            )
    return Job(*(record[field] for field in Job._fields))
