"""Short messages of an invented language, with the marks that tell a mood."""

from __future__ import annotations

from numbers import Integral

import numpy as np
from sklearn.utils import check_random_state, check_scalar

__all__ = ["messages"]

SHARES = {"negative": 99, "neutral": 30, "objective": 314, "positive": 157}
GLAD = "good great love happy best thanks nice fun win beautiful excited perfect enjoy sweet proud"
SAD = "bad hate worst sad sorry fail angry awful lost sick boring ugly hurt broken wrong"
SYLLABLES = tuple("bakomirutelanosivopadufegihalumaneporisu"[2 * k : 2 * k + 2] for k in range(20))
#: Expected number of each mark in a message: glad and sad words, emoticons of both, links.
RATES = {
    "objective": (0.15, 0.10, 0.02, 0.02, 0.70),
    "positive": (1.20, 0.15, 0.35, 0.03, 0.25),
    "negative": (0.30, 1.20, 0.06, 0.30, 0.20),
    "neutral": (0.60, 0.50, 0.10, 0.10, 0.30),
}


def messages(
    n: int = 600, *, random_state: int | np.random.RandomState | None = None
) -> tuple[list[str], np.ndarray]:
    """Draw short messages of four moods, in a language of invented words.

    Most words are drawn from a vocabulary of 8,000, the r-th most frequent with a probability that
    falls with 1/r, and tell nothing. How many glad and sad words, emoticons and links a message has
    depends on its mood, and it has names and hashtags; a tenth of the vocabulary belongs to topics,
    of which each message has one, and moods differ in the topics they like. Another seed draws
    other topics: another language, not new messages of the same. The shares of the
    moods are those of the tweets of Shen (2013), 99, 157, 30 and 314 of 600, whose order she does
    not name.

    Parameters
    ----------
    n : int, default=600
        Messages, at least 20.
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
        n is too small, or no integer.

    Examples
    --------
    >>> import numpy as np
    >>> from svmbook.datasets import messages
    >>> texts, labels = messages(600, random_state=0)
    >>> [(labels == mood).sum().item() for mood in np.unique(labels)]
    [99, 30, 314, 157]
    """
    check_scalar(n, "n", Integral, min_val=20)
    rng = check_random_state(random_state)
    moods = np.repeat(list(SHARES), list(SHARES.values()))
    at = np.linspace(0, len(moods), n, endpoint=False).astype(int)
    labels = rng.permutation(moods[at])
    words = np.array([_word(number) for number in range(8000)])
    often = 1.0 / np.arange(1, len(words) + 1)
    often /= often.sum()
    topics = rng.permutation(len(words))[:800].reshape(20, 40)
    likes = {mood: rng.dirichlet(np.full(20, 1.0)) for mood in SHARES}
    return [_message(mood, words, often, topics, likes, rng) for mood in labels], labels


def _word(number):
    """Return the word of a number: two syllables or more."""
    parts = []
    while number or len(parts) < 2:
        number, rest = divmod(number, len(SYLLABLES))
        parts.append(SYLLABLES[rest])
    return "".join(parts)


def _message(mood, words, often, topics, likes, rng):
    """Return one message."""
    topic = topics[rng.choice(len(topics), p=likes[mood])]
    tokens = list(rng.choice(words, rng.poisson(9) + 3, p=often))
    tokens += list(words[rng.choice(topic, 2)])
    glad, sad, smiles, frowns, links = rng.poisson(RATES[mood])
    for count, known in ((glad, GLAD), (sad, SAD)):
        tokens += list(rng.choice(known.split(), count))
    tokens += [":)"] * smiles + [":("] * frowns
    tokens += [f"http://t.co/{rng.randint(10**6)}" for _ in range(links)]
    tokens += [f"@{word}" for word in rng.choice(words, rng.poisson(0.6), p=often)]
    tokens += [f"#{word}" for word in words[rng.choice(topic, rng.poisson(0.5))]]
    return " ".join(rng.permutation(tokens))
