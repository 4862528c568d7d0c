"""Helpers for the tests of the live book: start the server, and operate a page as readers do."""

import os
import re
import socket
import subprocess
import sys
import time
from contextlib import contextmanager, suppress
from pathlib import Path

from .conftest import ROOT, chapters_by_formula_count

SERVER = ROOT / "tools" / "live" / "server.py"
# The tests use the first chapters, which have the fewest formulas and load fastest.
CHAPTERS = [Path(name).stem for name in chapters_by_formula_count()]
LIGHTEST_CHAPTER = next(iter(CHAPTERS), None)
PASSWORD = "maximum margin"


@contextmanager
def run_server(*options, **variables):
    """Start the server; yield its address (without the token), the token, and its process.

    `options` are command-line options, `variables` environment variables.
    """
    command = [sys.executable, SERVER, "--port", "8950", *options]
    environment = {**os.environ, **variables}
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}  # a full pipe blocks
    process = subprocess.Popen(command, text=True, env=environment, **streams)
    try:
        line = process.stdout.readline()
        address, token = re.search(r"(http://[^/]+)/[^?\s]*(?:\?token=(\w+))?", line).groups()
        address = address.replace("0.0.0.0", "127.0.0.1")
        wait_for_server(address)
        yield address, token, process
    finally:
        process.terminate()  # processes in the background of a script ignore SIGINT
        process.communicate(timeout=30)


def wait_for_server(address):
    """Wait until a server accepts connections; it prints its address shortly before."""
    host, port = address.removeprefix("http://").split(":")
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        with suppress(OSError), socket.create_connection((host, int(port)), timeout=1):
            return
        time.sleep(0.05)
    raise TimeoutError(f"{address} accepts no connections")


class LivePage:
    """A page of the live book; blocked requests to other hosts and exceptions are recorded."""

    def __init__(self, context, address, name, token=None):
        self.page, self.blocked, self.errors = context.new_page(), [], []
        self.page.route(
            lambda url: not url.startswith((address, "data:", "blob:")), self.block_request
        )
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.goto(f"{address}/notebooks/{name}.html" + (f"?token={token}" if token else ""))

    def block_request(self, route):
        self.blocked.append(route.request.url)
        route.abort()

    @property
    def status(self):
        return self.page.locator(".live-head [role=status]").inner_text()

    def start_kernel(self, wait=True):
        """Click the button for live code; by default, wait until a kernel is ready."""
        self.page.get_by_role("button", name="Live code").click()
        if wait:
            self.page.wait_for_selector("html[data-live=ready]")
        return self

    def write(self, code, index):
        """Write code into a cell."""
        self.page.evaluate(
            "([k, code]) => document.querySelectorAll('.CodeMirror')[k].CodeMirror.setValue(code)",
            [index, code],
        )

    def run(self, code, index=0):
        """Write code into a cell, run it, and return its output."""
        self.write(code, index)
        cell = self.page.locator("div.cell:has(.thebe-cell)").nth(index)
        cell.evaluate(
            "cell => cell.querySelectorAll('details').forEach(details => (details.open = true))"
        )
        cell.get_by_role("button", name="Run", exact=True).click()
        self.page.wait_for_function("() => !document.querySelector('.live-busy')")
        return cell.locator(".live-output")


def log_in(live_page, password=PASSWORD):
    live_page.page.locator("input[type=password]").fill(password)
    with live_page.page.expect_navigation():
        live_page.page.keyboard.press("Enter")
