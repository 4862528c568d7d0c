"""The pages that `make test` opens contain every pair of element and class, and every script."""

import re
from html.parser import HTMLParser

from .conftest import HTML, SAMPLE_PAGES, built_pages

# Highlighted code, whose few classes of colours are checked on all pages every night by
# `test_axe_finds_no_violation`.
CODE_CLASS = "highlight"
# Interactive figures are tested by test_explorables.py.
EXPLORABLE_CLASS = "explorable"
# The script with the previews of links; each page has its own.
PREVIEW_SCRIPT = re.compile(r"tippy/.*[0-9a-f]{8}-[0-9a-f-]+\.js$")
VOID_ELEMENTS = {
    *("area", "base", "br", "col", "embed", "hr", "img"),
    *("input", "link", "meta", "source", "wbr"),
}
# Parts not needed on the sample pages, as they look like others: "See also" is an admonition, a
# manual caption looks like a generated one, and left alignment and Python code are the default.
NIGHTLY_ONLY_PARTS = {
    ("caption", ""),
    ("div", "highlight-bibtex"),
    ("div", "highlight-python"),
    ("div", "seealso"),
    ("style", ""),  # of a data frame
    ("table", "dataframe"),
    ("td", "text-left"),
    ("th", ""),
    ("th", "text-left"),
}


class PartCollector(HTMLParser):
    """Collect pairs of element and class on a page, and the scripts that it loads."""

    def __init__(self):
        super().__init__()
        self.parts, self.open_tags = set(), []  # pairs (tag, whether its content is ignored)

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        classes = (values.get("class") or "").split()
        is_ignored = bool(self.open_tags) and self.open_tags[-1][1]
        if not is_ignored:
            self.parts |= {(tag, name) for name in classes or [""] if not name.startswith("tag_")}
        address = (values.get("src") or "").partition("?")[0]
        if tag == "script" and not PREVIEW_SCRIPT.search(address):
            self.parts.add((tag, address.rpartition("/")[2]))
        if tag not in VOID_ELEMENTS:
            ignores_content = CODE_CLASS in classes or EXPLORABLE_CLASS in classes
            self.open_tags.append((tag, is_ignored or ignores_content))

    def handle_endtag(self, tag):
        while self.open_tags and self.open_tags.pop()[0] != tag:
            pass


def page_parts(name):
    """Return the elements, classes and scripts of a page."""
    collector = PartCollector()
    collector.feed((HTML / name).read_text(encoding="utf-8"))
    return collector.parts


def test_sample_pages_contain_every_element_class_and_script(book):
    covered = NIGHTLY_ONLY_PARTS.union(*map(page_parts, SAMPLE_PAGES))
    missing = {name: found for name in built_pages() if (found := page_parts(name) - covered)}
    assert missing == {}
