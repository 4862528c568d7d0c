"""The live book: cells run in the page, for those who are let in, and nothing else is to be had."""

import contextlib
import importlib.util
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from contextlib import contextmanager

import psutil
import pytest

from .conftest import HTML, ROOT

SERVER = ROOT / "tools" / "live" / "server.py"
CHAPTERS = sorted(path.stem for path in HTML.glob("notebooks/*.html"))
PASSWORD = "the widest street"


@contextmanager
def running(*options, **variables):
    """Start the command; give its address, without the token, the token, and its process."""
    command = [sys.executable, SERVER, "--port", "8950", *options]
    environment = {**os.environ, **variables}
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    )
    try:
        line = process.stdout.readline()
        address, token = re.search(r"(http://[^/]+)/[^?\s]*(?:\?token=(\w+))?", line).groups()
        yield address.replace("0.0.0.0", "127.0.0.1"), token, process
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=30)


@pytest.fixture(scope="module")
def live():
    if not CHAPTERS:
        pytest.skip("the book is not built: make html")
    with running("--kernels", "3") as started:
        yield started


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


@pytest.fixture(scope="module")
def context(browser, live):
    opened = browser.new_context()
    opened.set_default_timeout(60_000)
    Reader(opened, live[0], "dual_svm", live[1]).page.close()  # takes the token
    yield opened
    opened.close()


@pytest.fixture
def reader(context, live):
    """Give a function that opens a page; a page that is closed gives its kernel back."""
    opened = []

    def open_page(name="dual_svm"):
        opened.append(Reader(context, live[0], name))
        return opened[-1]

    yield open_page
    for one in opened:
        one.page.close()


def get(address, **headers):
    try:
        with urllib.request.urlopen(urllib.request.Request(address, headers=headers)) as answer:
            return answer.status, answer.geturl(), answer.read().decode(errors="replace")
    except urllib.error.HTTPError as error:
        return error.code, address, error.read().decode(errors="replace")


@pytest.mark.parametrize("name", CHAPTERS)
def test_a_changed_cell_of_each_chapter_shows_its_new_result(reader, name):
    reader = reader(name).begin()
    assert "stored no more: 42" in reader.run("print('stored no more:', 6 * 7)").inner_text()
    stored = reader.page.locator("div.cell:has(.thebe-cell)").first.locator(".cell_output")
    assert not any(one.is_visible() for one in stored.all())
    assert (reader.elsewhere, reader.errors) == ([], [])


def test_what_cells_show_is_shown_as_in_a_notebook(reader):
    reader = reader().begin()
    error = reader.run("def wrong():\n    return 1 / 0\n\nwrong()")
    assert "ZeroDivisionError" in error.inner_text() and "error" in reader.told
    shown = reader.run("from svmbook.tables import Table\nTable(['$C$', 'b'], [[1, '$x^2$']])")
    shown.locator("table mjx-container").first.wait_for()
    shown = reader.run(
        "import matplotlib.pyplot as plt\n"
        "from svmbook.plotting import MovingFigure, use_book_style\n"
        "use_book_style()\n"
        "def draw(k):\n    figure, ax = plt.subplots()\n    ax.plot([0, k])\n    return figure\n"
        "MovingFigure(draw, [1, 2, 3], label='slope {}'.format, alt='A line.')"
    )
    slider = shown.get_by_role("slider")
    slider.focus()
    slider.press("End")
    assert shown.locator("output").inner_text() == "slope 3"
    assert shown.locator("img:visible").count() == 1
    widget = reader.run(
        "from ipywidgets import interact\n@interact(k=(0, 9))\ndef show(k=3):\n    print('k is', k)"
    )
    widget.get_by_text("k is 3").wait_for()
    handle = widget.get_by_role("slider")
    handle.focus()
    handle.press("ArrowRight")
    widget.get_by_text("k is 4").wait_for()
    assert (reader.elsewhere, reader.errors) == ([], [])


def test_all_above_runs_in_order_and_a_restart_forgets(reader):
    reader = reader().begin()
    reader.run("a = 5", k=0)
    reader.run("print(a + 1)", k=1)
    reader.page.get_by_role("button", name="Restart").click()
    reader.page.wait_for_function("() => document.body.innerText.includes('nothing has run')")
    assert "NameError" in reader.run("print(a + 1)", k=1).inner_text()
    reader.write("print(a + 2)", 2)
    reader.page.evaluate("() => document.querySelectorAll('.live-bar')[3].lastChild.click()")
    reader.page.wait_for_function("() => document.querySelectorAll('.live-ran').length === 3")
    shown = reader.page.locator(".live-output")
    assert [shown.nth(k).text_content().strip() for k in range(3)] == ["", "6", "7"]


