"""Counts the work of the tests and compares it with tests/budget.toml; conftest.py registers it.

Seconds depend on the machine, counts do not: for each folder of tests, and for each file outside
the folders, how many tests were run, processes started and pages opened. Nightly tests are not
counted. A run of part of the suite does less, so only more than the budget is an error.
"""

import os
import sys
import tomllib
from collections import Counter
from pathlib import Path

import pytest

BUDGET = Path(__file__).with_name("budget.toml")
# What Python reports when a process starts, and what the tests report themselves by `sys.audit`.
EVENTS = {
    "subprocess.Popen": "processes",
    "os.fork": "processes",
    "tests.process": "processes",
    "tests.page": "pages",
}
COUNTED = ("tests", "processes", "pages")


def read_budget():
    """Return the recorded counts of each folder."""
    return tomllib.loads(BUDGET.read_text(encoding="utf-8"))["work"]


def allowed(recorded):
    """Return the largest count that passes: a few small tests need no new record."""
    return recorded + recorded // 20 + 2


def folder_of(nodeid):
    """Return the folder to which a test belongs, or its file if that stands in tests/ itself."""
    return "/".join(nodeid.split("::", 1)[0].split("/")[:2])


def excesses(work, budget):
    """Return a sentence for each count that is above the budget."""
    found = []
    for folder, counts in sorted(work.items()):
        for kind in COUNTED:
            limit = allowed(budget.get(folder, {}).get(kind, 0))
            if counts[kind] > limit:
                found.append(f"{folder}: {counts[kind]} {kind}, the budget allows {limit}")
    return found


class WorkCounter:
    """Pytest plugin that counts what the tests do, those in the workers of xdist included."""

    def __init__(self, config):
        self.config = config
        self.work = {}
        self.folder = None
        self.found = []
        sys.addaudithook(self.hear)

    def hear(self, event, arguments):
        if self.folder is not None and event in EVENTS:
            self.count(self.folder, {EVENTS[event]: 1})

    def count(self, folder, counts):
        self.work.setdefault(folder, Counter()).update(counts)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item):
        if item.get_closest_marker("nightly") is None:
            self.folder = folder_of(item.nodeid)
            self.count(self.folder, {"tests": 1})
        try:
            return (yield)
        finally:
            self.folder = None

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node):
        for folder, counts in getattr(node, "workeroutput", {}).get("work", {}).items():
            self.count(folder, counts)

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session):
        if hasattr(self.config, "workeroutput"):
            self.config.workeroutput["work"] = {name: dict(self.work[name]) for name in self.work}
            return
        if os.environ.get("SVMBOOK_BUDGET") != "off":  # as in tools/check.py --record
            self.found = excesses(self.work, read_budget())
        if self.found and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter):
        for folder, counts in sorted(self.work.items()):
            listed = ", ".join(f"{counts[kind]} {kind}" for kind in COUNTED)
            terminalreporter.write_line(f"work of {folder}: {listed}")
        if self.found:
            terminalreporter.section("over budget", red=True)
            terminalreporter.write_line("\n".join(self.found))
            terminalreporter.write_line(
                "Do the same with less work, or mark it nightly. If the work is worth its time, "
                "record it: .venv/bin/python tools/check.py --record"
            )
