"""The command in its own process: the modules it imports, Ctrl-C, and a closed stderr."""

import signal
import subprocess
import sys

import pytest
from records import REPRODUCE_ARGUMENTS

from svmbook.experiments.running.store import Store

COMMAND = [sys.executable, "-c", "from svmbook.experiments.cli import main; main()"]


# The cluster that `--dask local` starts is tested in test_reproduce.py; here --dask with --jobs.
@pytest.mark.nightly
def test_runs_on_a_local_cluster(tmp_path):
    pytest.importorskip("distributed")
    path = tmp_path / "runs.jsonl"
    call = [
        *COMMAND,
        *REPRODUCE_ARGUMENTS,
        "--runs",
        "3",
        "--store",
        str(path),
        "--dask",
        "local",
        "--jobs",
        "1",
    ]
    result = subprocess.run(call, capture_output=True, text=True, timeout=180)
    assert result.returncode == 0, result.stderr
    assert sorted(r["run"] for r in Store(path).records()) == [0, 1, 2]


def test_help_imports_no_large_package():
    heavy = "{'joblib', 'matplotlib', 'numpy', 'scipy', 'sklearn'}"
    code = f"import atexit, sys; atexit.register(lambda: print({heavy} & {{*sys.modules}})); "
    call = [sys.executable, "-c", code + COMMAND[2], "reproduce", "--help"]
    result = subprocess.run(call, capture_output=True, text=True, timeout=60)
    assert result.returncode == 0 and "exploring-parameters" in result.stdout
    assert result.stdout.splitlines()[-1] == "set()"


INTERRUPTED_IMPORT_SCRIPT = """
import os, signal, sys
class Interrupting:
    def find_spec(self, name, path=None, target=None):
        if name == sys.argv[1]:
            os.kill(os.getpid(), signal.SIGINT)
signal.signal(signal.SIGINT, signal.default_int_handler)  # background jobs ignore SIGINT
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
        ("joblib", [*REPRODUCE_ARGUMENTS, "--runs", "1"]),
    ],
)
def test_ctrl_c_during_imports_prints_no_traceback(tmp_path, module, command):
    call = [sys.executable, "-c", INTERRUPTED_IMPORT_SCRIPT, module, *command]
    result = subprocess.run(call, capture_output=True, text=True, timeout=60, cwd=tmp_path)
    assert result.returncode == 128 + signal.SIGINT
    lines = result.stderr.splitlines()
    assert all(line.startswith(("exploring-parameters.jsonl: ", "stopped: ")) for line in lines)


def without_stderr(*command):
    return subprocess.run(["sh", "-c", 'exec "$@" 2>&-', "sh", *command], timeout=120).returncode


CLOSED_STDERR_SCRIPT = """
import os, sys
import click
from svmbook.experiments.cli import main
assert sys.stderr is None

@main.command()
@click.argument("store")
def inspect(store):
    print("discarded", file=sys.stderr, flush=True)
    assert os.get_inheritable(2)  # otherwise file descriptor 2 is closed in workers
    assert os.open(store, os.O_RDONLY) > 2  # otherwise workers write their stderr to the store

main()
"""


def test_closed_stderr_is_replaced_before_the_store_is_opened(tmp_path):
    store = tmp_path / "runs.jsonl"
    store.write_bytes(b"")
    assert without_stderr(sys.executable, "-c", CLOSED_STDERR_SCRIPT, "inspect", str(store)) == 0


@pytest.mark.nightly  # the test above checks the same without two workers
def test_runs_with_a_closed_stderr_are_stored(tmp_path):
    path = tmp_path / "runs.jsonl"
    call = [*COMMAND, *REPRODUCE_ARGUMENTS, "--runs", "2", "--store", str(path), "--jobs", "2"]
    assert without_stderr(*call) == 0
    assert sorted(r["run"] for r in Store(path).records()) == [0, 1]
