"""Readers of SemEval-2013 files and of the MPQA lexicon, and counts of message features."""

import numpy as np
import pytest

from svmbook.datasets import load_lexicon, load_semeval, message_features

SUBTASK_A_CONTENT = (
    "1\t7\t3\t5\tnegative\tNot my day :( http://t.co/x\n2\t8\t0\t0\tpositive\tNot Available\n"
)


def test_files_of_both_subtasks_are_read(tmp_path):
    path = tmp_path / "a.tsv"
    path.write_text(SUBTASK_A_CONTENT, encoding="utf-8")
    texts, labels = load_semeval(path)
    assert texts == ["Not my day :( http://t.co/x"]
    assert labels.tolist() == ["negative"]
    path.write_text('5\t6\t"objective-OR-neutral"\tSüß, oder?\n', encoding="utf-8")
    texts, labels = load_semeval(path)
    assert texts == ["Süß, oder?"]
    assert labels.tolist() == ["objective-OR-neutral"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("1\t2\tpositive", "line 1 .* is not a tweet"),
        ("1\t2\tglad\tHi", "line 1 .* is not a tweet"),
        ("1\t2\tpositive\tNot Available", "contains no tweet"),
    ],
)
def test_invalid_files_and_files_without_tweets_are_refused(tmp_path, content, message):
    path = tmp_path / "b.tsv"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(ValueError, match=message):
        load_semeval(path)


def test_words_hashtags_mentions_links_emoticons_and_lexicon_entries_are_counted():
    texts = ["@Ann Great GREAT day :-) #Sun http://a.b/c?d=1", "it's bad =( www.x.org don't 42"]
    X, names = message_features(texts, {"great": "strong positive", "bad": "weak negative"})
    counts = [dict(zip(names, row, strict=True)) for row in X]
    first_counts = {
        "<mention>": 1,
        "great": 2,
        "<strong positive>": 2,
        "day": 1,
        "<smile>": 1,
        "#sun": 1,
        "<link>": 1,
    }
    second_counts = {
        "it's": 1,
        "bad": 1,
        "<weak negative>": 1,
        "<frown>": 1,
        "<link>": 1,
        "don't": 1,
    }
    assert {k: v for k, v in counts[0].items() if v} == first_counts
    assert {k: v for k, v in counts[1].items() if v} == second_counts
    assert X.dtype == np.float64


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
def test_lexicon_is_read_despite_other_lines_and_byte_order_mark(tmp_path, encoding):
    path = tmp_path / "l.tff"
    path.write_text("type=weaksubj len=1 word1=odd priorpolarity=negative m\n# end\n", encoding)
    assert load_lexicon(path) == {"odd": "weak negative"}


def test_files_without_lexicon_entries_or_not_in_utf_8_are_refused(tmp_path):
    path = tmp_path / "l.tff"
    path.write_text("1\t2\tpositive\tgood", "utf-8")
    with pytest.raises(ValueError, match="no line with type="):
        load_lexicon(path)
    path.write_bytes("1\t2\tpositive\tpas mal, h\u00e9".encode("latin-1"))
    for read in (load_lexicon, load_semeval):
        with pytest.raises(ValueError, match="not in UTF-8"):
            read(path)


def test_tabs_and_line_separators_inside_a_tweet_do_not_end_it(tmp_path):
    path = tmp_path / "c.tsv"
    path.write_text("1\t2\tpositive\tone\u2028two\n\n3\t4\tneutral\tgood\tday\n", "utf-8")
    texts, labels = load_semeval(path)
    assert texts == ["one\u2028two", "good day"]
    assert labels.tolist() == ["positive", "neutral"]


def test_colon_before_a_word_does_not_start_an_emoticon():
    _, names = message_features(["name:peter see:Do"])
    assert names == ["do", "name", "peter", "see"]


def test_uppercase_links_and_curly_apostrophes_are_recognised():
    _, names = message_features(["HTTP://t.co/x don\u2019t"])
    assert names == ["<link>", "don't"]
