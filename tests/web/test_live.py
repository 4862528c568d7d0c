"""The live book: cells run in the page, and the server gives access to nothing but the book."""

import json
import signal
import urllib.error
import urllib.request

import psutil
import pytest

from .live import CHAPTERS, LIGHTEST_CHAPTER, Reader, run_server


@pytest.fixture(scope="module")
def live():
    if not CHAPTERS:
        pytest.skip("the book is not built: make html")
    with run_server("--kernels", "2") as server:
        yield server


@pytest.fixture(scope="module")
def context(browser, live):
    opened = browser.new_context()
    opened.set_default_timeout(60_000)
    Reader(opened, live[0], LIGHTEST_CHAPTER, live[1]).page.close()  # the token sets a cookie
    yield opened
    opened.close()


@pytest.fixture
def reader(context, live):
    """Return a function that opens a page; all pages are closed, which releases their kernels."""
    opened = []

    def open_page(name=LIGHTEST_CHAPTER):
        opened.append(Reader(context, live[0], name))
        return opened[-1]

    yield open_page
    for page_reader in opened:
        page_reader.page.close()


@pytest.fixture(scope="module")
def shared_reader(context, live):
    """A page with a kernel, for all tests that do not need a new one."""
    opened = Reader(context, live[0], LIGHTEST_CHAPTER).begin()
    yield opened
    opened.page.close()


def get(address, **headers):
    try:
        with urllib.request.urlopen(urllib.request.Request(address, headers=headers)) as response:
            return response.status, response.geturl(), response.read().decode(errors="replace")
    except urllib.error.HTTPError as error:
        return error.code, address, error.read().decode(errors="replace")


def check_changed_cell(reader):
    """Run other code in the first cell; its new output must replace the stored one."""
    assert "new output: 42" in reader.run("print('new output:', 6 * 7)").inner_text()
    stored = reader.page.locator("div.cell:has(.thebe-cell)").first.locator(".cell_output")
    assert not any(output.is_visible() for output in stored.all())
    assert (reader.blocked, reader.errors) == ([], [])


def test_changed_cell_shows_its_new_output(shared_reader):
    check_changed_cell(shared_reader)


# The test above covers the other chapters: `test_kinds.py` checks that the pages opened in
# `make test`, LIGHTEST_CHAPTER included, contain all their elements and scripts.
@pytest.mark.nightly
@pytest.mark.parametrize("name", CHAPTERS[1:])
def test_changed_cell_of_every_other_chapter_shows_its_new_output(reader, name):
    check_changed_cell(reader(name).begin())


def test_outputs_are_shown_as_in_a_notebook(shared_reader):
    reader = shared_reader
    error = reader.run("def wrong():\n    return 1 / 0\n\nwrong()")
    assert "ZeroDivisionError" in error.inner_text() and "error" in reader.status
    output = reader.run("from svmbook.tables import Table\nTable(['$C$', 'b'], [[1, '$x^2$']])")
    output.locator("table mjx-container").first.wait_for()
    output = reader.run(
        "import matplotlib.pyplot as plt\n"
        "from svmbook.plotting import AnimatedFigure, use_book_style\n"
        "use_book_style()\n"
        "def draw(k):\n    figure, ax = plt.subplots()\n    ax.plot([0, k])\n    return figure\n"
        "AnimatedFigure(draw, [1, 2, 3], label='slope {}'.format, alt='A line.')"
    )
    slider = output.get_by_role("slider")
    slider.focus()
    slider.press("End")
    assert output.locator("output").inner_text() == "slope 3"
    assert output.locator("img:visible").count() == 1
    widget = reader.run(
        "from ipywidgets import interact\n@interact(k=(0, 9))\ndef show(k=3):\n    print('k is', k)"
    )
    widget.get_by_text("k is 3").wait_for()
    handle = widget.get_by_role("slider")
    handle.focus()
    handle.press("ArrowRight")
    widget.get_by_text("k is 4").wait_for()
    assert (reader.blocked, reader.errors) == ([], [])


def test_cells_above_run_in_order_and_restart_clears_variables(shared_reader):
    reader = shared_reader
    reader.run("a = 5", k=0)
    reader.run("print(a + 1)", k=1)
    reader.page.get_by_role("button", name="Restart").click()
    reader.page.wait_for_function("() => document.body.innerText.includes('no cell has been run')")
    assert "NameError" in reader.run("print(a + 1)", k=1).inner_text()
    reader.write("print(a + 2)", 2)
    reader.page.evaluate("() => document.querySelectorAll('.live-bar')[3].lastChild.click()")
    reader.page.wait_for_function("() => document.querySelectorAll('.live-ran').length === 3")
    outputs = reader.page.locator(".live-output")
    assert [outputs.nth(k).text_content().strip() for k in range(3)] == ["", "6", "7"]


# Shortens all timeouts, so that a page requests a kernel more often.
SHORT_TIMEOUTS = """() => {
  const original = setTimeout;
  window.setTimeout = (callback, time, ...args) => original(callback, time / 30, ...args);
}"""


