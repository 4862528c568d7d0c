"""The markup of the built pages is valid: an HTML5 parser finds no errors."""

from collections import Counter

import pytest

from .conftest import HTML, built_pages, mark_nightly

html5lib = pytest.importorskip("html5lib")


@pytest.mark.parametrize("name", mark_nightly(built_pages()))
def test_markup_is_valid(name):
    parser = html5lib.HTMLParser(namespaceHTMLElements=False)
    tree = parser.parse((HTML / name).read_text(encoding="utf-8"))
    assert parser.errors == []
    ids = Counter(element.get("id") for element in tree.iter() if element.get("id"))
    assert [name for name, count in ids.items() if count > 1] == []
