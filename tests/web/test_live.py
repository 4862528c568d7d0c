"""The live book: cells run in the page, for those who are let in, and nothing else is to be had."""

import json
import signal
import urllib.error
import urllib.request

import psutil
import pytest

from .live import CHAPTERS, LIGHT, Reader, running


@pytest.fixture(scope="module")
def live():
    if not CHAPTERS:
        pytest.skip("the book is not built: make html")
    with running("--kernels", "2") as started:
        yield started


@pytest.fixture(scope="module")
def context(browser, live):
    opened = browser.new_context()
    opened.set_default_timeout(60_000)
    Reader(opened, live[0], LIGHT, live[1]).page.close()  # takes the token
    yield opened
    opened.close()


@pytest.fixture
def reader(context, live):
    """Give a function that opens a page; a page that is closed gives its kernel back."""
    opened = []

    def open_page(name=LIGHT):
        opened.append(Reader(context, live[0], name))
        return opened[-1]

    yield open_page
    for one in opened:
        one.page.close()


@pytest.fixture(scope="module")
def begun(context, live):
    """A page with a kernel, for all tests that ask for no fresh one."""
    opened = Reader(context, live[0], LIGHT).begin()
    yield opened
    opened.page.close()


def get(address, **headers):
    try:
        with urllib.request.urlopen(urllib.request.Request(address, headers=headers)) as answer:
            return answer.status, answer.geturl(), answer.read().decode(errors="replace")
    except urllib.error.HTTPError as error:
        return error.code, address, error.read().decode(errors="replace")


def change_a_cell(reader):
    """Run other code in the first cell, and see its result instead of the stored one."""
    assert "stored no more: 42" in reader.run("print('stored no more:', 6 * 7)").inner_text()
    stored = reader.page.locator("div.cell:has(.thebe-cell)").first.locator(".cell_output")
    assert not any(one.is_visible() for one in stored.all())
    assert (reader.elsewhere, reader.errors) == ([], [])


def test_a_changed_cell_shows_its_new_result(begun):
    change_a_cell(begun)


# A chapter has nothing of its own that a cell would meet: `test_kinds.py` compares its elements and
# scripts with those of the pages that are opened in `make test`, among them LIGHT's.
@pytest.mark.nightly
@pytest.mark.parametrize("name", CHAPTERS[1:])
def test_a_changed_cell_of_each_other_chapter_shows_its_new_result(reader, name):
    change_a_cell(reader(name).begin())


def test_what_cells_show_is_shown_as_in_a_notebook(begun):
    reader = begun
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


def test_all_above_runs_in_order_and_a_restart_forgets(begun):
    reader = begun
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


# A page asks for a kernel every few seconds; here it asks at once.
HURRY = """() => {
  const wait = setTimeout;
  window.setTimeout = (act, time, ...given) => wait(act, time / 30, ...given);
}"""


def test_each_page_has_its_own_kernel_and_who_comes_too_late_waits(begun, reader):
    first, second = begun, reader(CHAPTERS[1]).begin()
    first.run("a = 5")
    assert "NameError" in second.run("print(a)").inner_text()
    third = reader(CHAPTERS[2])
    free = {"kernels": 1, "most": 2}  # as it looks to all who wait, of whom one gets the place
    third.page.route("**/live/room", lambda route: route.fulfill(json=free), times=1)
    third.page.evaluate(HURRY)
    third.begin(wait=False)
    third.page.get_by_text("All 2 kernels are in use").wait_for()
    assert "5" in first.run("print(a)").inner_text()  # nobody is cut off
    second.page.close()  # gives its kernel back
    third.page.wait_for_selector("html[data-live=ready]")
    assert "7" in third.run("print(7)").inner_text()


def test_a_page_says_that_its_kernel_has_died_and_what_is_lost(begun):
    begun.run("a = 5")
    begun.run("import os\nos._exit(1)")
    begun.page.get_by_text("The kernel has died and was started again").wait_for()
    assert "All names are lost" in begun.told
    assert begun.page.locator(".live-ran").count() == 0
    assert "NameError" in begun.run("print(a)").inner_text()


def test_a_cell_is_stopped_and_names_stay(begun):
    begun.run("a = 5")
    begun.write("import time\nprint('begun', flush=True)\nwhile True:\n    time.sleep(0.01)", 0)
    cell = begun.page.locator("div.cell:has(.thebe-cell)").first
    cell.get_by_role("button", name="Run", exact=True).click()
    cell.locator(".live-output").get_by_text("begun").wait_for()
    begun.page.get_by_role("button", name="Stop").click()
    begun.page.wait_for_function("() => !document.querySelector('.live-busy')")
    assert "KeyboardInterrupt" in cell.locator(".live-output").inner_text()
    assert "10" in begun.run("print(2 * a)").inner_text()


def test_memory_is_limited(begun):
    assert "MemoryError" in begun.run("bytearray(8 * 2**30)").inner_text()


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
    outside = ("/api/contents", "/api/terminals", "/lab", "/tree", "/book/%2e%2e/%2e%2e/x")
    for path in (*paths, *outside):
        assert get(address + path, Authorization=f"token {token}")[0] in (403, 404), path


def test_all_of_the_book_is_served(live):
    address, token, _ = live
    beside = ("/search.html", "/sections.js", "/svmbook-notebooks.zip", "/favicon.ico")
    questions = ("/svmbook-questions-moodle.xml", "/svmbook-questions-qti.zip")
    for path in (*beside, *questions, "/_sources/notebooks/dual_svm.ipynb"):
        assert get(address + path, Authorization=f"token {token}")[0] == 200, path


# Ends a page's kernel behind its back, as the server does when a kernel rests for too long.
END = """async () => {
  const xsrf = document.cookie.match(/_xsrf=([^;]*)/)[1];
  const all = await (await fetch("/api/kernels")).json();
  const options = { method: "DELETE", headers: { "X-XSRFToken": xsrf } };
  const end = async ({ id }) => (await fetch(`/api/kernels/${id}`, options)).status;
  return Promise.all(all.map(end));
}"""


@pytest.mark.nightly
def test_a_page_whose_kernel_was_ended_says_so_and_gets_another(begun):
    assert 204 in begun.page.evaluate(END)
    begun.page.get_by_text("The kernel was ended").wait_for()
    assert "8" in begun.run("print(8)").inner_text()


def test_kernels_end_with_the_command():
    with running() as (address, token, process):
        model = {"path": "x", "name": "x", "type": "notebook", "kernel": {"name": "python3"}}
        headers = {"Authorization": f"token {token}", "Content-Type": "application/json"}
        asked = urllib.request.Request(
            f"{address}/api/sessions", json.dumps(model).encode(), headers
        )
        with urllib.request.urlopen(asked) as answer:
            assert answer.status == 201
        kernels = psutil.Process(process.pid).children(recursive=True)
        assert kernels
        process.send_signal(signal.SIGINT)
        process.wait(30)
        gone, alive = psutil.wait_procs(kernels, timeout=10)
        assert gone and not alive


# In `make test` the two above, and the settings of resting kernels in test_live_class.py.
@pytest.mark.nightly
def test_a_kernel_that_rests_ends(browser):
    with running("--idle", "3") as (address, token, _):
        opened = browser.new_context()
        opened.set_default_timeout(60_000)
        reader = Reader(opened, address, LIGHT, token).begin()
        reader.page.get_by_text("The kernel was ended").wait_for()
        assert "8" in reader.run("print(8)").inner_text()  # with another one
        opened.close()