def test_every_page_has_its_own_kernel_or_waits_for_one(shared_reader, reader):
    first, second = shared_reader, reader(CHAPTERS[1]).begin()
    first.run("a = 5")
    assert "NameError" in second.run("print(a)").inner_text()
    third = reader(CHAPTERS[2])
    free = {"kernels": 1, "max": 2}  # outdated: another page has taken the kernel meanwhile
    third.page.route("**/live/capacity", lambda route: route.fulfill(json=free), times=1)
    third.page.evaluate(SHORT_TIMEOUTS)
    third.begin(wait=False)
    third.page.get_by_text("All 2 kernels are in use").wait_for()
    assert "5" in first.run("print(a)").inner_text()  # the first kernel was not taken away
    second.page.close()  # releases its kernel
    third.page.wait_for_selector("html[data-live=ready]")
    assert "7" in third.run("print(7)").inner_text()


def test_page_reports_that_its_kernel_has_died(shared_reader):
    reader = shared_reader
    reader.run("a = 5")
    reader.run("import os\nos._exit(1)")
    reader.page.get_by_text("The kernel has died and was restarted").wait_for()
    assert "All variables are lost" in reader.status
    assert reader.page.locator(".live-ran").count() == 0
    assert "NameError" in reader.run("print(a)").inner_text()


def test_stopping_a_cell_keeps_variables(shared_reader):
    reader = shared_reader
    reader.run("a = 5")
    reader.write("import time\nprint('started', flush=True)\nwhile True:\n    time.sleep(0.01)", 0)
    cell = reader.page.locator("div.cell:has(.thebe-cell)").first
    cell.get_by_role("button", name="Run", exact=True).click()
    cell.locator(".live-output").get_by_text("started").wait_for()
    reader.page.get_by_role("button", name="Stop").click()
    reader.page.wait_for_function("() => !document.querySelector('.live-busy')")
    assert "KeyboardInterrupt" in cell.locator(".live-output").inner_text()
    assert "10" in reader.run("print(2 * a)").inner_text()


def test_memory_is_limited(shared_reader):
    assert "MemoryError" in shared_reader.run("bytearray(8 * 2**30)").inner_text()


def test_wrong_token_is_rejected(live):
    address, token, _ = live
    for wrong in ("", "?token=", "?token=" + token[:-1] + ("0" if token[-1] != "0" else "1")):
        for path in (
            "/notebooks/dual_svm.html", "/live/capacity", "/live/live.js", "/api/sessions",
            "/api/kernels", "/_static/book.css", "/searchindex.js",
        ):  # fmt: skip
            status, url, body = get(address + path + wrong)
            assert status == 403 or "/login" in url, (path, status)
            assert "Before you start" not in body and "svmbook" not in body
    assert get(f"{address}/live/capacity", Authorization=f"token {token}")[0] == 200


def test_files_of_the_project_are_not_served(live):
    address, token, _ = live
    paths = (
        "/live/server.py",
        "/live/vendor/../server.py",
        "/book/../../README.md",
        "/_static/../../../Makefile",
        "/files/x",
    )
    outside = ("/api/contents", "/api/terminals", "/lab", "/tree", "/book/%2e%2e/%2e%2e/x")
    for path in (*paths, *outside):
        assert get(address + path, Authorization=f"token {token}")[0] in (403, 404), path


def test_all_files_of_the_book_are_served(live):
    address, token, _ = live
    files = ("/search.html", "/sections.js", "/svmbook-notebooks.zip", "/favicon.ico")
    questions = ("/svmbook-questions-moodle.xml", "/svmbook-questions-qti.zip")
    for path in (*files, *questions, "/_sources/notebooks/dual_svm.ipynb"):
        assert get(address + path, Authorization=f"token {token}")[0] == 200, path


# Ends all kernels without telling their pages, as the server does with idle kernels.
END_KERNELS = """async () => {
  const xsrf = document.cookie.match(/_xsrf=([^;]*)/)[1];
  const all = await (await fetch("/api/kernels")).json();
  const options = { method: "DELETE", headers: { "X-XSRFToken": xsrf } };
  const end = async ({ id }) => (await fetch(`/api/kernels/${id}`, options)).status;
  return Promise.all(all.map(end));
}"""


@pytest.mark.nightly
def test_page_reports_an_ended_kernel_and_gets_another(shared_reader):
    assert 204 in shared_reader.page.evaluate(END_KERNELS)
    shared_reader.page.get_by_text("The kernel was ended").wait_for()
    assert "8" in shared_reader.run("print(8)").inner_text()


def test_kernels_end_with_the_server():
    with run_server() as (address, token, process):
        model = {"path": "x", "name": "x", "type": "notebook", "kernel": {"name": "python3"}}
        headers = {"Authorization": f"token {token}", "Content-Type": "application/json"}
        request = urllib.request.Request(
            f"{address}/api/sessions", json.dumps(model).encode(), headers
        )
        with urllib.request.urlopen(request) as response:
            assert response.status == 201
        kernels = psutil.Process(process.pid).children(recursive=True)
        assert kernels
        process.send_signal(signal.SIGINT)
        process.wait(30)
        gone, alive = psutil.wait_procs(kernels, timeout=10)
        assert gone and not alive


# `make test` checks only the settings of idle kernels, in test_live_class.py.
@pytest.mark.nightly
def test_idle_kernel_is_ended(browser):
    with run_server("--idle", "3") as (address, token, _):
        opened = browser.new_context()
        opened.set_default_timeout(60_000)
        reader = Reader(opened, address, LIGHTEST_CHAPTER, token).begin()
        reader.page.get_by_text("The kernel was ended").wait_for()
        assert "8" in reader.run("print(8)").inner_text()  # in a new kernel
        opened.close()
