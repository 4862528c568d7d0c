"""Automatic checks of the style: long or inverted sentences, nonstandard terms, and headings.

Only readers can judge the style itself. These tests keep known faults from returning.
"""

import re
from pathlib import Path

import pytest
from prose import count_words, headings, read_markdown, sentences

ROOT = Path(__file__).resolve().parent.parent
NOTEBOOKS = [path for path in (ROOT / "notebooks").rglob("*.ipynb") if "." not in path.parent.name]
CHAPTERS_AND_NOTES = sorted(
    path for path in NOTEBOOKS if path.parent.name in ("notebooks", "notes")
)
PAGES = [*ROOT.glob("book/*.md"), *ROOT.glob("book/api/*.md"), *ROOT.glob("*.md")]
MAX_SENTENCE_WORDS = 40
#: Words that the book formerly used in senses for which the field has a standard term.
NONSTANDARD_TERM = re.compile(
    r"\b(bystanders?|kerbs?|crowds?|committees?|claimants?|colon(y|ies)|liars?|whoever|clumps?|"
    r"nearness|by lot|told from nothing|"
    r"one an? (class|feature|point|row|set|table|member|fold|pair|page|file))\b",
    re.IGNORECASE,
)
PARTICIPLES = "added|chosen|counted|gone|held|kept|left|measured|missing|removed|shown|tested|told"
INVERTED_START = re.compile(rf"^({PARTICIPLES}) (is|are|was|were)\b", re.IGNORECASE)
#: Beginnings of terms, besides those of the glossary, that a heading may use.
FIELD_STEMS = (
    "accurac|active|AdaBoost|alarm|axis|axes|Bayes|bound|Brier|certif|class|cluster|"
    "coefficient|compar|conver|cvxopt|data|depth|derivative|error|experiment|exponential|"
    "feature|fold|forest|Gaussian|gradient|grid|intercept|interval|iteration|kernel|leaves|"
    "Levenberg|LIBSVM|line|linear|logistic|loss|LPBoost|margin|median|minim|model|multiclass|"
    "neighbour|noise|number|objective|optim|outlier|parameter|path|penalty|perceptron|point|"
    "polynomial|prediction|probabil|projection|proof|quadratic|rank|reproduc|rotation|"
    "rounding|rule|sample|scale|selection|size|solution|solver|sparse|split|stochastic|stump|"
    "subgradient|SVM|test|threshold|time|training|tree|validation|value|vector|vertex|vote|"
    "weight|width"
)
STRUCTURAL_HEADINGS = {"Exercises", "Check yourself", "Summary", "The smallest example, by hand"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A $b$ c. Then `d`\nends.", ["A X c.", "Then X ends."]),
        ("# Title\n\n```python\nKept = 1\n```\n\n| a | b |\n|---|---|\n| c | d |\n", []),
        ("```{prf:proof}\n:label: a\n\nWe see {ref}`a place <there>`.\n```", ["We see a place."]),
        (":::{admonition} Title\n:class: tip\nOne. *Two.* Three.\n:::", ["One.", "Two.", "Three."]),
    ],
)  # fmt: skip
def test_sentences_exclude_code_tables_and_headings(text, expected):
    assert list(sentences(text)) == expected


@pytest.mark.parametrize("path", sorted(NOTEBOOKS) + sorted(PAGES), ids=lambda path: path.stem)
def test_sentences_are_short_and_use_the_terms_of_the_field(path):
    faults = []
    for sentence in sentences(read_markdown(path)):
        if count_words(sentence) > MAX_SENTENCE_WORDS:
            faults.append(f"more than {MAX_SENTENCE_WORDS} words: {sentence}")
        if NONSTANDARD_TERM.search(sentence):
            faults.append(f"nonstandard term: {sentence}")
        if INVERTED_START.search(sentence):
            faults.append(f"inverted: {sentence}")
    assert not faults, "\n".join(faults)


@pytest.mark.parametrize("path", CHAPTERS_AND_NOTES, ids=lambda path: path.stem)
def test_headings_contain_a_term_of_the_field(path):
    glossary = (ROOT / "book" / "glossary.md").read_text(encoding="utf-8")
    glossary_terms = re.findall(r"^(\w.*)\n", glossary, re.MULTILINE)
    stems = {word[:6] for term in glossary_terms for word in re.findall(r"[A-Za-z]{4,}", term)}
    stem_pattern = re.compile("|".join({FIELD_STEMS, *stems}), re.IGNORECASE)
    checked_headings = [
        heading for heading in headings(read_markdown(path)) if heading not in STRUCTURAL_HEADINGS
    ]
    faults = [
        heading
        for heading in checked_headings
        if not any(map(stem_pattern.match, re.split(r"[\s-]+", heading)))
    ]
    assert checked_headings and not faults
