"""Fixtures that serve the built pages and open each page once in the system's Chromium."""

import importlib.util
import sys
from dataclasses import dataclass, field
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
HTML = ROOT / "_build" / "html"
# Wait until formulas are typeset, fonts are loaded, and resize observers have been called, which
# happens at the end of a frame.
WAIT_FOR_LAYOUT = """async () => {
  dispatchEvent(new Event("scroll")); // lets all formulas be typeset
  await window.MathJax?.startup?.promise;
  await document.fonts.ready;
  await new Promise(requestAnimationFrame);
  await new Promise(requestAnimationFrame);
}"""


def import_module_at(path):
    """Import a module outside of any package from its path."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


serve = import_module_at(ROOT / "tools" / "serve.py")
CHROMIUM = serve.CHROMIUM


def built_pages():
    """Return the names of the built pages, except index.html, which only redirects."""
    paths = [*HTML.glob("*.html"), *HTML.glob("book/**/*.html"), *HTML.glob("notebooks/**/*.html")]
    return sorted({path.relative_to(HTML).as_posix() for path in paths} - {"index.html"})


# No enabled rule needs style sheets or media that axe would load again, some from wrong addresses.
AXE_OPTIONS = {"resultTypes": ["violations"], "preload": False}
# The pages that `make test` opens. `test_sample_pages.py` checks that they contain each element,
# class and script of all pages, so that all style rules and scripts are tested. Checks that depend
# on the content of a page, such as a formula too wide for its column, run on all pages every night.
SAMPLE_PAGES = (
    "404.html",
    "book/api/experiments.html",
    "book/bibliography.html",
    "book/cheat_sheet.html",
    "book/glossary.html",
    "book/intro.html",
    "book/notation.html",
    "book/reproductions.html",
    "genindex.html",
    "notebooks/dual_svm.html",
    "notebooks/ensembles_as_kernels.html",
    "notebooks/which_machine_when.html",
    "search.html",
)


def chapters_by_formula_count():
    """Return the chapters' page names, those with few formulas first, which load fastest."""
    chapters = [path.relative_to(HTML).as_posix() for path in HTML.glob("notebooks/*.html")]
    return sorted(chapters, key=lambda name: (HTML / name).read_text("utf-8").count('class="math'))


def mark_nightly(names, exceptions=SAMPLE_PAGES):
    """Return names as test parameters, all marked as nightly except `exceptions`."""
    return [
        pytest.param(name, marks=() if name in exceptions else pytest.mark.nightly)
        for name in names
    ]


@dataclass
class Visit:
    """An open page, the requests that succeeded, and its errors.

    Errors are failed requests, exceptions, and errors and warnings in the browser's console.
    """

    page: object
    name: str
    requests: list = field(default_factory=list)
    errors: list = field(default_factory=list)
    n_initial_requests: int = 0  # requests until the page was loaded

    def show(self, width, theme):
        """Show the page in a window of this width and in this theme."""
        self.page.set_viewport_size({"width": width, "height": 900})
        self.page.evaluate("theme => { document.documentElement.dataset.theme = theme }", theme)
        self.page.evaluate(WAIT_FOR_LAYOUT)


@pytest.fixture(scope="package")
def book():
    """Return the folder of the built book, or skip the test if it is not built."""
    if not HTML.is_dir():
        pytest.skip("the book is not built: make html")
    return HTML


@pytest.fixture(scope="package")
def site(book):
    """Serve the book as `make book` does and yield its address."""
    with serve.serving(book) as address:
        yield address


@pytest.fixture(scope="package")
def browser():
    """Start the system's Chromium; every opened page counts towards the budget of the tests."""
    sync_api = pytest.importorskip("playwright.sync_api")
    if CHROMIUM is None:
        pytest.skip("no Chromium: apt-get install chromium")
    goto = sync_api.Page.goto

    def goto_with_audit_event(page, *args, **kwargs):
        sys.audit("tests.page")  # tests/budget.py counts these events
        return goto(page, *args, **kwargs)

    with sync_api.sync_playwright() as playwright, pytest.MonkeyPatch.context() as patch:
        patch.setattr(sync_api.Page, "goto", goto_with_audit_event)
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield chromium
        chromium.close()


@pytest.fixture(scope="package")
def visit(site, browser):
    """Return a function that opens a page of the book in a new tab."""
    context = browser.new_context(reduced_motion="reduce")

    def open_page(name, html=None):
        """Open a page; `html`, if given, replaces its content."""
        opened = Visit(context.new_page(), name)
        page = opened.page
        if html:
            response = {"body": html, "content_type": "text/html; charset=utf-8"}
            page.route(site + name, lambda route: route.fulfill(**response))
        requests, errors = opened.requests, opened.errors

        def record_console_error(message):
            if message.type in ("error", "warning"):
                errors.append(f"{message.text} {message.location['url']}")

        page.on("requestfinished", lambda request: requests.append(request))
        page.on("requestfailed", lambda request: errors.append(request.url))
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("console", record_console_error)
        page.goto(site + name)
        page.evaluate(WAIT_FOR_LAYOUT)
        opened.n_initial_requests = len(requests)
        return opened

    yield open_page
    context.close()


@pytest.fixture(params=built_pages())
def page_file(request):
    """Return the file of each page in turn."""
    return HTML / request.param


@pytest.fixture(scope="package", params=mark_nightly(built_pages()))
def visited(request, visit):
    """Open each page in turn, once for all tests, with all `details` elements open.

    In `make test` these are the pages of `SAMPLE_PAGES`.
    """
    opened = visit(request.param)
    opened.page.evaluate("() => document.querySelectorAll('details').forEach(d => d.open = true)")
    yield opened
    opened.page.close()
