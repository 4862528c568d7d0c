"""A copy of the repository with an environment of its own, and tests that run in it.

Tests start processes that read no PYTHONPATH (``python -I`` in an empty environment), so the copy
is what the environment itself has for svmbook.
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

from assigned import ROOT

BUILD = ROOT / "_build"  # where links into the environment can be made
WORKER = Path(__file__).with_name("worker.py")
OURS = ("tests", "benchmarks")  # what an older state of the tests consists of


class Job:
    """Runs tests in a private copy, one run at a time."""

    def __init__(self, folder, revision):
        self.root = folder / "svmbook-copy"
        leave = shutil.ignore_patterns("_build", ".*", "dist", "__pycache__")
        shutil.copytree(ROOT, self.root, ignore=leave)
        if revision:
            take_tests(revision, self.root)
        # By time and size alone Python may take a mutant's bytecode for that of the next.
        hashed = PycInvalidationMode.CHECKED_HASH
        compileall.compile_dir(self.root, quiet=2, invalidation_mode=hashed)
        python = environment(folder / "environment", self.root)
        ask = [python, "-I", "-c", "import svmbook; print(svmbook.__file__)"]
        found = subprocess.run(ask, check=True, capture_output=True, text=True).stdout.strip()
        if found != str(self.root / "svmbook" / "__init__.py"):
            raise SystemExit(f"the tests would take svmbook from {found}, not from {self.root}")
        path = f"{python.parent}{os.pathsep}{os.environ['PATH']}"
        settings = {"PATH": path, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
        self._process = subprocess.Popen(
            [python, "-P", WORKER],
            cwd=self.root,
            env={k: v for k, v in os.environ.items() if k != "PYTHONPATH"} | settings,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def run(self, **request):
        """Run tests and return what came of them."""
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        told = self._process.stdout.readline()
        if not told:
            raise SystemExit(f"the tests cannot be run: {request}")
        return json.loads(told)

    def close(self):
        self._process.communicate()


@contextmanager
def copies(count, revision):
    """Make jobs; give the root of the first, and what calls a function with a job and each item.

    That yields what the function returns, as soon as it does; every job has one item at a time.
    """
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="mutants-", dir=BUILD))
        made = [Job(Path(folder, str(number)), revision) for number in range(count)]
        free = SimpleQueue()
        for job in made:
            stack.enter_context(closing(job))
            free.put(job)
        pool = stack.enter_context(ThreadPoolExecutor(count))
        stack.callback(pool.shutdown, cancel_futures=True)

        def with_job(function, item):
            job = free.get()
            try:
                return function(job, item)
            finally:
                free.put(job)

        def each(function, items):
            for task in as_completed([pool.submit(with_job, function, item) for item in items]):
                yield task.result()

        yield made[0].root, each


def take_tests(revision, root):
    """Put the tests of a revision in the place of today's."""
    archive = subprocess.run(
        ["git", "archive", revision, *OURS], cwd=ROOT, check=True, capture_output=True
    ).stdout
    for name in OURS:
        shutil.rmtree(root / name)
    with tarfile.open(fileobj=io.BytesIO(archive)) as stored:
        stored.extractall(root, filter="data")


def environment(folder, root):
    """Copy this environment by hard links, with `root` for the repository; return its Python."""
    shutil.copytree(sys.prefix, folder, symlinks=True, copy_function=os.link)
    (entry,) = folder.glob("lib/python*/site-packages/_svmbook.pth")
    entry.unlink()  # not to write into the file that is linked
    entry.write_text(f"{root}\n", encoding="utf-8")
    return folder / "bin" / "python"
