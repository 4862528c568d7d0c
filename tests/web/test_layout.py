"""The layout of pages: no scrolling on wide screens, numbered tables, and printing."""

import re

from .conftest import chapters_by_formula_count

SCROLLING_BOXES = """() => [...document.querySelectorAll(
  ".bd-article :is(mjx-container, pre, .pst-scrollable-table-container)")]
  .filter(box => box.scrollWidth > box.clientWidth + 4).map(box => box.textContent.slice(0, 80))"""


def test_no_box_scrolls_on_a_wide_screen(visited):
    visited.show(1280, "light")
    assert visited.page.evaluate(SCROLLING_BOXES) == []


def test_labelled_tables_have_numbers_and_captions(page_file):
    html = page_file.read_text(encoding="utf-8")
    tables = re.findall(r'<figure class="[^"]*of-table[^"]*" id="(.*?)">(.*?)</fig', html, re.S)
    tables += re.findall(r'<table[^>]* id="(tab-.*?)">(.*?)</table', html, re.S)  # written by hand
    assert len(tables) == html.count('id="tab-')
    # Notes are not chapters, so their tables have no chapter number.
    number = r"\d+" if page_file.parent.name == "notes" else r"\d+\.\d+"
    for label, content in tables:
        assert re.search(rf'caption-number">Table {number} ', content), label


PRINTED_STYLE = """() => {
  const style = selector => getComputedStyle(document.querySelector(selector));
  const isShown = selector => [...document.querySelectorAll(selector)].some(e => e.offsetWidth);
  return {
    text: style(".bd-article p").color,
    code: style(".bd-article pre span").color,
    background: style("body").backgroundColor,
    wrapping: style(".bd-article pre").whiteSpace,
    drawings: style(".bd-article figure img").filter,
    navigation: isShown(".bd-sidebar, .bd-header-article, .prev-next-footer"),
    closedSolutions: isShown("details.solution:not([open])"),
    openSolutions: isShown("details.solution[open] section"),
  };
}"""


def test_printed_page_is_black_on_white_and_omits_closed_solutions(visit):
    visited = visit(chapters_by_formula_count()[0])
    visited.show(1280, "dark")
    page = visited.page
    page.locator("details.solution").first.evaluate("solution => { solution.open = true }")
    page.emulate_media(media="print")
    black, white = "rgb(0, 0, 0)", "rgb(255, 255, 255)"
    assert page.evaluate(PRINTED_STYLE) == {
        "text": black, "code": black, "background": white, "wrapping": "pre-wrap",
        "drawings": "none", "navigation": False,
        "closedSolutions": False, "openSolutions": True,
    }  # fmt: skip
    page.close()
