"""The command in a process of its own: what it loads, how it is interrupted, what it starts."""

import signal
import subprocess
import sys

import pytest

from svmbook.experiments.running.store import Store

PART = ["reproduce", "exploring-parameters", "--datasets", "stdev2", "--methods", "linear"]
COMMAND = [sys.executable, "-c", "from svmbook.experiments.cli import main; main()"]


# What `--dask local` starts is tested in test_reproduce.py; here are the two options together.
@pytest.mark.nightly
def test_a_cluster_does_it_too(tmp_path):
    pytest.importorskip("distributed")
    path = tmp_path / "runs.jsonl"
    call = [*COMMAND, *PART, "--runs", "3", "--store", str(path), "--dask", "local", "--jobs", "1"]
    done = subprocess.run(call, capture_output=True, text=True, timeout=180)
    assert done.returncode == 0, done.stderr
    assert sorted(r["run"] for r in Store(path).records()) == [0, 1, 2]


def test_help_loads_nothing_that_takes_seconds():
    heavy = "{'joblib', 'matplotlib', 'numpy', 'scipy', 'sklearn'}"
    code = f"import atexit, sys; atexit.register(lambda: print({heavy} & {{*sys.modules}})); "
    call = [sys.executable, "-c", code + COMMAND[2], "reproduce", "--help"]
    done = subprocess.run(call, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 and "exploring-parameters" in done.stdout
    assert done.stdout.splitlines()[-1] == "set()"


INTERRUPTED = """
import os, signal, sys
class Interrupting:
    def find_spec(self, name, path=None, target=None):
        if name == sys.argv[1]:
            os.kill(os.getpid(), signal.SIGINT)
signal.signal(signal.SIGINT, signal.default_int_handler)  # also where a background job ignores it
sys.meta_path.insert(0, Interrupting())
from svmbook.experiments.cli import main
main(sys.argv[2:])
"""


@pytest.mark.parametrize(
    ("module", "command"),
    [
        ("click", ["--help"]),
        ("filelock", ["--help"]),
        ("svmbook.experiments.suites", ["--help"]),
        ("sklearn", ["list"]),
        ("sklearn", ["data"]),
        ("joblib", [*PART, "--runs", "1"]),
    ],
)
def test_ctrl_c_while_modules_are_read_prints_no_traceback(tmp_path, module, command):
    call = [sys.executable, "-c", INTERRUPTED, module, *command]
    done = subprocess.run(call, capture_output=True, text=True, timeout=60, cwd=tmp_path)
    assert done.returncode == 128 + signal.SIGINT
    shown = done.stderr.splitlines()
    assert all(line.startswith(("exploring-parameters.jsonl: ", "stopped: ")) for line in shown)


def without_stderr(*command):
    return subprocess.run(["sh", "-c", 'exec "$@" 2>&-', "sh", *command], timeout=120).returncode


CLOSED = """
import os, sys
import click
from svmbook.experiments.cli import main
assert sys.stderr is None

@main.command()
@click.argument("store")
def look(store):
    print("unseen", file=sys.stderr, flush=True)
    assert os.get_inheritable(2)  # or workers would find file 2 closed
    assert os.open(store, os.O_RDONLY) > 2  # or a store would be what workers take for stderr

main()
"""


def test_a_closed_stderr_is_replaced_before_a_store_can_take_its_number(tmp_path):
    store = tmp_path / "runs.jsonl"
    store.write_bytes(b"")
    assert without_stderr(sys.executable, "-c", CLOSED, "look", str(store)) == 0


@pytest.mark.nightly  # the test above has the same without the two workers
def test_a_closed_stderr_hinders_nothing(tmp_path):
    path = tmp_path / "runs.jsonl"
    call = [*COMMAND, *PART, "--runs", "2", "--store", str(path), "--jobs", "2"]
    assert without_stderr(*call) == 0
    assert sorted(r["run"] for r in Store(path).records()) == [0, 1]
