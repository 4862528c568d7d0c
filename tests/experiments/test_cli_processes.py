"""The command in its own process: the modules it imports, Ctrl-C, and a closed stderr."""

import signal
import subprocess
import sys

import pytest
from records import REPRODUCE_ARGUMENTS

from svmbook.experiments.running.store import Store

COMMAND_SCRIPT = "from svmbook.experiments.cli import main; main()"
COMMAND = [sys.executable, "-c", COMMAND_SCRIPT]


# test_reproduce.py tests the cluster that `--dask local` starts. This test adds --jobs.
@pytest.mark.nightly
def test_local_cluster_with_one_worker_stores_all_runs(tmp_path):
    pytest.importorskip("distributed")
    store_path = tmp_path / "runs.jsonl"
    command = [
        *COMMAND,
        *REPRODUCE_ARGUMENTS,
        "--runs",
        "3",
        "--store",
        str(store_path),
        "--dask",
        "local",
        "--jobs",
        "1",
    ]
    result = subprocess.run(command, capture_output=True, text=True, timeout=180)
    assert result.returncode == 0, result.stderr
    assert sorted(r["run"] for r in Store(store_path).records()) == [0, 1, 2]


def test_help_imports_no_large_package():
    large_packages = "{'joblib', 'matplotlib', 'numpy', 'scipy', 'sklearn'}"
    print_imports_at_exit = (
        f"import atexit, sys; atexit.register(lambda: print({large_packages} & {{*sys.modules}})); "
    )
    command = [sys.executable, "-c", print_imports_at_exit + COMMAND_SCRIPT, "reproduce", "--help"]
    result = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert result.returncode == 0 and "exploring-parameters" in result.stdout
    assert result.stdout.splitlines()[-1] == "set()"


INTERRUPTED_IMPORT_SCRIPT = """
import os, signal, sys
class InterruptingFinder:
    def find_spec(self, name, path=None, target=None):
        if name == sys.argv[1]:
            os.kill(os.getpid(), signal.SIGINT)
signal.signal(signal.SIGINT, signal.default_int_handler)  # background jobs ignore SIGINT
sys.meta_path.insert(0, InterruptingFinder())
from svmbook.experiments.cli import main
main(sys.argv[2:])
"""


@pytest.mark.parametrize(
    ("module", "arguments"),
    [
        ("click", ["--help"]),
        ("filelock", ["--help"]),
        ("svmbook.experiments.suites", ["--help"]),
        ("sklearn", ["list"]),
        ("sklearn", ["data"]),
        ("joblib", [*REPRODUCE_ARGUMENTS, "--runs", "1"]),
    ],
)
def test_ctrl_c_during_imports_prints_no_traceback(tmp_path, module, arguments):
    command = [sys.executable, "-c", INTERRUPTED_IMPORT_SCRIPT, module, *arguments]
    result = subprocess.run(command, capture_output=True, text=True, timeout=60, cwd=tmp_path)
    assert result.returncode == 128 + signal.SIGINT
    lines = result.stderr.splitlines()
    assert all(line.startswith(("exploring-parameters.jsonl: ", "stopped: ")) for line in lines)


def run_with_closed_stderr(*command):
    """Run a command whose stderr is closed, and return its exit code."""
    return subprocess.run(["sh", "-c", 'exec "$@" 2>&-', "sh", *command], timeout=120).returncode


CLOSED_STDERR_SCRIPT = """
import os, sys
import click
from svmbook.experiments.cli import main
assert sys.stderr is None

@main.command("check-descriptors")
@click.argument("store_path")
def check_descriptors(store_path):
    print("discarded", file=sys.stderr, flush=True)
    assert os.get_inheritable(2)  # otherwise file descriptor 2 is closed in workers
    assert os.open(store_path, os.O_RDONLY) > 2  # otherwise workers write their stderr to the store

main()
"""


def test_closed_stderr_is_replaced_before_the_store_is_opened(tmp_path):
    store_path = tmp_path / "runs.jsonl"
    store_path.write_bytes(b"")
    assert (
        run_with_closed_stderr(
            sys.executable, "-c", CLOSED_STDERR_SCRIPT, "check-descriptors", str(store_path)
        )
        == 0
    )


@pytest.mark.nightly  # the test above checks the same without workers
def test_runs_with_a_closed_stderr_are_stored(tmp_path):
    store_path = tmp_path / "runs.jsonl"
    command = [
        *COMMAND,
        *REPRODUCE_ARGUMENTS,
        "--runs",
        "2",
        "--store",
        str(store_path),
        "--jobs",
        "2",
    ]
    assert run_with_closed_stderr(*command) == 0
    assert sorted(r["run"] for r in Store(store_path).records()) == [0, 1]
