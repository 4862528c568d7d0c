"""Invented messages: their moods tell themselves by what the docstring says."""

import numpy as np
import pytest
from sklearn.model_selection import cross_val_score
from sklearn.svm import LinearSVC

from svmbook.datasets import message_features, messages


def test_the_same_seed_draws_the_same_messages():
    texts, labels = messages(60, random_state=3)
    again, same = messages(60, random_state=3)
    assert texts == again
    np.testing.assert_array_equal(labels, same)
    assert messages(60, random_state=4)[0] != texts


def test_moods_differ_in_their_marks_and_not_by_much():
    texts, labels = messages(3000, random_state=0)
    X, names = message_features(texts)
    smile, frown, link = (X[:, names.index(f"<{mark}>")] for mark in ("smile", "frown", "link"))
    for mark, mood, rate in (
        (smile, "positive", 0.35),
        (frown, "negative", 0.30),
        (link, "objective", 0.70),
    ):
        here = mark[labels == mood]
        assert abs(here.mean() - rate) < 4 * here.std() / np.sqrt(len(here))
        for other in {*labels} - {mood}:
            assert here.mean() > 1.5 * mark[labels == other].mean()


def test_words_tell_the_mood_better_than_chance_and_not_surely():
    texts, labels = messages(random_state=0)
    X, _ = message_features(texts)
    accuracy = cross_val_score(LinearSVC(C=0.1), X, labels, cv=5).mean()
    assert 0.55 < accuracy < 0.85  # the most frequent mood has 0.52


def test_too_few_messages_are_refused():
    with pytest.raises(ValueError, match="n == 5, must be >= 20"):
        messages(5)
