"""The live book: cells run in the page, and the server gives access to nothing but the book."""

import json
import signal
import urllib.error
import urllib.request

import psutil
import pytest

from .live import CHAPTERS, LIGHTEST_CHAPTER, LivePage, run_server


@pytest.fixture(scope="module")
def live_server():
    if not CHAPTERS:
        pytest.skip("the book is not built: make html")
    with run_server("--kernels", "2") as server:
        yield server


@pytest.fixture(scope="module")
def context(browser, live_server):
    browser_context = browser.new_context()
    browser_context.set_default_timeout(60_000)
    address, token, _ = live_server
    # Opening a page with the token sets a cookie.
    LivePage(browser_context, address, LIGHTEST_CHAPTER, token).page.close()
    yield browser_context
    browser_context.close()


@pytest.fixture
def open_live_page(context, live_server):
    """Return a function that opens a page; all pages are closed, which releases their kernels."""
    live_pages = []

    def open_page(name=LIGHTEST_CHAPTER):
        live_pages.append(LivePage(context, live_server[0], name))
        return live_pages[-1]

    yield open_page
    for live_page in live_pages:
        live_page.page.close()


@pytest.fixture(scope="module")
def shared_page(context, live_server):
    """Open a page with a kernel, for all tests that do not need a new one."""
    live_page = LivePage(context, live_server[0], LIGHTEST_CHAPTER).start_kernel()
    yield live_page
    live_page.page.close()


def get(address, **headers):
    """Return the status, the final address and the text of a response."""
    try:
        with urllib.request.urlopen(urllib.request.Request(address, headers=headers)) as response:
            return response.status, response.geturl(), response.read().decode(errors="replace")
    except urllib.error.HTTPError as error:
        return error.code, address, error.read().decode(errors="replace")


def check_changed_cell(live_page):
    """Run other code in the first cell; its new output must replace the stored one."""
    assert "new output: 42" in live_page.run("print('new output:', 6 * 7)").inner_text()
    stored = live_page.page.locator("div.cell:has(.thebe-cell)").first.locator(".cell_output")
    assert not any(output.is_visible() for output in stored.all())
    assert (live_page.blocked, live_page.errors) == ([], [])


def test_changed_cell_shows_its_new_output(shared_page):
    check_changed_cell(shared_page)


# The test above covers the other chapters: `test_sample_pages.py` checks that the pages opened in
# `make test`, LIGHTEST_CHAPTER included, contain all their elements and scripts.
@pytest.mark.nightly
@pytest.mark.parametrize("name", CHAPTERS[1:])
def test_changed_cell_of_every_other_chapter_shows_its_new_output(open_live_page, name):
    check_changed_cell(open_live_page(name).start_kernel())


def test_outputs_are_shown_as_in_a_notebook(shared_page):
    live_page = shared_page
    error = live_page.run("def wrong():\n    return 1 / 0\n\nwrong()")
    assert "ZeroDivisionError" in error.inner_text() and "error" in live_page.status
    output = live_page.run("from svmbook.tables import Table\nTable(['$C$', 'b'], [[1, '$x^2$']])")
    output.locator("table mjx-container").first.wait_for()
    output = live_page.run(
        "import matplotlib.pyplot as plt\n"
        "from svmbook.plotting import SliderFigure, use_book_style\n"
        "use_book_style()\n"
        "def draw(k):\n    figure, ax = plt.subplots()\n    ax.plot([0, k])\n    return figure\n"
        "SliderFigure(draw, [1, 2, 3], title='slope {}'.format, alt='A line.')"
    )
    slider = output.get_by_role("slider")
    slider.focus()
    slider.press("End")
    assert output.locator("output").inner_text() == "slope 3"
    assert output.locator("img:visible").count() == 1
    widget = live_page.run(
        "from ipywidgets import interact\n@interact(k=(0, 9))\ndef show(k=3):\n    print('k is', k)"
    )
    widget.get_by_text("k is 3").wait_for()
    widget_slider = widget.get_by_role("slider")
    widget_slider.focus()
    widget_slider.press("ArrowRight")
    widget.get_by_text("k is 4").wait_for()
    assert (live_page.blocked, live_page.errors) == ([], [])


def test_cells_above_run_in_order_and_restart_clears_variables(shared_page):
    live_page = shared_page
    live_page.run("a = 5", index=0)
    live_page.run("print(a + 1)", index=1)
    live_page.page.get_by_role("button", name="Restart").click()
    live_page.page.wait_for_function(
        "() => document.body.innerText.includes('no cell has been run')"
    )
    assert "NameError" in live_page.run("print(a + 1)", index=1).inner_text()
    live_page.write("print(a + 2)", 2)
    live_page.page.evaluate("() => document.querySelectorAll('.live-bar')[3].lastChild.click()")
    live_page.page.wait_for_function("() => document.querySelectorAll('.live-ran').length === 3")
    outputs = live_page.page.locator(".live-output")
    assert [outputs.nth(k).text_content().strip() for k in range(3)] == ["", "6", "7"]


# Shortens all timeouts, so that a page requests a kernel more often.
SHORTEN_TIMEOUTS = """() => {
  const original = setTimeout;
  window.setTimeout = (callback, delay, ...args) => original(callback, delay / 30, ...args);
}"""


