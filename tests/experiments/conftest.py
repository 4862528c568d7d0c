import functools

import pytest
from commands import SERVER_SCRIPT, Command, command_arguments, jobs
from forks import ForkServer
from records import records_without_times

from svmbook.experiments.reproduce import reproduce
from svmbook.experiments.running.store import Store


@pytest.fixture(scope="session")
def uninterrupted_records(tmp_path_factory):
    """Return a function that runs ``jobs(runs)`` and returns the records by job, without times."""

    @functools.cache
    def run_uninterrupted(runs):
        store = Store(tmp_path_factory.mktemp("uninterrupted") / "runs.jsonl")
        n_stored = [progress.n_stored for progress in reproduce(jobs(runs), store)]
        assert n_stored == list(range(1, len(jobs(runs)) + 1))
        return records_without_times(store.records())

    return run_uninterrupted


@pytest.fixture(scope="session")
def start_command():
    """Return a function that starts ``svmbook reproduce`` in its own process."""
    server = ForkServer(SERVER_SCRIPT)
    yield lambda path, *arguments, runs, signal_at=None: Command(
        server,
        path.with_name("stderr.txt"),
        *("reproduce", *command_arguments(runs), "--store", str(path), *arguments),
        signal_at=signal_at,
    )
    server.close()
