"""What a submission may use when it is run, and what comes out of it."""

from __future__ import annotations

from dataclasses import dataclass, field

__all__ = ["Limits", "Outcome"]


@dataclass(frozen=True)
class Limits:
    """What one submission may use.

    Attributes
    ----------
    seconds : int
        Wall time of the whole notebook; no process gets more processor time either.
    cell_seconds : int
        Wall time of a cell.
    memory : int
        Bytes of address space of each process, and of memory of all together.
    disk : int
        Bytes of the file system in memory, and of each file.
    processes : int
        Processes at a time.
    output : int
        Bytes of output of all cells.
    """

    seconds: int = 300
    cell_seconds: int = 60
    memory: int = 2 * 2**30
    disk: int = 32 * 2**20
    processes: int = 100
    output: int = 5_000_000


@dataclass
class Outcome:
    """What came out of the cells.

    Attributes
    ----------
    outputs : dict
        The outputs of each cell that was run, by its number.
    hidden : dict
        The places among its outputs of those of hidden tests, by the number of a test.
    reason : str or None
        Why not all were run.
    started : bool
        Whether the kernel had started, so that what follows is the submission's doing.
    late : bool
        Whether a limit on time was met.
    cut : bool
        Whether there was more output than is kept.
    failed : dict
        Errors of given cells in the process of the tests, by their numbers.
    """

    outputs: dict = field(default_factory=dict)
    hidden: dict = field(default_factory=dict)
    reason: str | None = None
    started: bool = False
    late: bool = False
    cut: bool = False
    failed: dict = field(default_factory=dict)

    def take(self, told):
        """Take what `run` tells; return whether it was the last."""
        self.started |= "started" in told
        self.late |= "late" in told
        self.cut |= "cut" in told
        if "failed" in told:
            number, error = told["failed"]
            self.failed[number] = error
        if "cell" in told:
            self.outputs[told["cell"]] = told["outputs"]
            self.hidden[told["cell"]] = told.get("hidden", [])
        self.reason = self.reason or told.get("reason")
        return told.get("done", False) or self.reason is not None

    def notes(self, limits):
        """Return in words which limits were met."""
        found = [self.reason] if self.reason else []
        if self.late and not self.reason:
            found.append(f"a cell was stopped after {limits.cell_seconds} seconds")
        if self.cut:
            found.append(f"only the first {limits.output / 1e6:g} MB of output were kept")
        return found
