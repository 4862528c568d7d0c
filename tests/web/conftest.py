"""The built pages, served once and opened in the system's Chromium; each page is loaded once."""

import importlib.util
import sys
from dataclasses import dataclass, field
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
HTML = ROOT / "_build" / "html"
# The page is whole: formulas are set, fonts are there, and observers of sizes have been called,
# which is at the end of a frame.
SETTLED = """async () => {
  if (window.MathJax) await window.MathJax.startup.promise;
  await document.fonts.ready;
  await new Promise(requestAnimationFrame);
  await new Promise(requestAnimationFrame);
}"""


def module_at(path):
    """Return a module that belongs to no package."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


serve = module_at(ROOT / "tools" / "serve.py")
CHROMIUM = serve.CHROMIUM


def built_pages():
    """Return the names of the built pages; the first one only leads to another."""
    found = [*HTML.glob("*.html"), *HTML.glob("book/**/*.html"), *HTML.glob("notebooks/*.html")]
    return sorted({path.relative_to(HTML).as_posix() for path in found} - {"index.html"})


# No rule that is on needs style sheets or media fetched again, which axe would do by itself; some
# of them it would look for in the wrong folder.
AXE = {"resultTypes": ["violations"], "preload": False}
# One page of each kind. `test_kinds.py` finds on them every element, class and script that any page
# has, so that the rules of style and the scripts meet in `make test` whatever they meet in the
# book. What hangs on the content of a page alone (a formula too wide for its column) is looked at
# on every page each night, and in `make test` on these.
KINDS = (
    "404.html",
    "book/api/experiments.html",
    "book/bibliography.html",
    "book/cheat_sheet.html",
    "book/glossary.html",
    "book/intro.html",
    "book/notation.html",
    "book/reproductions.html",
    "genindex.html",
    "notebooks/ensembles_as_kernels.html",
    "notebooks/which_machine_when.html",
    "search.html",
)


def formulas_of(name):
    """Return the number of formulas of a built page; they take most of the time of loading it."""
    return (HTML / name).read_text(encoding="utf-8").count('<span class="math')


def lightest_chapters():
    """Return the pages of the chapters, those with the fewest formulas first."""
    chapters = (name for name in built_pages() if name.startswith("notebooks/"))
    return sorted(chapters, key=formulas_of)


def kinds_first(names, often=KINDS):
    """Return parameters for pages: in `make test` one of each kind, all of them each night."""
    return [
        pytest.param(name, marks=() if name in often else pytest.mark.nightly) for name in names
    ]


@dataclass
class Visit:
    """An open page, what it fetched, the first of it on loading, and complaints of the browser."""

    page: object
    name: str
    requests: list = field(default_factory=list)
    complaints: list = field(default_factory=list)
    loaded: int = 0

    def show(self, width, theme):
        self.page.set_viewport_size({"width": width, "height": 900})
        self.page.evaluate("theme => { document.documentElement.dataset.theme = theme }", theme)
        self.page.evaluate(SETTLED)


@pytest.fixture(scope="package")
def book():
    """Skip what reads the built book where there is none; give its folder."""
    if not HTML.is_dir():
        pytest.skip("the book is not built: make html")
    return HTML


@pytest.fixture(scope="package")
def site(book):
    """Serve the book as `make book` does, and give its address."""
    with serve.serving(book) as address:
        yield address


@pytest.fixture(scope="package")
def browser():
    """Start the system's Chromium."""
    driver = pytest.importorskip("playwright.sync_api")
    if CHROMIUM is None:
        pytest.skip("no Chromium: apt-get install chromium")
    goto = driver.Page.goto

    def counted(page, *args, **kwargs):
        sys.audit("tests.page")  # for tests/budget.py
        return goto(page, *args, **kwargs)

    with driver.sync_playwright() as playwright, pytest.MonkeyPatch.context() as patch:
        patch.setattr(driver.Page, "goto", counted)
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield started
        started.close()


@pytest.fixture(scope="package")
def visit(site, browser):
    """Give a function that opens a page of the book in a tab of its own."""
    context = browser.new_context(reduced_motion="reduce")

    def open_page(name, html=None):
        """Open a page, with other content where some is given."""
        visited = Visit(context.new_page(), name)
        page = visited.page
        if html:
            answer = {"body": html, "content_type": "text/html; charset=utf-8"}
            page.route(site + name, lambda route: route.fulfill(**answer))
        requests, complaints = visited.requests, visited.complaints
        page.on("requestfinished", lambda request: requests.append(request))
        page.on("requestfailed", lambda request: complaints.append(request.url))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on(
            "console",
            lambda told: (
                told.type == "error" and complaints.append(f"{told.text} {told.location['url']}")
            ),
        )
        page.goto(site + name)
        page.evaluate(SETTLED)
        visited.loaded = len(requests)
        return visited

    yield open_page
    context.close()


@pytest.fixture(params=built_pages())
def built(request):
    """Each page in turn, as a file."""
    return HTML / request.param


@pytest.fixture(scope="package", params=kinds_first(built_pages()))
def visited(request, visit):
    """Each page in turn with all folds open, loaded once for all tests that look at it.

    In `make test` these are the pages of `KINDS`.
    """
    opened = visit(request.param)
    opened.page.evaluate("() => document.querySelectorAll('details').forEach(d => d.open = true)")
    yield opened
    opened.page.close()