def test_each_page_has_its_own_kernel_and_who_comes_too_late_waits(reader):
    first, second, _ = (reader(name).begin() for name in CHAPTERS[:3])
    first.run("a = 5")
    assert "NameError" in second.run("print(a)").inner_text()
    fourth = reader(CHAPTERS[3]).begin(wait=False)
    fourth.page.get_by_text("All 3 kernels are in use").wait_for()
    assert "5" in first.run("print(a)").inner_text()  # nobody is cut off
    second.page.close()  # gives its kernel back
    fourth.page.wait_for_selector("html[data-live=ready]")
    assert "7" in fourth.run("print(7)").inner_text()


def test_memory_is_limited(reader):
    reader = reader().begin()
    assert "MemoryError" in reader.run("bytearray(8 * 2**30)").inner_text()


def test_a_wrong_token_gets_nothing(live):
    address, token, _ = live
    for wrong in ("", "?token=", "?token=" + token[:-1] + ("0" if token[-1] != "0" else "1")):
        for path in (
            "/notebooks/dual_svm.html", "/live/room", "/live/live.js", "/api/sessions",
            "/api/kernels", "/_static/book.css", "/searchindex.js",
        ):  # fmt: skip
            status, end, body = get(address + path + wrong)
            assert status == 403 or "/login" in end, (path, status)
            assert "Before you start" not in body and "svmbook" not in body
    assert get(f"{address}/live/room", Authorization=f"token {token}")[0] == 200


def test_files_of_the_project_are_not_served(live):
    address, token, _ = live
    paths = (
        "/live/server.py",
        "/live/vendor/../server.py",
        "/book/../../README.md",
        "/_static/../../../Makefile",
        "/files/x",
    )
    for path in (
        *paths,
        "/api/contents",
        "/api/terminals",
        "/lab",
        "/tree",
        "/book/%2e%2e/%2e%2e/x",
    ):
        assert get(address + path, Authorization=f"token {token}")[0] in (403, 404), path


def test_kernels_end_when_they_rest_and_with_the_command(browser):
    with running("--idle", "3") as (address, token, process):
        opened = browser.new_context()
        opened.set_default_timeout(60_000)
        reader = Reader(opened, address, "dual_svm", token).begin()
        reader.page.get_by_text("The kernel was ended").wait_for()
        assert "8" in reader.run("print(8)").inner_text()  # with another one
        kernels = psutil.Process(process.pid).children(recursive=True)
        assert kernels
        process.send_signal(signal.SIGINT)
        process.wait(30)
        gone, alive = psutil.wait_procs(kernels, timeout=10)
        assert gone and not alive
        opened.close()


def module():
    spec = importlib.util.spec_from_file_location("live_server", SERVER)
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


def test_others_are_let_in_with_a_password_only(monkeypatch):
    server = module()
    monkeypatch.setattr(server, "find_sandbox", lambda: "bwrap")
    for word in (None, "", "short"):
        if word is None:
            monkeypatch.delenv("SVMBOOK_PASSWORD", raising=False)
        else:
            monkeypatch.setenv("SVMBOOK_PASSWORD", word)
        with pytest.raises(SystemExit, match="SVMBOOK_PASSWORD"):
            server.settings(server.read(["--host", "0.0.0.0"]), "room")
    monkeypatch.setenv("SVMBOOK_PASSWORD", PASSWORD)
    found = server.settings(server.read(["--host", "0.0.0.0"]), "room")
    assert found["Kernel"]["sandbox"] == "bwrap"
    assert found["PasswordIdentityProvider"]["token"] == ""
    assert PASSWORD not in json.dumps(found["PasswordIdentityProvider"])


def test_a_class_needs_a_sandbox(monkeypatch):
    server = module()
    monkeypatch.setenv("SVMBOOK_PASSWORD", PASSWORD)

    def none():
        raise server.SandboxError("bubblewrap is not installed")

    monkeypatch.setattr(server, "find_sandbox", none)
    with pytest.raises(SystemExit, match="not installed"):
        server.settings(server.read(["--host", "10.0.0.1"]), "room")
    assert server.settings(server.read(["--host", "::1"]), "room")["Kernel"]["sandbox"] == ""


def log_in(reader, word=PASSWORD):
    reader.page.locator("input[type=password]").fill(word)
    reader.page.keyboard.press("Enter")
    reader.page.wait_for_load_state()


