"""The colophon: the recorded measurements of the pages are within their limits and are shown."""

import html
import itertools
import json
import re

import pytest

from .conftest import ROOT

RESULTS = ROOT / "book" / "results"
RECORD = json.loads((RESULTS / "web.json").read_text(encoding="utf-8"))
SCORES = json.loads((RESULTS / "lighthouse.json").read_text(encoding="utf-8"))["scores"]
MIN_SCORES = {  # smallest accepted Lighthouse scores, by device
    "desktop": {"Performance": 95, "Accessibility": 100, "Best Practices": 100, "SEO": 95},
    "phone": {"Performance": 80, "Accessibility": 100, "Best Practices": 100, "SEO": 95},
}
MAX_VALUES = {  # largest accepted values
    "slowest of 5 first results after the click (s)": 10,
    "further results, median of 20 (s)": 0.3,
    "slowest of 250 SVM fits with 60 points in Node.js (ms)": 16,
    "largest relative duality gap of these fits": 1e-6,
    "largest interactive figure with its script (kB)": 150,
}


@pytest.mark.parametrize("name", MAX_VALUES)
def test_measurement_is_within_its_limit(name):
    assert 0 < RECORD["measured"][name] <= MAX_VALUES[name]


def test_all_readers_are_served():
    measured, n_readers, n_kernels = RECORD["measured"], 50, 8
    n_waiting = measured[f"readers asked to wait, of {n_readers} on {n_kernels} kernels"]
    assert n_readers // 2 <= n_waiting <= n_readers - n_kernels
    n_informed = measured["readers informed that their kernel had crashed"]
    assert n_informed == n_readers // 5
    assert measured["other readers, served without interruption"] == n_readers - n_informed


@pytest.mark.parametrize("device", SCORES)
def test_every_page_is_measured_by_lighthouse(book, device):
    pages = (path.relative_to(book) for path in book.rglob("*.html"))
    assert SCORES[device].keys() == {p.as_posix() for p in pages if p.parts[0] != "_static"}


@pytest.mark.parametrize(
    ("device", "category"), list(itertools.product(SCORES, MIN_SCORES["desktop"]))
)
def test_lighthouse_scores_reach_the_minimum_on_every_page(device, category):
    min_score = MIN_SCORES[device][category]
    assert {
        name for name, scores in SCORES[device].items() if scores[category] < min_score
    } == set()


def test_page_shows_measurements_and_versions(book):
    page = book / "book" / "colophon.html"
    text = html.unescape(re.sub(r"<[^>]+>", "", page.read_text(encoding="utf-8")))
    for name, value in RECORD["measured"].items():
        assert name in text and f"{value:,}" in text
    assert RECORD["date"] in text and "scikit-learn" in text and "Chromium" in text
