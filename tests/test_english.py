"""What a machine can see of the style: long sentences, private words, and inverted sentences.

The style itself is judged by readers. These tests only keep out what has been mended before.
"""

import re
from pathlib import Path

import pytest
from prose import markdown, sentences

ROOT = Path(__file__).resolve().parent.parent
NOTEBOOKS = [path for path in (ROOT / "notebooks").rglob("*.ipynb") if "." not in path.parent.name]
PAGES = [*ROOT.glob("book/*.md"), *ROOT.glob("book/api/*.md"), *ROOT.glob("*.md")]
LONGEST = 40  # words in a sentence
#: Former words of the book in senses for which the field has a term.
PRIVATE = re.compile(
    r"\b(bystanders?|kerbs?|crowds?|committees?|claimants?|colon(y|ies)|liars?|whoever|clumps?|"
    r"nearness|by lot|told from nothing|"
    r"one an? (class|feature|point|row|set|table|member|fold|pair|page|file))\b",
    re.IGNORECASE,
)
PARTICIPLES = "added|chosen|counted|gone|held|kept|left|measured|missing|removed|shown|tested|told"
INVERSION = re.compile(rf"^({PARTICIPLES}) (is|are|was|were)\b", re.IGNORECASE)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("A $b$ c. Then `d`\nends.", ["A X c.", "Then X\nends.".replace("\n", " ")]),
        ("# Title\n\n```python\nKept = 1\n```\n\n| a | b |\n|---|---|\n| c | d |\n", []),
        ("```{prf:proof}\n:label: a\n\nWe see {ref}`this place <there>`.\n```", ["We see this place."]),
        ("::::{admonition} To remember\n:class: tip\nOne. *Two.* Three.\n::::", ["One.", "Two.", "Three."]),
    ],
)  # fmt: skip
def test_sentences_are_those_of_the_prose(text, found):
    assert list(sentences(text)) == found


@pytest.mark.parametrize("path", sorted(NOTEBOOKS) + sorted(PAGES), ids=lambda path: path.stem)
def test_sentences_are_short_and_use_the_terms_of_the_field(path):
    faults = []
    for sentence in sentences(markdown(path)):
        if len(re.findall(r"[A-Za-z0-9][\w'’-]*", sentence)) > LONGEST:
            faults.append(f"more than {LONGEST} words: {sentence}")
        if PRIVATE.search(sentence):
            faults.append(f"private word: {sentence}")
        if INVERSION.search(sentence):
            faults.append(f"inverted: {sentence}")
    assert not faults, "\n".join(faults)
