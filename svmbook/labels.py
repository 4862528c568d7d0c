"""Encoding of labels as signs -1 and +1, or as integers, and decoding of decision values."""

import numpy as np
from sklearn.utils.multiclass import check_classification_targets

__all__ = [
    "decode_labels",
    "distinct_labels",
    "encode_binary_labels",
    "encode_classes",
    "encode_targets",
    "is_multiclass",
]


def encode_classes(y):
    """Encode labels of two or more classes as integers.

    Parameters
    ----------
    y : array-like of shape (n,)
        Labels.

    Returns
    -------
    classes : ndarray of shape (k,)
        The distinct labels, sorted.
    codes : ndarray of shape (n,)
        For each point the index of its label in ``classes``.

    Raises
    ------
    ValueError
        ``y`` has one class only, is continuous, or has labels that cannot be sorted.

    Examples
    --------
    >>> from svmbook.labels import encode_classes
    >>> classes, codes = encode_classes(["rose", "iris", "tulip", "rose"])
    >>> codes
    array([1, 0, 2, 1])
    """
    classes, codes = distinct_labels(y, check=not _are_labels(y))
    if len(classes) < 2:
        found = f"one class only: {classes.tolist()[0]!r}" if len(classes) else "no samples"
        raise ValueError(f"a classifier needs samples of at least two classes; y has {found}.")
    return classes, codes


def distinct_labels(y, check=False):
    """Return the distinct labels, sorted, and for each point the index of its label among them.

    ``check`` tells whether an error is raised if they are not labels of classes.
    """
    try:
        if check:
            check_classification_targets(y)
        return np.unique(y, return_inverse=True)
    except (TypeError, ValueError) as error:  # scikit-learn checks the type of one label only
        types = ", ".join(sorted({type(label).__name__ for label in y}))
        if "," not in types:
            raise
        raise ValueError(
            f"the labels cannot be sorted, because they have different types ({types}); "
            "convert all of them to strings or all of them to numbers."
        ) from error


def is_multiclass(y):
    """Return whether there are more than two classes; False if `encode_classes` rejects ``y``.

    Examples
    --------
    >>> from svmbook.labels import is_multiclass
    >>> is_multiclass(["a", "b", "c"]), is_multiclass(["a", "b"])
    (True, False)
    """
    try:
        with np.errstate(invalid="ignore"):  # infinite labels cause a warning; `fit` rejects them
            return len(encode_classes(y)[0]) > 2
    except (TypeError, ValueError):
        return False


def encode_targets(y):
    """Encode labels as signs for two classes, and as integers for more.

    Parameters
    ----------
    y : array-like of shape (n,)
        Labels.

    Returns
    -------
    classes : ndarray of shape (k,)
        The distinct labels, sorted.
    targets : ndarray of shape (n,)
        -1.0 and +1.0 for two classes, as in `encode_binary_labels`; for more, indices into
        ``classes``.

    Raises
    ------
    ValueError
        As `encode_classes`.

    Examples
    --------
    >>> from svmbook.labels import encode_targets
    >>> encode_targets(["b", "a"])[1], encode_targets(["b", "a", "c"])[1]
    (array([ 1., -1.]), array([1, 0, 2]))
    """
    classes, codes = encode_classes(y)
    return classes, _signs(codes) if len(classes) == 2 else codes


def encode_binary_labels(y):
    """Encode two labels as -1 and +1.

    The first label in sorted order becomes -1 and the second +1, so that a positive decision value
    means ``classes[1]``, as in scikit-learn.

    Parameters
    ----------
    y : array-like of shape (n,)
        Labels with exactly two different values.

    Returns
    -------
    classes : ndarray of shape (2,)
        The two labels, sorted.
    signs : ndarray of shape (n,)
        -1.0 and +1.0.

    Raises
    ------
    ValueError
        ``y`` does not have exactly two classes, is continuous, or has labels that cannot be
        sorted.

    Examples
    --------
    >>> from svmbook.labels import encode_binary_labels
    >>> classes, signs = encode_binary_labels(["rose", "iris", "rose"])
    >>> signs
    array([ 1., -1.,  1.])
    """
    classes, codes = encode_classes(y)
    if len(classes) > 2:
        raise ValueError(
            f"exactly two classes are needed; found {len(classes)}. Choose two of them, or fit "
            "pairs with sklearn.multiclass.OneVsOneClassifier."
        )
    return classes, _signs(codes)


def decode_labels(classes, scores):
    """Return the label that corresponds to each decision value.

    With one decision value per point this is ``classes[1]`` if the value is positive, else
    ``classes[0]``. With one per class it is the class of the largest value, the first if tied.

    Parameters
    ----------
    classes : ndarray of shape (k,)
        The labels, as `encode_classes` returns them.
    scores : ndarray of shape (m,) or (m, k)
        Decision values of a classifier.

    Returns
    -------
    ndarray of shape (m,)

    Examples
    --------
    >>> import numpy as np
    >>> from svmbook.labels import decode_labels
    >>> decode_labels(np.array(["iris", "rose"]), np.array([0.3, -2.0]))
    array(['rose', 'iris'], dtype='<U4')
    """
    return classes[(scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)]


def _are_labels(y):
    """Return whether a vector passes scikit-learn's check, which takes longer than some fits."""
    if getattr(y, "ndim", 0) != 1:
        return False
    kind = y.dtype.kind
    return kind in "biuSU" or (kind == "f" and bool((y == np.trunc(y)).all()))


def _signs(codes):
    return np.where(codes == 1, 1.0, -1.0)
