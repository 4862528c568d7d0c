"""Resource limits of a submission, and the outcome of running it."""

from __future__ import annotations

from dataclasses import dataclass, field

__all__ = ["Limits", "Outcome"]


@dataclass(frozen=True)
class Limits:
    """Resource limits of one submission.

    Attributes
    ----------
    seconds : int
        Limit of the wall time of the whole notebook, and of the CPU time of each process.
    cell_seconds : int
        Wall time of each cell.
    memory : int
        Bytes of address space of each process, and of memory of all processes together.
    disk : int
        Bytes of each file system in memory, and of each file.
    processes : int
        Number of processes at a time.
    output : int
        Bytes of output of all cells together.
    """

    seconds: int = 300
    cell_seconds: int = 60
    memory: int = 2 * 2**30
    disk: int = 32 * 2**20
    processes: int = 100
    output: int = 5_000_000


@dataclass
class Outcome:
    """Outputs of the cells of a submission, and the reason why some cells were not run.

    Attributes
    ----------
    outputs : dict
        The outputs of each cell that was run, by the number of the cell.
    hidden_positions : dict
        The positions of outputs of hidden lines among the outputs, by the number of the cell.
    not_run_reason : str or None
        Why some cells were not run.
    started : bool
        Whether the kernel started. Later failures are caused by the submission.
    timed_out : bool
        Whether a time limit was exceeded.
    truncated : bool
        Whether some output was dropped.
    locked_cell_errors : dict
        Errors of locked cells in the process that runs the tests, by the number of the cell.
    """

    outputs: dict = field(default_factory=dict)
    hidden_positions: dict = field(default_factory=dict)
    not_run_reason: str | None = None
    started: bool = False
    timed_out: bool = False
    truncated: bool = False
    locked_cell_errors: dict = field(default_factory=dict)

    def update(self, message):
        """Add a message from `run_notebook`; return whether it was the last one."""
        self.started |= "started" in message
        self.timed_out |= "timed_out" in message
        self.truncated |= "truncated" in message
        if "locked_cell_error" in message:
            number, error = message["locked_cell_error"]
            self.locked_cell_errors[number] = error
        if "cell" in message:
            self.outputs[message["cell"]] = message["outputs"]
            self.hidden_positions[message["cell"]] = message.get("hidden_positions", [])
        self.not_run_reason = self.not_run_reason or message.get("not_run_reason")
        return message.get("done", False) or self.not_run_reason is not None

    def notes(self, limits):
        """Return messages about cells that were not run and about exceeded limits."""
        notes = [self.not_run_reason] if self.not_run_reason else []
        if self.timed_out and not self.not_run_reason:
            notes.append(f"a cell was stopped after {limits.cell_seconds} seconds")
        if self.truncated:
            notes.append(f"only the first {limits.output / 1e6:g} MB of output were kept")
        return notes
