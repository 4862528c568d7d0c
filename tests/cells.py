"""Run cells of a submission as the grader does, in a sandbox or in a forked shell."""

from shell_client import SHELL_SANDBOX, run_cells_in_shell

from svmbook.course.execution.outcome import Limits
from svmbook.course.execution.sandbox import run_cells

DEFAULT_LIMITS = Limits(seconds=60, cell_seconds=30, memory=2**30, output=300_000)


def run_sources(
    sandbox,
    *sources,
    limits=DEFAULT_LIMITS,
    test_indices=frozenset(),
    locked_indices=frozenset(),
    **options,
):
    """Run cells with these sources: tests, locked cells, and at all other indices student cells."""
    cells = [{"source": text, "kind": "student"} for text in sources]
    for k in locked_indices:
        cells[k]["kind"] = "locked"
    for k in test_indices:
        cells[k] = {
            "source": sources[k],
            "kind": "test",
            "visible_source": sources[k],
            "hidden_line_numbers": [],
        }
    return (run_cells_in_shell if sandbox == SHELL_SANDBOX else run_cells)(
        cells, limits, sandbox, **options
    )


def examine(sandbox, answer, test, locked_source="import numpy as np", **options):
    """Run a locked cell, an answer and a test; return the first error (or None) and all outputs."""
    outcome = run_sources(
        sandbox, locked_source, answer, test, locked_indices={0}, test_indices={2}, **options
    )
    outputs = outcome.outputs.get(2, [{"ename": "NotRun", "evalue": outcome.not_run_reason}])
    errors = [f"{output['ename']}: {output['evalue']}" for output in outputs if "ename" in output]
    return (errors or [None])[0], outputs
