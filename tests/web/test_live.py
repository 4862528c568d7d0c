"""The live book: cells run in the page, for those who are let in, and nothing else is to be had."""

import signal
import urllib.error
import urllib.request

import psutil
import pytest

from .live import CHAPTERS, Reader, running


@pytest.fixture(scope="module")
def live():
    if not CHAPTERS:
        pytest.skip("the book is not built: make html")
    with running("--kernels", "3") as started:
        yield started


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
    fourth = reader(CHAPTERS[3])
    free = {"kernels": 2, "most": 3}  # as it looks to all who wait, of whom one gets the place
    fourth.page.route("**/live/room", lambda route: route.fulfill(json=free), times=1)
    fourth.begin(wait=False)
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
    outside = ("/api/contents", "/api/terminals", "/lab", "/tree", "/book/%2e%2e/%2e%2e/x")
    for path in (*paths, *outside):
        assert get(address + path, Authorization=f"token {token}")[0] in (403, 404), path


def test_all_of_the_book_is_served(live):
    address, token, _ = live
    beside = ("/search.html", "/sections.js", "/svmbook-notebooks.zip", "/favicon.ico")
    for path in (*beside, "/_sources/notebooks/dual_svm.ipynb"):
        assert get(address + path, Authorization=f"token {token}")[0] == 200, path


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
