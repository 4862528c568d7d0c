"""Labels, signs -1 and +1, and numbers: the only place where labels are translated."""

import numpy as np
from sklearn.utils.multiclass import check_classification_targets

__all__ = [
    "decode_labels",
    "encode_classes",
    "encode_labels",
    "encode_outputs",
    "several_classes",
]


def encode_classes(y):
    """Translate labels of any kind, of two classes or more, into numbers.

    Parameters
    ----------
    y : array-like of shape (n,)
        Labels.

    Returns
    -------
    classes : ndarray of shape (k,)
        The different labels, sorted.
    codes : ndarray of shape (n,)
        For each point the number of its label, 0 to k - 1.

    Raises
    ------
    ValueError
        There is only one label, the labels cannot be sorted, or ``y`` is continuous.

    Examples
    --------
    >>> from svmbook.labels import encode_classes
    >>> classes, codes = encode_classes(["rose", "iris", "tulip", "rose"])
    >>> codes
    array([1, 0, 2, 1])
    """
    try:
        # Looking at the values takes a quarter of a small fit; a row of whole numbers or words can
        # be nothing but labels.
        if getattr(y, "ndim", 0) != 1 or y.dtype.kind not in "biuSU":
            check_classification_targets(y)
        classes, codes = np.unique(y, return_inverse=True)
    except (TypeError, ValueError) as error:  # scikit-learn only looks at the first label
        kinds = ", ".join(sorted({type(label).__name__ for label in y}))
        if "," not in kinds:
            raise
        raise ValueError(
            f"the labels cannot be sorted, as they are of different kinds ({kinds}); "
            "turn them all into strings or all into numbers."
        ) from error
    if len(classes) < 2:
        found = f"one class only: {classes.tolist()[0]!r}" if len(classes) else "no samples"
        raise ValueError(f"a classifier needs samples of two classes; y has {found}.")
    return classes, codes


def several_classes(y):
    """Return whether there are more than two labels; False where `encode_classes` refuses them.

    Examples
    --------
    >>> from svmbook.labels import several_classes
    >>> several_classes(["a", "b", "c"]), several_classes(["a", "b"])
    (True, False)
    """
    try:
        with np.errstate(invalid="ignore"):  # of infinite labels, which a fit refuses
            return len(encode_classes(y)[0]) > 2
    except (TypeError, ValueError):
        return False


def encode_outputs(y):
    """Translate labels for a machine with one output for two classes, and one a class for more.

    Parameters
    ----------
    y : array-like of shape (n,)
        Labels.

    Returns
    -------
    classes : ndarray of shape (k,)
        The different labels, sorted.
    targets : ndarray of shape (n,)
        -1.0 and +1.0 for two classes, as `encode_labels` gives them; numbers 0 to k - 1 for more.

    Raises
    ------
    ValueError
        As `encode_classes`.

    Examples
    --------
    >>> from svmbook.labels import encode_outputs
    >>> encode_outputs(["b", "a"])[1], encode_outputs(["b", "a", "c"])[1]
    (array([ 1., -1.]), array([1, 0, 2]))
    """
    classes, codes = encode_classes(y)
    return classes, _signs(codes) if len(classes) == 2 else codes


def encode_labels(y):
    """Translate two labels of any kind into -1 and +1.

    The labels are sorted; the first becomes -1, the second +1, so that a positive output
    speaks for ``classes[1]``, as everywhere in scikit-learn.

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
        There is one label, or there are more than two, they cannot be sorted, or ``y`` is
        continuous.

    Examples
    --------
    >>> from svmbook.labels import encode_labels
    >>> classes, signs = encode_labels(["rose", "iris", "rose"])
    >>> signs
    array([ 1., -1.,  1.])
    """
    classes, codes = encode_classes(y)
    if len(classes) > 2:
        raise ValueError(
            f"this takes two classes; found {len(classes)}. Choose two of them, or fit pairs with "
            "sklearn.multiclass.OneVsOneClassifier."
        )
    return classes, _signs(codes)


def decode_labels(classes, scores):
    """Return the label that each output of a machine speaks for.

    With one output a point that is ``classes[1]`` where it is positive, else ``classes[0]``; with
    one output a class, the class of the largest, of equal ones the first.

    Parameters
    ----------
    classes : ndarray of shape (k,)
        The labels, as `encode_classes` returns them.
    scores : ndarray of shape (m,) or (m, k)
        Outputs of a machine.

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


def _signs(codes):
    return np.where(codes == 1, 1.0, -1.0)
