"""Pages in a browser: no clipped content, no requests to other hosts, no accessibility errors."""

import contextlib

import pytest

from .conftest import AXE_OPTIONS, built_pages, mark_nightly

playwright = pytest.importorskip("playwright.sync_api")


WIDTHS = (360, 768, 1280, 1920)
# Messages about content of the article that readers cannot reach. A box that scrolls sideways must
# be focusable, a box that hides its overflow is clipped, and content that overflows the article is
# covered by other content.
OVERFLOW_PROBLEMS = """() => {
  const article = document.querySelector(".bd-article");
  if (!article) return [];
  const problems = [], edge = article.getBoundingClientRect().right + 1;
  const report = (what, box) => problems.push(`${what}: ${box.outerHTML.slice(0, 120)}`);
  const check = (box, inScroller) => {
    const style = getComputedStyle(box), isWide = box.scrollWidth > box.clientWidth + 4;
    const scrolls = ["auto", "scroll"].includes(style.overflowX) && box.clientWidth > 0;
    if (isWide && scrolls && box.tabIndex !== 0) report("scrolls but is not focusable", box);
    // Panels of drawings, and text for screen readers, are clipped on purpose.
    const isClippedOnPurpose = box.matches(".panel, .visually-hidden");
    if (isWide && style.overflowX === "hidden" && !isClippedOnPurpose) report("is clipped", box);
    if (!inScroller && box.getBoundingClientRect().right > edge) return report("overflows", box);
    if (isClippedOnPurpose || ["MJX-CONTAINER", "svg"].includes(box.tagName)) return;
    for (const child of box.children) check(child, inScroller || scrolls);
  };
  check(article, false);
  const root = document.documentElement;
  if (root.scrollWidth > root.clientWidth) problems.push("the whole page scrolls sideways");
  return problems;
}"""


def test_nothing_is_clipped_at_any_width(visited):
    problems = {}
    for width in WIDTHS:
        visited.show(width, "light")
        # Wait, since scrollers.js sets tab stops after a delay.
        with contextlib.suppress(playwright.TimeoutError):
            visited.page.wait_for_function(f"() => !({OVERFLOW_PROBLEMS})().length", timeout=3000)
        if found := visited.page.evaluate(OVERFLOW_PROBLEMS):
            problems[width] = found
    assert not problems


def test_page_requests_no_other_host_and_raises_no_error(visited, site):
    assert [request.url for request in visited.requests if not request.url.startswith(site)] == []
    assert visited.errors == []


def test_page_is_small(visited):
    """The bytes loaded with a page, uncompressed, are limited."""
    limit = 1_000_000 if visited.name == "book/intro.html" else 2_000_000
    initial = visited.requests[: visited.n_initial_requests]  # without lazy pictures
    sizes = {request.url: len(request.response().body()) for request in initial}
    assert sum(sizes.values()) < limit, sorted(sizes.items(), key=lambda item: -item[1])[:8]


# Remove content that axe need not check: spans of code with the same classes as an earlier one, all
# formulas, and table rows from the sixth on without links. `undo` collects the functions that
# restore it.
REMOVE_UNCHECKED_CONTENT = """() => {
  const seen = new Set();
  const replace = (text, box) => {
    const node = document.createTextNode(text);
    box.replaceWith(node);
    undo.push(() => node.replaceWith(box));
  };
  for (const span of document.querySelectorAll("pre span[class]:not(:has(*))")) {
    if (seen.has(span.className)) replace(span.textContent, span);
    seen.add(span.className);
  }
  document.querySelectorAll("mjx-container").forEach(formula => replace("x", formula));
  const plainRows = "tbody > tr:nth-child(n + 6):not(:has(a, img, button))";
  for (const row of document.querySelectorAll(plainRows)) {
    const placeholder = document.createTextNode("");
    row.replaceWith(placeholder);
    undo.push(() => placeholder.replaceWith(row));
  }
}"""
# Remove text if earlier text has the same ancestors, with the same classes and colours.
REMOVE_TEXT_OF_REPEATED_STYLE = """() => {
  const seen = new Set(), kinds = new Map([[null, ""]]);
  const kind = box => {
    if (!kinds.has(box)) {
      const { color, backgroundColor } = getComputedStyle(box);
      const style = [box.tagName, box.className, color, backgroundColor, box.style.cssText];
      kinds.set(box, `${kind(box.parentElement)}/${style}`);
    }
    return kinds.get(box);
  };
  for (const box of document.body.querySelectorAll("*")) {
    const texts = [...box.childNodes].filter(node => node.nodeType === Node.TEXT_NODE);
    if (!box.checkVisibility() || !texts.some(text => text.data.trim())) continue;
    for (const text of seen.has(kind(box)) ? texts : []) {
      const { data } = text;
      text.data = "";
      undo.push(() => { text.data = data; });
    }
    seen.add(kind(box));
  }
}"""
DAILY_PAGES = ("book/intro.html", "notebooks/prototype_svms.html")
ONLY_CONTRAST = {"runOnly": ["color-contrast"]}
NO_CONTRAST = {"rules": {"color-contrast": {"enabled": False}}}


@pytest.fixture(scope="module")
def axe():
    return pytest.importorskip("axe_playwright_python.sync_playwright").Axe()


def find_violations(axe, visited, passes):
    """Return the reports of axe on violations.

    Each pass has a width, a theme, options, and a script that removes content before the pass.
    """
    reports = []
    visited.page.evaluate("() => { window.undo = []; }")
    for width, theme, options, remove_content in passes:
        visited.show(width, theme)
        visited.page.evaluate(remove_content)
        result = axe.run(visited.page, options={**AXE_OPTIONS, **options})
        reports += [result.generate_report()] * bool(result.violations_count)
    visited.page.evaluate("() => undo.reverse().forEach(restore => restore())")
    return "\n".join(reports)


def test_axe_finds_no_violation(visited, axe):
    passes = [
        (1280, "light", NO_CONTRAST, REMOVE_UNCHECKED_CONTENT),
        (1280, "light", ONLY_CONTRAST, REMOVE_TEXT_OF_REPEATED_STYLE),
    ]
    assert not find_violations(axe, visited, passes)


# Only colours depend on the theme, and all pages have the colours of a chapter.
@pytest.mark.parametrize("visited", mark_nightly(built_pages(), DAILY_PAGES), indirect=True)
def test_axe_finds_no_violation_on_a_phone_and_in_the_dark_theme(visited, axe):
    passes = [
        (390, "light", NO_CONTRAST, REMOVE_UNCHECKED_CONTENT),
        (1280, "dark", ONLY_CONTRAST, REMOVE_TEXT_OF_REPEATED_STYLE),
    ]
    assert not find_violations(axe, visited, passes)
