"""The colophon: what was measured of the pages, and that it is what the book promises."""

import html
import json
import re

import pytest

from .conftest import ROOT

RECORD = json.loads((ROOT / "book" / "results" / "web.json").read_text(encoding="utf-8"))
LIMITS = {  # at most: seconds, milliseconds, and kilobytes of an explorable
    "first result after the click, the slowest of 5 (s)": 10,
    "next results, median of 20 (s)": 0.3,
    "60 points in node, the slowest of 250 fits (ms)": 16,
    "largest relative duality gap of these": 1e-6,
    "heaviest explorable with its script (kB)": 150,
}


@pytest.mark.parametrize("what", LIMITS)
def test_what_was_measured_is_within_its_limit(what):
    assert 0 < RECORD["measured"][what] <= LIMITS[what]


def test_nobody_is_cut_off():
    readers, kernels = 50, 8
    told = RECORD["measured"][f"of {readers} readers at {kernels} kernels, told to wait"]
    assert readers // 2 <= told <= readers - kernels
    assert RECORD["measured"]["crashed their kernel, and were told so"] == readers // 5
    assert RECORD["measured"]["the others, served and not disturbed"] == readers - readers // 5


def test_the_page_shows_all_of_it_and_with_what_it_was_built(book):
    page = book / "book" / "colophon.html"
    shown = html.unescape(re.sub(r"<[^>]+>", "", page.read_text(encoding="utf-8")))
    for what, value in RECORD["measured"].items():
        assert what in shown and f"{value:,}" in shown
    assert RECORD["date"] in shown and "scikit-learn" in shown and "Chromium" in shown
