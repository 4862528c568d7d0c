"""Glossary terms are linked only at their first use in a chapter (book/_ext/glossary_links.py)."""

import importlib.util
import re
from pathlib import Path

import pytest

pytest.importorskip("sphinx")
ROOT = Path(__file__).resolve().parent.parent
CHAPTERS = sorted((ROOT / "_build" / "html" / "notebooks").glob("*.html"))
spec = importlib.util.spec_from_file_location(
    "glossary_links", ROOT / "book/_ext/glossary_links.py"
)
glossary_links = importlib.util.module_from_spec(spec)
spec.loader.exec_module(glossary_links)


@pytest.mark.parametrize(
    "text, expected",
    [
        ("A duality gap proves it.", ["duality gap"]),
        ("Free support vectors are support vectors.", ["Free support vectors", "support vectors"]),
        ("A kernel and one more kernel", ["kernel"]),
        ("Kernels of smokernel, kernel-free", ["Kernels"]),
        ("the kkt residual, the KKT residual", ["KKT residual"]),
        ("nothing here", []),
    ],
)
def test_split_finds_first_uses_and_preserves_the_text(text, expected):
    terms = {"kernel", "duality gap", "support vector", "free support vector", "KKT residual"}
    pieces = list(glossary_links.split_at_terms(text, terms))
    assert [words for words, term in pieces if term] == expected
    assert "".join(words for words, _ in pieces) == text


def test_ambiguous_terms_are_in_the_glossary():
    glossary = (ROOT / "book/glossary.md").read_text(encoding="utf-8")
    assert {*glossary.splitlines()} >= glossary_links.AMBIGUOUS_TERMS


@pytest.mark.skipif(not CHAPTERS, reason="the book is not built")
def test_chapters_link_each_term_once_and_never_in_a_heading():
    for chapter in CHAPTERS:
        page = chapter.read_text(encoding="utf-8")
        linked_anchors = re.findall(
            r'class="glossed reference internal" href="[^"]*#(term-[^"]+)"', page
        )
        assert len(linked_anchors) == len(set(linked_anchors)) > 5, chapter.name
        linked_terms = {anchor.removeprefix("term-") for anchor in linked_anchors}
        assert not linked_terms & glossary_links.AMBIGUOUS_TERMS, chapter.name
        for heading in re.findall(r"<h\d.*?</h\d>", page, re.S):
            assert "glossed" not in heading
