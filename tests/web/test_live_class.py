"""The live book for a class: password, sandboxed kernels, and isolation of readers."""

import asyncio
import contextlib
import http.client
import json
import platform
import shutil
import signal
import statistics
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

from .conftest import ROOT, import_module_at
from .live import CHAPTERS, LIGHTEST_CHAPTER, PASSWORD, SERVER, LivePage, log_in, run_server

# Requests of a page to start a kernel, and to release all its kernels.
START_KERNEL = """async () => {
  const xsrf = document.cookie.match(/_xsrf=([^;]*)/)[1];
  const headers = { "X-XSRFToken": xsrf, "Content-Type": "application/json" };
  const kernel = { name: "python3" }, path = String(Math.random());
  const body = JSON.stringify({ path, type: "notebook", name: "x", kernel });
  return (await fetch("/api/sessions", { method: "POST", headers, body })).status;
}"""
RELEASE_ALL_KERNELS = """async () => {
  const headers = { "X-XSRFToken": document.cookie.match(/_xsrf=([^;]*)/)[1] };
  const sessions = await (await fetch("/api/sessions")).json();
  const end = ({ id }) => fetch(`/api/sessions/${id}`, { method: "DELETE", headers });
  return Promise.all(sessions.map(async session => (await end(session)).status));
}"""


@pytest.fixture
def server(monkeypatch):
    """Return the module of the server."""
    monkeypatch.syspath_prepend(str(SERVER.parent))
    return import_module_at(SERVER)


def settings(server, *arguments):
    return server.settings(server.parse_arguments(arguments), "folder")


def test_class_needs_a_password(server, monkeypatch):
    monkeypatch.setattr(server, "find_bubblewrap", lambda: "bwrap")
    for password in (None, "", "short"):
        if password is None:
            monkeypatch.delenv("SVMBOOK_PASSWORD", raising=False)
        else:
            monkeypatch.setenv("SVMBOOK_PASSWORD", password)
        with pytest.raises(SystemExit, match="SVMBOOK_PASSWORD"):
            settings(server, "--host", "0.0.0.0")
    monkeypatch.setenv("SVMBOOK_PASSWORD", PASSWORD)
    values = settings(server, "--host", "0.0.0.0")
    assert values["LimitedKernelManager"]["sandbox"] == "bwrap"
    assert values["PasswordIdentityProvider"]["token"] == ""
    assert PASSWORD not in json.dumps(values["PasswordIdentityProvider"])


def test_class_needs_a_sandbox(server, monkeypatch):
    monkeypatch.setenv("SVMBOOK_PASSWORD", PASSWORD)

    def fail():
        raise server.SandboxError("bubblewrap is not installed")

    monkeypatch.setattr(server, "find_bubblewrap", fail)
    with pytest.raises(SystemExit, match="not installed"):
        settings(server, "--host", "10.0.0.1")
    assert settings(server, "--host", "::1")["LimitedKernelManager"]["sandbox"] == ""


@pytest.mark.parametrize("host, for_class", [("127.0.0.1", False), ("10.0.0.1", True)])
def test_idle_kernels_are_ended_and_busy_ones_only_in_a_class(server, monkeypatch, host, for_class):
    monkeypatch.setenv("SVMBOOK_PASSWORD", PASSWORD)
    monkeypatch.setattr(server, "find_bubblewrap", lambda: "bwrap")
    values = settings(server, "--host", host, "--idle", "30")["LimitedMultiKernelManager"]
    culling = {name: value for name, value in values.items() if name.startswith("cull_")}
    assert culling == {
        "cull_idle_timeout": 30,
        "cull_interval": 10,
        "cull_connected": True,
        "cull_busy": for_class,
    }


class StubKernel:
    """A kernel that uses no resources."""

    memory_limit = 1

    def memory_usage(self):
        return 0

    disk_usage = memory_usage


@pytest.fixture
def kernel_manager(server):
    """Create a kernel manager without kernels."""
    manager = sys.modules["kernels"].LimitedMultiKernelManager(cull_idle_timeout=60)
    yield manager
    manager.context.destroy()


def enforce_limits(kernel_manager):
    """Enforce the limits in another thread, since Playwright's event loop runs in this one."""
    with ThreadPoolExecutor(1) as pool:
        pool.submit(lambda: asyncio.run(kernel_manager.enforce_limits())).result()


@pytest.mark.parametrize("for_class", [False, True])
def test_kernel_without_a_page_is_ended_only_in_a_class(kernel_manager, monkeypatch, for_class):
    kernel_manager.cull_busy = for_class
    monkeypatch.setattr(kernel_manager, "_kernels", {"open": StubKernel(), "closed": StubKernel()})
    kernel_manager._kernel_connections["open"] = 1
    kernel_manager._last_connected["closed"] = -1000.0

    async def end(kernel_id, now):
        del kernel_manager._kernels[kernel_id]

    monkeypatch.setattr(kernel_manager, "shutdown_kernel", end)
    enforce_limits(kernel_manager)
    assert kernel_manager.end_reasons == ({"closed": "its page was closed"} if for_class else {})


