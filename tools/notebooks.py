"""Run notebooks again in a fresh kernel and write them back without volatile metadata.

Usage: python tools/notebooks.py [notebooks/one.ipynb ...]

Without arguments every notebook of the book is run. What stays in a file is what a reader
sees: sources, outputs, and the widget state of notebooks that show a slider. Cell ids and
widget ids are numbered, so that a second run changes nothing that did not change.
"""

import asyncio
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, DeadKernelError
from nbclient.output_widget import OutputWidget

ROOT = Path(__file__).resolve().parent.parent
WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"
WIDGET_STATE = "application/vnd.jupyter.widget-state+json"
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


def referenced_models(state, roots):
    """Return the ids of the widget models that the shown ones refer to, in order of creation."""
    reached, waiting = set(), list(roots)
    while waiting:
        model = waiting.pop()
        if model in state and model not in reached:
            reached.add(model)
            text = json.dumps(state[model])
            waiting.extend(other for other in state if f"IPY_MODEL_{other}" in text)
    return [model for model in state if model in reached]


def tidy(notebook, stem):
    """Number the cells and widgets and drop what changes from run to run."""
    for number, cell in enumerate(notebook.cells, start=1):
        cell.id = f"cell-{number:03d}"
        for key in VOLATILE:
            cell.metadata.pop(key, None)
    views = [
        output.data[WIDGET_VIEW]["model_id"]
        for cell in notebook.cells
        for output in cell.get("outputs", [])
        if WIDGET_VIEW in output.get("data", {})
    ]
    kept = {}
    widgets = notebook.metadata.get("widgets", {}).get(WIDGET_STATE)
    if views and widgets:
        models = referenced_models(widgets["state"], views)
        widgets["state"] = {model: widgets["state"][model] for model in models}
        kept = {"widgets": {WIDGET_STATE: widgets}}
    notebook.metadata = nbformat.from_dict({**METADATA, **kept})
    notebook.nbformat, notebook.nbformat_minor = 4, 5
    text = json.dumps(notebook)
    for number, model in enumerate(widgets["state"] if kept else []):
        name = hashlib.sha256(f"{stem}/{number}".encode()).hexdigest()[:32]
        text = text.replace(model, name)
    # Written only now: the keys are sorted on writing, and by their new names.
    return nbformat.writes(nbformat.reads(text, as_version=4)).rstrip("\n") + "\n"


class SilentOutput(OutputWidget):
    """The figure under a slider, kept by the client without telling the kernel.

    The message to the kernel goes round the event loop and can swallow the signal that the
    cell's reply has come; the client then sleeps over a reply that it already has.
    """

    def sync_state(self):
        pass


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
    client.widget_registry["@jupyter-widgets/output"]["OutputModel"] = SilentOutput
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
    text = tidy(notebook, path.stem)
    if text != path.read_text(encoding="utf-8"):
        path.write_text(text, encoding="utf-8")
    return 0


def main(names):
    paths = [Path(name).resolve() for name in names]
    paths = paths or sorted((ROOT / "notebooks").glob("*.ipynb"))
    cores = os.cpu_count() or 1
    workers = min(cores, len(paths))
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(name, str(cores // workers))
    if len(paths) == 1:
        return execute(paths[0])
    # Each notebook has its own process, which is this script with one name.
    commands = [[sys.executable, __file__, path] for path in paths]
    with ThreadPoolExecutor(workers) as pool:
        return int(any([done.returncode for done in pool.map(subprocess.run, commands)]))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
