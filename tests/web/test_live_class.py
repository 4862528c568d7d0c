"""The live book for a class: a password, kernels in sandboxes, and nobody in another's."""

import asyncio
import contextlib
import http.client
import json
import platform
import shutil
import signal
import sys
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psutil
import pytest

from .conftest import ROOT, module_at
from .live import CHAPTERS, LIGHT, PASSWORD, SERVER, Reader, log_in, running

# What a page does to get a kernel, and to give back all that it has.
POST = """async () => {
  const xsrf = document.cookie.match(/_xsrf=([^;]*)/)[1];
  const headers = { "X-XSRFToken": xsrf, "Content-Type": "application/json" };
  const kernel = { name: "python3" }, path = String(Math.random());
  const body = JSON.stringify({ path, type: "notebook", name: "x", kernel });
  return (await fetch("/api/sessions", { method: "POST", headers, body })).status;
}"""
END_ALL = """async () => {
  const headers = { "X-XSRFToken": document.cookie.match(/_xsrf=([^;]*)/)[1] };
  const all = await (await fetch("/api/sessions")).json(), end = { method: "DELETE", headers };
  return Promise.all(all.map(async ({ id }) => (await fetch(`/api/sessions/${id}`, end)).status));
}"""


@pytest.fixture
def server(monkeypatch):
    """The module of the server."""
    monkeypatch.syspath_prepend(str(SERVER.parent))
    return module_at(SERVER)


def test_others_are_let_in_with_a_password_only(server, monkeypatch):
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


def test_a_class_needs_a_sandbox(server, monkeypatch):
    monkeypatch.setenv("SVMBOOK_PASSWORD", PASSWORD)

    def none():
        raise server.SandboxError("bubblewrap is not installed")

    monkeypatch.setattr(server, "find_sandbox", none)
    with pytest.raises(SystemExit, match="not installed"):
        server.settings(server.read(["--host", "10.0.0.1"]), "room")
    assert server.settings(server.read(["--host", "::1"]), "room")["Kernel"]["sandbox"] == ""


@pytest.mark.parametrize("host, is_class", [("127.0.0.1", False), ("10.0.0.1", True)])
def test_kernels_that_rest_are_ended_and_in_a_class_busy_ones(server, monkeypatch, host, is_class):
    monkeypatch.setenv("SVMBOOK_PASSWORD", PASSWORD)
    monkeypatch.setattr(server, "find_sandbox", lambda: "bwrap")
    found = server.settings(server.read(["--host", host, "--idle", "30"]), "room")["Kernels"]
    culling = {name: value for name, value in found.items() if name.startswith("cull_")}
    assert culling == {
        "cull_idle_timeout": 30,
        "cull_interval": 10,
        "cull_connected": True,
        "cull_busy": is_class,
    }


class Resting:
    """A kernel that takes nothing."""

    memory = 1

    def resident(self):
        return 0

    stored = resident


@pytest.fixture
def kernels(server):
    """The kernels of a server, of which none runs."""
    made = sys.modules["kernels"].Kernels(cull_idle_timeout=60)
    yield made
    made.context.destroy()


def watch(kernels):
    """Let a server look at its kernels; in another thread, for Playwright's loop runs in this."""
    with ThreadPoolExecutor(1) as pool:
        pool.submit(lambda: asyncio.run(kernels.watch())).result()


@pytest.mark.parametrize("is_class", [False, True])
def test_a_kernel_whose_page_is_gone_ends_in_a_class_alone(kernels, monkeypatch, is_class):
    kernels.cull_busy = is_class
    monkeypatch.setattr(kernels, "_kernels", {"seen": Resting(), "gone": Resting()})
    kernels._kernel_connections["seen"] = 1
    kernels._last_seen["gone"] = -1000.0

    async def end(kernel_id, now):
        del kernels._kernels[kernel_id]

    monkeypatch.setattr(kernels, "shutdown_kernel", end)
    watch(kernels)
    assert kernels.ended == ({"gone": "its page was gone"} if is_class else {})


def test_kernels_that_ended_long_ago_are_forgotten(kernels, monkeypatch):
    monkeypatch.setattr(kernels, "_kernels", {"1": Resting()})
    most = sys.modules["kernels"].KNOWN
    for known in (kernels.owners, kernels.ended, kernels._last_seen):
        known |= dict.fromkeys(map(str, range(3 * most)), 0.0)
    watch(kernels)
    assert [*kernels.owners] == ["1", *map(str, range(2 * most, 3 * most))]
    assert kernels.owners.keys() == kernels.ended.keys() == kernels._last_seen.keys()


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


