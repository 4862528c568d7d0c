"""Faults of style that a program can find: long sentences, private words, and inversions.

Readers judge the style itself. These tests only prevent the return of faults that were corrected.
"""

import json
import re
from pathlib import Path

import pytest
from markdown_it import MarkdownIt
from mdit_py_plugins.colon_fence import colon_fence_plugin
from mdit_py_plugins.deflist import deflist_plugin
from mdit_py_plugins.dollarmath import dollarmath_plugin
from mdit_py_plugins.myst_blocks import myst_block_plugin
from mdit_py_plugins.myst_role import myst_role_plugin

ROOT = Path(__file__).resolve().parent.parent
NOTEBOOKS = [path for path in (ROOT / "notebooks").rglob("*.ipynb") if "." not in path.parent.name]
PAGES = [*ROOT.glob("book/*.md"), *ROOT.glob("book/api/*.md"), *ROOT.glob("*.md")]
MAX_WORDS = 40  # words in a sentence
#: Directives whose content is prose.
PROSE = re.compile(r"\{(prf:\w+|exercise|solution|admonition|dropdown|note|tip|warning|figure)\}")
#: Former words of the book in senses for which the field has a term.
PRIVATE = re.compile(
    r"\b(bystanders?|kerbs?|crowds?|committees?|claimants?|colon(y|ies)|liars?|whoever|clumps?|"
    r"nearness|by lot|told from nothing|"
    r"one an? (class|feature|point|row|set|table|member|fold|pair|page|file))\b",
    re.IGNORECASE,
)
PARTICIPLES = "added|chosen|counted|gone|held|kept|left|measured|missing|removed|shown|tested|told"
INVERSION = re.compile(rf"^({PARTICIPLES}) (is|are|was|were)\b", re.IGNORECASE)
SENTENCE_END = re.compile(r"(?<=[.!?:])[\"”)]*\s+(?=[\"“(]?[A-Z]|\([a-z]\) )|;\s+")

PARSER = MarkdownIt("commonmark", {"html": False}).enable("table")
PARSER.use(dollarmath_plugin).use(myst_role_plugin).use(colon_fence_plugin).use(deflist_plugin)
PARSER.use(myst_block_plugin)


def markdown(path):
    """Return the Markdown of a page or of all text cells of a notebook."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".md":
        return re.sub(r"\A---\n.*?\n---\n", "", text, flags=re.DOTALL)
    cells = json.loads(text)["cells"]
    return "\n\n".join("".join(c["source"]) for c in cells if c["cell_type"] == "markdown")


def words(inline):
    """Return the text of an inline token; formulas and code count as one word each."""
    parts = []
    for token in inline.children:
        if token.type == "myst_role":
            shown, is_titled, _ = token.content.partition(" <")
            parts.append(shown if is_titled or token.meta["name"] == "term" else "X")
        elif token.type in ("code_inline", "math_inline", "math_inline_double", "image"):
            parts.append("X")
        elif token.type in ("softbreak", "hardbreak"):
            parts.append(" ")
        else:
            parts.append(token.content)
    return "".join(parts)


def sentences(text):
    """Yield the sentences of the paragraphs and list items; tables and headings are left out."""
    container = ""
    for token in PARSER.parse(text):
        if token.type in ("fence", "colon_fence") and PROSE.match(token.info):
            options = re.compile(r"^(:[\w-]+:.*\n)+")
            yield from sentences(options.sub("", token.content))
        elif token.type in ("paragraph_open", "heading_open", "th_open", "td_open", "dt_open"):
            container = token.type
        elif token.type == "inline" and container == "paragraph_open":
            yield from SENTENCE_END.split(words(token))


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("A $b$ c. Then `d`\nends.", ["A X c.", "Then X\nends.".replace("\n", " ")]),
        ("# Title\n\n```python\nKept = 1\n```\n\n| a | b |\n|---|---|\n| c | d |\n", []),
        (
            "```{prf:proof}\n:label: a\n\nWe see {ref}`this place <there>`.\n```",
            ["We see this place."],
        ),
        (
            "::::{admonition} To remember\n:class: tip\nOne. *Two.* Three.\n::::",
            ["One.", "Two.", "Three."],
        ),
    ],
)
def test_sentences_are_those_of_the_prose(text, found):
    assert list(sentences(text)) == found


@pytest.mark.parametrize("path", sorted(NOTEBOOKS) + sorted(PAGES), ids=lambda path: path.stem)
def test_sentences_are_short_and_use_the_terms_of_the_field(path):
    faults = []
    for sentence in sentences(markdown(path)):
        if len(re.findall(r"[A-Za-z0-9][\w'\u2019-]*", sentence)) > MAX_WORDS:
            faults.append(f"more than {MAX_WORDS} words: {sentence}")
        if PRIVATE.search(sentence):
            faults.append(f"private word: {sentence}")
        if INVERSION.search(sentence):
            faults.append(f"inverted: {sentence}")
    assert not faults, "\n".join(faults)
