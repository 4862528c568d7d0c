"""The values of the parameter ``lam`` along a path of models."""

from numbers import Integral, Real

import numpy as np
from sklearn.utils import check_array, check_scalar

from ..arguments import check_positive

__all__ = ["path_lams"]


def path_lams(lams, min_ratio, compute_largest):
    """Validate or compute the values of ``lam`` along a path.

    If ``lams`` is a number, so many values decrease geometrically from ``compute_largest()`` to
    ``min_ratio`` times this value.
    """
    if not isinstance(lams, Integral) or isinstance(lams, bool):
        lams = check_array(
            np.atleast_1d(list(lams) if np.iterable(lams) else lams),
            dtype=np.float64,
            ensure_2d=False,
            input_name="lams",
        )
        if lams.ndim != 1:
            raise ValueError(f"lams must be one-dimensional; found shape {lams.shape}.")
        return [check_positive("lam", lam) for lam in lams.tolist()]
    check_scalar(lams, "lams", Integral, min_val=1)
    check_scalar(
        min_ratio, "min_ratio", Real, min_val=0.0, max_val=1.0, include_boundaries="neither"
    )
    largest = compute_largest()
    if not largest > 0:
        raise ValueError(
            "the kernel does not distinguish the points, so lam has no effect; pass the values "
            "of lam explicitly."
        )
    return np.geomspace(largest, min_ratio * largest, lams).tolist()
