"""Run an experiment from the command line: ``python -m svmbook.experiments exploring``."""

from __future__ import annotations

import argparse
import itertools
import json
from pathlib import Path

from .exploring import DATA_SETS, KERNELS, parameter_study
from .results import results_folder


def main():
    """Append the runs that are missing; interrupted, the next call goes on where this one ended."""
    parser = argparse.ArgumentParser(prog="python -m svmbook.experiments", description=__doc__)
    parser.add_argument("experiment", choices=["exploring"])
    parser.add_argument("--runs", type=int, default=50, help="seeds a data set (default 50)")
    parser.add_argument("--out", type=Path, help="file of records, default in book/results")
    options = parser.parse_args()
    path = options.out or results_folder() / "exploring_parameters.jsonl"
    done = set()
    if path.exists():
        records = map(json.loads, path.read_text(encoding="utf-8").splitlines())
        done = {(record["data_set"], record["kernel"], record["seed"]) for record in records}
    with path.open("a", encoding="utf-8") as file:
        for job in itertools.product(DATA_SETS, KERNELS, range(options.runs)):
            if job not in done:
                file.write(json.dumps(parameter_study(*job)) + "\n")
                file.flush()


if __name__ == "__main__":
    main()
