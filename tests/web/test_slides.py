"""tools/slides.py and tools/cross_references.py: the slide decks, as files and in Chromium."""

import re

import cross_references
import nbformat
import pytest
import slides
from bs4 import BeautifulSoup

from .conftest import HTML, ROOT, mark_nightly

DECKS = ROOT / "_build" / "slides"
CHAPTERS = [chapter.name for chapter in cross_references.read_chapters(ROOT)]
SAMPLE_CHAPTERS = ("dual_svm", "which_machine_when")
ACCEPTED_SLIDE_COUNTS = range(15, 26)  # per chapter
MIN_FONT_SIZE = 16  # on a slide of 1280 x 720 pixels, as in deck.js
# The elements of the current slide that reach beyond it.
OVERFLOWING_ELEMENTS = """() => {
  const slide = document.querySelector("section.present .frame");
  const elements = [...slide.querySelectorAll("*:not(mjx-container *)")];
  return elements.filter(element => {
    const edges = element.getBoundingClientRect();
    return edges.right > 1281 || edges.bottom > 721 || edges.left < -1 || edges.top < -1;
  }).map(element => element.outerHTML.slice(0, 80));
}"""
FRAME_STATES = """() => [...document.querySelectorAll(".frame")].map(frame => ({
  fontSize: parseFloat(frame.style.fontSize),
  overflows: frame.classList.contains("overflowing"),
  title: frame.querySelector("h1, h2").textContent,
}))"""


@pytest.fixture(scope="module")
def decks():
    """Return the parsed deck of each chapter."""
    if not DECKS.is_dir():
        pytest.skip("the slides have not been built: run `make slides`")
    return {
        name: BeautifulSoup((DECKS / f"{name}.html").read_text(encoding="utf-8"), "html.parser")
        for name in CHAPTERS
    }


@pytest.fixture(scope="module")
def reference_texts():
    """Return the text of a reference to each label."""
    return cross_references.CrossReferences().texts


@pytest.fixture
def text_cell():
    """Return a text cell with two formulas."""
    source = "$$\na = b\n$$\n\n```{math}\n:label: eq-c\na = c\n```\n"
    return nbformat.v4.new_markdown_cell(source)


def test_each_chapter_has_a_deck_of_fifteen_to_twenty_five_slides(decks):
    counts = {name: len(deck.select("section")) for name, deck in decks.items()}
    assert not {name: count for name, count in counts.items() if count not in ACCEPTED_SLIDE_COUNTS}
    index = BeautifulSoup((DECKS / "index.html").read_text(encoding="utf-8"), "html.parser")
    listed = [row.select("td")[2].text for row in index.select("tbody tr")]
    assert listed == [str(counts[name]) for name in CHAPTERS]


def test_each_slide_has_a_question_in_its_notes(decks):
    without_question = [
        (name, slide.h2.text)
        for name, deck in decks.items()
        for slide in deck.select("section")[1:]
        if "?" not in slide.select_one("aside.notes").text
    ]
    assert without_question == []


def test_decks_begin_with_the_question_and_end_with_the_summary(decks):
    for deck in decks.values():
        first, *_, exercise_slide, last = deck.select("section")
        assert first.h1 and first.em.text.rstrip(".").endswith("?")
        assert exercise_slide.h2.text == "Your turn"
        assert "Exercise" in exercise_slide.select_one(".box").text
        assert last.select_one(".summary") and len(last.select_one(".summary").text) > 500


def test_slides_contain_no_markdown(decks):
    markup = re.compile(r"\{[\w:]+\}`|^:label:|```|:::|\*\*|(?<![\\\w])\$(?=\S)", re.M)
    for deck in decks.values():
        for code in deck.select("pre, code"):
            code.extract()
        assert markup.findall(deck.select_one(".slides").text) == []


