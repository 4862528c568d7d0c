"""A pytest plugin that counts the work of the tests and compares it with tests/budget.toml.

For each folder of tests, and each file outside the folders, it counts tests, started processes and
opened pages: unlike times, these do not depend on the computer. Nightly tests are not counted. A
count may be below the budget, because a partial run does less work; it is an error if it is above
the budget by more than a tolerance. conftest.py registers the plugin.
"""

import os
import sys
import tomllib
from collections import Counter
from pathlib import Path

import pytest

BUDGET_PATH = Path(__file__).with_name("budget.toml")
# The kind of work of each audit event. Python raises the first two when a process starts; the
# tests raise the others through `sys.audit`.
KIND_BY_EVENT = {
    "subprocess.Popen": "processes",
    "os.fork": "processes",
    "tests.process": "processes",
    "tests.page": "pages",
}
WORK_KINDS = ("tests", "processes", "pages")


def folder_or_file(nodeid):
    """Return the folder to which a test belongs, or its file if it is directly in tests/."""
    return "/".join(nodeid.split("::", 1)[0].split("/")[:2])


def excess_messages(work, recorded_work):
    """Return a message for each count that exceeds the recorded one by more than a tolerance."""
    messages = []
    for folder, counts in sorted(work.items()):
        for kind in WORK_KINDS:
            n_recorded = recorded_work.get(folder, {}).get(kind, 0)
            limit = n_recorded + n_recorded // 20 + 2  # so that a few small tests can be added
            if counts[kind] > limit:
                messages.append(f"{folder}: {counts[kind]} {kind}; the budget allows {limit}")
    return messages


class WorkCounter:
    """Pytest plugin that counts the work of the tests, including tests in xdist workers."""

    def __init__(self, config):
        self.config = config
        self.work = {}
        self.current_folder = None
        self.excess_messages = []
        sys.addaudithook(self.count_event)

    def count_event(self, event, arguments):
        if self.current_folder is not None and event in KIND_BY_EVENT:
            self.add_counts(self.current_folder, {KIND_BY_EVENT[event]: 1})

    def add_counts(self, folder, counts):
        self.work.setdefault(folder, Counter()).update(counts)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item):
        if item.get_closest_marker("nightly") is None:
            self.current_folder = folder_or_file(item.nodeid)
            self.add_counts(self.current_folder, {"tests": 1})
        try:
            return (yield)
        finally:
            self.current_folder = None

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node):
        for folder, counts in getattr(node, "workeroutput", {}).get("work", {}).items():
            self.add_counts(folder, counts)

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session):
        if hasattr(self.config, "workeroutput"):
            self.config.workeroutput["work"] = {
                folder: dict(counts) for folder, counts in self.work.items()
            }
            return
        if os.environ.get("SVMBOOK_BUDGET") != "off":  # check.py --record turns it off
            budget = tomllib.loads(BUDGET_PATH.read_text(encoding="utf-8"))
            self.excess_messages = excess_messages(self.work, budget["work"])
        if self.excess_messages and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter):
        for folder, counts in sorted(self.work.items()):
            counts_text = ", ".join(f"{counts[kind]} {kind}" for kind in WORK_KINDS)
            terminalreporter.write_line(f"work of {folder}: {counts_text}")
        if self.excess_messages:
            terminalreporter.section("over budget", red=True)
            terminalreporter.write_line("\n".join(self.excess_messages))
            terminalreporter.write_line(
                "Reduce the work, or mark the test as nightly. If the work is necessary, record "
                "new counts: .venv/bin/python tools/check.py --record"
            )
