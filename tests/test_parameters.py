"""The numeric parameters of the estimators: the ends of their intervals, open or closed."""

from math import inf

import pytest
from sklearn.utils._param_validation import Interval, InvalidParameterError

import svmbook
from svmbook.unbiased.expansions import FIRST_SLOPE

TINY = 1e-300
POSITIVE = ([TINY, 1e300], [0.0, -0.5, inf])
POSITIVE_OR_INFINITE = ([TINY, inf], [0.0, -0.5])
PROPORTION = ([TINY, 0.99], [0.0, -0.5, 1.0, 1.5])
FRACTION = ([TINY, 1.0], [0.0, -0.5, 1.01])
FROM_0, FROM_1, FROM_2 = (([least], [least - 1, least + 0.5]) for least in range(3))
# Valid and invalid values of each parameter. "Estimator.parameter" overrides "parameter".
VALUES = {
    "C": POSITIVE,
    "DualSVC.C": POSITIVE_OR_INFINITE,
    "LPBoost.C": POSITIVE_OR_INFINITE,
    "balance": ([0.0, 1e300], [-0.5, inf]),
    "coef0": ([-1e300, 1e300], [-inf, inf]),
    "confidence": PROPORTION,
    "degree": FROM_1,
    "first_share": FRACTION,
    "gamma": POSITIVE,
    "k": FRACTION,
    "lam": POSITIVE,
    "max_iter": FROM_1,
    "DualSVC.max_iter": ([1, -1], [0, -2, 1.5]),
    "max_points": FROM_1,
    "min_decrease": POSITIVE,
    "n_clusters": FROM_1,
    "n_estimators": FROM_1,
    "n_init": FROM_1,
    "n_knots": FROM_2,
    "n_negatives": FROM_1,
    "n_neighbors": FROM_1,
    "LocalizedSVM.n_neighbors": FROM_2,
    "n_prototypes": FROM_1,
    "n_samplings": FROM_1,
    "n_shifts": FROM_0,
    "next_share": FRACTION,
    "p_negative": ([0.0, 1.0], [-0.01, 1.01]),
    "positive_weight": POSITIVE,
    "s": ([1.0, 1e300], [0.99, inf]),
    "slope": ([FIRST_SLOPE, 1e300], [0.99 * FIRST_SLOPE, inf]),
    "target_false_alarm_rate": PROPORTION,
    "tol": POSITIVE,
    "validation_fraction": PROPORTION,
}
NUMERIC = [
    (estimator, name)
    for estimator in svmbook.__all__[:-1]
    for name, constraints in getattr(svmbook, estimator)._parameter_constraints.items()
    if any(isinstance(constraint, Interval) for constraint in constraints)
]


@pytest.mark.parametrize(("estimator", "name"), NUMERIC)
def test_interval_of_a_parameter(estimator, name):
    valid, invalid = VALUES.get(f"{estimator}.{name}") or VALUES[name]
    model = getattr(svmbook, estimator)()
    for value in valid:
        model.set_params(**{name: value})._validate_params()
    for value in invalid:
        with pytest.raises(InvalidParameterError, match=f"'{name}' parameter"):
            model.set_params(**{name: value})._validate_params()


def test_all_listed_parameters_exist():
    assert {name.split(".")[-1] for name in VALUES} == {name for _, name in NUMERIC}
