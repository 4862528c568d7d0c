import functools

import pytest
from commands import SERVER_SCRIPT, Command, command_arguments, jobs
from forks import Server
from records import fields_without_times

from svmbook.experiments.reproduce import reproduce
from svmbook.experiments.running.store import Store


@pytest.fixture(scope="session")
def uninterrupted(tmp_path_factory):
    """Return a function that returns the records of `jobs`, carried out in this process."""

    @functools.cache
    def records(runs):
        store = Store(tmp_path_factory.mktemp("uninterrupted") / "runs.jsonl")
        done = [progress.n_stored for progress in reproduce(jobs(runs), store)]
        assert done == list(range(1, len(jobs(runs)) + 1))
        return fields_without_times(store.records())

    return records


@pytest.fixture(scope="session")
def start():
    """Return a function that starts the command in its own process."""
    server = Server(SERVER_SCRIPT)
    yield lambda path, *more, runs, signal_at=None: Command(
        server,
        path.with_name("errors.txt"),
        *("reproduce", *command_arguments(runs), "--store", str(path), *more),
        signal_at=signal_at,
    )
    server.close()
