"""A file of finished runs that survives whatever ends the program that writes it.

One line of JSON a run, appended in one piece under a lock. What a killed program leaves is either
nothing or a line without its end: the next one recognises it, moves it to a file beside the store,
and does that run again.
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

RECORD_START = b'{"suite": "'  # of every line; other incomplete lines are no torn records
APPENDING, MODE = os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644
LOCK_SECONDS = 60  # seconds to wait for another process's append, which takes milliseconds


def _is_word(value):
    return isinstance(value, str)


def _is_count(value):
    return type(value) is int and value >= 0


def _is_number(value):
    return type(value) in (int, float) and abs(value) < float("inf")


def _is_share(value):
    return _is_number(value) and 0 <= value <= 1


def _is_time(value):
    return _is_number(value) and value >= 0


def _are_numbers(value):
    return isinstance(value, dict) and all(map(_is_number, value.values()))


#: What every record holds, in this order, each with a check and with what it has to be. A suite
#: may add fields of its own.
FIELDS = {
    "suite": (_is_word, "text"),
    "data_set": (_is_word, "text"),
    "method": (_is_word, "text"),
    "run": (_is_count, "a whole number from 0"),
    "seed": (_is_count, "a whole number from 0"),
    "parameters": (_are_numbers, "names with finite numbers"),
    "error": (_is_share, "between 0 and 1"),
    "model_size": (_is_count, "a whole number from 0"),
    "seconds": (_is_time, "a finite number from 0"),
    "versions": (_is_word, "text"),
}


class Job(NamedTuple):
    """What tells one run from all others, in one store."""

    suite: str
    data_set: str
    method: str
    run: int

    def __str__(self):
        return f"{self.suite}: {self.data_set}, {self.method}, run {self.run}"


class Store:
    """Records of finished runs in a file, by job.

    Any number of processes may append to one store. A run that two of them did is kept once, as
    the first of them had it.

    Parameters
    ----------
    path : path-like
        The file; it need not exist, its folder must.

    Raises
    ------
    FileNotFoundError
        There is no such folder.
    ValueError
        It is no file, or a line is damaged, or is no record of a run, or repeats one.

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
            raise FileNotFoundError(f"there is no folder {self.path.parent}; make it first.")
        if self.path.exists() and not self.path.is_file():
            raise ValueError(f"{self.path} is no file that could hold records; name another.")
        self._lock = FileLock(f"{self.path}.lock", timeout=LOCK_SECONDS)
        self._records = {}
        self._length = 0  # bytes that hold the records read so far
        self._file = None  # which file they were read from
        self.refresh()

    def __len__(self):
        return len(self._records)

    def __contains__(self, job):
        return job in self._records

    def records(self, suite=None):
        """Return the records, of one suite or of all, in the order of the file."""
        return [r for job, r in self._records.items() if suite in (None, job.suite)]

    def refresh(self):
        """Read what any process has appended since the last look."""
        try:
            file = self.path.open("rb")
        except FileNotFoundError:
            self._records, self._length = {}, 0
            return b""
        with file:
            status = os.fstat(file.fileno())
            if status.st_ino != self._file or status.st_size < self._length:
                self._records, self._length = {}, 0  # the file was replaced
            self._file = status.st_ino
            file.seek(self._length)
            written = file.read()
        whole = written.rfind(b"\n") + 1
        found, first = {}, len(self._records) + 1
        records = parse_records(written[:whole], self.path, first=first)
        for number, record in enumerate(records, start=first):
            job = _job(record, f"{self.path}, line {number}")
            if job in self._records or job in found:
                raise ValueError(
                    f"{self.path}, line {number} repeats the run of an earlier line ({job}). "
                    "Delete one of them."
                )
            found[job] = record
        torn = written[whole:]
        if not (torn.startswith(RECORD_START) or RECORD_START.startswith(torn)):
            raise ValueError(
                f"{self.path} ends in something else than a record; name another file, or mend it."
            )
        self._records |= found
        self._length += whole
        return torn

    def repair(self):
        """Make ready to append: set a torn last line aside, with a warning that says where it went.

        Nothing is done to a whole store, but one that is not there yet is made, empty.
        """
        os.close(os.open(self.path, APPENDING, MODE))  # a lock would be tried for long
        with self._locked():
            self._repair()

    def append(self, record):
        """Add a finished run, unless it is there."""
        job = _job(record, "the record")
        try:
            line = json.dumps(job._asdict() | record, allow_nan=False).encode() + b"\n"
        except (TypeError, ValueError) as error:
            raise ValueError(f"the record of {job} cannot be written as JSON: {error}.") from error
        with self._locked():
            self._repair()
            if job in self:
                return False
            _append(self.path, line, self._length)
            self.refresh()
        return True

    def _repair(self):
        torn = self.refresh()
        if torn:
            aside = self.path.with_name(self.path.name + ".torn")
            with aside.open("ab") as file:
                file.write(torn + b"\n")
            os.truncate(self.path, self._length)
            warnings.warn(
                f"{self.path} ended in the torn record of a program that was stopped; it is set "
                f"aside in {aside.name}, and its run will be done again.",
                RuntimeWarning,
                stacklevel=3,
            )

    def _locked(self):
        try:
            return self._lock.acquire()
        except Timeout as error:
            raise OSError(
                errno.EAGAIN,
                f"another process has held {self._lock.lock_file} for {LOCK_SECONDS} s",
            ) from error


def _append(path, line, length):
    """Write a line to the end of a file of a known length, wholly or not at all."""
    file = os.open(path, APPENDING, MODE)
    try:
        try:
            written = os.write(file, line)
            while written < len(line):  # a full disk takes a part, and fails at the next call
                written += os.write(file, line[written:])
            os.fsync(file)
        except OSError:
            os.ftruncate(file, length)
            raise
    finally:
        os.close(file)


def _job(record, where):
    """Return the job of a record, or say what is wrong with it."""
    missing = [field for field in FIELDS if field not in record]
    if missing:
        raise ValueError(f"{where} is no record of a run: it lacks {', '.join(missing)}.")
    for field, (is_right, wanted) in FIELDS.items():
        if not is_right(record[field]):
            found = f"{field} is {record[field]!r}; it has to be {wanted}."
            raise ValueError(f"{where} is no record of a run: {found}")
    return Job(*(record[field] for field in Job._fields))
