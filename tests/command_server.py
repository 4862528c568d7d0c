"""The server that runs calls of ``svmbook`` for `commands.py`."""

import contextlib
import os
import signal

from forks import serve

from svmbook.experiments import reproduce  # noqa: F401
from svmbook.experiments.cli import main

with contextlib.suppress(ImportError):
    import distributed  # noqa: F401


def signal_at_record(moment, record_number, signum):
    """Signal all processes of this call at one moment while a record is written.

    The moment is "before" the record is written, after "half" of it, when it is "written", or when
    it is "synced" to the disk. Records are numbered from 1.
    """
    write, fsync, n_records = os.write, os.fsync, 0

    def signal_if_now(current_moment):
        if n_records == record_number and moment == current_moment:
            os.killpg(0, signum)

    def write_and_signal(descriptor, data):
        nonlocal n_records
        if bytes(data).startswith(b'{"suite"'):
            n_records += 1
            signal_if_now("before")
            if n_records == record_number and moment == "half":
                write(descriptor, data[: len(data) // 2])
                signal_if_now("half")
        return write(descriptor, data)

    def fsync_and_signal(descriptor):
        signal_if_now("written")
        fsync(descriptor)
        signal_if_now("synced")

    os.write, os.fsync = write_and_signal, fsync_and_signal


def call(stderr_path, signal_arguments, *arguments):
    """Call ``svmbook`` with stderr redirected to a file, and with the default handler of Ctrl-C."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for descriptor, path in enumerate((os.devnull, os.devnull, stderr_path)):
        os.dup2(os.open(path, os.O_RDWR), descriptor)
    if signal_arguments:
        signal_at_record(*signal_arguments)
    main(arguments)


if __name__ == "__main__":
    serve(call)
