"""Run notebooks in a fresh kernel and write them back without volatile metadata.

Usage: python tools/notebooks.py [notebooks/one.ipynb ...]

Without arguments all chapters and notes are run. Execution times and other volatile metadata are
removed and cell ids are numbered consecutively, so that a second run changes only the outputs that
differ.
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
from scheduling import N_CORES, ONE_THREAD_ENV

ROOT = Path(__file__).resolve().parent.parent
NOTEBOOK_METADATA = {
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
VOLATILE_KEYS = ("execution", "ExecuteTime", "collapsed", "scrolled", "jupyter", "trusted")
MAX_EXPECTED_SECONDS = 60  # for a chapter, on two cores; a longer time is reported
TIMEOUT = 600  # seconds after which a notebook is interrupted


def fold_solutions(cells):
    """Let JupyterLab collapse the code and the output of solutions."""
    last_directive = ""
    for cell in cells:
        if cell.cell_type == "markdown":
            found = re.findall(r"{solution-(start|end)}", cell.source)
            last_directive = (found or [last_directive])[-1]
        elif last_directive == "start":
            cell.metadata["jupyter"] = {"outputs_hidden": True, "source_hidden": True}


def normalise(notebook):
    """Number the cells, remove volatile metadata, and return the notebook as text."""
    for number, cell in enumerate(notebook.cells, start=1):
        cell.id = f"cell-{number:03d}"
        for key in VOLATILE_KEYS:
            cell.metadata.pop(key, None)
    fold_solutions(notebook.cells)
    notebook.metadata = nbformat.from_dict(NOTEBOOK_METADATA)
    notebook.nbformat, notebook.nbformat_minor = 4, 5
    return nbformat.writes(notebook).rstrip("\n") + "\n"


async def run_cells(notebook, folder):
    """Run the cells in a fresh kernel and shut it down; return the error as text, or ""."""
    client = NotebookClient(
        notebook,
        kernel_name="python3",
        timeout=None,
        record_timing=False,
        coalesce_streams=True,
        # Hides a warning about the kernel's address, which is reachable from this computer only.
        extra_arguments=["--IPKernelApp.log_level=40"],
        resources={"metadata": {"path": str(folder)}},
    )
    try:
        async with asyncio.timeout(TIMEOUT) as timeout:
            await client.async_execute()
    except (CellExecutionError, DeadKernelError, TimeoutError) as error:
        # A cancelled client always reports that its kernel died.
        return f"did not finish within {TIMEOUT} s" if timeout.expired() else str(error)
    return ""


def run_notebook(path):
    """Run one notebook in place, print its time and outcome, and return the exit code."""
    start = time.monotonic()
    notebook = nbformat.read(path, as_version=4)
    with tempfile.TemporaryDirectory() as ipython_dir:
        # The directory is empty, because the user's IPython settings must not affect the outputs.
        os.environ["IPYTHONDIR"] = ipython_dir
        error = asyncio.run(run_cells(notebook, path.parent))
    seconds = time.monotonic() - start
    remark = f"longer than {MAX_EXPECTED_SECONDS} s" * (seconds > MAX_EXPECTED_SECONDS)
    print(f"{path.name:<44} {seconds:6.1f} s  {'FAILED' if error else remark}", flush=True)
    if error:
        print(f"{path.name}: {error}", file=sys.stderr)
        return 1
    text = normalise(notebook)
    if text != path.read_text(encoding="utf-8"):
        path.write_text(text, encoding="utf-8")
    return 0


def main(paths):
    paths = [Path(path).resolve() for path in paths]
    folder = ROOT / "notebooks"
    paths = paths or sorted([*folder.glob("*.ipynb"), *folder.glob("notes/*.ipynb")])
    for name, threads in ONE_THREAD_ENV.items():
        os.environ.setdefault(name, threads)
    if len(paths) == 1:
        return run_notebook(paths[0])
    # Each notebook runs in a process of its own: this script with one argument.
    commands = [[sys.executable, __file__, path] for path in paths]
    with ThreadPoolExecutor(N_CORES) as pool:
        return int(any([process.returncode for process in pool.map(subprocess.run, commands)]))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