@pytest.mark.parametrize("name", mark_nightly(CHAPTERS, SAMPLE_CHAPTERS))
def test_references_have_the_numbers_of_the_book(book, reference_texts, name):
    html = (HTML / "notebooks" / f"{name}.html").read_text(encoding="utf-8")
    page = BeautifulSoup(html, "html.parser")
    printed = {
        number.a["href"].removeprefix("#equation-"): number.contents[0]
        for number in page.select("span.eqno")
    }
    for box in page.select("figure[id], div.theorem[id], div.exercise[id]"):
        if number := box.select_one(".caption-number"):
            printed[box["id"]] = number.text.strip().replace("Fig.", "Figure")
    assert len(printed) > 10
    assert {label: reference_texts.get(label) for label in printed} == printed


def test_parts_are_found_by_label_or_fragment_and_unknown_parts_and_roles_raise(text_cell):
    renderer = slides.SlideRenderer(cross_references.CrossReferences())
    renderer.references.texts["eq-c"] = "(7.3)"
    assert r"\[a = c \tag{7.3}\]" in renderer.part(text_cell, "eq-c")
    assert r"\[a = b\]" in renderer.part(text_cell, "$= b")
    with pytest.raises(ValueError, match="no part"):
        renderer.part(text_cell, "$= d")
    with pytest.raises(ValueError, match="cannot show the role"):
        renderer.text("{cite:t}`cortes1995`")


def test_panels_of_a_tall_drawing_are_put_side_by_side():
    def render_drawing(height, *boxes):
        size = f'width="300pt" height="{height}pt"'
        return slides.picture(f'<svg data-panels="{", ".join(boxes)}" {size}>', "three panels")

    panels = "0 0 0.9 0.3", "0 0.3 0.9 0.3", "0 0.6 0.9 0.4"
    assert render_drawing(400, *panels).count("<span") == 3
    for whole in (
        render_drawing(200, *panels),
        render_drawing(400, *panels[:2]),
        render_drawing(400, *panels[::-1]),
    ):
        assert whole.startswith("<img") and 'alt="three panels"' in whole


def open_deck(browser, name, query=""):
    """Open a deck as a local file; return the page, its requests and its errors."""
    page, requests, errors = browser.new_page(viewport={"width": 1280, "height": 720}), [], []
    page.on("request", lambda request: requests.append(request.url))
    page.on("requestfailed", lambda request: errors.append(request.url))
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(f"{(DECKS / name).as_uri()}.html{query}")
    page.wait_for_function("() => window.Reveal?.isReady()")
    return page, requests, errors


@pytest.mark.parametrize("name", mark_nightly(CHAPTERS, SAMPLE_CHAPTERS))
def test_no_slide_overflows_and_no_file_is_loaded_from_another_host(decks, browser, name):
    page, requests, errors = open_deck(browser, name)
    frames = page.evaluate(FRAME_STATES)
    faulty_frames = [
        frame for frame in frames if frame["overflows"] or frame["fontSize"] < MIN_FONT_SIZE
    ]
    assert faulty_frames == []
    for index, frame in enumerate(frames):
        page.evaluate("index => Reveal.slide(index)", index)
        assert page.evaluate(OVERFLOWING_ELEMENTS) == [], frame["title"]
    assert page.locator("mjx-merror").count() == 0
    assert errors == []
    assert [url for url in requests if not url.startswith(("file:", "data:"))] == []
    page.close()


def test_deck_prints_one_page_per_slide(decks, browser, tmp_path):
    pypdf = pytest.importorskip("pypdf")
    page, _, _ = open_deck(browser, "dual_svm", "?print-pdf")
    page.wait_for_selector(".pdf-page")
    path = tmp_path / "deck.pdf"
    page.pdf(path=path, prefer_css_page_size=True, print_background=True)
    page.close()
    pages = pypdf.PdfReader(path).pages
    titles = [slide.h2.text for slide in decks["dual_svm"].select("section")[1:]]
    assert len(pages) == len(titles) + 1
    assert "Several lines separate two classes" in pages[1].extract_text()
