"""Run tests in a private copy of the repository, with its own Python environment.

Tests start processes that ignore PYTHONPATH (``python -I`` in an empty environment), so svmbook is
installed from the copy in that environment.
"""

import compileall
import io
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from py_compile import PycInvalidationMode
from queue import SimpleQueue

from assigned_tests import ROOT

BUILD = ROOT / "_build"  # on the same file system as the environment, for hard links
WORKER_PATH = Path(__file__).with_name("worker.py")
TEST_FOLDERS = ("tests", "benchmarks")  # replaced if the tests of an older revision are used


class Runner:
    """A private copy and a process that runs tests in it, one run at a time."""

    def __init__(self, folder, revision):
        self.root = folder / "svmbook-copy"
        ignore = shutil.ignore_patterns("_build", ".*", "dist", "__pycache__")
        shutil.copytree(ROOT, self.root, ignore=ignore)
        if revision:
            check_out_tests(revision, self.root)
        # Two mutants may have the same modification time and size, so bytecode is checked by hash.
        invalidation_mode = PycInvalidationMode.CHECKED_HASH
        compileall.compile_dir(self.root, quiet=2, invalidation_mode=invalidation_mode)
        python = copy_environment(folder / "environment", self.root)
        command = [python, "-I", "-c", "import svmbook; print(svmbook.__file__)"]
        imported = subprocess.check_output(command, text=True).strip()
        if imported != str(self.root / "svmbook" / "__init__.py"):
            raise SystemExit(f"the tests would import {imported}, not svmbook in {self.root}")
        path = f"{python.parent}{os.pathsep}{os.environ['PATH']}"
        settings = {"PATH": path, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
        self._process = subprocess.Popen(
            [python, "-P", WORKER_PATH],
            cwd=self.root,
            env={k: v for k, v in os.environ.items() if k != "PYTHONPATH"} | settings,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def run(self, **request):
        """Run tests and return the outcome."""
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        response = self._process.stdout.readline()
        if not response:
            raise SystemExit(f"the tests cannot be run: {request}")
        return json.loads(response)

    def close(self):
        self._process.communicate()


@contextmanager
def start_runners(n_runners, revision):
    """Create runners; yield the root of the first, and ``map_unordered(function, items)``.

    ``map_unordered`` calls ``function(runner, item)`` for every item, with one item per runner at a
    time, and yields the results as they finish.
    """
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="mutants-", dir=BUILD))
        runners = [Runner(Path(folder, str(number)), revision) for number in range(n_runners)]
        idle_runners = SimpleQueue()
        for runner in runners:
            stack.enter_context(closing(runner))
            idle_runners.put(runner)
        pool = stack.enter_context(ThreadPoolExecutor(n_runners))
        stack.callback(pool.shutdown, cancel_futures=True)

        def call_with_idle_runner(function, item):
            runner = idle_runners.get()
            try:
                return function(runner, item)
            finally:
                idle_runners.put(runner)

        def map_unordered(function, items):
            for future in as_completed(
                [pool.submit(call_with_idle_runner, function, item) for item in items]
            ):
                yield future.result()

        yield runners[0].root, map_unordered


def check_out_tests(revision, root):
    """Replace the tests by those of a revision."""
    archive = subprocess.check_output(["git", "archive", revision, *TEST_FOLDERS], cwd=ROOT)
    for name in TEST_FOLDERS:
        shutil.rmtree(root / name)
    with tarfile.open(fileobj=io.BytesIO(archive)) as archive_file:
        archive_file.extractall(root, filter="data")


def copy_environment(folder, root):
    """Copy this environment by hard links, with svmbook from `root`; return the copy's Python."""
    shutil.copytree(sys.prefix, folder, symlinks=True, copy_function=os.link)
    (pth_path,) = folder.glob("lib/python*/site-packages/_svmbook.pth")
    pth_path.unlink()  # otherwise the hard-linked original would be overwritten
    pth_path.write_text(f"{root}\n", encoding="utf-8")
    return folder / "bin" / "python"
