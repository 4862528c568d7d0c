"""Tweets with a mood, from the files of SemEval-2013, and messages as counts of features."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer

__all__ = ["load_lexicon", "load_semeval", "message_features"]

MISSING = "Not Available"
MOODS = ("positive", "negative", "neutral", "objective", "objective-OR-neutral")
TOKEN = re.compile(
    r"(?P<link>(?i:https?://|www\.)\S+)"
    r"|(?P<name>@\w+)"
    r"|(?P<tag>#\w+)"
    r"|(?P<smile>[:;=]-?(?:\)|[DpP](?!\w))|<3)"
    r"|(?P<frown>[:;=]'?-?[(/|])"
    r"|(?P<word>[^\W\d_](?:[^\W_]|['\u2019](?=\w))*)"
)


def load_semeval(path: str | Path) -> tuple[list[str], np.ndarray]:
    r"""Read a file of task 2 of SemEval-2013, tweets with their mood.

    The tweets may not be passed on, so the book has none; the organisers' script fetches them. A
    line holds, between tabulators, numbers of the tweet and its author, for subtask A the place of
    a phrase, the label, and the text. Tweets that are not available any more are left out.

    Parameters
    ----------
    path : str or path
        The file, in UTF-8.

    Returns
    -------
    texts : list of str
        The tweets.
    labels : ndarray of str
        As in the file, without quotation marks: "positive", "negative", "neutral", "objective", or
        "objective-OR-neutral".

    Raises
    ------
    ValueError
        A line is none of a tweet, there are no tweets, or the file is not in UTF-8.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from svmbook.datasets import load_semeval
    >>> lines = "1\t7\tpositive\tWhat a day :)\n2\t8\tnegative\tNot Available"
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "tweets.tsv"
    ...     _ = path.write_text(lines)
    ...     load_semeval(path)
    (['What a day :)'], array(['positive'], dtype='<U8'))
    """
    texts, labels = [], []
    # Not splitlines: tweets hold separators of other kinds.
    for number, line in enumerate(_text(path).split("\n"), start=1):
        fields = line.rstrip("\r").split("\t")
        place = next((k for k in (2, 4) if "".join(fields[k : k + 1]).strip('"') in MOODS), None)
        if place is None or len(fields) == place + 1:
            if not line.strip():
                continue
            raise ValueError(
                f"line {number} of {path} is no tweet of SemEval-2013, with a label as its third "
                f"or fifth field between tabulators and the text behind it: {line[:60]!r}."
            )
        text = " ".join(fields[place + 1 :])
        if text != MISSING:
            texts.append(text)
            labels.append(fields[place].strip('"'))
    if not texts:
        raise ValueError(f"{path} holds no tweet that is available.")
    return texts, np.array(labels)


def load_lexicon(path: str | Path) -> dict:
    """Read the subjectivity lexicon of MPQA: what words say of a mood, and how strongly.

    Parameters
    ----------
    path : str or path
        The file, a word a line: ``type=weaksubj len=1 word1=abandoned ... priorpolarity=negative``.

    Returns
    -------
    dict
        Of each word a name such as "weak negative"; of a word with several entries the last.

    Raises
    ------
    ValueError
        The file has no entry, or is not in UTF-8.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from svmbook.datasets import load_lexicon
    >>> line = "type=strongsubj word1=superb priorpolarity=positive"
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "lexicon.tff"
    ...     _ = path.write_text(line)
    ...     load_lexicon(path)
    {'superb': 'strong positive'}
    """
    lexicon = {}
    for line in _text(path).splitlines():
        said = dict(part.split("=", 1) for part in line.split() if "=" in part)
        if {"type", "word1", "priorpolarity"} <= said.keys():
            lexicon[said["word1"]] = f"{said['type'][:-4]} {said['priorpolarity']}"
    if not lexicon:
        raise ValueError(f"{path} holds no line with type=, word1= and priorpolarity=.")
    return lexicon


def _text(path):
    """Return the text of a file in UTF-8, without the mark that some programs put before it."""
    try:
        return Path(path).read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} is not in UTF-8 ({error}); convert it before.") from error


def message_features(
    texts: Iterable[str], lexicon: dict | None = None
) -> tuple[np.ndarray, list[str]]:
    """Count words, links, names, hashtags, emoticons, and words of a lexicon.

    Each word and each hashtag, in small letters, is a feature; numbers are left out. Links, names,
    glad and sad emoticons count as one feature each, as do the words of each kind of the lexicon.

    Parameters
    ----------
    texts : iterable of str
        Messages.
    lexicon : dict, default=None
        Of some words what kind they are, as `load_lexicon` returns it.

    Returns
    -------
    X : ndarray of shape (n_messages, n_features)
        Counts.
    names : list of str
        What each feature counts.

    Raises
    ------
    ValueError
        No message has anything to count.

    Examples
    --------
    >>> from svmbook.datasets import message_features
    >>> texts = ["Hi @you :) hi", "bad #day"]
    >>> X, names = message_features(texts, {"bad": "strong negative"})
    >>> names
    ['#day', '<name>', '<smile>', '<strong negative>', 'bad', 'hi']
    >>> X.astype(int).tolist()
    [[0, 1, 1, 0, 0, 2], [1, 0, 0, 1, 1, 0]]
    """
    lexicon = lexicon or {}

    def tokens(text):
        found = []
        for match in TOKEN.finditer(text):
            kind, token = match.lastgroup, match.group().lower().replace("\u2019", "'")
            found.append(token if kind in ("word", "tag") else f"<{kind}>")
            if token in lexicon:
                found.append(f"<{lexicon[token]}>")
        return found

    counter = CountVectorizer(analyzer=tokens)
    X = counter.fit_transform(texts)
    return X.toarray().astype(float), counter.get_feature_names_out().tolist()
