"""The parameter study of *Exploring Classification* (its Figure 4), over many seeds.

For each data set and kernel: draw three parts of 400 points, fit on the first with every
parameter pair of the grid, keep the pair with the smallest error on the second, and report the
number of support vectors and the error on the third.
"""

from __future__ import annotations

from functools import partial
from numbers import Integral

from sklearn.utils import check_scalar

from ..datasets import non_separable, stdev, three_parts
from ..svc import DualSVC

__all__ = ["C_GRID", "DATA_SETS", "GAMMA_GRID", "KERNELS", "candidates", "parameter_study"]

DATA_SETS = {
    "stdev1": partial(stdev, 1),
    "stdev2": partial(stdev, 2),
    "stdev4": partial(stdev, 4),
    "nonSep": non_separable,
}
KERNELS = ("gaussian", "linear")
C_GRID = (0.01, 0.1, 1.0, 10.0, 100.0)
GAMMA_GRID = (0.01, 0.1, 1.0, 10.0)


def candidates(kernel):
    """Yield the machines among which the study chooses, the simplest first.

    Parameters
    ----------
    kernel : {"gaussian", "linear"}
        Which kernel.

    Yields
    ------
    C : float
        Price of slack, rising.
    gamma : float or None
        Width parameter, rising for each ``C``; None for the linear kernel.
    machine : DualSVC
        The machine with these parameters, not fitted.

    Raises
    ------
    ValueError
        An unknown kernel.

    Examples
    --------
    >>> from svmbook.experiments.exploring import candidates
    >>> [C for C, gamma, machine in candidates("linear")]
    [0.01, 0.1, 1.0, 10.0, 100.0]
    """
    _check_name(kernel, "kernel", KERNELS)
    for C in C_GRID:
        if kernel == "linear":
            yield C, None, DualSVC(C=C)
        else:
            for gamma in GAMMA_GRID:
                yield C, gamma, DualSVC(C=C, kernel="rbf", gamma=gamma, solver="libsvm")


def parameter_study(data_set, kernel, seed):
    """Choose the parameters of one machine on validation error and measure its test error.

    Parameters
    ----------
    data_set : {"stdev1", "stdev2", "stdev4", "nonSep"}
        Which generator.
    kernel : {"gaussian", "linear"}
        Which kernel; the linear one has no width to choose.
    seed : int
        Seed of the three parts, not negative.

    Returns
    -------
    dict
        ``data_set, kernel, seed, C, gamma, support_vectors, validation_error, test_error``, the
        errors as fractions of 400 points; among equal validation errors the smallest ``C``, then
        the smallest ``gamma``, wins.

    Raises
    ------
    ValueError, TypeError
        An unknown data set or kernel, or a seed that is not an integer of at least 0.

    Notes
    -----
    A validation point at the boundary may change sides between two builds of NumPy, and with it the
    choice where two pairs are one error apart.

    Examples
    --------
    >>> from svmbook.experiments.exploring import parameter_study
    >>> record = parameter_study("stdev2", "linear", seed=0)
    >>> record["data_set"], record["gamma"], round(record["test_error"], 1)
    ('stdev2', None, 0.1)
    """
    _check_name(data_set, "data_set", DATA_SETS)
    _check_name(kernel, "kernel", KERNELS)
    check_scalar(seed, "seed", Integral, min_val=0)
    parts = three_parts(DATA_SETS[data_set], random_state=seed)
    best = None
    for C, gamma, machine in candidates(kernel):
        wrong = _error_rate(machine.fit(*parts.train), *parts.validation)
        if best is None or wrong < best[0]:
            best = wrong, C, gamma, machine
    wrong, C, gamma, machine = best
    return {
        "data_set": data_set,
        "kernel": kernel,
        "seed": int(seed),
        "C": C,
        "gamma": gamma,
        "support_vectors": len(machine.support_),
        "validation_error": round(wrong, 6),
        "test_error": round(_error_rate(machine, *parts.test), 6),
    }


def _error_rate(machine, X, y):
    """Return the fraction of points on which a fitted machine errs."""
    return float((machine.predict(X) != y).mean())


def _check_name(value, name, known):
    if value not in known:
        raise ValueError(f"{name} is {value!r}; choose one of {', '.join(known)}.")
