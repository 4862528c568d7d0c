"""The parameter study of *Exploring Classification* (its Figure 4), over many seeds.

For each data set and kernel: draw three parts of 400 points, fit on the first with every
parameter pair of the grid, keep the pair with the smallest error on the second, and report the
number of support vectors and the error on the third.
"""

from __future__ import annotations

from functools import partial

from ..datasets import non_separable, stdev, three_parts
from ..svc import DualSVC

__all__ = ["C_GRID", "DATA_SETS", "GAMMA_GRID", "KERNELS", "parameter_study"]

DATA_SETS = {
    "stdev1": partial(stdev, 1),
    "stdev2": partial(stdev, 2),
    "stdev4": partial(stdev, 4),
    "nonSep": non_separable,
}
KERNELS = ("gaussian", "linear")
C_GRID = (0.01, 0.1, 1.0, 10.0, 100.0)
GAMMA_GRID = (0.01, 0.1, 1.0, 10.0)


def parameter_study(data_set, kernel, seed):
    """Choose the parameters of one machine on validation error and measure its test error.

    Parameters
    ----------
    data_set : {"stdev1", "stdev2", "stdev4", "nonSep"}
        Which generator.
    kernel : {"gaussian", "linear"}
        Which kernel; the linear one has no width to choose.
    seed : int
        Seed of the three parts.

    Returns
    -------
    dict
        ``data_set, kernel, seed, C, gamma, support_vectors, validation_error, test_error``;
        among equal validation errors the smallest ``C``, then the smallest ``gamma``, wins.

    Examples
    --------
    >>> from svmbook.experiments.exploring import parameter_study
    >>> record = parameter_study("stdev2", "linear", seed=0)
    >>> record["C"], record["test_error"]
    (1.0, 0.115)
    """
    parts = three_parts(DATA_SETS[data_set], random_state=seed)
    best = None
    for C in C_GRID:
        for gamma in GAMMA_GRID if kernel == "gaussian" else (None,):
            if kernel == "gaussian":
                machine = DualSVC(C=C, kernel="rbf", gamma=gamma, solver="libsvm")
            else:
                machine = DualSVC(C=C)
            machine.fit(*parts.train)
            wrong = (machine.predict(parts.validation[0]) != parts.validation[1]).mean()
            if best is None or wrong < best[0]:
                best = wrong, C, gamma, machine
    wrong, C, gamma, machine = best
    return {
        "data_set": data_set,
        "kernel": kernel,
        "seed": seed,
        "C": C,
        "gamma": gamma,
        "support_vectors": len(machine.support_),
        "validation_error": round(float(wrong), 6),
        "test_error": round(float((machine.predict(parts.test[0]) != parts.test[1]).mean()), 6),
    }
