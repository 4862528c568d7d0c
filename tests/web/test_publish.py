"""Additional files and links of a book; some need the address of its repository."""

import json
import subprocess
import sys
import zipfile
from xml.etree import ElementTree

import pytest

from .conftest import ROOT, import_module_at

SITE = "https://owner.github.io/margin/"
CONF_TEMPLATE = """
import sys
sys.path.insert(0, {ext!r})
project = "Margin"
extensions = ["myst_nb", "publish"]
nb_execution_mode = "off"
html_title = "The margin"
html_theme = "sphinx_book_theme"
html_theme_options = {{"repository_url": {url!r}, "repository_branch": "main"}}
suppress_warnings = ["git"]
"""


# The case without a repository is nightly, as the other tests of pages use such a book.
@pytest.fixture(
    scope="module",
    params=["https://github.com/Owner/margin", pytest.param("", marks=pytest.mark.nightly)],
)
def small_book(request, tmp_path_factory):
    """Build two pages; return whether they have a repository, and the folder of the pages."""
    pytest.importorskip("sphinx")
    source = tmp_path_factory.mktemp("source")
    (source / "notebooks").mkdir()
    notebook = {
        "cells": [{"cell_type": "markdown", "metadata": {}, "source": ["# A chapter\n\nWords."]}],
        "metadata": {"kernelspec": {"name": "python3", "display_name": "", "language": "python"}},
        "nbformat": 4, "nbformat_minor": 4,
    }  # fmt: skip
    (source / "notebooks" / "chapter.ipynb").write_text(json.dumps(notebook))
    (source / "index.md").write_text("# Margin\n\n```{toctree}\nnotebooks/chapter\n```\n")
    ext = str(ROOT / "book" / "_ext")
    (source / "conf.py").write_text(CONF_TEMPLATE.format(ext=ext, url=request.param))
    html_folder = source / "html"
    process = subprocess.run(
        [sys.executable, "-m", "sphinx", "-q", "-W", source, html_folder],
        capture_output=True,
        text=True,
    )
    assert process.returncode == 0, process.stderr
    return bool(request.param), html_folder


def test_repository_adds_launch_buttons_link_previews_site_map_and_feed(small_book):
    has_repository, html_folder = small_book
    page = (html_folder / "notebooks" / "chapter.html").read_text(encoding="utf-8")
    expected = (
        "https://mybinder.org/v2/gh/Owner/margin/main?urlpath=lab/tree/notebooks/chapter.ipynb",
        "https://colab.research.google.com/github/Owner/margin/blob/main/notebooks/chapter.ipynb",
        f'property="og:url" content="{SITE}notebooks/chapter.html"',
        "og:image",
        'property="og:site_name" content="The margin"',
        f'href="{SITE}changes.xml"',
    )
    assert [text in page for text in expected] == [has_repository] * len(expected)
    for name in ("sitemap.xml", "changes.xml"):
        assert (html_folder / name).exists() == has_repository
    if has_repository:
        texts = [element.text for element in ElementTree.parse(html_folder / "sitemap.xml").iter()]
        assert f"{SITE}notebooks/chapter.html" in texts


def test_404_page_links_to_the_book(small_book):
    has_repository, html_folder = small_book
    page = (html_folder / "404.html").read_text(encoding="utf-8")
    prefix = "/margin/" if has_repository else "/"
    assert "not in the book" in page and f'href="{prefix}book/intro.html"' in page
    assert f'href="{prefix}_static/' in page


def test_feed_lists_the_latest_changes_of_pages():
    publish = import_module_at(ROOT / "book" / "_ext" / "publish.py")
    root = ElementTree.fromstring(publish.make_feed("Margin", SITE, ROOT))
    atom = f"{{{publish.ATOM_NAMESPACE}}}"
    entries = root.findall(f"{atom}entry")
    if not entries:
        pytest.skip("no git history")
    dates = [entry.find(f"{atom}updated").text for entry in entries]
    assert len(entries) <= publish.FEED_LENGTH and root.find(f"{atom}updated").text == dates[0]
    for entry in entries:
        assert entry.find(f"{atom}title").text
        assert entry.find(f"{atom}link").get("href").startswith(SITE)
    ids = [entry.find(f"{atom}id").text for entry in entries]
    assert len(set(ids)) == len(ids)


def test_chapters_and_notes_are_in_one_zip_file(book):
    with zipfile.ZipFile(book / "svmbook-notebooks.zip") as archive:
        names = {name.removeprefix("svmbook-notebooks/") for name in archive.namelist()}
        chapters = {path.name for path in (ROOT / "notebooks").glob("*.ipynb")}
        notes = {f"notes/{path.name}" for path in (ROOT / "notebooks/notes").glob("*.ipynb")}
        assert names == {"README.txt", *chapters, *notes}
        for name in chapters | notes:
            content = archive.read(f"svmbook-notebooks/{name}")
            assert content == (ROOT / "notebooks" / name).read_bytes()


def test_page_shows_the_date_of_its_last_change(book):
    if not (ROOT / ".git").exists():
        pytest.skip("no git history")
    page = book / "notebooks" / "dual_svm.html"
    assert "Last updated on 20" in page.read_text(encoding="utf-8")
