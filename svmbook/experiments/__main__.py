"""Run an experiment from the command line: ``python -m svmbook.experiments exploring``."""

from __future__ import annotations

import argparse
import itertools
import json
from pathlib import Path

from .exploring import DATA_SETS, KERNELS, parameter_study
from .results import parse_records, results_folder

JOB = ("data_set", "kernel", "seed")  # what tells one run from another


def main(argv=None):
    """Append the runs that are missing; interrupted, the next call goes on where this one ended.

    Parameters
    ----------
    argv : list of str, default=None
        Arguments, by default those of the command line.

    Raises
    ------
    SystemExit
        An argument is wrong, or the file holds something else; the message says what.
    """
    parser = argparse.ArgumentParser(prog="python -m svmbook.experiments", description=__doc__)
    parser.add_argument("experiment", choices=["exploring"])
    parser.add_argument("--runs", type=int, default=50, help="seeds a data set (default 50)")
    parser.add_argument("--out", type=Path, help="file of records, default in book/results")
    options = parser.parse_args(argv)
    if options.runs < 1:
        parser.error(f"--runs is {options.runs}; give at least 1")
    try:
        path = options.out or results_folder() / "exploring_parameters.jsonl"
        done, length = finished(path)
    except (OSError, ValueError) as error:
        parser.error(str(error))
    missing = [
        job for job in itertools.product(DATA_SETS, KERNELS, range(options.runs)) if job not in done
    ]
    with path.open("a", encoding="utf-8", newline="\n") as file:
        file.truncate(length)
        for job in missing:
            file.write(json.dumps(parameter_study(*job)) + "\n")
            file.flush()
    print(f"{path}: {len(missing)} runs made, {len(done)} were there")


def finished(path):
    """Return the jobs that a file holds, and its length up to the end of the last whole line.

    What follows that end is the line that an interrupted run was writing.

    Raises
    ------
    FileNotFoundError
        There is no folder for the file.
    ValueError
        A whole line is damaged, or belongs to another experiment; or the file ends in a line that
        no run has begun.
    """
    if not path.parent.is_dir():
        raise FileNotFoundError(f"there is no folder {path.parent} for the records; make it first")
    written = path.read_bytes() if path.exists() else b""
    length = written.rfind(b"\n") + 1
    begun = json.dumps({JOB[0]: ""})[:-2].encode()  # how each record begins
    if not (begun.startswith(written[length:]) or written[length:].startswith(begun)):
        raise ValueError(f"{path} ends in something else than a record; name another file by --out")
    records = parse_records(written[:length], path)
    if not all(record.keys() >= set(JOB) for record in records):
        raise ValueError(f"{path} holds records of another experiment; name another file by --out")
    return {tuple(record[key] for key in JOB) for record in records}, length


if __name__ == "__main__":
    main()
