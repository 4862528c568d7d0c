"""The server that runs the ``svmbook`` command for `commands.py`."""

import contextlib
import os
import signal

from forks import serve

# The command imports these modules only when it uses them; here they are imported before a fork.
from svmbook.experiments import reproduce  # noqa: F401
from svmbook.experiments.cli import main

with contextlib.suppress(ImportError):
    import distributed  # noqa: F401


def schedule_signal(stage, record_number, signum):
    """Arrange that all processes of this call are signalled while a record is written.

    The stage is "before" the record is written, after "half" of it, when it is "written", or when
    it is "synced" to the disk. Records are numbered from 1.
    """
    write, fsync, n_records = os.write, os.fsync, 0

    def signal_if_due(reached_stage):
        if n_records == record_number and stage == reached_stage:
            os.killpg(0, signum)

    def write_and_signal(descriptor, data):
        nonlocal n_records
        if bytes(data).startswith(b'{"suite"'):
            n_records += 1
            signal_if_due("before")
            if n_records == record_number and stage == "half":
                write(descriptor, data[: len(data) // 2])
                signal_if_due("half")
        return write(descriptor, data)

    def fsync_and_signal(descriptor):
        signal_if_due("written")
        fsync(descriptor)
        signal_if_due("synced")

    os.write, os.fsync = write_and_signal, fsync_and_signal


def run_command(stderr_path, signal_at, *arguments):
    """Run ``svmbook`` with stderr in a file, no stdin or stdout, and Python's handler of Ctrl-C."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for descriptor, path in enumerate((os.devnull, os.devnull, stderr_path)):
        os.dup2(os.open(path, os.O_RDWR), descriptor)
    if signal_at:
        schedule_signal(*signal_at)
    main(arguments)


if __name__ == "__main__":
    serve(run_command)
