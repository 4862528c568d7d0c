"""Tweets with sentiment labels from the files of SemEval-2013, and counts of their features."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer

__all__ = ["load_lexicon", "load_semeval", "message_features"]

UNAVAILABLE_TEXT = "Not Available"
SENTIMENTS = ("positive", "negative", "neutral", "objective", "objective-OR-neutral")
TOKEN_PATTERN = re.compile(
    r"(?P<link>(?i:https?://|www\.)\S+)"
    r"|(?P<mention>@\w+)"
    r"|(?P<hashtag>#\w+)"
    r"|(?P<smile>[:;=]-?(?:\)|[DpP](?!\w))|<3)"
    r"|(?P<frown>[:;=]'?-?[(/|])"
    r"|(?P<word>[^\W\d_](?:[^\W_]|['\u2019](?=\w))*)"
)


def load_semeval(path: str | Path) -> tuple[list[str], np.ndarray]:
    r"""Read a file of task 2 of SemEval-2013: tweets with their sentiment.

    The tweets may not be redistributed, so this package does not contain them; the organisers'
    script downloads them. Each line has tab-separated fields: the identifiers of the tweet and its
    author, for subtask A the start and end of a phrase, the label, and the text. Tweets that are no
    longer available are left out.

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
        A line has the wrong format, no tweet is available, or the file is not in UTF-8.

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
    # Not splitlines, because tweets may contain other line separators.
    for line_number, line in enumerate(_read_text(path).split("\n"), start=1):
        fields = line.rstrip("\r").split("\t")
        label_columns = (k for k in (2, 4) if "".join(fields[k : k + 1]).strip('"') in SENTIMENTS)
        label_column = next(label_columns, None)
        if label_column is None or len(fields) == label_column + 1:
            if not line.strip():
                continue
            raise ValueError(
                f"line {line_number} of {path} is not a tweet of SemEval-2013, with tab-separated "
                f"fields, the label as the third or fifth and the text after it: {line[:60]!r}."
            )
        text = " ".join(fields[label_column + 1 :])
        if text != UNAVAILABLE_TEXT:
            texts.append(text)
            labels.append(fields[label_column].strip('"'))
    if not texts:
        raise ValueError(f"{path} contains no tweet that is available.")
    return texts, np.array(labels)


def load_lexicon(path: str | Path) -> dict:
    """Read the MPQA subjectivity lexicon: the polarity of words and its strength.

    Parameters
    ----------
    path : str or path
        The file, with one word per line:
        ``type=weaksubj len=1 word1=abandoned ... priorpolarity=negative``.

    Returns
    -------
    dict
        Strength and polarity by word, such as "weak negative". If a word has several entries,
        the last one counts.

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
    for line in _read_text(path).splitlines():
        entry = dict(field.split("=", 1) for field in line.split() if "=" in field)
        if {"type", "word1", "priorpolarity"} <= entry.keys():
            lexicon[entry["word1"]] = f"{entry['type'][:-4]} {entry['priorpolarity']}"
    if not lexicon:
        raise ValueError(f"{path} contains no line with type=, word1= and priorpolarity=.")
    return lexicon


def _read_text(path):
    """Return the text of a file in UTF-8, without a byte order mark."""
    try:
        return Path(path).read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} is not in UTF-8 ({error}); convert it first.") from error


def message_features(
    texts: Iterable[str], lexicon: dict | None = None
) -> tuple[np.ndarray, list[str]]:
    """Count words, hashtags, links, mentions, emoticons, and words by category of a lexicon.

    Each word and each hashtag, in lower case, is a feature; numbers are ignored. All links are one
    feature, as are all mentions, all positive emoticons, all negative emoticons, and all words of
    each category of the lexicon.

    Parameters
    ----------
    texts : iterable of str
        Messages.
    lexicon : dict, default=None
        Categories of words, as returned by `load_lexicon`.

    Returns
    -------
    X : ndarray of shape (n_messages, n_features)
        Counts.
    names : list of str
        Names of the features.

    Raises
    ------
    ValueError
        No message contains a feature.

    Examples
    --------
    >>> from svmbook.datasets import message_features
    >>> texts = ["Hi @you :) hi", "bad #day"]
    >>> X, names = message_features(texts, {"bad": "strong negative"})
    >>> names
    ['#day', '<mention>', '<smile>', '<strong negative>', 'bad', 'hi']
    >>> X.astype(int).tolist()
    [[0, 1, 1, 0, 0, 2], [1, 0, 0, 1, 1, 0]]
    """
    lexicon = lexicon or {}

    def extract_features(text):
        features = []
        for match in TOKEN_PATTERN.finditer(text):
            kind, token = match.lastgroup, match.group().lower().replace("\u2019", "'")
            features.append(token if kind in ("word", "hashtag") else f"<{kind}>")
            if token in lexicon:
                features.append(f"<{lexicon[token]}>")
        return features

    vectorizer = CountVectorizer(analyzer=extract_features)
    X = vectorizer.fit_transform(texts)
    return X.toarray().astype(float), vectorizer.get_feature_names_out().tolist()
