"""The server that runs calls of ``svmbook`` for `commands.py`."""

import contextlib
import os
import signal

from forks import serve

from svmbook.experiments import reproduce  # noqa: F401
from svmbook.experiments.cli import main

with contextlib.suppress(ImportError):
    import distributed  # noqa: F401


def signal_at_record(place, count, signum):
    """Signal all processes of this call at one point while a record is written.

    The point is before the record is written, after half of it, when it is written, or when it is
    synced. `count` is the number of the record.
    """
    write, fsync, n_records = os.write, os.fsync, 0

    def signal_at(current_place):
        if n_records == count and place == current_place:
            os.killpg(0, signum)

    def write_and_signal(file, data):
        nonlocal n_records
        if bytes(data).startswith(b'{"suite"'):
            n_records += 1
            signal_at("before")
            if n_records == count and place == "half":
                write(file, data[: len(data) // 2])
                signal_at("half")
        return write(file, data)

    def fsync_and_signal(file):
        signal_at("written")
        fsync(file)
        signal_at("synced")

    os.write, os.fsync = write_and_signal, fsync_and_signal


def call(errors, signal_arguments, *arguments):
    """Call ``svmbook`` with stderr in a file, and with the default handler of Ctrl-C."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for descriptor, name in enumerate((os.devnull, os.devnull, errors)):
        os.dup2(os.open(name, os.O_RDWR), descriptor)
    if signal_arguments:
        signal_at_record(*signal_arguments)
    main(arguments)


if __name__ == "__main__":
    serve(call)