def test_old_entries_of_ended_kernels_are_deleted(kernel_manager, monkeypatch):
    monkeypatch.setattr(kernel_manager, "_kernels", {"1": StubKernel()})
    limit = sys.modules["kernels"].MAX_ENDED_KERNELS
    for entries in (
        kernel_manager.owners,
        kernel_manager.end_reasons,
        kernel_manager._last_connected,
    ):
        entries |= dict.fromkeys(map(str, range(3 * limit)), 0.0)
    enforce_limits(kernel_manager)
    assert [*kernel_manager.owners] == ["1", *map(str, range(2 * limit, 3 * limit))]
    assert (
        kernel_manager.owners.keys()
        == kernel_manager.end_reasons.keys()
        == kernel_manager._last_connected.keys()
    )


@pytest.fixture(scope="module")
def class_address():
    """Start the server for a class and yield its address."""
    if not shutil.which("bwrap"):
        pytest.skip("no bubblewrap: apt-get install bubblewrap")
    if not CHAPTERS:
        pytest.skip("the book is not built: make html")
    with run_server("--host", "0.0.0.0", SVMBOOK_PASSWORD=PASSWORD) as (address, token, _):
        assert token is None
        yield address


@pytest.fixture(scope="module")
def student_page(class_address, browser):
    """Open a page and start a kernel, after logging in at the second attempt."""
    with contextlib.closing(browser.new_context()) as context:
        context.set_default_timeout(60_000)
        live_page = LivePage(context, class_address, LIGHTEST_CHAPTER)
        assert "/login" in live_page.page.url
        log_in(live_page, "a wrong password")
        assert "/login" in live_page.page.url
        log_in(live_page)
        live_page.page.wait_for_url(f"**/notebooks/{LIGHTEST_CHAPTER}.html")
        # Pages from another computer without a certificate lack this function.
        live_page.page.evaluate("() => { delete Crypto.prototype.randomUUID }")
        yield live_page.start_kernel()