@pytest.fixture(scope="module")
def student(classroom, browser):
    """One who has logged in, at a page with a kernel; a wrong password has come before."""
    address, _ = classroom
    with contextlib.closing(browser.new_context()) as opened:
        opened.set_default_timeout(60_000)
        reader = Reader(opened, address, LIGHT)
        assert "/login" in reader.page.url
        log_in(reader, "a wrong street")
        assert "/login" in reader.page.url
        log_in(reader)
        reader.page.wait_for_url(f"**/notebooks/{LIGHT}.html")
        # As on a page that comes from another machine without a certificate.
        reader.page.evaluate("() => { delete Crypto.prototype.randomUUID }")
        yield reader.begin()


def test_a_class_logs_in_and_its_kernels_reach_nothing(student, classroom):
    port = classroom[0].rsplit(":", 1)[1]
    told = student.run(
        "import os, resource, socket\n"
        "from svmbook.experiments import load_records\n"
        "print(len(load_records('glass-boxes')), 'records')\n"
        f"print(os.path.exists({str(ROOT / 'README.md')!r}), os.getuid())\n"
        "try:\n    open('/proc/sys/kernel/core_pattern', 'r+')\n"
        "except OSError as error:\n    print('no settings:', error)\n"
        f"try:\n    socket.create_connection(('127.0.0.1', {port}), 2)\n"
        "except OSError as error:\n    print('no network:', error)\n"
        "print(resource.getrlimit(resource.RLIMIT_FSIZE)[0], 'bytes of a file')\n"
    ).inner_text()
    assert "records" in told and "False" in told
    assert "no settings" in told and "no network" in told and f"{2**26} bytes" in told
    assert "False 0" not in told  # root's name stays outside
    assert student.elsewhere == []


def test_a_kernel_of_a_class_learns_nothing_of_the_server(student):
    told = student.run(
        "import ctypes, os\n"
        "for path in ('/proc/1/environ', '/proc/1/cmdline', '/proc/self/environ'):\n"
        "    try:\n        print(open(path).read())\n"
        "    except OSError as error:\n        print(type(error).__name__)\n"
        "try:\n    os.memfd_create('x')\nexcept OSError as error:\n    print('no memory:', error)\n"
        "libc = ctypes.CDLL(None, use_errno=True)\n"
        "print('keys', libc.syscall(250, 0, -3, 0), ctypes.get_errno())\n"
    ).inner_text()
    assert PASSWORD not in told and "no memory" in told
    if platform.machine() == "x86_64":
        assert "keys -1 1" in told


def test_a_kernel_that_fills_the_disk_is_ended_and_its_page_says_why(student):
    student.run(
        "import os\nfrom ipykernel.connect import get_connection_file\n"
        "folder = os.path.dirname(get_connection_file())\n"
        "for k in range(3):\n    open(f'{folder}/{k}', 'wb').write(bytes(3 * 10**7))"
    )
    student.page.get_by_text("it stored more than 64 MiB").wait_for()
    assert "8" in student.run("print(8)").inner_text()  # with another one


def test_a_restart_in_a_class_goes_on_with_the_same_page(student):
    student.run("a = 5")
    student.page.get_by_role("button", name="Restart").click()
    student.page.get_by_text("nothing has run").wait_for()
    assert "NameError" in student.run("print(a)").inner_text()
    assert "9" in student.run("print(9)").inner_text()


def test_nobody_sees_anothers_kernel(student, classroom, browser):
    address, _ = classroom
    lists = "async path => (await (await fetch(path)).json()).length"
    with contextlib.closing(browser.new_context()) as opened:
        opened.set_default_timeout(60_000)
        other = Reader(opened, address, LIGHT)
        log_in(other)
        for path in ("/api/sessions", "/api/kernels"):
            assert student.page.evaluate(lists, path) == 1
            assert other.page.evaluate(lists, path) == 0
        ask = """async ([path, method]) => {
          const xsrf = document.cookie.match(/_xsrf=([^;]*)/)[1];
          return (await fetch(path, { method, headers: { "X-XSRFToken": xsrf } })).status;
        }"""
        kernels, sessions = (
            student.page.evaluate("async path => (await (await fetch(path)).json())[0].id", path)
            for path in ("/api/kernels", "/api/sessions")
        )
        for path, method in (
            (f"/api/kernels/{kernels}", "GET"),
            (f"/api/kernels/{kernels}", "DELETE"),
            (f"/api/kernels/{kernels}/restart", "POST"),
            (f"/api/kernels/{kernels}/interrupt", "POST"),
            (f"/api/kernels/{kernels}/channels", "GET"),
            (f"/api/sessions/{sessions}", "DELETE"),
        ):
            assert other.page.evaluate(ask, [path, method]) == 403, (path, method)
        assert student.page.evaluate(ask, [f"/api/kernels/{kernels}", "GET"]) == 200


