"""What the tests of the live book share: the command that runs, and a reader at a page."""

import os
import re
import socket
import subprocess
import sys
import time
from contextlib import contextmanager, suppress
from pathlib import Path

from .conftest import ROOT, lightest_chapters

SERVER = ROOT / "tools" / "live" / "server.py"
# The first are those on which kernels are tried: formulas make loading a page slower, and have no
# part in it.
CHAPTERS = [Path(name).stem for name in lightest_chapters()]
LIGHT = next(iter(CHAPTERS), None)
PASSWORD = "the widest street"


@contextmanager
def running(*options, **variables):
    """Start the command; give its address, without the token, the token, and its process."""
    command = [sys.executable, SERVER, "--port", "8950", *options]
    environment = {**os.environ, **variables}
    told = {"stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}  # a full pipe would hold it up
    process = subprocess.Popen(command, text=True, env=environment, **told)
    try:
        line = process.stdout.readline()
        address, token = re.search(r"(http://[^/]+)/[^?\s]*(?:\?token=(\w+))?", line).groups()
        address = address.replace("0.0.0.0", "127.0.0.1")
        wait_for(address)
        yield address, token, process
    finally:
        process.terminate()  # what is started in the background of a script ignores Ctrl-C
        process.communicate(timeout=30)


def wait_for(address):
    """Wait until a server takes connections: it tells its address a moment before."""
    host, port = address.removeprefix("http://").split(":")
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        with suppress(OSError), socket.create_connection((host, int(port)), timeout=1):
            return
        time.sleep(0.05)
    raise TimeoutError(f"{address} takes no connections")


class Reader:
    """One page in a browser that reaches this machine alone."""

    def __init__(self, context, address, name, token=None):
        self.page, self.elsewhere, self.errors = context.new_page(), [], []
        self.page.route(lambda url: not url.startswith((address, "data:", "blob:")), self.refuse)
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.goto(f"{address}/notebooks/{name}.html" + (f"?token={token}" if token else ""))

    def refuse(self, route):
        self.elsewhere.append(route.request.url)
        route.abort()

    @property
    def told(self):
        return self.page.locator(".live-head [role=status]").inner_text()

    def begin(self, wait=True):
        self.page.get_by_role("button", name="Live code").click()
        if wait:
            self.page.wait_for_selector("html[data-live=ready]")
        return self

    def write(self, code, k):
        """Write code into a cell."""
        self.page.evaluate(
            "([k, code]) => document.querySelectorAll('.CodeMirror')[k].CodeMirror.setValue(code)",
            [k, code],
        )

    def run(self, code, k=0):
        """Write code into a cell, run it, and return what it shows."""
        self.write(code, k)
        cell = self.page.locator("div.cell:has(.thebe-cell)").nth(k)
        cell.get_by_role("button", name="Run", exact=True).click()
        self.page.wait_for_function("() => !document.querySelector('.live-busy')")
        return cell.locator(".live-output")


def log_in(reader, word=PASSWORD):
    reader.page.locator("input[type=password]").fill(word)
    with reader.page.expect_navigation():
        reader.page.keyboard.press("Enter")
