import functools

import pytest
from commands import SCRIPT, Command, jobs, options
from forks import Server
from records import untimed

from svmbook.experiments.reproduce import reproduce
from svmbook.experiments.running.store import Store


@pytest.fixture(scope="session")
def undisturbed(tmp_path_factory):
    """Return a function that gives the records of `jobs`, done one by one and to the end."""

    @functools.cache
    def records(runs):
        store, wanted = Store(tmp_path_factory.mktemp("undisturbed") / "runs.jsonl"), jobs(runs)
        done = [progress.done for progress in reproduce(wanted, store)]
        assert done == list(range(1, len(wanted) + 1))
        return untimed(store.records())

    return records


@pytest.fixture(scope="session")
def start():
    """Return a function that starts the command in a process of its own."""
    server = Server(SCRIPT)
    yield lambda path, *more, runs, strike=None: Command(
        server,
        path.with_name("errors.txt"),
        *("reproduce", *options(runs), "--store", str(path), *more),
        strike=strike,
    )
    server.close()
