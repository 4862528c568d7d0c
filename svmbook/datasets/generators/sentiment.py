"""Random messages with a sentiment: artificial words, English sentiment words and emoticons."""

from __future__ import annotations

from numbers import Integral

import numpy as np
from sklearn.utils import check_random_state, check_scalar

__all__ = ["messages"]

CLASS_COUNTS = {"negative": 99, "neutral": 30, "objective": 314, "positive": 157}  # of 600
# Words of positive and negative sentiment.
POSITIVE_WORDS = (
    *("good", "great", "love", "happy", "best", "thanks", "nice", "fun"),
    *("win", "beautiful", "excited", "perfect", "enjoy", "sweet", "proud"),
)
NEGATIVE_WORDS = (
    *("bad", "hate", "worst", "sad", "sorry", "fail", "angry", "awful"),
    *("lost", "sick", "boring", "ugly", "hurt", "broken", "wrong"),
)
SYLLABLES = tuple("bakomirutelanosivopadufegihalumaneporisu"[2 * k : 2 * k + 2] for k in range(20))
# Expected numbers per message of positive words, negative words, ":)", ":(", and links.
POISSON_RATES = {
    "objective": (0.15, 0.10, 0.02, 0.02, 0.70),
    "positive": (1.20, 0.15, 0.35, 0.03, 0.25),
    "negative": (0.30, 1.20, 0.06, 0.30, 0.20),
    "neutral": (0.60, 0.50, 0.10, 0.10, 0.30),
}


def messages(
    n: int = 600, *, random_state: int | np.random.RandomState | None = None
) -> tuple[list[str], np.ndarray]:
    """Draw short messages of four sentiments.

    Most words are artificial and uninformative. They come from a vocabulary of 8,000, where the
    r-th word has a probability proportional to 1/r. The expected numbers of positive and negative
    English words, emoticons and links depend on the sentiment. Messages also have mentions and
    hashtags. A tenth of the vocabulary is divided into 20 topics. Each message has one topic, whose
    probability depends on the sentiment. The topics depend on the seed, so another seed gives
    another problem, not new messages of the same problem. The class frequencies are those of the
    tweets of Shen (2013): 99, 157, 30 and 314 of 600. The thesis does not say which number belongs
    to which sentiment.

    Parameters
    ----------
    n : int, default=600
        Number of messages, at least 20.
    random_state : int, RandomState or None, default=None
        Seed.

    Returns
    -------
    texts : list of str
        The messages.
    labels : ndarray of shape (n,)
        "negative", "neutral", "objective" or "positive".

    Raises
    ------
    ValueError, TypeError
        ``n`` is not an integer, or is too small.

    Examples
    --------
    >>> import numpy as np
    >>> from svmbook.datasets import messages
    >>> texts, labels = messages(600, random_state=0)
    >>> [(labels == sentiment).sum().item() for sentiment in np.unique(labels)]
    [99, 30, 314, 157]
    """
    check_scalar(n, "n", Integral, min_val=20)
    rng = check_random_state(random_state)
    all_labels = np.repeat(list(CLASS_COUNTS), list(CLASS_COUNTS.values()))
    indices = np.linspace(0, len(all_labels), n, endpoint=False).astype(int)
    labels = rng.permutation(all_labels[indices])
    words = np.array([_word(number) for number in range(8000)])
    word_probabilities = 1.0 / np.arange(1, len(words) + 1)
    word_probabilities /= word_probabilities.sum()
    topics = rng.permutation(len(words))[:800].reshape(20, 40)
    topic_probabilities = {label: rng.dirichlet(np.ones(20)) for label in CLASS_COUNTS}
    texts = []
    for label in labels:
        topic = topics[rng.choice(len(topics), p=topic_probabilities[label])]
        texts.append(_message(label, topic, words, word_probabilities, rng))
    return texts, labels


def _word(number):
    """Return the word with this number, of at least two syllables."""
    syllables = []
    while number or len(syllables) < 2:
        number, digit = divmod(number, len(SYLLABLES))
        syllables.append(SYLLABLES[digit])
    return "".join(syllables)


def _message(label, topic, words, word_probabilities, rng):
    """Return one message; ``topic`` holds indices of words."""
    tokens = list(rng.choice(words, rng.poisson(9) + 3, p=word_probabilities))
    tokens += list(words[rng.choice(topic, 2)])
    n_positive, n_negative, n_smiles, n_frowns, n_links = rng.poisson(POISSON_RATES[label])
    tokens += list(rng.choice(POSITIVE_WORDS, n_positive))
    tokens += list(rng.choice(NEGATIVE_WORDS, n_negative))
    tokens += [":)"] * n_smiles + [":("] * n_frowns
    tokens += [f"http://t.co/{rng.randint(10**6)}" for _ in range(n_links)]
    tokens += [f"@{word}" for word in rng.choice(words, rng.poisson(0.6), p=word_probabilities)]
    tokens += [f"#{word}" for word in words[rng.choice(topic, rng.poisson(0.5))]]
    return " ".join(rng.permutation(tokens))