def test_kernel_of_a_class_is_isolated(student_page, class_address):
    port = class_address.rsplit(":", 1)[1]
    output = student_page.run(
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
    assert "records" in output and "False" in output
    assert "no settings" in output and "no network" in output and f"{2**26} bytes" in output
    assert "False 0" not in output  # the kernel does not run as root
    assert student_page.blocked == []


def test_kernel_of_a_class_cannot_read_the_state_of_the_server(student_page):
    output = student_page.run(
        "import ctypes, os\n"
        "for path in ('/proc/1/environ', '/proc/1/cmdline', '/proc/self/environ'):\n"
        "    try:\n        print(open(path).read())\n"
        "    except OSError as error:\n        print(type(error).__name__)\n"
        "try:\n    os.memfd_create('x')\nexcept OSError as error:\n    print('no memory:', error)\n"
        "libc = ctypes.CDLL(None, use_errno=True)\n"
        "print('keys', libc.syscall(250, 0, -3, 0), ctypes.get_errno())\n"
    ).inner_text()
    assert PASSWORD not in output and "no memory" in output
    if platform.machine() == "x86_64":
        assert "keys -1 1" in output


def test_kernel_that_fills_the_disk_is_ended_with_a_reason(student_page):
    student_page.run(
        "import os\nfrom ipykernel.connect import get_connection_file\n"
        "folder = os.path.dirname(get_connection_file())\n"
        "for k in range(3):\n    open(f'{folder}/{k}', 'wb').write(bytes(3 * 10**7))"
    )
    student_page.page.get_by_text("it stored more than 64 MiB").wait_for()
    assert "8" in student_page.run("print(8)").inner_text()  # in a new kernel


def test_restart_in_a_class_works_on_the_same_page(student_page):
    student_page.run("a = 5")
    student_page.page.get_by_role("button", name="Restart").click()
    student_page.page.get_by_text("no cell has been run").wait_for()
    assert "NameError" in student_page.run("print(a)").inner_text()
    assert "9" in student_page.run("print(9)").inner_text()


def test_readers_cannot_access_kernels_of_others(student_page, class_address, browser):
    count_entries = "async path => (await (await fetch(path)).json()).length"
    with contextlib.closing(browser.new_context()) as context:
        context.set_default_timeout(60_000)
        other_page = LivePage(context, class_address, LIGHTEST_CHAPTER)
        log_in(other_page)
        for path in ("/api/sessions", "/api/kernels"):
            assert student_page.page.evaluate(count_entries, path) == 1
            assert other_page.page.evaluate(count_entries, path) == 0
        fetch_status = """async ([path, method]) => {
          const xsrf = document.cookie.match(/_xsrf=([^;]*)/)[1];
          return (await fetch(path, { method, headers: { "X-XSRFToken": xsrf } })).status;
        }"""
        kernel_id, session_id = (
            student_page.page.evaluate(
                "async path => (await (await fetch(path)).json())[0].id", path
            )
            for path in ("/api/kernels", "/api/sessions")
        )
        for path, method in (
            (f"/api/kernels/{kernel_id}", "GET"),
            (f"/api/kernels/{kernel_id}", "DELETE"),
            (f"/api/kernels/{kernel_id}/restart", "POST"),
            (f"/api/kernels/{kernel_id}/interrupt", "POST"),
            (f"/api/kernels/{kernel_id}/channels", "GET"),
            (f"/api/sessions/{session_id}", "DELETE"),
        ):
            assert other_page.page.evaluate(fetch_status, [path, method]) == 403, (path, method)
        assert student_page.page.evaluate(fetch_status, [f"/api/kernels/{kernel_id}", "GET"]) == 200


def test_large_requests_are_rejected(class_address):
    connection = http.client.HTTPConnection(class_address.removeprefix("http://"), timeout=30)
    try:
        connection.request("POST", "/login", body=b"password=" + b"x" * 3_000_000)
        status = connection.getresponse().status
    except (OSError, http.client.HTTPException):
        status = None  # the server closed the connection
    assert status in (None, 400, 413)
    connection.close()


@pytest.mark.nightly  # one second per wrong password
def test_login_attempts_are_sequential_and_do_not_slow_other_requests(class_address):
    xsrf = "2|00000000|00000000000000000000000000000000|0"

    def login_status(password):
        body = urllib.parse.urlencode({"password": password, "_xsrf": xsrf}).encode()
        request = urllib.request.Request(
            f"{class_address}/login", body, {"Cookie": f"_xsrf={xsrf}"}
        )
        try:
            with urllib.request.urlopen(request, timeout=60) as response:
                return response.status
        except urllib.error.HTTPError as error:
            return error.code

    with ThreadPoolExecutor(12) as pool:
        first_start = time.monotonic()
        attempts = [pool.submit(login_status, f"wrong {k}") for k in range(12)]
        response_times = []
        while not all(future.done() for future in attempts):
            start = time.monotonic()
            urllib.request.urlopen(f"{class_address}/login", timeout=60).close()
            response_times.append(time.monotonic() - start)
            time.sleep(0.1)
        statuses = [future.result() for future in attempts]
    assert statuses == [401] * 12
    assert time.monotonic() - first_start > 12 and statistics.median_high(response_times) < 0.5


def test_kernels_per_reader_are_limited(class_address, browser):
    with contextlib.closing(browser.new_context()) as context:
        context.set_default_timeout(60_000)
        live_page = LivePage(context, class_address, LIGHTEST_CHAPTER)
        log_in(live_page)
        start_three = f"async () => (await Promise.all([1, 2, 3].map({START_KERNEL}))).sort()"
        assert live_page.page.evaluate(start_three) == [201, 201, 429]
        assert live_page.page.evaluate(RELEASE_ALL_KERNELS) == [204, 204]


def test_processes_of_a_class_end_with_their_page_or_the_server(browser):
    if not shutil.which("bwrap") or not CHAPTERS:
        pytest.skip("no bubblewrap, or the book is not built")
    # The folder is private, since other servers may run; its path is short, as sockets require.
    folder = tempfile.mkdtemp(prefix="live-test-", dir="/tmp")
    variables = {"SVMBOOK_PASSWORD": PASSWORD, "TMPDIR": folder}
    with (
        run_server("--host", "0.0.0.0", **variables) as (address, _, process),
        contextlib.closing(browser.new_context()) as context,
    ):
        context.set_default_timeout(60_000)
        live_page = LivePage(context, address, LIGHTEST_CHAPTER)
        log_in(live_page)
        live_page.page.get_by_role("button", name="Live code").wait_for()
        for _ in range(4):  # each kernel is released as soon as it has started
            assert live_page.page.evaluate(START_KERNEL) == 201
            assert live_page.page.evaluate(RELEASE_ALL_KERNELS) == [204]
        assert sandbox_commands(folder) == []
        (work_folder,) = Path(folder).glob("live-*")
        assert not any(work_folder.iterdir())  # the folders of kernels were removed
        live_page.start_kernel()
        assert sandbox_commands(folder)
        process.send_signal(signal.SIGINT)
        process.wait(30)
    assert sandbox_commands(folder) == [] and not any(Path(folder).iterdir())
    Path(folder).rmdir()


def sandbox_commands(folder):
    """Return the commands of sandboxed processes of the server whose temporary folder this is."""
    commands = []
    for process in psutil.process_iter(["cmdline", "status"]):
        command = " ".join(process.info["cmdline"] or ())
        if f"{folder}/live-" in command:
            commands.append(command[:80])
    return commands
