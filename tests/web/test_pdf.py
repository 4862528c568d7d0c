"""The PDF: page numbers, links within the file, formulas, solutions at the end, and tags."""

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
    """Print two pages of the book into one PDF, and return its reader."""
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
    page_texts = [page_text(page) for page in pdf.pages]
    search_start = next(
        k
        for k, text in enumerate(page_texts)
        if text.startswith("1 ") or "Bibliography" in text[:80]
    )
    page_one = next(
        k for k in range(search_start, len(page_texts)) if re.match(r"1\b|.*\b1$", page_texts[k])
    )
    for number, text in enumerate(page_texts[page_one:], start=1):
        assert re.match(rf"{number} ", text) or text.endswith(f" {number}"), (number, text[:60])
    contents = " ".join(page_texts[1:page_one])
    for item in pdf.outline:
        if isinstance(item, list):
            continue
        number = pdf.get_destination_page_number(item) - page_one + 1
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
    equation_numbers = re.findall(r'class="eqno">\((\d+\.\d+)\)', html)
    page_texts = [page_text(page) for page in pdf.pages]
    book_text = " ".join(page_texts)
    assert len(equation_numbers) > 5
    assert all(f"({number})" in book_text for number in equation_numbers)
    solution_pages = [k for k, text in enumerate(page_texts) if "Solution to Exercise" in text]
    exercise_title = re.compile(r"(?<!to )Exercise \d+\.\d+ \(")
    exercise_pages = [k for k, text in enumerate(page_texts) if exercise_title.search(text)]
    assert solution_pages
    assert min(solution_pages) > max(set(exercise_pages) - set(solution_pages))
    assert min(solution_pages) > len(page_texts) / 2
    assert book_text.count("Solution to Exercise") == html.count('class="solution')


def dictionary_kids(element):
    """Return the kids of a structure element that are dictionaries.

    These are structure elements, marked-content references and object references; the other kids
    are integer marked-content identifiers (MCIDs).
    """
    kids = element.get("/K", ())
    kid_objects = [kid.get_object() for kid in (kids if isinstance(kids, list) else [kids])]
    return [kid for kid in kid_objects if isinstance(kid, dict)]


def structure_elements(element):
    """Yield a structure element and all its descendants."""
    yield element
    for kid in dictionary_kids(element):
        if "/S" in kid:
            yield from structure_elements(kid)


def test_tags_form_one_tree(pdf):
    """Pages and links refer to their structure elements, and table cells to their header cells."""
    tree = pdf.trailer["/Root"]["/StructTreeRoot"]
    keys_and_parents = tree["/ParentTree"]["/Nums"]
    parents = dict(zip(keys_and_parents[::2], keys_and_parents[1::2], strict=True))
    assert pdf.trailer["/Root"]["/MarkInfo"]["/Marked"]
    assert len(parents) == len(keys_and_parents) / 2 == tree["/ParentTreeNextKey"]
    for page in pdf.pages:
        references = parents[page["/StructParents"]].get_object()
        on_page = [reference.get_object() for reference in references]
        on_page += [kid for element in on_page for kid in dictionary_kids(element)]
        page_ids = {content.raw_get("/Pg").idnum for content in on_page if "/Pg" in content}
        assert page.indirect_reference.idnum in page_ids
        for reference in page.get("/Annots", ()):
            link = parents[reference.get_object()["/StructParent"]].get_object()
            link_ids = [kid.raw_get("/Obj").idnum for kid in dictionary_kids(link) if "/Obj" in kid]
            assert link["/S"] == "/Link" and reference.idnum in link_ids
    elements = [element for kid in tree["/K"] for element in structure_elements(kid.get_object())]
    kinds = Counter(element["/S"] for element in elements)
    assert kinds["/H1"] >= len(PAGES) and min(kinds["/Table"], kinds["/Figure"]) > 3
    ids = [element["/ID"] for element in elements if "/ID" in element]
    listed_ids = tree["/IDTree"]["/Names"][::2]
    assert sorted(ids) == list(listed_ids) and len({*ids}) == len(ids)
    entries = [element["/A"] for element in elements if "/A" in element]
    attributes = [
        attribute.get_object()
        for entry in entries
        for attribute in (entry if isinstance(entry, list) else [entry])
    ]
    header_ids = [header for each in attributes for header in each.get("/Headers", ())]
    assert header_ids and {*header_ids} <= {*ids}
