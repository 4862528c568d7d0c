"""Each page in a browser: nothing is cut, nothing comes from elsewhere, nothing is inaccessible."""

import contextlib

import pytest

from .conftest import AXE, built_pages, kinds_first

playwright = pytest.importorskip("playwright.sync_api")


WIDTHS = (360, 768, 1280, 1920)
# What of the article hides a part of itself. A box that scrolls sideways must take focus, one that
# hides its overflow is cut, and what sticks out of the article lies under something else.
CUT = """() => {
  const article = document.querySelector(".bd-article");
  if (!article) return [];
  const found = [], edge = article.getBoundingClientRect().right + 1;
  const tell = (what, box) => found.push(`${what}: ${box.outerHTML.slice(0, 120)}`);
  const look = (box, inScroller) => {
    const style = getComputedStyle(box), wide = box.scrollWidth > box.clientWidth + 4;
    const scrolls = ["auto", "scroll"].includes(style.overflowX) && box.clientWidth > 0;
    if (wide && scrolls && box.tabIndex !== 0) tell("scrolls without focus", box);
    // A window on one panel of a drawing, and words for those alone who listen.
    const meant = box.matches(".panel, .visually-hidden");
    if (wide && style.overflowX === "hidden" && !meant) tell("hides its end", box);
    if (!inScroller && box.getBoundingClientRect().right > edge) return tell("sticks out", box);
    if (meant || ["MJX-CONTAINER", "svg"].includes(box.tagName)) return;
    for (const child of box.children) look(child, inScroller || scrolls);
  };
  look(article, false);
  const root = document.documentElement;
  if (root.scrollWidth > root.clientWidth) found.push("the whole page scrolls sideways");
  return found;
}"""


def test_nothing_is_cut_at_any_width(visited):
    cut = {}
    for width in WIDTHS:
        visited.show(width, "light")
        with contextlib.suppress(playwright.TimeoutError):  # tab stops follow by and by
            visited.page.wait_for_function(f"() => !({CUT})().length", timeout=3000)
        if found := visited.page.evaluate(CUT):
            cut[width] = found
    assert not cut


def test_a_page_asks_nobody_else_and_raises_no_error(visited, site):
    assert [request.url for request in visited.requests if not request.url.startswith(site)] == []
    assert visited.complaints == []


def test_a_page_is_light(visited):
    """Count what loading fetched, as it is when it is not compressed, in bytes."""
    if visited.name.startswith("notebooks/"):
        most = 2_500_000
    else:
        most = 1_000_000 if visited.name == "book/intro.html" else 2_000_000
    loaded = visited.requests[: visited.loaded]  # a picture further down comes when it is near
    weights = {request.url: len(request.response().body()) for request in loaded}
    assert sum(weights.values()) < most, sorted(weights.items(), key=lambda one: -one[1])[:8]


# What axe would look at thousands of times: one span of each colour stands for all of its kind, a
# letter for a formula, and the first rows of a table for those of words and numbers alone. ``back``
# holds what puts everything where it was.
THIN = """() => {
  const seen = new Set();
  const put = (text, box) => {
    const letters = document.createTextNode(text);
    box.replaceWith(letters);
    back.push(() => letters.replaceWith(box));
  };
  for (const span of document.querySelectorAll("pre span[class]:not(:has(*))")) {
    if (seen.has(span.className)) put(span.textContent, span);
    seen.add(span.className);
  }
  document.querySelectorAll("mjx-container").forEach(formula => put("x", formula));
  const plain = "tbody > tr:nth-child(n + 6):not(:has(a, img, button))";
  for (const row of document.querySelectorAll(plain)) {
    const place = document.createTextNode("");
    row.replaceWith(place);
    back.push(() => place.replaceWith(row));
  }
}"""
# Text is empty where other text stands in boxes of the same kinds, with the same colours.
ONE_OF_A_KIND = """() => {
  const seen = new Set(), kinds = new Map([[null, ""]]);
  const kind = box => {
    if (!kinds.has(box)) {
      const { color, backgroundColor } = getComputedStyle(box);
      const own = [box.tagName, box.className, color, backgroundColor, box.style.cssText];
      kinds.set(box, `${kind(box.parentElement)}/${own}`);
    }
    return kinds.get(box);
  };
  for (const box of document.body.querySelectorAll("*")) {
    const texts = [...box.childNodes].filter(one => one.nodeType === Node.TEXT_NODE);
    if (!box.checkVisibility() || !texts.some(one => one.data.trim())) continue;
    for (const one of seen.has(kind(box)) ? texts : []) {
      const { data } = one;
      one.data = "";
      back.push(() => { one.data = data; });
    }
    seen.add(kind(box));
  }
}"""
ON_A_PHONE = ("book/intro.html", "notebooks/prototype_svms.html")
COLOURS = {"runOnly": ["color-contrast"]}
THE_REST = {"rules": {"color-contrast": {"enabled": False}}}


@pytest.fixture(scope="module")
def axe():
    return pytest.importorskip("axe_playwright_python.sync_playwright").Axe()


def found_by(axe, visited, passes):
    """Return what axe complains of, for widths, themes, rules and what is taken out before."""
    found = []
    visited.page.evaluate("() => { window.back = []; }")
    for width, theme, options, less in passes:
        visited.show(width, theme)
        visited.page.evaluate(less)
        result = axe.run(visited.page, options={**AXE, **options})
        found += [result.generate_report()] * bool(result.violations_count)
    visited.page.evaluate("() => back.reverse().forEach(put => put())")
    return "\n".join(found)


# In `make test` axe looks at one page of each kind.
def test_axe_finds_nothing(visited, axe):
    found = found_by(
        axe, visited, [(1280, "light", THE_REST, THIN), (1280, "light", COLOURS, ONE_OF_A_KIND)]
    )
    assert not found, found


# Only the colours hang on the theme, and they are those of a chapter everywhere.
@pytest.mark.parametrize("visited", kinds_first(built_pages(), ON_A_PHONE), indirect=True)
def test_axe_finds_nothing_on_a_phone_and_in_the_dark(visited, axe):
    found = found_by(
        axe, visited, [(390, "light", THE_REST, THIN), (1280, "dark", COLOURS, ONE_OF_A_KIND)]
    )
    assert not found, found
