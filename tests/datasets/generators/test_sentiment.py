"""Random messages: rates of words, emoticons and links by sentiment."""

import numpy as np
import pytest
from sklearn.model_selection import cross_val_score
from sklearn.svm import LinearSVC

from svmbook.datasets import message_features, messages


def test_messages_depend_on_seed():
    texts, labels = messages(60, random_state=3)
    same_texts, same_labels = messages(60, random_state=3)
    assert texts == same_texts
    np.testing.assert_array_equal(labels, same_labels)
    assert messages(60, random_state=4)[0] != texts


@pytest.mark.parametrize(
    ("feature", "label", "rate"),
    [("<smile>", "positive", 0.35), ("<frown>", "negative", 0.30), ("<link>", "objective", 0.70)],
)
def test_rates_of_emoticons_and_links_depend_on_sentiment(feature, label, rate):
    texts, labels = messages(3000, random_state=0)
    X, names = message_features(texts)
    counts = {c: X[labels == c, names.index(feature)] for c in np.unique(labels)}
    own_counts = counts.pop(label)
    assert own_counts.mean() == pytest.approx(
        rate, abs=4 * own_counts.std() / np.sqrt(len(own_counts))
    )
    assert own_counts.mean() > 1.5 * max(other.mean() for other in counts.values())


def test_features_predict_sentiment_better_than_the_majority_class_but_not_perfectly():
    texts, labels = messages(random_state=0)
    X, _ = message_features(texts)
    accuracy = cross_val_score(LinearSVC(C=0.1), X, labels, cv=5).mean()
    assert 0.55 < accuracy < 0.85  # always predicting the most frequent class gives 0.52


def test_too_few_messages_are_refused():
    with pytest.raises(ValueError, match="n == 5, must be >= 20"):
        messages(5)