def test_requests_are_small_and_guesses_slow(classroom):
    address, _ = classroom
    connection = http.client.HTTPConnection(address.removeprefix("http://"), timeout=30)
    with pytest.raises((OSError, http.client.HTTPException)):
        for _ in range(3):  # refused at the latest when the answer is read
            connection.request("POST", "/login", body=b"password=" + b"x" * 3_000_000)
            assert connection.getresponse().status in (400, 413)
            raise ConnectionError("refused")
    connection.close()


@pytest.mark.nightly  # a second for each wrong password
def test_guesses_come_one_after_the_other_and_slow_nobody_else(classroom):
    address, _ = classroom
    xsrf = "2|00000000|00000000000000000000000000000000|0"

    def guess(word):
        body = urllib.parse.urlencode({"password": word, "_xsrf": xsrf}).encode()
        asked = urllib.request.Request(f"{address}/login", body, {"Cookie": f"_xsrf={xsrf}"})
        try:
            with urllib.request.urlopen(asked, timeout=60) as answer:
                return answer.status
        except urllib.error.HTTPError as error:
            return error.code

    with ThreadPoolExecutor(12) as pool:
        began = time.monotonic()
        guesses = [pool.submit(guess, f"wrong {k}") for k in range(12)]
        times = []
        while not all(one.done() for one in guesses):
            start = time.monotonic()
            urllib.request.urlopen(f"{address}/login", timeout=60).close()
            times.append(time.monotonic() - start)
            time.sleep(0.1)
        found = [one.result() for one in guesses]
    assert found == [401] * 12
    assert time.monotonic() - began > 12 and sorted(times)[len(times) // 2] < 0.5


def test_nobody_takes_all_kernels(classroom, browser):
    address, _ = classroom
    with contextlib.closing(browser.new_context()) as opened:
        opened.set_default_timeout(60_000)
        reader = Reader(opened, address, LIGHT)
        log_in(reader)
        at_once = f"async () => (await Promise.all([1, 2, 3].map({POST}))).sort()"
        assert reader.page.evaluate(at_once) == [201, 201, 429]
        assert reader.page.evaluate(END_ALL) == [204, 204]


def test_no_process_of_a_class_outlives_its_page_or_the_server(browser):
    if not shutil.which("bwrap") or not CHAPTERS:
        pytest.skip("no bubblewrap, or no book")
    # A folder of its own, since other servers may run; short, as names of sockets must be.
    room = tempfile.mkdtemp(prefix="room-", dir="/tmp")
    variables = {"SVMBOOK_PASSWORD": PASSWORD, "TMPDIR": room}
    with (
        running("--host", "0.0.0.0", **variables) as (address, _, process),
        contextlib.closing(browser.new_context()) as opened,
    ):
        opened.set_default_timeout(60_000)
        reader = Reader(opened, address, LIGHT)
        log_in(reader)
        reader.page.get_by_role("button", name="Live code").wait_for()
        for _ in range(4):  # begun and given back at once
            assert reader.page.evaluate(POST) == 201
            assert reader.page.evaluate(END_ALL) == [204]
        assert sandboxes(room) == []
        (live,) = Path(room).glob("live-*")
        assert not any(live.iterdir())  # folders of kernels have gone with them
        reader.begin()
        assert sandboxes(room)
        process.send_signal(signal.SIGINT)
        process.wait(30)
    assert sandboxes(room) == [] and not any(Path(room).iterdir())
    Path(room).rmdir()


def sandboxes(room):
    """Return the processes in sandboxes of the server whose folders are in this one."""
    found = []
    for process in psutil.process_iter(["cmdline", "status"]):
        line = " ".join(process.info["cmdline"] or ())
        if f"{room}/live-" in line:
            found.append(line[:80])
    return found
