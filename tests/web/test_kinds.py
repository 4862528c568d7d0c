"""The pages that `make test` opens in a browser have everything in them that any page has."""

import re
from html.parser import HTMLParser

from .conftest import HTML, KINDS, built_pages

# Coloured words of code: the colours are those of a handful of classes for each theme, which
# `test_axe_finds_nothing` looks at each night where they are rare.
CODE = "highlight"
# Drawings that move; test_explorables.py opens each of them.
EXPLORABLE = "explorable"
# The previews of one page's links; each page has such a script of its own.
PREVIEWS = re.compile(r"tippy/.*[0-9a-f]{8}-[0-9a-f-]+\.js$")
VOID = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "wbr"}
# Variants of what the opened pages have: a box "See also" is an admonition, a caption by hand looks
# like that of a cell's table, and alignment at the left and a block named as Python are the rule.
ONLY_EACH_NIGHT = {
    ("caption", ""),
    ("div", "highlight-python"),
    ("div", "seealso"),
    ("td", "text-left"),
    ("th", "text-left"),
}


class Parts(HTMLParser):
    """Collect the elements of a page, each with each of its classes, and the scripts it loads."""

    def __init__(self):
        super().__init__()
        self.found, self.inside = set(), []

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        classes = (values.get("class") or "").split()
        hidden = bool(self.inside) and self.inside[-1][1]
        if not hidden:
            self.found |= {(tag, name) for name in classes or [""] if not name.startswith("tag_")}
        address = (values.get("src") or "").partition("?")[0]
        if tag == "script" and not PREVIEWS.search(address):
            self.found.add((tag, address.rpartition("/")[2]))
        if tag not in VOID:
            self.inside.append((tag, hidden or CODE in classes or EXPLORABLE in classes))

    def handle_endtag(self, tag):
        while self.inside and self.inside.pop()[0] != tag:
            pass


def parts(name):
    """Return what there is on a page."""
    page = Parts()
    page.feed((HTML / name).read_text(encoding="utf-8"))
    return page.found


def test_each_element_class_and_script_is_on_a_page_that_the_browser_opens(book):
    opened = set().union(*map(parts, KINDS))
    missing = {
        name: found for name in built_pages() if (found := parts(name) - opened - ONLY_EACH_NIGHT)
    }
    assert missing == {}
