"""The PDF: page numbers, links within the file, all formulas, and solutions at the end."""

import re
import subprocess
import sys
import unicodedata
from collections import Counter

import pytest

from .conftest import CHROMIUM, ROOT

pypdf = pytest.importorskip("pypdf")
PAGES = ["book/bibliography", "notebooks/ensembles_as_kernels"]
pytestmark = pytest.mark.nightly


@pytest.fixture(scope="module")
def pdf(book, tmp_path_factory):
    """Print two pages of the book into one PDF."""
    if CHROMIUM is None:
        pytest.skip("no Chromium: apt-get install chromium")
    path = tmp_path_factory.mktemp("pdf") / "book.pdf"
    command = [sys.executable, ROOT / "tools" / "pdf.py", path, *PAGES]
    process = subprocess.run(command, capture_output=True, text=True)
    assert process.returncode == 0, process.stderr
    return pypdf.PdfReader(path)


def page_text(page):
    """Return the text of a page, with ligatures as separate letters."""
    return " ".join(unicodedata.normalize("NFKC", page.extract_text()).split())


def test_pages_are_numbered_as_in_the_contents(pdf):
    pages = [page_text(page) for page in pdf.pages]
    first = next(
        k for k, text in enumerate(pages) if text.startswith("1 ") or "Bibliography" in text[:80]
    )
    first = next(k for k in range(first, len(pages)) if re.match(r"1\b|.*\b1$", pages[k]))
    for number, text in enumerate(pages[first:], start=1):
        assert re.match(rf"{number} ", text) or text.endswith(f" {number}"), (number, text[:60])
    contents = " ".join(pages[1:first])
    for item in pdf.outline:
        if isinstance(item, list):
            continue
        number = pdf.get_destination_page_number(item) - first + 1
        assert re.search(rf"{re.escape(item.title)}\s+{number}\b", contents), item.title


def test_links_within_the_book_stay_in_the_file(pdf):
    n_internal = n_external = 0
    for page in pdf.pages:
        for reference in page.get("/Annots", ()):
            annotation = reference.get_object()
            address = annotation.get("/A", {}).get("/URI", "")
            assert "127.0.0.1" not in address
            n_external += bool(address)
            n_internal += "/Dest" in annotation
    assert n_internal > 20 and n_external > 3


def test_all_numbered_formulas_are_printed_and_solutions_come_last(book, pdf):
    html = (book / "notebooks" / "ensembles_as_kernels.html").read_text(encoding="utf-8")
    numbers = re.findall(r'class="eqno">\((\d+\.\d+)\)', html)
    pages = [page_text(page) for page in pdf.pages]
    text = " ".join(pages)
    assert len(numbers) > 5
    assert all(f"({number})" in text for number in numbers)
    solution_pages = [k for k, content in enumerate(pages) if "Solution to Exercise" in content]
    exercise_title = re.compile(r"(?<!to )Exercise \d+\.\d+ \(")
    exercise_pages = [k for k, content in enumerate(pages) if exercise_title.search(content)]
    assert solution_pages
    assert min(solution_pages) > max(set(exercise_pages) - set(solution_pages))
    assert min(solution_pages) > len(pages) / 2
    assert text.count("Solution to Exercise") == html.count('class="solution')


def kids_of(element):
    """Return the child elements of an element of the structure tree, without marked content."""
    kids = element.get("/K", ())
    found = [kid.get_object() for kid in (kids if isinstance(kids, list) else [kids])]
    return [kid for kid in found if isinstance(kid, dict)]


def structure_elements(element):
    """Yield an element of the structure tree and all its descendants."""
    yield element
    for kid in kids_of(element):
        if "/S" in kid:
            yield from structure_elements(kid)


def test_tags_form_one_tree(pdf):
    """Pages and links refer to their structure elements, and table cells to their header cells."""
    tree = pdf.trailer["/Root"]["/StructTreeRoot"]
    numbers = tree["/ParentTree"]["/Nums"]
    parents = dict(zip(numbers[::2], numbers[1::2], strict=True))
    assert pdf.trailer["/Root"]["/MarkInfo"]["/Marked"]
    assert len(parents) == len(numbers) / 2 == tree["/ParentTreeNextKey"]
    for page in pdf.pages:
        references = parents[page["/StructParents"]].get_object()
        on_page = [reference.get_object() for reference in references]
        on_page += [kid for element in on_page for kid in kids_of(element)]
        pages_of_elements = {kid.raw_get("/Pg").idnum for kid in on_page if "/Pg" in kid}
        assert page.indirect_reference.idnum in pages_of_elements
        for reference in page.get("/Annots", ()):
            link = parents[reference.get_object()["/StructParent"]].get_object()
            links = [kid.raw_get("/Obj").idnum for kid in kids_of(link) if "/Obj" in kid]
            assert link["/S"] == "/Link" and reference.idnum in links
    elements = [element for kid in tree["/K"] for element in structure_elements(kid.get_object())]
    kinds = Counter(element["/S"] for element in elements)
    assert kinds["/H1"] >= len(PAGES) and min(kinds["/Table"], kinds["/Figure"]) > 3
    ids = [element["/ID"] for element in elements if "/ID" in element]
    names = tree["/IDTree"]["/Names"][::2]
    assert sorted(ids) == list(names) and len({*ids}) == len(ids)
    attributes = [element["/A"] for element in elements if "/A" in element]
    attributes = [o.get_object() for a in attributes for o in (a if isinstance(a, list) else [a])]
    headers = [name for each in attributes for name in each.get("/Headers", ())]
    assert headers and {*headers} <= {*ids}