@pytest.fixture(scope="module")
def classroom():
    """Start the server as for a class."""
    if not shutil.which("bwrap"):
        pytest.skip("no bubblewrap: apt-get install bubblewrap")
    if not CHAPTERS:
        pytest.skip("the book is not built: make html")
    with running("--host", "0.0.0.0", SVMBOOK_PASSWORD=PASSWORD) as (address, token, process):
        assert token is None
        yield address, process


def test_a_class_logs_in_and_its_kernels_reach_nothing(classroom, browser):
    address, _ = classroom
    with contextlib.closing(browser.new_context()) as opened:
        opened.set_default_timeout(60_000)
        reader = Reader(opened, address, "dual_svm")
        assert "/login" in reader.page.url
        log_in(reader, "a wrong street")
        assert "/login" in reader.page.url
        log_in(reader)
        reader.page.wait_for_url("**/notebooks/dual_svm.html")
        # As on a page that comes from another machine without a certificate.
        reader.page.evaluate("() => { delete Crypto.prototype.randomUUID }")
        reader.begin()
        told = reader.run(
            "import os, resource, socket\n"
            "from svmbook.experiments import load_records\n"
            "print(len(load_records('glass-boxes')), 'records')\n"
            f"print(os.path.exists({str(ROOT / 'README.md')!r}), os.getuid())\n"
            "try:\n    open('/proc/sys/kernel/core_pattern', 'r+')\n"
            "except OSError as error:\n    print('no settings:', error)\n"
            "try:\n    socket.create_connection(('127.0.0.1', 8950), 2)\n"
            "except OSError as error:\n    print('no network:', error)\n"
            "print(resource.getrlimit(resource.RLIMIT_FSIZE)[0], 'bytes of a file')\n"
        ).inner_text()
        assert "records" in told and "False" in told
        assert "no settings" in told and "no network" in told and f"{2**26} bytes" in told
        assert "False 0" not in told  # root's name stays outside
        assert reader.elsewhere == []


def test_a_restart_in_a_class_goes_on_with_the_same_page(classroom, browser):
    address, _ = classroom
    with contextlib.closing(browser.new_context()) as opened:
        opened.set_default_timeout(60_000)
        reader = Reader(opened, address, "dual_svm")
        log_in(reader)
        reader.begin()
        reader.run("a = 5")
        reader.page.get_by_role("button", name="Restart").click()
        reader.page.get_by_text("nothing has run").wait_for()
        assert "NameError" in reader.run("print(a)").inner_text()
        assert "9" in reader.run("print(9)").inner_text()


def test_nobody_sees_anothers_kernel(classroom, browser):
    address, _ = classroom
    lists = "async path => (await (await fetch(path)).json()).length"
    with (
        contextlib.closing(browser.new_context()) as one,
        contextlib.closing(browser.new_context()) as other,
    ):
        for opened in (one, other):
            opened.set_default_timeout(60_000)
        first, second = Reader(one, address, "dual_svm"), Reader(other, address, "dual_svm")
        log_in(first)
        log_in(second)
        first.begin()
        for path in ("/api/sessions", "/api/kernels"):
            assert first.page.evaluate(lists, path) == 1
            assert second.page.evaluate(lists, path) == 0


def test_no_process_of_a_class_outlives_its_page_or_the_server(browser):
    if not shutil.which("bwrap") or not CHAPTERS:
        pytest.skip("no bubblewrap, or no book")
    post = """async () => {
      const xsrf = document.cookie.match(/_xsrf=([^;]*)/)[1];
      const headers = { "X-XSRFToken": xsrf, "Content-Type": "application/json" };
      const kernel = { name: "python3" }, path = String(Math.random());
      const body = JSON.stringify({ path, type: "notebook", name: "x", kernel });
      const made = await (await fetch("/api/sessions", { method: "POST", headers, body })).json();
      await fetch(`/api/sessions/${made.id}`, { method: "DELETE", headers });
    }"""
    with (
        running("--host", "0.0.0.0", SVMBOOK_PASSWORD=PASSWORD) as (address, _, process),
        contextlib.closing(browser.new_context()) as opened,
    ):
        opened.set_default_timeout(60_000)
        reader = Reader(opened, address, "dual_svm")
        log_in(reader)
        reader.page.get_by_role("button", name="Live code").wait_for()
        for _ in range(4):  # begun and given back at once
            reader.page.evaluate(post)
        assert sandboxes() == []
        reader.begin()
        assert sandboxes()
        process.send_signal(signal.SIGINT)
        process.wait(30)
    assert sandboxes() == []


def sandboxes():
    """Return the processes in sandboxes of the live book."""
    found = []
    for process in psutil.process_iter(["cmdline", "status"]):
        line = " ".join(process.info["cmdline"] or ())
        if "/live-" in line and "kernel.json" in line:
            found.append(line[:80])
    return found
