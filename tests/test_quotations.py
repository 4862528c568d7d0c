"""Text in quotation marks stands in one of the papers or theses (tools/quotations.py)."""

import json

import pytest
from quotations import RECORD_PATH, digest, find_place, quotations, quoted_phrases

SOURCE_TEXTS = {
    "First": "1 Start\nA margin is a dis- tance. It is wide.",
    "Second": "preface\n2.1 Next\nNothing of the “kind” is said, by us, here.",
}


def test_every_quotation_of_the_book_was_found_in_a_source():
    place_of_digest = json.loads(RECORD_PATH.read_text(encoding="utf-8"))
    book_quotations = [*quotations()]
    assert {digest(words) for _, words in book_quotations} == place_of_digest.keys()
    assert all(", section" in place or ", at " in place for place in place_of_digest.values())


@pytest.mark.parametrize(
    "words, place",
    [
        ("A margin is a distance.", "First, section 1"),
        ("a margin ... it is wide", "First, section 1"),
        ("nothing of the kind is said by us", "Second, section 2.1"),
        ("a margin is wide", None),
        ("it is wide ... nothing of the kind", None),
    ],
)
def test_all_parts_of_a_quotation_must_stand_in_one_source(words, place):
    assert find_place(words, SOURCE_TEXTS) == place


def test_quotations_exclude_code_formulas_and_fewer_than_three_words():
    page = """A "page of words" that
goes "over the end of
a line", with `x = "no words at all"` and "two words" and "for $x$ and y".

```python
print("not a word of it")
```

:::{dropdown} "Is it a title?"
"It is a text", then
```{math}
\\text{"not a single word"}
```
:::
"""
    assert [*quoted_phrases(page)] == [
        *("page of words", "over the end of a line", "Is it a title?", "It is a text"),
    ]
