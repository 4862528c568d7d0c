"""Run notebooks again in a fresh kernel and write them back without volatile metadata.

Usage: python tools/notebooks.py [notebooks/one.ipynb ...]

Without arguments every notebook of the book is run. What stays in a file is what a reader
sees: sources and outputs. Cell ids are numbered, so that a second run changes nothing that did
not change.
"""

import asyncio
import os
import re
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, DeadKernelError
from scheduling import CORES, SHARED

ROOT = Path(__file__).resolve().parent.parent
METADATA = {
    "kernelspec": {
        "display_name": "Python 3 (ipykernel)",
        "language": "python",
        "name": "python3",
    },
    "language_info": {
        "file_extension": ".py",
        "mimetype": "text/x-python",
        "name": "python",
        "pygments_lexer": "ipython3",
    },
}
VOLATILE = ("execution", "ExecuteTime", "collapsed", "scrolled", "jupyter", "trusted")
SECONDS_ALLOWED = 60  # what a chapter may take on two cores
DEADLINE = 600  # seconds after which a notebook is given up


def fold_solutions(cells):
    """Let JupyterLab keep the code of a solution and what it prints out of sight."""
    latest = ""
    for cell in cells:
        if cell.cell_type == "markdown":
            latest = (re.findall(r"{solution-(start|end)}", cell.source) or [latest])[-1]
        elif latest == "start":
            cell.metadata["jupyter"] = {"outputs_hidden": True, "source_hidden": True}


def tidy(notebook):
    """Number the cells and drop what changes from run to run."""
    for number, cell in enumerate(notebook.cells, start=1):
        cell.id = f"cell-{number:03d}"
        for key in VOLATILE:
            cell.metadata.pop(key, None)
    fold_solutions(notebook.cells)
    notebook.metadata = nbformat.from_dict(METADATA)
    notebook.nbformat, notebook.nbformat_minor = 4, 5
    return nbformat.writes(notebook).rstrip("\n") + "\n"


async def run(notebook, folder):
    """Run the cells in a fresh kernel, which ends in any case; return an error text."""
    client = NotebookClient(
        notebook,
        kernel_name="python3",
        timeout=None,
        record_timing=False,
        coalesce_streams=True,
        # The kernel listens on this machine only; its warning about that says nothing here.
        extra_arguments=["--IPKernelApp.log_level=40"],
        resources={"metadata": {"path": str(folder)}},
    )
    try:
        async with asyncio.timeout(DEADLINE) as deadline:
            await client.async_execute()
    except (CellExecutionError, DeadKernelError, TimeoutError) as error:
        # A cancelled client says that its kernel died, whatever the reason.
        return f"not done after {DEADLINE} s" if deadline.expired() else str(error)
    return ""


def execute(path):
    """Run one notebook in place, say how it went and return the exit code."""
    start = time.monotonic()
    notebook = nbformat.read(path, as_version=4)
    with tempfile.TemporaryDirectory() as profile:
        # The reader's own IPython profile must not leave traces in the book.
        os.environ["IPYTHONDIR"] = profile
        error = asyncio.run(run(notebook, path.parent))
    seconds = time.monotonic() - start
    note = f"longer than the {SECONDS_ALLOWED} s allowed" * (seconds > SECONDS_ALLOWED)
    print(f"{path.name:<44} {seconds:6.1f} s  {'FAILED' if error else note}", flush=True)
    if error:
        print(f"{path.name}: {error}", file=sys.stderr)
        return 1
    text = tidy(notebook)
    if text != path.read_text(encoding="utf-8"):
        path.write_text(text, encoding="utf-8")
    return 0


def main(names):
    paths = [Path(name).resolve() for name in names]
    paths = paths or sorted((ROOT / "notebooks").glob("*.ipynb"))
    for name, threads in SHARED.items():
        os.environ.setdefault(name, threads)
    if len(paths) == 1:
        return execute(paths[0])
    # Each notebook has its own process, which is this script with one name.
    commands = [[sys.executable, __file__, path] for path in paths]
    with ThreadPoolExecutor(CORES) as pool:
        return int(any([done.returncode for done in pool.map(subprocess.run, commands)]))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