def test_every_page_has_its_own_kernel_or_waits_for_one(shared_page, open_live_page):
    first, second = shared_page, open_live_page(CHAPTERS[1]).start_kernel()
    first.run("a = 5")
    assert "NameError" in second.run("print(a)").inner_text()
    third = open_live_page(CHAPTERS[2])
    # An outdated response: another page has taken the free kernel in the meantime.
    capacity = {"n_kernels": 1, "max_kernels": 2}
    third.page.route("**/live/capacity", lambda route: route.fulfill(json=capacity), times=1)
    third.page.evaluate(SHORTEN_TIMEOUTS)
    third.start_kernel(wait=False)
    third.page.get_by_text("All 2 kernels are in use").wait_for()
    assert "5" in first.run("print(a)").inner_text()  # the first page kept its kernel
    second.page.close()  # releases its kernel
    third.page.wait_for_selector("html[data-live=ready]")
    assert "7" in third.run("print(7)").inner_text()


def test_page_reports_that_its_kernel_has_died(shared_page):
    live_page = shared_page
    live_page.run("a = 5")
    live_page.run("import os\nos._exit(1)")
    live_page.page.get_by_text("The kernel has died and was restarted").wait_for()
    assert "All variables are lost" in live_page.status
    assert live_page.page.locator(".live-ran").count() == 0
    assert "NameError" in live_page.run("print(a)").inner_text()


def test_stopping_a_cell_keeps_variables(shared_page):
    live_page = shared_page
    live_page.run("a = 5")
    live_page.write(
        "import time\nprint('started', flush=True)\nwhile True:\n    time.sleep(0.01)", 0
    )
    cell = live_page.page.locator("div.cell:has(.thebe-cell)").first
    cell.get_by_role("button", name="Run", exact=True).click()
    cell.locator(".live-output").get_by_text("started").wait_for()
    live_page.page.get_by_role("button", name="Stop").click()
    live_page.page.wait_for_function("() => !document.querySelector('.live-busy')")
    assert "KeyboardInterrupt" in cell.locator(".live-output").inner_text()
    assert "10" in live_page.run("print(2 * a)").inner_text()


def test_memory_is_limited(shared_page):
    assert "MemoryError" in shared_page.run("bytearray(8 * 2**30)").inner_text()


def test_missing_or_wrong_token_is_rejected(live_server):
    address, token, _ = live_server
    for query in ("", "?token=", "?token=" + token[:-1] + ("0" if token[-1] != "0" else "1")):
        for path in (
            "/notebooks/dual_svm.html", "/live/capacity", "/live/live.js", "/api/sessions",
            "/api/kernels", "/_static/book.css", "/searchindex.js",
        ):  # fmt: skip
            status, url, body = get(address + path + query)
            assert status == 403 or "/login" in url, (path, status)
            assert "Before you start" not in body and "svmbook" not in body
    assert get(f"{address}/live/capacity", Authorization=f"token {token}")[0] == 200


def test_other_files_and_services_are_not_served(live_server):
    address, token, _ = live_server
    files = (
        "/live/server.py",
        "/live/vendor/../server.py",
        "/book/../../README.md",
        "/book/%2e%2e/%2e%2e/x",
        "/_static/../../../Makefile",
    )
    services = ("/api/contents", "/api/terminals", "/files/x", "/lab", "/tree")
    for path in (*files, *services):
        assert get(address + path, Authorization=f"token {token}")[0] in (403, 404), path


def test_top_level_files_and_sources_of_the_book_are_served(live_server):
    address, token, _ = live_server
    files = ("/search.html", "/sections.js", "/svmbook-notebooks.zip", "/favicon.ico")
    question_files = ("/svmbook-questions-moodle.xml", "/svmbook-questions-qti.zip")
    for path in (*files, *question_files, "/_sources/notebooks/dual_svm.ipynb"):
        assert get(address + path, Authorization=f"token {token}")[0] == 200, path


# Ends all kernels without a message to their pages, as the server does with idle kernels.
END_ALL_KERNELS = """async () => {
  const xsrf = document.cookie.match(/_xsrf=([^;]*)/)[1];
  const kernels = await (await fetch("/api/kernels")).json();
  const options = { method: "DELETE", headers: { "X-XSRFToken": xsrf } };
  const end = async ({ id }) => (await fetch(`/api/kernels/${id}`, options)).status;
  return Promise.all(kernels.map(end));
}"""


@pytest.mark.nightly
def test_page_reports_an_ended_kernel_and_gets_another(shared_page):
    assert 204 in shared_page.page.evaluate(END_ALL_KERNELS)
    shared_page.page.get_by_text("The kernel was ended").wait_for()
    assert "8" in shared_page.run("print(8)").inner_text()


def test_kernels_end_with_the_server():
    with run_server() as (address, token, process):
        session = {"path": "x", "name": "x", "type": "notebook", "kernel": {"name": "python3"}}
        headers = {"Authorization": f"token {token}", "Content-Type": "application/json"}
        request = urllib.request.Request(
            f"{address}/api/sessions", json.dumps(session).encode(), headers
        )
        with urllib.request.urlopen(request) as response:
            assert response.status == 201
        kernels = psutil.Process(process.pid).children(recursive=True)
        assert kernels
        process.send_signal(signal.SIGINT)
        process.wait(30)
        gone, alive = psutil.wait_procs(kernels, timeout=10)
        assert gone and not alive


# `make test` checks only the settings that end idle kernels, in test_live_class.py.
@pytest.mark.nightly
def test_idle_kernel_is_ended(browser):
    with run_server("--idle", "3") as (address, token, _):
        context = browser.new_context()
        context.set_default_timeout(60_000)
        live_page = LivePage(context, address, LIGHTEST_CHAPTER, token).start_kernel()
        live_page.page.get_by_text("The kernel was ended").wait_for()
        assert "8" in live_page.run("print(8)").inner_text()  # in a new kernel
        context.close()
