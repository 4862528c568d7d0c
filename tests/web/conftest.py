"""The built pages, served once and opened in the system's Chromium; each page is loaded once."""

import importlib.util
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
def site():
    """Serve the book as `make book` does, and give its address."""
    if not HTML.is_dir():
        pytest.skip("the book is not built: make html")
    with serve.serving(HTML) as address:
        yield address


@pytest.fixture(scope="package")
def browser():
    """Start the system's Chromium."""
    driver = pytest.importorskip("playwright.sync_api")
    if CHROMIUM is None:
        pytest.skip("no Chromium: apt-get install chromium")
    with driver.sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield started
        started.close()


@pytest.fixture(scope="package")
def visit(site, browser):
    """Give a function that opens a page of the book in a tab of its own."""
    context = browser.new_context(reduced_motion="reduce")

    def open_page(name):
        visited = Visit(context.new_page(), name)
        page = visited.page
        requests, complaints = visited.requests, visited.complaints
        page.on("requestfinished", lambda request: requests.append(request))
        page.on("requestfailed", lambda request: complaints.append(request.url))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("console", lambda told: told.type == "error" and complaints.append(told.text))
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


@pytest.fixture(scope="package", params=built_pages())
def visited(request, visit):
    """Each page in turn with all folds open, loaded once for all tests that look at it."""
    opened = visit(request.param)
    opened.page.evaluate("() => document.querySelectorAll('details').forEach(d => d.open = true)")
    yield opened
    opened.page.close()
