"""Random numbers for personalised questions, which give each student different data."""

import hashlib
import unicodedata

import numpy as np

__all__ = ["normalise_id", "personal_rng"]


def normalise_id(student_id):
    """Return a student's id in a form that ignores case, extra spaces and Unicode variants.

    Parameters
    ----------
    student_id : str
        The id.

    Returns
    -------
    str
    """
    return " ".join(unicodedata.normalize("NFKC", student_id).casefold().split())


def personal_rng(student_id, question):
    """Return the random number generator of one student for one question.

    The seed is the SHA-256 digest of the id and the question, so that the numbers of students with
    similar ids are unrelated. `numpy.random.RandomState` gives the same stream in every version of
    NumPy. `numpy.random.Generator` does not, and the grader's version may differ from a student's.

    Parameters
    ----------
    student_id : str
        The id. Case, extra spaces and Unicode variants are ignored.
    question : str
        The name of the question.

    Returns
    -------
    numpy.random.RandomState

    Raises
    ------
    TypeError
        The id is not a string.

    Examples
    --------
    >>> from svmbook.course.personal import personal_rng
    >>> personal_rng("ann", "margin").randint(10, size=4)
    array([4, 6, 0, 1])
    >>> personal_rng(" Ann", "margin").randint(10, size=4)
    array([4, 6, 0, 1])
    >>> personal_rng("ben", "margin").randint(10, size=4)
    array([8, 5, 4, 8])
    """
    if not isinstance(student_id, str):
        raise TypeError(f"the id is of type {type(student_id).__name__}; write it in quotes.")
    digest = hashlib.sha256(f"{normalise_id(student_id)}\n{question}".encode()).digest()
    return np.random.RandomState(np.frombuffer(digest, dtype="<u4"))
