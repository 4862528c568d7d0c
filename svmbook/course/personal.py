"""Random numbers of one's own: the same question with other data for each student."""

import hashlib
import unicodedata

import numpy as np

__all__ = ["normal_form", "personal_rng"]


def normal_form(student):
    """Return a student's id without differences that nobody means: case, spaces, Unicode's forms.

    Parameters
    ----------
    student : str
        The id.

    Returns
    -------
    str
    """
    return " ".join(unicodedata.normalize("NFKC", student).casefold().split())


def personal_rng(student, question):
    """Return the random numbers of a student in a question.

    The seed is the SHA-256 digest of both names, so that neighbours in the list of a class have
    nothing in common. `numpy.random.RandomState` promises the same stream in every version of
    NumPy, which `numpy.random.Generator` does not: the grader may have another one than students.

    Parameters
    ----------
    student : str
        The student's id. Case and spaces do not count.
    question : str
        The name of the question.

    Returns
    -------
    numpy.random.RandomState

    Raises
    ------
    TypeError
        The id is not a text.

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
    if not isinstance(student, str):
        raise TypeError(f"the id is a {type(student).__name__}; write it as a text, in quotes.")
    digest = hashlib.sha256(f"{normal_form(student)}\n{question}".encode()).digest()
    return np.random.RandomState(np.frombuffer(digest, dtype="<u4"))
