"""Prepare the cells of a notebook for a run, and store their outputs, which give the scores."""

import re

from nbformat.v4 import new_output
from nbgrader.utils import is_locked

from ..execution.run import KEPT_MIME_TYPES
from ..layout.items import METADATA_KEY, hidden_line_numbers, is_test, released_source

__all__ = ["cells_to_run", "code_cells", "enter_outputs"]

BASE64_PATTERN = re.compile(r"[A-Za-z0-9+/=\s]*")


def cells_to_run(nb):
    """Return the code cells of a notebook in the form that `run_cells` expects."""
    return [_cell_to_run(cell) for cell in code_cells(nb)]


def code_cells(nb):
    """Return the code cells of a notebook, which an `Outcome` numbers from 0 in this order."""
    return [cell for cell in nb.cells if cell.cell_type == "code"]


def enter_outputs(nb, outcome):
    """Put outputs into the code cells of a notebook, and an error into tests that were not run.

    Parameters
    ----------
    nb : NotebookNode
        The notebook, which is modified.
    outcome : Outcome
        The outcome of running its `cells_to_run`.
    """
    for number, cell in enumerate(code_cells(nb)):
        cell.outputs = _clean_outputs(outcome.outputs.get(number, ()), is_test(cell))
        if not is_test(cell):
            continue
        cell.metadata[METADATA_KEY] = {"hidden_positions": outcome.hidden_positions.get(number, [])}
        max_score = cell.metadata.nbgrader.points
        cell.outputs = [_replace_invalid_score(output, max_score) for output in cell.outputs]
        if number not in outcome.outputs:
            cell.outputs.append(
                _error_output("NotRun", outcome.not_run_reason or "the run ended early")
            )


def _replace_invalid_score(output, max_score):
    """Return an output of a test, or an error in its place if its score is out of range."""
    if output.output_type != "execute_result":
        return output
    score = float(output.data["text/plain"])
    if 0 <= score <= max_score:
        return output
    return _error_output("PointsError", f"the test gives {score:g} of {max_score:g} points")


def _cell_to_run(cell):
    if not is_test(cell):
        return {"source": cell.source, "kind": "locked" if is_locked(cell) else "student"}
    return {
        "source": cell.source,
        "kind": "test",
        "visible_source": released_source(cell),
        "hidden_line_numbers": hidden_line_numbers(cell.source),
    }


def _error_output(name, value):
    return new_output("error", ename=name, evalue=value, traceback=[f"{name}: {value}"])


def _clean_outputs(outputs, is_from_test):
    """Return the outputs that are safe to show; for a test only text, errors and its score."""
    cleaned = []
    for output in outputs:
        output_type = output.get("output_type")
        if output_type == "execute_result" and is_from_test:  # the score of the test
            data = {"text/plain": _clean_text(output.get("data", {}).get("text/plain"))}
            cleaned.append(new_output("execute_result", data=data))
        elif output_type == "stream":
            name = "stdout" if is_from_test or output.get("name") != "stderr" else "stderr"
            cleaned.append(new_output("stream", name=name, text=_clean_text(output.get("text"))))
        elif output_type == "error":
            fields = {key: _clean_text(output.get(key)) for key in ("ename", "evalue")}
            lines = output.get("traceback")
            lines = [_clean_text(line) for line in lines] if isinstance(lines, list) else []
            cleaned.append(new_output("error", **fields, traceback=lines))
        elif output_type in ("display_data", "execute_result") and not is_from_test:
            data = output.get("data")
            data = data if isinstance(data, dict) else {}
            texts = {mime: _clean_text(data.get(mime)) for mime in KEPT_MIME_TYPES}
            data = {
                mime: text
                for mime, text in texts.items()
                if text and (mime == "text/plain" or BASE64_PATTERN.fullmatch(text))
            }
            if data:
                cleaned.append(new_output("display_data", data=data))
    return cleaned


def _clean_text(value):
    if isinstance(value, list):
        value = "".join(map(str, value))
    # JSON allows unpaired surrogates, but UTF-8 does not.
    return value.encode("utf-8", "replace").decode("utf-8") if isinstance(value, str) else ""
